"""Decides which array of a file, or column of a table or frame, has what: embeddings, labels, confidences, ids."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from tieproof.errors import InputError, warn
from tieproof.inputs.arrays import type_name
from tieproof.inputs.frames import COLUMNS, as_frame, column_called, plain
from tieproof.inputs.readers.location import File, Location
from tieproof.ties import Array

# In order of preference, in any letter case; of the name of an array in a group, only the last part counts.
NAMES = {
    "embeddings": ("embeddings", "embedding", "features", "feature", "vectors", "vector", "descriptors", "x"),
    "labels": ("labels", "label", "targets", "target", "classes", "class", "class_ids", "class_id", "y", "y_true"),
    "confidences": ("confidences", "confidence"),
    "ids": ("id", "ids", "index", "indices", "__index_level_0__", "unnamed: 0"),
}
SURE = {name for kind, names in NAMES.items() if kind != "embeddings" for name in names if len(name) > 1}
"""The names of anything but a dimension."""

SCORES = {plain(name) for what in ("score", "distance") for name in COLUMNS[what]}
NO_DIMENSIONS = {plain(name) for names in (*COLUMNS.values(), NAMES["ids"], ("", "rank")) for name in names}
"""The names of scores, and of everything in tables of scores and of runs, without signs between words."""

AXES = {"embeddings": 2, "labels": 1, "confidences": 1}

# A single letter or an id at the end of a name is too ambiguous. The longest ending counts, because it begins first.
_ENDINGS = {name: kind for kind, names in NAMES.items() if kind != "ids" for name in names if len(name) > 1}
_ENDING = re.compile(f"[^a-z0-9]({'|'.join(_ENDINGS)})$")
_COORDINATES = ("x", "y")  # if both have one axis
_NUMBERED = re.compile(r"(.*?)([0-9]{1,9})", re.DOTALL)

SPARSE_ROWS = "sparse rows"  # what entries of them hold

MOST_LISTED = 20

RowReader = Callable[[int, int], Array]  # of the rows start … stop-1 of an array, and little else


class Entry(NamedTuple):
    """One array of a file, or one column of a table, not yet read."""

    name: str  # by which it is chosen; "" if the file is a single array
    shape: tuple[int | None, ...]  # None for a length that is unknown before reading
    holds: str  # its type and shape, for messages
    load: Callable[[], Array]
    stored: str | None = None  # the type of its floats, if NumPy does not have that type
    rows: RowReader | None = None  # reads some of the rows; None if the format can only be read as a whole


def holds(dtype: np.dtype[Any] | str, shape: Sequence[int]) -> str:
    """Return a type and a shape in words, for messages."""
    return f"{dtype if isinstance(dtype, str) else type_name(dtype)}, shape {tuple(shape)}"


def choose(entries: Sequence[Entry], where: Location, wanted: str) -> Entry:
    """Return the entry that is named, or else the one with a known name, or else the only possible one."""
    if not entries:
        raise InputError(f"{where.path} contains no arrays; give a file with {wanted}.")
    if where.entry is not None:
        return _named(entries, where, wanted)
    entry = meant(entries, wanted)
    if entry is None:
        refuse_scores(where.path, [each.name for each in entries])
        raise InputError(
            f"{where.path} does not say which of its entries are the {wanted}: "
            f"it contains {listed(entries)}. {_how_to_choose(entries, where, wanted)}"
        )
    return entry


def meant(entries: Sequence[Entry], wanted: str) -> Entry | None:
    """Return the entry with a known name, or else a known ending of its name, or else the only one of its shape."""
    kinds = [_kind_of(entry, entries) for entry in entries]
    for name in NAMES[wanted]:
        called = [entry for entry, kind in zip(entries, kinds, strict=True) if kind and _last(entry) == name]
        if called:
            return called[0] if len(called) == 1 else None
    endings = [_ENDING.search(_last(entry)) for entry in entries]  # as in phocnet_features
    kinds = [kind or (ending and _ENDINGS[ending[1]]) for kind, ending in zip(kinds, endings, strict=True)]
    ended = [entry for entry, kind in zip(entries, kinds, strict=True) if kind == wanted]
    unknown = [entry for entry, kind in zip(entries, kinds, strict=True) if kind is None]
    several_classes = [entry for entry in ended if len(entry.shape) == 2]
    for possible in (_fitting(ended, wanted), several_classes, _fitting(unknown, wanted)):
        if possible:
            return possible[0] if len(possible) == 1 else None
    return entries[0] if len(entries) == 1 and kinds[0] in (None, "ids") else None


def _kind_of(entry: Entry, entries: Sequence[Entry]) -> str | None:
    """Return the key of `NAMES` that the name of an entry belongs to, or None.

    `y` means the labels of `x`; but if `x` and `y` both have a single axis, they are coordinates.
    """
    name = _last(entry)
    if name in _COORDINATES:
        single = {_last(each) for each in entries if len(each.shape) == 1}
        if single.issuperset(_COORDINATES):
            return None
    return next((kind for kind, names in NAMES.items() if name in names), None)


def _last(entry: Entry) -> str:
    return entry.name.rpartition("/")[2].strip().lower()


def _fitting(entries: Sequence[Entry], wanted: str) -> list[Entry]:
    """Return the entries with the wanted axes; if there is none, those of the shape (1, n) or (n, 1)."""
    flat = [len(entry.shape) == 2 and 1 in entry.shape for entry in entries]
    strict = [entry for at, entry in enumerate(entries) if len(entry.shape) == AXES[wanted] and not flat[at]]
    return strict or [entry for at, entry in enumerate(entries) if flat[at]]


def _named(entries: Sequence[Entry], where: Location, wanted: str) -> Entry:
    if entries[0].name == "":
        raise InputError(
            f"{where.path} is a single array and has no entries; leave out ':{where.entry}' after its name."
        )
    called = [entry for entry in entries if where.entry in (entry.name, f"/{entry.name}")]
    if len(called) == 1:
        return called[0]
    how_many = "several entries" if called else "no entry"
    raise InputError(
        f"{where.path} has {how_many} called '{where.entry}': "
        f"it contains {listed(entries)}. {_how_to_choose(entries, where, wanted)}"
    )


def _how_to_choose(entries: Sequence[Entry], where: Location, wanted: str) -> str:
    """Return advice with a valid example: an entry with a unique name and the right shape."""
    uses = Counter(entry.name for entry in entries)
    once = [entry for entry in entries if uses[entry.name] == 1]
    apt = [entry for entry in once if _kind_of(entry, entries) in (None, wanted)]
    odd = set(outside([entry.name for entry in apt]))
    for possible in ([entry for entry in apt if entry.name in odd], apt, once):
        fitting = _fitting(possible, wanted)
        likely = fitting[:1] if wanted != "labels" else _beside(fitting, once)
        if likely:
            return f"Choose one by a colon and its name, such as '{where.path}:{likely[0].name}'."
    if _fitting(once, wanted):
        return "Choose one by a colon and its name, or give the labels in another file."
    if len(once) < len(entries):
        return "Give every entry a different name."
    shape = "(n, d)" if wanted == "embeddings" else "(n,)"
    return f"None of them has the shape {shape} of {wanted}. Give a file that contains {wanted}."


def _beside(entries: Sequence[Entry], others: Sequence[Entry]) -> list[Entry]:
    """Return the labels whose name belongs to the first embeddings, as y_test belongs to X_test."""
    of_embeddings = [_last(entry) for entry in _fitting(others, "embeddings")]
    names = [f"y{name[1:]}" for name in of_embeddings[:1] if name.startswith("x_")]
    return [entry for entry in entries if _last(entry) in names]


def dimensions(path: File, columns: Sequence[Entry], apart: Collection[str]) -> list[int]:
    """Return the positions of columns of numbers that are not named `apart`, by their own names, or as the labels."""
    possible = [
        at
        for at, column in enumerate(columns)
        if column.name not in apart and _kind_of(column, columns) in (None, "embeddings")
    ]
    if not possible:
        raise InputError(
            f"{path} has no columns of numbers, only {listing([column.name for column in columns])}; "
            "give a table with one column a dimension, or a column of lists."
        )
    refuse_scores(path, [columns[at].name for at in possible])
    labels = meant(columns, "labels")
    return [at for at in possible if columns[at] is not labels] or possible


def refuse_scores(path: File, names: Sequence[str]) -> None:
    """Refuse a table of scores: its dimensions would be scores, queries and documents."""
    known = set(map(plain, names))
    scores = [name for name in names if plain(name) in SCORES]
    if scores and known <= NO_DIMENSIONS:
        raise InputError(
            f"{path} has scores, in column '{scores[0]}', not vectors. To score rankings by scores and relevance, "
            f"use tieproof scores {path}, or pass the path to tp.evaluate_scores; to score pairs that match or not, "
            f"tieproof det {path} (tp.det_curve_of_pairs); rename a dimension to f0."
        )


def warn_of_names(path: File, columns: Sequence[Entry], taken: Sequence[int]) -> None:
    """Warn which columns were read as dimensions although their names are not numbered, as f0, f1, f2 are."""
    names = [columns[at].name for at in taken]
    left_out = [columns[at].name for at in sorted(set(range(len(columns))).difference(taken))]
    odd = outside(names, left_out)
    if not odd:
        return
    verb = "is read as a dimension" if len(odd) == 1 else "are read as dimensions"
    whole = f", in addition to {len(names) - len(odd)} numbered columns" if len(odd) < len(names) else ""
    without = f" Left out: {_quoted(left_out)}." if left_out else ""
    warn(
        f"{path}: {_quoted(odd)} {verb}{whole}.{without} If a column is not a dimension, name it by its option, such "
        f"as the labels '{path}:{odd[-1]}', or rename it to 'id'; rename dimensions to f0, f1, f2."
    )


def refuse_labels(path: File, names: Sequence[str], embeddings: Array, labels: Array) -> None:
    """Refuse embeddings of which one dimension equals the labels; `names` are the names of the dimensions."""
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or len(labels) != len(embeddings):
        return
    if (labels == labels[0]).all():  # constant labels contain no information
        return
    same = np.flatnonzero((embeddings == labels[:, np.newaxis]).all(axis=0))
    if same.size:
        raise InputError(
            f"{path} contains the labels as one of the dimensions, in column '{names[same[0]]}'; leave the column "
            f"out, or read the labels from '{path}:{names[same[0]]}'."
        )


def outside(names: Sequence[str], known: Collection[str] = ()) -> list[str]:
    """Return the names outside the series of one beginning and consecutive numbers, whose gaps `known` may fill."""
    series: dict[str, list[int]] = defaultdict(list)
    for start, number in filter(None, map(_numbered, names)):
        series[start].append(number)
    longest = max(series, key=lambda start: len(series[start]), default="")
    numbers = series[longest]
    if not numbers or len(numbers) == 1 < len(names):
        return list(names)
    counted = {number for start, number in filter(None, map(_numbered, [*names, *known])) if start == longest}
    if len(set(numbers)) < len(numbers) or not all(at in counted for at in range(min(numbers), max(numbers))):
        return list(names)
    return [name for name in names if (_numbered(name) or (None,))[0] != longest]


def _numbered(name: str) -> tuple[str, int] | None:
    """Return the beginning of a name and the number at its end, or None without a number."""
    match = _NUMBERED.fullmatch(name.strip())
    return (match[1], int(match[2])) if match else None


def listed(entries: Sequence[Entry]) -> str:
    """Return the names of entries with their types and shapes."""
    return listing([f"'{entry.name}' ({entry.holds})" for entry in entries])


def _quoted(names: Sequence[str]) -> str:
    return listing([f"'{name}'" for name in names])


def listing(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    left = len(names) - MOST_LISTED
    return ", ".join(names[:MOST_LISTED]) + (f" and {left} more" if left > 0 else "")


LOOKED_AT = 100  # the cells that tell what a column of a frame has: the first ones may be missing


def vectors_of(values: Any, name: str) -> Any:
    """Return the vectors of a frame; anything else, and a frame of numbers alone, unchanged.

    A column of vectors is the embedding, whatever else the frame has; of several, the one that has a usual name.
    Without one, columns of text and columns with the names of labels, confidences and ids are left out if there is
    any text, and the others are dimensions.
    """
    if type(values).__name__ == "LazyFrame" or not hasattr(values, "columns"):
        return values
    frame = as_frame(values)
    names = list(frame.columns)
    if len(set(names)) < len(names):
        return values
    columns = {each: column_called(frame, each, f"The {name}") for each in names}
    vectors = [each for each, column in columns.items() if _has(column, (list, tuple, np.ndarray))]
    if vectors:
        usual = [each for known in NAMES["embeddings"] for each in vectors if str(each).lower() == known]
        if len(vectors) > 1 and not usual:
            raise InputError(
                f"The {name} are a frame with several columns of vectors, {listing(list(map(str, vectors)))}. Pass "
                f"one of them, as a list of its vectors: frame[{vectors[0]!r}].to_list().",
                name,
            )
        return columns[(usual or vectors)[0]].tolist()
    texts = [each for each, column in columns.items() if _has(column, str)]
    left_out = [each for each in names if each in texts or str(each).lower() in SURE]
    taken = [each for each in names if each not in left_out]
    if not texts or not taken:
        return values
    warn(
        f"The {name} are a frame with text, so that {listing(list(map(str, left_out)))} "
        f"{'is' if len(left_out) == 1 else 'are'} left out, and the dimensions are {listing(list(map(str, taken)))}. "
        "To choose them yourself, pass only columns of numbers."
    )
    return values.select(taken) if hasattr(values, "select") else values[taken]


def _has(column: Array, kind: Any) -> bool:
    """Whether one of the first cells of a column is of this kind; the rows of a column with two axes are arrays."""
    return any(isinstance(cell, kind) for cell in column[:LOOKED_AT])
