"""Decides which columns of a table are dimensions."""

import warnings
from collections.abc import Collection, Sequence

import numpy as np

from tieproof.errors import InputError, InputWarning
from tieproof.inputs.readers.entries import LABELS, Entry, kind_of, listing, meant, outside
from tieproof.inputs.readers.remote import File
from tieproof.ties import Array

ROWS = 1024
"""The number of rows that are compared with the labels at a time."""


def dimensions(path: File, columns: Sequence[Entry], apart: Collection[str]) -> list[int]:
    """Return the positions of the columns that are dimensions.

    apart : the columns that an option names, which are not dimensions

    All other columns are dimensions, except those with names of something else, and the one that would be read as the
    labels.
    """
    labels = meant(columns, LABELS)
    found = [
        at
        for at, column in enumerate(columns)
        if column.name not in apart and kind_of(column, columns) in (None, "embeddings")
    ]
    without_labels = [at for at in found if columns[at] is not labels]
    if not found:
        raise InputError(
            f"{path} has no columns of numbers, only {listing([column.name for column in columns])}; "
            "give a table with one column a dimension, or a column of lists."
        )
    return without_labels or found


def warn_of_names(path: File, columns: Sequence[Entry], taken: Sequence[int], stacklevel: int) -> None:
    """Warn which columns were read as dimensions although their names are not numbered, as f0, f1, f2 are."""
    names = [columns[at].name for at in taken]
    others = [columns[at].name for at in sorted(set(range(len(columns))).difference(taken))]
    odd = outside(names, others)
    if not odd:
        return
    verb = "is read as a dimension" if len(odd) == 1 else "are read as dimensions"
    whole = f", in addition to {len(names) - len(odd)} numbered columns" if len(odd) < len(names) else ""
    left_out = f" Left out: {quoted(others)}." if others else ""
    warnings.warn(
        f"{path}: {quoted(odd)} {verb}{whole}.{left_out} If a column is not a dimension, name it by its option, such "
        f"as the labels '{path}:{odd[-1]}', or rename it to 'id'; rename dimensions to f0, f1, f2.",
        InputWarning,
        stacklevel=stacklevel + 1,
    )


def refuse_labels(path: File, names: Sequence[str], embeddings: Array, labels: Array) -> None:
    """Refuse embeddings of which one dimension equals the labels; `names` are the names of the dimensions."""
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or len(labels) != len(embeddings):
        return
    if (labels == labels[0]).all():  # constant labels contain no information
        return
    same = np.arange(len(names))
    for start in range(0, len(labels), ROWS):
        rows = slice(start, start + ROWS)
        same = same[(embeddings[rows, same] == labels[rows, np.newaxis]).all(axis=0)]
    if same.size:
        raise InputError(
            f"{path} contains the labels as one of the dimensions, in column '{names[same[0]]}'; leave the column "
            f"out, or read the labels from '{path}:{names[same[0]]}'."
        )


def quoted(names: Sequence[str]) -> str:
    """Return the first names, in quotes."""
    return listing([f"'{name}'" for name in names])
