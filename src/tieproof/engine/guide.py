"""Where to look for a nearness among a query's thresholds: a coarse table of its keys, so that searches are short.

The span of a query's keys is cut into equal steps, one for every eight thresholds. The step of a nearness never falls
as nearness does, whatever is rounded, since each operation rounds monotonically. So keys of earlier steps are larger,
and keys of later steps smaller; only those of the same step have to be compared.
"""

import numpy as np

from tieproof.engine.structures import Int, Thresholds
from tieproof.native.compiled import kernel, part
from tieproof.ties import FloatArray, IntArray, SmallIntArray

KEYS = 8
"""Thresholds for each step, about (measured)."""


def room(keys: int, queries: int) -> tuple[SmallIntArray, FloatArray]:
    """Tables for so many keys of so many queries, still empty."""
    return np.zeros(keys // KEYS + queries, dtype=np.int32), np.zeros(queries)


def guided(start: IntArray, stop: IntArray, key: FloatArray, reach: FloatArray, margin: FloatArray) -> Thresholds:
    """Thresholds with their tables."""
    guide, scale = room(len(key), len(start))
    fill(np.arange(len(start)), start, stop, key, guide, scale)
    return Thresholds(start, stop, key, reach, margin, guide, scale)


@part
def place_of(start: Int, query: Int) -> Int:
    """Where the table of a query begins, whose keys begin at `start`."""
    return start // KEYS + query


@part
def steps_of(start: Int, stop: Int) -> Int:
    """How many steps a query has whose keys are start … stop-1."""
    return (stop - start) // KEYS


@part
def step_of(nearness: float, top: float, scale: float, steps: Int) -> Int:
    """The step of a nearness, 0 … steps-1, from that of the nearest key."""
    step, last = (top - nearness) * scale, np.float64(steps - 1)
    step = step if step > 0.0 else 0.0
    return np.int64(step if step < last else last)


@kernel
def fill(
    queries: IntArray, start: IntArray, stop: IntArray, key: FloatArray, guide: SmallIntArray, scale: FloatArray
) -> None:
    """For each of these queries, how many of its keys lie in earlier steps, step after step.

    A scale of 0 says that there is no table: few keys, all of them equal, or too far apart for their difference.
    """
    for q in queries:
        steps = steps_of(start[q], stop[q])
        scale[q] = 0.0
        if steps < 2:
            continue
        top = key[start[q]]
        extent = top - key[stop[q] - 1]
        if not 0.0 < extent < np.inf or not steps / extent < np.inf:
            continue
        scale[q] = steps / extent
        table = guide[place_of(start[q], q) :]
        reached = 0
        for i in range(start[q], stop[q]):
            step = step_of(key[i], top, scale[q], steps)
            while reached < step:
                reached += 1
                table[reached] = i - start[q]
