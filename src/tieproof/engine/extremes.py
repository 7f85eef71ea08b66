"""The worst and the best ranking under noise, and shifted numbers for counting it (docs/noise.md).

In the worst ranking an item that is not relevant stands before a relevant one if it may: if it is not farther than
the relevant item's far end. In the best ranking it stands before it only if it must: if it is nearer than the
relevant item's near end.
"""

import numpy as np

from tieproof.ties import Array, FloatArray, IntArray, Ties


def ranking_of(query: IntArray, others: IntArray, n_relevant: IntArray, n_items: IntArray) -> Ties:
    """The ranking in which so many other items stand before each relevant item.

    query, others : of each listed relevant item, in the order of the ranking
    """
    first = np.searchsorted(query, np.arange(len(n_relevant)))
    n = np.arange(len(query)) - first[query]
    one = np.ones_like(n)
    return Ties(query=query, k=n + others, n=n, l=one, m=one, n_relevant=n_relevant, n_items=n_items)


def moved(numbers: Array, shift: FloatArray) -> Array:
    """Return numbers + shift, rounded toward the numbers: down for positive shifts, up for negative ones.

    A number of the same type is at most numbers + shift exactly if it is at most that sum rounded down, and at least
    numbers + shift exactly if it is at least that sum rounded up.

    >>> moved(np.array([1.0, 3.0]), np.array([2.0**-60, -0.5]))
    array([1. , 2.5])
    >>> moved(np.array([7, 7]), np.array([1.5, -1.5]))
    array([8, 6])
    """
    if numbers.dtype.kind == "i":
        return _moved_integers(numbers, shift)
    wide = numbers.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        total = wide + shift
        part = total - wide
        error = (wide - (total - part)) + (shift - part)
        toward = np.where(shift > 0, -np.inf, np.inf)
        beyond = np.isinf(total) | np.where(shift > 0, error < 0, error > 0)
        total = np.where(beyond, np.nextafter(total, toward), total)
        narrow = total.astype(numbers.dtype)
        past = np.where(shift > 0, narrow > total, narrow < total)
        return np.where(past, np.nextafter(narrow, toward.astype(numbers.dtype)), narrow)


def _moved_integers(numbers: Array, shift: FloatArray) -> Array:
    """The same for integers, up to the limits of their type."""
    limits = np.iinfo(numbers.dtype)
    bits = numbers.astype(np.int64).view(np.uint64)  # unsigned differences of 64 bits do not overflow
    largest, smallest = (np.array(limit, dtype=np.int64).view(np.uint64) for limit in (limits.max, limits.min))
    upward, size = shift > 0, np.floor(np.abs(shift))
    room = np.where(upward, largest - bits, bits - smallest)
    fits = size < 2.0**64
    step = np.where(fits, np.minimum(np.where(fits, size, 0.0).astype(np.uint64), room), room)
    return np.where(upward, bits + step, bits - step).view(np.int64).astype(numbers.dtype)
