"""The area under the ROC curve of a ranking, of its first items, or up to a false positive rate."""

from dataclasses import astuple
from math import fsum, sqrt
from typing import Any

import numpy as np

from tieproof import Estimate
from tieproof.compat.torchmetrics.base import CutOffMetric, EmptyTargetAction
from tieproof.errors import InputError
from tieproof.kit import Array, IntArray


class RetrievalAUROC(CutOffMetric):
    """The area under the ROC curve of each query; 0 if all items are relevant, or none is.

    top_k : the area of the first k items alone, as if nothing else had been ranked
    max_fpr : the area up to this false positive rate, above 0 and at most 1, standardized by McClish (1989) so that a
        random ranking has 0.5 and a perfect one 1

    >>> from torch import tensor
    >>> metric = RetrievalAUROC(top_k=3, ties="interval")
    >>> metric.update(tensor([0.5, 0.4, 0.3, 0.3]), tensor([0, 1, 1, 0]), indexes=tensor([0, 0, 0, 0]))
    >>> metric.compute()
    {'lower': tensor(0.), 'expected': tensor(0.2500), 'upper': tensor(0.5000), 'std': tensor(0.2500)}
    """

    whole = cut = "AUC"  # of a part of a ranking it is computed here

    def __init__(
        self,
        empty_target_action: EmptyTargetAction = "neg",
        ignore_index: int | None = None,
        top_k: int | None = None,
        max_fpr: float | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(empty_target_action, ignore_index, top_k, **kwargs)
        number = isinstance(max_fpr, int | float) and not isinstance(max_fpr, bool)
        if max_fpr is not None and not (number and 0 < max_fpr <= 1):
            raise InputError(f"max_fpr must be a number above 0 and at most 1, or None, not {max_fpr!r}.", "max_fpr")
        self.max_fpr = max_fpr

    def measured(self, scores: Array, relevance: Array, longest: int) -> Array:
        """The area of each query, 0 if all its items are relevant."""
        length = scores.shape[1]
        top_k, max_fpr = min(self.top_k or length, length), self.max_fpr or 1.0
        if top_k < length or max_fpr < 1:
            rows = zip(scores, relevance > 0, strict=True)
            return np.array([astuple(area_of(*row, top_k, max_fpr)) for row in rows]).T[:, :, None]
        values = super().measured(scores, relevance, longest)
        values[:, (relevance > 0).all(axis=1)] = 0.0
        return values


def area_of(scores: Array, relevant: Array, top_k: int, max_fpr: float) -> Estimate[float]:
    """The standardized area up to `max_fpr` of the first `top_k` items of a ranking, over all orderings of its ties.

    The first items end in a tie, of which some items still fit. How many of these are relevant has a hypergeometric
    distribution. For each such number, the numbers of relevant and of other items are fixed, and the orders within
    the ties are independent of one another.
    """
    _, tie = np.unique(scores, return_inverse=True)
    sizes = np.bincount(tie)[::-1]
    hits = np.bincount(tie[relevant], minlength=len(sizes))[::-1]
    ends = np.cumsum(sizes)
    last = int(np.searchsorted(ends, top_k))  # the tie in which the first items end
    size, hit, fit = int(sizes[last]), int(hits[last]), int(top_k - ends[last] + sizes[last])
    counts, others = range(max(0, fit - size + hit), min(fit, hit) + 1), (sizes - hits)[:last]
    found = [_within_ties(np.append(hits[:last], h), np.append(others, fit - h), max_fpr) for h in counts]
    chances = _hypergeometric(size, hit, fit, counts)
    expected = fsum(chance * area.expected for chance, area in zip(chances, found, strict=True))
    variance = fsum(
        chance * (area.std * area.std + (area.expected - expected) * (area.expected - expected))
        for chance, area in zip(chances, found, strict=True)
    )
    return Estimate(min(area.lower for area in found), expected, max(area.upper for area in found), sqrt(variance))


def _within_ties(m: IntArray, e: IntArray, max_fpr: float) -> Estimate[float]:
    """The standardized area over all orderings within ties of m relevant and e other items each, nearest first.

    The area is the sum over the other items of the relevant items before each one, where the last steps count as far
    as they lie below `max_fpr`. The worst order of a tie puts the others first, the best one the relevant items. How
    many relevant items are before the j-th of e other ones is beta-binomial: the mean is m j / (e + 1), and for the
    i-th and the j-th, i ≤ j, the covariance is m (m + e + 1) i (e + 1 - j) / ((e + 1)² (e + 2)).
    """
    p, q = int(m.sum()), int(e.sum())
    if not p or not q:
        return Estimate(0.0, 0.0, 0.0, 0.0)
    nearer, start = np.cumsum(m) - m, np.cumsum(e) - e
    steps = np.clip(max_fpr * q - start, 0.0, e)
    whole = np.floor(steps)
    part, after = steps - whole, e - whole  # of the next step, and the steps that are not whole
    before = whole * (whole + 1) / 2
    mean = nearer * steps + m * (before + part * (whole + 1)) / (e + 1)
    products = (e + 1) * before * (2 * whole + 1) / 3 - before * before  # sum of i (e + 1 - j) over all whole steps
    products += part * after * (part * (whole + 1) + 2 * before)
    variance = m * (m + e + 1) * products / ((e + 1.0) * (e + 1.0) * (e + 2.0))
    scale, chance = float(p) * q, max_fpr * (1 - max_fpr)
    most = max_fpr * (2 - max_fpr)
    lower, expected, upper = (
        (fsum(areas.tolist()) / scale + chance) / most for areas in (nearer * steps, mean, (nearer + m) * steps)
    )
    return Estimate(lower, expected, upper, sqrt(fsum(variance.tolist())) / scale / most)


def _hypergeometric(size: int, hit: int, fit: int, counts: range) -> list[float]:
    """The probability of each number of relevant items among `fit` of `size` items, of which `hit` are relevant."""
    likeliest = min(max((fit + 1) * (hit + 1) // (size + 2), counts[0]), counts[-1])
    weights = {likeliest: 1.0}
    for h in range(likeliest, counts[-1]):
        weights[h + 1] = weights[h] * ((hit - h) * (fit - h)) / ((h + 1) * (size - hit - fit + h + 1))
    for h in range(likeliest, counts[0], -1):
        weights[h - 1] = weights[h] * (h * (size - hit - fit + h)) / ((hit - h + 1) * (fit - h + 1))
    total = fsum(weights.values())
    return [weights[h] / total for h in counts]
