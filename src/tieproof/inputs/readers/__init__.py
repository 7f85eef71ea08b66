"""Embeddings and labels from files: one file per family of formats, and nothing in a file is ever executed.

location ──► location.py: path and entry ──► FILE_FORMATS: the reader of the extension ──► its entries
                                                                                               │
embeddings (n, d), labels (n,) or (n, c) ◄── text.py: checked     ◄── columns.py: the one that is meant, or the
                                                                      columns that are dimensions
"""

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from tieproof.errors import InputError
from tieproof.inputs.arrays import as_embeddings
from tieproof.inputs.multi_vectors import as_multi_vectors, is_multi_vectors
from tieproof.inputs.readers import columns, json_lists, tables
from tieproof.inputs.readers.columns import Entry
from tieproof.inputs.readers.location import File, Location, RemoteFile, check, split
from tieproof.inputs.readers.text import stored_confidences, stored_labels
from tieproof.inputs.readers.trec_told import refuse_rankings
from tieproof.inputs.sparse_forms import is_sparse
from tieproof.ties import Array

PathLike = str | os.PathLike[str]


class FileFormat(NamedTuple):
    """How the files of one extension are read."""

    entries: Callable[[File, Collection[str]], list[Entry]]  # of a file; the names of columns help to find a header
    matrix: Callable[[File, Collection[str], Sequence[int]], Array] | None = None  # some columns of a table
    embeddings: bool = True  # False if the format can only contain labels
    elsewhere: bool = True  # False if only files of this machine can be read


def _late(file: str, function: str, *first: str) -> Callable[..., Any]:
    """Return a function of a module of this folder that is imported when it is called, with its first arguments."""

    def call(*arguments: Any) -> Any:
        return getattr(import_module(f"tieproof.inputs.readers.{file}"), function)(*first, *arguments)

    return call


FILE_FORMATS = {
    ".npy": FileFormat(_late("npy", "entries")),
    ".npz": FileFormat(_late("npy", "archive"), elsewhere=False),
    ".h5": FileFormat(_late("hdf5", "entries")),
    ".hdf5": FileFormat(_late("hdf5", "entries")),
    ".safetensors": FileFormat(_late("tensors", "of_safetensors")),
    ".pt": FileFormat(_late("tensors", "of_torch"), elsewhere=False),
    ".pth": FileFormat(_late("tensors", "of_torch"), elsewhere=False),
    ".parquet": FileFormat(_late("parquet", "entries"), _late("parquet", "matrix")),
    ".csv": FileFormat(_late("delimited", "entries", ","), _late("delimited", "matrix", ",")),
    ".tsv": FileFormat(_late("delimited", "entries", "\t"), _late("delimited", "matrix", "\t")),
    ".jsonl": FileFormat(_late("sparse", "lines"), elsewhere=False),
    ".csr": FileFormat(_late("sparse", "csr"), elsewhere=False),
    ".fbin": FileFormat(_late("ann_benchmarks", "vectors", "<f4")),
    ".u8bin": FileFormat(_late("ann_benchmarks", "vectors", "<u1")),
    ".i8bin": FileFormat(_late("ann_benchmarks", "vectors", "<i1")),
    ".ibin": FileFormat(_late("ann_benchmarks", "truth")),
    ".fvecs": FileFormat(_late("ann_benchmarks", "vecs", "<f4")),
    ".bvecs": FileFormat(_late("ann_benchmarks", "vecs", "<u1")),
    ".ivecs": FileFormat(_late("ann_benchmarks", "vecs", "<i4")),
    ".txt": FileFormat(_late("text", "lines"), embeddings=False),
    ".json": FileFormat(_late("text", "json_list"), embeddings=False),
}


def read_embeddings(location: PathLike, *, apart: Iterable[PathLike] = (), labels: Array | None = None) -> Any:
    """Read embeddings, shape (n, d), as stored; vectors and offsets as `MultiVectors`, sparse rows as they are.

    location : a file, or a file and one of its entries: `file.npz:key`, `file.h5:group/name`, `file.parquet:column`;
        docs/files.md tells what is read without an entry, and which columns of a table are dimensions
    apart : locations of labels, groups and other values; columns of the same table that they name are not dimensions
    labels : the labels, if they are known; a table in which a dimension equals the labels is refused
    """
    where = split(location)
    form = _form(where)
    if not form.embeddings:
        refuse_other_files(where.path)
        known = ", ".join(extension for extension, form in FILE_FORMATS.items() if form.embeddings)
        raise InputError(f"{where} can only hold labels; embeddings are read from {known}.")
    if form.matrix and where.entry is None:
        named = {
            other.entry
            for other in map(split, apart)
            if other.entry is not None and os.path.exists(other.path) and os.path.samefile(other.path, where.path)
        }
        entries = form.entries(where.path, named)
        if all(len(entry.shape) == 1 for entry in entries):
            taken = columns.dimensions(where.path, entries, named)
            embeddings = as_embeddings(form.matrix(where.path, named, taken), f"embeddings of {where}")
            if labels is not None:
                columns.refuse_labels(where.path, [entries[at].name for at in taken], embeddings, labels)
            columns.warn_of_names(where.path, entries, taken)
            return embeddings
    entry = columns.choose(entries_of(where), where, "embeddings")
    if form.matrix and len(entry.shape) == 1:
        raise InputError(
            f"{where} is a single column of a table, but every column except for the labels is a dimension of "
            f"embeddings. Give {where.path}, and the labels by a colon and the name of their column."
        )
    values = entry.load()
    if is_sparse(values):
        return values
    if is_multi_vectors(values):
        return as_multi_vectors(values, "embeddings")
    return as_embeddings(values, f"embeddings of {Location(where.path, entry.name)}")


def read_labels(location: PathLike | Location) -> Array:
    """Read labels, integers or strings of shape (n,), or 0/1 of shape (n, c) for c classes.

    A stored shape of (1, n) becomes (n,), and so does (n, 1) unless all labels are 0 or 1, which is the column of a
    single class. In text, labels are integers if every label is written as an integer (7, not 07 or 7.0).
    """
    where = split(location)
    entry = columns.choose(entries_of(where), where, "labels")
    return stored_labels(entry.load(), Location(where.path, entry.name), entry.stored)


def read_confidences(location: PathLike) -> Array:
    """Read confidences, numbers of shape (n,), as stored; those in text become the nearest float64."""
    where = split(location)
    entry = columns.choose(entries_of(where), where, "confidences")
    return stored_confidences(entry.load(), Location(where.path, entry.name))


def column_of(location: PathLike, wanted: str) -> str | None:
    """Return the location of the column that is read as labels or confidences; None if the file is not a table."""
    where = split(location)
    if _form(where).matrix is None:
        return None
    return str(Location(where.path, columns.choose(entries_of(where), where, wanted).name))


def holds_labels(location: PathLike) -> bool:
    """Whether a file has an entry that can be labels: it is neither a single array nor a table of only dimensions."""
    where = Location(split(location).path)
    entries = entries_of(where)
    return len(entries) > 1 and (_form(where).matrix is None or columns.meant(entries, "labels") is not None)


def only_labels(location: PathLike) -> bool:
    """Whether a file, or the entry that is named, has a single axis, and thus cannot be embeddings."""
    where = split(location)
    entries = [entry for entry in entries_of(where) if where.entry in (None, entry.name)]
    return len(entries) == 1 and len(entries[0].shape) == 1


def refuse_other_files(path: File, labels: bool = False) -> None:
    """Refuse qrels, runs, trials (unless `labels` may look so) and tables of scores, and name their commands."""
    form = FILE_FORMATS.get(path.suffix.lower())
    if isinstance(path, RemoteFile) or (form is not None and form.embeddings):
        return
    refuse_rankings(path, "embeddings", labels)
    if path.name.lower().endswith(json_lists.EXTENSIONS):
        try:
            names = tables.read(path).columns
        except InputError:
            return
        columns.refuse_scores(path, names)


def _form(where: Location) -> FileFormat:
    check(where.path)
    try:
        return FILE_FORMATS[where.path.suffix.lower()]
    except KeyError:
        if where.path.suffix.lower() == ".mat":
            raise InputError(
                f"{where.path} is a MATLAB file, which is not read. Convert it by SciPy: numpy.savez('codes.npz', "
                "**{name: array for name, array in scipy.io.loadmat(path).items() if name[:2] != '__'}), and "
                "transpose arrays whose columns are items. A file of MATLAB 7.3 is HDF5: rename it to .h5."
            ) from None
        refuse_other_files(where.path)
        raise InputError(
            f"{where.path} has the extension '{where.path.suffix}', which is not known. "
            f"Give it the extension of its format: {', '.join(FILE_FORMATS)}."
        ) from None


def entries_of(where: Location) -> list[Entry]:
    """The arrays in a file, or its columns."""
    form = _form(where)
    if not form.elsewhere and isinstance(where.path, RemoteFile):
        raise InputError(
            f"{where} cannot be read by its URL, because {where.path.suffix} files are read only from this machine; "
            "copy it here, or save it in another format."
        )
    return form.entries(where.path, () if where.entry is None else (where.entry,))
