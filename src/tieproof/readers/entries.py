"""The named arrays of a file, and which of them is meant."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tieproof.errors import InputError
from tieproof.readers.arrays import Array
from tieproof.readers.location import Location

# In the order of preference, whatever their case; in a group of a file, the last part of the name counts.
EMBEDDING_NAMES = ("embeddings", "embedding", "features", "feature", "vectors", "vector", "descriptors", "x")
COLUMN_LABEL_NAMES = ("labels", "label", "targets", "target", "classes", "class", "class_ids", "class_id")
LABEL_NAMES = (*COLUMN_LABEL_NAMES, "y")
ID_NAMES = ("id", "ids", "index", "indices", "__index_level_0__", "unnamed: 0")

MOST_LISTED = 20


class Entry(NamedTuple):
    """One array of a file, not yet read.

    name : how it is chosen; "" where the file is a single array
    axes : the length of its shape
    holds : its type and shape, for people
    load : reads it
    stored : the type of its floats, where NumPy has none that is as narrow
    """

    name: str
    axes: int
    holds: str
    load: Callable[[], Array]
    stored: str | None = None


class Wanted(NamedTuple):
    """What is looked for: its name, the names and the axes it has, and names that mean something else."""

    what: str
    names: Sequence[str]
    axes: int
    others: Sequence[str]


EMBEDDINGS = Wanted("embeddings", EMBEDDING_NAMES, 2, LABEL_NAMES)
LABELS = Wanted("labels", LABEL_NAMES, 1, EMBEDDING_NAMES)
CONFIDENCES = Wanted("confidences", ("confidences", "confidence"), 1, (*EMBEDDING_NAMES, *LABEL_NAMES))


def choose(entries: Sequence[Entry], where: Location, wanted: Wanted) -> Entry:
    """Return the entry that is named, else the one with a known name, else the only one that can be meant."""
    if not entries:
        raise InputError(f"{where.path} holds no arrays; give a file with {wanted.what}.")
    if where.entry is not None:
        return _named(entries, where)
    for name in wanted.names:
        found = [entry for entry in entries if _last(entry) == name]
        if len(found) == 1:
            return found[0]
        if found:
            break
    else:
        possible = [entry for entry in entries if _last(entry) not in wanted.others]
        fitting = [entry for entry in possible if entry.axes == wanted.axes and _last(entry) not in ID_NAMES]
        if len(fitting) == 1:
            return fitting[0]
        if len(entries) == len(possible) == 1:
            return possible[0]
    raise InputError(
        f"{where.path} does not say which of its entries are the {wanted.what}: "
        f"it holds {_listed(entries)}. {_how_to_choose(entries, where)}"
    )


def _named(entries: Sequence[Entry], where: Location) -> Entry:
    if entries[0].name == "":
        raise InputError(
            f"{where.path} is a single array and has no entries; leave out the ':{where.entry}' behind its name."
        )
    found = [entry for entry in entries if where.entry in (entry.name, f"/{entry.name}")]
    if len(found) == 1:
        return found[0]
    how_many = "several entries" if found else "no entry"
    raise InputError(
        f"{where.path} has {how_many} called '{where.entry}': "
        f"it holds {_listed(entries)}. {_how_to_choose(entries, where)}"
    )


def _last(entry: Entry) -> str:
    return entry.name.rpartition("/")[2].strip().lower()


def _listed(entries: Sequence[Entry]) -> str:
    shown = ", ".join(f"'{entry.name}' ({entry.holds})" for entry in entries[:MOST_LISTED])
    left = len(entries) - MOST_LISTED
    return f"{shown} and {left} more" if left > 0 else shown


def _how_to_choose(entries: Sequence[Entry], where: Location) -> str:
    return f"Choose one by a colon and its name, such as '{where.path}:{entries[0].name}'."
