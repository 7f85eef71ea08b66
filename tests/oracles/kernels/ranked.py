"""The data that is stored for ranked items, query by query."""

import numpy as np
import numpy.typing as npt

from tieproof.engine.structures import CONTINUED

IntArray = npt.NDArray[np.int64]
SmallIntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]


def ties_of(first: IntArray, last: IntArray, gap: SmallIntArray, equal: SmallIntArray, ties: IntArray) -> int:
    """Write the ties, and return their number."""
    tie = 0
    for q in range(len(first)):
        start, stop = int(first[q]), int(last[q])
        heads = [i for i in range(start, stop) if gap[i] != CONTINUED]
        others = 0
        for i, end in zip(heads, [*heads[1:], stop], strict=False):
            others += int(gap[i])
            ties[:, tie] = (q, others + i - start, i - start, int(equal[i]) + end - i, end - i)
            tie += 1
    return tie


def fill_guides(
    queries: IntArray, start: IntArray, stop: IntArray, key: FloatArray, guide: SmallIntArray, scale: FloatArray
) -> None:
    """For each of these queries and each step, the number of its keys in earlier steps."""
    for q in queries.tolist():
        steps = int(stop[q] - start[q]) // 8
        scale[q] = 0.0
        if steps < 2:
            continue
        keys = key[start[q] : stop[q]]
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            extent = keys[0] - keys[-1]
            per_step = steps / extent
            if not 0.0 < extent < np.inf or not per_step < np.inf:
                continue
            step = np.minimum(np.maximum((keys[0] - keys) * per_step, 0.0), steps - 1).astype(np.int64)
        scale[q] = per_step
        table = int(start[q]) // 8 + q
        for place in range(1, steps):
            guide[table + place] = np.count_nonzero(step < place)
