"""Gaps between neighbours in rankings by float64 values, and the ties that closed gaps make."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.curves import Curve
from tieproof.native.calls import native
from tieproof.ties import FloatArray, IntArray, SmallIntArray

States = npt.NDArray[np.int8]

APART, CLOSE, OPEN = 0, 1, 2
"""What is known of the gap behind an item."""

UNORDERED = 4
"""Added where float64 leaves open which of the two neighbours is nearer."""


TINY = 2.0**-1068
"""More than roundings of subnormal numbers lose, and nothing beside a normal number of some size."""


class Scale(NamedTuple):
    """How values become distances, how far values may be off, and from where on neighbours are apart."""

    curve: Curve
    absolute: float
    relative: float
    epsilon: float
    certain: bool  # values have exactly the order and the ties of distances


@native
def judge_gaps(values: FloatArray, count: IntArray, scale: Scale, states: States) -> int:
    """Judge the gap behind each item of rankings whose first count[q] values are rising; return how many are open.

    The i-th smallest of the true distances lies between the i-th smallest lower and upper bounds, whatever their
    order, so bounds of neighbouring places bound the gap between these places.
    """


@native
def bounds_of_each(
    values: FloatArray, errors: FloatArray, epsilon: float, curve: Curve, low: FloatArray, high: FloatArray
) -> None:
    """Bounds of the distances that have these values, each with an error of its own; for epsilon 0 of the values."""


@native
def judge_each(low: FloatArray, high: FloatArray, epsilon: float, states: States) -> None:
    """The states of the gaps between numbers with rising bounds, of which there is one more."""


class OrderedItems(NamedTuple):
    """Distinct items in order, the gap behind each, and of how many items they consist.

    order : (q, w) columns, of which the first ranked[q] are ranked
    states : (q, w) of the gap behind each
    ranked : (q,)
    present, relevant : (q, w) ranked and relevant items of each column, in the order of columns
    """

    order: IntArray
    states: States
    ranked: IntArray
    present: SmallIntArray
    relevant: SmallIntArray


@native
def ties_of_rankings(
    rankings: OrderedItems, k: IntArray, n: IntArray, l: IntArray, m: IntArray, query: IntArray
) -> int:
    """Write down all ties of at least two items, nearest first; return how many there are.

    The arrays may be too short: what does not fit is only counted.
    """


@native
def paint(
    row: IntArray, start: IntArray, stop: IntArray, column_of: IntArray, edges: IntArray, cells: IntArray
) -> None:
    """Add to cells[row[i], c] how many of the ranks start[i] … stop[i]-1 (from 0) lie in column c of the picture.

    column_of : the column of each rank; edges : the first rank of each column, and the end
    """
