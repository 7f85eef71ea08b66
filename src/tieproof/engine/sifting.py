"""Find the near pairs of a tile of codes while its products are computed, so that the tile is never written."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.codes import CodedTile
from tieproof.distances.space import Error, Form
from tieproof.engine.structures import Counted, Room, Tile, Work
from tieproof.native.calls import Output, native
from tieproof.ties import Array, IntArray, SmallIntArray

SHARE = 1 / 32
"""The share of near pairs from which a tile is written and then counted by its rows and columns."""

SPARE = 64
"""How many pairs there is room for beyond this share."""


class NearPairs(NamedTuple):
    """Pairs of a query row and an item of a tile that may be as near as a threshold of the row's queries."""

    row: SmallIntArray
    item: SmallIntArray
    entry: Array

    @classmethod
    def room(cls, side: int, dtype: npt.DTypeLike) -> "NearPairs":
        """Room for as many pairs as are listed in a tile with at most `side` rows and columns."""
        count = int(side**2 * SHARE) + SPARE
        return cls(np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32), np.empty(count, dtype=dtype))

    def first(self, count: int) -> "NearPairs":
        """The first pairs."""
        return NearPairs(self.row[:count], self.item[:count], self.entry[:count])


class Side(NamedTuple):
    """One of the two sides whose queries count a tile.

    form : the conversion of entries to nearness, for the items of the tile as this side sees it
    lowest : the smallest nearness of a near pair for each of its rows; empty if its queries do not count the tile
    """

    form: Form
    lowest: Array
    near: NearPairs


class Sifted(NamedTuple):
    """The number of near pairs of both sides; -1 if there is not enough room for them."""

    of_rows: int
    of_columns: int


@native
def sift(tile: CodedTile, rows: Output[Side], columns: Output[Side]) -> Sifted:
    """List the near pairs of a tile for its rows and for its columns."""


@native
def count_near(
    pairs: NearPairs,
    tile: Tile,
    error: Error,
    work: Work,
    first: IntArray,
    start: int,
    undecided: int,
    room: Room,
) -> Counted:
    """Count near pairs, from number `start` on, as `count_in_columns` counts a tile.

    tile : the tile of the pairs, whose entries are not read
    first : the first query of each row, and the query after the last one
    """
