"""The ties of rankings by rounded distances, some queries at a time."""

from collections.abc import Callable, Iterator

import numpy as np

from tieproof.engine.blas import check_products, single_threaded
from tieproof.engine.dense import ties_of_scores
from tieproof.engine.plan import cut
from tieproof.exact.rows import IntArray
from tieproof.pooled.gauges import Gauge
from tieproof.precision.distances import RoundedDistances
from tieproof.precision.formats import Format
from tieproof.relevance import Relevance
from tieproof.scoring import Parts
from tieproof.threads import in_order
from tieproof.ties import Ties

BYTES_PER_ITEM, BYTES_PER_RELEVANT = 96, 320
"""What a ranked item, and a relevant one besides, take at most while the ties of a query are found."""

LARGEST_STRIPE = 512
"""Queries at a time; more would not make the product faster."""


def rounded_ties(
    gauge: Gauge,
    wanted: Format,
    relevance: Relevance,
    limits: tuple[int, int],
    progress: Callable[[int], None],
) -> Parts:
    """Indices of queries and the ties of their rankings, for limits of memory and of threads."""
    threads = 1 if gauge.stripe_rows else limits[1]  # a function need not be safe in threads
    distances = RoundedDistances(gauge, wanted)
    order = np.argsort(gauge.identity[0], kind="stable")

    def ties_of(span: slice) -> tuple[IntArray, Ties]:
        queries = order[span]
        rows = gauge.identity[0][queries]
        block = distances.block(slice(int(rows[0]), int(rows[-1]) + 1))
        nearness = -block[(rows - rows[0])[:, None], gauge.identity[1]]
        del block
        found = ties_of_scores(nearness, relevance.block(queries))
        progress(nearness.size)
        return queries, found

    check_products()
    with single_threaded():
        yield from in_order(ties_of, spans(gauge, relevance.at_most()[order], limits[0] // 2 // threads), threads)


def spans(gauge: Gauge, relevant: IntArray, memory: int) -> Iterator[slice]:
    """Consecutive queries whose rankings fit into memory, for numbers of relevant items per query."""
    if gauge.stripe_rows:
        for start in range(0, len(relevant), gauge.stripe_rows):
            yield slice(start, min(start + gauge.stripe_rows, len(relevant)))
        return
    of_items = max(BYTES_PER_ITEM * len(gauge.identity[1]), memory // LARGEST_STRIPE)
    yield from cut(of_items + BYTES_PER_RELEVANT * relevant, memory)
