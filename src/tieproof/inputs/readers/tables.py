"""The columns of a table: which of them are dimensions."""

import warnings
from collections.abc import Collection, Sequence

import numpy as np

from tieproof.errors import InputError, InputWarning
from tieproof.inputs.readers.entries import (
    LABELS,
    Entry,
    kind_of,
    listing,
    meant,
)
from tieproof.inputs.readers.remote import File
from tieproof.inputs.readers.series import outside
from tieproof.ties import Array

ROWS = 1024
"""How many rows are compared with the labels at once."""


def dimensions(path: File, columns: Sequence[Entry], apart: Collection[str]) -> list[int]:
    """The positions of the columns that are dimensions.

    apart : the columns that an option names

    All the others are, but for those whose names say that they are something else, and for the one that would be read
    as the labels.
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
    """Say which columns were taken as dimensions, where their names do not count."""
    names = [columns[at].name for at in taken]
    others = [columns[at].name for at in sorted(set(range(len(columns))).difference(taken))]
    odd = outside(names, others)
    if not odd:
        return
    verb = "is a dimension" if len(odd) == 1 else "are dimensions"
    whole = f", beside {len(names) - len(odd)} whose names count" if len(odd) < len(names) else ""
    left_out = f" Left out: {quoted(others)}." if others else ""
    warnings.warn(
        f"{path}: {quoted(odd)} {verb}{whole}.{left_out} Name a column that should be none by its option, such as "
        f"the labels '{path}:{odd[-1]}', or call it 'id'; call those that should be f0, f1, f2.",
        InputWarning,
        stacklevel=stacklevel + 1,
    )


def refuse_labels(path: File, names: Sequence[str], embeddings: Array, labels: Array) -> None:
    """Refuse dimensions, of these names, one of which is the labels."""
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or len(labels) != len(embeddings):
        return
    if (labels == labels[0]).all():  # says nothing of the items
        return
    same = np.arange(len(names))
    for start in range(0, len(labels), ROWS):
        rows = slice(start, start + ROWS)
        same = same[(embeddings[rows, same] == labels[rows, np.newaxis]).all(axis=0)]
    if same.size:
        raise InputError(
            f"{path} has the labels themselves in column '{names[same[0]]}', as one of the dimensions; leave it out, "
            f"or read the labels from '{path}:{names[same[0]]}'."
        )


def quoted(names: Sequence[str]) -> str:
    """The first of some names, in quotes."""
    return listing([f"'{name}'" for name in names])
