"""Bounds over all that the unseen items of rankings may do, if only the first items of each ranking are listed.

`CutOffTies` contains what is known of the unseen items. Their definitions make two different questions of it:

A list that was cut off ("tied") is a ranking of its own, to which unseen items may belong. No unlisted item is nearer
than the last one listed. Items that are exactly as near continue its last tie, and any of them might have been listed
instead. `expected` and `std` are those of the list as given. `lower` and `upper` cover every continuation of its last
tie: by any of the missing relevant items, and by as many other items as the gallery has. As in any list, relevant
items in neither the list nor the continuation were never retrieved.

A list from a search ("behind" after an exact search, otherwise "anywhere") is the beginning of a ranking of the whole
gallery. `lower` and `upper` cover every complete ranking, and `expected` and `std` are those of the ranking with all
unseen items in one tie after the list.

If a rule says where unseen items are, as for those without an answer in `evaluate_answers`, nothing is open:
`surrounded` puts them there.
"""

from collections.abc import Callable, Sequence
from dataclasses import fields, replace

import numpy as np

from tieproof.errors import InputError
from tieproof.measures.base import Estimates, Measure
from tieproof.measures.cut_off import CutOffTies, ListEnd, Unseen, joined
from tieproof.measures.families.interpolated import largest_precisions
from tieproof.measures.families.retrieved import OF_SETS, value_of_set
from tieproof.measures.graded_gains import is_graded
from tieproof.measures.unseen_grades import merged_rankings, worst_counts
from tieproof.ties import Array, FloatArray, IntArray, Ties

Bounds = tuple[FloatArray, FloatArray]
MOST_OTHERS = 2**22  # more other items in a last tie count as infinitely many: tables stay small, bounds valid


def first_items(
    ties: Ties, end: Sequence[IntArray] | IntArray | None, n_items: IntArray | None, unseen: Unseen
) -> CutOffTies:
    """Return the ties of lists with what is known of their unseen items.

    ties : the ties of the lists, with all relevant items of each query in `n_relevant`, and the missing grades
    end : k, n, l, m of the last tie of each list, as `engine.last_ties` returns them; None: no unseen item is tied
        with a listed one
    n_items : (Q,) the number of items of each whole ranking; None: unknown
    """
    none = np.zeros_like(ties.n_items)
    k, n, l, m = (ties.n_items, ties.listed, none, none) if end is None else end
    others = np.full(ties.n_queries, np.inf)
    if n_items is not None:
        others = (n_items - ties.n_items - ties.missing).astype(np.float64)
    known = {each.name: getattr(ties, each.name) for each in fields(Ties) if each.init} | {"n_ranked": n_items}
    return CutOffTies(**known, end=ListEnd(k, n, l, m, others), unseen=unseen)


def cut_off(
    ties: Ties, end: Sequence[IntArray] | IntArray, n_relevant: IntArray, n_items: IntArray | None, names: Array
) -> CutOffTies:
    """Return the ties of lists that were cut off; `names` are the names of the queries."""
    listed = ties.listed
    if (n_relevant < listed).any():
        query = int(np.argmax(n_relevant < listed))
        raise InputError(
            f"n_relevant is {n_relevant[query]} for query {names[query]}, but its list contains {listed[query]} "
            f"relevant item{'s' if listed[query] > 1 else ''}. Count all relevant items, in the list or not.",
            "n_relevant",
        )
    known = first_items(replace(ties, n_relevant=n_relevant), end, n_items, "tied")
    others = known.end.others
    if n_items is not None and (others < 0).any():
        query = int(np.argmax(others < 0))
        raise InputError(
            f"n_items is {n_items[query]} for query {names[query]}, but its list contains {ties.n_items[query]}, "
            f"and {known.missing[query]} more are relevant. Count all items that are not excluded, in the list or "
            "not.",
            "n_items",
        )
    others[others > MOST_OTHERS] = np.inf
    return known


def surrounded(ties: Ties, before: tuple[IntArray, IntArray], behind: tuple[IntArray, IntArray]) -> Ties:
    """Return rankings with more items before and behind all listed ones, without grades.

    before, behind : (Q,) each, how many items and how many relevant ones among them. If any are relevant, all are in
        one tie. Together the relevant ones are the missing relevant items of `ties`.
    """
    first, last = np.flatnonzero(before[1]), np.flatnonzero(behind[1])
    none, items, relevant = np.zeros_like(first), ties.n_items + before[0], ties.listed + before[1]
    columns = joined(
        (first, none, none, before[0][first], before[1][first]),
        (ties.query, ties.k + before[0][ties.query], ties.n + before[1][ties.query], ties.l, ties.m),
        (last, items[last], relevant[last], behind[0][last], behind[1][last]),
    )
    return Ties(*columns, relevant + behind[1], items + behind[0])


def estimate(measure: Measure, cut: CutOffTies) -> Estimates:
    """Evaluate a measure of rankings, with bounds over all that their unseen items may do."""
    ties, measure = measure.at_level(cut)
    assert isinstance(ties, CutOffTies)
    if ties.unseen == "tied":
        given = measure(ties)
        lower, upper = _bounds_of_continuations(measure, ties)
        return given._replace(lower=np.minimum(given.lower, lower), upper=np.maximum(given.upper, upper))
    # All unseen items are in one tie after the list.
    none = np.zeros_like(ties.n_items)
    behind = ListEnd(k=ties.n_items, n=ties.listed, l=none, m=none, others=ties.end.others)
    given = measure(replace(ties, end=behind).continued(ties.missing, behind.others))
    lower, upper = _bounds_of_whole_rankings(measure, ties)
    upper = np.maximum(lower, upper)
    return given._replace(lower=lower, expected=np.clip(given.expected, lower, upper), upper=upper)


def _bounds_of_continuations(measure: Measure, ties: CutOffTies) -> Bounds:
    """Return bounds over the continuations of the last ties of lists that were cut off."""
    # Every relevant item raises most measures, and every other item before it lowers them. So in the worst case all
    # other items and no missing relevant items continue the tie; in the best case the reverse. For nDCG, ERR and
    # RBP(gain=linear) a missing item of a lower grade can push one of a higher grade down: in the worst case those
    # missing items with the smallest grades join that lower the value.
    if measure.name == "AUC":
        return _pairs(measure, ties)
    if measure.definition.total:  # of the list as it is
        as_given = measure(ties)
        return as_given.lower, as_given.upper
    if measure.name in OF_SETS:
        return value_of_set(measure, ties, others=ties.end.others), value_of_set(measure, ties, ties.missing)
    if measure.name == "bpref":
        return _judged_alone(measure, ties)
    if measure.name == "AP" and measure["norm"] == "hits":
        return _mean_of_hits(measure, ties)
    if measure.name == "nDCG" and measure["ideal"] == "list":
        # A missing item counts as any other item.
        end = replace(ties.end, others=ties.end.others + ties.missing)
        ties = replace(ties, n_relevant=ties.listed, missing_grades=None, end=end)
        measure = measure(ideal="all")
    joined = worst_counts(measure, ties)
    worst = ties.continued(joined, ties.end.others) if joined.any() else ties.with_others
    return _between(measure, worst, ties.with_missing)


def _between(measure: Measure, worst: Ties, best: Ties) -> Bounds:
    """Return the bounds over two rankings, without the expected value of IPrec, which takes long for large ties."""
    if measure.name == "IPrec":
        return largest_precisions(measure, worst)[0], largest_precisions(measure, best)[1]
    if measure.definition.smaller_is_better:
        worst, best = best, worst
    return measure(worst).lower, measure(best).upper


def _pairs(measure: Measure, ties: CutOffTies) -> Bounds:
    """Return bounds of AUC, which other items after a relevant item raise."""
    # In the worst case no other items join, because they would be ranked after the n relevant items before the tie;
    # but the first other item of a ranking lowers the value. In the best case all other items come after the relevant
    # ones; if they are infinitely many, nothing else counts.
    others = ties.end.others
    best = measure(ties.continued(ties.missing, np.where(np.isfinite(others), others, 0.0))).upper
    best[np.isinf(others) & (ties.n_relevant > 0)] = 1.0
    return measure(ties.continued(np.zeros_like(ties.missing), np.minimum(others, 1.0))).lower, best


def _judged_alone(measure: Measure, ties: CutOffTies) -> Bounds:
    """Return bounds of a measure of judged items; the judged items outside the list may continue the tie."""
    judged = ties.judged
    assert judged is not None
    of_judged = judged.ties
    assert isinstance(of_judged, CutOffTies)
    none = np.zeros_like(ties.missing)
    worst = of_judged.continued(none, of_judged.end.others)
    best = of_judged.continued(of_judged.missing, none.astype(np.float64))
    lower, upper = (measure(replace(each, judged=replace(judged, ties=each))) for each in (worst, best))
    return lower.lower, upper.upper


def _mean_of_hits(measure: Measure, ties: CutOffTies) -> Bounds:
    """Return bounds of AP(norm=hits), the mean precision of the hits above the cutoff."""
    # Whether a tie's relevant items come first or last, each hit has a higher precision than the one before it in the
    # tie. So the mean first decreases with the number of hits and then increases: it is largest for as few or as many
    # hits as possible, and smallest in between. If the whole tie is above the cutoff, the number of hits is that of
    # its relevant items. If the tie straddles the cutoff, the measure itself searches over the number of hits.
    end, missing, none = ties.end, ties.missing, np.zeros_like(ties.missing)
    cutoff = measure.last_rank(ties).astype(np.float64)
    cutoff[cutoff > MOST_OTHERS] = np.inf
    others = np.minimum(end.others, cutoff)
    # Without a cutoff, other items after the hits have no effect.
    most = np.zeros_like(others) if measure.cutoff is None else others
    ends = [ties.continued(relevant, more) for more in (np.zeros_like(most), most) for relevant in (none, missing)]
    upper = np.max([measure(continued).upper for continued in ends], axis=0)

    def worst(relevant: IntArray) -> FloatArray:
        return measure(ties.continued(relevant, others)).lower

    room = np.clip(cutoff - (end.k + end.l + np.where(np.isfinite(others), others, 0.0)), 0, missing).astype(np.int64)
    low = _valley(worst, np.where(np.isfinite(others), room, 0))
    # Infinitely many others and no cutoff: all relevant items of the tie are hits, of precision 0.
    hits_of_nothing = np.where(np.isfinite(others), 1.0, end.n / np.maximum(end.n + end.m + missing, 1))
    return np.minimum(worst(low), worst(missing)) * hits_of_nothing, upper


def _valley(function: Callable[[IntArray], FloatArray], last: IntArray) -> IntArray:
    """Return element-wise where a function of 0 … last that decreases, then increases, is smallest, by bisection."""
    low, high = np.zeros_like(last), last.copy()
    while (low < high).any():
        middle = (low + high) // 2
        falls = (function(np.minimum(middle + 1, last)) < function(middle)) & (low < high)
        low, high = np.where(falls, middle + 1, low), np.where(falls, high, middle)
    return low


def _bounds_of_whole_rankings(measure: Measure, ties: CutOffTies) -> Bounds:
    """Return bounds over all rankings of all items that begin with the lists."""
    if ties.unseen == "behind":  # the items of the last tie and all unseen items may have any order
        whole = ties.continued(ties.missing, ties.end.others)
        return _between(measure, whole, whole)
    if is_graded(measure) and ties.grades is not None:
        return _between(measure, *(merged_rankings(measure, ties, worst) for worst in (True, False)))
    if measure.name == "AP" and measure["norm"] == "hits" and measure.cutoff is not None:
        return _hits_among_unseen(measure, ties)
    missing, others, none = ties.missing, ties.end.others.astype(np.int64), np.zeros_like(ties.missing)
    worst = surrounded(ties, before=(others, none), behind=(missing, missing))
    best = surrounded(ties, before=(missing, missing), behind=(others, none))
    return _between(measure, worst, best)


def _hits_among_unseen(measure: Measure, ties: CutOffTies) -> Bounds:
    """Return bounds of AP(norm=hits)@k over all ways to merge the unseen items into each list."""
    items = ties.n_items + ties.missing + ties.end.others.astype(np.int64)
    cutoffs = np.minimum(measure.last_rank(ties), items)
    as_listed = measure(ties)
    lower, upper = as_listed.lower.copy(), as_listed.upper.copy()
    for query in np.flatnonzero((ties.n_relevant > 0) & (items > ties.n_items)).tolist():
        own = slice(ties.starts[query], ties.starts[query + 1])
        hits = _ListedHits(ties.k[own], ties.l[own], ties.m[own], int(ties.n_items[query]))
        unseen = int(ties.missing[query]), int(ties.end.others[query])
        upper[query] = hits.largest(int(cutoffs[query]), *unseen)
        lower[query] = hits.smallest(int(cutoffs[query]), *unseen)
    return lower, upper


class _ListedHits:
    """The relevant items of a list, and how many of its first items can contain j of them, for j = 0, 1, …."""

    def __init__(self, k: IntArray, l: IntArray, m: IntArray, length: int) -> None:
        within = np.arange(1, m.sum() + 1) - np.repeat(np.cumsum(m) - m, m)
        self.earliest = np.repeat(k, m) + within  # earliest, latest: the smallest and the largest rank of each
        self.latest = np.repeat(k + l - m, m) + within
        self.fewest = np.append(0, self.earliest)  # fewest, most: how many first items hold j hits
        self.most = np.append(self.latest - 1, length)

    def largest(self, cutoff: int, missing: int, others: int) -> float:
        """Return the largest mean precision of the hits down to rank `cutoff`."""
        front = min(missing, cutoff)
        most, fewest = cutoff - front, max(0, cutoff - front - others)
        precisions = (np.arange(1, len(self.earliest) + 1) + front) / (self.earliest + front)
        sums = front + np.append(0.0, np.cumsum(precisions))
        means = sums / np.maximum(np.arange(len(sums)) + front, 1)
        return float(means[(self.fewest <= most) & (self.most >= fewest)].max())

    def smallest(self, cutoff: int, missing: int, others: int) -> float:
        """Return the smallest mean precision of the hits down to rank `cutoff`."""
        least = np.inf
        behind = np.arange(min(missing, cutoff) + 1)
        harmonic = np.append(0.0, np.cumsum(1.0 / np.arange(1, cutoff + 1)))
        for count in range(len(self.fewest)):
            first = np.maximum(self.fewest[count], cutoff - behind - others)
            possible = np.flatnonzero((first <= self.most[count]) & (first + behind <= cutoff))
            if not possible.size:
                continue
            a, i = behind[possible], first[possible]
            hit = np.arange(1, count + 1)
            rank = np.minimum(self.latest[:count], (i - count)[:, None] + hit)
            sums = (hit / (rank + (cutoff - a - i)[:, None])).sum(axis=1)
            # The items at the end add (count + t) / (cutoff - a + t) for t = 1 … a.
            sums += a + (count - (cutoff - a)) * (harmonic[cutoff] - harmonic[cutoff - a])
            least = min(least, float((sums / np.maximum(count + a, 1)).min()))
        return least
