"""`nearest`: the k nearest items of each query, in exact order and with the whole tie at rank k."""

from collections.abc import Iterable
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tieproof.analyses.neighbors.result import NOBODY, Neighbors
from tieproof.distances import Distance, DistanceFunction, DistanceName
from tieproof.distances.exact.rows import distinct_rows
from tieproof.distances.space import Space
from tieproof.engine.problem import Search, Watch
from tieproof.errors import InputError, calling
from tieproof.evaluation.problems import (
    ANY_KIND,
    ArgumentSide,
    as_budget,
    in_memory,
    make_search,
    warn_of_copies,
    watched,
)
from tieproof.inputs.mapped import unchanged_files
from tieproof.inputs.multi_vectors import MultiVectors
from tieproof.inputs.options import check_whole
from tieproof.inputs.relevance import ranges
from tieproof.ties import IntArray

if TYPE_CHECKING:
    from tieproof.engine import NearestLists

SMALLEST = 8 * 2**20  # less memory than this is not enforced for the ids in ties
ID_BYTES = 12  # those of an id in the result and in a list
BESIDE = 8 * 2**20  # the memory that is used beside arrays (measured)
BYTES_PER_ROW = 180  # the memory for what is computed of a row of either side (measured)
LARGEST_K = 2**31  # the largest k: the result has so many columns


@unchanged_files
def nearest(
    queries: Any,
    gallery: Any = None,
    k: int = 10,
    *,
    distance: DistanceName | str | DistanceFunction = "cosine",
    groups: Any = None,
    gallery_groups: Any = None,
    exclude: Any = None,
    memory: str | int = "1GiB",
    threads: int | None = None,
    progress: bool = False,
    bits: int | None = None,
) -> Neighbors:
    """Find the k nearest items of each query in exact order, and all items that are tied with the item at rank k.

    Distances are compared as real numbers, so the result has the same bits for any number of threads and any memory,
    and an item is found wherever it stands in the gallery. Tied items are sorted by their ids, which are their
    positions in the gallery.

    Parameters
    ----------
    queries : (q, d) floats, integers or bools of at most 64 bits
        Arrays, or items of several vectors, as in `evaluate`.
    gallery : (n, d)
        The items among which neighbors are sought. Default: the queries themselves, each without itself.
    k : whole number
        How many nearest items to find. If k is larger than the gallery, all items are found.
    distance, bits, memory, threads, progress :
        As in `evaluate`. The tables of k columns are in memory in addition. At least 16 MiB and 180 bytes for each
        row are used, even if `memory` is less.
    groups, gallery_groups : (q,) and (n,) integers or strings
        Items of the query's group are left out (the same document, the same video).
    exclude : rows (query, item), or (q, n) bools
        Pairs that are left out.

    Returns
    -------
    Neighbors
        `ids` and `distances` of shape (q, k), and for each query the whole tie at rank k, `tie(query)`.

    Raises
    ------
    InputError
        If the input contains NaN or infinity, or has wrong shapes, types or names, or if the ties at rank k hold more
        items than fit into the memory; the message says what arrived, what was expected and what to do.

    Warns
    -----
    InputWarning
        As in `evaluate`, if the gallery is equal to the queries or contains them among other items.

    Notes
    -----
    Items that are identical, or under cosine distance positive multiples of each other, are ranked once, however many
    they are. `duplicates` counts only identical ones.

    Examples
    --------
    >>> import tieproof as tp
    >>> found = tp.nearest([[0.0]], [[2.0], [1.0], [-1.0], [1.0]], k=2, distance="euclidean")
    >>> found.ids, found.distances, found.tie(0)
    (array([[1, 2]]), array([[1., 1.]]), array([1, 2, 3]))
    >>> tp.nearest([[0.0], [1.0], [3.0]], k=1, distance="euclidean").ids.tolist()
    [[1], [0], [1]]

    """
    check_whole("k", k)
    if k > LARGEST_K:
        raise InputError(f"k is larger than {LARGEST_K:,}. Pass the number of items to find all of them.", "k")
    with calling({"embeddings": "queries"}):
        sides = ArgumentSide(queries, groups=groups), ArgumentSide(gallery, groups=gallery_groups)
        budget = as_budget(memory, threads)
        search = make_search(*sides, distance, budget, exclude=exclude, bits=bits, kinds=ANY_KIND)
        warn_of_copies(search)
        return neighbors_of(in_memory(search), int(k), watched(progress))


def neighbors_of(search: Search, k: int, watch: Watch, duplicates: int | None = None) -> Neighbors:
    """The nearest items of all queries of a search; duplicates in its gallery are counted if they are unknown."""
    from tieproof.engine import nearest_lists, nearest_space

    admit, budget = Admission(search.budget.memory, k), search.budget
    n_queries, n_items = search.excluded.n_queries, search.excluded.n_items
    of_rows = BESIDE + BYTES_PER_ROW * (n_queries + n_items)
    search = replace(search, budget=replace(budget, memory=budget.memory - of_rows))
    space = nearest_space(search)
    duplicates = _duplicates(search, space) if duplicates is None else duplicates
    lists = nearest_lists(search, space, k, watch, admit)
    return gathered(((part.query, part) for part in lists), n_queries, k, n_items, search.called, duplicates)


def gathered(
    parts: Iterable[tuple[IntArray, "NearestLists | Neighbors"]],
    n_queries: int,
    k: int,
    n_items: int,
    called: str,
    duplicates: int,
) -> Neighbors:
    """The neighbors of all queries, from parts, each with the numbers of its queries; each query occurs once."""
    arrays: dict[str, Any] = {
        "ids": np.full((n_queries, k), NOBODY),
        "distances": np.full((n_queries, k), np.nan),
        "nearer": np.full((n_queries, k), NOBODY),
        "tie_starts": np.zeros(n_queries, dtype=np.int64),
        "n_ties": np.zeros(n_queries, dtype=np.int64),
    }
    sizes = np.zeros(n_queries, dtype=np.int64)
    ties = []
    for query, part in parts:
        for name, array in arrays.items():
            array[query] = getattr(part, name)
        sizes[query] = np.diff(part.tie_indptr)
        ties.append((query, part.tie_indptr, part.tie_ids))
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    tie_ids = np.empty(indptr[-1], dtype=np.int64)
    while ties:
        query, pointer, items = ties.pop()
        tie_ids[ranges(indptr[query], np.diff(pointer))[1]] = items
    of_ties: dict[str, Any] = {"tie_indptr": indptr, "tie_ids": tie_ids, "duplicates": duplicates}
    return Neighbors(**arrays, **of_ties, k=k, n_items=n_items, distance=called)


class Admission:
    """Counts the items of the ties at rank k, which threads are about to list, and refuses more than fit."""

    def __init__(self, memory: int, k: int) -> None:
        self.most, self.k, self.lock, self.admitted = max(memory, SMALLEST) // ID_BYTES, k, Lock(), 0

    def __call__(self, items: int) -> None:
        """Admit so many items more."""
        with self.lock:
            self.admitted += items
            if self.admitted > self.most:
                raise InputError(
                    f"The ties at rank {self.k} hold more than {self.most:,} items in all, which is what fits into "
                    "the memory. Pass fewer queries at a time, or a larger memory=; tp.collisions counts the ties.",
                    "memory",
                )


def _duplicates(search: Search, space: Space | None) -> int:
    """How many items of the gallery are equal to an earlier one."""
    items = search.queries if search.gallery is None else search.gallery
    if space is not None and isinstance(items, MultiVectors):
        return len(items) - len(space.items)
    if space is not None and space.as_passed.items.exact_in_float64:
        alike = len(items) - len(space.items)
        if not (alike and cast(Distance, search.distance).up_to_factor):
            return alike
    rows = distinct_rows(items, "gallery", False, np.arange(len(items)), search.budget.threads)
    # Of integers that float64 cannot represent, `distinct_rows` may take equal ones for distinct.
    return len(items) - (len(rows) if rows.exact_in_float64 else len(np.unique(items, axis=0)))
