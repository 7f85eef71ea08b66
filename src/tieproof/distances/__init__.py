"""The distances: what is known of each, and a line for each that says where that stands."""

import re
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.arrays import Embeddings, as_embeddings
from tieproof.ties import IntArray

if TYPE_CHECKING:
    from tieproof.distances.gauge import SpaceGauge
    from tieproof.distances.space import Resources, Space
    from tieproof.exact.rows import Rows

DistanceFunction = Callable[[Any, Any], Any]
"""A block of queries (q, d) and a block of gallery items (n, d) to their distances (q, n)."""


def numbers(values: Any, name: str, bits: int | None) -> Embeddings:
    """Embeddings of any numbers, which have no number of bits."""
    return as_embeddings(values, name)


@dataclass(frozen=True)
class Distance:
    """What is known of a distance.

    meaning : for people
    space : ranks the items of one query
    gauge : compares pairs of all queries, rounds distances and takes their differences
    other_names : other usual names of exactly this distance, in lower case with "_" between words
    up_to_factor : rows that are positive multiples of each other are the same
    bits : the embeddings are codes of bits, whose number may be given
    takes : the embeddings as people pass them, their name and `bits`, checked, in the form that the space ranks
    """

    meaning: str
    space: "type[Space]"
    gauge: "type[SpaceGauge]"
    other_names: tuple[str, ...] = ()
    up_to_factor: bool = False
    bits: bool = False
    takes: Callable[[Any, str, int | None], Embeddings] = numbers


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
        module, _, constant = found.partition(":")
        record: Distance = getattr(import_module(module), constant)
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

SPELT_ALIKE = 0.75
"""How similar a misspelt name is to the one that was meant, by `difflib`."""


def our_name(name: str) -> str:
    """The name by which we know a distance, whatever the letter case and the separators.

    >>> our_name("L2"), our_name("inner product"), our_name("hamming")
    ('euclidean', 'dot', 'hamming')
    """
    if name in DISTANCES:
        return name
    spelling = re.sub(r"[\s_-]+", "_", name.strip()).casefold()
    if spelling in DISTANCES:
        return spelling
    others = {other: ours for ours, distance in DISTANCES.items() for other in distance.other_names}
    if spelling in others:
        return others[spelling]
    from difflib import get_close_matches

    near = get_close_matches(spelling, [*DISTANCES, *others], n=1, cutoff=SPELT_ALIKE)
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


def make_space(
    distance: Distance,
    queries: Embeddings,
    gallery: Embeddings | None,
    orders: tuple[IntArray, IntArray],
    resources: "Resources",
    ends: tuple[int, ...] = (),
) -> "Space":
    """The space of distinct rows in which the distance is ranked exactly.

    ends : of consecutive parts of the items whose rows count as distinct from those of the other parts
    """
    from tieproof.exact.rows import distinct_rows

    def rows(array: Embeddings, name: str, order: IntArray, ends: tuple[int, ...]) -> "Rows":
        if array.dtype == np.float16 and 4 * array.size <= resources.keep_bytes:
            array = array.astype(np.float32)  # exact, and read many times faster
        return distinct_rows(array, name, distance.up_to_factor, order, resources.threads, ends)

    if gallery is None:
        query_rows = item_rows = rows(queries, "embeddings", orders[0], ends)
    else:
        query_rows, item_rows = rows(queries, "queries", orders[0], ()), rows(gallery, "gallery", orders[1], ends)
    if queries.dtype != item_rows.embeddings.dtype and not (
        query_rows.exact_in_float64 and item_rows.exact_in_float64
    ):
        raise InputError(
            f"The queries are {queries.dtype.name} and the gallery is {item_rows.embeddings.dtype.name}, with "
            "integers beyond 2^53, which no common type holds. Convert both to the same type."
        )
    return distance.space(query_rows, item_rows, resources)
