"""cmc, precision and map of open-metric-learning, at cutoffs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import BoolTensor, FloatTensor, LongTensor

from tieproof.compat.oml.dataset import OVERALL
from tieproof.compat.oml.rankings import Rankings, as_ids, evaluate_at, of_lists
from tieproof.compat.oml.retrieval_results import RetrievalResults, rankings_of
from tieproof.compat.ties import TieChoice, check_ties, choose, over_queries
from tieproof.errors import InputError
from tieproof.inputs.arrays import as_array
from tieproof.inputs.labels import as_labels
from tieproof.ties import Estimate, FloatArray

AS_GIVEN = "expected"
"""The bound for lists without distances: nothing is tied, so all bounds are equal."""

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
    return of_tops("cmc", gt_tops, n_gts, top_k)


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
    return of_tops("precision", gt_tops, n_gts, top_k)


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
    return of_tops("map", gt_tops, n_gts, top_k)


def of_tops(
    name: str, gt_tops: Sequence[BoolTensor], n_gts: Sequence[int], top_k: tuple[int, ...]
) -> list[FloatTensor]:
    """One metric of lists, at every cutoff."""
    if not top_k:
        raise InputError("top_k is empty. Pass at least one cutoff, such as (5,).")
    correct = [as_array(row, "gt_tops").astype(np.bool_) for row in gt_tops]
    values = evaluate_at(of_lists(correct, [int(n) for n in n_gts]), {name: top_k})[name]
    return [choose(values[k], AS_GIVEN, as_tensor) for k in top_k]


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
    rankings = of_ids(retrieved_ids, gt_ids)
    return as_metrics(evaluate_all(rankings, wanted), query_categories, reduce, AS_GIVEN)


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
    return as_metrics(evaluate_all(rankings_of(rr, verbose), wanted), query_categories, reduce, ties)


def of_ids(retrieved_ids: Sequence[Any], gt_ids: Sequence[Any]) -> Rankings:
    """Rankings from lists of ids, in the order given."""
    if len(retrieved_ids) != len(gt_ids):
        raise InputError(
            f"The number of queries is {len(retrieved_ids)} for retrieved_ids, but {len(gt_ids)} for gt_ids: pass "
            "both for each query."
        )
    relevant = as_ids(gt_ids, "gt_ids")
    correct = [np.isin(row, own) for row, own in zip(as_ids(retrieved_ids, "retrieved_ids"), relevant, strict=True)]
    return of_lists(correct, [len(own) for own in relevant])


def evaluate_all(rankings: Rankings, wanted: Mapping[str, Sequence[int]]) -> PerQuery:
    """All metrics that have a cutoff, for every query."""
    return evaluate_at(rankings, {name: top_k for name, top_k in wanted.items() if top_k})


def as_metrics(values: PerQuery, categories: Any, reduce: bool, ties: str) -> dict[Any, Any]:
    """The values of every query as the dictionary of tensors that the library returns."""

    def of_queries(chosen: Any) -> dict[str, dict[int, Any]]:
        return {name: {k: converted(value, chosen) for k, value in at.items()} for name, at in values.items()}

    def converted(value: Estimate[FloatArray], chosen: Any) -> Any:
        some = Estimate(value.lower[chosen], value.expected[chosen], value.upper[chosen], value.std[chosen])
        return choose(over_queries(some), ties, torch.tensor) if reduce else choose(some, ties, as_tensor)

    everything = of_queries(slice(None))
    if categories is None:
        return everything
    count = len(next(iter(next(iter(values.values())).values())).lower) if values else len(categories)
    own = as_labels(categories, count, "categories", "queries", columns=False)
    return {OVERALL: everything} | {name: of_queries(own == name) for name in distinct(own)}


def distinct(categories: Any) -> list[Any]:
    """Each category once, as it first appears, as a plain integer or string."""
    return list(dict.fromkeys(categories.tolist()))


def as_tensor(values: FloatArray) -> FloatTensor:
    """The values of every query as a tensor of float32, as the library returns them."""
    return torch.tensor(values, dtype=torch.float32)
