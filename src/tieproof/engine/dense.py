"""Rankings passed as numbers: each number is the exact nearness, and items are counted instead of sorted."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from tieproof.engine.extremes import moved, ranking_of
from tieproof.engine.plan import whole_rankings
from tieproof.engine.problem import GivenLists, Problem, Watch
from tieproof.engine.rounded import nearness_of, target_of
from tieproof.inputs.lists import CountRoom
from tieproof.inputs.relevance import RelevantBlock
from tieproof.native.calls import Output, native
from tieproof.native.threads import in_order
from tieproof.ties import Array, ExtremeRankings, FloatArray, IntArray, Ties

FEWEST_ENTRIES = 2**20  # the smallest number of entries for which another thread is worth its cost (measured)


class ListRoom(NamedTuple):
    """Working memory in which a thread sorts and counts the items of one list at a time; only kernels read it."""

    key: Array
    place: IntArray
    grade: FloatArray
    excluded: Array
    counts: IntArray
    buckets: CountRoom


class CountedLists(NamedTuple):
    """The number of ties written, and whether all numbers are finite."""

    ties: int
    finite: bool


def ties_of_lists(given: GivenLists) -> Ties:
    """The ties of the passed rankings."""
    total = int(given.start[-1])
    cuts = np.searchsorted(given.start, np.arange(0, total, max(FEWEST_ENTRIES, -(-total // given.threads))))
    spans = [slice(first, last) for first, last in pairwise(sorted({0, *cuts.tolist(), len(given.queries)}))]
    parts = in_order(lambda span: _count_span(given, span), spans, given.threads)
    ties, grades, relevant, excluded = zip(*parts, strict=True)
    for span, own in zip(spans, ties, strict=True):
        own[0] += span.start
    query, k, n, l, m = ties[0] if len(ties) == 1 else np.concatenate(ties, axis=1)  # noqa: E741
    all_grades = None
    if any(each is not None for each in grades):
        of_spans = zip(grades, relevant, strict=True)
        all_grades = np.concatenate([np.ones(count.sum()) if own is None else own for own, count in of_spans])
    n_relevant, n_items = np.concatenate(relevant), np.diff(given.start) - np.concatenate(excluded)
    return Ties(query, k, n, l, m, n_relevant=n_relevant, n_items=n_items, grades=all_grades)


def _count_span(given: GivenLists, span: slice) -> tuple[IntArray, FloatArray | None, IntArray, IntArray]:
    """The rows query (from 0), k, n, l, m of ties, their grades, and how many items are relevant and excluded."""
    block = given.relevant(span)
    relevant, excluded = np.diff(block.pointer), np.diff(block.excluded_pointer)
    ties = np.empty((5, relevant.sum()), dtype=np.int64)
    grades = np.empty(0 if block.grades is None else relevant.sum())
    room = list_room(int(relevant.max()), int(excluded.max()), block.grades is not None, given.numbers.dtype)
    start = given.start[span.start : span.stop + 1]
    counted = count_lists(given.numbers, start, block, given.small_is_near, room, ties, grades)
    if not counted.finite:
        given.refuse()
    return ties[:, : counted.ties], (None if block.grades is None else grades), relevant, excluded


def list_room(most: int, most_excluded: int, graded: bool, element: np.dtype[Any]) -> ListRoom:
    """Working memory for lists with at most `most` relevant and `most_excluded` excluded items."""
    with_grades = most if graded else 0
    return ListRoom(
        key=np.empty((2, most), dtype=element),
        place=np.empty((2, with_grades), dtype=np.int64),
        grade=np.empty((2, with_grades)),
        excluded=np.empty(most_excluded, dtype=element),
        counts=np.empty((5, most), dtype=np.int64),
        buckets=CountRoom.of(most),
    )


def last_ties(given: GivenLists) -> IntArray:
    """The rows k, n, l, m of the items at the farthest number of each list, which may be that of an excluded item."""
    last = np.empty((4, len(given.queries)), dtype=np.int64)
    block = given.relevant(slice(0, len(given.queries)))
    end_lists(given.numbers, given.start, block, given.small_is_near, last)
    return last


@native
def count_lists(
    number: Array,
    start: IntArray,
    relevant: RelevantBlock,
    small_is_near: bool,
    room: Output[ListRoom],
    ties: Output[IntArray],
    grades: Output[FloatArray],
) -> CountedLists:
    """Write the ties with a relevant item of each list, as the rows query, k, n, l, m of `ties`."""
    # The list of query q is start[q] … start[q+1]-1. Grades, if there are any, are written tie by tie, in descending
    # order within a tie.


@native
def end_lists(
    number: Array, start: IntArray, relevant: RelevantBlock, small_is_near: bool, last: Output[IntArray]
) -> None:
    """Write to the rows of `last` k, n, l and m of the items at the farthest number of each list."""


def ties_by_function(problem: Problem, watch: Watch) -> Iterator[tuple[IntArray, Ties]]:
    """Indices of queries and their ties under a distance function, which is called in this thread."""
    target = None if problem.format is None else target_of(problem.format)
    gauge, relevance = problem.gauge(), problem.relevance
    with watch(problem.pairs) as advance:
        for span in whole_rankings(gauge, 0, relevance.at_most(), 0):
            distances = gauge.values(span, slice(0, relevance.n_items))
            queries = np.arange(span.start, span.stop)
            nearness = -distances if target is None else nearness_of(distances, target)
            radius = None if problem.noise is None else problem.noise.radius(queries, problem.noise.of_item)
            yield queries, _ties_of_scores(nearness, relevance.block(queries), radius)
            advance(distances.size)


def _ties_of_scores(nearness: FloatArray, block: RelevantBlock, radius: FloatArray | None) -> Ties:
    """The ties of a (q, n) matrix whose larger entries are nearer; each may be off by `radius` (q,), if given."""
    count, width = nearness.shape
    start = np.arange(count + 1) * width
    given = GivenLists(np.arange(count), np.ravel(nearness), start, lambda span: block_of(block, span))
    ties = ties_of_lists(given)
    return ties if radius is None else replace(ties, noise=extremes_of_lists(given, radius))


def extremes_of_lists(given: GivenLists, radius: FloatArray) -> ExtremeRankings:
    """The extreme rankings of lists each of whose numbers may be off by `radius` (q,); decided without rounding."""
    far, near = (ties_of_lists(given._replace(numbers=_shifted_numbers(given, radius, far))) for far in (True, False))
    both = (far, far.k - far.n + far.l - far.m), (near, near.k - near.n)
    return ExtremeRankings(
        *(ranking_of(np.repeat(t.query, t.m), np.repeat(others, t.m), t.n_relevant, t.n_items) for t, others in both)
    )


def _shifted_numbers(given: GivenLists, radius: FloatArray, far: bool) -> Array:
    """The numbers, with those of relevant items moved by twice the radius."""
    # Moved numbers are rounded to the type of the others, in the direction in which no comparison with a number of
    # that type changes.
    block = given.relevant(slice(0, len(given.queries)))
    length = np.diff(block.pointer)
    place = block.items[block.pointer[0] : block.pointer[-1]] + np.repeat(given.start[:-1], length)
    with np.errstate(over="ignore"):
        shift = np.repeat(2 * radius, length)
    numbers = given.numbers.copy()
    numbers[place] = moved(numbers[place], shift if far == given.small_is_near else -shift)
    return numbers


def block_of(block: RelevantBlock, span: slice) -> RelevantBlock:
    """The relevant and the excluded items of some queries of a block."""
    ends = slice(span.start, span.stop + 1)
    return block._replace(pointer=block.pointer[ends], excluded_pointer=block.excluded_pointer[ends])
