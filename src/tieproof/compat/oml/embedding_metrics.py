"""`EmbeddingMetrics`, which collects embeddings batch by batch, and the metrics of embeddings alone."""

import inspect
import sys
import warnings
from collections.abc import Iterable, Mapping
from pprint import pprint
from typing import Any

import numpy as np
import torch
from torch import FloatTensor, Tensor

from tieproof import Estimate, Evaluator, pcf
from tieproof.compat.distributed import gathered, is_first
from tieproof.compat.oml.dataset import CATEGORY, OVERALL, Split, extra_of, places_of
from tieproof.compat.oml.metrics import PerQuery, as_metrics, by_fmr, rates_of
from tieproof.compat.oml.pictures import contents_of_split, figure_of_queries
from tieproof.compat.oml.rankings import check_cutoffs, evaluate_at, shares_of
from tieproof.compat.oml.retrieval_results import RetrievalResults, rankings_of
from tieproof.compat.ties import TieChoice, check_ties
from tieproof.errors import InputError
from tieproof.kit import Embeddings, FloatArray, IntArray, as_array, as_embeddings, as_labels

_WORST_QUERIES = _SHOWN_ITEMS = 5  # the queries that `visualize` shows for a metric, and the items for each query
_NOT_OF_QUERIES = ("fnmr@fmr", "pcf")  # metrics that are not defined for single queries


class EmbeddingMetrics:
    """Collects the embeddings of a data set, then computes its metrics by exact Euclidean distance.

    Batches of any size in any order give the same metrics. Under torch.distributed, the items of all processes are
    gathered; an item that several processes have counts once.

    Parameters
    ----------
    dataset : has `len()`, `get_labels()`, `get_query_ids()`, `get_gallery_ids()` and `extra_data`
        A query is not ranked for itself, nor are items of its sequence (`extra_data["sequence"]`). With
        `extra_data["category"]`, metrics are also computed for each category.
    cmc_top_k, precision_top_k, map_top_k : cutoffs of these metrics; an empty tuple leaves the metric out
    fmr_vals : false match rates for fnmr@fmr, which is computed over all pairs
    pcf_variance : shares of the variance for the principal components fraction
    postprocessor : has `process(rr, dataset)` and may have `top_n`
        The retrieval results that it returns are evaluated as lists, instead of the embeddings.
    metrics_to_exclude_from_visualization : names such as "cmc"
    return_only_overall_category : return only the category "OVERALL" from `compute_metrics`
    visualize_only_overall_category : show only the category "OVERALL" in `visualize`
    verbose : print the metrics, and show a progress bar if they take longer than two seconds
    ties : "lower", "expected", "upper" or "interval"
        Which value over all orderings of tied items each metric has; "interval" returns each as an `Estimate`.

    """

    metric_name = ""
    overall_categories_key = OVERALL

    def __init__(
        self,
        dataset: Any,
        cmc_top_k: tuple[int, ...] = (5,),
        precision_top_k: tuple[int, ...] = (5,),
        map_top_k: tuple[int, ...] = (5,),
        fmr_vals: tuple[float, ...] = (),
        pcf_variance: tuple[float, ...] = (0.5,),
        postprocessor: Any = None,
        metrics_to_exclude_from_visualization: Iterable[str] = (),
        return_only_overall_category: bool = False,
        visualize_only_overall_category: bool = True,
        verbose: bool = True,
        ties: TieChoice = "lower",
    ) -> None:
        check_ties(ties)
        if library := sys.modules.get("oml.interfaces.metrics"):  # its callback asks by isinstance
            library.IMetricVisualisable.register(type(self))
        self.dataset = dataset
        self.top_k = {"cmc": cmc_top_k, "precision": precision_top_k, "map": map_top_k}
        check_cutoffs(self.top_k)
        self.fmr_vals, self.pcf_variance = fmr_vals, pcf_variance
        self.postprocessor = postprocessor
        self.metrics_to_exclude_from_visualization = (*_NOT_OF_QUERIES, *metrics_to_exclude_from_visualization)
        self.return_only_overall_category = return_only_overall_category
        self.visualize_only_overall_category = visualize_only_overall_category
        self.verbose, self.ties = verbose, ties
        self.retrieval_results: Any = None
        self.metrics: dict[Any, Any] | None = None
        self._items: Evaluator | None = None
        self._expected: Any = None
        self._per_query: PerQuery = {}

    def setup(self, num_samples: int | None = None) -> None:
        """Forget all items; call this before the first `update`.

        num_samples : the number of items, if the data set is None and assigned to `dataset` later
        """
        if self.dataset is None and num_samples is None:
            raise InputError(
                "dataset is None. Pass a data set with labels, queries and a gallery; or call setup() with "
                "num_samples, and assign a data set to `dataset` before compute_metrics()."
            )
        self._items, self._expected = Evaluator(), num_samples if self.dataset is None else len(self.dataset)
        self.retrieval_results = self.metrics = None

    def update(self, embeddings: FloatTensor, indices: Any) -> None:
        """Add a batch: embeddings (n, d), and the indices of these items in the data set."""
        if self._items is None:
            raise InputError("update() was called before setup(): call setup() first.")
        places = places_of(indices, "indices", self._expected)
        no_labels = np.zeros(places.shape, dtype=np.int64)  # they are read later
        self._items.update(embeddings, no_labels, indices=places)

    def update_data(self, data: Mapping[str, Any], indices: Any) -> None:
        """Add a batch as the callback of the library passes it: `data["embeddings"]`, (n, d), and `indices`."""
        self.update(data["embeddings"], indices)

    def ready_to_visualize(self) -> bool:
        """Whether the data set can show its items."""
        return hasattr(self.dataset, "visualize")

    def compute_metrics(self) -> dict[Any, Any]:
        """Compute all metrics, after `update` was called for every item of the data set.

        Returns
        -------
        dict
            {"OVERALL": {"cmc": {k: tensor}, "precision": …, "map": …, "pcf": {share: tensor}, "fnmr@fmr": {fmr:
            tensor}}, category: {…}, …}, without metrics that were not requested; fnmr@fmr is only in "OVERALL".

        """
        embeddings = self._whole()
        self.retrieval_results = self._retrieve(embeddings)
        self._per_query = evaluate_at(rankings_of(self.retrieval_results, self.verbose), self.top_k)
        categories = extra_of(self.dataset, CATEGORY, "categories")
        own = None if categories is None else categories[self._query_ids()]
        of_rankings = as_metrics(self._per_query, own, True, self.ties)
        of_embeddings = calc_topological_metrics(embeddings, self.pcf_variance, categories)
        if categories is None:
            of_rankings, of_embeddings = {OVERALL: of_rankings}, {OVERALL: of_embeddings}
        self.metrics = {name: values | of_embeddings.get(name, {}) for name, values in of_rankings.items()}
        if self.fmr_vals:
            split: Split | None = getattr(self.retrieval_results, "split", None)
            if split is None:  # a postprocessor made the results, with pairs of its own
                rates = rates_of(self.retrieval_results, self.fmr_vals, self.verbose)
            else:
                rates = split.fnmr_at_fmr(self.fmr_vals, self.verbose)
            self.metrics[OVERALL] |= by_fmr(rates, self.fmr_vals, self.ties)
        metrics = {OVERALL: self.metrics[OVERALL]} if self.return_only_overall_category else self.metrics
        if self.verbose and is_first():
            pprint(metrics)
        return metrics

    def get_worst_queries_ids(self, metric_name: str, n_queries: int) -> list[int]:
        """The queries that score worst in a metric such as "OVERALL/cmc/5", as positions among the queries.

        With `ties="interval"` queries are sorted by the lower value; queries with equal scores keep their order.
        """
        self._check_computed()
        metrics = self._of_queries()
        if metric_name not in metrics:
            raise InputError(f"Unknown metric_name={metric_name!r}. Known: {', '.join(metrics)}.")
        values, chosen = metrics[metric_name]
        part = getattr(values, "lower" if self.ties == "interval" else self.ties)[chosen]
        return [int(query) for query in chosen[np.argsort(part, kind="stable")][:n_queries]]

    def get_plot_for_queries(self, query_ids: list[int], n_instances: int, verbose: bool = True) -> Any:
        """A figure with a row for each query, which shows the query and its nearest gallery items (extra `plot`).

        Parameters
        ----------
        query_ids : positions among the queries
        n_instances : how many items to show for each query
            At most the number of retrieved items, which is the largest cutoff or 5.
        verbose : print which queries are shown

        """
        self._check_computed()
        if verbose:
            shown = min(n_instances, max(map(len, self.retrieval_results.retrieved_ids), default=0))
            print(f"Showing the {shown} nearest items of the queries {list(query_ids)}.")
        return figure_of_queries(self.retrieval_results, query_ids, n_instances, contents_of_split(self.dataset))

    def get_plot_for_worst_queries(
        self, metric_name: str, n_queries: int, n_instances: int, verbose: bool = False
    ) -> Any:
        """A figure of the nearest items of the queries that score worst in a metric such as "OVERALL/cmc/5"."""
        return self.get_plot_for_queries(self.get_worst_queries_ids(metric_name, n_queries), n_instances, verbose)

    def visualize(self) -> tuple[list[Any], list[str]]:
        """For each metric a figure of its five worst queries, and the titles of the figures."""
        self._check_computed()
        within = f"{OVERALL}/" if self.visualize_only_overall_category else ""
        shown = (name for name in self._of_queries() if name.startswith(within))
        names = [name for name in shown if name.split("/")[-2] not in self.metrics_to_exclude_from_visualization]
        figures = [self.get_plot_for_worst_queries(name, _WORST_QUERIES, _SHOWN_ITEMS) for name in names]
        return figures, [f"top {_WORST_QUERIES} worst by {name}".replace("/", "_") for name in names]

    def _whole(self) -> Any:
        """The embeddings of all items, from all processes, in the order of the data set."""
        if self._items is None:
            raise InputError("There are no embeddings to evaluate: call setup() and update() first.")
        if self.dataset is None:
            raise InputError("dataset is None. Assign a data set to `dataset` before compute_metrics().")
        total = Evaluator()
        for items in gathered(self._items):
            total.merge(items)
        indices, embeddings, _, _ = total.items()
        if len(missing := np.setdiff1d(np.arange(len(self.dataset)), indices)):
            raise InputError(
                f"There is no embedding of {len(missing)} of {len(self.dataset)} items; the first is item "
                f"{missing[0]}. Call update() for every item of the data set before compute_metrics()."
            )
        return embeddings

    def _retrieve(self, embeddings: Any) -> Any:
        """The retrieval results, after the postprocessor if there is one."""
        whole = len(self.dataset.get_gallery_ids())
        cutoffs = [k for top_k in self.top_k.values() for k in top_k]
        if self.postprocessor is None:
            return RetrievalResults.from_embeddings(embeddings, self.dataset, max([_SHOWN_ITEMS, *cutoffs]))
        n_items = whole if self.fmr_vals else max([getattr(self.postprocessor, "top_n", whole), *cutoffs])
        rr = RetrievalResults.from_embeddings(embeddings, self.dataset, n_items)
        given = {"rr": rr, "dataset": self.dataset}
        wanted = inspect.signature(self.postprocessor.process).parameters
        return self.postprocessor.process(**{name: value for name, value in given.items() if name in wanted})

    def _query_ids(self) -> Any:
        return as_array(self.dataset.get_query_ids(), "query ids")

    def _check_computed(self) -> None:
        if self.metrics is None:
            raise InputError("There are no metrics yet: call compute_metrics() first.")

    def _of_queries(self) -> dict[str, tuple[Estimate[FloatArray], IntArray]]:
        """Each metric that single queries have: its values for all queries, and the positions of its queries."""
        ids, categories = self._query_ids(), extra_of(self.dataset, CATEGORY, "categories")
        positions = {OVERALL: np.arange(len(ids))}
        own = np.array(()) if categories is None else categories[ids]
        positions |= {str(name): np.flatnonzero(own == name) for name in dict.fromkeys(own.tolist())}
        return {
            f"{category}/{name}/{k}": (values, chosen)
            for category, chosen in positions.items()
            for name, at in self._per_query.items()
            for k, values in at.items()
        }


def calc_pcf(embeddings: Tensor, pcf_variance: tuple[float, ...]) -> Tensor:
    """The share of principal components that explain given shares of the variance, by `tieproof.pcf`.

    Parameters
    ----------
    embeddings : (n, d)
    pcf_variance : shares of the variance from 0 to 1

    Returns
    -------
    A tensor with a fraction for each share.

    Examples
    --------
    >>> calc_pcf(torch.eye(4, 10, dtype=torch.float), pcf_variance=(0.5, 1))
    tensor([0.2000, 0.5000])

    """
    return torch.tensor(pcf(embeddings, shares_of(pcf_variance, "pcf_variance")), dtype=torch.float32)


def calc_topological_metrics(
    embeddings: Tensor, pcf_variance: tuple[float, ...], categories: Any = None, verbose: bool = False
) -> dict[Any, Any]:
    """`calc_pcf` of all embeddings and of the embeddings of each category.

    Parameters
    ----------
    embeddings : (n, d)
    pcf_variance : shares of the variance from 0 to 1; an empty tuple returns an empty dictionary
    categories : (n,) integers or strings
    verbose : accepted; this is too fast for a progress bar

    Returns
    -------
    dict
        {"pcf": {share: tensor}}; with categories, {"OVERALL": this dictionary, category: the dictionary of its
        embeddings, …}. If all embeddings are equal, their pcf is undefined: it is NaN, with a warning.

    Examples
    --------
    >>> calc_topological_metrics(torch.eye(4), (0.5,), categories=["a", "a", "a", "a"])
    {'OVERALL': {'pcf': {0.5: tensor(0.5000)}}, 'a': {'pcf': {0.5: tensor(0.5000)}}}

    """
    vectors = as_embeddings(embeddings)
    if not len(pcf_variance):
        return {}
    whole = _of_rows(vectors, pcf_variance, "embeddings")
    if categories is None:
        return whole
    own = as_labels(categories, len(vectors), "categories", "embeddings", columns=False)
    return {OVERALL: whole} | {
        name: _of_rows(vectors[own == name], pcf_variance, f"embeddings of category {name!r}")
        for name in sorted(set(own.tolist()))
    }


def _of_rows(vectors: Embeddings, pcf_variance: tuple[float, ...], name: str) -> dict[str, Any]:
    """The pcf of these embeddings; NaN, with a warning, if all of them are equal."""
    if (vectors == vectors[0]).all():
        warnings.warn(
            f"The {name} do not vary, so no component explains any variance, and their pcf is NaN.", stacklevel=3
        )
        values = [float("nan")] * len(pcf_variance)
    else:
        values = pcf(vectors, shares_of(pcf_variance, "pcf_variance")).tolist()
    return {"pcf": dict(zip(pcf_variance, map(torch.tensor, values), strict=True))}
