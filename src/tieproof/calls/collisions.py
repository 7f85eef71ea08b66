"""`collisions`: which neighbours in the rankings are at the same distance, and what that costs."""

import math
from contextlib import closing
from numbers import Real
from typing import Any

import numpy as np

from tieproof.calls.collision_counts import count_collisions
from tieproof.calls.problems import Side, as_budget, in_memory, make_problem, watched
from tieproof.distances import DistanceFunction
from tieproof.errors import InputError
from tieproof.inputs.mapped import unchanged_files
from tieproof.results.collisions import Collisions, CollisionSetting

NOBODY = np.zeros((0, 2), dtype=np.int64)
"""Triples where nobody is relevant to anybody."""


@unchanged_files
def collisions(
    embeddings: Any,
    labels: Any = None,
    *,
    gallery: Any = None,
    gallery_labels: Any = None,
    distance: str | DistanceFunction = "cosine",
    epsilon: float = 0.0,
    groups: Any = None,
    gallery_groups: Any = None,
    exclude: Any = None,
    memory: str | int = "1GiB",
    threads: int | None = None,
    progress: bool = False,
    bits: int | None = None,
) -> Collisions:
    """Find the ties in all rankings: where they are, which are ambiguous, and what of AP's interval each makes.

    Two neighbours in a ranking collide where they are at exactly the same distance from the query; with `epsilon`
    above 0, where their distances differ by less than that (Nicolaou et al. 2018, section 3.1). A tie is a run of at
    least two neighbours of which each collides with the next one.

    Parameters
    ----------
    embeddings, gallery, distance, exclude, memory, threads, progress, bits :
        As in `evaluate`. The distances, which `epsilon` compares, are 1 - x.y / (|x| |y|) (1 for a zero vector),
        |x - y|, its square, the sum of |x - y|, - x.y, the number of bits that differ, or what a function returns.
    labels, gallery_labels, groups, gallery_groups :
        As in `evaluate`. With labels, queries with nothing relevant are left out. Without them all queries are looked
        at, and no tie is ambiguous.
    epsilon : a number of at least 0
        Compared as the real number that it stands for, with distances as real numbers: no rounding decides.

    Returns
    -------
    Collisions
        Counts per query, by rank and in all, and their pictures.

    Raises
    ------
    InputError
        As in `evaluate`; where epsilon is no number of at least 0.

    Notes
    -----
    AP is 1/R times a sum over ties, and what a tie adds depends on nothing but its own order (`measures`): so the
    width of AP's interval, `upper` - `lower`, is the sum of the ties' widths
    ((n-k) (H(k+m) - H(k)) - (n-k-l+m) (H(k+l) - H(k+l-m))) / R, with H(a) = 1 + 1/2 + … + 1/a and the letters of
    `Ties`. With an epsilon above 0 these are the intervals of a system that cannot tell distances closer than that
    apart.

    Examples
    --------
    >>> import tieproof as tp
    >>> found = tp.collisions([[0.0], [1.0], [-1.0], [3.0]], ["a", "a", "b", "b"], distance="euclidean")
    >>> found.ties, found.ambiguous_ties, found.pairs
    (2, 1, 2)
    >>> found.per_query["ap_width"]
    array([0.5, 0. , 0. , 0. ])

    """
    budget = as_budget(memory, threads)
    threshold = as_epsilon(epsilon)
    labelled = labels is not None
    if not labelled and (gallery_labels is not None or groups is not None or gallery_groups is not None):
        raise InputError("gallery_labels and groups were passed without labels. Pass labels= too, or leave them out.")
    problem = in_memory(
        make_problem(
            Side(embeddings, labels, groups),
            Side(gallery, gallery_labels, gallery_groups),
            distance,
            budget,
            relevance=None if labelled else NOBODY,
            exclude=exclude,
            bits=bits,
        )
    )
    relevance = problem.relevance
    candidates = np.flatnonzero(relevance.at_most()) if labelled else np.arange(relevance.n_queries)
    from tieproof.engine import collisions_of
    from tieproof.exact.blas import single_threaded
    from tieproof.measures.rank_weights import growing_tables

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
        single_threaded(),  # for all tasks together: between them its threads would only be woken up
        closing(collisions_of(problem, threshold, watched(progress))) as parts,
    ):
        return count_collisions(parts, candidates, setting)


def as_epsilon(epsilon: Any) -> float:
    """A number of at least 0 that float64 holds exactly."""
    try:
        value = float(epsilon) if isinstance(epsilon, Real) and not isinstance(epsilon, bool) else -1.0
    except OverflowError:  # an integer of more digits than anybody wants to see
        value = math.inf
    if not 0 <= value < math.inf:
        arrived = "infinity" if value == math.inf else repr(epsilon)
        raise InputError(
            f"Epsilon must be a finite number of at least 0, not {arrived}. With 0 neighbours collide at exactly the "
            "same distance."
        )
    if value != epsilon:
        raise InputError(
            f"Epsilon is compared exactly, and float64 rounds {epsilon!r} to {value!r}. Pass epsilon={value!r}, or "
            "another number that float64 holds."
        )
    return value
