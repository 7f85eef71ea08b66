"""The ties of a problem whose rows are in memory, by one of three methods."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tieproof.distances import Distance
from tieproof.distances.exact.bounds import check_products, single_threaded
from tieproof.distances.space import Space
from tieproof.engine.counting import count_others, whole_area
from tieproof.engine.plan import Plan
from tieproof.engine.problem import Problem, Watch
from tieproof.engine.ranking import rank
from tieproof.ties import IntArray, Parts, Ties

NOISY = 9  # how many times as much memory a relevant item takes if its ends under noise are counted, too


class TiesByPart(NamedTuple):
    """The result of the engine."""

    parts: Parts  # indices of queries and their ties, computed part by part; each query occurs once
    zero_vectors: int = 0  # the rows, in queries and gallery together, that are all zero


def ties_of(problem: Problem, watch: Watch) -> TiesByPart:
    """The ties with a relevant item of all queries, computed by one of three methods."""
    if not isinstance(problem.distance, Distance):
        from tieproof.engine.dense import ties_by_function

        return TiesByPart(ties_by_function(problem, watch))
    if problem.format is None and problem.noise is None and problem.distance.bits:
        from tieproof.engine.levels import counts_by_level, packed_codes, ties_by_level

        packed = packed_codes(problem)
        if packed is not None and counts_by_level(problem):
            return TiesByPart(ties_by_level(problem, packed, watch))
    plan = Plan(problem.budget)
    space = plan.space_of(problem)
    if space.bits is not None and problem.format is None and problem.noise is None:
        from tieproof.engine.levels import codes_of, counts_by_level, ties_by_level

        codes = codes_of(space) if counts_by_level(problem) else None
        if codes is not None:
            return TiesByPart(ties_by_level(problem, codes, watch), space.zero_vectors)
    return TiesByPart(ties_by_tiles(problem, space, plan, watch), space.zero_vectors)


def ties_by_tiles(problem: Problem, space: Space, plan: Plan, watch: Watch) -> Iterator[tuple[IntArray, Ties]]:
    """Compute ties by counting tiles, one block of queries after the other."""
    check_products(max(len(space.queries), len(space.items)))
    order = np.argsort(space.queries.identity, kind="stable")
    with watch(len(space.queries) * len(space.items)) as advance:
        noisy = None
        if problem.noise is not None:
            from tieproof.engine.extremes import Noisy

            noisy = Noisy.of(space, problem.noise)
        times = 1 if noisy is None else NOISY * len(noisy.parts)
        for parts in plan.blocks(problem.relevance.at_most()[order] * times):
            spans = [order[part] for part in parts]
            with single_threaded():
                ranked = rank(space, problem.relevance, spans, plan)
                if noisy is None:
                    count_others(space, ranked, plan, [whole_area(space, ranked)], advance)
                else:
                    noisy.count_block(ranked, problem.relevance, spans, plan, advance)
            start = 0
            for queries in spans:
                stop = start + len(queries)
                ties = ranked.ties(start, stop)
                yield queries, ties if noisy is None else replace(ties, noise=noisy.extremes(start, stop))
                start = stop
            del ranked  # otherwise it would stay in memory while the next block is ranked
            if noisy is not None:
                noisy.ends.clear()
