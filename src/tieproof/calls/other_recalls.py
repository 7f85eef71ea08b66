"""The recalls of other benchmarks for the same lists, computed exactly as these benchmarks do.

Each recall is a share of k for each query, in the type of the given numbers, as NumPy 2 adds and compares them.
"""

from typing import NamedTuple

import numpy as np

from tieproof.inputs.recall_lists import PADDING, FoundLists, TrueLists
from tieproof.ties import Array, FloatArray

NEAR = 1e-6
"""Two distances of a truth that differ by less than this are a tie for big-ann-benchmarks."""


class Slack(NamedTuple):
    """How much farther than the k-th nearest item a found item may be in ann-benchmarks."""

    added: float
    factor: float


ANN_BENCHMARKS = {
    "ann-benchmarks k-nn": Slack(1e-3, 1.0),
    "ann-benchmarks epsilon": Slack(0.0, 1 + 0.01),
    "ann-benchmarks largeepsilon": Slack(0.0, 1 + 0.1),
}
BIG_ANN = "big-ann k-nn"


def other_recalls(found: FoundLists, truth: TrueLists, k: int, among: int) -> dict[str, FloatArray]:
    """Return the recalls of each query, by name; those of ann-benchmarks only for increasing distances."""
    counts = {}
    with np.errstate(over="ignore"):  # an overflow gives infinity, which compares correctly
        if found.distances is not None and truth.small_is_near:
            last = truth.distances[:, k - 1]
            for name, slack in ANN_BENCHMARKS.items():
                limit = last + slack.added if slack.added else last * slack.factor
                counts[name] = within(found.distances[:, :k], limit)
        counts[BIG_ANN] = in_extended_truth(found.ids[:, :among], truth, k)
    return {name: count / k for name, count in counts.items()}


def within(distances: Array, limit: Array) -> Array:
    """Count the found items of each query whose reported distance is at most a limit.

    This is the recall of ann-benchmarks (ann_benchmarks/plotting/metrics.py, 2025), and of VIBE, which has only the
    first limit. The ids are ignored.
    """
    return np.asarray((distances <= limit[:, None]).sum(axis=1))


def in_extended_truth(ids: Array, truth: TrueLists, k: int) -> Array:
    """Count the different found items of each query among the first k of the truth, or tied with its k-th item.

    This is the recall of big-ann-benchmarks (benchmark/plotting/metrics.py, 2025; pull requests 59 and 74): items
    after the k-th count, too, as long as their distances differ from that of the k-th by less than 1e-6.
    """
    close = np.abs(truth.distances[:, k - 1 : k] - truth.distances[:, k:]) < NEAR
    extended = np.ones(truth.ids.shape, dtype=np.bool_)
    extended[:, k:] = np.logical_and.accumulate(close, axis=1)
    return np.array(
        [
            len(set(true[kept].tolist()) & (set(items.tolist()) - {PADDING}))
            for items, true, kept in zip(ids, truth.ids, extended, strict=True)
        ]
    )
