"""Which way an evaluation goes: all rows at once in memory, or part by part, here or on a cluster."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from tieproof.calls.fingerprints import label_words, origin_of_digests, origin_of_embeddings
from tieproof.distances import Distance
from tieproof.problem import Problem, ShardedProblem, Watch
from tieproof.results.evaluated import Origin

if TYPE_CHECKING:
    from tieproof.engine import TiesByPart


def found(
    problem: Problem | ShardedProblem, bits: int | None, watch: Watch
) -> "tuple[TiesByPart, Callable[[], Origin]]":
    """The ties of all queries, and what says where they come from, to be asked once they are counted."""
    if isinstance(problem, Problem):
        from tieproof.engine import ties_of

        return ties_of(problem, watch), partial(origin_of_embeddings, problem, bits)
    from tieproof.cluster import fits, share_of_engine

    if fits(problem):
        return found(problem.in_memory(share_of_engine(problem.whole.budget)), bits, watch)
    return found_in_parts(problem, bits, watch)


def found_in_parts(
    problem: ShardedProblem, bits: int | None, watch: Watch
) -> "tuple[TiesByPart, Callable[[], Origin]]":
    """The same, of rows that are read when they are needed."""
    from tieproof.cluster import Local, count_all, survey
    from tieproof.engine import ties_of

    whole, runner = problem.whole, Local()
    words = label_words(whole.relevance)
    seen = survey(problem, words, runner)
    items = None if problem.gallery is None else seen.items.digests
    origin = origin_of_digests(whole, bits, words[0], seen.queries.digests, items)
    if not isinstance(whole.distance, Distance):
        return ties_of(problem.for_function(), watch), lambda: origin
    return count_all(problem, seen, watch, runner, 1, None), lambda: origin
