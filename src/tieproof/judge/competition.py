"""`Competition`: what an organiser fixes beforehand, read from a TOML file and checked as a whole.

A file that is wrong is refused before anything is run, by the name of what is wrong in it.
"""

import hashlib
import os
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from tieproof.calls.scoring import parse_measures
from tieproof.distances import our_name
from tieproof.errors import InputError
from tieproof.inputs.options import check_choice, check_whole, parse_memory

EMBEDDING, DISTANCE = "embedding", "distance"
"""What a system answers: a vector for an item, or a number for two items."""

LAST, DISQUALIFIED = "last", "disqualified"
"""What a refused answer costs: its item is last; or the system has no rank at all."""

LEAST_SEED = 16
"""Letters of a seed that nobody guesses."""


class Limits(NamedTuple):
    """What a system may take.

    seconds : of one batch
    total_seconds : of one run; what is not answered by then is late. None: no limit
    memory, output : bytes of one process; of what it prints and of what it leaves in its folder
    """

    seconds: float
    total_seconds: float | None
    memory: int
    output: int


@dataclass(frozen=True)
class Competition:
    """What an organiser fixes before a competition.

    title : in words
    measures : their names; the first one ranks, by its lower bound
    distance : between embeddings; None where systems give distances
    items, labels : the test set, which no participant has
    gallery, gallery_labels : what the items query; None: they query each other
    seed : the file with the organiser's secret, from which names and orders are drawn
    kind : "embedding" or "distance"
    symmetric : whether the distance of two items is asked for once, for both directions
    runs : how often a system is run, since it may be random
    batch : how many items it is given at a time
    repeats : how many items it is given twice
    limits : what it may take
    refused : what an answer costs that is refused: "last" or "disqualified"
    digest : of the file, which tells competitions apart
    """

    title: str
    measures: tuple[str, ...]
    distance: str | None
    items: Path
    labels: Path
    gallery: Path | None
    gallery_labels: Path | None
    seed: Path
    kind: str
    symmetric: bool
    runs: int
    batch: int
    repeats: int
    limits: Limits
    refused: str
    digest: str
    path: Path

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Competition":
        """Read a competition from its file; paths in it are seen from its folder.

        Raises InputError where it is no TOML, or anything in it is missing, unknown or wrong: by its name.
        """
        place = Path(path)
        try:
            content = place.read_bytes()
            given = tomllib.loads(content.decode("utf-8"))
        except OSError as error:
            raise InputError(f"{place} cannot be read ({error.strerror}); give the file of a competition.") from None
        except ValueError as error:
            raise InputError(f"{place} is no TOML ({error}); mend it, or write it anew.") from None
        found = checked(given, place)
        return cls(**found, digest=hashlib.sha256(content).hexdigest(), path=place)

    @property
    def secrets(self) -> tuple[Path, ...]:
        """What no system may see: the competition itself, the test set, and the seed."""
        kept = (self.path, self.items, self.labels, self.gallery, self.gallery_labels, self.seed)
        return tuple(place.resolve() for place in kept if place is not None)

    def read_seed(self) -> bytes:
        """The organiser's secret."""
        try:
            secret = self.seed.read_bytes().strip()
        except OSError as error:
            raise InputError(
                f"The seed {self.seed} cannot be read ({error.strerror}). Make one and keep it: "
                'python -c "import secrets; print(secrets.token_hex(32))" > seed.txt'
            ) from None
        if len(secret) < LEAST_SEED:
            raise InputError(
                f"The seed in {self.seed} has {len(secret)} letters, which can be guessed. It needs {LEAST_SEED} or "
                "more: secrets.token_hex(32) of Python makes one."
            )
        return secret


class Entry(NamedTuple):
    """One name in the file: its type, what else refuses it, and what it is where it is left out."""

    type: type | tuple[type, ...]
    check: Callable[[str, Any], Any]
    default: Any = ...


def as_it_is(name: str, value: Any) -> Any:
    """Anything of that type."""
    return value


def whole(least: int) -> Callable[[str, Any], int]:
    """A whole number of at least this."""

    def check(name: str, value: Any) -> int:
        check_whole(name, value, least)
        return int(value)

    return check


def choice(*words: str) -> Callable[[str, Any], str]:
    """One of these words."""

    def check(name: str, value: Any) -> str:
        check_choice(name, value, words)
        return str(value)

    return check


def as_measures(name: str, value: Any) -> tuple[str, ...]:
    """The names of measures."""
    return tuple(str(measure) for measure in parse_measures(value))


def as_distance(name: str, value: Any) -> str:
    """Our name of a distance."""
    return our_name(value)


def as_seconds(name: str, value: Any) -> float:
    """A number of seconds."""
    if isinstance(value, bool) or not 0 < value < float("inf"):
        raise InputError(f"{name} must be a number of seconds above 0, not {value!r}.")
    return float(value)


def as_bytes(name: str, value: Any) -> int:
    """A size of memory."""
    return parse_memory(value)


NUMBER = (int, float)
TEXT = str

ENTRIES: dict[str, Entry] = {
    "title": Entry(TEXT, as_it_is),
    "measures": Entry(list, as_measures, ["AP"]),
    "distance": Entry(TEXT, as_distance, None),
    "data.items": Entry(TEXT, as_it_is),
    "data.labels": Entry(TEXT, as_it_is),
    "data.gallery": Entry(TEXT, as_it_is, None),
    "data.gallery_labels": Entry(TEXT, as_it_is, None),
    "data.seed": Entry(TEXT, as_it_is),
    "system.kind": Entry(TEXT, choice(EMBEDDING, DISTANCE), EMBEDDING),
    "system.symmetric": Entry(bool, as_it_is, False),
    "system.runs": Entry(int, whole(1), 1),
    "system.batch": Entry(int, whole(1), 1000),
    "system.repeats": Entry(int, whole(0), 20),
    "limits.seconds": Entry(NUMBER, as_seconds, 600),
    "limits.total_seconds": Entry(NUMBER, as_seconds, None),
    "limits.memory": Entry((str, int), as_bytes, "4GiB"),
    "limits.output": Entry((str, int), as_bytes, "1GiB"),
    "rules.refused": Entry(TEXT, choice(LAST, DISQUALIFIED), LAST),
}
"""All that there may be in the file, by its name: `data.items` is `items` in the table `[data]`."""

PATHS = ("items", "labels", "gallery", "gallery_labels", "seed")


def checked(given: dict[str, Any], place: Path) -> dict[str, Any]:
    """The values of all entries, by the last part of their names; the limits together."""
    flat = flattened(given)
    for name in flat:
        if name not in ENTRIES:
            near = "".join(f" Did you mean {each}?" for each in get_close_matches(name, ENTRIES, 1))
            raise InputError(f"{place} has an unknown '{name}'.{near} Known: {', '.join(ENTRIES)}.")
    found: dict[str, Any] = {}
    for name, entry in ENTRIES.items():
        if name not in flat and entry.default is ...:
            raise InputError(f"{place} lacks '{name}', which every competition has; docs/judge.md shows one.")
        value = flat.get(name, entry.default)
        found[name] = None if value is None else checked_entry(name, value, place)
    short = {name.rpartition(".")[2]: value for name, value in found.items() if not name.startswith("limits.")}
    short["limits"] = Limits(*(found[f"limits.{field}"] for field in Limits._fields))
    check_together(short, place)
    if short["kind"] == EMBEDDING and short["distance"] is None:
        short["distance"] = "cosine"
    return short | {name: short[name] and place.parent / short[name] for name in PATHS}


def flattened(given: dict[str, Any]) -> dict[str, Any]:
    """Tables within a table become names with a dot.

    >>> flattened({"title": "A", "data": {"items": "b"}})
    {'title': 'A', 'data.items': 'b'}
    """
    found: dict[str, Any] = {}
    for name, value in given.items():
        found |= {f"{name}.{key}": each for key, each in value.items()} if isinstance(value, dict) else {name: value}
    return found


def checked_entry(name: str, value: Any, place: Path) -> Any:
    """One value, refused by its name."""
    entry = ENTRIES[name]
    if not isinstance(value, entry.type) or (isinstance(value, bool) and entry.type is not bool):
        kinds = entry.type if isinstance(entry.type, tuple) else (entry.type,)
        expected = " or ".join(kind.__name__ for kind in kinds)
        raise InputError(f"{place}: '{name}' must be {expected}, not {type(value).__name__}: {value!r}.")
    try:
        return entry.check(name, value)
    except InputError as error:
        raise InputError(f"{place}: {name}: {error}") from None


def check_together(found: dict[str, Any], place: Path) -> None:
    """What only the whole says."""
    if found["kind"] == DISTANCE and found["distance"] is not None:
        raise InputError(f"{place} has both system.kind = 'distance' and a distance of its own; leave that out.")
    if (found["gallery"] is None) != (found["gallery_labels"] is None):
        raise InputError(f"{place} needs both data.gallery and data.gallery_labels, or neither.")
    if found["symmetric"] and (found["kind"] != DISTANCE or found["gallery"] is not None):
        raise InputError(
            f"{place}: system.symmetric belongs to system.kind = 'distance' of items that query each other; leave it "
            "out here."
        )
