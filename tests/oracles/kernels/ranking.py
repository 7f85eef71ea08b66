"""Relevant items as thresholds: the pairs, their order, and the entries that are written, query by query."""

import math
from collections import Counter
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.engine.structures import CONTINUED
from tieproof.inputs.relevance import RelevantBlock

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

NARROW, SAFETY, ARITHMETIC = 1 + 2.0**-40, 1 + 2.0**-20, 2.0**-51


class PairedLists(NamedTuple):
    """The items that queries rank and leave out.

    pairs : (query, item, relevant, others)
    of_item : the pair of each relevant item
    partial : (query, item, weight, first, last)
    masked : the distinct items that each query leaves out of the count
    """

    pairs: list[tuple[int, ...]]
    of_item: list[int]
    partial: list[tuple[int, ...]]
    masked: list[list[int]]


def pair_up(block: RelevantBlock, identity: IntArray, weight: IntArray) -> PairedLists:
    """The distinct relevant and excluded items of each query."""
    found = PairedLists([], [], [], [])
    for q in range(len(block.pointer) - 1):
        own = identity[block.items[block.pointer[q] : block.pointer[q + 1]]].tolist()
        out = identity[block.excluded[block.excluded_pointer[q] : block.excluded_pointer[q + 1]]].tolist()
        relevant, excluded = Counter(own), Counter(out)
        place = {}
        for item in sorted(relevant):
            place[item] = len(found.pairs)
            found.pairs.append((q, item, relevant[item], int(weight[item]) - relevant[item] - excluded[item]))
        found.of_item.extend(place[item] for item in own)
        for item in sorted(set(excluded) - set(relevant)):
            rest = int(weight[item]) - excluded[item]
            if rest and own:
                found.partial.append((q, item, rest, 0, len(own)))
        found.masked.append(sorted({*relevant, *excluded}))
    return found


def starts_of_ties(falling: list[float], errors: list[float]) -> tuple[list[bool], bool]:
    """Where a key cannot be equal to the one before, and whether an item in a tie of several has an error."""
    reach = 2 * NARROW * max(errors)
    starts = [True] + [not a - b <= reach for a, b in pairwise(falling)]
    bounds = [*np.flatnonzero(starts).tolist(), len(falling)]
    runs = [errors[a:b] for a, b in pairwise(bounds)]
    return starts, any(len(run) > 1 and max(run) > 0 for run in runs)


def entries_of(
    keys: list[float], errors: list[float], starts_tie: list[bool], pairs: list[tuple[int, ...]]
) -> tuple[list[tuple[float, int, int, int]], float]:
    """(key, gap, equal, item) of each relevant item of a query, in the order of its pairs, and their reach."""
    bounds = [*np.flatnonzero(starts_tie).tolist(), len(pairs)]
    ties = [range(a, b) for a, b in pairwise(bounds)]
    low = [max(keys[i] - errors[i] for i in tie) for tie in ties]
    high = [min(keys[i] + errors[i] for i in tie) for tie in ties]
    high = [min(high[: t + 1]) for t in range(len(ties))]
    low = [max(low[t:]) for t in range(len(ties))]
    centers, halves = [], []
    for a, b in zip(low, high, strict=True):
        finite = math.isfinite(a) and math.isfinite(b)
        centers.append(a + (b - a) / 2 if finite else 0.0)
        halves.append((b - a) / 2 if finite else math.inf)
    widest = max(halves, default=0.0)
    reach = widest * SAFETY + ARITHMETIC * max(map(abs, centers)) if widest > 0 else 0.0
    entries, before = [], 0
    for tie, center in zip(ties, centers, strict=True):
        items = [pairs[i][1] for i in tie for _ in range(pairs[i][2])]
        others = sum(pairs[i][3] for i in tie)
        key = 0.0 if widest == math.inf else center
        for place, item in enumerate(items):
            entries.append((key, CONTINUED if place else before, 0 if place else others, item))
        before = others
    return entries, reach
