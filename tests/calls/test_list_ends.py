"""Truncated lists with grades, compared with every possible continuation of their last tie."""

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from test_lists import Query, extremes, spellings

import oracle
import tieproof as tp
from tieproof.measures import parse
from tieproof.measures.rank_weights import LOGARITHMIC, Geometric, Tabled
from tieproof.measures.unseen_grades import worst_count

CUTOFFS = (1, 2, 3, 4, 6)
GRADES: list[oracle.Grade] = [1, 2, 3, Fraction(1, 4), Fraction(9, 8), 8]
NDCG = [
    f"nDCG{parameters}{cutoff}"
    for parameters in ("", "(gain=exp)", "(ideal=list)", "(gain=exp,ideal=list)")
    for cutoff in ("", *(f"@{k}" for k in CUTOFFS))
]

ERR = [f"ERR(max_grade=8){cutoff}" for cutoff in ("", "@1", "@2", "@3", "@6")]


def queries(count: int, seed: int) -> list[Query]:
    """Lists whose last tie has relevant items or none, and lacks one to three items."""
    source = random.Random(seed)
    found: list[Query] = []
    while len(found) < count:
        ranking: oracle.Ranking = [
            [source.choice(GRADES) if source.random() < share else 0 for _ in range(source.choice((1, 2, 3)))]
            for share in source.choice(((0.7,), (0.4, 0.7), (0.3, 0.3, 0.6)))
        ]
        query = Query(ranking, tuple(source.choice(GRADES) for _ in range(source.choice((1, 2, 2, 3)))))
        if len(query.ranking[-1]) + len(query.missing) <= 5:
            found.append(query)
    return found


def judged(query: Query) -> tuple[dict[str, float], dict[str, float]]:
    """The query's judgments and its list."""
    scores = {f"d{place}": score - 0.5 for place, score in enumerate(query.scores)}
    grades = dict(zip(scores, query.relevance, strict=True))
    return grades | {f"m{place}": float(grade) for place, grade in enumerate(query.missing)}, scores


def evaluate(found: list[Query], measures: list[str], **options: Any) -> tp.Result:
    pairs = {f"q{at:03}": judged(query) for at, query in enumerate(found)}
    qrels, run = ({name: pair[side] for name, pair in pairs.items()} for side in (0, 1))
    return tp.evaluate_run(qrels, run, measures=measures, **options)


def test_the_example() -> None:
    result = tp.evaluate_run(
        {"q": {"a": 2, "b": 1}}, {"q": {"a": 1.0}}, measures=["nDCG@3"], truncated=True, n_items=4
    )
    # The tie may continue as x, y, b, a: only b is above the cutoff, at rank 3.
    best = 2 + 1 / np.log2(3)
    assert result["nDCG@3"].lower == pytest.approx(1 / np.log2(4) / best, rel=1e-12)
    assert result["nDCG@3"].expected == pytest.approx(2 / best, rel=1e-12)
    assert result["nDCG@3"].upper == 1.0


@pytest.mark.long
@pytest.mark.parametrize("measure", [*NDCG, *ERR, "AP@3", "AP(norm=hits)@3", "P@2", "RR", "AUC", "R@3", "INP"])
@pytest.mark.parametrize("others", [0, 2])
def test_bounds_are_those_of_all_continuations(measure: str, others: int) -> None:
    name, _, cutoff = measure.partition("@")
    found = [
        query
        for query in queries(24, seed=others)
        if query.n_relevant > len(query.missing) or "list" not in measure
        if len(query.ranking[-1]) + len(query.missing) + others <= 6
    ]
    assert len(found) > 9
    last = int(cutoff) if cutoff else None
    sizes = [len(query.scores) + len(query.missing) + others for query in found]
    for size in set(sizes):
        of_size = [query for query, theirs in zip(found, sizes, strict=True) if theirs == size]
        got = evaluate(of_size, [measure], truncated=True, n_items=size).per_query(measure)
        for at, query in enumerate(of_size):
            lower, upper = extremes(name, query, others, last)
            missing = () if "list" in measure else query.missing
            given = oracle.enumerate_orderings(oracle.DEFINITIONS[name], query.ranking, missing, last)
            assert got.lower[at] == pytest.approx(float(lower), rel=1e-12), query
            assert got.upper[at] == pytest.approx(float(upper), rel=1e-12), query
            assert got.expected[at] == pytest.approx(float(given.expected), rel=1e-12), query
            assert got.std[at] == pytest.approx(given.std, rel=1e-12, abs=1e-15), query


@pytest.mark.parametrize("measure", ["nDCG", "nDCG@3", "nDCG(gain=exp)", "nDCG(gain=exp)@6"])
def test_without_an_end_the_lower_bound_is_the_limit(measure: str) -> None:
    found = queries(30, seed=5)
    endless = evaluate(found, [measure], truncated=True).per_query(measure)
    far = evaluate(found, [measure], truncated=True, n_items=10**5).per_query(measure)
    assert (endless.lower <= far.lower).all()
    assert (endless.upper == far.upper).all()
    if "@" in measure:
        assert (endless.lower == far.lower).all()


def test_grades_that_are_all_one_are_bounded_as_binary_ones() -> None:
    """Grades in another unit have the bounds of graded relevance, which must equal those of binary relevance."""
    found = queries(40, seed=9)
    binary = [
        Query([[int(grade > 0) for grade in tie] for tie in query.ranking], (1,) * len(query.missing))
        for query in found
    ]
    threes = [
        Query([[3 * grade for grade in tie] for tie in query.ranking], (3,) * len(query.missing)) for query in binary
    ]
    for size in (None, 20):
        for measure in ("nDCG", "nDCG@2", "nDCG@4"):
            one, other = (
                evaluate(each, [measure], truncated=True, n_items=size).per_query(measure)
                for each in (binary, threes)
            )
            for kind in ("lower", "expected", "upper", "std"):
                assert getattr(one, kind) == pytest.approx(getattr(other, kind), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("weights", [LOGARITHMIC, Geometric(0.8)], ids=["nDCG", "RBP"])
@pytest.mark.parametrize("cutoff", [10**9, 5, 40, 60])
def test_the_worst_count_of_many_missing_items_is_that_of_the_direct_sums(
    cutoff: int, weights: Tabled | Geometric
) -> None:
    source = np.random.default_rng(2)
    for _ in range(30):
        tied = np.sort(source.choice([1.0, 2.0, 5.0, 0.3], source.integers(1, 20)))[::-1]
        missing = np.sort(source.choice([1.0, 2.0, 4.5, 0.1, 9.0], source.integers(1, 25)))
        start = int(source.integers(0, 40))
        sums = []
        for count in range(len(missing) + 1):
            gains = np.sort(np.concatenate([tied, missing[:count]]))
            ranks = start + np.arange(1, len(gains) + 1)
            sums.append(float((gains * weights.sum(ranks - 1, ranks).hi)[ranks <= cutoff].sum()))
        found = worst_count(tied, missing, start + len(tied), cutoff, weights)
        assert sums[found] == pytest.approx(min(sums), rel=1e-12)


def test_measures_without_grades_do_not_ask_for_them() -> None:
    found = queries(12, seed=1)
    measures = [
        measure
        for measure, name, _ in spellings()
        if not name.startswith(("nDCG", "ERR")) and "gain" not in name and not parse(measure).definition.unjudged
    ]
    graded = evaluate(found, measures, truncated=True, n_items=50)
    binary = evaluate(
        [
            Query([[int(grade > 0) for grade in tie] for tie in query.ranking], (1,) * len(query.missing))
            for query in found
        ],
        measures,
        truncated=True,
        n_items=50,
    )
    assert graded.to_json() == binary.to_json()
    assert all(parse(measure).definition.name != "nDCG" for measure in measures)
