"""`collisions`: which neighbors in rankings are at the same distance, and how much this widens AP's interval."""

import math
from collections.abc import Iterable
from contextlib import closing
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from tieproof.analyses.collisions.pictures import Painter
from tieproof.analyses.collisions.result import COUNTS, Collisions, CollisionSetting, RankRange
from tieproof.analyses.collisions.widest_ties import WidestTies
from tieproof.distances import DistanceFunction, DistanceName
from tieproof.errors import InputError
from tieproof.evaluation.problems import ArgumentSide, as_budget, in_memory, make_problem, watched
from tieproof.inputs.mapped import unchanged_files
from tieproof.inputs.sparse_rows import SparseRows
from tieproof.measures.families.relevant_ranks import tie_widths
from tieproof.measures.rank_weights import growing_tables
from tieproof.ties import Array, IntArray

if TYPE_CHECKING:
    from tieproof.engine import FoundTies

_NOBODY = np.zeros((0, 2), dtype=np.int64)  # pairs of relevance in which no item is relevant to any query


@unchanged_files
def collisions(
    embeddings: Any,
    labels: Any = None,
    *,
    gallery: Any = None,
    gallery_labels: Any = None,
    distance: DistanceName | str | DistanceFunction = "cosine",
    epsilon: float = 0.0,
    groups: Any = None,
    gallery_groups: Any = None,
    exclude: Any = None,
    memory: str | int = "1GiB",
    threads: int | None = None,
    progress: bool = False,
    bits: int | None = None,
) -> Collisions:
    """Find the ties in all rankings: their ranks, which are ambiguous, and how much of AP's interval each causes.

    Two neighbors in a ranking collide if they are at exactly the same distance from the query, or, with `epsilon`
    above 0, if their distances differ by less than `epsilon` (Nicolaou et al. 2018, section 3.1). A tie is a
    sequence of two or more neighbors in which each collides with the next one.

    Parameters
    ----------
    embeddings, gallery, distance, exclude, memory, threads, progress, bits :
        As in `evaluate`. The distances that are compared with `epsilon` are 1 - x.y / (|x| |y|) (1 for a zero
        vector), |x - y|, its square, the sum of |x - y|, - x.y, the number of differing bits, or the values that a
        function returns.
    labels, gallery_labels, groups, gallery_groups :
        As in `evaluate`. With labels, queries with nothing relevant are left out. Without labels all queries count,
        and no tie is ambiguous.
    epsilon : a number of at least 0
        Epsilon and the distances are compared as real numbers: no rounding decides.

    Returns
    -------
    Collisions
        Counts per query, by rank and in total, and their pictures.

    Raises
    ------
    InputError
        As in `evaluate`; also if epsilon is not a number of at least 0.

    Notes
    -----
    AP is 1/R times a sum over ties, and the term of a tie depends only on the order within that tie (`measures`).
    Therefore the width of AP's interval, `upper` - `lower`, is the sum of the widths of the ties,
    ((n-k) (H(k+m) - H(k)) - (n-k-l+m) (H(k+l) - H(k+l-m))) / R, with H(a) = 1 + 1/2 + … + 1/a and the letters of
    `Ties`. With an epsilon above 0 these are the intervals of a system that cannot tell apart distances that differ
    by less than epsilon.

    Examples
    --------
    >>> import tieproof as tp
    >>> found = tp.collisions([[0.0], [1.0], [-1.0], [3.0]], ["a", "a", "b", "b"], distance="euclidean")
    >>> found.ties, found.ambiguous_ties, found.pairs
    (2, 1, 2)
    >>> found.per_query["ap_width"]
    array([0.5, 0. , 0. , 0. ])

    """
    from tieproof.distances.exact.bounds import single_threaded
    from tieproof.engine import collisions_of  # here, so that the command's help does not wait for the engine

    budget = as_budget(memory, threads)
    threshold = as_epsilon(epsilon)
    labelled = labels is not None
    if not labelled and (gallery_labels is not None or groups is not None or gallery_groups is not None):
        raise InputError("gallery_labels and groups were passed without labels. Pass labels= too, or leave them out.")
    sides = ArgumentSide(embeddings, labels, groups), ArgumentSide(gallery, gallery_labels, gallery_groups)
    judged, kinds = None if labelled else _NOBODY, (SparseRows,)
    whole = make_problem(*sides, distance, budget, relevance=judged, exclude=exclude, bits=bits, kinds=kinds)
    problem = in_memory(whole)
    relevance = problem.relevance
    candidates = np.flatnonzero(relevance.at_most()) if labelled else np.arange(relevance.n_queries)
    setting = CollisionSetting(
        distance=problem.called,
        epsilon=threshold,
        leave_one_out=problem.gallery is None,
        queries=relevance.n_queries,
        gallery=relevance.n_items,
        dimensions=problem.dimensions,
        labelled=labelled,
    )
    with (
        growing_tables(),
        single_threaded(),  # once around all tasks, so that BLAS does not wake its threads between them
        closing(collisions_of(problem, threshold, watched(progress))) as parts,
    ):
        return _count_collisions(parts, candidates, setting)


def as_epsilon(epsilon: Any) -> float:
    """Return epsilon as a float64, refusing numbers below 0 and numbers that float64 cannot represent exactly."""
    try:
        value = float(epsilon) if isinstance(epsilon, Real) and not isinstance(epsilon, bool) else -1.0
    except OverflowError:  # an integer too large for float64, and too long for a message
        value = math.inf
    if not 0 <= value < math.inf:
        arrived = "infinity" if value == math.inf else repr(epsilon)
        raise InputError(
            f"Epsilon must be a finite number of at least 0, not {arrived}. Pass 0 for neighbors at exactly the "
            "same distance."
        )
    if value != epsilon:
        raise InputError(
            f"Epsilon is compared exactly, but float64 rounds {epsilon!r} to {value!r}. Pass epsilon={value!r}, or "
            "another number that float64 represents exactly."
        )
    return value


def _count_collisions(parts: Iterable["FoundTies"], candidates: IntArray, setting: CollisionSetting) -> Collisions:
    """Count the collisions of all parts; `candidates` are all queries, or those that may have a relevant item."""
    count, width = setting.queries, setting.ranks
    powers = 10 ** np.arange(19)
    firsts = np.append(1, 1 + powers[powers < width])  # the first ranks of ranges of ranks: 1, 2, 11, 101, …
    totals = {name: np.zeros(count, dtype=np.int64) for name in COUNTS}
    widths = np.zeros((count, len(firsts)))
    ranges = np.zeros((2, len(firsts)), dtype=np.int64)
    steps = {name: np.zeros(width + 1, dtype=np.int64) for name in ("pairs", "relevant", "others", "ambiguous")}
    kept = np.zeros(count, dtype=np.bool_)
    painter = Painter(candidates, count, width)
    widest = WidestTies()
    for all_ties in parts:
        kept[all_ties.queries] = (all_ties.n_relevant > 0) | (not setting.labelled)
        chosen = kept[all_ties.queries[all_ties.place]]
        part = all_ties._replace(**{name: getattr(all_ties, name)[chosen] for name in ("place", "k", "n", "l", "m")})
        query, k, l, m = part.queries[part.place], part.k, part.l, part.m
        ambiguous = (m > 0) & (m < l)
        for name, numbers in zip(COUNTS[:-1], (l - 1, l > 0, ambiguous, m, l - m), strict=True):
            np.add.at(totals[name], query, numbers)
        np.maximum.at(totals["largest_tie"], query, l)
        for name, start, stop in (
            ("pairs", k, k + l - 1),
            ("others", k, k + l - m),
            ("relevant", k + l - m, k + l),
            ("ambiguous", k[ambiguous], (k + l)[ambiguous]),
        ):
            np.add.at(steps[name], start, 1)
            np.add.at(steps[name], stop, -1)
        place = np.searchsorted(firsts, k + 1, side="right") - 1
        ranges += [np.bincount(place[which], minlength=len(firsts)) for which in (l > 0, ambiguous)]
        ap = np.zeros(len(k))
        ap[ambiguous] = tie_widths(*(column[ambiguous] for column in (k, part.n, l, m)))
        ap /= np.maximum(part.n_relevant[part.place], 1)
        np.add.at(widths, (query, place), ap)
        widest.add(query, part, ap)
        painter.paint(part)
    query_ids = np.flatnonzero(kept)
    if not len(query_ids):
        raise InputError(
            "No query has a relevant item. Check that labels and embeddings belong together, or pass no labels.",
            "labels" if setting.leave_one_out else ("labels", "gallery_labels"),
        )
    ends = np.append(firsts[1:] - 1, width)
    by_range = tuple(
        RankRange(first, last, ties, ambiguous_ties, math.fsum(of_queries.tolist()) / max(1, len(query_ids)))
        for first, last, ties, ambiguous_ties, of_queries in zip(
            firsts.tolist(), ends.tolist(), *ranges.tolist(), widths[query_ids].T, strict=True
        )
    )
    per_query: dict[str, Array] = {name: numbers[query_ids] for name, numbers in totals.items()}
    per_query["ap_width"] = np.array([math.fsum(row) for row in widths[query_ids].tolist()])
    by_rank = {name: np.cumsum(numbers)[:-1] for name, numbers in steps.items()}
    ambiguous_by_rank = by_rank.pop("ambiguous")
    skipped, widest_ties = np.flatnonzero(~kept), widest.ties()
    return Collisions(
        setting, query_ids, skipped, per_query, by_rank, by_range, widest_ties, painter.cells, ambiguous_by_rank
    )
