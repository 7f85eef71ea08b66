"""The distribution of what one tie adds to a measure: its outcomes one by one, or its characteristic function.

Both walk through the grid of the paper's slides, cell by cell: (items placed, relevant items placed of each grade).
The slides add up the expected AP in the cells. Here a cell has the sum of e(n v) over all paths to it, weighted by
their probabilities, where v is what the path has added so far and e(x) = exp(2 pi i x). The last cells have the mean
of e(n v) over all orderings of the tie, for as many whole numbers n as are needed, and no value is ever rounded to a
grid of values.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import combinations
from math import comb, prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.measures.distribution.tied import Tied
from tieproof.ties import FloatArray, IntArray

ComplexArray = npt.NDArray[np.complex128]
BLOCK = 32  # as many consecutive numbers n are computed together: e(n v) is a product of two of few numbers
UNIT = 2.0**-53  # the relative rounding error of float64
_MOST_NUMBERS = 2**22  # as many values of ties with a single relevant item are in memory at a time


class Outcomes(NamedTuple):
    """All that the ties of one shape may add, without their scale."""

    values: FloatArray  # (C, T) what each of the T ties adds in each outcome
    chances: FloatArray  # (C,) the probability of each outcome, with a relative error of at most `error`
    error: float


def cells(tied: Tied) -> int:
    """The cells of the grid of a tie: an upper bound on the steps for one number n."""
    return tied.places * prod(count + 1 for count in tied.relevant)


def outcomes(tied: Tied, most: int) -> Outcomes | None:
    """Return the outcomes of ties of one shape by closed forms or one by one; None if there are more than `most`."""
    (size, places, relevant), m = (tied.size, tied.places, tied.relevant), sum(tied.relevant)
    none = (np.zeros(1, dtype=np.int64),)
    if tied.only == "every":
        fewest, largest = max(0, places - (size - m)), min(places, m)
        hits = np.arange(fewest, largest + 1)
        values = np.repeat(hits[:, None].astype(np.float64), len(tied.k), axis=1)
        ratios = (places - hits[:-1]) / (hits[:-1] + 1) * ((m - hits[:-1]) / (size - places - m + hits[:-1] + 1))
    elif tied.only == "first":
        place = np.arange(1, size - m + 2)
        values = np.where(place[:, None] <= places, tied.added(place[:, None], none, 0), 0.0)
        ratios = (size - m - place[:-1] + 1) / (size - place[:-1])
    elif tied.only == "last":
        place = np.arange(size, m - 1, -1)
        values = tied.added(place[:, None], (none[0] + m - 1,), 0)
        ratios = (place[:-1] - m) / (place[:-1] - 1)
    elif m == 1 and size * len(tied.k) <= _MOST_NUMBERS:
        place = np.arange(1, size + 1)
        values = np.where(place[:, None] <= places, tied.added(place[:, None], none, 0), 0.0)
        ratios = np.ones(size - 1)
    else:
        count = prod(comb(size - sum(relevant[:at]), number) for at, number in enumerate(relevant))
        if count > most:
            return None
        labels = _arrangements(size, relevant)
        above = [np.zeros((count, 1), dtype=np.int64) for _ in relevant]
        values = np.zeros((count, len(tied.k)))
        for before in range(places):
            for grade in range(len(relevant)):
                rows = np.flatnonzero(labels[:, before] == grade)
                values[rows] += tied.added(before + 1, [each[rows] for each in above], grade)
            for grade, each in enumerate(above):
                each += labels[:, before, None] == grade
        return Outcomes(values, np.full(count, 1.0 / count), UNIT)
    chances = _from_ratios(ratios)
    return Outcomes(values, chances, 8 * len(chances) * UNIT)


def _from_ratios(ratios: FloatArray) -> FloatArray:
    """Return probabilities, of which each is the one before it times a ratio; computed from the largest outwards."""
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.maximum(ratios, 1e-300)))])
    top = int(np.argmax(logs))
    weights = np.concatenate([np.cumprod(1.0 / ratios[:top][::-1])[::-1], [1.0], np.cumprod(ratios[top:])])
    return np.asarray(weights / weights.sum())


@lru_cache(maxsize=64)
def _arrangements(size: int, relevant: tuple[int, ...]) -> npt.NDArray[np.int8]:
    """Return every arrangement of a tie as a row: the grade's index at each place, or -1 for another item."""
    rows = np.full((1, size), -1, dtype=np.int8)
    left = size
    for grade, count in enumerate(relevant):
        chosen = np.array(list(combinations(range(left), count)), dtype=np.int64)
        free = np.nonzero(rows < 0)[1].reshape(len(rows), left)
        places = free[:, chosen].reshape(-1, count)
        rows = np.repeat(rows, len(chosen), axis=0)
        np.put_along_axis(rows, places, np.int8(grade), axis=1)
        left -= count
    return rows


def characteristic(
    tied: Tied, found: Outcomes | None, starts: IntArray, period: float
) -> tuple[ComplexArray, FloatArray]:
    """Return the means of e(n v / period) over the orderings of each tie, and bounds on their errors, (T, A, BLOCK).

    starts : (A,) the first n of each block
    v : what the tie adds beyond the least it can add, times its scale, so that v >= 0
    """
    turns = tied.scale / period
    ends = np.array([tied.end(False), tied.end(True)]) * turns
    least = ends.min(axis=0)

    def waves(turns: FloatArray) -> tuple[ComplexArray, ComplexArray]:
        return _waves(turns, starts), _waves(turns, np.arange(BLOCK))[..., None, :]

    if found is not None:
        first, rest = waves(found.values * turns - least)
        means = np.einsum("c,cta,ctxb->tab", found.chances, first, rest)
        steps, error = len(found.chances), found.error
    else:
        first, rest = waves(-least)
        means = _walked(tied, turns, len(starts), waves) * (first[..., None] * rest)
        steps, error = tied.places, 0.0
    last = np.abs(ends).max(axis=0)[:, None, None] * (starts[:, None] + np.arange(BLOCK))
    # Each step has a few roundings of numbers of at most 1, and each angle a relative error of a few units.
    return means, error + UNIT * (24.0 * (steps + 2) + 128.0 * last)


def growth(tied: Tied, found: Outcomes | None, rates: FloatArray) -> FloatArray:
    """Return the means of exp(rate v) over the orderings of each tie, (T, A), for `rates` (A,); v as above."""
    ends = np.array([tied.end(False), tied.end(True)]) * tied.scale
    least = ends.min(axis=0)[:, None]
    if found is not None:
        values = found.values[..., None] * tied.scale[:, None] - least
        return np.asarray(np.einsum("c,cta->ta", found.chances, np.exp(values * rates)))

    def waves(values: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.exp(values[..., None] * rates), np.ones((*values.shape, 1, 1))

    return np.asarray(_walked(tied, tied.scale, len(rates), waves)[..., 0].real * np.exp(-least * rates))


def _waves(turns: FloatArray, numbers: IntArray) -> ComplexArray:
    """Return e(n turns) for all n, (…, n); whole turns are left out first."""
    angles = turns[..., None] * numbers
    return np.asarray(np.exp(2j * np.pi * (angles - np.rint(angles))))


def _walked(
    tied: Tied, factor: FloatArray, count: int, waves: Callable[[FloatArray], tuple[Any, Any]]
) -> ComplexArray:
    """Return the mean of a product over all hits, (T, A, B), by one pass through the grid.

    waves : for what a hit adds times `factor`, (…, T), the factors of the product: arrays (…, T, A) and (…, T, 1, B),
        with `count` = A
    """
    size, relevant, m = tied.size, tied.relevant, sum(tied.relevant)
    grid = np.zeros(0, dtype=np.complex128)
    for placed in range(tied.places):
        low = [max(0, placed - (size - number)) for number in relevant]
        high = [min(placed, number) for number in relevant]
        box = tuple(slice(start, stop + 1) for start, stop in zip(low, high, strict=True))
        left = size - placed
        moved = []
        for grade, number in enumerate(relevant):
            last = min(high[grade], number - 1)
            before = (*box[:grade], slice(low[grade], last + 1), *box[grade + 1 :])
            after = (*box[:grade], slice(low[grade] + 1, last + 2), *box[grade + 1 :])
            above = _counts(before)
            chance = ((number - above[grade]) / left)[..., None, None]
            first, rest = waves(tied.added(placed + 1, [each[..., None] for each in above], grade) * factor)
            if not placed:
                shape = (*(each + 1 for each in relevant), len(factor), count, rest.shape[-1])
                grid = np.zeros(shape, dtype=np.result_type(first)) if not grid.size else grid
                grid[(0,) * len(relevant)] = 1.0
            moved.append((after, (grid[before] * (first * chance)[..., None]) * rest))
        others = np.clip(size - m - (placed - sum(_counts(box))), 0, left) / left
        grid[box] *= others[..., None, None, None]
        for after, part in moved:
            grid[after] += part
    return np.asarray(grid.reshape(-1, *grid.shape[len(relevant) :]).sum(axis=0))


def _counts(box: Sequence[slice]) -> list[IntArray]:
    """Return for each grade the number of its items in every cell of a box."""
    if len(box) == 1:
        return [np.arange(box[0].start, box[0].stop)]
    return list(np.meshgrid(*(np.arange(each.start, each.stop) for each in box), indexing="ij"))
