"""Keep the items that may be among the k nearest of each query, while tiles pass: one moving threshold per query.

The k-th largest entry so far, less its error, is a nearness that the k-th nearest item surely reaches. An item whose
entry is below it by more than the error is dropped at once. The bound only rises, and it decides nothing but which
items need no exact comparison, so neither the order of the tiles nor the size of the lists changes a result.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.codes import CodedTile
from tieproof.distances.space import NearnessForm, Space
from tieproof.engine.structures import Places, Targets, Tile
from tieproof.engine.zeros import compared_ones
from tieproof.native.calls import Output, native
from tieproof.ties import Array, BoolArray, FloatArray, IntArray

PAIRS = 2**17  # how many pairs get finer keys at a time
SLACK = 2.0**-50  # covers the rounding of a root and of the bounds that are computed from it, relative to the bound


class Kept(NamedTuple):
    """The items that may be among the k nearest of each query.

    Query q has the items item[q, :size[q]] with the nearness value[q, :size[q]] in their tiles.
    """

    size: IntArray
    enough: IntArray  # from so many items on, those that are surely too far are dropped
    lowest: Array  # the smallest nearness in a tile that is not surely too far
    floor: FloatArray  # the nearness that the k-th nearest item surely reaches, with ratios its root
    # margin, relative: the absolute error of the nearness in a tile, and the error in proportion to it.
    margin: FloatArray
    item: npt.NDArray[np.int32]
    value: Array
    relative: float

    @classmethod
    def of(cls, margin: FloatArray, relative: float, room: int, enough: int, dtype: np.dtype[np.floating]) -> "Kept":
        """No items yet, for queries with these errors, and room for so many items of each."""
        count = len(margin)
        return cls(
            size=np.zeros(count, dtype=np.int64),
            enough=np.full(count, enough),
            lowest=np.full(count, -np.inf, dtype=dtype),
            floor=np.full(count, -np.inf),
            margin=margin,
            item=np.empty((count, room), dtype=np.int32),
            value=np.empty((count, room), dtype=dtype),
            relative=relative,
        )

    def with_room(self, room: int) -> "Kept":
        """The same items, with room for so many of each query."""
        item, value = np.empty((len(self.size), room), np.int32), np.empty((len(self.size), room), self.value.dtype)
        most = int(self.size.max())
        item[:, :most], value[:, :most] = self.item[:, :most], self.value[:, :most]
        return self._replace(item=item, value=value)

    def of_queries(self, chosen: BoolArray) -> "Kept":
        """The items of some queries."""
        return Kept._make([*(column[chosen] for column in self[:-1]), self.relative])

    def candidates(self, queries: IntArray) -> "Candidates":
        """The items of some ascending queries, query by query."""
        size = self.size[queries]
        most = int(size.max(initial=0))
        inside = np.arange(most) < size[:, None]
        item, value = self.item[queries, :most][inside], self.value[queries, :most][inside]
        return Candidates(np.repeat(queries, size), item.astype(np.int64), value.astype(np.float64))

    def keep(self, queries: IntArray, kept: "Candidates") -> None:
        """Keep only some items of these queries."""
        count = np.bincount(kept.query, minlength=len(self.size))[queries]
        place = np.arange(len(kept.query)) - np.repeat(np.cumsum(count) - count, count)
        self.item[kept.query, place], self.value[kept.query, place] = kept.item, kept.value
        self.size[queries] = count
        self.enough[queries] = 0  # the kernel computes the limits at the next item

    def sharpen(self, space: Space, rows: IntArray, k: int) -> None:
        """Raise the floors by finer keys of the k items that are nearest by their tiles, if they are fast to compute.

        rows : the row of each query
        """
        queries = np.flatnonzero(self.size >= k)
        for start in range(0, len(queries), size := max(1, PAIRS // k)):
            some = queries[start : start + size]
            nearest = np.empty((len(some), k), dtype=np.int64)
            list_nearest(self, some, nearest)
            keys = space.quick_keys(np.repeat(rows[some], k), nearest.ravel())
            if keys is None:
                return
            self.raise_floors(some, (keys[0] - keys[1]).reshape(nearest.shape).min(axis=1), space)
        narrow_all(self, k)

    def raise_floors(self, queries: IntArray, surely: FloatArray, space: Space) -> None:
        """Raise the floors of some queries to a nearness that their k-th nearest items surely reach."""
        floor = np.copysign(np.sqrt(np.abs(surely)), surely) if space.form.ratio else surely
        floor = np.where(np.isfinite(floor), floor - np.abs(floor) * SLACK, -np.inf)
        self.floor[queries] = np.maximum(self.floor[queries], floor)


@native
def keep_near(tile: Tile, targets: Targets, kept: Output[Kept], k: int, plain: bool, close: Output[Places]) -> int:
    """Keep the near items of a tile, and return the number of queries.

    If a query has no room for its items, its position is returned, and no item of the tile is kept.

    plain : entries are the nearness
    close : working memory for the items of a tile
    """


@native
def keep_near_of_codes(tile: CodedTile, form: NearnessForm, targets: Targets, kept: Output[Kept], k: int) -> int:
    """Keep the near items of a tile of codes, as `keep_near` does; `form` is that of its columns."""


@native
def list_nearest(kept: Kept, queries: IntArray, item: Output[IntArray]) -> None:
    """Write as many items of each query as `item` has columns: those that are nearest by their tiles."""


@native
def narrow_all(kept: Output[Kept], k: int) -> None:
    """Find out how near the k-th nearest item of every query surely is, and drop the items that are too far."""


class Candidates(NamedTuple):
    """Items that may be among the k nearest, by ascending query, and their nearness in tiles."""

    query: IntArray
    item: IntArray
    value: FloatArray

    def where(self, chosen: BoolArray | IntArray) -> "Candidates":
        """The chosen candidates."""
        return Candidates(self.query[chosen], self.item[chosen], self.value[chosen])


@native
def floors(start: IntArray, value: FloatArray, k: int, floor: Output[FloatArray]) -> None:
    """Write the k-th largest of the values start[q] … start[q + 1] - 1, or -inf if fewer."""


def nearer(space: Space, rows: IntArray, kept: Kept, queries: IntArray, k: int) -> Candidates:
    """The items of some ascending queries that finer keys do not show to be too far; the floors are raised.

    rows : the row of each query of `kept`
    """
    found = kept.candidates(queries)
    for keys_of in () if space.all_errors.certain else (space.quick_keys, space.keys):
        count = np.bincount(found.query, minlength=len(rows))
        if count.sum() <= 2 * k * len(queries):  # finer keys would drop fewer than the exact order compares anyway
            break
        compared, number = compared_ones(space, found.query, found.value)
        keys = keys_of(rows[found.query[compared]], found.item[compared])
        if keys is None:
            continue
        low, high = (keys[0] - keys[1])[number], (keys[0] + keys[1])[number]
        surely = np.empty(len(rows))
        floors(np.concatenate([[0], np.cumsum(count)]), low, k, surely)
        found = found.where(~(high < surely[found.query]))
        kept.raise_floors(queries, surely[queries], space)
    return found
