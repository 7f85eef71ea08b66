"""Dense rows prepared for tiles; `exact/terms.py` has sparse ones."""

from typing import Any

import numpy as np

from tieproof.distances.exact.equal import spans
from tieproof.distances.exact.rows import Rows
from tieproof.native.threads import for_each
from tieproof.ties import FloatArray, IntArray


class Prepared:
    """Rows prepared for tiles: divided, rounded to the tile's type, and kept after `keep` if memory allows."""

    def __init__(self, rows: Rows, dtype: np.dtype[Any], normalize: bool, keep_bytes: int, threads: int) -> None:
        self.rows, self.dtype, self.threads = rows, dtype, threads
        self.norm = np.where(rows.norm > 0, rows.norm, 1.0) if normalize else None
        self.keeps = len(rows) * rows.dimensions * dtype.itemsize <= keep_bytes
        self.kept: FloatArray | None = None

    def keep(self) -> None:
        """Prepare all rows, once."""
        if self.kept is not None or not self.keeps:
            return
        kept = np.empty((len(self.rows), self.rows.dimensions), dtype=self.dtype)

        def fill(span: slice) -> None:
            kept[span] = self.values(span)

        for_each(fill, spans(len(self.rows), self.rows.dimensions), self.threads)
        self.kept = kept

    def values(self, span: slice | IntArray) -> FloatArray:
        """The rows of `span`, computed from the embeddings, before they are rounded."""
        values = self.rows.values(span)
        if self.norm is not None:
            values /= self.norm[span, None]
        return values

    def __getitem__(self, span: slice | IntArray) -> FloatArray:
        return self.values(span).astype(self.dtype) if self.kept is None else self.kept[span]
