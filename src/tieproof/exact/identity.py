"""Which rows are the same: identical rows tie without any arithmetic, and are ranked once."""

from typing import Any

import numpy as np
import numpy.typing as npt

from tieproof.exact.scan import Checksums
from tieproof.inputs.arrays import BLOCK_BYTES, Embeddings
from tieproof.ties import BoolArray, IntArray

ROUNDS = 16
"""Each round settles one group of every checksum. Distinct rows share one only where float64 rounds them alike."""


def identities(embeddings: Embeddings, checksums: Checksums, up_to_factor: bool) -> IntArray:
    """For each row (n,) the first row that equals it, or equals a positive multiple of it.

    Equal checksums nominate, exact comparison decides. A missed pair would cost time, not correctness.
    """
    same = proportional if up_to_factor else equal
    first = np.arange(len(embeddings))
    unsettled = first
    for _ in range(ROUNDS):
        _, earliest, inverse, counts = np.unique(
            checksums[unsettled], return_index=True, return_inverse=True, return_counts=True
        )
        if (counts == 1).all():
            break
        leader = unsettled[earliest[inverse]]
        others = unsettled != leader
        members, leaders = unsettled[others], leader[others]
        matched = same_rows(embeddings, members, leaders, same)
        first[members[matched]] = leaders[matched]
        unsettled = members[~matched]
    return first


def same_rows(embeddings: Embeddings, members: IntArray, leaders: IntArray, same: Any) -> BoolArray:
    """Whether row members[i] is the same as row leaders[i], block by block."""
    size = max(1, BLOCK_BYTES // (8 * embeddings.shape[1]))
    matched = np.empty(len(members), dtype=np.bool_)
    for start in range(0, len(members), size):
        span = slice(start, start + size)
        matched[span] = same(embeddings[members[span]], embeddings[leaders[span]])
    return matched


def equal(a: Embeddings, b: Embeddings) -> BoolArray:
    """Whether rows are equal as numbers."""
    flags: BoolArray = (a == b).all(axis=1)
    return flags


def proportional(a: Embeddings, b: Embeddings) -> BoolArray:
    """Whether rows are equal up to a positive factor: a_i |b_p| = b_i |a_p| exactly, p the place of the largest."""
    if a.dtype.kind in "iu" and a.dtype.itemsize == 8:
        return equal(a, b)  # beyond 53 bits the products below would not be exact
    a_mantissa, a_exponent = np.frexp(a.astype(np.float64))
    b_mantissa, b_exponent = np.frexp(b.astype(np.float64))
    place = np.abs(a.astype(np.float64)).argmax(axis=1)[:, None]

    def at_place(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.take_along_axis(array, place, axis=1)

    left = two_product(a_mantissa, np.abs(at_place(b_mantissa)))
    right = two_product(b_mantissa, np.abs(at_place(a_mantissa)))
    shift = (a_exponent + at_place(b_exponent)) - (b_exponent + at_place(a_exponent))
    # Both products lie in [1/4, 1) or are zero: a shift of more than 4 cannot make them equal.
    shift = np.clip(shift, -4, 4)
    flags: BoolArray = np.logical_and.reduce(
        [np.ldexp(mine, shift) == other for mine, other in zip(left, right, strict=True)]
    ).all(axis=1)
    nonzero: BoolArray = at_place(a)[:, 0] != 0
    return np.asarray(flags & (nonzero == (b != 0).any(axis=1)))


def two_product(
    a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """High and low part of the exact product of mantissas (Dekker 1971)."""
    high = a * b
    a_high, b_high = split(a), split(b)
    a_low, b_low = a - a_high, b - b_high
    low = a_low * b_low - (((high - a_high * b_high) - a_low * b_high) - a_high * b_low)
    return high, low


def split(a: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The upper 26 bits of mantissas (Veltkamp)."""
    scaled = a * (2.0**27 + 1)
    upper: npt.NDArray[np.float64] = scaled - (scaled - a)
    return upper
