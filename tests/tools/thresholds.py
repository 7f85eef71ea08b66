"""Thresholds with their guides, and masks, from numbers that a test chooses."""

import numpy as np
import numpy.typing as npt

from tieproof.engine.ranked import fill_guides, room_for_guides
from tieproof.engine.ranking import runs_of
from tieproof.engine.structures import Targets, Thresholds

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


def guided(start: IntArray, stop: IntArray, key: FloatArray, reach: FloatArray, margin: FloatArray) -> Thresholds:
    """Thresholds with their guides."""
    guide, scale = room_for_guides(len(key), len(start))
    fill_guides(np.arange(len(start)), start, stop, key, guide, scale)
    return Thresholds(start, stop, key, reach, margin, guide, scale)


def masks_of(query: IntArray, item: IntArray, count: int) -> Targets:
    """The masks of `count` queries, from pairs (query, item) in ascending order."""
    runs = [runs_of(item[query == q]) for q in range(count)]
    last = np.cumsum([len(some) for some in runs])
    return Targets(np.arange(count), last - np.array([len(some) for some in runs]), last, np.concatenate(runs))
