"""Where to look for a nearness among a query's thresholds: a coarse table of its keys, so that searches are short.

The span of a query's keys is cut into equal steps, one for every eight thresholds. The step of a nearness never falls
as nearness does, whatever is rounded, since each operation rounds monotonically. So keys of earlier steps are larger,
and keys of later steps smaller; only those of the same step have to be compared.
"""

import numpy as np

from tieproof.engine.structures import Thresholds
from tieproof.native.calls import native
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


@native
def fill(
    queries: IntArray, start: IntArray, stop: IntArray, key: FloatArray, guide: SmallIntArray, scale: FloatArray
) -> None:
    """For each of these queries, how many of its keys lie in earlier steps, step after step.

    A scale of 0 says that there is no table: few keys, all of them equal, or too far apart for their difference.
    """
