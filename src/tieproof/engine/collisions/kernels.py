"""Decide gaps between neighbours in rankings by float64 values, and collect the ties that result."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.curves import Curve
from tieproof.native.calls import Output, native
from tieproof.ties import FloatArray, IntArray, SmallIntArray

States = npt.NDArray[np.int8]
WordArray = npt.NDArray[np.uint64]

APART, CLOSE, OPEN = 0, 1, 2
"""The states of the gap between an item and the next one."""

UNORDERED = 4
"""Added to the state if float64 cannot decide which of the two neighbours is nearer."""


TINY = 2.0**-1068
"""More than the rounding errors of subnormal numbers, and negligible compared with normal numbers."""


class Scale(NamedTuple):
    """The curve from values to distances, the errors of values, and the epsilon from which neighbours are apart."""

    curve: Curve
    absolute: float
    relative: float
    epsilon: float
    certain: bool  # values have exactly the order and the ties of distances


class Listing(NamedTuple):
    """Columns of items, possibly repeated: ranking q has items[pointer[q]] … items[pointer[q+1]-1]."""

    pointer: IntArray
    items: IntArray


class Items(NamedTuple):
    """The ranked items: how many items each column represents, and which of them are excluded and relevant."""

    weight: SmallIntArray
    excluded: Listing
    relevant: Listing


class OrderedItems(NamedTuple):
    """The sorted columns of the items in each ranking.

    order : (q, w) columns, of which the first ranked[q] are ranked
    states : (q, w) the state of the gap after each position
    ranked : (q,) the number of ranked columns
    open : (q,) the number of open gaps in each ranking
    """

    order: SmallIntArray
    states: States
    ranked: IntArray
    open: IntArray


class RowRoom(NamedTuple):
    """Working memory for a row of w values."""

    values: FloatArray
    columns: SmallIntArray
    keys: WordArray  # (2, w)
    present: SmallIntArray
    relevant: SmallIntArray


class Written(NamedTuple):
    """The ranking with which writing ties continues, and the number of ties written."""

    next: int
    found: int


@native
def rank_rows(
    values: FloatArray, items: Items, scale: Scale, rankings: Output[OrderedItems], room: Output[RowRoom]
) -> int:
    """Sort rows of values and decide the gap after each; return the number of open gaps.

    The i-th smallest true distance is between the i-th smallest lower bound and the i-th smallest upper bound, in
    whatever order the items are. So the bounds at neighbouring positions bound the gap between them.
    """


@native
def bounds_of_each(
    values: FloatArray,
    errors: FloatArray,
    epsilon: float,
    curve: Curve,
    low: Output[FloatArray],
    high: Output[FloatArray],
) -> None:
    """Write bounds of the distances with these values and errors; for epsilon 0, bounds of the values themselves."""


@native
def judge_each(low: FloatArray, high: FloatArray, epsilon: float, states: Output[States]) -> None:
    """Write the states of the gaps between consecutive numbers with these ascending bounds."""


@native
def write_ties(
    rankings: OrderedItems, items: Items, first: int, single: bool, room: Output[RowRoom], ties: Output[IntArray]
) -> Written:
    """Write the ties of at least two items, nearest first, as rows query, k, n, l and m.

    Writing starts at ranking `first` and stops before a ranking whose ties might not fit.

    single : whether every column represents a single item
    """


@native
def paint(
    row: IntArray, start: IntArray, stop: IntArray, column_of: IntArray, edges: IntArray, cells: Output[IntArray]
) -> None:
    """Add to cells[row[i], c] how many of the ranks start[i] … stop[i]-1 (from 0) are in column c of the picture.

    column_of : the column of each rank
    edges : the first rank of each column, and the end of the last one
    """
