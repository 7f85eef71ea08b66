"""Keep the items that may be among the k nearest of each query, while tiles pass: one moving threshold per query.

The k-th largest entry so far, less its error, is a nearness that the k-th nearest item surely reaches. An item whose
entry is below it by more than the error is dropped at once. The bound only rises, and it decides nothing but which
items need no exact comparison, so neither the order of the tiles nor the size of the lists changes a result.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.codes import CodedTile
from tieproof.distances.space import Form, Space
from tieproof.engine.structures import Places, Targets, Tile
from tieproof.native.calls import Output, native
from tieproof.ties import Array, FloatArray, IntArray

SLACK = 2.0**-50
"""Covers the rounding of a root and of the bounds that are computed from it, relative to the bound."""


class Kept(NamedTuple):
    """The items that may be among the k nearest of each query.

    Query q has the items item[q, :size[q]] with the nearness value[q, :size[q]] in their tiles.

    enough : from so many items on, those that are surely too far are dropped
    lowest : the smallest nearness in a tile that is not surely too far
    floor : the nearness that the k-th nearest item surely reaches, with ratios its root
    margin : the absolute error of the nearness in a tile
    """

    size: IntArray
    enough: IntArray
    lowest: Array
    floor: FloatArray
    margin: FloatArray
    item: npt.NDArray[np.int32]
    value: Array

    @classmethod
    def of(cls, margin: FloatArray, room: int, enough: int, dtype: np.dtype[np.floating]) -> "Kept":
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
        )

    def with_room(self, room: int) -> "Kept":
        """The same items, with room for so many of each query."""
        item, value = np.empty((len(self.size), room), np.int32), np.empty((len(self.size), room), self.value.dtype)
        most = int(self.size.max())
        item[:, :most], value[:, :most] = self.item[:, :most], self.value[:, :most]
        return self._replace(item=item, value=value)

    def candidates(self, queries: IntArray) -> "Candidates":
        """The items of some queries, query by query."""
        place = np.arange(int(self.size[queries].max(initial=0)))
        inside = place < self.size[queries, None]
        query, column = np.nonzero(inside)
        return Candidates(queries[query], self.item[queries[query], column].astype(np.int64), column)

    def keep(self, queries: IntArray, kept: "Candidates", floor: FloatArray) -> None:
        """Keep only some items of these queries, of which the k-th nearest surely reaches `floor`."""
        value = self.value[kept.query, kept.column]
        count = np.bincount(kept.query, minlength=len(self.size))[queries]
        start = np.cumsum(count) - count
        place = np.arange(len(kept.query)) - np.repeat(start, count)
        self.item[kept.query, place] = kept.item
        self.value[kept.query, place] = value
        self.size[queries] = count
        self.enough[queries] = 0  # the kernel computes the limits at the next item
        np.maximum.at(self.floor, queries, floor)


@native
def keep_near(
    tile: Tile,
    targets: Targets,
    kept: Output[Kept],
    k: int,
    relative: float,
    plain: bool,
    close: Output[Places],
) -> int:
    """Keep the near items of a tile, and return the number of queries.

    If a query has no room for as many items as the tile has, its position is returned, and nothing is kept.

    relative : the error of entries in proportion to them
    plain : entries are the nearness
    close : working memory for the items of a tile
    """


@native
def keep_near_of_codes(
    tile: CodedTile, form: Form, targets: Targets, kept: Output[Kept], k: int, relative: float
) -> int:
    """Keep the near items of a tile of codes, as `keep_near` does; `form` is that of its columns."""


@native
def narrow_all(kept: Output[Kept], k: int, relative: float) -> None:
    """Find out how near the k-th nearest item of every query surely is, and drop the items that are too far."""


class Candidates(NamedTuple):
    """Items that may be among the k nearest, by ascending query, and their columns in `Kept`."""

    query: IntArray
    item: IntArray
    column: IntArray

    def where(self, chosen: npt.NDArray[np.bool_] | IntArray) -> "Candidates":
        """The chosen ones."""
        return Candidates(*(part[chosen] for part in self))


@native
def floors(start: IntArray, value: FloatArray, k: int, floor: Output[FloatArray]) -> None:
    """Write the k-th largest of the values start[q] … start[q + 1] - 1, or -inf if fewer."""


def nearer(space: Space, rows: IntArray, found: Candidates, k: int, floor: Output[FloatArray]) -> Candidates:
    """Drop the candidates that finer keys show to be too far.

    rows : the row of each query
    floor : a nearness that each query's k-th nearest item surely reaches; it is raised (with ratios, roots)
    """
    for keys_of in () if space.all_errors.certain else (space.quick_keys, space.keys):
        count = np.bincount(found.query, minlength=len(rows))
        if (count <= k).all():
            break
        keys = keys_of(rows[found.query], found.item)
        if keys is None:
            continue
        low, high = keys[0] - keys[1], keys[0] + keys[1]
        surely = np.empty(len(rows))
        floors(np.concatenate([[0], np.cumsum(count)]), low, k, surely)
        found = found.where(~(high < surely[found.query]))
        if space.form.ratio:
            surely = np.copysign(np.sqrt(np.abs(surely)), surely)
        np.fmax(floor, surely - np.abs(surely) * SLACK, out=floor, where=np.isfinite(surely))
    return found
