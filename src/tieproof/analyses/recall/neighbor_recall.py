"""`neighbor_recall`: the share of the true nearest neighbors that an index found."""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tieproof.analyses.recall.result import NeighborRecall, RecallAtK
from tieproof.analyses.recall.truths import (
    FoundLists,
    TrueNeighbors,
    as_cutoffs,
    as_found,
    as_truth,
    certified_truth,
    ranked_truth,
)
from tieproof.distances import DistanceFunction, DistanceName
from tieproof.errors import InputError, about, calling
from tieproof.evaluation.problems import ArgumentSide, as_budget, in_memory, make_search, watched
from tieproof.inputs.arrays import as_array, check_count
from tieproof.inputs.mapped import unchanged_files
from tieproof.inputs.mistakes import warn_of_other_order
from tieproof.inputs.neighbor_lists import NOTHING
from tieproof.inputs.options import check_whole
from tieproof.inputs.sparse_rows import SparseRows
from tieproof.ties import Estimate


@unchanged_files
def neighbor_recall(
    found: Any,
    truth: Any = None,
    *,
    distances: Any = None,
    k: int | Iterable[int] = 10,
    among: int | None = None,
    n_items: int | None = None,
    queries: Any = None,
    gallery: Any = None,
    exclude: Any = None,
    distance: DistanceName | str | DistanceFunction = "cosine",
    memory: str | int = "1GiB",
    threads: int | None = None,
    progress: bool = False,
    bits: int | None = None,
) -> NeighborRecall:
    """Compute the share of the true k nearest items that an index found, over all choices of the k nearest.

    If several items are at exactly the k-th distance, the set of the k nearest items is not unique, and the list in
    a file is one choice of many. Let s items be nearer than the k-th distance and t items at it, of which r = k - s
    belong to the k nearest; let a of the s items and b of the t items be found. Then over all choices, each equally
    likely,

    - lower = (a + max(0, r - (t - b))) / k
    - expected = (a + r b / t) / k
    - upper = (a + min(b, r)) / k
    - std² = r b (t - b) (t - r) / (t² (t - 1)) / k², that of the hypergeometric distribution.

    `upper` is 1 exactly if the found items contain k items than which no other item is nearer, so an exact search
    scores 1. `expected` and `lower` are the recall against a file of ids whose ties were broken arbitrarily, on
    average and at worst.

    Parameters
    ----------
    found : (q, n) integers
        The items that the index found for each query, nearest first; -1, or the largest number of uint32 or uint64,
        where it found nothing. An item that occurs twice in a list counts once. The answer of usearch or qdrant may
        be passed alone, as in `evaluate_neighbors`.
    truth : (ids, distances), both (q, m), or a folder
        The m nearest items of each query, nearest first, by increasing distances or decreasing similarities. Equal
        numbers are ties. If the tie at the k-th distance ends within the list, it is complete. If it reaches the end
        of the list, it may continue: then `lower` and `upper` cover every continuation, and `expected` and `std` are
        those of the list as given. Or the path of a folder that `truth` wrote: its ties are complete for every k.
        A query that may find fewer than m items, as in a filtered search, has a shorter list, or -1 behind the last
        one, as `nearest` writes them, and its recall is the share of the items that it has, if they are fewer than k.
    distances : (q, n) numbers
        The distances or similarities that the index returned, of the same kind as those of the truth. NaN means that
        nothing was found, as in usearch. Otherwise they do not affect the result; only the recall of ann-benchmarks
        is computed from them.
    k : whole number, or several
        The number of nearest items to find.
    among : whole number
        The number of found items that count for each query; default: k. `k=1, among=100` is the recall@100 of
        quantizers.
    n_items : whole number
        The number of items in the gallery, if it is known and `truth` is given; a list of all items cannot continue.
    queries, gallery : (q, d) and (n, d), instead of `truth`
        The vectors among which the nearest items are found exactly, as `evaluate` ranks them.
    exclude : rows (query, item), or (q, n) bools, with `gallery`
        Pairs that are left out, such as the items that do not pass the filter of a query. Found items among them
        count as not found. The recall of a query that has fewer than k items left is the share of these; a query
        without any is left out, as one whose true list has only -1.
    distance, bits, memory, threads, progress :
        As in `evaluate`, for `gallery`. The gallery is ranked once for every k, or only once if `among` is given.

    Returns
    -------
    NeighborRecall
        `found[10]` is an `Estimate`, `found.per_query(10)` has the estimates of every query, and `found.at(10)` has
        all numbers; for a truth of lists they include the recalls of ann-benchmarks and big-ann-benchmarks, under
        their own names.

    Raises
    ------
    InputError
        If lists are shorter than k, if an id is not that of an item, or if the truth is not sorted or has no
        distances.

    Notes
    -----
    The definitions of other benchmarks are in https://github.com/erikbern/ann-benchmarks,
    `ann_benchmarks/plotting/metrics.py`, and https://github.com/harsha-simhadri/big-ann-benchmarks,
    `benchmark/plotting/metrics.py`.

    Examples
    --------
    >>> import tieproof as tp
    >>> gallery = [[0.0], [1.0], [-1.0], [1.0], [9.0]]
    >>> found = tp.neighbor_recall([[0, 3]], queries=[[0.0]], gallery=gallery, distance="euclidean", k=2)
    >>> found[2]
    Estimate(lower=0.5, expected=0.6666666666666666, upper=1.0, std=0.23570226039551584)
    >>> truth = [[0, 1, 2, 3]], [[0.0, 1.0, 1.0, 1.0]]
    >>> print(tp.neighbor_recall([[0, 3]], truth, k=2)[2], tp.neighbor_recall([[0, 4]], truth, k=2)[2])
    0.5 ≤ 0.6666666666666666 ≤ 1.0 0.5 ≤ 0.5 ≤ 1.0
    >>> passes = tp.nearest([[0.0]], gallery, k=2, distance="euclidean", exclude=[(0, 0), (0, 1), (0, 2), (0, 4)])
    >>> passes.ids.tolist(), tp.neighbor_recall([[3, -1]], (passes.ids, passes.distances), k=2)[2].lower
    ([[3, -1]], 1.0)

    """
    cutoffs, ranked = as_cutoffs(k), None
    _check_found(found)
    if (truth is None) == (gallery is None):
        raise InputError(
            "Pass either truth=(ids, distances), or queries= and gallery=, so that the true neighbors are known.",
            ("truth", "gallery"),
        )
    if truth is not None:
        for name, given in (("queries", queries), ("exclude", exclude)):
            if given is not None:
                raise InputError(
                    f"{name} and truth were both passed. Pass either truth, or both queries= and gallery=.", name
                )
        if n_items is not None:
            check_whole("n_items", n_items)
        is_folder = isinstance(truth, str | os.PathLike)
        known = certified_truth(truth, n_items) if is_folder else as_truth(truth, n_items).truth()
    else:
        if queries is None or n_items is not None:
            raise InputError(
                "A gallery was passed, which needs queries= with one query for each found list, and no n_items. Pass "
                "queries=, and leave n_items out.",
                "queries" if queries is None else "n_items",
            )
        with calling({"embeddings": "queries"}):
            sides, budget = (ArgumentSide(queries), ArgumentSide(gallery)), as_budget(memory, threads)
            search = make_search(*sides, distance, budget, exclude=exclude, bits=bits, kinds=(SparseRows,))
            ranked = in_memory(search)
            known = ranked_truth(ranked, watched(progress))
    if not known.matches.any():
        raise InputError(
            f"None of the {known.n_queries:,} queries has an item to find, so that recall is unknown. Pass queries "
            "that have one.",
            "truth" if exclude is None else "exclude",
        )
    lists = as_found(found, distances, known.n_items)
    with about("found"):
        check_count(len(lists.ids), "found lists", known.n_queries, "queries" if truth is None else "true lists")
    if ranked is not None and ranked.gallery is not None:
        own, items = ranked.queries, ranked.gallery
        warn_of_other_order(lambda rows: own[rows], lambda rows: items[rows], lists.ids, ranked.called)
    largest, width = max(cutoffs), lists.ids.shape[1]
    if among is not None:
        check_whole("among", among, beside=", or None")
        if among < largest:
            raise InputError(
                f"among={among} is less than k={largest}, the number of nearest items to find. Pass a number of at "
                "least k, or None for k.",
                "among",
            )
    needed = largest if among is None else among
    if width < needed:
        raise InputError(
            f"The length of the found lists is {width}, but must be at least {needed}. Ask the index for {needed} "
            "items, and fill up shorter lists with -1.",
            "found",
        )
    if largest > known.listed:
        raise InputError(
            f"k is {largest}, but {'the gallery' if truth is None else 'each true list'} has only "
            f"{known.listed} items. Pass longer true lists, or a smaller k.",
            "k",
        )
    with calling({"embeddings": "queries"}):
        points = tuple(_points(known, lists, cutoffs, among))
    return NeighborRecall(
        truth=known.called,
        queries=int((known.matches > 0).sum()),
        n_items=known.n_items,
        listed=None if known.lists is None else known.listed,
        points=points,
        skipped=tuple(np.flatnonzero(known.matches == 0).tolist()),
    )


def _check_found(found: Any) -> None:
    """Refuse a truth in place of the found ids: the path of one, or a pair of ids and distances."""
    if isinstance(found, str | os.PathLike):
        raise InputError(
            f"The found ids must be an array, not {found!r}. Pass the found ids first, then the truth: "
            f"neighbor_recall(ids, {found!r}).",
            "found",
        )
    is_pair = isinstance(found, tuple) and len(found) == 2 and all(getattr(each, "ndim", 0) == 2 for each in found)
    if is_pair and as_array(found[1], "found").dtype.kind == "f":
        raise InputError(
            "The found ids are a pair (ids, distances), as a truth is. Pass the found ids first, then the truth; the "
            "distances that an index found are passed as distances=.",
            "found",
        )


def _points(
    truth: TrueNeighbors, lists: FoundLists, cutoffs: Sequence[int], among: int | None
) -> Iterator[RecallAtK]:
    """Yield the recall at each k; the ks that count the same found items are ranked together."""
    # Elsewhere all ties are whole, and the recalls of other benchmarks are defined by lists of distances.
    listed = truth.lists
    kept = truth.matches > 0
    for together in [cutoffs] if among is not None else [[k] for k in cutoffs]:
        depth = together[0] if among is None else among
        found = lists.first(depth)
        values = truth.recalls(found, together)
        for k, (lower, expected, upper, variance) in zip(together, values[..., kept], strict=True):
            others = {} if listed is None else listed.others(lists, k, depth)
            yield RecallAtK(
                k=k,
                among=depth,
                per_query=Estimate(lower, expected, upper, np.sqrt(variance)),
                others={name: each[kept] for name, each in others.items()},
                duplicates=found.repeated.sum(axis=1)[kept],
                padding=(found.ids == NOTHING).sum(axis=1)[kept],
                cut_off=np.zeros(kept.sum(), dtype=np.bool_) if listed is None else listed.cut_off(k)[kept],
                fewer=(truth.matches < k)[kept],
            )
