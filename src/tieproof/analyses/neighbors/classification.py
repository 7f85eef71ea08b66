"""`knn_accuracy`: how often the k nearest items vote for the right class, over ties at the cut and ties of votes."""

import math
import reprlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np

from tieproof.analyses.neighbors.nearest import nearest
from tieproof.analyses.neighbors.result import Neighbors
from tieproof.analyses.neighbors.votes import Lead, Rival, by_exponential, by_inverse, by_number, chances
from tieproof.distances import DistanceFunction, DistanceName
from tieproof.errors import InputError, calling
from tieproof.evaluation.evaluated import over_queries
from tieproof.inputs.labels import checked_labels
from tieproof.inputs.mapped import unchanged_files
from tieproof.show.parts import NUMBERS, REPORT, count, distance_meant, numbers
from tieproof.show.shown import AsFrame, Shown, Table
from tieproof.ties import Array, BoolArray, Estimate, FloatArray, IntArray, by_name, for_loggers


@dataclass(frozen=True, eq=False, repr=False)
class KnnAccuracy(Shown, AsFrame):
    """The accuracy of a vote of the k nearest items.

    k : how many nearest items vote
    weights : what a vote weighs: "1", "1 / distance" or "exp(-distance / T)"
    distance : the name of the distance
    n_items : how many items may vote
    per_query : arrays (q,): lower and upper are 0 or 1, expected is the probability that the right class wins
    cut : (q,) whether the tie at rank k continues behind it, so that there are several sets of k nearest items

    >>> import tieproof as tp
    >>> print(tp.knn_accuracy([[1.0], [-1.0], [5.0]], ["a", "b", "b"], [[0.0], [6.0]], ["a", "b"], k=1,
    ...                       distance="euclidean"))
    accuracy         lower  expected   upper  tie std
    -------------------------------------------------
    1 nearest item  0.5000    0.7500  1.0000   0.2500
    <BLANKLINE>
    Ties leave 1 query open; for 1 query, the tie at rank 1 continues behind it.
    Report 'expected' with its interval, 'lower' for claims, and 'upper' never.
    2 queries, by a vote among 3 items under euclidean distance; each vote weighs 1.
    """

    k: int
    weights: str
    distance: str
    n_items: int
    per_query: Estimate[FloatArray]
    cut: BoolArray

    @property
    def accuracy(self) -> Estimate[float]:
        """The mean over the queries. Its std is over ties, not over the queries."""
        return over_queries(self.per_query)

    @property
    def n_queries(self) -> int:
        """The number of queries."""
        return len(self.cut)

    @property
    def left_open(self) -> int:
        """The number of queries that are right or wrong depending on how ties are broken."""
        return int((self.per_query.lower < self.per_query.upper).sum())

    def to_dict(self) -> dict[str, Any]:
        """Everything but the values of single queries, as plain numbers, strings and dictionaries."""
        return {
            "k": self.k,
            "weights": self.weights,
            "distance": self.distance,
            "queries": self.n_queries,
            "n_items": self.n_items,
            "accuracy": asdict(self.accuracy),
            "queries_left_open": self.left_open,
            "queries_with_cut_ties": int(self.cut.sum()),
        }

    def to_flat_dict(self) -> dict[str, float]:
        """The means as numbers by name, such as `knn_accuracy_at_20_lower`, for loggers of metrics."""
        return for_loggers(f"knn_accuracy_at_{self.k}", self.accuracy)

    def columns(self) -> dict[str, Array]:
        """A table with a row for each query, as arrays of equal length."""
        return {"query": np.arange(self.n_queries), **by_name(self.per_query), "cut": self.cut}

    def _table(self) -> Table:
        row = (f"{self.k:,} nearest {'item' if self.k == 1 else 'items'}", *numbers(self.accuracy))
        return Table(("accuracy", *NUMBERS), [[row]], [*self._sentences()], NUMBERS)

    def _sentences(self) -> Iterator[str]:
        cut = int(self.cut.sum())
        if self.left_open or cut:
            yield (
                f"Ties leave {count(self.left_open, 'query')} open; for {count(cut, 'query')}, the tie at rank "
                f"{self.k:,} continues behind it."
            )
            yield REPORT
        yield (
            f"{count(self.n_queries, 'query')}, by a vote among {count(self.n_items, 'item')} under "
            f"{distance_meant(self.distance)}; each vote weighs {self.weights}."
        )

    def __repr__(self) -> str:
        return f"<KnnAccuracy of {count(self.n_queries, 'query')}: {self.accuracy:.4f} at k = {self.k:,}>"


@unchanged_files
def knn_accuracy(
    train: Any,
    train_labels: Any,
    test: Any = None,
    test_labels: Any = None,
    *,
    k: int = 20,
    weights: Literal["distance"] | float | None = None,
    distance: DistanceName | str | DistanceFunction = "cosine",
    memory: str | int = "1GiB",
    threads: int | None = None,
    progress: bool = False,
    bits: int | None = None,
) -> KnnAccuracy:
    """Compute how often the k nearest items vote for the right class, over all ways to break ties.

    Two kinds of ties leave the vote open. If several items are at exactly the k-th distance, the k nearest are those
    that are nearer, and any choice of tied items for the remaining places. If several classes have the most votes,
    any of them may be the answer. A query is right in `upper` if some choice of items and of classes gives its label,
    and in `lower` if every choice does. `expected` is the probability of its label if every choice of tied items is
    equally likely, and then every class with the most votes. A label that no item of `train` has is never right.

    Parameters
    ----------
    train : (n, d) floats, integers or bools of at most 64 bits
        The items that vote.
    train_labels : (n,) integers or strings
        Their classes.
    test, test_labels : (q, d) and (q,)
        The queries and their classes. Default: every item of `train` is a query for the others.
    k : whole number
        How many items vote; all of them if there are fewer.
    weights : None, "distance" or a temperature T
        What a vote weighs: 1; 1 / d, as in scikit-learn, where items at distance 0 outvote all others; or
        exp(-d / T), which for cosine distance is exp(similarity / T) up to a common factor, as in DINO (T = 0.07).
        d is the distance rounded once to float64. Sums of weights are compared exactly.
    distance, bits, memory, threads, progress :
        As in `evaluate`.

    Returns
    -------
    KnnAccuracy
        `accuracy` is the `Estimate` of the mean, `per_query` that of every query.

    Raises
    ------
    InputError
        If the input contains NaN or infinity, or has wrong shapes, types or names; if a label is a row of several
        classes; for weights of 1 / d of negative distances, for weights of distances that overflow float64, and for
        a temperature that is not above 0, or a millionth of the differences of distances.

    Notes
    -----
    https://scikit-learn.org/stable/modules/neighbors.html#nearest-neighbors-classification, and `knn_classifier` in
    https://github.com/facebookresearch/dino, `eval_knn.py`.

    Examples
    --------
    >>> import tieproof as tp
    >>> train, labels = [[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, 3.0]], ["a", "b", "b", "b"]
    >>> tp.knn_accuracy(train, labels, [[1.0, 0.1]], ["a"], k=1).accuracy
    Estimate(lower=0.0, expected=0.5, upper=1.0, std=0.5)
    >>> tp.knn_accuracy(train, labels, [[1.0, 0.1]], ["b"], k=3, weights=0.07)
    <KnnAccuracy of 1 query: 1.0000 ≤ 1.0000 ≤ 1.0000 at k = 3>

    """
    lead, meaning = _as_weights(weights)
    if (test is None) != (test_labels is None):
        missing = "test" if test is None else "test_labels"
        raise InputError(f"{missing} is missing. Pass both test= and test_labels=, or neither.", missing)
    alone = test is None
    options: dict[str, Any] = {"distance": distance, "memory": memory, "threads": threads, "bits": bits}
    queries, gallery = (train, None) if alone else (test, train)
    labels_of_queries, labels_of_items = (train_labels, None) if alone else (test_labels, train_labels)
    ours = "train" if alone else "test"
    names = {"embeddings": ours, "queries": ours, "labels": f"{ours}_labels"}
    with calling(names | {"gallery": "train", "gallery_labels": "train_labels"}):
        found = nearest(queries, gallery, k, progress=progress, **options)
        labels = checked_labels(labels_of_queries, labels_of_items, len(found.ids), None if alone else found.n_items)
    own, of_items = _as_classes(*labels)
    votes = [_vote(found, query, label, of_items, lead) for query, label in enumerate(own.tolist())]
    lower, expected, upper = np.array(votes).T
    per_query = Estimate(lower, expected, upper, np.sqrt(expected * (1 - expected)))
    return KnnAccuracy(found.k, meaning, found.distance, found.n_items, per_query, np.asarray(found.cut))


def _as_weights(weights: Any) -> tuple[Lead, str]:
    if weights is None:
        return by_number, "1"
    if isinstance(weights, str) and weights == "distance":
        return by_inverse, "1 / distance"
    try:
        temperature = float(weights) if isinstance(weights, Real) and not isinstance(weights, bool) else 0.0
    except OverflowError:
        temperature = math.inf
    if not 0 < temperature < math.inf:
        raise InputError(
            f"weights must be None, 'distance' or a temperature, a number above 0 such as 0.07, not "
            f"{reprlib.repr(weights)}.",
            "weights",
        )
    return by_exponential(temperature), f"exp(-distance / {temperature:g})"


def _as_classes(labels: Array, gallery_labels: Array | None) -> tuple[IntArray, IntArray]:
    if labels.ndim != 1:
        raise InputError(
            f"The labels have the shape {labels.shape}: several classes for an item, which has one vote. Pass one "
            "label for each item.",
            "train_labels",
        )
    both = labels if gallery_labels is None else np.concatenate([labels, gallery_labels])
    numbers = np.unique(both, return_inverse=True)[1].astype(np.int64)
    return numbers[: len(labels)], numbers if gallery_labels is None else numbers[len(labels) :]


def _vote(found: Neighbors, query: int, label: int, of_items: IntArray, lead: Lead) -> tuple[float, float, float]:
    """Return the lower, expected and upper chance that the class `label` wins the vote of one query."""
    ranked, start = int(found.ranked[query]), int(found.tie_starts[query])
    if not ranked:
        return 0.0, 0.0, 0.0
    near, distances, tie = found.ids[query, :start], found.distances[query, :ranked], found.tie(query)
    places, last = ranked - start, float(distances[-1])
    if lead is by_inverse and distances[0] <= 0:
        if distances[0] < 0:
            raise InputError(
                f"weights='distance' are 1 / distance, but a distance of query {query} is {distances[0]}. Pass a "
                "temperature, or a distance that is never negative.",
                "weights",
            )
        lead = by_number  # items at distance 0 outvote all others
        if last > 0:
            near, places, tie = near[distances[:start] == 0], 0, tie[:0]
    classes, of_voter = np.unique(of_items[np.concatenate([near, tie])], return_inverse=True)
    of_near, tied = of_voter[: len(near)], np.bincount(of_voter[len(near) :], minlength=len(classes))
    place = int(np.searchsorted(classes, label))
    if place == len(classes) or classes[place] != label:
        return 0.0, 0.0, 0.0
    if lead is not by_number and len(classes) > 1 and not np.isfinite(distances).all():
        raise InputError(
            f"The distances of query {query} overflow float64, so that they have no weights. Scale the embeddings, "
            "or pass weights=None.",
            "weights",
        )
    by_class = [distances[: len(near)][of_near == each] for each in range(len(classes))]
    others = [each for each in range(len(classes)) if each != place]
    rivals = (Rival(int(tied[each]), lead(by_class[place], by_class[each], last, places)) for each in others)
    lower, expected, upper = chances(places, int(tied[place]), tuple(sorted(rivals)))
    return float(lower), float(expected), float(upper)
