"""The named arrays of a file, and which of them is meant.

The same names and the same choice hold for the arrays of an archive and for the columns of a table, and in both
directions: what is read as the labels is never read as a part of the embeddings.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tieproof.errors import InputError
from tieproof.inputs.readers.location import Location
from tieproof.inputs.readers.series import outside
from tieproof.ties import Array

# In the order of preference, whatever their case; in a group of a file, the last part of the name counts.
NAMES = {
    "embeddings": ("embeddings", "embedding", "features", "feature", "vectors", "vector", "descriptors", "x"),
    "labels": ("labels", "label", "targets", "target", "classes", "class", "class_ids", "class_id", "y"),
    "confidences": ("confidences", "confidence"),
    "ids": ("id", "ids", "index", "indices", "__index_level_0__", "unnamed: 0"),
}
# A single letter or an id at the end of a name says too little. The longest one counts, since it begins first.
ENDINGS = {name: kind for kind, names in NAMES.items() if kind != "ids" for name in names if len(name) > 1}
ENDING = re.compile(f"[^a-z0-9]({'|'.join(ENDINGS)})$")
COORDINATES = ("x", "y")  # where each of both has one axis

FLOATS = re.compile(r"b?f\d|b?float|halffloat|double", re.IGNORECASE)
"""How the formats begin to say that an entry holds floats, which labels seldom are."""

MOST_LISTED = 20


Rows = Callable[[int, int], Array]
"""Reads the rows start … stop-1 of an array, and little else."""


class Entry(NamedTuple):
    """One array of a file, not yet read.

    name : how it is chosen; "" where the file is a single array
    shape : its shape; None for a length that only reading would tell
    holds : its type and shape, for people
    load : reads it
    stored : the type of its floats, where NumPy has none that is as narrow
    rows : reads some of the rows; None where the format has them only all at once
    """

    name: str
    shape: tuple[int | None, ...]
    holds: str
    load: Callable[[], Array]
    stored: str | None = None
    rows: Rows | None = None


class Wanted(NamedTuple):
    """What is looked for: one of the kinds of `NAMES`, and the axes that it has."""

    what: str
    axes: int


EMBEDDINGS = Wanted("embeddings", 2)
LABELS = Wanted("labels", 1)
CONFIDENCES = Wanted("confidences", 1)


def choose(entries: Sequence[Entry], where: Location, wanted: Wanted) -> Entry:
    """Return the entry that is named, else the one with a known name, else the only one that can be meant."""
    if not entries:
        raise InputError(f"{where.path} holds no arrays; give a file with {wanted.what}.")
    if where.entry is not None:
        return _named(entries, where, wanted)
    entry = meant(entries, wanted)
    if entry is None:
        raise InputError(
            f"{where.path} does not say which of its entries are the {wanted.what}: "
            f"it holds {listed(entries)}. {_how_to_choose(entries, where, wanted)}"
        )
    return entry


def meant(entries: Sequence[Entry], wanted: Wanted) -> Entry | None:
    """The entry with a known name, else with a name that ends in one, else the only one of its shape, if any."""
    kinds = [kind_of(entry, entries) for entry in entries]
    for name in NAMES[wanted.what]:
        found = [entry for entry, kind in zip(entries, kinds, strict=True) if kind and _last(entry) == name]
        if found:
            return found[0] if len(found) == 1 else None
    endings = [kind or _ending(entry) for entry, kind in zip(entries, kinds, strict=True)]
    ended, others = (
        [entry for entry, ending in zip(entries, endings, strict=True) if ending == kind]
        for kind in (wanted.what, None)
    )
    for possible in (
        _fitting(ended, wanted),
        [entry for entry in ended if len(entry.shape) == 2],  # labels of several classes
        _fitting(others, wanted),
    ):
        if possible:
            return possible[0] if len(possible) == 1 else None
    return entries[0] if len(entries) == 1 and endings[0] in (None, "ids") else None


def kind_of(entry: Entry, entries: Sequence[Entry]) -> str | None:
    """What the name of an entry says that it is, one of `NAMES`, if it says anything beside the names of the others.

    `y` are the labels that belong to `x`; but where `x` has a single axis, both are coordinates.
    """
    name = _last(entry)
    if name in COORDINATES:
        single = {_last(each) for each in entries if len(each.shape) == 1}
        if single.issuperset(COORDINATES):
            return None
    return next((kind for kind, names in NAMES.items() if name in names), None)


def listed(entries: Sequence[Entry]) -> str:
    """The names of entries, and what they hold."""
    return listing([f"'{entry.name}' ({entry.holds})" for entry in entries])


def listing(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    left = len(names) - MOST_LISTED
    return ", ".join(names[:MOST_LISTED]) + (f" and {left} more" if left > 0 else "")


def _fitting(entries: Sequence[Entry], wanted: Wanted) -> list[Entry]:
    """The entries of as many axes as wanted; one of length 1 counts where no entry is without."""
    strict = [entry for entry in entries if len(entry.shape) == wanted.axes and not _is_flat(entry)]
    flat = [entry for entry in entries if len(entry.shape) == 2 and _is_flat(entry)]
    return strict or flat


def _is_flat(entry: Entry) -> bool:
    """Whether it has the shape (1, n) or (n, 1), as others save what has one axis."""
    return len(entry.shape) == 2 and 1 in entry.shape


def _ending(entry: Entry) -> str | None:
    """The kind that a name ends in, as phocnet_features does."""
    found = ENDING.search(_last(entry))
    return None if found is None else ENDINGS[found[1]]


def _named(entries: Sequence[Entry], where: Location, wanted: Wanted) -> Entry:
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
        f"it holds {listed(entries)}. {_how_to_choose(entries, where, wanted)}"
    )


def _last(entry: Entry) -> str:
    return entry.name.rpartition("/")[2].strip().lower()


def _how_to_choose(entries: Sequence[Entry], where: Location, wanted: Wanted) -> str:
    """An example that can be followed: an entry that is named once and has the right shape."""
    uses = Counter(entry.name for entry in entries)
    once = [entry for entry in entries if uses[entry.name] == 1]
    apt = [entry for entry in once if kind_of(entry, entries) in (None, wanted.what)]
    odd = set(outside([entry.name for entry in apt]))
    for possible in ([entry for entry in apt if entry.name in odd], apt, once):
        fitting = _fitting(possible, wanted)
        if fitting:
            likely = min(fitting, key=lambda entry: wanted is LABELS and bool(FLOATS.match(entry.holds)))
            return f"Choose one by a colon and its name, such as '{where.path}:{likely.name}'."
    if len(once) < len(entries):
        return "Give every entry a name of its own."
    shape = "(n, d)" if wanted is EMBEDDINGS else "(n,)"
    return f"None of them has the shape {shape} of {wanted.what}. Give a file that holds them."
