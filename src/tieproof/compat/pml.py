"""pytorch-metric-learning's `AccuracyCalculator`, with exact distances and ties that never pay.

>>> from tieproof.compat.pml import AccuracyCalculator
>>> calculator = AccuracyCalculator(include=("precision_at_1", "mean_average_precision_at_r"))
>>> calculator.get_accuracy([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
{'mean_average_precision_at_r': 1.0, 'precision_at_1': 1.0}
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import astuple
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple

import numpy as np

from tieproof import Estimate, evaluate, kit
from tieproof.compat.ties import TieChoice, check_ties, choose
from tieproof.errors import InputError, import_extra
from tieproof.evaluation.evaluated import mean_of_means
from tieproof.kit import Array, DistanceFunction, Embeddings, FloatArray, IntArray, Labels

__all__ = ["AccuracyCalculator"]


class _Ranking(NamedTuple):
    """A ranking metric: tieproof's measure of whole rankings, and its measure of rankings cut off after k items."""

    whole: str
    cut: str
    within_r: bool = False  # whether only the first R items count, of R relevant ones: the cutoff matters if R > k

    def measures(self, k: int | None) -> tuple[str, str]:
        """The measures of rankings that list k items: for queries with R <= k, and for queries with R > k."""
        cut = self.whole if k is None else self.cut.format(k=k)
        return (self.whole if self.within_r else cut), cut


_RANKING = {
    "mean_average_precision": _Ranking("AP", "AP@{k}"),
    "mean_average_precision_at_r": _Ranking("AP@R", "AP@{k}", within_r=True),
    "mean_reciprocal_rank": _Ranking("RR", "RR@{k}"),
    "precision_at_1": _Ranking("P@1", "P@1"),
    "r_precision": _Ranking("Rprec", "P@{k}", within_r=True),
}

# The functions of scikit-learn by the metric's name in pytorch-metric-learning.
_CLUSTERING = {"AMI": "adjusted_mutual_info_score", "NMI": "normalized_mutual_info_score"}
_METRICS = (*_CLUSTERING, *_RANKING)  # the metrics in the order of the library's results
_STARTS = 10  # how many times k-means is started; the best clustering is used

# Methods that a subclass may override in the library, besides `calculate_…`, and that are not called here.
_OF_SUBCLASSES = (
    *("requires_knn", "requires_clustering", "get_cluster_labels", "determine_k"),
    *("get_function_dict", "check_primary_metrics", "_get_accuracy"),
)

# The distance with the same ranking as each distance of the library, and as each index that FaissKNN makes.
_EXACT = {
    "CosineSimilarity": "cosine",
    "DotProductSimilarity": "dot",
    "FlatL2": "euclidean",
    "FlatIP": "dot",
    "LpDistance of p = 1": "cityblock",
    "LpDistance of p = 2": "euclidean",
}


class _NotOfferedError(InputError, NotImplementedError):
    """What the library refuses with NotImplementedError."""


class AccuracyCalculator:
    """Computes accuracies of embeddings under pytorch-metric-learning's names.

    Parameters
    ----------
    include, exclude : names of metrics; all metrics by default
        "mean_average_precision", "mean_average_precision_at_r", "mean_reciprocal_rank", "precision_at_1" and
        "r_precision", and the clustering metrics "AMI" and "NMI" (extra `sklearn`).
    avg_of_avgs : return the mean over the classes of the means over their queries
    return_per_class : return a list of the classes' means, in the order of the labels
    k : how many items a ranking lists, or "max_bin_count", the largest number of relevant items of a query
        None lists all items.
    label_comparison_fn : takes two tensors of labels and returns bools, which labels are equal (extra `torch`)
    device : accepted but not used, as items are ranked exactly on the CPU
    knn_func : names the distance: the library's `FaissKNN` (of IndexFlatL2 or IndexFlatIP) or `CustomKNN`
        Items are ranked exactly, not by its search. A `CustomKNN` has the distance `CosineSimilarity`,
        `DotProductSimilarity` or `LpDistance` with p of 1 or 2.
    kmeans_func : takes the queries (a tensor if torch is installed) and the number of clusters, and returns the
        cluster of each query; None uses scikit-learn's KMeans
    distance : as in `tieproof.evaluate`, instead of `knn_func`; Euclidean by default, as in the library
    ties : "lower", "expected", "upper" or "interval"
        The value over all orderings of tied items; "interval" returns each metric as an `Estimate`.

    Examples
    --------
    >>> calculator = AccuracyCalculator(include=("precision_at_1",), ties="interval")
    >>> calculator.get_accuracy([[0.0], [1.0], [2.0]], [0, 0, 1])
    {'precision_at_1': Estimate(lower=0.5, expected=0.75, upper=1.0, std=0.25)}

    """

    def __init__(
        self,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        avg_of_avgs: bool = False,
        return_per_class: bool = False,
        k: int | Literal["max_bin_count"] | None = None,
        label_comparison_fn: Callable[[Any, Any], Any] | None = None,
        device: Any = None,
        knn_func: Any = None,
        kmeans_func: Callable[[Any, int], Any] | None = None,
        *,
        distance: str | DistanceFunction | None = None,
        ties: TieChoice = "lower",
    ) -> None:
        self._refuse_methods()
        check_ties(ties)
        if avg_of_avgs and return_per_class:
            raise InputError("avg_of_avgs and return_per_class exclude each other. Choose one.")
        if k not in (None, "max_bin_count"):
            kit.check_whole("k", k, beside=", None or 'max_bin_count'")
        if knn_func is not None and distance is not None:
            raise InputError("knn_func and distance both say how items are compared. Leave out one of them.")
        self.metrics = self._current = _selected(_METRICS, include, exclude)
        if label_comparison_fn is not None and set(self.metrics) & set(_CLUSTERING):
            raise _NotOfferedError(
                "AMI and NMI compare labels by equality, not by label_comparison_fn. Leave out AMI and NMI, or leave "
                "out label_comparison_fn."
            )
        self.avg_of_avgs, self.return_per_class = avg_of_avgs, return_per_class
        self.k, self.label_comparison_fn, self.kmeans_func = k, label_comparison_fn, kmeans_func
        self.distance = distance or ("euclidean" if knn_func is None else _distance_of(knn_func))
        self.ties = ties

    def get_accuracy(
        self,
        query: Any,
        query_labels: Any,
        reference: Any = None,
        reference_labels: Any = None,
        ref_includes_query: bool = False,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
    ) -> dict[str, Any]:
        """Compute the metrics of queries that rank the reference items.

        Parameters
        ----------
        query, reference : (q, d) and (n, d); without a reference, every query ranks all other queries
        query_labels, reference_labels : (q,) and (n,), or of any shape that `label_comparison_fn` accepts
        ref_includes_query : the first q reference items are the queries, which are not ranked for themselves
        include, exclude : names among the metrics of this calculator

        Returns
        -------
        dict
            The metrics by name: numbers, or lists of numbers with `return_per_class`. Queries with nothing relevant
            are left out; if all queries are, the values are NaN, with a warning.

        """
        names = self._current = _selected(self.metrics, include, exclude)
        queries = kit.as_embeddings(query, "queries")
        if reference is None:
            reference, reference_labels, ref_includes_query = query, query_labels, True
        items = kit.as_embeddings(reference, "reference")
        for vectors, own, name in ((queries, query_labels, "query"), (items, reference_labels, "reference")):
            if own is None or len(own) != len(vectors):
                raise InputError(
                    f"The number of {name} labels is {0 if own is None else len(own)}, but the number of {name} "
                    f"embeddings is {len(vectors)}: pass one label for each embedding."
                )
        if ref_includes_query:
            _check_included(queries, items, query_labels, reference_labels)
        scores: dict[str, Any] = {}
        if clusterings := [name for name in names if name in _CLUSTERING]:
            labels = kit.as_labels(query_labels, len(queries), "query labels", "queries", columns=False)
            scores |= _clustering_scores(clusterings, queries, labels, self.kmeans_func or _k_means)
        if rankings := [name for name in names if name in _RANKING]:
            scores |= self._ranked(rankings, queries, query_labels, items, reference_labels, ref_includes_query)
        return {name: scores[name] for name in names}

    def get_curr_metrics(self) -> list[str]:
        """The names of the metrics that the last call of `get_accuracy` computed, or the next one will.

        >>> AccuracyCalculator(include=("r_precision", "precision_at_1")).get_curr_metrics()
        ['precision_at_1', 'r_precision']
        """
        return list(self._current)

    def description(self) -> str:
        """The part of the names of records that depends on the options: "avg_of_avgs", or an empty text."""
        return "avg_of_avgs" if self.avg_of_avgs else ""

    def _refuse_methods(self) -> None:
        """Refuse subclasses with methods that the library would call, and that would be ignored here."""
        found = [name for name in dir(type(self)) if name.startswith("calculate_") or name in _OF_SUBCLASSES]
        if found:
            raise _NotOfferedError(
                f"{type(self).__name__} defines {', '.join(found)}, which would read one order of the nearest items, "
                "while tied items have several. Keep pytorch-metric-learning's own calculator for it, or compute a "
                "measure such as P@2 by tieproof.evaluate."
            )

    def _ranked(
        self, names: Sequence[str], queries: Any, labels: Any, items: Any, item_labels: Any, includes_query: bool
    ) -> dict[str, Any]:
        alone = includes_query and len(items) == len(queries)
        arguments: dict[str, Any] = {"embeddings": queries, "gallery": None if alone else items}
        if includes_query and not alone:
            arguments["exclude"] = np.repeat(np.arange(len(queries))[:, None], 2, axis=1)
        n_relevant: IntArray
        if self.label_comparison_fn is not None:
            own, others = kit.as_array(labels, "labels"), kit.as_array(item_labels, "labels")
            pairs, classes = _relevant_pairs(own, others, self.label_comparison_fn, includes_query)
            arguments["relevance"] = pairs
            n_relevant = np.bincount(pairs[:, 0], minlength=len(queries))
        else:
            classes = kit.as_labels(labels, len(queries), "query labels", "queries", columns=False)
            arguments["labels"] = classes
            if not alone:
                arguments["gallery_labels"] = item_labels
            others = kit.as_labels(item_labels, len(items), "reference labels", "reference items", columns=False)
            n_relevant = Labels.of(classes, others).at_most() - int(includes_query)
        if not n_relevant.any():
            warnings.warn("No query has a relevant reference item, so all accuracies are NaN.", stacklevel=3)
            count = len(np.unique(classes))
            return {name: [np.nan] * count if self.return_per_class else np.nan for name in names}
        k = int(n_relevant.max()) if self.k == "max_bin_count" else self.k
        chosen = {name: _RANKING[name].measures(k) for name in names}
        wanted = [measure for measures in chosen.values() for measure in measures]
        result = evaluate(**arguments, distance=self.distance, measures=wanted)
        classes, beyond = classes[result.query_ids], n_relevant[result.query_ids] > (k or np.inf)
        accuracies = {}
        for name, (whole, cut) in chosen.items():
            is_cut = beyond & _RANKING[name].within_r
            both = zip(astuple(result.per_query(whole)), astuple(result.per_query(cut)), strict=True)
            values = Estimate(*(np.where(is_cut, of_cut, of_whole) for of_whole, of_cut in both))
            accuracies[name] = self._averaged(values, classes)
        return accuracies

    def _averaged(self, values: Estimate[FloatArray], classes: Any) -> Any:
        """The mean over queries, the mean over classes, or the mean of each class, by the options."""
        if not self.avg_of_avgs and not self.return_per_class:
            return choose(kit.over_queries(values), self.ties)
        means = [kit.over_queries(kit.of_queries(values, classes == name)) for name in np.unique(classes)]
        if self.return_per_class:
            return [choose(mean, self.ties) for mean in means]
        return choose(mean_of_means(means), self.ties)


def _relevant_pairs(
    labels: Array, gallery_labels: Array, comparison: Callable[[Any, Any], Any], with_itself: bool
) -> tuple[IntArray, IntArray]:
    """The relevant (query, item) pairs, (p, 2), and the index of each query's label among the distinct labels.

    labels, gallery_labels : (q, …) and (n, …) numbers
    comparison : takes a label (1, …) and the gallery's labels (n, …), both torch tensors, and returns n bools
    with_itself : whether the first q gallery items are the queries, which are not relevant to themselves
    """
    torch = import_extra("torch", "label_comparison_fn", "torch")
    distinct, number = np.unique(labels, axis=0, return_inverse=True)
    others = torch.as_tensor(gallery_labels).float()
    parts = []
    for place, label in enumerate(distinct):
        same = kit.as_array(comparison(torch.as_tensor(label[None]).float(), others), "result of label_comparison_fn")
        if same.shape != (len(gallery_labels),):
            raise InputError(
                f"label_comparison_fn returned shape {same.shape} for a label of shape {label[None].shape} and "
                f"labels of shape {gallery_labels.shape}. It must return one bool for each of the labels."
            )
        query, item = np.flatnonzero(number.ravel() == place), np.flatnonzero(same)
        parts.append(np.column_stack([np.repeat(query, len(item)), np.tile(item, len(query))]))
    pairs = np.concatenate(parts)
    return pairs[pairs[:, 0] != pairs[:, 1]] if with_itself else pairs, number.ravel()


def _clustering_scores(
    names: Sequence[str], queries: Embeddings, labels: Array, cluster: Callable[[Any, int], Any]
) -> dict[str, float]:
    """The scores of one clustering with as many clusters as there are distinct labels (extra `sklearn`)."""
    metrics = import_extra("sklearn.metrics", " and ".join(names), "sklearn")
    number = np.unique(labels, return_inverse=True)[1].ravel()
    as_given = cluster is _k_means or find_spec("torch") is None
    given = queries if as_given else import_module("torch").as_tensor(queries)
    clusters = kit.as_array(cluster(given, int(number.max()) + 1), "clusters").ravel()
    return {name: float(getattr(metrics, _CLUSTERING[name])(number, clusters)) for name in names}


def _k_means(queries: Embeddings, count: int) -> Array:
    """The cluster of each query, with a fixed seed; queries are sorted first, so that their order does not matter."""
    sklearn = import_extra("sklearn.cluster", "k-means", "sklearn")
    order = np.lexsort(queries.T[::-1])
    clusters = np.empty(len(queries), dtype=np.int64)
    clusters[order] = sklearn.KMeans(count, n_init=_STARTS, random_state=0).fit_predict(queries[order])
    return clusters


def _selected(names: Sequence[str], include: Sequence[str], exclude: Sequence[str]) -> tuple[str, ...]:
    """The names selected by `include` and `exclude`; all names if `include` is empty."""
    for given, what in ((include, "include"), (exclude, "exclude")):
        if isinstance(given, str):
            raise InputError(f"{what} must be a list of names, not the name {given!r}. Write ({given!r},).")
        if unknown := [name for name in given if name not in _METRICS]:
            raise InputError(f"{what} contains the unknown metric {unknown[0]!r}. Known: {', '.join(_METRICS)}.")
    return tuple(name for name in names if (name in include or not include) and name not in exclude)


def _check_included(queries: Any, items: Any, labels: Any, item_labels: Any) -> None:
    own, others = (kit.as_array(each, "labels")[: len(queries)] for each in (labels, item_labels))
    if not np.array_equal(queries, items[: len(queries)]) or not np.array_equal(own, others):
        raise InputError(
            "With ref_includes_query=True, the first reference items and labels must be the queries and their labels "
            "in the same order, but they differ. Put the queries first, or pass ref_includes_query=False."
        )


def _distance_of(knn_func: Any) -> str:
    """The distance whose exact ranking a search of the library approximates."""
    kind, distance = type(knn_func).__name__, getattr(knn_func, "distance", None)
    found = kind
    if kind == "FaissKNN":
        found = getattr(knn_func.index_init_fn, "__name__", "").removeprefix("Index")
    elif kind == "CustomKNN" and distance is not None:
        distance = getattr(distance, "distance", distance)  # of a BatchedDistance
        found = type(distance).__name__
        if found == "LpDistance":
            found += f" of p = {distance.p:g}"
        normalized = getattr(distance, "normalize_embeddings", False)
        if normalized and found in ("DotProductSimilarity", "LpDistance of p = 2"):
            return "cosine"  # of unit vectors, all three rank alike
        if normalized and found == "LpDistance of p = 1":
            found += " of normalized embeddings"
    if found not in _EXACT:
        raise InputError(
            f"knn_func is a {kind}{'' if found == kind else f' with {found or type(distance).__name__}'}, but only "
            f"these are ranked exactly: {', '.join(_EXACT)}. Pass distance= instead, which may also be a function."
        )
    return _EXACT[found]
