"""alpha-nDCG, ERR-IA and their relatives over all orders of tied documents that are relevant to subtopics of a query.

A document gains (1 - alpha)^c for each of its subtopics, where c documents before it have that subtopic. What a tie
gains depends on earlier ties only through these counts, which no order changes. So ties are scored one by one, and
all sums are sums of whole numbers, which are rounded once: the order of documents changes no bit.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, chain, islice, pairwise, repeat
from typing import NamedTuple

import numpy as np

from tieproof.measures.rank_weights import LOGARITHMIC

NAMES = ("alpha_nDCG", "alpha_DCG", "ERR_IA", "nERR_IA")
"""The measures; ndeval spells them alpha-nDCG, alpha-DCG, ERR-IA and nERR-IA."""

MOST_COMBINATIONS = 1000  # of the first documents of a tie, at any rank, for which bounds are searched exactly
Kind = frozenset[str]  # the subtopics to which a document is relevant; at least one


@dataclass(frozen=True)
class DiversityScore:
    """The score of a query, or a mean, over all orders of tied documents.

    exact : whether orders of ties have the scores lower and upper; if not, no order has a score beyond them
    """

    lower: float
    expected: float
    upper: float
    exact: bool


class SubtopicTie(NamedTuple):
    """The number of tied documents, and how many of them have each set of subtopics."""

    size: int
    kinds: Counter[Kind]


class GainScale(NamedTuple):
    """Gains and weights of ranks as whole numbers, each in a unit of its own."""

    gains: list[int]  # the gain of a subtopic that 0, 1, …, k - 1 documents before have
    # discounts, reciprocals: the weights of the ranks 1, …, k: 1 / log2(r + 1), rounded to float64, and 1 / r.
    discounts: list[int]
    reciprocals: list[int]

    @classmethod
    def of(cls, alpha: Fraction, cutoff: int) -> "GainScale":
        """Return the gains and weights for this alpha and this cutoff k."""
        rest, whole = alpha.denominator - alpha.numerator, alpha.denominator
        gains = [rest**before * whole ** (cutoff - 1 - before) for before in range(cutoff)]
        ranks = np.arange(cutoff)
        discounts = LOGARITHMIC.sum(ranks, ranks + 1).hi.tolist()
        common = math.lcm(*range(1, cutoff + 1))
        return cls(
            gains, [int(weight * 2.0**60) for weight in discounts], [common // rank for rank in range(1, cutoff + 1)]
        )


def score_query(
    judged: Mapping[bytes, Kind], ties: Sequence[SubtopicTie], measure: str, scale: GainScale
) -> DiversityScore:
    """Score one query; every sum is in the unit of the gains times that of the weights, and is rounded once."""
    weights = scale.reciprocals if "ERR" in measure else scale.discounts
    if measure in ("alpha_nDCG", "nERR_IA"):
        ideal = sum(map(int.__mul__, weights, _ideal_gains(judged, scale.gains)))
    else:
        subtopics = frozenset[str]().union(*judged.values())
        ideal = len(subtopics) * sum(map(int.__mul__, weights, scale.gains))
    seen: Counter[str] = Counter()
    lower, expected, upper, exact, rank = 0, Fraction(0), 0, True, 0
    for tie in ties:
        within = weights[rank : rank + tie.size]
        if not within:
            break
        if tie.kinds:
            expected += _mean(tie, seen, scale.gains, within)
            low, high = (_extreme(tie, seen, scale.gains, within, best) for best in (min, max))
            if low is None:
                exact, low = False, _outer_lower(tie, seen, scale.gains, within)
            if high is None:
                exact, high = False, _outer_upper(tie, seen, scale.gains, within)
            lower, upper = lower + low, upper + high
        seen.update(_hits(tie))
        rank += tie.size
    return DiversityScore(lower / ideal, float(expected / ideal), upper / ideal, exact)


def _ideal_gains(judged: Mapping[bytes, Kind], gains: Sequence[int]) -> list[int]:
    """Return the gains of the greedy ranking, one for each rank at which a document is relevant."""
    remaining: dict[Kind, list[bytes]] = defaultdict(list)
    for name in sorted(judged):
        remaining[judged[name]].append(name)
    seen: Counter[str] = Counter()
    found: list[int] = []
    while remaining and len(found) < len(gains):
        gain, _, kind = max(
            ((sum(gains[seen[subtopic]] for subtopic in kind), names[-1], kind) for kind, names in remaining.items()),
            key=lambda each: each[:2],
        )
        found.append(gain)
        seen.update(kind)
        remaining[kind].pop()
        if not remaining[kind]:
            del remaining[kind]
    return found


def _hits(tie: SubtopicTie) -> Counter[str]:
    hits: Counter[str] = Counter()
    for kind, number in tie.kinds.items():
        hits.update(dict.fromkeys(kind, number))
    return hits


def _mean(tie: SubtopicTie, seen: Counter[str], gains: Sequence[int], weights: Sequence[int]) -> Fraction:
    """Return the mean of the sum of weight × gain over all orders of a tie."""
    # A subtopic that m of n documents have is at place t with h of them before it in m C(m-1, h) C(n-m, t-1-h) of the
    # n C(n-1, t-1) choices of the document at that place and of those before it.
    n, total = tie.size, Fraction(0)
    hits = Counter((seen[subtopic], number) for subtopic, number in _hits(tie).items())
    for place, weight in enumerate(weights):
        ways = sum(
            times * m * math.comb(m - 1, h) * math.comb(n - m, place - h) * gains[before + h]
            for (before, m), times in hits.items()
            for h in range(max(0, place - (n - m)), min(place, m - 1) + 1)
        )
        total += Fraction(weight * ways, n * math.comb(n - 1, place))
    return total


def _extreme(
    tie: SubtopicTie, seen: Counter[str], gains: Sequence[int], weights: Sequence[int], best: Callable[..., int]
) -> int | None:
    """Return the smallest or largest sum of weight × gain over all orders of a tie; None if it has too many."""
    # Documents without a subtopic are last in the largest sum and first in the smallest, because weights decrease: to
    # exchange such a document with the relevant one behind it never makes the sum smaller. For the relevant
    # documents, the best sum is found for each number of documents of each kind that the first places can have.
    subtopics = sorted(_hits(tie))
    start = [seen[subtopic] for subtopic in subtopics]
    kinds = [([*map(subtopics.index, kind)], number) for kind, number in tie.kinds.items()]
    spare = tie.size - tie.kinds.total()
    best_sums = {(0,) * len(kinds): 0}
    for weight in weights[spare:] if best is min else weights[: tie.kinds.total()]:
        longer: dict[tuple[int, ...], int] = {}
        for used, total in best_sums.items():
            before = start.copy()
            for number, (kind, _) in zip(used, kinds, strict=True):
                for subtopic in kind:
                    before[subtopic] += number
            for place, (kind, number) in enumerate(kinds):
                if used[place] < number:
                    with_it = (*used[:place], used[place] + 1, *used[place + 1 :])
                    sum_with_it = total + weight * sum(gains[before[subtopic]] for subtopic in kind)
                    longer[with_it] = best(sum_with_it, longer.get(with_it, sum_with_it))
        if len(longer) > MOST_COMBINATIONS:
            return None
        best_sums = longer
    return best(best_sums.values())


def _outer_lower(tie: SubtopicTie, seen: Counter[str], gains: Sequence[int], weights: Sequence[int]) -> int:
    """Return a sum below which no order of a tie is: each subtopic for itself has its documents last."""
    return sum(
        sum(map(int.__mul__, weights[tie.size - number :], gains[seen[subtopic] :]))
        for subtopic, number in _hits(tie).items()
    )


def _outer_upper(tie: SubtopicTie, seen: Counter[str], gains: Sequence[int], weights: Sequence[int]) -> int:
    """Return a sum above which no order of a tie is."""
    # The first j documents together gain at most what some other documents gain and the j documents that would then
    # add most, because a document adds the less, the more documents there are (Nemhauser, Wolsey and Fisher 1978).
    # The others are the first ones of a greedy order.
    remaining, before, gained = tie.kinds.copy(), seen.copy(), 0
    most = [gains[0] * _hits(tie).total()] * len(weights)
    for _ in weights:
        added = [(sum(gains[before[subtopic]] for subtopic in kind), sorted(kind), kind) for kind in +remaining]
        added.sort(reverse=True)
        largest = chain.from_iterable(repeat(gain, remaining[kind]) for gain, _, kind in added)
        sums = accumulate(chain(islice(largest, len(weights)), repeat(0)), initial=gained)
        most = [*map(min, most, islice(sums, 1, None))]
        if added:
            gain, _, kind = added[0]
            gained += gain
            before.update(kind)
            remaining[kind] -= 1
    falls = [weight - following for weight, following in pairwise([*weights, 0])]
    return sum(map(int.__mul__, falls, most))
