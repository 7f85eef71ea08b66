"""From a space and a relevance to ties: the plan, and the two steps that README.md beside this file draws."""

from collections.abc import Iterator

import numpy as np

from tieproof.distances.space import Space
from tieproof.engine.choice import cheapest, with_margins
from tieproof.engine.levels import few_levels, ties_by_level
from tieproof.engine.plan import Plan
from tieproof.engine.thresholds import rank
from tieproof.engine.tiles import Progress, TileLoop
from tieproof.engine.without_tiles import count_pairs, count_partial
from tieproof.exact.blas import check_products, single_threaded
from tieproof.inputs.relevance import Relevance
from tieproof.ties import IntArray, Ties

__all__ = ["Plan", "count_ties", "few_levels", "ties_by_level"]


def count_ties(space: Space, relevance: Relevance, plan: Plan, progress: Progress) -> Iterator[tuple[IntArray, Ties]]:
    """Indices of queries and their ties, part after part; each query comes once."""
    check_products()
    order = np.argsort(space.queries.identity, kind="stable")
    for parts in plan.blocks(relevance.at_most()[order]):
        spans = [order[part] for part in parts]
        with single_threaded():
            ranked = rank(space, relevance, spans, plan)
            count_partial(space, ranked)
            chosen = cheapest(space, ranked)
            if chosen is None:
                count_pairs(space, ranked, plan, progress)
            else:
                TileLoop(chosen, with_margins(ranked, chosen), plan, progress).run()
        start = 0
        for queries in spans:
            yield queries, ranked.ties(start, start + len(queries))
            start += len(queries)
        del ranked, chosen  # or they would stay in memory while the next block is ranked
