"""How many queries are compared with all items at a time."""

from collections.abc import Iterator

from tieproof.distances.gauge import Gauge
from tieproof.engine.plan import cut
from tieproof.ties import IntArray

LARGEST_STRIPE = 512
"""Queries at a time; more would not make the product faster."""


def stripes(gauge: Gauge, of_items: int, of_relevant: IntArray, memory: int) -> Iterator[slice]:
    """Consecutive queries whose rankings fit into memory: bytes for all items, and for each query's relevant ones."""
    if gauge.stripe_rows:
        for start in range(0, len(of_relevant), gauge.stripe_rows):
            yield slice(start, min(start + gauge.stripe_rows, len(of_relevant)))
        return
    yield from cut(max(of_items, memory // LARGEST_STRIPE) + of_relevant, memory)
