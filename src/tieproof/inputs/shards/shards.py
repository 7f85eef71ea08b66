"""`Shards`: what `tieproof.open` returns."""

from collections.abc import Sequence

import numpy as np

from tieproof.inputs.shards.columns import column
from tieproof.inputs.shards.places import Paths
from tieproof.inputs.shards.shard import Shard
from tieproof.inputs.shards.stored import StoredRows
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
