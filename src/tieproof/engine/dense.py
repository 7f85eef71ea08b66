"""Rankings given as numbers: each score is the exact nearness, and the same kernels count."""

from collections.abc import Callable, Iterator
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from tieproof.distances.space import Form, make_error
from tieproof.engine.counting import count_rows, limits_of, make_room
from tieproof.engine.guide import guided
from tieproof.engine.masks import masks_of
from tieproof.engine.order import by_key
from tieproof.engine.ranked import Ranked
from tieproof.engine.structures import CONTINUED, Counts, Targets, Tile, Work, room_for_items
from tieproof.errors import InputError
from tieproof.inputs.arrays import as_numbers
from tieproof.inputs.relevance import RelevantBlock, pointers
from tieproof.ties import FloatArray, IntArray, Ties

FUNCTION_ROWS, FUNCTION_COLUMNS, FUNCTION_ENTRIES = 256, 4096, 2**24
"""Largest blocks that a distance function is asked for, and distances that are kept at a time."""


def ties_of_scores(nearness: FloatArray, block: RelevantBlock) -> Ties:
    """The ties of a (q, n) matrix whose larger entries are nearer."""
    count, width = nearness.shape
    position = np.repeat(np.arange(count), np.diff(block.pointer))
    keys = nearness[position, block.items]
    order = by_key(keys, position)
    keys = keys[order]
    starts_tie = np.ones(len(keys), dtype=np.bool_)
    starts_tie[1:] = (np.diff(position) != 0) | (keys[1:] != keys[:-1])
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


def block_of_matrix(relevance: IntArray | FloatArray) -> RelevantBlock:
    """A relevance matrix (q, n) as a block: above 0 relevant, 0 not, below 0 excluded."""
    position, items = np.nonzero(relevance > 0)
    grades = relevance[position, items].astype(np.float64)
    excluded_position, excluded = np.nonzero(relevance < 0)
    return RelevantBlock(
        pointers(position, len(relevance)),
        items,
        None if (grades == 1).all() else grades,
        pointers(excluded_position, len(relevance)),
        excluded,
    )


def blocks_of_function(
    function: Callable[[Any, Any], Any], queries: Any, items: Any
) -> Iterator[tuple[slice, FloatArray]]:
    """All distances of some queries at a time, asked for in blocks whose size depends on that of the data only.

    A function may round differently in blocks of other shapes, so neither memory nor threads may choose them.
    """
    size = max(1, min(FUNCTION_ROWS, FUNCTION_ENTRIES // len(items)))
    for start in range(0, len(queries), size):
        span = slice(start, min(start + size, len(queries)))
        distances = np.empty((span.stop - start, len(items)))
        for first in range(0, len(items), FUNCTION_COLUMNS):
            columns = slice(first, min(first + FUNCTION_COLUMNS, len(items)))
            distances[:, columns] = checked_distances(function(queries[span], items[columns]), span, columns)
        yield span, distances


def checked_distances(values: Any, rows: slice, columns: slice) -> FloatArray:
    """What the distance function returned, if it is a matrix of finite numbers of the right shape."""
    distances = as_numbers(values, "distances")
    expected = (rows.stop - rows.start, columns.stop - columns.start)
    if distances.shape != expected:
        raise InputError(
            f"The distance function returned the shape {distances.shape} for {expected[0]} queries and "
            f"{expected[1]} gallery items. It must return the shape {expected}.",
            "distance",
        )
    if not np.isfinite(distances).all():
        query, item = np.argwhere(~np.isfinite(distances))[0]
        raise InputError(
            f"The distance function returned {distances[query, item]} for query {rows.start + query} and gallery "
            f"item {columns.start + item}. It must return finite numbers.",
            "distance",
        )
    if distances.dtype.kind in "iu" and (np.abs(distances.astype(np.float64)) >= 2.0**53).any():
        raise InputError(
            f"The distance function returned integers beyond 2^53 ({distances.dtype.name}), which float64 does not "
            "hold exactly. Let it return floats, or smaller integers.",
            "distance",
        )
    return distances.astype(np.float64)
