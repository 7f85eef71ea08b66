"""Gaps between neighbours in rankings by float64 values, and the ties that closed gaps make."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.curves import Curve
from tieproof.native.calls import Output, native
from tieproof.ties import FloatArray, IntArray, SmallIntArray

States = npt.NDArray[np.int8]
WordArray = npt.NDArray[np.uint64]

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


class Listing(NamedTuple):
    """Columns of items, some several times: those of ranking q are items[pointer[q]] … items[pointer[q+1]-1]."""

    pointer: IntArray
    items: IntArray


class Items(NamedTuple):
    """What is ranked: how many items each column stands for, and which of them are excluded and relevant."""

    weight: SmallIntArray
    excluded: Listing
    relevant: Listing


class OrderedItems(NamedTuple):
    """Columns of which some item is present, in order.

    order : (q, w) columns, of which the first ranked[q] are ranked
    states : (q, w) of the gap behind each
    ranked : (q,)
    open : (q,) how many gaps of each are open
    """

    order: SmallIntArray
    states: States
    ranked: IntArray
    open: IntArray


class RowRoom(NamedTuple):
    """Room for a row of w values."""

    values: FloatArray
    columns: SmallIntArray
    keys: WordArray  # (2, w)
    present: SmallIntArray
    relevant: SmallIntArray


class Written(NamedTuple):
    """How far ties are written down: the ranking to go on with, and how many there are."""

    next: int
    found: int


@native
def rank_rows(
    values: FloatArray, items: Items, scale: Scale, rankings: Output[OrderedItems], room: Output[RowRoom]
) -> int:
    """Sort rows of values and judge the gap behind each; return how many are open.

    The i-th smallest of the true distances lies between the i-th smallest lower and upper bounds, whatever their
    order, so bounds of neighbouring places bound the gap between these places.
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
    """Bounds of the distances that have these values, each with an error of its own; for epsilon 0 of the values."""


@native
def judge_each(low: FloatArray, high: FloatArray, epsilon: float, states: Output[States]) -> None:
    """The states of the gaps between numbers with rising bounds, of which there is one more."""


@native
def write_ties(
    rankings: OrderedItems, items: Items, first: int, single: bool, room: Output[RowRoom], ties: Output[IntArray]
) -> Written:
    """Write down the ties of at least two items, nearest first, as rows query, k, n, l and m.

    It begins with ranking `first`, and ends where there is no room for all that the next one may have.

    single : no column stands for several items
    """


@native
def paint(
    row: IntArray, start: IntArray, stop: IntArray, column_of: IntArray, edges: IntArray, cells: Output[IntArray]
) -> None:
    """Add to cells[row[i], c] how many of the ranks start[i] … stop[i]-1 (from 0) lie in column c of the picture.

    column_of : the column of each rank; edges : the first rank of each column, and the end
    """
