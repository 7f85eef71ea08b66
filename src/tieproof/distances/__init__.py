"""The distances by name: a line for each, which says where its record is."""

import re
from collections.abc import Callable, Iterator, MutableMapping
from pkgutil import resolve_name
from typing import Any

from tieproof.distances.distance import Distance, make_space
from tieproof.errors import InputError

__all__ = [
    "DISTANCES",
    "Distance",
    "DistanceFunction",
    "find_distance",
    "make_space",
    "our_name",
    "reported",
]

DistanceFunction = Callable[[Any, Any], Any]
"""A block of queries (q, d) and a block of gallery items (n, d) to their distances (q, n)."""


class Registry(MutableMapping[str, Distance]):
    """Distances by name; a record given as "module:NAME" is imported when it is first asked for.

    The names are known without that: `import tieproof` loads none of the files of distances.
    """

    def __init__(self, known: dict[str, str | Distance]) -> None:
        self.known = known

    def __getitem__(self, name: str) -> Distance:
        found = self.known[name]
        if isinstance(found, Distance):
            return found
        record: Distance = resolve_name(found)
        self.known[name] = record
        return record

    def __setitem__(self, name: str, distance: Distance) -> None:
        self.known[name] = distance

    def __delitem__(self, name: str) -> None:
        del self.known[name]

    def __contains__(self, name: object) -> bool:
        return name in self.known

    def __iter__(self) -> Iterator[str]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)


DISTANCES = Registry(
    {
        "cosine": "tieproof.distances.cosine:COSINE",
        "euclidean": "tieproof.distances.euclidean:EUCLIDEAN",
        "sqeuclidean": "tieproof.distances.euclidean:SQEUCLIDEAN",
        "cityblock": "tieproof.distances.cityblock:CITYBLOCK",
        "dot": "tieproof.distances.dot:DOT",
        "hamming": "tieproof.distances.hamming:HAMMING",
    }
)

NEAR = 0.75
"""How similar a misspelt name is to the one that was meant, by `difflib`."""


def our_name(name: str) -> str:
    """The name by which we know a distance, whatever the letter case and the separators.

    >>> our_name("L2"), our_name("inner product"), our_name("hamming")
    ('euclidean', 'dot', 'hamming')
    """
    spelling = re.sub(r"[\s_-]+", "_", name.strip()).casefold()
    if spelling in DISTANCES:
        return spelling
    others = {other: ours for ours, distance in DISTANCES.items() for other in distance.other_names}
    if spelling in others:
        return others[spelling]
    from difflib import get_close_matches

    near = get_close_matches(spelling, [*DISTANCES, *others], n=1, cutoff=NEAR)
    nearest = f" Nearest: {others.get(near[0], near[0])}." if near else ""
    raise InputError(
        f"Unknown distance {name!r}.{nearest} Known distances: {', '.join(DISTANCES)}; or pass a function."
    )


def find_distance(name: str) -> Distance:
    """The distance of that name."""
    return DISTANCES[our_name(name)]


def reported(distance: str | DistanceFunction) -> str:
    """What results call a distance: our name for it, or that of a function, said to be one.

    >>> reported("manhattan"), reported(len)
    ('cityblock', 'function len')
    """
    if isinstance(distance, str):
        return our_name(distance)
    return f"function {getattr(distance, '__name__', type(distance).__name__)}"
