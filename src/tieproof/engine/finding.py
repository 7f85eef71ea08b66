"""How near an item must be to be looked at, and which tiles are turned round for their columns.

Mostly few items are as near as a threshold of a query. All others need no counting, and are passed over.
"""

import numpy as np

from tieproof.engine.structures import Columns, Limits, Row, Targets, Thresholds, Tile
from tieproof.native.calls import native
from tieproof.ties import FloatArray

FIRST_ROWS = 16
"""Rows of a transposed tile that tell whether it is crowded."""


def lowest_entries(thresholds: Thresholds, ratio: bool) -> FloatArray:
    """What a tile must show of an item for it to be as near as each query's last threshold, perhaps."""
    some = thresholds.stop > thresholds.start
    far = thresholds.key[thresholds.stop[some] - 1] - thresholds.reach[some]
    if ratio:
        far = np.copysign(np.sqrt(np.abs(far)), far)
    lowest = np.full(len(some), np.inf)
    lowest[some] = far - thresholds.margin[some]
    return lowest


def columns_of(targets: Targets, limits: Limits, rows: slice, start: int, stop: int) -> Columns:
    """What counting a transposed tile needs of query rows and of their queries start … stop-1."""
    row = targets.row[start:stop] - rows.start
    lowest = np.full(rows.stop - rows.start, np.inf, dtype=limits.lowest.dtype)
    np.minimum.at(lowest, row, limits.lowest[start:stop])
    return Columns(lowest, start + np.searchsorted(row, np.arange(len(lowest) + 1)))


def is_crowded(tile: Tile, columns: Columns, share: float) -> bool:
    """Whether more than a share of a transposed tile is nearer than the last thresholds, by its first rows."""
    factor, shift = tile.form.factor[:FIRST_ROWS, None], tile.form.shift[:FIRST_ROWS, None]
    return bool((tile.entries[:FIRST_ROWS] * factor - shift >= columns.lowest).mean() > share)


def transposed(entries: Row) -> Row:
    """A contiguous transpose."""
    out = np.empty((entries.shape[1], entries.shape[0]), dtype=entries.dtype)
    transpose(entries, out)
    return out


@native
def transpose(entries: Row, out: Row) -> None:
    """Write the transpose, in blocks that the cache holds."""
