"""Placing the listed items of a tile among the thresholds of their queries, one by one, each by its own error."""

from threading import Lock

from tieproof.distances.space import Error, Form
from tieproof.engine.structures import Counts, NearEntries, Placed, Thresholds, Undecided
from tieproof.native.calls import native


def place(
    listed: NearEntries,
    form: Form,
    error: Error,
    column: int,
    thresholds: Thresholds,
    counts: Counts,
    placed: Placed,
    items: Undecided,
    lock: Lock,
) -> int:
    """Count items by their own errors; note the others at the front of `items` and return how many they are.

    column: the tile's first item. The arrays of `items` are as long as those of `listed`, and those of `placed` twice
    as long; the lock is held while counts change.
    """
    done, rest = place_listed(listed, form, error, column, thresholds, placed, items)
    with lock:
        add_placed(Placed(*(part[:done] for part in placed)), counts)
    return rest


@native
def place_listed(
    listed: NearEntries,
    form: Form,
    error: Error,
    column: int,
    thresholds: Thresholds,
    placed: Placed,
    undecided: Undecided,
) -> tuple[int, int]:
    """Write down where listed items are to be counted, and which of them are undecided; how many of either."""


@native
def add_placed(placed: Placed, counts: Counts) -> None:
    """Count what is written down."""
