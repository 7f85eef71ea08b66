"""Embeddings and labels from files: one file per format, and nothing in a file is ever executed.

location ──► location.py: path and entry ──► FORMATS: the reader of the extension ──► its entries
                                                                                          │
embeddings (n, d), labels (n,) or (n, c) ◄── arrays.py: checked ◄── entries.py: the one that is meant
"""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.readers import delimited, hdf5, npy, npz, parquet, safetensors, text, torch
from tieproof.readers.arrays import Array, as_confidences, as_embeddings, as_labels
from tieproof.readers.entries import CONFIDENCES, EMBEDDINGS, LABELS, Entry, choose
from tieproof.readers.location import Location, check, split

__all__ = ["FORMATS", "Format", "read_confidences", "read_embeddings", "read_labels"]


class Format(NamedTuple):
    """How the files of one extension are read.

    entries : the arrays in a file, or its columns
    matrix : for a table, all of its dimensions at once, given the column of the labels if one is named
    embeddings : False where the format can only hold labels
    """

    entries: Callable[[Path, str | None], list[Entry]]
    matrix: Callable[[Path, str | None], Array | None] = lambda path, labels: None
    embeddings: bool = True


FORMATS = {
    ".npy": Format(npy.entries),
    ".npz": Format(npz.entries),
    ".h5": Format(hdf5.entries),
    ".hdf5": Format(hdf5.entries),
    ".safetensors": Format(safetensors.entries),
    ".pt": Format(torch.entries),
    ".pth": Format(torch.entries),
    ".parquet": Format(parquet.entries, parquet.matrix),
    ".csv": Format(partial(delimited.entries, ","), partial(delimited.matrix, ",")),
    ".tsv": Format(partial(delimited.entries, "\t"), partial(delimited.matrix, "\t")),
    ".txt": Format(text.lines, embeddings=False),
    ".json": Format(text.json_list, embeddings=False),
}


def read_embeddings(location: str | os.PathLike[str], *, labels: str | os.PathLike[str] | None = None) -> Array:
    """Read embeddings, shape (n, d), in the type in which they are stored.

    location : a file, or a file and one of its entries: `file.npz:key`, `file.h5:group/name`,
        `file.safetensors:name`, `file.pt:key`, `file.parquet:column`. Without an entry, one called
        `embeddings`, `features`, `vectors`, `x`, … is read, else the only one with two axes.
    labels : the location of the labels; a column of the same table that it names is no dimension

    A .npy file is memory-mapped. bfloat16, and any other floats that NumPy does not have, become float32,
    exactly. In a table (.csv, .tsv, .parquet) the columns are the dimensions, in the order of the file, but
    for those called `label`, `class`, `target`, `id`, `index`, …; a .parquet file may hold them as one column
    of lists. The numbers of a .csv or .tsv file become the nearest float64. Its first row is a header if it
    has one of those names, or no number, or counts 0, 1, 2, …

    Raises InputError where the file cannot be read, or its content is no array of numbers of shape (n, d),
    and MissingExtraError where the library for its format is not installed.

    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/data.npz", features=np.eye(2, dtype=np.float32), labels=["cat", "dog"])
    ...     read_embeddings(f"{folder}/data.npz")
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    where = split(location)
    form = _form(where)
    if not form.embeddings:
        known = ", ".join(extension for extension, form in FORMATS.items() if form.embeddings)
        raise InputError(f"{where} can only hold labels; embeddings are read from {known}.")
    if where.entry is None:
        matrix = form.matrix(where.path, _column_of(labels, where.path))
        if matrix is not None:
            return as_embeddings(matrix, where)
    entry = choose(form.entries(where.path, where.entry), where, EMBEDDINGS)
    return as_embeddings(entry.load(), Location(where.path, entry.name))


def read_labels(location: str | os.PathLike[str]) -> Array:
    r"""Read labels, integers or strings of shape (n,), or 0/1 of shape (n, c) for c classes.

    location : a file, or a file and one of its entries, as for `read_embeddings`. Without an entry, one
        called `labels`, `targets`, `classes`, `y`, … is read, else the only one with one axis. In a table,
        `y` has to be named (`file.csv:y`), for it may as well be a dimension.

    A stored shape of (1, n) becomes (n,), and so does (n, 1) unless all labels are 0 or 1: that is the column of a
    single class. A .txt file holds one label a line, a .json file a list.
    In .txt, .csv and .tsv, labels are integers if every one of them is written as an integer is (7, not 07 or
    7.0), else strings, as written but for the space around them. A .csv of a single column may have a header
    or not: the first row is one if it is `label`, `labels`, `class`, `id`, … or the column that was named.

    Raises InputError where the file cannot be read, a label is missing or NaN, or its content is no array of
    labels, and MissingExtraError where the library for its format is not installed.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "labels.txt").write_text("cat\ndog\ncat\n")
    ...     read_labels(f"{folder}/labels.txt").tolist()
    ['cat', 'dog', 'cat']
    """
    where = split(location)
    entry = choose(_form(where).entries(where.path, where.entry), where, LABELS)
    return as_labels(entry.load(), Location(where.path, entry.name), entry.stored)


def read_confidences(location: str | os.PathLike[str]) -> Array:
    r"""Read confidences, numbers of shape (n,), in the type in which they are stored.

    location : a file, or a file and one of its entries, as for `read_embeddings`. Without an entry, one called
        `confidences` or `confidence` is read, else the only one with one axis.

    A .txt file holds one number a line, a .json file a list. Numbers in text become the nearest float64.

    Raises InputError where the file cannot be read, or its content is no array of numbers, and MissingExtraError
    where the library for its format is not installed.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "confidences.txt").write_text("0.5\n1\n0.25\n")
    ...     read_confidences(f"{folder}/confidences.txt").tolist()
    [0.5, 1.0, 0.25]
    """
    where = split(location)
    entry = choose(_form(where).entries(where.path, where.entry), where, CONFIDENCES)
    return as_confidences(np.asarray(entry.load()), Location(where.path, entry.name))


def _form(where: Location) -> Format:
    check(where.path)
    try:
        return FORMATS[where.path.suffix.lower()]
    except KeyError:
        raise InputError(
            f"{where.path} has the extension '{where.path.suffix}', which is not known. "
            f"Give it the extension of what it holds: {', '.join(FORMATS)}."
        ) from None


def _column_of(labels: str | os.PathLike[str] | None, path: Path) -> str | None:
    """Which column of `path` the labels are read from, if their location names one."""
    if labels is None:
        return None
    where = split(labels)
    same = os.path.exists(where.path) and os.path.samefile(where.path, path)
    return where.entry if same else None
