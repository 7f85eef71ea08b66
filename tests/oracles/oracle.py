"""The definition of every measure for one strict ordering, and its estimates over all orderings.

All values are exact fractions; logarithms are decimals of 50 digits. Nothing here comes from the library, which is
tested against it.

A `Ranking` is a list of ties, the nearest first; a tie is the list of its items' grades, 0 for an item that is
not relevant. An ordering is the list of all grades from rank 1 on.
"""

# ruff: noqa: E741  (l, m: the paper's letters)

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from math import lcm
from operator import mul

Grade = Fraction | int
Ordering = tuple[Grade, ...]
Ranking = list[list[Grade]]


@dataclass(frozen=True)
class Context:
    """The arguments of a definition in addition to the ordering.

    relevant : grades of all relevant items of the query, in the list or not
    cutoff : the last rank that counts, None for all
    """

    relevant: Ordering
    cutoff: int | None

    @property
    def n_relevant(self) -> int:
        return len(self.relevant)


Definition = Callable[[Ordering, Context], Fraction]


def top(ordering: Ordering, context: Context) -> Ordering:
    return ordering if context.cutoff is None else ordering[: context.cutoff]


def hits(ordering: Ordering) -> int:
    return sum(grade > 0 for grade in ordering)


def precisions(ordering: Ordering) -> list[Fraction]:
    """The precision at the rank of each relevant item."""
    return [Fraction(hits(ordering[: i + 1]), i + 1) for i, grade in enumerate(ordering) if grade > 0]


def average_precision(ordering: Ordering, context: Context) -> Fraction:
    return sum(precisions(top(ordering, context)), Fraction()) / context.n_relevant


def average_precision_at_r(ordering: Ordering, context: Context) -> Fraction:
    return sum(precisions(ordering[: context.n_relevant]), Fraction()) / context.n_relevant


def average_precision_min(ordering: Ordering, context: Context) -> Fraction:
    divisor = context.n_relevant if context.cutoff is None else min(context.n_relevant, context.cutoff)
    return sum(precisions(top(ordering, context)), Fraction()) / divisor


def average_precision_hits(ordering: Ordering, context: Context) -> Fraction:
    found = precisions(top(ordering, context))
    return sum(found, Fraction()) / len(found) if found else Fraction()


def average_precision_trapezoid(ordering: Ordering, context: Context) -> Fraction:
    area = Fraction()
    for i, grade in enumerate(ordering):
        if grade > 0:
            before = Fraction(hits(ordering[:i]), i) if i else Fraction(1)
            area += (before + Fraction(hits(ordering[: i + 1]), i + 1)) / 2
    return area / context.n_relevant


def area_under_precision_recall(ordering: Ordering, junk: Sequence[bool]) -> Fraction:
    """The area under the curve of precision over recall, by trapezoids from (recall 0, precision 1).

    The definition of the protocol of Oxford and Paris (Philbin et al. 2007): every rank is a point of the curve, and
    junk items are taken out of the ranking.
    """
    counted = [grade > 0 for grade, left_out in zip(ordering, junk, strict=True) if not left_out]
    curve = [(Fraction(0), Fraction(1))]
    for rank in range(1, len(counted) + 1):
        found = sum(counted[:rank])
        curve.append((Fraction(found, sum(counted)), Fraction(found, rank)))
    return sum(((x - u) * (v + y) / 2 for (u, v), (x, y) in itertools.pairwise(curve)), Fraction())


def precision(ordering: Ordering, context: Context) -> Fraction:
    assert context.cutoff is not None
    return Fraction(hits(top(ordering, context)), context.cutoff)


def relative_precision(ordering: Ordering, context: Context) -> Fraction:
    assert context.cutoff is not None
    return Fraction(hits(top(ordering, context)), min(context.cutoff, context.n_relevant))


def recall(ordering: Ordering, context: Context) -> Fraction:
    return Fraction(hits(top(ordering, context)), context.n_relevant)


def f1(ordering: Ordering, context: Context) -> Fraction:
    p, r = precision(ordering, context), recall(ordering, context)
    return 2 * p * r / (p + r) if p + r else Fraction()


def r_precision(ordering: Ordering, context: Context) -> Fraction:
    return Fraction(hits(ordering[: context.n_relevant]), context.n_relevant)


def of_set(value: Callable[[int, int, int], Fraction]) -> Definition:
    """A measure of the hits, the number of retrieved items, and R."""
    return lambda ordering, context: value(hits(ordering), len(ordering), context.n_relevant)


def set_f(beta: int) -> Definition:
    def score(found: int, items: int, relevant: int) -> Fraction:
        p, r = Fraction(found, items), Fraction(found, relevant)
        return (beta + 1) * p * r / (beta * p + r) if found else Fraction()

    return of_set(score)


HITS_OF_A_RECALL: dict[str, Callable[[Fraction, int], int]] = {
    "enough": lambda recall, count: int(float(recall) * count + 0.9),
    "exact": lambda recall, count: math.ceil(recall * count),
    "nearest": lambda recall, count: math.floor(recall * count + Fraction(1, 2)),
}
"""How many hits have a recall: the cast of trec_eval 9, the definition, and the rounding of trec_eval 10."""


def interpolated_precision(recall: Fraction, counted: str = "enough") -> Definition:
    """The largest precision at a rank with enough hits."""

    def score(ordering: Ordering, context: Context) -> Fraction:
        enough = HITS_OF_A_RECALL[counted](recall, context.n_relevant)
        found = [Fraction(hits(ordering[: i + 1]), i + 1) for i in range(len(ordering))]
        return max((p for i, p in enumerate(found) if hits(ordering[: i + 1]) >= enough), default=Fraction())

    return score


def success(ordering: Ordering, context: Context) -> Fraction:
    return Fraction(hits(top(ordering, context)) > 0)


def reciprocal_rank(ordering: Ordering, context: Context) -> Fraction:
    for i, grade in enumerate(top(ordering, context)):
        if grade > 0:
            return Fraction(1, i + 1)
    return Fraction()


def inverse_negative_penalty(ordering: Ordering, context: Context) -> Fraction:
    if hits(ordering) < context.n_relevant:
        return Fraction()
    last = max(i for i, grade in enumerate(ordering) if grade > 0)
    return Fraction(context.n_relevant, last + 1)


def rank_biased_precision(p: Fraction) -> Definition:
    def score(ordering: Ordering, context: Context) -> Fraction:
        hits = (i for i, grade in enumerate(top(ordering, context)) if grade > 0)
        return (1 - p) * sum((p**i for i in hits), Fraction())

    return score


def rank_biased_gain(p: Fraction) -> Definition:
    """RBP of trec_eval 10: gains are grades, as shares of the largest one if that is above 1."""

    def score(ordering: Ordering, context: Context) -> Fraction:
        largest = max([Fraction(1), *map(Fraction, context.relevant)])
        gains = (p**i * Fraction(grade) for i, grade in enumerate(top(ordering, context)) if grade > 0)
        return (1 - p) * sum(gains, Fraction()) / largest

    return score


def area_under_curve(ordering: Ordering, context: Context) -> Fraction:
    """The share of pairs (relevant, other) in order; relevant items that are not in the list come after it."""
    others = len(ordering) - hits(ordering)
    if others == 0:
        return Fraction(1)
    won = sum(grade > 0 and other == 0 for i, grade in enumerate(ordering) for other in ordering[i + 1 :])
    return Fraction(won, context.n_relevant * others)


def expected_reciprocal_rank(max_grade: int) -> Definition:
    def score(ordering: Ordering, context: Context) -> Fraction:
        value, goes_on = Fraction(), Fraction(1)
        for i, grade in enumerate(top(ordering, context)):
            stops = exponential_gain(grade) / 2**max_grade
            value += goes_on * stops / (i + 1)
            goes_on *= 1 - stops
        return value

    return score


def binary_preference(ordering: Ordering, context: Context) -> Fraction:
    """bpref as trec_eval defines it, with a judgment for every item of the ordering."""
    return preference(ordering, context.n_relevant, len(ordering) - hits(ordering))


def binary_gain(ordering: Ordering, context: Context) -> Fraction:
    """binG of trec_eval: 1 / log2(2 + other items above), the discount of the rank after so many."""
    above = (hits(tuple(1 - (grade > 0) for grade in ordering[:i])) for i, grade in enumerate(ordering) if grade > 0)
    return sum((discount(1 + others) for others in above), Fraction()) / context.n_relevant


def preference(ordering: Sequence[Grade | None], n_relevant: int, n_others: int) -> Fraction:
    """bpref of a ranking whose items without a judgment have no grade: a loop over the ranks, as in trec_eval."""
    score, others_above = Fraction(), 0
    for grade in ordering:
        if grade is None:
            continue
        if grade == 0:
            others_above += 1
        elif others_above:
            score += 1 - Fraction(min(others_above, n_relevant), min(n_others, n_relevant))
        else:
            score += 1
    return score / n_relevant


@cache
def log2(x: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = 60
        return Fraction((Decimal(x.numerator) / Decimal(x.denominator)).ln() / Decimal(2).ln())


@cache
def discount(rank: int) -> Fraction:
    """1/log2(rank + 1), to 50 digits."""
    return 1 / log2(Fraction(rank + 1))


def linear_gain(grade: Grade) -> Fraction:
    return Fraction(grade)


@cache
def exponential_gain(grade: Grade) -> Fraction:
    """2^grade - 1, exactly for whole grades, otherwise to 50 digits."""
    if Fraction(grade).denominator == 1:
        return Fraction(2) ** int(grade) - 1
    exact = Fraction(grade)
    with localcontext() as context:
        context.prec = 60 + len(str(int(1 / exact)))  # so many digits are those of the 1
        return Fraction(Decimal(2) ** (Decimal(exact.numerator) / Decimal(exact.denominator))) - 1


@cache
def discounts(count: int) -> tuple[list[int], int]:
    """The discounts of the first ranks as numerators over one denominator; integers are added far faster."""
    values = [discount(rank) for rank in range(1, count + 1)]
    denominator = lcm(*[value.denominator for value in values])
    return [value.numerator * (denominator // value.denominator) for value in values], denominator


@cache
def discounted(gains: tuple[Fraction, ...]) -> Fraction:
    numerators, denominator = discounts(len(gains))
    of_gains = lcm(*[gain.denominator for gain in gains])
    whole = [gain.numerator * (of_gains // gain.denominator) for gain in gains]
    return Fraction(sum(map(mul, whole, numerators)), denominator * of_gains)


def ndcg(gain: Callable[[Grade], Fraction] = linear_gain, ideal: str = "all") -> Definition:
    @cache
    def best_score(context: Context) -> Fraction:
        best = sorted(map(gain, context.relevant), reverse=True)
        return discounted(tuple(best if context.cutoff is None else best[: context.cutoff]))

    def score(ordering: Ordering, context: Context) -> Fraction:
        best = best_score(context if ideal == "all" else Context(ordering, context.cutoff))
        return discounted(tuple(map(gain, top(ordering, context)))) / best if best else Fraction()

    return score


DEFINITIONS: dict[str, Definition] = {
    "AP": average_precision,
    "AP@R": average_precision_at_r,
    "AP(norm=min)": average_precision_min,
    "AP(norm=hits)": average_precision_hits,
    "AP(trapezoid)": average_precision_trapezoid,
    "P": precision,
    "RelP": relative_precision,
    "R": recall,
    "F1": f1,
    "Rprec": r_precision,
    "Success": success,
    "RR": reciprocal_rank,
    "INP": inverse_negative_penalty,
    "FirstRank": lambda ordering, context: Fraction(1 + next(i for i, grade in enumerate(ordering) if grade > 0)),
    "FullRecall": lambda ordering, context: Fraction(hits(top(ordering, context)) == context.n_relevant),
    "RBP": rank_biased_precision(Fraction(0.8)),
    "RBP(p=0.25)": rank_biased_precision(Fraction(1, 4)),
    "RBP(gain=linear)": rank_biased_gain(Fraction(0.8)),
    "RBP(p=0.25,gain=linear)": rank_biased_gain(Fraction(1, 4)),
    "AUC": area_under_curve,
    "ERR": expected_reciprocal_rank(4),
    "ERR(max_grade=3)": expected_reciprocal_rank(3),
    "ERR(max_grade=8)": expected_reciprocal_rank(8),
    "IPrec": interpolated_precision(Fraction(0)),
    "IPrec(recall=0.5)": interpolated_precision(Fraction(1, 2)),
    "IPrec(hits=exact)": interpolated_precision(Fraction(0), "exact"),
    "IPrec(recall=0.5,hits=exact)": interpolated_precision(Fraction(1, 2), "exact"),
    "IPrec(recall=0.7)": interpolated_precision(Fraction("0.7")),
    "IPrec(recall=0.7,hits=exact)": interpolated_precision(Fraction("0.7"), "exact"),
    "IPrec(hits=nearest)": interpolated_precision(Fraction(0), "nearest"),
    "IPrec(recall=0.5,hits=nearest)": interpolated_precision(Fraction(1, 2), "nearest"),
    "SetP": of_set(lambda found, items, relevant: Fraction(found, items)),
    "SetRelP": of_set(lambda found, items, relevant: Fraction(found, min(items, relevant))),
    "SetR": of_set(lambda found, items, relevant: Fraction(found, relevant)),
    "SetF": set_f(1),
    "SetF(beta=2)": set_f(2),
    "SetAP": of_set(lambda found, items, relevant: Fraction(found, items) * Fraction(found, relevant)),
    "NumQ": lambda ordering, context: Fraction(1),
    "NumRet": lambda ordering, context: Fraction(len(ordering)),
    "NumRel": lambda ordering, context: Fraction(context.n_relevant),
    "NumRelRet": lambda ordering, context: Fraction(hits(ordering)),
    "NumNonRelJudgedRet": lambda ordering, context: Fraction(len(ordering) - hits(ordering)),
    # Without qrels every item counts as judged; tests/calls/test_unjudged.py has the definitions for runs.
    "Judged": lambda ordering, context: Fraction(1),
    "Unjudged": lambda ordering, context: Fraction(),
    "RBPResidual": lambda ordering, context: Fraction(),
    "RBPResidual(p=0.25)": lambda ordering, context: Fraction(),
    "bpref": binary_preference,
    "BinG": binary_gain,
    "nDCG": ndcg(),
    "nDCG(gain=exp)": ndcg(exponential_gain),
    "nDCG(ideal=list)": ndcg(ideal="list"),
    "nDCG(gain=exp,ideal=list)": ndcg(exponential_gain, "list"),
}
"""The measures by their spelling without a whole number as cutoff."""


def orderings(ranking: Ranking) -> Iterator[Ordering]:
    """Every ordering of the tied items, all equally likely; items of the same grade are not distinguished."""
    for parts in itertools.product(*map(arrangements, ranking)):
        yield tuple(itertools.chain.from_iterable(parts))


def arrangements(tie: list[Grade]) -> list[Ordering]:
    """Every ordering of one tie; the places of grades among all grades are compared, far faster than fractions."""
    grades = sorted(set(tie))
    places = sorted(set(itertools.permutations([grades.index(grade) for grade in tie])))
    return [tuple(grades[place] for place in each) for each in places]


@dataclass(frozen=True)
class Estimates:
    lower: Fraction
    expected: Fraction
    upper: Fraction
    variance: Fraction

    @property
    def std(self) -> float:
        with localcontext() as context:
            context.prec = 40
            return float((Decimal(self.variance.numerator) / Decimal(self.variance.denominator)).sqrt())


def estimates(values: list[Fraction]) -> Estimates:
    """The estimates of equally likely values."""
    count, denominator = len(values), lcm(*{value.denominator for value in values})
    whole = [value.numerator * (denominator // value.denominator) for value in values]  # added far faster
    total = sum(whole)
    variance = Fraction(count * sum(value * value for value in whole) - total**2, (count * denominator) ** 2)
    return Estimates(min(values), Fraction(total, count * denominator), max(values), variance)


def enumerate_orderings(
    definition: Definition, ranking: Ranking, missing: Ordering = (), cutoff: int | None = None
) -> Estimates:
    """The estimates of `definition` over all orderings; `missing` are grades of relevant items not in the list."""
    listed = tuple(grade for tie in ranking for grade in tie if grade > 0)
    context = Context(listed + missing, cutoff)
    return estimates([definition(ordering, context) for ordering in orderings(ranking)])


def arrangement_moments(a: Sequence[Decimal], b: Sequence[Decimal], l: int, m: int) -> tuple[Decimal, Decimal]:
    """Mean and variance of sum_i X_i a_i + sum_{i<j} X_i X_j b_j over the arrangements of m ones in l places.

    From E[Z] and E[Z^2], term by term, by the probability that two, three or four given places contain ones; a and b
    are 0 in places beyond those given. In decimals of 120 digits, of which the variance needs less than 100: smaller
    values are 0.
    """
    with localcontext() as context:
        context.prec = 120
        e = [Decimal(1)]
        for r in range(4):
            e.append(e[-1] * max(m - r, 0) / max(l - r, 1))
        mean = square = Decimal(0)
        a_before = b_pairs = Decimal(0)  # the sums of a, and of (j-1) b, over the earlier places
        a_after = sum(a, Decimal(0))
        for earlier, (a_j, b_j) in enumerate(zip(a, b, strict=True)):
            a_after -= a_j
            mean += a_j * e[1]
            square += a_j * a_j * e[1] + 2 * a_before * a_j * e[2]
            if b_j:
                mean += earlier * b_j * e[2]
                square += b_j * b_j * (earlier * e[2] + earlier * (earlier - 1) * e[3])
                square += 2 * b_j * b_pairs * (2 * e[3] + (earlier - 2) * e[4])
                with_b = a_before * (e[2] + (earlier - 1) * e[3]) + earlier * (a_j * e[2] + a_after * e[3])
                square += 2 * b_j * with_b
                b_pairs += earlier * b_j
            a_before += a_j
        variance = square - mean * mean
        return mean, variance if variance > Decimal("1e-100") * square else Decimal(0)


def waiting_times(l: int, m: int) -> list[Decimal]:
    """P(J = j), j = 1 … l-m+1, for the place J of the first of m ones among l places, in 60 digits."""
    with localcontext() as context:
        context.prec = 60
        chances = [Decimal(m) / l]
        for j in range(1, l - m + 1):
            chances.append(chances[-1] * (l - m - j + 1) / (l - j))
        return chances


def moments(chances: Sequence[Decimal], values: Sequence[Decimal]) -> tuple[Decimal, Decimal]:
    """Mean and variance of values with these probabilities."""
    with localcontext() as context:
        context.prec = 60
        mean = sum((p * x for p, x in zip(chances, values, strict=True)), Decimal(0))
        return mean, sum((p * (x - mean) ** 2 for p, x in zip(chances, values, strict=True)), Decimal(0))


@cache
def decimal_discount(rank: int) -> Decimal:
    with localcontext() as context:
        context.prec = 60
        return Decimal(2).ln() / Decimal(rank + 1).ln()
