"""fnmr@fmr of open-metric-learning: false non-matches over all pairs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import FloatTensor

from tieproof.compat.oml.retrieval_results import RetrievalResults, correct_of
from tieproof.compat.oml.split import Split
from tieproof.compat.ties import TieChoice, check_ties, choose
from tieproof.inputs.arrays import as_array
from tieproof.rates.fnmr import fnmr_at_fmr_of_distances
from tieproof.rates.result import ErrorRates


def calc_fnmr_at_fmr(pos_dist: Any, neg_dist: Any, fmr_vals: tuple[float, ...] = (0.1,)) -> FloatTensor:
    """The share of relevant pairs at or beyond the quantiles `fmr_vals` of the other pairs' distances.

    Parameters
    ----------
    pos_dist, neg_dist : distances of relevant and of other pairs
    fmr_vals : false match rates from 0 to 1

    Returns
    -------
    tensor
        A rate for each of `fmr_vals`. By this definition a relevant pair at exactly the threshold is not a match, so
        ties do not change the rate; `tieproof.fnmr_at_fmr(method="exact")` returns an interval.

    Examples
    --------
    >>> pos_dist = np.array([0, 0, 1, 1, 2, 2, 5, 5, 9, 9])
    >>> neg_dist = np.array([3, 3, 4, 4, 6, 6, 7, 7, 8, 8])
    >>> calc_fnmr_at_fmr(pos_dist, neg_dist, fmr_vals=(0.1, 0.5))
    tensor([0.4000, 0.2000])

    """
    rates = fnmr_at_fmr_of_distances(pos_dist, neg_dist, fmr=fmr_vals)
    return torch.tensor([point.fnmr.upper for point in rates.points])


def calc_fnmr_at_fmr_rr(
    rr: RetrievalResults, fmr_vals: tuple[float, ...] = (0.1,), ties: TieChoice = "lower"
) -> dict[str, Any]:
    """The false non-match rate at false match rates, over all (query, item) pairs that retrieval results list.

    Parameters
    ----------
    rr : retrieval results with known relevant items
        If they were made from embeddings and list all items, the exact distances are rounded to float64 and then
        compared; otherwise the distances of the lists are used.
    fmr_vals : as in `calc_fnmr_at_fmr`; an empty tuple returns an empty dictionary
    ties : "lower", "expected", "upper" or "interval"
        By this definition the three values are equal; "interval" returns an `Estimate`.

    Returns
    -------
    dict
        {"fnmr@fmr": {fmr: tensor}}

    Examples
    --------
    >>> from torch import tensor
    >>> rr = RetrievalResults([tensor([0.5, 0.6, 0.9])], [tensor([2, 0, 1])], gt_ids=[tensor([2, 1])])
    >>> calc_fnmr_at_fmr_rr(rr)
    {'fnmr@fmr': {0.1: tensor(0.5000)}}

    """
    check_ties(ties)
    if not fmr_vals:
        return {}
    points = rates_of(rr, fmr_vals, progress=False).points
    values = [choose(point.fnmr, ties, torch.tensor) for point in points]
    return {"fnmr@fmr": dict(zip(fmr_vals, values, strict=True))}


def rates_of(rr: Any, fmr_vals: Sequence[float], progress: bool) -> ErrorRates:
    """The error rates of retrieval results."""
    split: Split | None = getattr(rr, "split", None)
    if split is not None and split.labels is not None and (split.ranked <= rr.n_items).all():
        return split.fnmr_at_fmr(tuple(fmr_vals), progress)
    correct, _ = correct_of(rr)
    distances = np.concatenate([as_array(row, "distances") for row in rr.distances])
    relevant = np.concatenate(correct)
    return fnmr_at_fmr_of_distances(distances[relevant], distances[~relevant], fmr=fmr_vals)
