"""Exact numbers of single pairs of rows, by the slices of `tieproof.exact.slices`: one Python integer each."""

from typing import Any

import numpy as np
import numpy.typing as npt

from tieproof.exact import slices
from tieproof.exact.slices import FloatMatrix, Slices

Rows = npt.NDArray[Any]


def dots(x: Rows, y: Rows, base: int) -> list[int]:
    """x[i].y[i], (m, d) each, in units of 2^(2 base)."""
    return joined(slices.cut(x, base), slices.cut(y, base), x.shape)


def squares(x: Rows, base: int) -> list[int]:
    """x[i].x[i], in units of 2^(2 base)."""
    cut = slices.cut(x, base)
    return joined(cut, cut, x.shape)


def city_blocks(x: Rows, y: Rows, base: int) -> list[int]:
    """The sums of |x[i] - y[i]|, in units of 2^base."""
    sign: FloatMatrix = (x > y).astype(np.float64) - (x < y)
    first = joined(slices.cut(x, base), [(0, sign)], x.shape)
    second = joined(slices.cut(y, base), [(0, sign)], x.shape)
    return [a - b for a, b in zip(first, second, strict=True)]


def joined(x: Slices, y: Slices, shape: tuple[int, ...]) -> list[int]:
    """Inner products of cut rows, pair by pair."""
    length, dimensions = shape
    sums: slices.Sums = {}
    for place, pieces in x:
        for other, others in y:
            slices.add(sums, place + other, np.einsum("ij,ij->i", pieces, others))
    return [int(total) for total in slices.join(sums, slices.width(dimensions), length)]
