"""`open`: embeddings in many files as one data set, `Shards`, with its labels and groups in memory."""

import os
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from tieproof.errors import InputError, about
from tieproof.inputs.arrays import type_name
from tieproof.inputs.labels import check_widths, integer_type
from tieproof.inputs.readers import FILE_FORMATS, entries_of, read_labels
from tieproof.inputs.readers.columns import NAMES, meant
from tieproof.inputs.readers.location import Location
from tieproof.inputs.shards.files import PATTERN, Paths, file_beside, located, parted
from tieproof.inputs.shards.stored_rows import Shard, StoredRows, shard_at
from tieproof.inputs.sparse_forms import ordered
from tieproof.native.threads import in_order
from tieproof.ties import Array

AT_A_TIME = 8  # the number of files that are opened or read at a time
KINDS_OF_ROWS = {
    (False, True): "dense rows",
    (True, True): "sparse rows whose dimensions are numbers",
    (True, False): "sparse rows of named terms",
}
USUAL = ("labels", "label")  # the usual words in the names of files next to shards, if no word is given


class Shards(StoredRows):
    """Embeddings in many files, with their labels, which `tieproof.open` returns and `evaluate` takes.

    The vectors stay in their files, and are read in blocks when they are needed; labels and groups are in memory.

    opened : all files that were opened, including those without rows
    labels : (n,) integers or strings, or (n, c) of 0/1; None without labels
    groups : (n,) integers or strings; None if no groups were opened
    """

    def __init__(self, opened: Sequence[Shard], labels: Array | None = None, groups: Array | None = None) -> None:
        super().__init__([shard for shard in opened if shard.rows])
        self.opened, self.labels, self.groups = tuple(opened), labels, groups

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the labels and groups, too."""
        return Shards, (self.opened, self.labels, self.groups)

    @property
    def rows(self) -> StoredRows:
        """Only the vectors, as a source that can be pickled without the labels."""
        return StoredRows(self.shards)

    def __repr__(self) -> str:
        files = len(self.names)
        first, last = self.names[0], self.names[-1]
        where = first if files == 1 else f"{files:,} files, {first} … {last}"
        held = [name for name in ("labels", "groups") if getattr(self, name) is not None]
        beside = f", with {' and '.join(held)}" if held else ""
        size = f"{len(self):,} rows × {self.shape[1]:,} {self.dtype.name}, {self.nbytes:,} bytes"
        return f"Shards({size}, in {where}{beside})"

    def column(self, wanted: Paths) -> Array:
        """Read other values, one for each row, given like `labels` of `tieproof.open`; (n,) integers or strings."""
        return _column(self.opened, wanted, "values")


def open(paths: Paths, labels: Paths | None = None, *, groups: Paths | None = None) -> Shards:  # noqa: A001
    """Open embeddings in many files, reading only the headers of the files and the labels.

    Parameters
    ----------
    paths : a folder, a pattern such as "gallery/*.parquet", or a list of these and of files
        Local files, or URLs such as "s3://bucket/gallery/*.parquet" (extra `remote`, and the library of that
        storage). Files end in .npy, .fbin, .u8bin, .i8bin, .fvecs, .bvecs, .parquet (a column of lists), .h5, .hdf5
        or .safetensors; of sparse rows, in .csr, .npz, .jsonl or .parquet: these are read once when they are opened,
        and later, but for .csr, each as a whole. Name one of several arrays or columns in each file after a colon:
        "gallery/*.parquet:vector".
        The files of a folder or a pattern are sorted in natural order (part-2 before part-10); a list keeps its
        order. Rows are numbered consecutively from the first file to the last.
    labels : a name, or files
        The name of a column or array in every file. For files that contain only vectors, the word in the names of
        the files next to them: with "label", part-0.label.txt or part-0.label.npy belongs to part-0.fbin. Or the
        files of the labels, given like `paths`: one for each shard, in the same order, or one for all. Default: a
        column, array or file with a usual name (`labels`, `label`, `class`, …), if there is one.
    groups : a name, or files, as for labels
        The groups for `evaluate`, which excludes items with the query's label and group.

    Returns
    -------
    Shards
        `labels` and `groups` are in memory. Vectors are read in blocks when they are needed, and never all at once.

    Raises
    ------
    InputError
        If a file is missing, cut short, empty, or of another width or type than the first; if labels are not one for
        each row, or are integers in one file and strings in another. When rows are read: if a file is gone or has
        changed since it was opened, or if a row contains NaN or infinity; the message names the file and the row.
    MissingExtraError
        If the library of the format or of the storage is not installed.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import tieproof as tp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in range(3):
    ...         np.save(f"{folder}/part-{part}.npy", np.eye(4, dtype=np.float32))
    ...         np.save(f"{folder}/part-{part}.labels.npy", np.arange(4))
    ...     shards = tp.open(folder)
    ...     result = tp.evaluate(shards, shards.labels, measures=["AP"])
    >>> len(shards), shards.shape, shards.labels[:6].tolist()
    (12, (12, 4), [0, 1, 2, 3, 0, 1])
    >>> result["AP"].lower
    1.0

    """
    with about("paths"):
        names = [name for name in (labels, groups) if isinstance(name, str)]
        opened = list(in_order(shard_at, located(paths, names), AT_A_TIME))
        filled = _check_alike(opened)
        if filled[0].vocabulary is not None:
            terms = ordered(set().union(*(shard.vocabulary or () for shard in filled)), "embeddings")
            opened = [shard._replace(vocabulary=terms, width=max(1, len(terms))) for shard in opened]
            filled = [shard for shard in opened if shard.rows]
    with about("labels"):
        of_items = _usual_labels(filled) if labels is None else _column(opened, labels, "labels")
    with about("groups"):
        of_groups = None if groups is None else _column(opened, groups, "groups")
    return Shards(opened, of_items, of_groups)


def _check_alike(shards: list[Shard]) -> list[Shard]:
    """Return the shards that contain vectors; refuse if none does, or if widths or types differ."""
    filled = [shard for shard in shards if shard.rows]
    if not filled:
        raise InputError(f"{shards[0].name} contains no vectors, and no other file does; give files with vectors.")
    first = filled[0]
    for shard in filled:
        kinds = [(bool(each.usual), each.vocabulary is None) for each in (shard, first)]
        if kinds[0] != kinds[1]:
            own, others = (KINDS_OF_ROWS[kind] for kind in kinds)
            raise InputError(
                f"{shard.name} contains {own}, but {first.name} contains {others}; write all shards in one form."
            )
        if shard.width != first.width and first.vocabulary is None:
            raise InputError(
                f"{shard.name} contains vectors of length {shard.width:,}, but {first.name} of length "
                f"{first.width:,}; all shards must come from the same model."
            )
        if shard.dtype != first.dtype:
            raise InputError(
                f"{shard.name} contains {shard.dtype.name}, but {first.name} contains {first.dtype.name}; write all "
                "shards with the same type."
            )
    return filled


def _column(shards: Sequence[Shard], wanted: Paths, what: str) -> Array:
    """Read one value for each row of the shards.

    wanted : the name of a column in every file, or the word in the names of files next to them; or the files
    """
    filled = [shard for shard in shards if shard.rows]
    if _is_name(wanted):
        return _values(filled, _places_called(filled, str(wanted), what), what)
    places = located(wanted, what=what)
    if len(places) == len(shards):
        return _values(filled, [place for shard, place in zip(shards, places, strict=True) if shard.rows], what)
    if len(places) != 1:
        raise InputError(
            f"There are {len(places)} files of {what} for {len(shards)} shards; give one file for each shard, in the "
            "same order, or one for all."
        )
    return _values(shards, places, what)


def _usual_labels(shards: Sequence[Shard]) -> Array | None:
    """Return the labels that every shard has under a usual name; None if no shard has any."""
    folders: dict[str, set[str]] = {}

    def place(shard: Shard) -> Location | None:
        """The labels of a shard: by a usual name, or the only entry besides vectors (and ids, of sparse rows)."""
        if not shard.entry:
            files = [file for file in (file_beside(shard.file, word, folders) for word in USUAL) if file is not None]
            return Location(files[0]) if files else None
        others = {shard.entry, *(NAMES["ids"] if shard.usual else ())}
        besides = [each for each in entries_of(Location(shard.file)) if each.name not in others]
        entry = meant(besides, "labels")
        return None if entry is None else Location(shard.file, entry.name)

    found = [(shard, place(shard)) for shard in shards]
    places = [each for _, each in found if each]
    if places and len(places) < len(found):
        labeled, without = (next(shard.file for shard, each in found if bool(each) is has) for has in (True, False))
        raise InputError(f"{labeled} has labels, but {without} has none; give labels for all shards, or name them.")
    return _values(shards, places, "labels") if places else None


def _is_name(wanted: Paths) -> bool:
    """Whether the argument is the name of a column, such as train/label, and not of files, such as labels/*."""
    if not isinstance(wanted, str) or not wanted:
        return False
    path, _ = parted(wanted)
    known = PurePosixPath(path).suffix.lower() in FILE_FORMATS
    return not (known or PATTERN.search(path) or "://" in path or path.endswith("/") or os.path.isdir(path))


def _places_called(shards: Sequence[Shard], name: str, what: str) -> list[Location]:
    """Return the location of the column of that name of every shard, or of the file with that word next to it."""
    folders: dict[str, set[str]] = {}
    places = []
    for shard in shards:
        file = None if shard.entry else file_beside(shard.file, name, folders)
        if not shard.entry and file is None:
            stem = PurePosixPath(shard.file.name).stem
            raise InputError(
                f"{shard.file} contains only vectors, and its folder has no file {stem}.{name}.npy, .txt or another "
                f"format; write one, or give the files of the {what}."
            )
        places.append(Location(shard.file, name) if file is None else Location(file))
    return places


def _values(shards: Sequence[Shard], places: Sequence[Location], what: str) -> Array:
    """Read the values at these locations, one for each shard or for all, and join them to one array."""
    arrays = list(in_order(read_labels, places, AT_A_TIME))
    first = arrays[0]
    rows = [(f"{shard.name} has", shard.rows) for shard in shards]
    if len(places) < len(shards):
        rows = [(f"{len(shards)} shards have", sum(shard.rows for shard in shards))]
    for (has, count), place, values in zip(rows, places, arrays, strict=True):
        if len(values) != count:
            raise InputError(
                f"{has} {count:,} rows, but {place} has {len(values):,} {what}; give one for each row, in the same "
                "order."
            )
        if (values.dtype.kind == "U") != (first.dtype.kind == "U"):
            raise InputError(
                f"The {what} of {places[0]} are {type_name(first.dtype)}, but those of {place} are "
                f"{type_name(values.dtype)}, which are never equal; write all as integers or all as strings."
            )
        if values.shape[1:] != first.shape[1:]:
            raise InputError(
                f"The {what} of {places[0]} have the shape {first.shape}, but those of {place} have "
                f"{values.shape}; give all shards the same number of columns."
            )
    if first.dtype.kind == "U":
        check_widths([max(values.ravel().tolist(), key=len) for values in arrays], f"The {what}")
        return np.concatenate(arrays)
    kind = integer_type(min(int(each.min()) for each in arrays), max(int(each.max()) for each in arrays), what)
    return np.concatenate([values.astype(kind) for values in arrays])
