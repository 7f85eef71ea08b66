"""`open`: embeddings in many files as one data set, `Shards`."""

from collections.abc import Sequence

import numpy as np

from tieproof.errors import InputError, about
from tieproof.inputs.shards.columns import column, usual_labels
from tieproof.inputs.shards.places import Paths, located
from tieproof.inputs.shards.shard import Shard, StoredRows, shard_at
from tieproof.native.threads import in_order
from tieproof.ties import Array, IntArray

UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")


class Shards:
    """Embeddings in many files, with their labels, which `tieproof.open` returns and `evaluate` takes.

    The vectors stay in their files, and are read in blocks when they are needed; labels and groups are in memory.

    rows : only the vectors, as a source that can be pickled without the labels
    opened : all files that were opened, including those without rows
    labels : (n,) integers or strings, or (n, c) of 0/1; None without labels
    groups : (n,) integers or strings; None if no groups were opened
    """

    def __init__(
        self, rows: StoredRows, opened: Sequence[Shard], labels: Array | None = None, groups: Array | None = None
    ) -> None:
        self.rows, self.opened, self.labels, self.groups = rows, tuple(opened), labels, groups
        self.shape, self.dtype = rows.shape, rows.dtype
        self.bounds, self.names = rows.bounds, rows.names

    def __len__(self) -> int:
        """Return the number of rows of all files together."""
        return len(self.rows)

    def __repr__(self) -> str:
        files = len(self.names)
        first, last = self.names[0], self.names[-1]
        where = first if files == 1 else f"{files:,} files, {first} … {last}"
        held = [name for name in ("labels", "groups") if getattr(self, name) is not None]
        beside = f", with {' and '.join(held)}" if held else ""
        size = f"{len(self):,} rows × {self.shape[1]:,} {self.dtype.name}, {in_words(self.nbytes)}"
        return f"Shards({size}, in {where}{beside})"

    @property
    def nbytes(self) -> int:
        """The bytes that all vectors would take in memory."""
        return self.rows.nbytes

    def read(self, start: int, stop: int) -> Array:
        """Return the rows start … stop-1, (stop-start, d); a row with NaN or infinity is refused."""
        return self.rows.read(start, stop)

    def take(self, rows: IntArray) -> Array:
        """Return these rows, in this order; ascending rows are fastest."""
        return self.rows.take(rows)

    def column(self, wanted: Paths) -> Array:
        """Read other values, one for each row, given like `labels` of `tieproof.open`; (n,) integers or strings."""
        return column(self.opened, wanted, "values")


def in_words(count: float) -> str:
    """Return a number of bytes in words, with three digits.

    >>> in_words(4_096), in_words(122_880_000), in_words(7)
    ('4.1 kB', '123 MB', '7 bytes')
    """
    power = min(int(np.log10(max(count, 1)) // 3), len(UNITS) - 1)
    scaled = count / 1000**power
    return f"{scaled:.{0 if power == 0 or scaled >= 100 else 1}f} {UNITS[power]}"


OPENING = 8
"""The number of files that are opened at a time."""


def open(paths: Paths, labels: Paths | None = None, *, groups: Paths | None = None) -> Shards:  # noqa: A001
    """Open embeddings in many files, reading only the headers of the files and the labels.

    Parameters
    ----------
    paths : a folder, a pattern such as "gallery/*.parquet", or a list of these and of files
        Local files, or URLs such as "s3://bucket/gallery/*.parquet" (extra `remote`, and the library of that
        storage). Files end in .npy, .fbin, .u8bin, .i8bin, .parquet (a column of lists), .h5, .hdf5 or .safetensors.
        Name one of several arrays or columns in each file after a colon: "gallery/*.parquet:vector". The files of a
        folder or a pattern are sorted in natural order (part-2 before part-10); a list keeps its order. Rows are
        numbered consecutively from the first file to the last.
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
        words = [name for name in (labels, groups) if isinstance(name, str)]
        found = list(in_order(shard_at, located(paths, words), OPENING))
        rows = StoredRows(check_alike(found))
    with about("labels"):
        own = usual_labels(rows.shards) if labels is None else column(found, labels, "labels")
    with about("groups"):
        others = None if groups is None else column(found, groups, "groups")
    return Shards(rows, found, own, others)


def check_alike(shards: list[Shard]) -> list[Shard]:
    """Return the shards that contain vectors; refuse if none does, or if widths or types differ."""
    filled = [shard for shard in shards if shard.rows]
    if not filled:
        raise InputError(f"{shards[0].name} contains no vectors, and no other file does; give files with vectors.")
    first = filled[0]
    for shard in filled:
        if shard.width != first.width:
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
