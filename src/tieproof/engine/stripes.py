"""Compute whole rankings by a gauge in threads, in stripes of as many queries as memory holds."""

from collections.abc import Callable, Generator, Iterator
from typing import TypeVar

import numpy as np

from tieproof.distances.gauge import LARGEST_STRIPE, Gauge
from tieproof.engine.plan import cut
from tieproof.exact.blas import check_products, single_threaded
from tieproof.native.threads import in_order
from tieproof.problem import Problem
from tieproof.ties import IntArray

Found = TypeVar("Found")


def stripe_by_stripe(
    problem: Problem, gauge: Gauge, item_bytes: int, relevant_bytes: int, work: Callable[[IntArray, IntArray], Found]
) -> Generator[Found, None, None]:
    """Yield the results of `work` for stripes of queries and their ascending distinct rows; each query occurs once.

    item_bytes, relevant_bytes : the largest memory in a ranking for a distinct item, and additionally for a relevant
        item
    """
    threads = 1 if gauge.stripe_rows else problem.budget.threads  # a function need not be safe in threads
    order = np.argsort(gauge.identity[0], kind="stable")

    @single_threaded()
    def of_span(span: slice) -> Found:
        return work(order[span], gauge.identity[0][order[span]])

    check_products()
    of_relevant = relevant_bytes * problem.relevance.at_most()[order]
    spans = stripes(gauge, item_bytes * len(gauge.weight[1]), of_relevant, problem.budget.memory // 2 // threads)
    yield from in_order(of_span, spans, threads)


def stripes(gauge: Gauge, of_items: int, of_relevant: IntArray, memory: int) -> Iterator[slice]:
    """Slices of consecutive queries whose rankings fit into `memory` bytes.

    of_items, of_relevant : the bytes for all items, and for each query's relevant items
    """
    if gauge.stripe_rows:
        for start in range(0, len(of_relevant), gauge.stripe_rows):
            yield slice(start, min(start + gauge.stripe_rows, len(of_relevant)))
        return
    yield from cut(max(of_items, memory // LARGEST_STRIPE) + of_relevant, memory)
