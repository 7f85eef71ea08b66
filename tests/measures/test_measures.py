"""Every measure of the registry, compared with all orderings; large ties, compared with direct sums."""

# ruff: noqa: E741  (k, n, l, m: the paper's letters)

import itertools
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal, getcontext
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

import oracle
from registered import CUTOFFS, TOLERANCE, assert_close, oracle_for, registered_measures
from tieproof.errors import InputError
from tieproof.measures import DEFAULT_MEASURES, REGISTRY, Definition, Estimates, Measure, parse
from tieproof.measures.numbers import Pair, exp2_minus_1
from tieproof.measures.precision_sums import best, mean, terms_of_ties, worst
from tieproof.measures.rank_weights import HARMONIC, LOGARITHMIC, RunningSums, growing_tables, spread_in_tie
from tieproof.ties import IntArray, Ties


@pytest.fixture(scope="module", autouse=True)
def keep_tables() -> Iterator[None]:
    """Tables of a million ranks are computed once for all of these tests, not for each."""
    with growing_tables():
        yield


@dataclass(frozen=True)
class Query:
    """A ranking with grades of relevant items that are not in its list."""

    ranking: oracle.Ranking
    missing: oracle.Ordering = ()


def to_ties(queries: list[Query], graded: bool) -> Ties:
    rows, grades, n_relevant, n_items = [], [], [], []
    for q, query in enumerate(queries):
        k = n = 0
        for tie in query.ranking:
            relevant = sorted((float(grade) for grade in tie if grade > 0), reverse=True)
            if relevant:
                rows.append((q, k, n, len(tie), len(relevant)))
                grades += relevant
            k, n = k + len(tie), n + len(relevant)
        n_relevant.append(n + len(query.missing))
        n_items.append(k)
    columns = np.array(rows, dtype=np.int64).reshape(-1, 5).T.copy()
    return Ties(
        query=columns[0],
        k=columns[1],
        n=columns[2],
        l=columns[3],
        m=columns[4],
        n_relevant=np.array(n_relevant, dtype=np.int64),
        n_items=np.array(n_items, dtype=np.int64),
        grades=np.array(grades) if graded else None,
    )


def random_ranking(source: random.Random, graded: bool) -> oracle.Ranking:
    """At most seven items in ties of one to five, at least one relevant."""
    grades: list[oracle.Grade] = [1, 2, Fraction(3, 2), 3, Fraction(1, 4)] if graded else [1]
    share = source.choice((0.2, 0.5, 0.8))
    ranking: oracle.Ranking = []
    left = source.randint(1, 7)
    while left:
        size = source.randint(1, min(left, 5))
        ranking.append([source.choice(grades) if source.random() < share else 0 for _ in range(size)])
        left -= size
    if not any(itertools.chain.from_iterable(ranking)):
        source.choice(ranking)[0] = 1
    return ranking


def handmade() -> list[Query]:
    return [
        Query([[1]]),
        Query([[0], [1]]),
        Query([[1], [1], [0], [1]]),
        Query([[1, 1, 1]]),
        Query([[0], [1, 1], [0], [1, 1]]),
        Query([[1, 0]]),
        Query([[1, 0, 0, 0, 0, 0]]),
        Query([[1, 1, 1, 1, 1, 0]]),
        Query([[1, 1, 1, 0, 0, 0]]),
        Query([[0, 0, 0], [1, 1, 0, 0]]),
        Query([[0] * 6, [1, 0, 1, 0]]),
        Query([[1, 0], [0, 0, 1, 0], [1, 1, 1]]),
        Query([[1, 1, 0, 0], [1, 0, 0], [1, 0]]),
        Query([[1], [1], [1, 0]]),
        Query([[0], [0], [1]], missing=(1,)),
        Query([[1, 0], [1, 1, 0]], missing=(1, 1)),
    ]


def rankings(graded: bool) -> list[Query]:
    source = random.Random(20180820)
    queries = [Query(random_ranking(source, graded)) for _ in range(100)]
    queries += [
        Query(random_ranking(source, graded), missing=(1,) * source.randint(1, 3)) for _ in range(0 if graded else 15)
    ]
    return handmade() + queries if not graded else queries


BINARY, GRADED = rankings(graded=False), rankings(graded=True)


def reads_grades(spelling: str) -> bool:
    return spelling.startswith(("nDCG", "ERR")) or "gain=linear" in spelling


def expected_values(measure: Measure, queries: list[Query]) -> list[oracle.Estimates]:
    cutoff = measure.cutoff if isinstance(measure.cutoff, int) else None
    definition = oracle_for(measure)
    return [oracle.enumerate_orderings(definition, q.ranking, q.missing, cutoff) for q in queries]


def assert_same(found: Estimates, expected: list[oracle.Estimates], what: list[str]) -> None:
    assert all(x.dtype == np.float64 and x.shape == (len(expected),) for x in found)
    for q, (exact, label) in enumerate(zip(expected, what, strict=True)):
        assert_close(found.lower[q], exact.lower, f"lower of {label}")
        assert_close(found.expected[q], exact.expected, f"expected of {label}")
        assert_close(found.upper[q], exact.upper, f"upper of {label}")
        assert_close(math.sqrt(found.variance[q]), exact.std, f"std of {label}")


def check_against_oracle(spelling: str, queries: list[Query], graded: bool) -> None:
    measure = parse(spelling)
    found = measure(to_ties(queries, graded))
    what = [f"{spelling} on {query}" for query in queries]
    assert_same(found, expected_values(measure, queries), what)
    assert np.all(found.lower <= found.expected)
    assert np.all(found.expected <= found.upper)
    for q, query in enumerate(queries):
        if all(len(set(tie)) == 1 for tie in query.ranking):
            assert found.lower[q] == found.expected[q] == found.upper[q]
            assert found.variance[q] == 0.0


@pytest.mark.parametrize("spelling", registered_measures())
def test_measure_is_its_definition_over_all_orderings(spelling: str) -> None:
    check_against_oracle(spelling, BINARY, graded=False)


@pytest.mark.parametrize("spelling", [name for name in registered_measures() if reads_grades(name)])
def test_graded_measure_is_its_definition_over_all_orderings(spelling: str) -> None:
    check_against_oracle(spelling, GRADED, graded=True)


def test_the_oracle_has_every_measure() -> None:
    for spelling in registered_measures():
        oracle_for(parse(spelling))


@pytest.mark.parametrize("ones", [1, 2, 3, 5, 6])
def test_moments_of_the_oracle_are_those_of_all_arrangements(ones: int) -> None:
    a = [Decimal(x) for x in (7, 5, 1, 4, 0, 0)]
    b = [Decimal(x) for x in (9, 3, 2, 8, 0, 0)]
    values = []
    for arrangement in itertools.combinations(range(6), ones):
        pairs = itertools.combinations(arrangement, 2)
        values.append(Fraction(sum(a[i] for i in arrangement)) + Fraction(sum(b[j] for _, j in pairs)))
    exact = oracle.estimates(values)
    mean, variance = oracle.arrangement_moments(a[:4], b[:4], 6, ones)
    assert abs(Fraction(mean) - exact.expected) < Fraction(1, 10**100)
    assert abs(Fraction(variance) - exact.variance) < Fraction(1, 10**100)


def register(monkeypatch: pytest.MonkeyPatch, name: str, value: Fraction) -> None:
    """Register a measure that is half the reciprocal of the cutoff, and its definition."""

    def compute(ties: Ties, measure: Measure) -> Estimates:
        assert isinstance(measure.cutoff, int)
        half = np.full(ties.n_queries, float(value / measure.cutoff))
        return Estimates(half, half, half, np.zeros(ties.n_queries))

    definition = Definition(name, compute, "a test", "1/(2k)", "this test", cutoff="required")
    monkeypatch.setitem(REGISTRY, name, definition)
    monkeypatch.setitem(oracle.DEFINITIONS, name, lambda ordering, context: Fraction(1, 2 * (context.cutoff or 1)))


def test_a_new_measure_goes_through_the_same_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, "Half", Fraction(1, 2))
    mine = [spelling for spelling in registered_measures() if spelling.startswith("Half")]
    assert mine == [f"Half@{k}" for k in CUTOFFS]
    for spelling in mine:
        check_against_oracle(spelling, BINARY[:20], graded=False)


def test_the_loop_finds_a_wrong_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, "Half", Fraction(1, 2) * (1 + Fraction(3, 10**12)))
    with pytest.raises(AssertionError, match="lower of Half@2"):
        check_against_oracle("Half@2", BINARY[:20], graded=False)


def test_figure_1_of_the_paper() -> None:
    others: oracle.Ranking = [[0]] * 93
    ranking: oracle.Ranking = [[1, 0], [0], [0], [1, 0, 0], *others]
    found = parse("AP")(to_ties([Query(ranking)], graded=False))
    assert_close(found.lower[0], (Fraction(1, 2) + Fraction(2, 7)) / 2, "lower")
    assert_close(found.upper[0], (1 + Fraction(2, 5)) / 2, "upper")
    means = [Fraction(1, a) + Fraction(2, b) for a in (1, 2) for b in (5, 6, 7)]
    assert_close(found.expected[0], sum(means) / 12, "expected")


def test_all_zero_embeddings_of_the_paper() -> None:
    """10 classes of 100, leave-one-out: one tie of 999 items, 99 of them relevant (the paper's figure: 5.18 %)."""
    found = parse("AP")(one_tie(0, 0, 999, 99))
    assert found.lower[0] == pytest.approx(0.05177291227644108, rel=TOLERANCE)
    assert found.expected[0] == pytest.approx(0.10495267188480596, rel=TOLERANCE)
    assert found.upper[0] == 1.0


@pytest.mark.parametrize(("length", "relevant"), [(1, 1), (7, 1), (7, 7), (50, 10), (1000, 40)])
def test_expected_average_precision_of_a_random_order(length: int, relevant: int) -> None:
    """The closed form of Singh and Carpenter 2026 (github.com/shntnu/expected_ap), by harmonic numbers."""
    harmonic = sum((Fraction(1, rank) for rank in range(1, length + 1)), Fraction())
    others = Fraction(relevant - 1, length - 1) * (length - harmonic) if length > 1 else Fraction()
    found = parse("AP")(one_tie(0, 0, length, relevant))
    assert_close(found.expected[0], (others + harmonic) / length, "expected")


@pytest.mark.parametrize(("length", "relevant", "k"), [(50, 10, 10), (1000, 50, 6), (30, 3, 8), (20, 20, 5)])
def test_average_precision_at_a_cutoff_of_a_random_order(length: int, relevant: int, k: int) -> None:
    """The model of Manzhos, Ianevych and Melnyk 2025 (arXiv 2511.02571): k items are drawn without replacement.

    Of d different ranks, all are relevant with the probability of `joint[d]`, and AP@k is a sum over pairs of ranks.
    """
    joint = [math.prod((Fraction(relevant - i, length - i) for i in range(d)), start=Fraction(1)) for d in range(5)]
    pairs = [(rank, before) for rank in range(1, k + 1) for before in range(1, rank + 1)]
    mean = sum(joint[len({*pair})] / pair[0] for pair in pairs) / relevant
    square = sum(joint[len({*one, *other})] / (one[0] * other[0]) for one in pairs for other in pairs) / relevant**2
    found = parse(f"AP@{k}")(one_tie(0, 0, length, relevant))
    assert_close(found.expected[0], mean, "expected")
    assert_close(found.variance[0], square - mean**2, "variance")


# Large ties, compared with sums in decimals.


def one_tie(k: int, n: int, l: int, m: int, n_relevant: int | None = None) -> Ties:
    def column(x: int) -> IntArray:
        return np.array([x], dtype=np.int64)

    return Ties(
        query=column(0),
        k=column(k),
        n=column(n),
        l=column(l),
        m=column(m),
        n_relevant=column(n_relevant or m),
        n_items=column(k + l),
    )


SHAPES = [
    (0, 0, 4000, 1),
    (0, 0, 3000, 1500),
    (0, 0, 999, 998),
    (1, 1, 500, 400),
    (10, 3, 2000, 2),
    (70_000, 3, 1000, 500),
    (300_000, 299_999, 1501, 1500),
    (300_001, 17, 1499, 40),
    (999_998, 5, 2, 1),
    (1_000_000, 1_000_000, 3, 2),
    (1_000_000, 0, 65, 7),
    (1_000_000, 17, 100, 1),
    (1_000_000, 100, 2000, 1999),
]
"""(k, n, l, m): near the top and far down, on both sides of every limit between closed forms and sums."""


def check_tie(found: Estimates, exact: dict[str, Decimal], divisor: Decimal) -> None:
    """Compare with the exact values, each to be divided by `divisor`, the variance by its square."""
    for name, value in exact.items():
        if name == "variance":
            assert_close(math.sqrt(found.variance[0]), Fraction(value.sqrt() / divisor), "std")
        else:
            assert_close(getattr(found, name)[0], Fraction(value / divisor), name)
    assert found.lower[0] <= found.expected[0] <= found.upper[0]


def cutoffs_of(k: int, l: int) -> list[int]:
    """Numbers of places of a tie of l items that count: all, all but one, half, one."""
    return sorted({l, l - 1, l // 2, 1})


@pytest.mark.parametrize(("k", "n", "l", "m"), SHAPES)
def test_average_precision_of_a_large_tie(k: int, n: int, l: int, m: int) -> None:
    getcontext().prec = 60
    for s in cutoffs_of(k, l):
        w = [Decimal(1) / (k + i) for i in range(1, s + 1)]
        mean, variance = oracle.arrangement_moments([(n + 1) * x for x in w], w, l, m)
        best, worst = min(m, s), max(0, s - (l - m))
        exact = {
            "lower": sum((n + j) * w[s - worst + j - 1] for j in range(1, worst + 1)) + Decimal(0),
            "expected": mean,
            "upper": sum((n + j) * w[j - 1] for j in range(1, best + 1)) + Decimal(0),
            "variance": variance,
        }
        check_tie(parse(f"AP@{k + s}")(one_tie(k, n, l, m)), exact, Decimal(m))
        if s == l:
            check_tie(parse("AP")(one_tie(k, n, l, m)), exact, Decimal(m))


@pytest.mark.parametrize(("k", "n", "l", "m"), SHAPES)
def test_trapezoid_of_a_large_tie(k: int, n: int, l: int, m: int) -> None:
    getcontext().prec = 60
    w = [Decimal(1) / (k + i) for i in range(1, l + 1)]
    before = [Decimal(1) / (k + i - 1) if k + i > 1 else Decimal(0) for i in range(1, l + 1)]
    u = [(x + y) / 2 for x, y in zip(before, w, strict=True)]
    a = [n * x + y / 2 for x, y in zip(u, w, strict=True)]
    if k == 0:
        a[0] += Decimal(1) / 2
    mean, variance = oracle.arrangement_moments(a, u, l, m)
    upper = sum((a[j] + j * u[j] for j in range(m)), Decimal(0))
    lower = sum((a[l - m + j] + j * u[l - m + j] for j in range(m)), Decimal(0))
    exact = {"lower": lower, "expected": mean, "upper": upper, "variance": variance}
    check_tie(parse("AP(trapezoid)")(one_tie(k, n, l, m)), exact, Decimal(m))


@pytest.mark.parametrize(
    ("k", "n", "l", "m", "s"),
    [(0, 0, 2000, 300, 40), (500, 250, 3000, 2990, 30), (999_950, 10, 400, 50, 25), (900, 900, 40, 20, 20)],
)
def test_mean_precision_of_the_hits_of_a_large_tie(k: int, n: int, l: int, m: int, s: int) -> None:
    """The n relevant items before the tie have the first n ranks, so that they add n."""
    getcontext().prec = 60
    mean = within = square = Decimal(0)
    lowers, uppers = [], []
    w = [Decimal(1) / (k + i) for i in range(1, s + 1)]
    for h in range(max(0, s - (l - m)), min(s, m) + 1):
        chance = Fraction(math.comb(s, h) * math.comb(l - s, m - h), math.comb(l, m))
        p = Decimal(chance.numerator) / chance.denominator
        tie_mean, tie_variance = oracle.arrangement_moments([(n + 1) * x for x in w], w, s, h)
        hits = max(n + h, 1)
        mean += p * (n + tie_mean) / hits
        square += p * ((n + tie_mean) / hits) ** 2
        within += p * tie_variance / hits**2
        lowers.append((n + sum((n + j) * w[s - h + j - 1] for j in range(1, h + 1))) / Decimal(hits))
        uppers.append((n + sum((n + j) * w[j - 1] for j in range(1, h + 1))) / Decimal(hits))
    exact = {"lower": min(lowers), "expected": mean, "upper": max(uppers), "variance": within + square - mean**2}
    tie = one_tie(k, n, l, m, n_relevant=n + m)
    first = one_tie(0, 0, n, n)
    both: dict[str, Any] = {
        x: np.concatenate((getattr(first, x), getattr(tie, x))) for x in ("query", "k", "n", "l", "m")
    }
    ties = Ties(**both, n_relevant=tie.n_relevant, n_items=tie.n_items) if n else tie
    check_tie(parse(f"AP(norm=hits)@{k + s}")(ties), exact, Decimal(1))


@pytest.mark.parametrize(("k", "n", "l", "m"), SHAPES)
@pytest.mark.parametrize("name", ["nDCG", "RBP(p=0.99999)", "RBP", "P"])
def test_weighted_sum_of_a_large_tie(name: str, k: int, n: int, l: int, m: int) -> None:
    getcontext().prec = 60
    for s in cutoffs_of(k, l):
        spelling = name if s == l and name != "P" else f"{name}@{k + s}"
        divisor = Decimal(1)
        if name == "nDCG":
            w = [oracle.decimal_discount(k + i) for i in range(1, s + 1)]
            divisor = sum((oracle.decimal_discount(i) for i in range(1, min(m, k + s) + 1)), Decimal(0))
        elif name == "P":
            w, divisor = [Decimal(1)] * s, Decimal(k + s)
        else:
            p = Decimal(0.8 if name == "RBP" else 0.99999)
            w = [(1 - p) * p ** (k + i - 1) for i in range(1, s + 1)]
        mean, variance = oracle.arrangement_moments(w, [Decimal(0)] * s, l, m)
        best, worst = min(m, s), max(0, s - (l - m))
        exact = {
            "lower": sum(w[s - worst :], Decimal(0)),
            "expected": mean,
            "upper": sum(w[:best], Decimal(0)),
            "variance": variance,
        }
        check_tie(parse(spelling)(one_tie(k, n, l, m)), exact, divisor)


@pytest.mark.parametrize(("k", "n", "l", "m"), SHAPES)
def test_success_of_a_large_tie(k: int, n: int, l: int, m: int) -> None:
    getcontext().prec = 60
    for s in cutoffs_of(k, l):
        none = Fraction(math.comb(l - m, s), math.comb(l, s))
        miss = Decimal(none.numerator) / none.denominator
        some = Decimal((1 - none).numerator) / (1 - none).denominator
        exact = {"lower": Decimal(none == 0), "expected": some, "upper": Decimal(1), "variance": miss * some}
        check_tie(parse(f"Success@{k + s}")(one_tie(k, 0, l, m)), exact, Decimal(1))


@pytest.mark.parametrize(("l", "m", "s"), [(50_000_000, 2, 3), (50_000_000, 49_999_000, 2)])
def test_unlikely_successes_and_failures_keep_their_digits(l: int, m: int, s: int) -> None:
    getcontext().prec = 60
    none = Fraction(math.comb(l - m, s), math.comb(l, s))
    found = parse(f"Success@{s}")(one_tie(0, 0, l, m))
    assert_close(found.expected[0], 1 - none, "expected")
    variance = none * (1 - none)
    std = (Decimal(variance.numerator) / variance.denominator).sqrt()
    assert_close(math.sqrt(found.variance[0]), Fraction(std), "std")


@pytest.mark.parametrize(("l", "m", "s"), [(1000, 30, 950), (50_000_000, 2, 3), (50_000_000, 2, 49_999_000)])
def test_full_recall_and_the_first_rank_of_a_large_tie(l: int, m: int, s: int) -> None:
    """C(s, m) of C(l, m) orders have all in the first s places, and C(l - j, m - 1) the first one at place j."""
    every = Fraction(math.comb(s, m), math.comb(l, m))
    found = parse(f"FullRecall@{s + 7}")(one_tie(7, 0, l, m))
    assert (found.lower[0], found.upper[0]) == (0.0, 1.0)
    assert_close(found.expected[0], every, "expected")
    assert_close(found.variance[0], every * (1 - every), "variance")
    first = parse("FirstRank")(one_tie(7, 0, l, m))
    assert (first.lower[0], first.upper[0]) == (8.0, 7.0 + l - m + 1)
    if l == 1000:
        ranks = [(7 + j, Fraction(math.comb(l - j, m - 1), math.comb(l, m))) for j in range(1, l - m + 2)]
        mean = sum(rank * chance for rank, chance in ranks)
        assert_close(first.expected[0], mean, "expected")
        assert_close(first.variance[0], sum((rank - mean) ** 2 * chance for rank, chance in ranks), "variance")


@pytest.mark.parametrize(("k", "n", "l", "m"), SHAPES)
def test_reciprocal_ranks_of_a_large_tie(k: int, n: int, l: int, m: int) -> None:
    getcontext().prec = 60
    chances = oracle.waiting_times(l, m)
    for s in cutoffs_of(k, l):
        values = [Decimal(1) / (k + j) if j <= s else Decimal(0) for j in range(1, len(chances) + 1)]
        mean, variance = oracle.moments(chances, values)
        exact = {"lower": values[-1], "expected": mean, "upper": values[0], "variance": variance}
        check_tie(parse(f"RR@{k + s}" if s < l else "RR")(one_tie(k, 0, l, m)), exact, Decimal(1))
    values = [Decimal(m) / (k + l + 1 - j) for j in range(1, len(chances) + 1)]
    mean, variance = oracle.moments(chances, values)
    exact = {"lower": values[0], "expected": mean, "upper": values[-1], "variance": variance}
    check_tie(parse("INP")(one_tie(k, 0, l, m)), exact, Decimal(1))


@pytest.mark.parametrize(
    ("k", "l", "s"), [(0, 600, 600), (10, 600, 37), (900_000, 70, 70), (900_000, 40, 39), (5, 1200, 1199)]
)
def test_graded_gain_of_a_large_tie(k: int, l: int, s: int) -> None:
    getcontext().prec = 60
    source = random.Random(l)
    m = source.randint(2, l - 1)
    grades = sorted((source.choice((1.0, 1.5, 0.1, 3.0, 20.0)) for _ in range(m)), reverse=True)
    gains = [Decimal(grade) for grade in grades]
    w = [oracle.decimal_discount(k + i) for i in range(1, s + 1)] + [Decimal(0)] * (l - s)
    zero = Decimal(0)
    gain_sum, weight_sum = sum(gains, zero), sum(w, zero)
    gain_spread = sum((gain * gain for gain in gains), zero) - gain_sum * gain_sum / l
    weight_spread = sum((x * x for x in w), zero) - weight_sum * weight_sum / l
    exact = {
        "lower": sum((x * y for x, y in zip(gains, reversed(w), strict=False)), zero),
        "expected": gain_sum * weight_sum / l,
        "upper": sum((x * y for x, y in zip(gains, w, strict=False)), zero),
        "variance": gain_spread * weight_spread / (l - 1),
    }
    ideal = sum((x * oracle.decimal_discount(i + 1) for i, x in enumerate(gains[: k + s])), zero)
    ties = replace(one_tie(k, 0, l, m), grades=np.array(grades))
    check_tie(parse(f"nDCG@{k + s}")(ties), exact, ideal)


def cascade_moments(k: int, counts: dict[Decimal, int], s: int) -> tuple[Decimal, Decimal]:
    """Mean and variance of a tie's contribution to ERR, in decimals, from its stopping probabilities.

    Place by place: the mean and the mean square of the remaining places' contribution, by the numbers of items left.
    """
    chances, total = list(counts), sum(counts.values())

    @cache
    def ahead(left: tuple[int, ...]) -> tuple[Decimal, Decimal]:
        place = total - sum(left)
        mean = square = Decimal(0)
        for i, count in enumerate(left if place < s else ()):
            if count:
                next_mean, next_square = ahead((*left[:i], count - 1, *left[i + 1 :]))
                here, on = chances[i] / (k + place + 1), 1 - chances[i]
                mean += count * (here + on * next_mean) / sum(left)
                square += count * (here * here + 2 * here * on * next_mean + on * on * next_square) / sum(left)
        return mean, square

    for depth in range(total - min(s, total), total):  # from the end, so that the recursion is shallow
        for left in itertools.product(*(range(count + 1) for count in counts.values())):
            if sum(left) == depth:
                ahead(left)
    mean, square = ahead(tuple(counts.values()))
    return mean, square - mean * mean


@pytest.mark.parametrize(
    ("k", "l", "grades", "most"),
    [
        pytest.param(0, 400, [1.0] * 60, 1, marks=pytest.mark.long),
        (0, 400, [1.0] * 399, 4),
        pytest.param(1_000_000, 300, [1.0] * 150, 4, marks=pytest.mark.long),
        (70_000, 120, [2.0] * 119, 2),
        (0, 40, [4.0] * 3 + [1.0] * 20, 4),
        (5, 40, [3.0] * 17 + [2.0] * 23, 3),
        (1_000_000, 30, [4.0, 3.0, 1.0], 4),
        (0, 30, [1.0] * 10 + [0.01] * 10, 12),
        (0, 24, [3.0] * 4 + [2.0] * 4 + [1.0] * 4, 4),
    ],
)
def test_expected_reciprocal_rank_of_a_large_tie(k: int, l: int, grades: list[float], most: int) -> None:
    getcontext().prec = 60
    zero = Decimal(0)
    gains = [oracle.exponential_gain(Fraction(grade)) for grade in grades]
    stops = [Decimal(gain.numerator) / gain.denominator / 2**most for gain in gains]
    counts = {stop: stops.count(stop) for stop in dict.fromkeys(stops)} | (
        {zero: l - len(stops)} if l > len(stops) else {}
    )
    for s in cutoffs_of(k, l):
        mean, variance = cascade_moments(k, counts, s)
        best, worst, on = zero, zero, Decimal(1)
        for place, stop in enumerate([*stops, *[zero] * (l - len(stops))][:s]):
            best, on = best + on * stop / (k + place + 1), on * (1 - stop)
        on = Decimal(1)
        for place, stop in enumerate([*[zero] * (l - len(stops)), *reversed(stops)][:s]):
            worst, on = worst + on * stop / (k + place + 1), on * (1 - stop)
        exact = {"lower": worst, "expected": mean, "upper": best, "variance": variance}
        ties = replace(one_tie(k, 0, l, len(grades)), grades=np.array(grades))
        check_tie(parse(f"ERR(max_grade={most})@{k + s}")(ties), exact, Decimal(1))


@pytest.mark.parametrize("most", [30, 60, 100, 300])
def test_err_of_grades_far_below_the_scale_stays_within_what_is_possible(most: int) -> None:
    grades = np.array([3.0, 2.0, 2.0, 1.0, 1.0])
    (lower,), (expected,), (upper,), (variance,) = parse(f"ERR(max_grade={most})")(
        replace(one_tie(0, 0, 6, 5), grades=grades)
    )
    assert 0 < lower <= expected <= upper
    assert 0 <= variance <= (upper - expected) * (expected - lower)


@pytest.mark.parametrize(("k", "n", "l", "m"), SHAPES)
@pytest.mark.parametrize("share", [0.0, 0.5, 3.0])
def test_binary_preference_of_a_large_tie(k: int, n: int, l: int, m: int, share: float) -> None:
    """R is about `share` times the number of the other items, some of which are behind the tie."""
    getcontext().prec = 60
    others = l - m
    n_relevant = n + m + int(share * (k - n + others))
    n_others = k - n + others + 7
    most = min(n_relevant, n_others)
    counted = [Decimal(max(most - (k - n) - above, 0)) / most for above in range(others + 1)]
    total, squares = sum(counted, Decimal(0)), sum((x * x for x in counted), Decimal(0))
    mean = total / (others + 1)
    one = squares / (others + 1) - mean**2
    two = (total**2 + squares) / ((others + 1) * (others + 2)) - mean**2
    exact = {
        "lower": m * counted[-1],
        "expected": m * mean,
        "upper": m * counted[0],
        "variance": m * one + m * (m - 1) * two if others else Decimal(0),
    }
    ties = replace(one_tie(k, n, l, m, n_relevant), n_items=np.array([m + n_others]))
    check_tie(parse("bpref")(ties), exact, Decimal(n_relevant))


MILLION = [
    *DEFAULT_MEASURES,
    *(
        "AP@1000",
        "AP(norm=min)@500000",
        "AP(norm=hits)@1000",
        "AP(trapezoid)",
        "nDCG",
        "nDCG(ideal=list)@1000",
        "AUC",
    ),
    *(
        "ERR",
        "ERR@1000",
        "bpref",
        "P@700000",
        "RelP@1000",
        "R@1000000",
        "F1@500000",
        "Success@500000",
        "RR@1000",
        "INP",
        "FirstRank",
        "FullRecall@999990",
        "RBP@1000",
    ),
    "BinG",
    "SetP",
    "SetRelP",
    "SetR",
    "SetF",
    "SetAP",
    "Judged@50000",
    "Unjudged@50000",
    "RBPResidual",
    "NumQ",
    "NumRet",
    "NumRel",
    "NumRelRet",
    "NumNonRelJudgedRet",
]


def test_every_measure_is_tried_on_a_million() -> None:
    assert {parse(spelling).name for spelling in MILLION} == set(REGISTRY) - {"IPrec"}  # which refuses it


@pytest.mark.long
@pytest.mark.parametrize("spelling", MILLION)
def test_a_tie_of_a_million_overflows_nothing(spelling: str) -> None:
    found = parse(spelling)(one_tie(0, 0, 1_000_000, 400_000))
    assert all(np.isfinite(x).all() for x in found)
    most = 1 if parse(spelling).definition.is_score else 1_000_000
    assert 0 <= found.lower[0] <= found.expected[0] <= found.upper[0] <= most


@pytest.mark.parametrize("recall", [0, 0.1, 1])
def test_interpolated_precision_of_a_large_tie(recall: float) -> None:
    """One relevant item in a tie of l: its precision is 1 / rank, and every rank is equally likely."""
    getcontext().prec = 60
    l = 1000
    ranks = [Decimal(1) / rank for rank in range(1, l + 1)]
    mean = sum(ranks, Decimal(0)) / l
    variance = sum(((value - mean) ** 2 for value in ranks), Decimal(0)) / l
    found = parse(f"IPrec(recall={recall})")(one_tie(0, 0, l, 1))
    exact = {"lower": ranks[-1], "expected": mean, "upper": ranks[0], "variance": variance}
    check_tie(found, exact, Decimal(1))


def test_interpolated_precision_of_a_tie_with_too_many_orders_is_refused() -> None:
    with pytest.raises(InputError, match=r"'IPrec\(recall=0.1\)' would take minutes: ties of up to 1,000,000 items"):
        parse("IPrec@0.1")(one_tie(0, 0, 1_000_000, 400_000))


@pytest.mark.parametrize("recall", ["0", "1"])
def test_interpolated_precision_of_every_order_of_a_large_tie(recall: str) -> None:
    """Two relevant items among 400, in all 79,800 pairs of places."""
    pairs = list(itertools.combinations(range(1, 401), 2))
    values = [max(Fraction(1, one) * (recall == "0"), Fraction(2, other)) for one, other in pairs]
    exact, found = oracle.estimates(values), parse(f"IPrec(recall={recall})")(one_tie(0, 0, 400, 2))
    assert (found.lower[0], found.upper[0]) == (float(exact.lower), float(exact.upper))
    assert_close(found.expected[0], exact.expected, "expected")
    assert_close(found.variance[0], exact.variance, "variance")


def test_interpolated_precision_of_a_thousand_tied_items() -> None:
    """By the ballot theorem (Takacs 1962), the largest precision is 1/u or more with probability u m / l."""
    l, m = 1000, 50
    found, worst = parse("IPrec")(one_tie(0, 0, l, m)), Fraction(m, l)
    steps = [(Fraction(1, u) - Fraction(1, u + 1), Fraction(u * m, l)) for u in range(1, l // m)]
    least = worst + sum(step * chance for step, chance in steps)
    most = worst + sum(step * (chance + worst) for step, chance in steps)
    assert least < found.expected[0] < most < least * Fraction(4, 3)
    assert (found.lower[0], found.upper[0]) == (0.05, 1.0)


def test_rare_values_of_interpolated_precision_lose_no_digits() -> None:
    """One of 3 relevant items before a tie of 1 relevant and 9,999 other items; only its first place raises 1/2."""
    first = Fraction(1, 10_000)
    ties = one_tie(1, 1, 10_000, 1, n_relevant=2)
    found = parse("IPrec@1.0")(ties)
    values = [Fraction(2, 1 + place) for place in range(1, 10_001)]
    assert_close(found.upper[0], values[0], "upper")
    assert_close(found.expected[0], sum(values) * first, "expected")


# Properties of every measure.


@pytest.mark.parametrize("spelling", registered_measures())
def test_a_query_alone_has_the_same_bits(spelling: str) -> None:
    measure, queries = parse(spelling), BINARY[:40]
    together = measure(to_ties(queries, graded=False))
    for q, query in enumerate(queries):
        alone = measure(to_ties([query], graded=False))
        assert [x[0] for x in alone] == [x[q] for x in together]


@pytest.mark.parametrize("spelling", registered_measures())
def test_a_query_without_ties_counts_zero_if_the_measure_needs_a_relevant_item(spelling: str) -> None:
    empty = to_ties([Query([[0, 0], [0]]), Query([[1]]), Query([[0]])], graded=False)
    for values in parse(spelling)(empty):
        assert values[0] == values[2] == 0.0 or not parse(spelling).definition.needs_relevant
    nothing = parse(spelling)(to_ties([], graded=False))
    assert all(x.shape == (0,) and x.dtype == np.float64 for x in nothing)


@pytest.mark.parametrize("n", [1, 7, 1000])
def test_a_perfect_ranking_scores_exactly_one(n: int) -> None:
    for spelling in ("AP", "AP@R", "Rprec", "RR", "nDCG", "nDCG@10", "nDCG(gain=exp)", "INP", "AP(trapezoid)"):
        for sizes in ([1] * n, [n], [n - n // 2] + [1] * (n // 2)):
            ranking: oracle.Ranking = [[1] * size for size in sizes]
            found = parse(spelling)(to_ties([Query([*ranking, [0]])], graded=False))
            assert found.lower[0] == found.expected[0] == found.upper[0] == 1.0
            assert found.variance[0] == 0.0


def test_grades_that_are_all_one_are_binary() -> None:
    for cutoff in ("", "@1", "@3"):
        binary = parse("nDCG" + cutoff)(to_ties(BINARY[:14], graded=False))
        graded = parse("nDCG" + cutoff)(to_ties(BINARY[:14], graded=True))
        for x, y in zip(binary, graded, strict=True):
            assert x == pytest.approx(y, rel=TOLERANCE)


def test_grades_of_unlisted_items_must_be_known() -> None:
    ties = to_ties([Query([[3], [0]], missing=(1,))], graded=True)
    with pytest.raises(InputError, match=r"query 0 has 2, but only 1 are in the list.*nDCG\(ideal=list\)"):
        parse("nDCG@5")(ties)
    assert parse("nDCG(ideal=list)@5")(ties).lower[0] == 1.0


def test_a_gain_too_large_for_a_float_is_refused() -> None:
    ties = to_ties([Query([[1000], [0]])], graded=True)
    with pytest.raises(InputError, match=r"cannot use the grade 1000.*Use a smaller scale"):
        parse("nDCG(gain=exp)")(ties)
    assert parse("nDCG")(ties).lower[0] == 1.0


# The arithmetic.


def test_tables_have_the_same_bits_however_they_grow() -> None:
    def table() -> RunningSums:
        return RunningSums(lambda i: 1.0 / Pair.of(i))

    small, large = table(), table()
    for last in (1, 300, 5000):
        small.up_to(last)
    large.up_to(200_000)
    short, long = small.up_to(5000), large.up_to(200_000)
    assert np.array_equal(short, long[:, : short.shape[1]])


def test_compiled_terms_of_ties_are_those_of_pairs() -> None:
    """On both sides of every limit between closed forms and sums."""
    random = np.random.default_rng(0)
    l = random.integers(1, random.choice([3, 40, 70, 3000], size=3000) + 1)
    k = random.integers(0, random.choice([1, 100, 10_000, 10**6], size=3000))
    m = np.minimum(l, random.integers(1, random.choice([2, 3, 3000], size=3000)))
    n = np.minimum(k, random.integers(0, random.choice([1, 100, 10**6], size=3000)))
    s = np.where(random.random(3000) < 0.3, random.integers(1, l + 1), l)
    lower, expected, upper, variance = terms_of_ties(k, n, l, m, s)
    ambiguous = m < l
    tied = [column[ambiguous] for column in (k, n, l, m, s)]
    assert np.array_equal(upper, best(k, n, m, s).hi)
    assert np.array_equal(lower[ambiguous], worst(*tied).hi)
    assert np.array_equal(expected[ambiguous], mean(*tied).hi)
    assert np.array_equal(lower[~ambiguous], upper[~ambiguous])
    assert np.array_equal(expected[~ambiguous], upper[~ambiguous])
    assert not variance[~ambiguous].any()
    assert (variance[ambiguous] > 0).all()
    lone = (m == 1) & (s > 64) & (k > 200 * s)
    assert lone.any()
    of_weight = spread_in_tie(HARMONIC, k[lone], l[lone], (k + s)[lone]) / l[lone]
    assert np.array_equal(variance[lone], (n[lone] + 1.0) * (n[lone] + 1.0) * of_weight)


@pytest.mark.parametrize("rank", [1, 2, 3, 7, 254, 255, 256, 1023, 99_999, 1_000_000])
def test_discounts_have_twice_the_digits(rank: int) -> None:
    weight = LOGARITHMIC.sum(np.array([rank - 1]), np.array([rank]))
    found = Fraction(float(weight.hi[0])) + Fraction(float(weight.lo[0]))
    assert abs(found / Fraction(oracle.decimal_discount(rank)) - 1) < Fraction(1, 10**24)


def test_two_to_the_power_less_one() -> None:
    x = np.array([0.0, 2.0**-40, 0.25, 0.5, 0.75, 1.0, 1.5, 3.0, 10.3, 400.0])
    for power, found in zip(x, exp2_minus_1(x), strict=True):
        assert_close(found, oracle.exponential_gain(Fraction(power)), f"2^{power} - 1")


def test_two_to_a_whole_power_has_the_same_bits_alone_and_beside_others() -> None:
    whole = np.arange(997.0)
    alone = exp2_minus_1(whole)
    assert alone.tolist() == [float(2 ** int(power) - 1) for power in whole]
    assert alone.tobytes() == exp2_minus_1(np.append(whole, 0.5))[:-1].tobytes()


def test_pairs_calculate_with_thirty_digits() -> None:
    source = random.Random(7)
    tolerance = Fraction(1, 2**100)
    for _ in range(200):
        x, y, z = (source.uniform(-1, 1) * 10 ** source.randint(-5, 5) for _ in range(3))
        a, b = Pair.of(np.array([x])) / y, Pair.of(np.array([z])) * y
        exact_a, exact_b = Fraction(x) / Fraction(y), Fraction(z) * Fraction(y)
        for found, exact in (
            (a + b, exact_a + exact_b),
            (a - b, exact_a - exact_b),
            (a * b, exact_a * exact_b),
            (a / b, exact_a / exact_b),
            (a * z, exact_a * Fraction(z)),
            (1.0 - a, 1 - exact_a),
        ):
            value = Fraction(float(found.hi[0])) + Fraction(float(found.lo[0]))
            assert abs(value - exact) <= tolerance * (abs(exact) + abs(exact_a) + abs(exact_b))
