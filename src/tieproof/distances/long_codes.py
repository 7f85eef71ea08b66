"""Rows as two or three int8 codes for each number: products of more digits, exact in integers, by a matrix unit.

Each slice of a row's codes is 254 times finer than the one before. Products of slices that are below the last digit
are left out: of two slices 3 of 4 products are computed, of three slices 6 of 9 (exact/README.md, 2). Only a matrix
unit computes so many products in less time than BLAS computes one of floats.
"""

from typing import Any

import numpy as np

from tieproof.distances import codes
from tieproof.distances.codes import IN_PANEL, MATRIX_UNIT, Codes, Encoded
from tieproof.distances.exact.rows import Rows
from tieproof.distances.space import FLOAT32, FLOAT64

SLICES: dict[np.dtype[Any], tuple[int, np.dtype[Any]]] = {
    np.dtype(np.int16): (2, FLOAT32),
    np.dtype(np.int32): (3, FLOAT64),
}
"""The number of slices and the type of tiles, for each type of integers that resources may ask for."""

MOST_CODES = 6144
"""The most codes of all slices of a row: those that the matrix unit takes. Up to 66,311, no sum of products of codes
and unsigned codes, 127 and 255 at most, reaches 2^31."""


def multiplies(dimensions: int, slices: int) -> bool:
    """Whether this processor is fast at products of so many slices, and takes rows of so many dimensions."""
    return codes.fastest_way() == MATRIX_UNIT and -(-dimensions // IN_PANEL) * IN_PANEL * slices <= MOST_CODES


class LongCodes(Codes):
    """The slices of distinct rows side by side, kept after `keep` if memory allows.

    lost : (slices, u) bounds of the norm of what the first slice, the first two slices, and so on, lack of a row,
        relative to the row's norm
    """

    def __init__(
        self, rows: Rows, dtype: np.dtype[Any], normalize: bool, slices: int, keep_bytes: int, threads: int
    ) -> None:
        self.slices = self.multiplied = slices
        super().__init__(rows, dtype, normalize, False, 0, threads)
        self.keeps = 2 * slices * len(rows) * self.width <= keep_bytes  # in rows and in blocks

    def room(self, count: int) -> Encoded:
        """Return arrays for the slices of `count` rows."""
        whole = np.empty((count, self.slices * self.width), np.int8)
        return Encoded(whole, whole[:, self.width :], np.empty((count, self.slices), np.int32))
