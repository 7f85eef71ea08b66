"""The public functions of the engine, from a problem to ties; README.md in this folder draws the modules behind them.

Modules that a problem does not need are not loaded.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tieproof.distances import Distance
from tieproof.distances.space import Space
from tieproof.engine.others import count_others, space_of
from tieproof.engine.plan import Plan
from tieproof.engine.ranking import rank
from tieproof.engine.tiles import whole_area
from tieproof.exact.blas import check_products, single_threaded
from tieproof.later import handed_on
from tieproof.problem import GivenLists, Problem, Watch, unwatched
from tieproof.ties import IntArray, Parts, Ties

if TYPE_CHECKING:
    from tieproof.engine.collisions import FoundTies, collisions_of, paint
    from tieproof.engine.dense import last_ties
    from tieproof.engine.handed import RankedQueries
    from tieproof.engine.nearest import Neighbours, nearest_of, nearest_of_numbers, neighbours_of
    from tieproof.engine.portions import Others, Portion, others_of, ranked_of, ties_with_others
else:
    __getattr__, __dir__ = handed_on(
        __name__,
        {
            "FoundTies": "tieproof.engine.collisions",
            "Neighbours": "tieproof.engine.nearest",
            "Others": "tieproof.engine.portions",
            "Portion": "tieproof.engine.portions",
            "RankedQueries": "tieproof.engine.handed",
            "collisions_of": "tieproof.engine.collisions",
            "last_ties": "tieproof.engine.dense",
            "nearest_of": "tieproof.engine.nearest",
            "nearest_of_numbers": "tieproof.engine.nearest",
            "neighbours_of": "tieproof.engine.nearest",
            "others_of": "tieproof.engine.portions",
            "paint": "tieproof.engine.collisions",
            "ranked_of": "tieproof.engine.portions",
            "ties_with_others": "tieproof.engine.portions",
        },
    )

__all__ = [
    "FoundTies",
    "Neighbours",
    "Others",
    "Portion",
    "RankedQueries",
    "TiesByPart",
    "collisions_of",
    "last_ties",
    "nearest_of",
    "nearest_of_numbers",
    "neighbours_of",
    "others_of",
    "paint",
    "ranked_of",
    "ties_of",
    "ties_with_others",
]


class TiesByPart(NamedTuple):
    """The result of the engine.

    parts : an iterator of indices of queries and their ties, computed part by part; each query occurs once
    zero_vectors : the number of rows, in queries and gallery together, that are all zero
    """

    parts: Parts
    zero_vectors: int = 0


def ties_of(problem: Problem | GivenLists, watch: Watch = unwatched) -> TiesByPart:
    """The ties with a relevant item of all queries, computed by one of four methods."""
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
    space = space_of(problem, plan)
    return TiesByPart(ties_by_tiles(problem, space, plan, watch), space.zero_vectors)


def ties_by_tiles(problem: Problem, space: Space, plan: Plan, watch: Watch) -> Iterator[tuple[IntArray, Ties]]:
    """Compute ties by counting tiles, one block of queries after the other."""
    check_products(max(len(space.queries), len(space.items)))
    order = np.argsort(space.queries.identity, kind="stable")
    with watch(len(space.queries) * len(space.items)) as advance:
        for parts in plan.blocks(problem.relevance.at_most()[order]):
            spans = [order[part] for part in parts]
            with single_threaded():
                ranked = rank(space, problem.relevance, spans, plan)
                count_others(space, ranked, plan, whole_area(space, ranked), advance)
            start = 0
            for queries in spans:
                yield queries, ranked.ties(start, start + len(queries))
                start += len(queries)
            del ranked  # otherwise it would stay in memory while the next block is ranked
