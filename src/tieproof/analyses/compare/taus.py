"""`kendall_tau`: Kendall's tau and AP correlation of two rankings, and their bounds over all orders of tied items."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tieproof.analyses.compare.rankings import Matched, matched
from tieproof.errors import InputError
from tieproof.measures.rank_weights import HARMONIC, growing_tables
from tieproof.show.parts import count
from tieproof.show.shown import Row, Shown, Table
from tieproof.ties import IntArray


@dataclass(frozen=True)
class Correlation:
    """A coefficient of two rankings from -1 (opposite) to 1 (equal).

    lower, expected, upper : the smallest, the mean and the largest value over all orders of tied items, of both
        rankings independently; the mean is known as tau-a, and as tau_AP,a
    b : the coefficient that does not count ties, tau-b or tau_AP,b
    """

    lower: float
    expected: float
    upper: float
    b: float


@dataclass(frozen=True)
class KendallTau(Shown):
    """Rank correlations of two rankings of the same items.

    items : the number of items
    tau : Kendall's tau
    ap : AP correlation, in which a difference near the top of the second ranking counts more
    """

    items: int
    tau: Correlation
    ap: Correlation

    def _table(self) -> Table:
        numbers = ("lower", "expected", "upper", "b")
        rows: list[Row] = [
            (name, *(f"{getattr(found, number):.4f}" for number in numbers))
            for name, found in (("tau", self.tau), ("tau_AP", self.ap))
        ]
        note = (
            f"Correlation of two rankings of {count(self.items, 'item')}. lower, expected and upper are over all "
            "orders of tied items of both rankings; b does not count ties."
        )
        return Table(("coefficient", *numbers), [rows], [note], numbers)


def kendall_tau(first: Any, second: Any) -> KendallTau:
    """Kendall's tau and AP correlation of two rankings of the same items, such as two leaderboards.

    Parameters
    ----------
    first : {item: score}, where larger scores come first, or a list of items
        In a list, a list, tuple or set of items is a tie. For AP correlation, this is the true ranking.
    second :
        The same items. For AP correlation, this is the estimated ranking.

    Returns
    -------
    KendallTau
        `tau` and `ap`, each with `lower`, `expected` and `upper` over all orders of tied items, and `b`.

    Raises
    ------
    InputError
        If the rankings have different items, fewer than two, or one twice; if a score is NaN or infinity; or if all
        items of a ranking are tied, because b is undefined then.

    Notes
    -----
    Of n (n - 1) / 2 pairs of items, let C be in the same order in both rankings, D in different orders, and T tied in
    at least one. Then tau is (C - D ± T) / (n (n - 1) / 2) at most and at least, and the mean has no T. tau-b divides
    C - D by the geometric mean of the numbers of pairs that are not tied in one of the rankings (Kendall 1945, and
    scipy.stats.kendalltau).

    AP correlation (Yilmaz, Aslam and Robertson 2008) is 2 / (n - 1) × the sum of C(r) / (r - 1) over the ranks
    r = 2 … n of the second ranking, minus 1, where C(r) items above rank r are above its item in the first ranking,
    too. It is largest if each tie has the order of the other ranking, and smallest if it has the reverse order,
    because exchanging two neighboring items for the order of the first ranking never decreases it. The mean and b are
    tau_AP,a and tau_AP,b of Urbano and Marrero 2017, "The Treatment of Ties in AP Correlation"; the mean is also
    over orders of ties of the first ranking, and b is the mean of both directions.

    Examples
    --------
    >>> import tieproof as tp
    >>> print(tp.kendall_tau({"a": 0.9, "b": 0.8, "c": 0.8}, {"a": 0.7, "b": 0.6, "c": 0.5}))
    coefficient   lower  expected   upper       b
    ---------------------------------------------
    tau          0.3333    0.6667  1.0000  0.8165
    tau_AP       0.5000    0.7500  1.0000  0.7500
    <BLANKLINE>
    Correlation of two rankings of 3 items. lower, expected and upper are over all
    orders of tied items of both rankings; b does not count ties.

    """
    pair, items, others = matched(first, second)
    for name, missing in (("second", (items, others)), ("first", (others, items))):
        if len(pair.row_first) < len(missing[0]):
            lacking = set(missing[0]).difference(missing[1])
            raise InputError(
                f"The rankings must have the same items, but the {name} one lacks {len(lacking)} of them, such as "
                f"{min(map(repr, lacking))}. Leave out what is not in both, or use tieproof.rbo.",
                name,
            )
    pair = pair.aligned()
    for name, ranking in (("first", pair.first), ("second", pair.second)):
        if ranking.size[0] == len(items):
            raise InputError(
                f"All scores of the {name} ranking are equal, so that correlations are undefined. Pass at least two "
                "items with different scores.",
                name,
            )
    least, most = (pair.broken(sign) for sign in (-1, 1))
    agreeing = _agreeing(least)  # tied items disagree in it, so that these are before an item in both given rankings
    lower = _ap_of(agreeing, least.second.start)
    upper = _ap_of(_agreeing(most), most.second.start)
    mean = min(max(_mean_ap(pair, agreeing), lower), upper)  # rounding may move it beyond equal bounds
    b = (_ap_of(agreeing, pair.first.start) + _ap_of(agreeing, pair.second.start)) / 2
    return KendallTau(len(items), _tau(pair, int(agreeing.sum())), Correlation(lower, mean, upper, b))


def _tau(pair: Matched, concordant: int) -> Correlation:
    """Kendall's tau; `concordant` pairs have the same order in both rankings."""
    n = len(pair.first.start)
    pairs = n * (n - 1) // 2
    tied = [int((ranking.size - 1).sum()) // 2 for ranking in (pair.first, pair.second)]
    both = (pair.first.size > 1) & (pair.second.size > 1)
    cell = np.unique((pair.first.start * n + pair.second.start)[both], return_counts=True)[1]
    in_either = sum(tied) - int((cell * (cell - 1)).sum()) // 2
    difference = 2 * concordant + in_either - pairs
    b = difference / math.sqrt((pairs - tied[0]) * (pairs - tied[1]))
    return Correlation((difference - in_either) / pairs, difference / pairs, (difference + in_either) / pairs, b)


def _agreeing(pair: Matched) -> IntArray:
    """How many items are before each item in both rankings, which have no ties.

    Items in the order of the second ranking are sorted by their ranks in the first one, by one bit after the other.
    Of two items that a bit separates, the one that has the bit is later in the first ranking.
    """
    n = len(pair.first.start)
    place, found = np.arange(n), np.zeros(n, dtype=np.int64)
    rank = np.empty_like(place)
    rank[pair.second.start] = pair.first.start
    for bit in reversed(range(n.bit_length())):
        begin = rank >> (bit + 1) << (bit + 1)  # where the items with the same higher bits begin: they stand together
        later = (rank >> bit & 1).astype(np.bool_)
        earlier = np.append(0, np.cumsum(~later))
        before = earlier[:-1] - earlier[begin]
        found[rank[later]] += before[later]
        moved = np.where(later, np.minimum(begin + (1 << bit), n) + place - begin - before, begin + before)
        rank[moved] = rank.copy()
    return found[pair.first.start]


def _ap_of(agreeing: IntArray, before: IntArray) -> float:
    """AP correlation, or tau_AP,b in one direction, from how many items are before each: in one, and in both."""
    below = before > 0
    return 2 * math.fsum((agreeing[below] / before[below]).tolist()) / int(below.sum()) - 1


def _mean_ap(pair: Matched, agreeing: IntArray) -> float:
    """The mean AP correlation over all orders of tied items."""
    first, second, n = pair.first.start, pair.second.start, len(agreeing)
    # Items that are tied with an item in the first ranking, and before it in the second one, agree half the time.
    order = np.lexsort((second, first))
    same = (np.diff(first[order], prepend=-1) == 0) & (np.diff(second[order], prepend=-1) == 0)
    half = np.empty(n, dtype=np.int64)
    half[order] = np.maximum.accumulate(np.where(same, 0, np.arange(n))) - first[order]
    length = np.bincount(second)
    k = np.flatnonzero(length)
    t = length[k]
    doubled = np.bincount(second, 2.0 * agreeing + half)[k]
    with growing_tables():
        before = HARMONIC.sums.between(np.maximum(k - 1, 0), k + t - 1) * doubled / (2 * t)
        within = ((t - 1) - HARMONIC.sums.between(k, k + t - 1) * k) / 2.0
    return 2 * math.fsum([*before.hi.tolist(), *within.hi.tolist()]) / (n - 1) - 1
