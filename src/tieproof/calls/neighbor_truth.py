"""Where the true neighbours are known from: lists of them, or the vectors among which they are found.

Who was found is what is relevant here: then the share of the k nearest that was found is the precision at k of the
true ranking, and its orderings of tied items are the choices of the k nearest. So the engine ranks, `measures` has
the closed form, and `measures/list_ends.py` knows what a list that was cut off leaves open.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tieproof.calls.list_ties import list_parts
from tieproof.calls.other_recalls import other_recalls
from tieproof.calls.scoring import score
from tieproof.inputs.recall_lists import FoundItems, FoundLists, TrueLists
from tieproof.inputs.triples import Judgments, Triples
from tieproof.measures import parse
from tieproof.measures.list_ends import estimate
from tieproof.problem import Problem, Watch
from tieproof.ties import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class ListedTruth:
    """Lists of the nearest items of each query, which may be all items or the first ones."""

    lists: TrueLists
    n_items: int | None
    called = "lists"

    @property
    def n_queries(self) -> int:
        """How many lists there are."""
        return len(self.lists.ids)

    @property
    def listed(self) -> int:
        """How long they are."""
        return int(self.lists.ids.shape[1])

    def recalls(self, found: FoundItems, cutoffs: Sequence[int]) -> FloatArray:
        """Lower, expected, upper recall and variance of each query at each k, (k, 4, q).

        By the lists, and by everything that may continue the last tie of each.
        """
        ids, distances, small_is_near = self.lists
        limits = found.counted.sum(axis=1), None if self.n_items is None else np.full(len(ids), self.n_items)
        parts = list_parts(distances, is_found(ids, found), limits, "true distances", small_is_near)
        return score(parts, [parse(f"P@{k}") for k in cutoffs], len(ids), estimate).values

    def others(self, found: FoundLists, k: int, among: int) -> dict[str, FloatArray]:
        """What others count of each query, by name."""
        return other_recalls(found, self.lists, k, among)

    def cut_off(self, k: int) -> BoolArray:
        """Where the k-th distance is that of the last item of the list, and there are more items or nobody knows."""
        ends: BoolArray = self.lists.distances[:, k - 1] == self.lists.distances[:, -1]
        return ends & (self.n_items != self.listed)


@dataclass(frozen=True)
class FoundTruth:
    """The vectors of queries and gallery, among which the engine ranks."""

    problem: Problem
    watch: Watch

    @property
    def n_queries(self) -> int:
        """How many queries there are."""
        return self.problem.relevance.n_queries

    @property
    def n_items(self) -> int:
        """How many items the gallery has."""
        return self.problem.relevance.n_items

    @property
    def listed(self) -> int:
        """All of them."""
        return self.n_items

    @property
    def called(self) -> str:
        """By which distance the neighbours are found."""
        return self.problem.called

    def recalls(self, found: FoundItems, cutoffs: Sequence[int]) -> FloatArray:
        """Lower, expected, upper recall and variance of each query at each k, (k, 4, q), by exact distances."""
        from tieproof.engine import ties_of

        query, item = found.pairs()
        triples = Triples(query, item, np.ones(len(query)))
        relevance = Judgments.of(triples, self.n_queries, self.n_items, leave_one_out=False)
        parts = ties_of(replace(self.problem, relevance=relevance), self.watch).parts
        measures = [parse(f"P@{k}") for k in cutoffs]
        return score(parts, measures, self.n_queries, threads=self.problem.budget.threads).values

    def others(self, found: FoundLists, k: int, among: int) -> dict[str, FloatArray]:
        """None: they are defined by lists of distances."""
        return {}

    def cut_off(self, k: int) -> BoolArray:
        """Never: all items are there."""
        return np.zeros(self.n_queries, dtype=np.bool_)


Truth = ListedTruth | FoundTruth
"""What knows the true neighbours."""


def is_found(true: IntArray, found: FoundItems) -> BoolArray:
    """Which of the true items of each query were found.

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
