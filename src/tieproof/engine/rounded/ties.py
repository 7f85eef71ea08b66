"""The ties of rankings by rounded distances, some queries at a time."""

from collections.abc import Callable

import numpy as np

from tieproof.distances.gauge import Gauge
from tieproof.engine.dense import ties_of_scores
from tieproof.engine.rounded.distances import RoundedDistances
from tieproof.engine.stripes import stripes
from tieproof.exact.blas import check_products, single_threaded
from tieproof.inputs.formats import Format
from tieproof.inputs.relevance import Relevance
from tieproof.native.threads import in_order
from tieproof.ties import IntArray, Parts, Ties

BYTES_PER_ITEM, BYTES_PER_RELEVANT = 96, 320
"""What a ranked item, and a relevant one besides, take at most while the ties of a query are found."""


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

    @single_threaded()
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
    of_items, of_relevant = BYTES_PER_ITEM * len(gauge.identity[1]), BYTES_PER_RELEVANT * relevance.at_most()[order]
    yield from in_order(ties_of, stripes(gauge, of_items, of_relevant, limits[0] // 2 // threads), threads)
