"""The lists that an index found and the true neighbors, which say how much was found, also as other benchmarks do.

The true neighbors are lists, or come from vectors, or from a folder in which all ties are certified.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tieproof.analyses.neighbors.certificate import read_truth
from tieproof.analyses.neighbors.result import Neighbors, repeated_in_rows
from tieproof.engine.problem import Budget, Problem, Search, Watch
from tieproof.errors import InputError
from tieproof.evaluation.given_lists import list_parts
from tieproof.evaluation.scoring import score
from tieproof.inputs.judgments import Judgments, Triples
from tieproof.inputs.lists import Limits, Rows
from tieproof.inputs.neighbor_lists import NOTHING
from tieproof.measures import parse
from tieproof.show.parts import count
from tieproof.ties import NO_RANK, Array, BoolArray, FloatArray, IntArray, Parts, Ties

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
        there = ids != NOTHING
        repeated = repeated_in_rows(ids) & there
        return FoundItems(ids, there & ~repeated, repeated)


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


@dataclass(frozen=True)
class ListedTruth:
    """Lists of the nearest items of each query, nearest first: the first items, or all.

    ids : (q, m) without repetitions; -1 behind the last item of a list that has fewer
    distances : (q, m) in their original type; that of the last item behind it
    small_is_near : False if they are similarities, which decrease along a list
    matches : (q,) the length of each list; a list of fewer than m items has all that the query may find
    """

    ids: IntArray
    distances: Array
    small_is_near: bool
    n_items: int | None
    matches: IntArray
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
        hits, whole = _is_found(self.ids, found), self.matches < self.listed
        n_items = np.where(whole, self.matches, NO_RANK if self.n_items is None else self.n_items)
        limits = Limits(np.where(whole, hits.sum(axis=1), found.counted.sum(axis=1)), n_items)
        near, found_there = (self._rows(each, bool(whole.any())) for each in (self.distances, hits))
        parts = list_parts(near, found_there, limits, "true distances", self.small_is_near)
        return recalls_of(parts, cutoffs, self.matches)

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
            counts[BIG_ANN] = self._in_extended_truth(found.ids[:, :among], k)
        # They know no truth of fewer items.
        return {} if (self.matches < self.listed).any() else {name: count / k for name, count in counts.items()}

    def cut_off(self, k: int) -> BoolArray:
        """Whether the tie at the k-th distance reaches the end of the list, and the list may lack items."""
        ends: BoolArray = (self.distances[:, k - 1] == self.distances[:, -1]) & (self.matches == self.listed)
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

    search: Search
    watch: Watch

    @property
    def n_queries(self) -> int:
        """The number of queries."""
        return self.search.excluded.n_queries

    @property
    def n_items(self) -> int:
        """The number of items in the gallery."""
        return self.search.excluded.n_items

    @property
    def listed(self) -> int:
        """The number of items that are ranked for each query: all of the gallery."""
        return self.n_items

    @property
    def matches(self) -> IntArray:
        """How many items each query ranks, (q,): those that are not excluded."""
        pairs = self.search.excluded.excluded.pairs
        left_out = 0 if pairs is None else np.bincount(pairs // self.n_items, minlength=self.n_queries)
        return self.n_items - np.zeros(self.n_queries, dtype=np.int64) - left_out

    @property
    def called(self) -> str:
        """The name of the distance by which the neighbors are found."""
        return self.search.called

    def recalls(self, found: FoundItems, cutoffs: Sequence[int]) -> FloatArray:
        """Return lower, expected, upper recall and variance of each query at each k, (k, 4, q)."""
        from tieproof.engine import ties_of  # slow to import, and not needed for a truth of lists

        query, item = found.pairs()
        triples, excluded = Triples(query, item, np.ones(len(query))), self.search.excluded.excluded
        relevance = Judgments.of(triples, self.n_queries, self.n_items, leave_one_out=False, excluded=excluded)
        parts = ties_of(Problem(**vars(self.search) | {"excluded": relevance}), self.watch).parts
        return recalls_of(parts, cutoffs, self.matches, self.search.budget)


@dataclass(frozen=True)
class CertifiedTruth:
    """The neighbors in a folder that `truth` wrote."""

    neighbors: Neighbors

    @classmethod
    def read(cls, folder: str | os.PathLike[str], n_items: int | None) -> "CertifiedTruth":
        """Read a folder; InputError if it is not what its certificate says, or of another number of items."""
        _, neighbors = read_truth(folder)
        if n_items not in (None, neighbors.n_items):
            raise InputError(
                f"n_items is {n_items}, but the truth in {os.fspath(folder)} has {neighbors.n_items} items. Leave "
                "n_items out.",
                "n_items",
            )
        return cls(neighbors)

    @property
    def n_queries(self) -> int:
        """The number of queries."""
        return self.neighbors.n_queries

    @property
    def n_items(self) -> int:
        """The number of items in the gallery."""
        return self.neighbors.n_items

    @property
    def listed(self) -> int:
        """The number of neighbors of each query; the last tie is known beyond it."""
        return self.neighbors.k

    @property
    def called(self) -> str:
        """The name of the distance by which the neighbors were found."""
        return self.neighbors.distance

    @property
    def matches(self) -> IntArray:
        """How many items each query ranks, (q,): all of the gallery."""
        return np.full(self.n_queries, self.n_items)

    def recalls(self, found: FoundItems, cutoffs: Sequence[int]) -> FloatArray:
        """Return lower, expected, upper recall and variance of each query at each k, (k, 4, q)."""
        return recalls_of([(np.arange(self.n_queries), self._ties(found))], cutoffs, self.matches)

    def within(self, radius: float) -> tuple[IntArray, IntArray]:
        """Return the items whose rounded distance is at most a radius, as (lims, ids).

        InputError if they are not certified: if the radius is not below the distance at the last rank of each query,
        so that unlisted items may be within it, unless all items are listed.
        """
        near = self.neighbors
        last = near.distances[:, -1]
        open_ = np.flatnonzero((last <= radius) & (near.k < near.n_items))
        if len(open_):
            raise InputError(
                f"The radius is {radius!r}, but the truth lists the {near.k:,} nearest items, which certifies a "
                f"query only if the radius is below its distance at rank {near.k:,}. It is not for "
                f"{count(len(open_), 'query')}, first query {open_[0]} with {float(last[open_[0]])!r}. Pass a radius "
                f"below {float(last.min())!r}, leave these queries out, or write a truth with a larger k.",
                "radius",
            )
        inside = near.distances <= radius
        return np.concatenate([[0], np.cumsum(inside.sum(axis=1))]), near.ids[inside]

    def _ties(self, found: FoundItems) -> Ties:
        """Return the ties that contain found items, up to the last one; found items behind it count as missing."""
        near, wide = self.neighbors, self.n_items + 1
        query, item = found.pairs()
        levels = query * wide + near.level(query, item)
        tie, hits = np.unique(levels[levels % wide < self.n_items], return_counts=True)
        query, level = np.divmod(tie, wide)
        before = np.cumsum(hits) - hits
        places, sizes = np.unique(np.arange(self.n_queries)[:, None] * wide + near.nearer, return_counts=True)
        size = sizes[np.searchsorted(places, tie)]
        return Ties(
            query=query,
            k=level,
            n=before - before[np.searchsorted(query, query)],
            l=np.where(level == near.tie_starts[query], near.tie_sizes[query], size),
            m=hits,
            n_relevant=found.counted.sum(axis=1),
            n_items=np.full(self.n_queries, self.n_items),
        )


Truth = ListedTruth | RankedTruth | CertifiedTruth
"""A source of the true neighbors."""


def recalls_of(parts: Parts, cutoffs: Sequence[int], matches: IntArray, budget: Budget | None = None) -> FloatArray:
    """Return lower, expected, upper recall and variance of each query at each k, (k, 4, q).

    It is the share of min(k, matches), because no search finds more than a query's `matches`, (q,).
    """
    nearest = np.minimum(np.array(cutoffs)[:, None], matches)
    different, which = np.unique(nearest, return_inverse=True)
    values = score(parts, [parse(f"P@{k}") for k in different.tolist()], len(matches), budget=budget).values
    return np.moveaxis(values[which.reshape(nearest.shape), :, np.arange(len(matches))], 2, 1)


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
