"""The worst and the best places of unseen items with grades, for measures that read grades.

If unseen items continue the last tie of a list, the worst continuation ends with the relevant items in ascending
order of gain, after all other items that the gallery has. A missing relevant item that joins the tie adds its own
gain, and pushes every item of a larger gain down by one rank. So the items that join are those with the smallest
gains. The number of them that lowers the value most depends on the weights of the ranks: `worst_counts` finds it.

If unseen items may have any rank, the best ranking has them in descending order of their gains, and the worst in
ascending order; the same holds for the items of each tie of the list. It remains to merge two sequences, step by
step: after i listed and j unseen items the rank is i + j + 1, and the largest sum over the remaining ranks depends
only on i and j (for ERR, for a reader who has not stopped yet). The merged order is computed in this way, rank by
rank from the last one, and the measure itself evaluates it.
"""

import numpy as np

from tieproof.errors import InputError
from tieproof.measures.base import Measure
from tieproof.measures.cut_off import CutOffTies
from tieproof.measures.families.cascade import stops
from tieproof.measures.graded_gains import gains, is_graded, weights_of
from tieproof.measures.rank_weights import HARMONIC, Geometric, Tabled
from tieproof.ties import BoolArray, FloatArray, IntArray, Ties


def _gains_of(measure: Measure, ties: CutOffTies, missing_grades: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the gains of the listed and of the missing relevant items; for ERR, the probabilities of a stop."""
    assert ties.grades is not None
    if measure.name == "ERR":
        return stops(measure, ties.grades), stops(measure, missing_grades)
    return gains(measure, ties, missing_grades)


def worst_counts(measure: Measure, ties: CutOffTies) -> IntArray:
    """Return how many missing items of each query join its last tie in the worst continuation, (Q,)."""
    # There are none but for measures that read grades, where the last tie has relevant items, lacks some, and has a
    # limited length.
    counts = np.zeros_like(ties.missing)
    if not is_graded(measure) or ties.grades is None:
        return counts
    if ties.missing_grades is None:
        if measure.name != "nDCG" and ties.missing.any():
            raise InputError(
                f"'{measure}' needs the grades of the relevant items that are not in the list, because they may "
                "continue its last tie. Pass whole lists, without n_relevant, or use evaluate_run, which reads all "
                "grades from the qrels."
            )
        return counts
    weights = weights_of(measure)
    listed, missing = _gains_of(measure, ties, ties.missing_grades)
    ends, first = np.cumsum(ties.listed), np.cumsum(ties.missing) - ties.missing
    last = measure.last_rank(ties)
    limited = np.isfinite(ties.end.others)
    size = ties.end.k + ties.end.l + np.where(limited, ties.end.others, 0.0).astype(np.int64)
    for query in np.flatnonzero((ties.end.m > 0) & (ties.missing > 0) & limited).tolist():
        tied = listed[ends[query] - ties.end.m[query] : ends[query]]
        rising = missing[first[query] : first[query] + ties.missing[query]][::-1]
        end, cutoff = int(size[query]), int(last[query])
        if measure.name == "ERR":
            counts[query] = _worst_count_of_stops(tied, rising, end, cutoff)
        else:
            counts[query] = worst_count(tied, rising, end, cutoff, weights)
    return counts


def worst_count(tied: FloatArray, missing: FloatArray, end: int, last: int, weights: Tabled | Geometric) -> int:
    """How many of the `missing` gains, ascending, join a tie of `tied` gains, descending, in the worst case."""
    # end: the rank of the tie's last item before any of them joins; last: the last rank that counts
    joined = np.arange(np.searchsorted(missing, tied[0]) + 1)  # a gain as large as the largest pushes no item down
    total = np.zeros(len(joined))
    for gain in np.unique(np.concatenate([tied, missing[: len(joined) - 1]])):
        # The items of this gain come before the larger ones, which are at the end.
        below, up_to = (
            end + joined - larger_in_tie - np.maximum(joined - at, 0)
            for larger_in_tie, at in (
                ((tied >= gain).sum(), np.searchsorted(missing, gain)),
                ((tied > gain).sum(), np.searchsorted(missing, gain, side="right")),
            )
        )
        total += gain * weights.sum(np.minimum(below, last), np.minimum(up_to, last)).hi
    return int(np.argmin(total))


def _worst_count_of_stops(tied: FloatArray, missing: FloatArray, end: int, last: int) -> int:
    """Return what `worst_count` returns, for ERR: `missing` and `tied` are probabilities of a stop, not gains."""
    values = []
    for joined in range(len(missing) + 1):
        rising = np.sort(np.concatenate([tied, missing[:joined]]))
        rank = np.arange(end - len(tied) + 1, end + joined + 1)
        on = np.cumprod(np.append(1.0, 1.0 - rising[:-1]))
        values.append(np.cumsum(np.append(0.0, (on * rising / rank)[rank <= last]))[-1])
    return int(np.argmin(values))


def merged_rankings(measure: Measure, ties: CutOffTies, worst: bool) -> Ties:
    """Return whole rankings without ties: the worst or the best merged order of each list and its unseen items."""
    assert ties.grades is not None
    missing_grades = np.zeros(0) if ties.missing_grades is None else ties.missing_grades
    listed_gains, unseen_gains = _gains_of(measure, ties, missing_grades)
    last_listed, last_unseen = np.cumsum(ties.listed), np.cumsum(ties.missing)
    cutoffs = measure.last_rank(ties)
    places, grades = [], []
    for query in range(ties.n_queries):
        # Unseen items that are not relevant come first in the worst order, and last in the best.
        before = int(ties.end.others[query]) if worst else 0
        own_order, own_places = _order_in_list(ties, query, worst)
        listed = last_listed[query] - ties.listed[query] + own_order
        unseen = np.arange(last_unseen[query] - ties.missing[query], last_unseen[query])
        unseen = unseen[::-1] if worst else unseen
        chain = np.zeros(int(ties.n_items[query]))
        chain[own_places] = listed_gains[listed]
        is_unseen = _merged(chain, unseen_gains[unseen], before, int(cutoffs[query]), measure, worst)
        place = before + np.concatenate([np.flatnonzero(~is_unseen)[own_places], np.flatnonzero(is_unseen)])
        order = np.argsort(place)
        places.append(place[order])
        grades.append(np.concatenate([ties.grades[listed], missing_grades[unseen]])[order])
    of_query = np.repeat(np.arange(ties.n_queries), ties.n_relevant)
    one = np.ones_like(of_query)
    return Ties(
        query=of_query,
        k=np.concatenate(places),
        n=np.arange(len(of_query)) - np.searchsorted(of_query, of_query),
        l=one,
        m=one,
        n_relevant=ties.n_relevant,
        n_items=ties.n_items + ties.missing + ties.end.others.astype(np.int64),
        grades=np.concatenate(grades),
    )


def _order_in_list(ties: CutOffTies, query: int, worst: bool) -> tuple[IntArray, IntArray]:
    """Return the listed relevant items of a query, nearest first, and their positions in the list, from 0."""
    own = slice(ties.starts[query], ties.starts[query + 1])
    k, l, m = ties.k[own], ties.l[own], ties.m[own]
    index = np.arange(m.sum())
    first = np.repeat(np.cumsum(m) - m, m)
    if worst:  # last in their tie, and by ascending grade
        return 2 * first + np.repeat(m, m) - 1 - index, index - first + np.repeat(k + l - m, m)
    return index, index - first + np.repeat(k, m)


def _merged(chain: FloatArray, free: FloatArray, start: int, last: int, measure: Measure, worst: bool) -> BoolArray:
    """For each position of the merged order, whether its item is of `free`, not of `chain`: (items of both,)."""
    # The sum of weighted gains at ranks start + 1, start + 2, … down to rank `last` is largest, or smallest where it
    # is the worst. The gains of ERR are probabilities of a stop.
    stopping = measure.name == "ERR"
    counted = max(0, min(len(chain) + len(free), last - start))
    ranks = start + np.arange(1, counted + 1)
    weights = (HARMONIC if stopping else weights_of(measure)).sum(ranks - 1, ranks).hi * (-1.0 if worst else 1.0)
    of_chain, of_free = np.append(chain, 0.0), np.append(free, 0.0)
    i = np.arange(len(of_chain))
    takes_free = np.zeros((counted, len(i)), dtype=np.bool_)
    still = np.zeros(len(i) + 1)  # the best sum over the positions from here on, after i items of the chain
    for place in range(counted - 1, -1, -1):
        j = place - i
        of_next = of_free[np.clip(j, 0, len(free))]
        after_chain, after_free = still[1:], still[:-1]
        if stopping:
            after_chain, after_free = (1.0 - of_chain) * after_chain, (1.0 - of_next) * after_free
        by_chain = np.where(i < len(chain), weights[place] * of_chain + after_chain, -np.inf)
        by_free = np.where((j >= 0) & (j < len(free)), weights[place] * of_next + after_free, -np.inf)
        takes_free[place] = by_free > by_chain
        still[:-1] = np.maximum(by_free, by_chain)
    order = np.zeros(len(chain) + len(free), dtype=np.bool_)
    taken = 0
    for place in range(counted):
        order[place] = takes_free[place, place - taken]
        taken += int(order[place])
    order[counted : counted + len(free) - taken] = True
    return order
