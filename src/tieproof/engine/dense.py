"""Rankings given as numbers: each score is the exact nearness, and the same kernels count."""

from collections.abc import Iterator
from threading import Lock

import numpy as np
import numpy.typing as npt

from tieproof.distances.space import Form, make_error
from tieproof.engine.counting import count_rows, limits_of, make_room
from tieproof.engine.guide import guided
from tieproof.engine.masks import masks_of
from tieproof.engine.order import by_key
from tieproof.engine.ranked import Ranked
from tieproof.engine.stripes import stripes
from tieproof.engine.structures import CONTINUED, Counts, Targets, Tile, Work, room_for_items
from tieproof.inputs.relevance import RelevantBlock
from tieproof.problem import GivenMatrix, Problem, Watch
from tieproof.ties import FloatArray, IntArray, Ties


def ties_of_matrix(given: GivenMatrix) -> Iterator[tuple[IntArray, Ties]]:
    """The ties of given rankings, as one part."""
    yield given.queries, ties_of_scores(given.nearness, given.relevant)


def ties_by_function(problem: Problem, watch: Watch) -> Iterator[tuple[IntArray, Ties]]:
    """Indices of queries and their ties under a function's distances, which are asked for in this thread."""
    gauge, relevance = problem.gauge(), problem.relevance
    with watch(problem.pairs) as advance:
        for span in stripes(gauge, 0, relevance.at_most(), 0):
            distances = gauge.values(span, slice(0, relevance.n_items))
            queries = np.arange(span.start, span.stop)
            yield queries, ties_of_scores(-distances, relevance.block(queries))
            advance(distances.size)


def ties_of_scores(nearness: FloatArray, block: RelevantBlock) -> Ties:
    """The ties of a (q, n) matrix whose larger entries are nearer."""
    count, width = nearness.shape
    lengths = block.pointer[1:] - block.pointer[:-1]
    position = np.repeat(np.arange(count), lengths)
    keys = nearness[position, block.items]
    order = by_key(keys, position, block.pointer[:-1][lengths > 0])
    keys = keys[order]
    starts_tie = np.ones(len(keys), dtype=np.bool_)
    starts_tie[1:] = (position[1:] != position[:-1]) | (keys[1:] != keys[:-1])
    excluded = np.repeat(np.arange(count), np.diff(block.excluded_pointer)) * width + block.excluded
    masked = np.sort(np.concatenate([position * width + block.items, excluded]))
    grades = block.grades
    if grades is not None:
        tie = np.cumsum(starts_tie) - 1
        grades = grades[order][np.lexsort((-grades[order], tie))]
    exactly = np.zeros(count)
    ranked = Ranked(
        targets=Targets(np.arange(count), *masks_of(masked // width, masked % width, count)),
        thresholds=guided(block.pointer[:-1], block.pointer[1:], keys, exactly, exactly),
        counts=Counts(np.where(starts_tie, 0, CONTINUED).astype(np.int32), np.zeros(len(keys), dtype=np.int32)),
        grades=grades,
        partial=room_for_items(0),
        n_items=width - np.diff(block.excluded_pointer),
        item=block.items[order].astype(np.int32),
        known=np.ones(count, dtype=np.bool_),
        find_items=lambda queries: None,
    )
    count_matrix(nearness, ranked)
    return ranked.ties()


def count_matrix(nearness: npt.NDArray[np.float64], ranked: Ranked) -> None:
    """Count a whole matrix; exact numbers leave nothing undecided."""
    count, width = nearness.shape
    ones = np.ones(width)
    form = Form(ones, np.zeros(width), ones, False, False, np.ones(width, dtype=np.int32))
    error = make_error(slice(0, count), slice(0, width))
    room = make_room(width, count, ranked.thresholds, np.float64)
    limits = limits_of(ranked.thresholds, form.ratio, np.float64)
    work = Work(ranked.targets, ranked.thresholds, limits, ranked.counts, room_for_items(len(room.listed.query)))
    undecided = list(count_rows(Tile(nearness, form, 0, 0), error, work, 0, count, room, Lock()))
    assert not undecided
