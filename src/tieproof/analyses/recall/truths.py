"""What `neighbor_recall` is given, checked: the lists that an index found, and the true neighbors.

The truth is lists, vectors, or a certified folder.
"""

import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tieproof.analyses.neighbors.certificate import read_truth
from tieproof.analyses.neighbors.result import Neighbors, check_id_lists, repeated_in_rows
from tieproof.engine.problem import Budget, Problem, Search, Watch
from tieproof.errors import InputError, about, calling
from tieproof.evaluation.given_lists import list_parts
from tieproof.evaluation.scoring import score
from tieproof.inputs.arrays import as_array, as_numbers, check_finite
from tieproof.inputs.identities import as_item_numbers
from tieproof.inputs.judgments import Judgments, Triples
from tieproof.inputs.lists import Limits, Rows, as_rows
from tieproof.inputs.neighbor_lists import NOTHING, as_ids, as_list_lengths, as_returned
from tieproof.inputs.options import check_whole, one_or_several
from tieproof.measures import parse
from tieproof.ties import NO_RANK, Array, BoolArray, FloatArray, IntArray, Parts, Ties

NEAR = 1e-6  # two distances of a truth that differ by less than this are a tie for big-ann-benchmarks

# How much farther than the k-th nearest item a found item may be: what is added to its distance, or a factor.
ANN_BENCHMARKS = {
    "ann-benchmarks k-nn": (1e-3, 1.0),
    "ann-benchmarks epsilon": (0.0, 1 + 0.01),
    "ann-benchmarks largeepsilon": (0.0, 1 + 0.1),
}


class FoundLists(NamedTuple):
    """The items that an index found for each query."""

    ids: IntArray  # (q, n) positions or keys, nearest first; -1 (`NOTHING`) where nothing was found
    distances: Array | None  # (q, n) as the index returned them; None if it returned none

    def first(self, among: int) -> "FoundItems":
        """Return the first items of each list, and which of them are repetitions."""
        ids = self.ids[:, :among]
        there = ids != NOTHING
        repeated = repeated_in_rows(ids) & there
        return FoundItems(ids, there & ~repeated, repeated)


class FoundItems(NamedTuple):
    """The first items of the lists of each query, (q, n): which occur for the first time, and which again."""

    ids: IntArray
    counted: BoolArray
    repeated: BoolArray

    def pairs(self) -> tuple[IntArray, IntArray]:
        """Return the query and the item of each found item, without repetitions."""
        query, place = np.nonzero(self.counted)
        return query, self.ids[query, place]


class TrueNeighbors(NamedTuple):
    """The true neighbors of all queries."""

    called: str  # "lists", or the name of the distance by which the neighbors are found
    n_queries: int
    n_items: int | None  # how many items the gallery has; None: not known
    listed: int  # how many neighbors of each query are known; the last tie may be known beyond them
    matches: IntArray  # (q,) how many items each query may find at all, or the first `listed` of them
    parts: "Callable[[FoundItems], Parts]"  # returns the ties of found and true items
    budget: Budget | None = None  # how much memory and how many threads `parts` may use; None: it needs little
    lists: "ListedTruth | None" = None  # the truth itself, if it consists of lists

    def recalls(self, found: FoundItems, cutoffs: Sequence[int]) -> FloatArray:
        """Return lower, expected, upper and variance, (k, 4, q), of the share of min(k, matches) nearest items."""
        nearest = np.minimum(np.array(cutoffs)[:, None], np.maximum(self.matches, 1))
        different, which = np.unique(nearest, return_inverse=True)
        measures = [parse(f"P@{k}") for k in different.tolist()]
        values = score(self.parts(found), measures, self.n_queries, budget=self.budget).values
        return np.moveaxis(values[which.reshape(nearest.shape), :, np.arange(self.n_queries)], 2, 1)


class ListedTruth(NamedTuple):
    """Lists of the nearest items of each query, nearest first: the first items, or all."""

    ids: IntArray  # (q, m) without repetitions; -1 behind the last item of a list that has fewer
    distances: Array  # (q, m) in their original type; that of the last item behind it
    small_is_near: bool  # False if they are similarities, which decrease along a list
    n_items: int | None
    matches: IntArray  # (q,) the length of each list; one of fewer than m items has all that the query may find

    def truth(self) -> TrueNeighbors:
        """The bounds of recall are over the ties of the lists, and over everything that may continue the last tie."""
        count, width = self.ids.shape
        whole = self.matches < width
        n_items = np.where(whole, self.matches, NO_RANK if self.n_items is None else self.n_items)

        def parts(found: FoundItems) -> Parts:
            query, item = found.pairs()
            names, numbers = np.unique(np.concatenate([self.ids.ravel(), item]), return_inverse=True)
            wanted, there = np.split(numbers, [self.ids.size])
            listed = np.repeat(np.arange(count), width) * len(names) + wanted
            hits = np.isin(listed, query * len(names) + there).reshape(self.ids.shape)
            limits = Limits(np.where(whole, hits.sum(axis=1), found.counted.sum(axis=1)), n_items)
            near, found_there = (self._rows(each, bool(whole.any())) for each in (self.distances, hits))
            return list_parts(near, found_there, limits, "true distances", self.small_is_near)

        return TrueNeighbors("lists", count, self.n_items, width, self.matches, parts, lists=self)

    def _rows(self, values: Array, ragged: bool) -> Rows:
        """Return values of the listed items, (q, m), and of no more than each list has."""
        return [row[:end] for row, end in zip(values, self.matches, strict=True)] if ragged else values

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
            counts["big-ann k-nn"] = self._in_extended_truth(found.ids[:, :among], k)
        # They know no truth of fewer items.
        short = self.matches < self.ids.shape[1]
        return {} if short.any() else {name: count / k for name, count in counts.items()}

    def cut_off(self, k: int) -> BoolArray:
        """Whether the tie at the k-th distance reaches the end of the list, and the list may lack items."""
        width = int(self.ids.shape[1])
        ends: BoolArray = (self.distances[:, k - 1] == self.distances[:, -1]) & (self.matches == width)
        return ends & (self.n_items != width)

    def _in_extended_truth(self, found: IntArray, k: int) -> Array:
        """Count the different found items of each query among the first k of the truth, or tied with its k-th item.

        This is the recall of big-ann-benchmarks (benchmark/plotting/metrics.py, 2025; pull requests 59 and 74): items
        after the k-th count, too, as long as their distances differ from that of the k-th by less than 1e-6.
        """
        close = np.abs(self.distances[:, k - 1 : k] - self.distances[:, k:]) < NEAR
        extended = np.ones(self.ids.shape, dtype=np.bool_)
        extended[:, k:] = np.logical_and.accumulate(close, axis=1)
        lists = zip(found, self.ids, extended, strict=True)
        both = (set(true[kept].tolist()) & (set(items.tolist()) - {NOTHING}) for items, true, kept in lists)
        return np.array([*map(len, both)])


def ranked_truth(search: Search, watch: Watch) -> TrueNeighbors:
    """The vectors of queries and gallery, among which the engine ranks."""
    n_queries, n_items, excluded = search.excluded.n_queries, search.excluded.n_items, search.excluded.excluded
    left_out = 0 if excluded.pairs is None else np.bincount(excluded.pairs // n_items, minlength=n_queries)
    matches = n_items - np.zeros(n_queries, dtype=np.int64) - left_out

    def parts(found: FoundItems) -> Parts:
        from tieproof.engine import ties_of  # slow to import, and not needed for a truth of lists

        query, item = found.pairs()
        triples = Triples(query, item, np.ones(len(query)))
        relevance = Judgments.of(triples, n_queries, n_items, leave_one_out=False, excluded=excluded)
        return ties_of(Problem(**vars(search) | {"excluded": relevance}), watch).parts

    return TrueNeighbors(search.called, n_queries, n_items, n_items, matches, parts, search.budget)


def certified_truth(folder: str | os.PathLike[str], n_items: int | None) -> TrueNeighbors:
    """The neighbors in a folder that `truth` wrote; InputError if it contradicts its certificate or `n_items`."""
    _, near = read_truth(folder)
    if n_items not in (None, near.n_items):
        raise InputError(
            f"n_items is {n_items}, but the truth in {os.fspath(folder)} has {near.n_items} items. Leave n_items "
            "out.",
            "n_items",
        )

    def parts(found: FoundItems) -> Parts:
        return [(np.arange(near.n_queries), _ties(near, found))]

    return TrueNeighbors(near.distance, near.n_queries, near.n_items, near.k, near.ranked, parts)


def _ties(near: Neighbors, found: FoundItems) -> Ties:
    """Return the ties that contain found items, up to the last one; found items behind it count as missing."""
    wide = near.n_items + 1
    query, item = found.pairs()
    levels = query * wide + near.level(query, item)
    tie, hits = np.unique(levels[levels % wide < near.n_items], return_counts=True)
    query, level = np.divmod(tie, wide)
    before = np.cumsum(hits) - hits
    places, sizes = np.unique(np.arange(near.n_queries)[:, None] * wide + near.nearer, return_counts=True)
    size = sizes[np.searchsorted(places, tie)]
    return Ties(
        query=query,
        k=level,
        n=before - before[np.searchsorted(query, query)],
        l=np.where(level == near.tie_starts[query], near.tie_sizes[query], size),
        m=hits,
        n_relevant=found.counted.sum(axis=1),
        n_items=np.full(near.n_queries, near.n_items),
    )


def as_found(ids: Any, distances: Any, n_items: int | None) -> FoundLists:
    """Return the lists that an index found, checked, with the id -1 where it found nothing or the distance is NaN."""
    ids, distances = _as_matrices(ids, distances)
    with about("found"):
        items = _as_found_ids(ids, "found ids")
    numbers = None
    if distances is not None:
        with about("distances"):
            numbers = as_numbers(_even(distances, "found distances", np.float32, np.nan), "found distances")
            _check_beside(numbers, items, "found")
        items = np.where(np.isnan(numbers), NOTHING, items)
    with about("found"):
        advice = ". Pass ids of at least 0, and -1 where nothing was found."
        _refuse_first(items < NOTHING, items, "found ids", advice)
        _check_within(items, n_items, "found ids")
    return FoundLists(items, numbers)


def _as_matrices(found: Any, distances: Any) -> tuple[Any, Any]:
    """Return ids and distances of all queries; anything but answers of these libraries is returned as it is."""
    with about("found"), calling(dict.fromkeys(("ids", "distances", "scores", "counts"), "found")):
        returned = as_returned(found, distances, None, None)
        if returned.ids is found:
            return found, distances
        ids = [as_ids(row) for row in as_rows(returned.ids, "found ids")]
        numbers = list(as_rows(returned.numbers, "found distances"))
        lengths = as_list_lengths(returned.counts, np.array([len(row) for row in ids]))
    return _filled(ids, lengths, np.int64, NOTHING), _filled(numbers, lengths, np.float32, np.nan)


def _filled(rows: list[Array], lengths: IntArray, least: Any, nothing: float) -> Array:
    """Return the first entries of each list as a matrix filled up with `nothing`, in a type that holds all values."""
    some = [row[:length] for row, length in zip(rows, lengths, strict=True) if length]
    kind = np.result_type(least, *some) if some else least
    matrix = np.full((len(rows), max(1, *map(len, rows))), nothing, dtype=kind)
    for row, entries, length in zip(matrix, rows, lengths, strict=True):
        row[:length] = entries[:length]
    return matrix


def _even(rows: Any, name: str, least: Any, nothing: float) -> Any:
    """Return lists of different lengths as a matrix filled up with `nothing`; anything else unchanged."""
    rowwise = isinstance(rows, list | tuple) and all(
        hasattr(row, "__len__") and getattr(row, "ndim", 1) for row in rows
    )
    if not rowwise or len(set(map(len, rows))) < 2:
        return rows
    arrays = [as_array(row, name) for row in rows]
    return _filled(arrays, np.array([*map(len, rows)]), least, nothing) if all(a.ndim == 1 for a in arrays) else rows


def as_truth(truth: Any, n_items: int | None) -> ListedTruth:
    """Return the true nearest items and their distances, checked."""
    with about("truth"):
        if not isinstance(truth, tuple | list) or len(truth) != 2:
            advice = (
                "Ids alone do not show which items are tied; pass their distances, too, or queries= and gallery= "
            )
            if hasattr(truth, "ids") and hasattr(truth, "distances"):
                advice = "Pass (truth.ids, truth.distances), or queries= and gallery= "
            raise InputError(
                f"The truth must be a pair (ids, distances), not {type(truth).__name__}. {advice}to compute both."
            )
        ids = _as_found_ids(truth[0], "true ids")
        distances = as_numbers(_even(truth[1], "true distances", np.float32, np.nan), "true distances")
        if distances.dtype.kind == "b":
            distances = distances.astype(np.int8)
        _check_beside(distances, ids, "true")
        matches = (ids != NOTHING).sum(axis=1)
        last = np.where(matches, distances[np.arange(len(ids)), matches - 1], 0)
        # Behind the last item of a list its distance stands, so that all are finite, and the list stays sorted.
        distances = np.where(np.arange(ids.shape[1]) < matches[:, None], distances, last[:, None])
        check_finite(distances, "true distances")
        _check_true_ids(ids)
        _check_within(ids, n_items, "true ids")
        return ListedTruth(ids, distances, _is_rising(distances), n_items, matches)


def _as_found_ids(values: Any, name: str) -> IntArray:
    """Convert integers (q, n) to int64, with -1 where nothing was found."""
    array = as_array(_even(values, name, np.int64, NOTHING), name)
    check_id_lists(array, name, "Pass lists of equal length, filled up with -1.")
    return as_item_numbers(array, name)


def _refuse_first(wrong: BoolArray, ids: IntArray, name: str, advice: str) -> None:
    if wrong.any():
        query, place = np.argwhere(wrong)[0].tolist()
        raise InputError(f"The {name} of query {query} contain {ids[query, place]} at index {place}{advice}")


def _check_within(ids: IntArray, n_items: int | None, name: str) -> None:
    if n_items is not None:
        positions = f"Pass the positions of the items in the gallery, from 0 to {n_items - 1}."
        _refuse_first(ids >= n_items, ids, name, f", but there are {n_items} items. {positions}")


def _check_beside(distances: Array, ids: IntArray, which: str) -> None:
    if distances.shape != ids.shape:
        raise InputError(
            f"The {which} distances have the shape {distances.shape}, but the {which} ids have {ids.shape}. Pass one "
            "distance for each id."
        )


def _check_true_ids(ids: IntArray) -> None:
    """Refuse a truth with an item twice in a list, or with -1 before an item."""
    strange = ids < NOTHING
    strange[:, :-1] |= (ids[:, :-1] == NOTHING) & (ids[:, 1:] != NOTHING)
    advice = ". Pass ids of at least 0, and -1 only behind the last item of a list that has fewer."
    _refuse_first(strange, ids, "true ids", advice)
    twice = np.argwhere(repeated_in_rows(ids) & (ids != NOTHING))
    for query, place in twice[:1].tolist():
        raise InputError(
            f"The true ids of query {query} contain {ids[query, place]} twice. Compute the truth again, with each "
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
    """Numbers of neighbors, one or several, each once."""
    several = one_or_several(k)
    if not several:
        raise InputError("k is missing. Pass the number of nearest neighbors, such as k=10 or k=(1, 10, 100).", "k")
    for one in several:
        check_whole("k", one)
    return tuple(dict.fromkeys(map(int, several)))
