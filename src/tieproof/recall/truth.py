"""The true neighbors of `neighbor_recall`, as lists or from vectors, and the recalls of other benchmarks for them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tieproof.evaluation.lists import list_parts
from tieproof.evaluation.scoring import score
from tieproof.inputs.triples import Judgments, Triples
from tieproof.measures import parse
from tieproof.measures.list_ends import estimate
from tieproof.problem import Problem, Watch
from tieproof.recall.lists import PADDING, FoundItems, FoundLists, TrueLists
from tieproof.ties import Array, BoolArray, FloatArray, IntArray

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


@dataclass(frozen=True)
class ListedTruth:
    """Lists of the nearest items of each query: the first items, or all."""

    lists: TrueLists
    n_items: int | None
    called = "lists"

    @property
    def n_queries(self) -> int:
        """The number of lists."""
        return len(self.lists.ids)

    @property
    def listed(self) -> int:
        """The length of the lists."""
        return int(self.lists.ids.shape[1])

    def recalls(self, found: FoundItems, cutoffs: Sequence[int]) -> FloatArray:
        """Return lower, expected, upper recall and variance of each query at each k, (k, 4, q).

        The bounds are over the ties of the lists, and over everything that may continue the last tie of each.
        """
        ids, distances, small_is_near = self.lists
        limits = found.counted.sum(axis=1), None if self.n_items is None else np.full(len(ids), self.n_items)
        parts = list_parts(distances, is_found(ids, found), limits, "true distances", small_is_near)
        return score(parts, [parse(f"P@{k}") for k in cutoffs], len(ids), estimate).values

    def others(self, found: FoundLists, k: int, among: int) -> dict[str, FloatArray]:
        """Return the recalls of other benchmarks for each query, by their names."""
        return other_recalls(found, self.lists, k, among)

    def cut_off(self, k: int) -> BoolArray:
        """Whether the tie at the k-th distance reaches the end of the list, and the list may lack items."""
        ends: BoolArray = self.lists.distances[:, k - 1] == self.lists.distances[:, -1]
        return ends & (self.n_items != self.listed)


@dataclass(frozen=True)
class FoundTruth:
    """The vectors of queries and gallery, among which the engine ranks."""

    problem: Problem
    watch: Watch

    @property
    def n_queries(self) -> int:
        """The number of queries."""
        return self.problem.relevance.n_queries

    @property
    def n_items(self) -> int:
        """The number of items in the gallery."""
        return self.problem.relevance.n_items

    @property
    def listed(self) -> int:
        """The number of items that are ranked for each query: all of the gallery."""
        return self.n_items

    @property
    def called(self) -> str:
        """The name of the distance by which the neighbours are found."""
        return self.problem.called

    def recalls(self, found: FoundItems, cutoffs: Sequence[int]) -> FloatArray:
        """Return lower, expected, upper recall and variance of each query at each k, (k, 4, q)."""
        from tieproof.engine import ties_of

        query, item = found.pairs()
        triples = Triples(query, item, np.ones(len(query)))
        relevance = Judgments.of(triples, self.n_queries, self.n_items, leave_one_out=False)
        parts = ties_of(replace(self.problem, relevance=relevance), self.watch).parts
        measures = [parse(f"P@{k}") for k in cutoffs]
        return score(parts, measures, self.n_queries, threads=self.problem.budget.threads).values

    def others(self, found: FoundLists, k: int, among: int) -> dict[str, FloatArray]:
        """Return nothing: the recalls of other benchmarks are defined by lists of distances."""
        return {}

    def cut_off(self, k: int) -> BoolArray:
        """Whether the tie at the k-th distance may lack items: never, because all items are ranked."""
        return np.zeros(self.n_queries, dtype=np.bool_)


Truth = ListedTruth | FoundTruth
"""A source of the true neighbours."""


def is_found(true: IntArray, found: FoundItems) -> BoolArray:
    """Return which of the true items of each query were found.

    >>> found = FoundLists(np.array([[7, 7, 3], [5, -1, 7]]), None).first(3)
    >>> is_found(np.array([[3, 4, 7], [3, 4, 7]]), found).tolist()
    [[True, False, True], [False, False, True]]
    """
    query, item = found.pairs()
    names, numbers = np.unique(np.concatenate([true.ravel(), item]), return_inverse=True)
    of_query = np.repeat(np.arange(len(true)), true.shape[1])
    wanted, there = numbers[: true.size], numbers[true.size :]
    same: BoolArray = np.isin(of_query * len(names) + wanted, query * len(names) + there)
    return same.reshape(true.shape)
