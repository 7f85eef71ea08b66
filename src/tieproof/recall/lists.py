"""What `neighbor_recall` compares, checked: the lists that an index found, and the true neighbors.

The true neighbors are lists or come from vectors; both say how much of them was found, also as other benchmarks do.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from tieproof.errors import InputError, about
from tieproof.evaluation.given_lists import list_parts
from tieproof.evaluation.scoring import score
from tieproof.inputs.arrays import as_array, as_numbers, check_finite, type_name
from tieproof.inputs.identities import as_item_numbers
from tieproof.inputs.lists import as_rows
from tieproof.inputs.neighbor_lists import NOTHING, as_ids, as_list_lengths, as_returned
from tieproof.inputs.options import check_whole, one_or_several
from tieproof.inputs.relevance import Judgments, Triples
from tieproof.measures import parse
from tieproof.measures.unseen import estimate
from tieproof.problem import Problem, Watch
from tieproof.ties import Array, BoolArray, FloatArray, IntArray

NEAR = 1e-6
"""Two distances of a truth that differ by less than this are a tie for big-ann-benchmarks."""

ANN_BENCHMARKS = {
    "ann-benchmarks k-nn": (1e-3, 1.0),
    "ann-benchmarks epsilon": (0.0, 1 + 0.01),
    "ann-benchmarks largeepsilon": (0.0, 1 + 0.1),
}
"""How much farther than the k-th nearest item a found item may be: what is added to its distance, or a factor."""

BIG_ANN = "big-ann k-nn"


class FoundLists(NamedTuple):
    """The items that an index found for each query.

    ids : (q, n) positions or keys, nearest first; -1 (`NOTHING`) where nothing was found
    distances : (q, n) as the index returned them; None if it returned none
    """

    ids: IntArray
    distances: Array | None

    def first(self, among: int) -> "FoundItems":
        """Return the first items of each list, and which of them are repetitions."""
        ids = self.ids[:, :among]
        order = np.argsort(ids, axis=1, kind="stable")
        ranked = np.take_along_axis(ids, order, axis=1)
        again = np.zeros(ids.shape, dtype=np.bool_)
        again[:, 1:] = (ranked[:, 1:] == ranked[:, :-1]) & (ranked[:, 1:] != NOTHING)
        repeated = np.empty_like(again)
        np.put_along_axis(repeated, order, again, axis=1)
        return FoundItems(ids, (ids != NOTHING) & ~repeated, repeated)


class FoundItems(NamedTuple):
    """The first items of the lists of each query.

    ids : (q, n)
    counted : (q, n) whether an item occurs for the first time in its list
    repeated : (q, n) whether an item has already occurred in its list
    """

    ids: IntArray
    counted: BoolArray
    repeated: BoolArray

    def pairs(self) -> tuple[IntArray, IntArray]:
        """Return the query and the item of each found item, without repetitions."""
        query, place = np.nonzero(self.counted)
        return query, self.ids[query, place]


def as_found(ids: Any, distances: Any, n_items: int | None) -> FoundLists:
    """Return the lists that an index found, checked.

    Nothing was found where the id is -1 or the largest number of uint32 or uint64, or where the distance is NaN.

    >>> as_found([[2, 0, -1]], [[0.5, float("nan"), 9.0]], None).ids.tolist()
    [[2, -1, -1]]
    """
    ids, distances = _as_matrices(ids, distances)
    with about("found"):
        items = _as_found_ids(ids, "found ids")
    numbers = None
    if distances is not None:
        with about("distances"):
            numbers = as_numbers(distances, "found distances")
            _check_beside(numbers, items, "found")
        items = np.where(np.isnan(numbers), NOTHING, items)
    with about("found"):
        wrong = items < NOTHING
        if wrong.any():
            query, place = np.argwhere(wrong)[0].tolist()
            raise InputError(
                f"The found ids of query {query} contain {items[query, place]} at index {place}. Pass ids of at "
                "least 0, and -1 where nothing was found."
            )
        _check_within(items, n_items, "found ids")
    return FoundLists(items, numbers)


def _as_matrices(found: Any, distances: Any) -> tuple[Any, Any]:
    """Return ids and distances of all queries; anything but answers of these libraries is returned as it is.

    >>> from types import SimpleNamespace as Point
    >>> _as_matrices([[Point(id=4, score=0.5)], [Point(id=7, score=0.5), Point(id=2, score=0.25)]], None)[0].tolist()
    [[4, -1], [7, 2]]
    """
    try:
        returned = as_returned(found, distances, None, None)
        if returned.ids is found:
            return found, distances
        ids = [as_ids(row) for row in as_rows(returned.ids, "found ids")]
        numbers = list(as_rows(returned.numbers, "found distances"))
        lengths = as_list_lengths(returned.counts, np.array([len(row) for row in ids]))
    except InputError as error:
        error.argument = "found"
        raise
    return _filled(ids, lengths, np.int64, NOTHING), _filled(numbers, lengths, np.float32, np.nan)


def _filled(rows: list[Array], lengths: IntArray, least: Any, nothing: float) -> Array:
    """Return the first entries of each list as a matrix filled up with `nothing`, in a type that holds all values."""
    some = [row[:length] for row, length in zip(rows, lengths, strict=True) if length]
    kind = np.result_type(least, *some) if some else least
    matrix = np.full((len(rows), max(1, *map(len, rows))), nothing, dtype=kind)
    for row, entries, length in zip(matrix, rows, lengths, strict=True):
        row[:length] = entries[:length]
    return matrix


def as_truth(truth: Any, n_items: int | None) -> "ListedTruth":
    """Return the true nearest items and their distances, checked.

    >>> as_truth(([[4, 7]], [[0.9, 0.8]]), None).small_is_near
    False
    """
    with about("truth"):
        if not isinstance(truth, tuple | list) or len(truth) != 2:
            raise InputError(
                f"The truth must be a pair (ids, distances), not {type(truth).__name__}. Ids alone do not show which "
                "items are tied; pass their distances, too, or queries= and gallery= to compute both."
            )
        ids, distances = _as_found_ids(truth[0], "true ids"), as_numbers(truth[1], "true distances")
        if distances.dtype.kind == "b":
            distances = distances.astype(np.int8)
        _check_beside(distances, ids, "true")
        check_finite(distances, "true distances")
        _check_true_ids(ids)
        _check_within(ids, n_items, "true ids")
        return ListedTruth(ids, distances, _is_rising(distances), n_items)


def _as_found_ids(values: Any, name: str) -> IntArray:
    """Convert integers (q, n) to int64, with -1 where nothing was found."""
    array = as_array(values, name)
    if array.dtype.kind not in "iu" or array.ndim != 2 or 0 in array.shape:
        raise InputError(
            f"The {name} must be integers of the shape (queries, neighbors), but are {type_name(array.dtype)} of "
            f"the shape {array.shape}. Pass lists of equal length, filled up with -1."
        )
    return as_item_numbers(array, name)


def _check_within(ids: IntArray, n_items: int | None, name: str) -> None:
    if n_items is not None and (ids >= n_items).any():
        query, place = np.argwhere(ids >= n_items)[0].tolist()
        raise InputError(
            f"The {name} of query {query} contain {ids[query, place]} at index {place}, but there are {n_items} "
            f"items. Pass the positions of the items in the gallery, from 0 to {n_items - 1}."
        )


def _check_beside(distances: Array, ids: IntArray, which: str) -> None:
    if distances.shape != ids.shape:
        raise InputError(
            f"The {which} distances have the shape {distances.shape}, but the {which} ids have {ids.shape}. Pass one "
            "distance for each id."
        )


def _check_true_ids(ids: IntArray) -> None:
    """Refuse a truth with padding, or with an item twice in a list."""
    ranked = np.sort(ids, axis=1)
    if (ranked[:, 0] < 0).any():
        query = int(np.argmax(ranked[:, 0] < 0))
        raise InputError(
            f"The true ids of query {query} contain {ranked[query, 0]}, but must be at least 0. Pass the same number "
            "of true neighbors for every query, without padding."
        )
    twice = ranked[:, 1:] == ranked[:, :-1]
    if twice.any():
        query, place = np.argwhere(twice)[0].tolist()
        raise InputError(
            f"The true ids of query {query} contain {ranked[query, place]} twice. Compute the truth again, with each "
            "item once in a list."
        )


def _is_rising(distances: Array) -> bool:
    """Whether distances increase along every list; if they decrease, they are similarities."""
    rises, falls = (distances[:, 1:] > distances[:, :-1]), (distances[:, 1:] < distances[:, :-1])
    if rises.any() and falls.any():
        up, down = int(np.argmax(rises.any(axis=1))), int(np.argmax(falls.any(axis=1)))
        raise InputError(
            f"The true distances increase at some places (query {up}) and decrease at others (query {down}). Pass "
            "lists from the nearest to the farthest item: increasing distances, or decreasing similarities."
        )
    return not falls.any()


def as_cutoffs(k: Any) -> tuple[int, ...]:
    """Numbers of neighbors, one or several, each once.

    >>> as_cutoffs(10), as_cutoffs([1, 10, 1])
    ((10,), (1, 10))
    """
    several = one_or_several(k)
    if not several:
        raise InputError("k is missing. Pass the number of nearest neighbors, such as k=10 or k=(1, 10, 100).", "k")
    for one in several:
        check_whole("k", one)
    return tuple(dict.fromkeys(map(int, several)))


@dataclass(frozen=True)
class ListedTruth:
    """Lists of the nearest items of each query, nearest first: the first items, or all.

    ids : (q, m) without repetitions
    distances : (q, m) in their original type
    small_is_near : False if they are similarities, which decrease along a list
    """

    ids: IntArray
    distances: Array
    small_is_near: bool
    n_items: int | None
    called = "lists"

    @property
    def n_queries(self) -> int:
        """The number of lists."""
        return len(self.ids)

    @property
    def listed(self) -> int:
        """The length of the lists."""
        return int(self.ids.shape[1])

    def recalls(self, found: FoundItems, cutoffs: Sequence[int]) -> FloatArray:
        """Return lower, expected, upper recall and variance of each query at each k, (k, 4, q).

        The bounds are over the ties of the lists, and over everything that may continue the last tie of each.
        """
        all_items = None if self.n_items is None else np.full(self.n_queries, self.n_items)
        limits = found.counted.sum(axis=1), all_items
        parts = list_parts(self.distances, _is_found(self.ids, found), limits, "true distances", self.small_is_near)
        return score(parts, [parse(f"P@{k}") for k in cutoffs], self.n_queries, estimate).values

    def others(self, found: FoundLists, k: int, among: int) -> dict[str, FloatArray]:
        """The recalls of other benchmarks for each query, by their names.

        Those of ann-benchmarks (ann_benchmarks/plotting/metrics.py, 2025), and of VIBE, which has only the first
        limit, count the found items whose reported distance is at most a limit. The ids are ignored. They are defined
        only for increasing distances.
        """
        counts = {}
        with np.errstate(over="ignore"):  # an overflow gives infinity, which compares correctly
            if found.distances is not None and self.small_is_near:
                last = self.distances[:, k - 1]
                for name, (added, factor) in ANN_BENCHMARKS.items():
                    limit = last + added if added else last * factor
                    counts[name] = (found.distances[:, :k] <= limit[:, None]).sum(axis=1)
            counts[BIG_ANN] = self._in_extended_truth(found.ids[:, :among], k)
        return {name: count / k for name, count in counts.items()}

    def cut_off(self, k: int) -> BoolArray:
        """Whether the tie at the k-th distance reaches the end of the list, and the list may lack items."""
        ends: BoolArray = self.distances[:, k - 1] == self.distances[:, -1]
        return ends & (self.n_items != self.listed)

    def _in_extended_truth(self, found: IntArray, k: int) -> Array:
        """Count the different found items of each query among the first k of the truth, or tied with its k-th item.

        This is the recall of big-ann-benchmarks (benchmark/plotting/metrics.py, 2025; pull requests 59 and 74): items
        after the k-th count, too, as long as their distances differ from that of the k-th by less than 1e-6.
        """
        close = np.abs(self.distances[:, k - 1 : k] - self.distances[:, k:]) < NEAR
        extended = np.ones(self.ids.shape, dtype=np.bool_)
        extended[:, k:] = np.logical_and.accumulate(close, axis=1)
        return np.array(
            [
                len(set(true[kept].tolist()) & (set(items.tolist()) - {NOTHING}))
                for items, true, kept in zip(found, self.ids, extended, strict=True)
            ]
        )


@dataclass(frozen=True)
class RankedTruth:
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
        """The name of the distance by which the neighbors are found."""
        return self.problem.called

    def recalls(self, found: FoundItems, cutoffs: Sequence[int]) -> FloatArray:
        """Return lower, expected, upper recall and variance of each query at each k, (k, 4, q)."""
        from tieproof.engine import ties_of  # slow to import, and not needed for a truth of lists

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


Truth = ListedTruth | RankedTruth
"""A source of the true neighbors."""


def _is_found(true: IntArray, found: FoundItems) -> BoolArray:
    """Return which of the true items of each query were found.

    >>> found = FoundLists(np.array([[7, 7, 3], [5, -1, 7]]), None).first(3)
    >>> _is_found(np.array([[3, 4, 7], [3, 4, 7]]), found).tolist()
    [[True, False, True], [False, False, True]]
    """
    query, item = found.pairs()
    names, numbers = np.unique(np.concatenate([true.ravel(), item]), return_inverse=True)
    of_query = np.repeat(np.arange(len(true)), true.shape[1])
    wanted, there = numbers[: true.size], numbers[true.size :]
    same: BoolArray = np.isin(of_query * len(names) + wanted, query * len(names) + there)
    return same.reshape(true.shape)
