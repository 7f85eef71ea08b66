"""Counting many items of a row at once: sorted into buckets between the thresholds, most need no comparison."""

from tieproof.engine.structures import Counts, NearEntries, Sorting, Targets, Thresholds, Tile
from tieproof.native.calls import native
from tieproof.ties import IntArray

BUCKETS = 8
"""Buckets per threshold (measured)."""

SOME = 256
"""Buckets beside these, so that a few thresholds touch few of them."""

RUN = 16
"""Entries of the table that are written together: so many may be written beyond the last."""

MOST = 2**15 - 1
"""Thresholds up to which there are buckets: an entry of their table has 15 bits."""


@native
def count_crowded(
    tile: Tile,
    targets: Targets,
    thresholds: Thresholds,
    crowded: IntArray,
    sorting: Sorting,
    tally: Counts,
    listed: NearEntries,
) -> tuple[int, int]:
    """Count all items for the crowded queries in `tally`, but list those that may be equal to a threshold.

    Returns how many of the queries are done and how many items are listed.
    """


@native
def add_tally(queries: IntArray, thresholds: Thresholds, tally: Counts, exact: bool, counts: Counts) -> None:
    """Add what was counted for these queries, one after the other; items at thresholds only where it was exact."""
