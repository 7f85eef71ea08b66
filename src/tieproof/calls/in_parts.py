"""How an evaluation is run: with all rows in memory, or part by part in this process or on a cluster."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tieproof.calls.fingerprints import label_words, origin_of_digests, origin_of_embeddings
from tieproof.calls.problems import as_sharded, check_self_matches, watched
from tieproof.distances import Distance
from tieproof.errors import InputError
from tieproof.inputs.options import parse_threads
from tieproof.problem import Budget, Problem, ShardedProblem
from tieproof.results.evaluated import Origin

if TYPE_CHECKING:
    from tieproof.engine import TiesByPart


class Place(NamedTuple):
    """Where parts are counted, and where their counts are saved.

    cluster : the address of a Ray cluster; None: in this process
    checkpoint : a folder; None: counts are not saved
    """

    cluster: Any = None
    checkpoint: str | os.PathLike[str] | None = None

    @property
    def in_parts(self) -> bool:
        """Whether rows are counted part by part even if they fit into memory."""
        return self.cluster is not None or self.checkpoint is not None

    def threads(self, threads: int | None) -> int:
        """Return the number of threads; by default one per worker of a cluster, or one per processor."""
        return 1 if threads is None and self.cluster is not None else parse_threads(threads)


Found = tuple["TiesByPart", Callable[[], Origin]]
"""The ties of all queries, and a function that returns their origin; call it after all ties are counted."""


@contextmanager
def found(problem: Problem | ShardedProblem, bits: int | None, place: Place, progress: bool) -> Iterator[Found]:
    """Yield the ties of all queries, which must be read within the block."""
    if place.in_parts:
        problem = as_sharded(problem)
        check_distance(problem.whole)
    if isinstance(problem, ShardedProblem):
        from tieproof.cluster import beside_all_rows, fits

        if not place.in_parts and fits(problem):
            problem = problem.in_memory(beside_all_rows(problem))
            check_self_matches(problem)
    if isinstance(problem, ShardedProblem):
        with ExitStack() as stack:
            yield found_in_parts(problem, bits, place, progress, stack)
    else:
        from tieproof.engine import ties_of

        yield ties_of(problem, watched(progress)), partial(origin_of_embeddings, problem, bits)


def found_in_parts(
    problem: ShardedProblem, bits: int | None, place: Place, progress: bool, stack: ExitStack
) -> Found:
    """Return the ties of all queries of a problem whose rows are read when they are needed."""
    from tieproof.cluster import count_all, survey

    whole = problem.whole
    runner = stack.enter_context(workers(place.cluster, whole.budget))
    words = label_words(whole.relevance)
    seen = survey(problem, words, runner)
    items = None if problem.gallery is None else seen.items.digests
    if items is not None:
        check_self_matches(whole, (seen.queries.digests, items))
    origin = origin_of_digests(whole, bits, words[0], seen.queries.digests, items)
    if not isinstance(whole.distance, Distance):
        from tieproof.engine import ties_of

        return ties_of(problem.for_function(), watched(progress)), lambda: origin
    checkpoint = None if place.checkpoint is None else Path(place.checkpoint)
    watch = watched(progress, runner.workers if place.cluster is not None else None)
    return count_all(problem, seen, origin.relevant, watch, runner, checkpoint), lambda: origin


def workers(cluster: Any, budget: Budget) -> Any:
    """Return the workers of a cluster, or this process if no cluster is given."""
    from contextlib import nullcontext

    from tieproof.cluster import Local, connected

    return nullcontext(Local()) if cluster is None else connected(cluster, budget)


def check_distance(whole: Problem) -> None:
    """Refuse a distance function, which cannot be counted part by part."""
    if not isinstance(whole.distance, Distance):
        raise InputError(
            f"The distance of the {whole.called} cannot be counted part by part, as cluster= and checkpoint= do: it "
            "may round differently for blocks of other shapes. Leave both out, or pass the name of a distance.",
            "distance",
        )
