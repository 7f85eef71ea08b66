"""The ends of lists that were cut off: the bounds over every possible continuation of their last tie.

A list that was cut off is the beginning of a ranking: no unlisted item is nearer than the last one listed. Items that
are exactly as near continue its last tie, and any of them might have been listed instead. `expected` and `std` are
those of the list as given. `lower` and `upper` cover every continuation of its last tie: by any of the missing
relevant items, and by as many other items as the gallery has. As in any list, relevant items in neither the list nor
the continuation were never retrieved.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace

import numpy as np

from tieproof.errors import InputError
from tieproof.measures import Estimates, Measure
from tieproof.measures.graded_ends import worst_counts, worst_counts_of_stops
from tieproof.ties import Array, CutOffTies, FloatArray, IntArray, ListEnd, Ties

MOST_OTHERS = 2**22
"""More other items in a last tie count as infinitely many, which keeps tables small and the bounds valid."""


def cut_off(
    ties: Ties,
    end: tuple[IntArray, IntArray, IntArray, IntArray],
    n_relevant: IntArray,
    n_items: IntArray | None,
    names: Array,
) -> CutOffTies:
    """Return the ties of lists that were cut off; `names` are the names of the queries."""
    listed = ties.listed
    missing = n_relevant - listed
    if (missing < 0).any():
        query = int(np.argmax(missing < 0))
        raise InputError(
            f"n_relevant is {n_relevant[query]} for query {names[query]}, but its list contains {listed[query]} "
            f"relevant item{'s' if listed[query] > 1 else ''}. Count all relevant items, in the list or not.",
            "n_relevant",
        )
    others = np.full(len(missing), np.inf)
    if n_items is not None:
        others = (n_items - ties.n_items - missing).astype(np.float64)
        if (others < 0).any():
            query = int(np.argmax(others < 0))
            raise InputError(
                f"n_items is {n_items[query]} for query {names[query]}, but its list contains {ties.n_items[query]}, "
                f"and {missing[query]} more are relevant. Count all items that are not excluded, in the list or not.",
                "n_items",
            )
    others[others > MOST_OTHERS] = np.inf
    known = {field.name: getattr(ties, field.name) for field in fields(ties) if field.init}
    return CutOffTies(**known | {"n_relevant": n_relevant, "end": ListEnd(*end, others=others)})


def estimate(measure: Measure, ties: Ties) -> Estimates:
    """Evaluate a measure of lists; if they were cut off, with bounds over every continuation of their last tie."""
    given = measure(ties)
    if not isinstance(ties, CutOffTies):
        return given
    bounds = BOUNDS.get(str(measure).partition("@")[0], BOUNDS.get(measure.name, monotone))
    lower, upper = bounds(measure, ties)
    return given._replace(lower=np.minimum(given.lower, lower), upper=np.maximum(given.upper, upper))


def monotone(measure: Measure, ties: CutOffTies) -> tuple[FloatArray, FloatArray]:
    """Return bounds of a measure that every relevant item raises and every other item before it lowers.

    In the worst case all other items and no missing relevant items continue the tie; in the best case the reverse.
    """
    none = np.zeros_like(ties.missing)
    return (
        measure(ties.continued(none, ties.end.others)).lower,
        measure(ties.continued(ties.missing, none.astype(np.float64))).upper,
    )


def graded(measure: Measure, ties: CutOffTies) -> tuple[FloatArray, FloatArray]:
    """Return bounds of nDCG, where a missing item of a lower grade can push one of a higher grade down.

    In the worst case all other items join, and those missing items with the smallest grades that lower the value; in
    the best case all missing items and no others.
    """
    _, upper = monotone(measure, ties)
    return measure(ties.continued(worst_counts(measure, ties), ties.end.others)).lower, upper


def graded_stops(measure: Measure, ties: CutOffTies) -> tuple[FloatArray, FloatArray]:
    """Return bounds of ERR, where a missing item of a lower grade can precede one of a higher grade, as for nDCG."""
    counts = worst_counts_of_stops(measure, ties)
    _, upper = monotone(measure, ties)
    return measure(ties.continued(counts, ties.end.others)).lower, upper


def list_alone(measure: Measure, ties: CutOffTies) -> tuple[FloatArray, FloatArray]:
    """Return bounds of nDCG(ideal=list), whose ideal is the list alone: a missing item counts as any other item."""
    end = replace(ties.end, others=ties.end.others + ties.missing)
    return monotone(measure(ideal="all"), replace(ties, n_relevant=ties.listed, missing_grades=None, end=end))


def pairs(measure: Measure, ties: CutOffTies) -> tuple[FloatArray, FloatArray]:
    """Return bounds of AUC, which other items after a relevant item raise.

    In the worst case no other items join, because they would be ranked after the n relevant items before the tie; but
    the first other item of a ranking lowers the value. In the best case all other items come after the relevant ones;
    if they are infinitely many, nothing else counts.
    """
    none, end = np.zeros_like(ties.missing), ties.end
    most = np.where(np.isfinite(end.others), end.others, 0.0)
    best = measure(ties.continued(ties.missing, most)).upper
    best[np.isinf(end.others) & (ties.n_relevant > 0)] = 1.0
    return measure(ties.continued(none, np.minimum(end.others, 1.0))).lower, best


def mean_of_hits(measure: Measure, ties: CutOffTies) -> tuple[FloatArray, FloatArray]:
    """Return bounds of AP(norm=hits), the mean precision of the hits above the cutoff.

    Whether a tie's relevant items come first or last, each hit has a higher precision than the one before it in the
    tie. So the mean first decreases with the number of hits and then increases: it is largest for as few or as many
    hits as possible, and smallest in between. If the whole tie is above the cutoff, the number of hits is that of its
    relevant items. If the tie straddles the cutoff, the measure itself searches over the number of hits.
    """
    end, missing, none = ties.end, ties.missing, np.zeros_like(ties.missing)
    last = measure.last_rank(ties)
    cutoff = np.full(ties.n_queries, np.inf) if last is None else last.astype(np.float64)
    cutoff[cutoff > MOST_OTHERS] = np.inf
    others = np.minimum(end.others, cutoff)
    most = (
        np.zeros_like(others) if last is None else others
    )  # without a cutoff, other items after the hits have no effect
    ends = [ties.continued(relevant, more) for more in (np.zeros_like(most), most) for relevant in (none, missing)]
    upper = np.max([measure(continued).upper for continued in ends], axis=0)

    def worst(relevant: IntArray) -> FloatArray:
        return measure(ties.continued(relevant, others)).lower

    room = np.clip(cutoff - (end.k + end.l + np.where(np.isfinite(others), others, 0.0)), 0, missing).astype(np.int64)
    low = valley(worst, np.where(np.isfinite(others), room, 0))
    # Infinitely many others and no cutoff: all relevant items of the tie are hits, of precision 0.
    hits_of_nothing = np.where(np.isfinite(others), 1.0, end.n / np.maximum(end.n + end.m + missing, 1))
    return np.minimum(worst(low), worst(missing)) * hits_of_nothing, upper


def judged_alone(measure: Measure, ties: CutOffTies) -> tuple[FloatArray, FloatArray]:
    """Return bounds of a measure of judged items; the judged items outside the list may continue the tie."""
    judged = ties.judged
    assert judged is not None
    assert isinstance(judged.ties, CutOffTies)
    end, none = judged.ties, np.zeros_like(ties.missing)

    def of(relevant: IntArray, others: FloatArray) -> Estimates:
        continued = end.continued(relevant, others)
        return measure(replace(continued, judged=replace(judged, ties=continued)))

    return of(none, end.end.others).lower, of(end.missing, none.astype(np.float64)).upper


def valley(function: Callable[[IntArray], FloatArray], last: IntArray) -> IntArray:
    """Return element-wise where a function of 0 … last that decreases, then increases, is smallest, by bisection."""
    low, high = np.zeros_like(last), last.copy()
    while (low < high).any():
        middle = (low + high) // 2
        falls = (function(np.minimum(middle + 1, last)) < function(middle)) & (low < high)
        low, high = np.where(falls, middle + 1, low), np.where(falls, high, middle)
    return low


BOUNDS: Mapping[str, Callable[[Measure, CutOffTies], tuple[FloatArray, FloatArray]]] = {
    "AUC": pairs,
    "ERR": graded_stops,
    "bpref": judged_alone,
    "nDCG": graded,
    "nDCG(gain=exp)": graded,
    "AP(norm=hits)": mean_of_hits,
    "nDCG(ideal=list)": list_alone,
    "nDCG(gain=exp,ideal=list)": list_alone,
}
"""The bounds of measures that are not monotone in the continuation of the last tie, by spelling or by name."""
