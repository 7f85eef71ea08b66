"""Sums and series of pairs (`distances/exact/twofold.py`), with the same bits on every machine.

Sums go through `numpy.cumsum` and `numpy.bincount`, which add in the order of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import numpy as np

from tieproof.distances.exact.twofold import Pair as Pair
from tieproof.distances.exact.twofold import two_sum
from tieproof.native.calls import Output, native
from tieproof.ties import FloatArray, IntArray

_BLOCK = 256
_TERMS_AT_ONCE = 1 << 16
_ELEMENTS_AT_ONCE = 1 << 14
SMALL_TIE = 64  # smaller ties are computed one by one, because finding equal ones takes longer


def running_sums(term: Callable[[IntArray], Pair], n: int) -> FloatArray:
    """The sums term(1) + … + term(i) for i = 1 … n, as hi and lo, (2, n); `term` computes many terms at a time."""
    # Blocks of fixed length are summed by themselves and put after each other: element i has the same bits however
    # many terms follow it, and however many are asked for at a time.
    sums = np.empty((2, n))
    for start in reversed(range(0, n, _TERMS_AT_ONCE)):  # from the end, so that tables which terms need grow once
        stop = min(start + _TERMS_AT_ONCE, n)
        terms = term(np.arange(start + 1, stop + 1))
        sums[0, start:stop], sums[1, start:stop] = terms.hi, terms.lo
    sum_inside_blocks(sums, _BLOCK)
    if n <= _BLOCK:
        return sums
    ends = sums[:, _BLOCK - 1 : n - 1 : _BLOCK].copy()
    before = np.zeros((2, ends.shape[1] + 1))
    before[:, 1:] = running_sums(lambda i: Pair(*ends[:, i - 1]), ends.shape[1])
    for start in range(0, n, _TERMS_AT_ONCE):
        part = sums[:, start : start + _TERMS_AT_ONCE]
        block = np.arange(start, start + part.shape[1]) // _BLOCK
        shifted = Pair(*part) + Pair(*before[:, block])
        part[0], part[1] = shifted.hi, shifted.lo
    return sums


@native
def sum_inside_blocks(terms: Output[FloatArray], block: int) -> None:
    """Replace the terms of each block, (2, n) of hi and lo, by their sums from its first one on."""


def add_by_query(query: IntArray, values: FloatArray | IntArray, n_queries: int) -> FloatArray:
    """Return the sum of `values` (T,) of each query, shape (Q,), added up in float64 in the order of the ties."""
    return np.asarray(np.bincount(query, values, minlength=n_queries), dtype=np.float64)


def sum_by_query(query: IntArray, terms: Pair, bound: FloatArray) -> Pair:
    """Return the sum of `terms` (T,) of each query, a pair of shape (Q,), given a `bound` (Q,) on it."""
    # Each term is cut at 2^-50 of the bound: the upper parts add up without any rounding, and what rounding does to
    # the lower parts is below 2^-100 of the bound.
    scale = np.ldexp(1.0, np.frexp(bound)[1])
    anchor = 6.0 * scale[query]  # anchor + term lies in [4, 8) scale, where floats are 2^-50 scale apart
    upper = (anchor + terms.hi) - anchor
    lower = (terms.hi - upper) + terms.lo
    return Pair(*two_sum(add_by_query(query, upper, len(bound)), add_by_query(query, lower, len(bound))))


def blockwise(
    function: Callable[..., tuple[FloatArray, ...]], *columns: IntArray | FloatArray
) -> tuple[FloatArray, ...]:
    """Return function(*columns), element-wise over columns of shape (T,), computed in pieces that fit a cache."""
    step = _ELEMENTS_AT_ONCE
    pieces = [
        function(*(column[start : start + step] for column in columns))
        for start in range(0, max(len(columns[0]), 1), step)
    ]
    return tuple(np.concatenate(parts) for parts in zip(*pieces, strict=True))


def once(function: Callable[..., FloatArray], rows: int, size: IntArray, *columns: IntArray) -> FloatArray:
    """Return function(*columns), (rows, T), of ties of these sizes, computed once for large ties that are equal."""
    values = np.empty((rows, len(size)))
    small, large = np.flatnonzero(size <= SMALL_TIE), np.flatnonzero(size > SMALL_TIE)
    values[:, small] = function(*(column[small] for column in columns))
    if large.size:
        ties = np.stack([column[large] for column in columns], axis=1)
        different, which = np.unique(ties, axis=0, return_inverse=True)
        which = which.ravel()  # a column in NumPy 2.0
        values[:, large] = function(*np.ascontiguousarray(different.T))[:, which]
    return values


def groups_of(size: IntArray) -> Iterator[tuple[int, IntArray]]:
    """Yield each value in `size` with the rows that have it, in blocks of rows that fit a cache."""
    order = np.argsort(size, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(size[order])) + 1, len(order))
    start = 0
    for end in ends.tolist() if len(order) else []:
        value = int(size[order[start]])
        step = max(1, _ELEMENTS_AT_ONCE // max(value, 1))
        for first in range(start, end, step):
            yield value, order[first : min(first + step, end)]
        start = end


def total(columns: FloatArray) -> FloatArray:
    """Return the sum over the first axis, added up in order."""
    last: FloatArray = np.cumsum(columns, axis=0)[-1]
    return last


def atanh(z: Pair, terms: int) -> Pair:
    """Return atanh z = z + z^3/3 + z^5/5 + …, computed with this number of terms."""
    square = z * z
    factors = 1.0 / Pair.of(np.arange(1, 2 * terms, 2))  # in one division: one for each term takes as long
    result = factors[-1]
    for j in range(terms - 2, -1, -1):
        result = square * result + factors[j]
    return z * result


def exp2_minus_1(x: FloatArray) -> FloatArray:
    """Return 2^x - 1, shape of `x`, for 0 <= x <= 996, within one unit in the last place."""
    whole = np.rint(x)
    power = np.ldexp(1.0, whole.astype(np.int64))
    if np.array_equal(x, whole):  # as most grades are: nothing to add up
        return np.asarray(power - 1.0)
    z = log_2() * (x - whole)  # exact, as x and its nearest integer are this close
    result = Pair.of(np.zeros_like(z.hi))
    for j in range(28, 0, -1):  # e^z - 1 = z (1 + z/2 (1 + z/3 (…))), |z| < 0.35
        result = z * (result + 1.0) / j
    return (result * power + (power - 1.0)).hi


@cache
def log_2() -> Pair:
    """Return log 2, from 2 atanh 1/3."""
    return atanh(Pair.of(1.0) / 3.0, terms=34) * 2.0
