"""The doors of the engine: from a problem to ties. README.md beside this file draws what stands behind them.

Ways that a problem does not go are not loaded for it.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tieproof.distances import Distance
from tieproof.distances.space import Space
from tieproof.engine.plan import Plan, cheapest, with_margins
from tieproof.engine.ranking import rank
from tieproof.engine.resolve import count_partial
from tieproof.engine.tiles import TileLoop
from tieproof.exact.blas import check_products, single_threaded
from tieproof.later import handed_on
from tieproof.problem import GivenLists, Problem, Watch, unwatched
from tieproof.ties import IntArray, Parts, Ties

if TYPE_CHECKING:
    from tieproof.engine.collisions.kernels import paint
    from tieproof.engine.collisions.ties import FoundTies, collisions_of
    from tieproof.engine.dense import last_ties
    from tieproof.engine.nearest import nearest_of
else:
    __getattr__, __dir__ = handed_on(
        __name__,
        {
            "FoundTies": "tieproof.engine.collisions.ties",
            "collisions_of": "tieproof.engine.collisions.ties",
            "last_ties": "tieproof.engine.dense",
            "nearest_of": "tieproof.engine.nearest",
            "paint": "tieproof.engine.collisions.kernels",
        },
    )

__all__ = ["FoundTies", "TiesByPart", "collisions_of", "last_ties", "nearest_of", "paint", "ties_of"]


class TiesByPart(NamedTuple):
    """The answer of the engine.

    parts : indices of queries and their ties, part after part as they are asked for; each query comes once
    zero_vectors : how many rows, of queries and gallery together, are all zero
    """

    parts: Parts
    zero_vectors: int = 0


def ties_of(problem: Problem | GivenLists, watch: Watch = unwatched) -> TiesByPart:
    """The ties of all queries that hold a relevant item, in one of four ways."""
    if isinstance(problem, GivenLists):
        from tieproof.engine.dense import ties_of_lists

        return TiesByPart(ties_of_lists(problem))
    if not isinstance(problem.distance, Distance):
        from tieproof.engine.dense import ties_by_function

        return TiesByPart(ties_by_function(problem, watch))
    if problem.format is None and problem.distance.bits:
        from tieproof.engine.levels import few_levels, ties_by_level

        if few_levels(problem):
            return TiesByPart(ties_by_level(problem, watch))
    plan = Plan(problem.budget)
    if problem.format is None:
        space = problem.space(plan.resources)
    else:
        from tieproof.distances.gauge import resources_of_gauge
        from tieproof.engine.rounded.space import RoundedSpace

        gauge = problem.distance.gauge(problem.space(resources_of_gauge(plan.resources.keep_bytes)))
        space = RoundedSpace(gauge, problem.format, plan.undecided)
    return TiesByPart(ties_by_tiles(problem, space, plan, watch), space.zero_vectors)


def ties_by_tiles(problem: Problem, space: Space, plan: Plan, watch: Watch) -> Iterator[tuple[IntArray, Ties]]:
    """Ties by counting, block after block of queries."""
    check_products(max(len(space.queries), len(space.items)))
    order = np.argsort(space.queries.identity, kind="stable")
    with watch(len(space.queries) * len(space.items)) as advance:
        for parts in plan.blocks(problem.relevance.at_most()[order]):
            spans = [order[part] for part in parts]
            with single_threaded():
                ranked = rank(space, problem.relevance, spans, plan)
                if len(ranked.partial.query):
                    count_partial(space, ranked)
                chosen = cheapest(space, ranked)
                if chosen is None:
                    from tieproof.engine.without_tiles import count_pairs

                    count_pairs(space, ranked, plan, advance)
                else:
                    TileLoop(chosen, with_margins(ranked, chosen), plan, advance).run()
            start = 0
            for queries in spans:
                yield queries, ranked.ties(start, start + len(queries))
                start += len(queries)
            del ranked, chosen  # or they would stay in memory while the next block is ranked
