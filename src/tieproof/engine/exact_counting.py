"""Counting many items of a row at once where nothing has an error: each is compared, and none is left undecided."""

from tieproof.engine.structures import Counts, ExactRoom, NearEntries, Sorting, Targets, Thresholds, Tile
from tieproof.native.calls import native
from tieproof.ties import IntArray, SmallIntArray

WHOLE_NUMBERS = 2**12
"""Whole numbers between the thresholds up to which each gets a count of its own."""


@native
def count_exactly(
    tile: Tile,
    targets: Targets,
    thresholds: Thresholds,
    gap: SmallIntArray,
    crowded: IntArray,
    sorting: Sorting,
    exact: ExactRoom,
    tally: Counts,
    listed: NearEntries,
) -> tuple[int, int]:
    """Count all items for the crowded queries in `tally`; list them only where thresholds are beyond the tile's type.

    gap : tells where ties of thresholds begin

    Returns how many of the queries are done and how many items are listed.
    """
