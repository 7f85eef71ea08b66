"""Numbered names, such as f0, f1, f2, which the columns of a table have if they are dimensions."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.readers.location import Location
from tieproof.ties import Array

NUMBERED = re.compile(r"(.*?)([0-9]{1,9})", re.DOTALL)


def outside(names: Sequence[str], known: Collection[str] = ()) -> list[str]:
    """Return the names outside the series of a common beginning and consecutive numbers, in any order.

    known : other names, which may fill gaps

    >>> outside(["f0", "f1", "species"]), outside(["x2", "x1", "x4"], ["x3", "label"]), outside(["f0", "f2"])
    (['species'], [], ['f0', 'f2'])
    """
    series: dict[str, list[int]] = defaultdict(list)
    for start, number in filter(None, map(_numbered, names)):
        series[start].append(number)
    longest = max(series, key=lambda start: len(series[start]), default="")
    found = series[longest]
    if not found or len(found) == 1 < len(names):
        return list(names)
    counted = {number for start, number in filter(None, map(_numbered, [*names, *known])) if start == longest}
    if len(set(found)) < len(found) or not all(at in counted for at in range(min(found), max(found))):
        return list(names)
    return [name for name in names if (_numbered(name) or (None,))[0] != longest]


def _numbered(name: str) -> tuple[str, int] | None:
    """Return the beginning of a name and the number at its end, or None without a number."""
    match = NUMBERED.fullmatch(name.strip())
    return (match[1], int(match[2])) if match else None


# In order of preference, in any letter case; of the name of an array in a group, only the last part counts.
NAMES = {
    "embeddings": ("embeddings", "embedding", "features", "feature", "vectors", "vector", "descriptors", "x"),
    "labels": ("labels", "label", "targets", "target", "classes", "class", "class_ids", "class_id", "y"),
    "confidences": ("confidences", "confidence"),
    "ids": ("id", "ids", "index", "indices", "__index_level_0__", "unnamed: 0"),
}
# A single letter or an id at the end of a name is too ambiguous. The longest ending counts, because it begins first.
ENDINGS = {name: kind for kind, names in NAMES.items() if kind != "ids" for name in names if len(name) > 1}
ENDING = re.compile(f"[^a-z0-9]({'|'.join(ENDINGS)})$")
COORDINATES = ("x", "y")  # if both have one axis

MOST_LISTED = 20

ROWS, ENDS = 1000, 4
"""How many rows are looked at to suggest labels, and how many entries at either end of a file."""


Rows = Callable[[int, int], Array]
"""Reads the rows start … stop-1 of an array, and little else."""


class Entry(NamedTuple):
    """One array of a file, not yet read.

    name : the name by which it is chosen; "" if the file is a single array
    shape : its shape; None for a length that is unknown before reading
    holds : its type and shape, for messages
    load : reads the array
    stored : the type of its floats, if NumPy does not have that type
    rows : reads some of the rows; None if the format can only be read as a whole
    first : reads the first rows of a format whose other rows take time
    """

    name: str
    shape: tuple[int | None, ...]
    holds: str
    load: Callable[[], Array]
    stored: str | None = None
    rows: Rows | None = None
    first: Callable[[], Array] | None = None


class Wanted(NamedTuple):
    """The kind of array that is wanted, one of `NAMES`, and its number of axes."""

    what: str
    axes: int


EMBEDDINGS = Wanted("embeddings", 2)
LABELS = Wanted("labels", 1)
CONFIDENCES = Wanted("confidences", 1)


def choose(entries: Sequence[Entry], where: Location, wanted: Wanted) -> Entry:
    """Return the entry that is named, or else the one with a known name, or else the only possible one."""
    if not entries:
        raise InputError(f"{where.path} contains no arrays; give a file with {wanted.what}.")
    if where.entry is not None:
        return _named(entries, where, wanted)
    entry = meant(entries, wanted)
    if entry is None:
        raise InputError(
            f"{where.path} does not say which of its entries are the {wanted.what}: "
            f"it contains {listed(entries)}. {_how_to_choose(entries, where, wanted)}"
        )
    return entry


def meant(entries: Sequence[Entry], wanted: Wanted) -> Entry | None:
    """Return the entry with a known name, or else a known ending of its name, or else the only one of its shape."""
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
    """Return the kind that the name of an entry means, one of `NAMES`, or None.

    `y` means the labels of `x`; but if `x` and `y` both have a single axis, they are coordinates.
    """
    name = _last(entry)
    if name in COORDINATES:
        single = {_last(each) for each in entries if len(each.shape) == 1}
        if single.issuperset(COORDINATES):
            return None
    return next((kind for kind, names in NAMES.items() if name in names), None)


def listed(entries: Sequence[Entry]) -> str:
    """Return the names of entries with their types and shapes."""
    return listing([f"'{entry.name}' ({entry.holds})" for entry in entries])


def listing(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    left = len(names) - MOST_LISTED
    return ", ".join(names[:MOST_LISTED]) + (f" and {left} more" if left > 0 else "")


def _fitting(entries: Sequence[Entry], wanted: Wanted) -> list[Entry]:
    """Return the entries with the wanted axes; if there is none, those with an additional axis of length 1."""
    strict = [entry for entry in entries if len(entry.shape) == wanted.axes and not _is_flat(entry)]
    flat = [entry for entry in entries if len(entry.shape) == 2 and _is_flat(entry)]
    return strict or flat


def _is_flat(entry: Entry) -> bool:
    """Whether an entry has the shape (1, n) or (n, 1), in which other programs save one axis."""
    return len(entry.shape) == 2 and 1 in entry.shape


def _ending(entry: Entry) -> str | None:
    """The kind that a name ends in, as phocnet_features does."""
    found = ENDING.search(_last(entry))
    return None if found is None else ENDINGS[found[1]]


def _named(entries: Sequence[Entry], where: Location, wanted: Wanted) -> Entry:
    if entries[0].name == "":
        raise InputError(
            f"{where.path} is a single array and has no entries; leave out ':{where.entry}' after its name."
        )
    found = [entry for entry in entries if where.entry in (entry.name, f"/{entry.name}")]
    if len(found) == 1:
        return found[0]
    how_many = "several entries" if found else "no entry"
    raise InputError(
        f"{where.path} has {how_many} called '{where.entry}': "
        f"it contains {listed(entries)}. {_how_to_choose(entries, where, wanted)}"
    )


def _last(entry: Entry) -> str:
    return entry.name.rpartition("/")[2].strip().lower()


def _how_to_choose(entries: Sequence[Entry], where: Location, wanted: Wanted) -> str:
    """Return advice with a valid example: an entry with a unique name and the right shape."""
    uses = Counter(entry.name for entry in entries)
    once = [entry for entry in entries if uses[entry.name] == 1]
    apt = [entry for entry in once if kind_of(entry, entries) in (None, wanted.what)]
    odd = set(outside([entry.name for entry in apt]))
    for possible in ([entry for entry in apt if entry.name in odd], apt, once):
        fitting = _fitting(possible, wanted)
        likely = _like_labels(fitting) if wanted is LABELS else next(iter(fitting), None)
        if likely is not None:
            return f"Choose one by a colon and its name, such as '{where.path}:{likely.name}'."
    if _fitting(once, wanted):
        return "Choose one by a colon and its name, or give the labels in another file."
    if len(once) < len(entries):
        return "Give every entry a different name."
    shape = "(n, d)" if wanted is EMBEDDINGS else "(n,)"
    return f"None of them has the shape {shape} of {wanted.what}. Give a file that contains {wanted.what}."


def _like_labels(entries: Sequence[Entry]) -> Entry | None:
    """Return the last entry of names that occur several times, unlike paths and ids, or else of such integers."""
    integers = None
    for entry in [*entries[: -ENDS - 1 : -1], *entries[:ENDS]]:
        with suppress(InputError):
            values = np.asarray((entry.first or entry.load)()).reshape(-1)[:ROWS]
            if values.dtype.kind not in "biufUS" or len(np.unique(values)) == len(values):
                continue
            try:
                numbers = values.astype(np.float64)
            except ValueError:
                return entry
            if np.equal(numbers, np.rint(numbers)).all():
                integers = integers or entry
    return integers
