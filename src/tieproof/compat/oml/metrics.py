"""The metrics of open-metric-learning as functions: of rankings, of pairs (fnmr@fmr) and of embeddings (pcf)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import BoolTensor, FloatTensor, LongTensor

from tieproof import ErrorRates, Estimate, fnmr_at_fmr_of_distances
from tieproof.compat.oml.dataset import OVERALL, Split
from tieproof.compat.oml.rankings import check_queries, correct_of, evaluate_at, of_lists, shares_of
from tieproof.compat.oml.retrieval_results import RetrievalResults, correct_of_results, rankings_of
from tieproof.compat.ties import TieChoice, check_ties, choose
from tieproof.errors import InputError
from tieproof.kit import FloatArray, as_array, as_labels, of_queries, over_queries

_AS_GIVEN = "expected"  # the bound for lists without distances: nothing is tied, so all bounds are equal

PerQuery = Mapping[str, Mapping[int, Estimate[FloatArray]]]


def calc_cmc(
    gt_tops: Sequence[BoolTensor], n_gts: Sequence[int], top_k: tuple[int, ...], verbose: bool = False
) -> list[FloatTensor]:
    """Cumulative matching characteristics: whether a relevant item is among the first k, for each query.

    Parameters
    ----------
    gt_tops : for each query, whether each item of its list is relevant
        The order of the list is taken as given, because ties are unknown without distances.
    n_gts : the number of relevant items of each query, in its list or not
    top_k : cutoffs; a shorter list is cut at its end
    verbose : accepted; lists are evaluated too fast for a progress bar

    Returns
    -------
    A tensor (n_query,) for each cutoff. An empty list scores 1 if nothing is relevant, else 0.

    Examples
    --------
    >>> from torch import BoolTensor
    >>> gt_tops = [BoolTensor([1, 0]), BoolTensor([0, 1, 1]), BoolTensor([0, 0]), BoolTensor([])]
    >>> calc_cmc(gt_tops, n_gts=[2, 2, 1, 0], top_k=(1, 2))
    [tensor([1., 0., 0., 1.]), tensor([1., 1., 0., 1.])]

    """
    return _of_tops("cmc", gt_tops, n_gts, top_k)


def calc_precision(
    gt_tops: Sequence[BoolTensor], n_gts: Sequence[int], top_k: tuple[int, ...], verbose: bool = False
) -> list[FloatTensor]:
    """Relevant items among the first k, divided by the smaller of k and the number of relevant items, for each query.

    Parameters and result as in `calc_cmc`. tieproof calls this measure `RelP@k`; the usual precision divides by k.

    Examples
    --------
    >>> from torch import BoolTensor
    >>> gt_tops = [BoolTensor([1, 0]), BoolTensor([0, 1, 1]), BoolTensor([0, 0]), BoolTensor([])]
    >>> calc_precision(gt_tops, n_gts=[2, 3, 5, 2], top_k=(1, 2))
    [tensor([1., 0., 0., 0.]), tensor([0.5000, 0.5000, 0.0000, 0.0000])]

    """
    return _of_tops("precision", gt_tops, n_gts, top_k)


def calc_map(
    gt_tops: Sequence[BoolTensor], n_gts: Sequence[int], top_k: tuple[int, ...], verbose: bool = False
) -> list[FloatTensor]:
    """The mean of the precisions at the relevant items among the first k, for each query; 0 if there is none.

    Parameters and result as in `calc_cmc`. tieproof calls this measure `AP(norm=hits)@k`; the usual average precision
    divides by the number of all relevant items.

    Examples
    --------
    >>> from torch import BoolTensor
    >>> gt_tops = [BoolTensor([1, 0]), BoolTensor([0, 1]), BoolTensor([0, 0, 0, 0]), BoolTensor([])]
    >>> calc_map(gt_tops, n_gts=[1, 1, 2, 0], top_k=(1, 2))
    [tensor([1., 0., 0., 1.]), tensor([1.0000, 0.5000, 0.0000, 1.0000])]

    """
    return _of_tops("map", gt_tops, n_gts, top_k)


def _of_tops(
    name: str, gt_tops: Sequence[BoolTensor], n_gts: Sequence[int], top_k: tuple[int, ...]
) -> list[FloatTensor]:
    if not top_k:
        raise InputError("top_k is empty. Pass at least one cutoff, such as (5,).")
    check_queries(gt_tops, "gt_tops", n_gts, "n_gts")
    correct = [as_array(row, "gt_tops").astype(np.bool_) for row in gt_tops]
    values = evaluate_at(of_lists(correct, [int(n) for n in n_gts]), {name: top_k})[name]
    return [choose(values[k], _AS_GIVEN, _as_tensor) for k in top_k]


def calc_retrieval_metrics(
    retrieved_ids: Sequence[LongTensor],
    gt_ids: Sequence[LongTensor],
    query_categories: Any = None,
    cmc_top_k: tuple[int, ...] = (5,),
    precision_top_k: tuple[int, ...] = (5,),
    map_top_k: tuple[int, ...] = (5,),
    reduce: bool = True,
    verbose: bool = True,
) -> dict[Any, Any]:
    """All metrics of lists of ids.

    Parameters
    ----------
    retrieved_ids : for each query, the ids of the nearest gallery items
        Their order is taken as given, because ties are unknown without distances.
    gt_ids : for each query, the ids of the relevant gallery items
    query_categories : (n_query,) integers or strings
    cmc_top_k, precision_top_k, map_top_k : cutoffs; a shorter list is cut at its end
    reduce : return means over the queries; with False, one value for each query
    verbose : accepted; lists are evaluated too fast for a progress bar

    Returns
    -------
    dict
        {"cmc": {k: tensor}, "precision": {k: tensor}, "map": {k: tensor}}, without metrics that have no cutoff. With
        categories, {"OVERALL": this dictionary, category: the dictionary of its queries, …}.

    Examples
    --------
    >>> from torch import LongTensor as ids
    >>> calc_retrieval_metrics([ids([3, 1]), ids([0, 2])], [ids([1]), ids([0, 2])], cmc_top_k=(1,), map_top_k=(2,))
    {'cmc': {1: tensor(0.5000)}, 'precision': {5: tensor(1.)}, 'map': {2: tensor(0.7500)}}

    """
    wanted = {"cmc": cmc_top_k, "precision": precision_top_k, "map": map_top_k}
    check_queries(retrieved_ids, "retrieved_ids", gt_ids, "gt_ids")
    values = evaluate_at(of_lists(*correct_of(retrieved_ids, gt_ids)), wanted)
    return as_metrics(values, query_categories, reduce, _AS_GIVEN)


def calc_retrieval_metrics_rr(
    rr: RetrievalResults,
    query_categories: Any = None,
    cmc_top_k: tuple[int, ...] = (5,),
    precision_top_k: tuple[int, ...] = (5,),
    map_top_k: tuple[int, ...] = (5,),
    reduce: bool = True,
    verbose: bool = True,
    ties: TieChoice = "lower",
) -> dict[Any, Any]:
    """All metrics of retrieval results, with ties by distance.

    Parameters
    ----------
    rr : retrieval results with known relevant items
        In results made from embeddings, ties are exact and include items that are not listed. In results made from
        lists, equal distances are ties, and items that are not listed are farther away than all listed ones.
    query_categories, cmc_top_k, precision_top_k, map_top_k, reduce :
        As in `calc_retrieval_metrics`.
    verbose : show a progress bar if the computation takes longer than two seconds
    ties : "lower", "expected", "upper" or "interval"
        The value over all orderings of tied items that is returned; "interval" returns an `Estimate` of tensors.

    Returns
    -------
    The dictionary of `calc_retrieval_metrics`.

    Examples
    --------
    >>> from torch import tensor
    >>> rr = RetrievalResults([tensor([0.5, 0.5, 0.9])], [tensor([2, 0, 1])], [tensor([2])])
    >>> calc_retrieval_metrics_rr(rr, cmc_top_k=(1, 2), precision_top_k=(), map_top_k=())
    {'cmc': {1: tensor(0.), 2: tensor(1.)}}
    >>> calc_retrieval_metrics_rr(rr, cmc_top_k=(), precision_top_k=(), map_top_k=(2,), ties="interval")["map"][2]
    Estimate(lower=tensor(0.5000), expected=tensor(0.7500), upper=tensor(1.), std=tensor(0.2500))

    """
    check_ties(ties)
    wanted = {"cmc": cmc_top_k, "precision": precision_top_k, "map": map_top_k}
    return as_metrics(evaluate_at(rankings_of(rr, verbose), wanted), query_categories, reduce, ties)


def as_metrics(values: PerQuery, categories: Any, reduce: bool, ties: str) -> dict[Any, Any]:
    """The values of every query as the dictionary of tensors that the library returns."""

    def converted(value: Estimate[FloatArray]) -> Any:
        return choose(over_queries(value), ties, torch.tensor) if reduce else choose(value, ties, _as_tensor)

    def of(chosen: Any) -> dict[str, dict[int, Any]]:
        return {
            name: {k: converted(of_queries(value, chosen)) for k, value in at.items()} for name, at in values.items()
        }

    everything = of(slice(None))
    if categories is None:
        return everything
    count = len(next(iter(next(iter(values.values())).values())).lower) if values else len(categories)
    own = as_labels(categories, count, "query_categories", "queries", columns=False)
    return {OVERALL: everything} | {name: of(own == name) for name in dict.fromkeys(own.tolist())}


def _as_tensor(values: FloatArray) -> FloatTensor:
    """The values of every query as a tensor of float32, as the library returns them."""
    return torch.tensor(values, dtype=torch.float32)


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
    for name, distances in (("pos_dist", pos_dist), ("neg_dist", neg_dist)):
        if not len(distances):
            raise InputError(f"{name} is empty, so there is no rate. Pass the distances of at least one pair.")
    rates = fnmr_at_fmr_of_distances(pos_dist, neg_dist, fmr=shares_of(fmr_vals, "fmr_vals"))
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
    return by_fmr(rates_of(rr, fmr_vals, progress=False), fmr_vals, ties) if fmr_vals else {}


def by_fmr(rates: ErrorRates, fmr_vals: Sequence[float], ties: str) -> dict[str, Any]:
    """The error rates as the dictionary of tensors that the library returns."""
    values = [choose(point.fnmr, ties, torch.tensor) for point in rates.points]
    return {"fnmr@fmr": dict(zip(fmr_vals, values, strict=True))}


def rates_of(rr: Any, fmr_vals: Sequence[float], progress: bool) -> ErrorRates:
    """The error rates of retrieval results."""
    fmr_vals = shares_of(fmr_vals, "fmr_vals")
    split: Split | None = getattr(rr, "split", None)
    if split is not None and split.labels is not None and (split.ranked <= rr.n_items).all():
        return split.fnmr_at_fmr(fmr_vals, progress)
    correct, _ = correct_of_results(rr)
    distances = np.concatenate([as_array(row, "distances") for row in rr.distances])
    relevant = np.concatenate(correct)
    return fnmr_at_fmr_of_distances(distances[relevant], distances[~relevant], fmr=fmr_vals)
