"""`collisions`: which neighbours in the rankings are at the same distance, and how much this widens AP's interval."""

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
"""Triples of relevance in which no item is relevant to any query."""


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
    """Find the ties in all rankings: their ranks, which are ambiguous, and how much of AP's interval each causes.

    Two neighbours in a ranking collide if they are at exactly the same distance from the query, or, with `epsilon`
    above 0, if their distances differ by less than `epsilon` (Nicolaou et al. 2018, section 3.1). A tie is a
    sequence of two or more neighbours in which each collides with the next one.

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
        single_threaded(),  # once around all tasks, so that BLAS does not wake its threads between them
        closing(collisions_of(problem, threshold, watched(progress))) as parts,
    ):
        return count_collisions(parts, candidates, setting)


def as_epsilon(epsilon: Any) -> float:
    """Return epsilon as a float64, refusing numbers below 0 and numbers that float64 cannot represent exactly."""
    try:
        value = float(epsilon) if isinstance(epsilon, Real) and not isinstance(epsilon, bool) else -1.0
    except OverflowError:  # an integer too large for float64, and too long for a message
        value = math.inf
    if not 0 <= value < math.inf:
        arrived = "infinity" if value == math.inf else repr(epsilon)
        raise InputError(
            f"Epsilon must be a finite number of at least 0, not {arrived}. Pass 0 for neighbours at exactly the "
            "same distance."
        )
    if value != epsilon:
        raise InputError(
            f"Epsilon is compared exactly, but float64 rounds {epsilon!r} to {value!r}. Pass epsilon={value!r}, or "
            "another number that float64 represents exactly."
        )
    return value
