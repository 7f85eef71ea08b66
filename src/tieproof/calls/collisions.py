"""`collisions`: which neighbours in the rankings are at the same distance, and what that costs."""

import math
from contextlib import closing
from numbers import Real
from typing import Any

import numpy as np

from tieproof.calls.collision_counts import count_collisions
from tieproof.calls.progress import progress_bar
from tieproof.calls.vectors import as_inputs
from tieproof.distances import DistanceFunction, reported
from tieproof.errors import InputError
from tieproof.inputs.embeddings import make_relevance
from tieproof.inputs.mapped import unchanged_files
from tieproof.inputs.options import parse_memory, parse_threads
from tieproof.native.waiting import explain_waits
from tieproof.results.collisions import Collisions, CollisionSetting


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
    explain_waits(progress)
    limits = parse_memory(memory), parse_threads(threads)
    threshold = as_epsilon(epsilon)
    vectors, gallery_vectors, kind, dimensions = as_inputs(embeddings, gallery, distance, bits)
    labelled = labels is not None
    if not labelled:
        if gallery_labels is not None or groups is not None or gallery_groups is not None:
            raise InputError(
                "gallery_labels and groups were passed without labels. Pass labels= too, or leave them out."
            )
        labels = np.arange(len(vectors))
        gallery_labels = None if gallery_vectors is None else np.full(len(gallery_vectors), -1)
    relevance = make_relevance(
        vectors, gallery_vectors, labels, gallery_labels, None, (groups, gallery_groups), exclude
    )
    candidates = np.flatnonzero(relevance.at_most()) if labelled else np.arange(len(vectors))
    from tieproof.engine.collisions.ties import all_ties
    from tieproof.exact.blas import single_threaded
    from tieproof.measures.rank_weights import growing_tables
    from tieproof.pooled.points import make_gauge

    setting = CollisionSetting(
        distance=reported(distance),
        epsilon=threshold,
        leave_one_out=gallery is None,
        queries=relevance.n_queries,
        gallery=relevance.n_items,
        dimensions=dimensions,
        labelled=labelled,
    )
    gauge = make_gauge(vectors, gallery_vectors, kind, relevance, limits[0])
    with (
        progress_bar(relevance.n_queries * relevance.n_items, progress) as advance,
        growing_tables(),
        single_threaded(),  # for all tasks together: between them its threads would only be woken up
        closing(all_ties(gauge, relevance, threshold, limits, advance)) as parts,
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
