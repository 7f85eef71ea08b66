"""nDCG of gains of every size: the values are ratios, whatever the unit of the grades."""

import random
from fractions import Fraction

import numpy as np
import pytest

import oracle
import tieproof as tp

SMALLEST = 5e-324
LINEAR = (2.0**-1074, 2.0**-1060, 1e-300, 1e-200, 1e-160, 1e-154, 1e-100, 1e-30, 1e30, 1e100, 2.0**400, 1e200, 5e307)
TINY = LINEAR[:8]
SHAPES = ((1.0, 2.0, 3.0), (1.0, 1e-9, 7.0), (1.0, 1e-60, 1e60))
"""The grades of a query in another unit; 0 if they are outside the range of floats."""


def queries(unit: float, shape: tuple[float, ...], largest: float) -> list[oracle.Ranking]:
    source = random.Random(11)
    grades = [float(part * unit) for part in shape if SMALLEST <= part * unit < largest] or [unit]
    found: list[oracle.Ranking] = []
    while len(found) < 6:
        ranking = [
            [Fraction(source.choice(grades)) if source.random() < 0.6 else 0 for _ in range(source.choice((1, 2, 3)))]
            for _ in range(source.randint(1, 3))
        ]
        if any(grade for tie in ranking for grade in tie):
            found.append(ranking)
    return found


def compare(measure: str, rankings: list[oracle.Ranking]) -> None:
    name, _, cutoff = measure.partition("@")
    got = tp.evaluate_scores(
        [[-place for place, tie in enumerate(ranking) for _ in tie] for ranking in rankings],
        [[float(grade) for tie in ranking for grade in tie] for ranking in rankings],
        measures=[measure],
    ).per_query(measure)
    for at, ranking in enumerate(rankings):
        one = oracle.enumerate_orderings(oracle.DEFINITIONS[name], ranking, cutoff=int(cutoff) if cutoff else None)
        for kind in ("lower", "expected", "upper", "std"):
            exact = float(getattr(one, kind))
            # The variance of values below 1e-150, where the largest possible value is 1, underflows.
            assert getattr(got, kind)[at] == pytest.approx(exact, rel=1e-12, abs=1e-150), (kind, ranking)


@pytest.mark.parametrize("unit", LINEAR)
@pytest.mark.parametrize("measure", ["nDCG", "nDCG@2", "nDCG(ideal=list)@1"])
def test_linear_gains_of_every_size(measure: str, unit: float) -> None:
    for shape in SHAPES:
        compare(measure, queries(unit, shape, largest=1.7e308))


@pytest.mark.parametrize("unit", [*TINY, 1e-3, 60.0])
@pytest.mark.parametrize("measure", ["nDCG(gain=exp)", "nDCG(gain=exp)@2"])
def test_exponential_gains_of_every_size(measure: str, unit: float) -> None:
    for shape in SHAPES:
        compare(measure, queries(unit, shape, largest=400.0))


@pytest.mark.parametrize("measure", ["nDCG", "nDCG@3"])
def test_a_power_of_two_as_the_unit_changes_no_bit(measure: str) -> None:
    random = np.random.default_rng(3)
    scores = random.integers(0, 4, (20, 9))
    grades = np.where(random.random((20, 9)) < 0.6, random.integers(1, 2**20, (20, 9)), 0).astype(float)
    expected = tp.evaluate_scores(scores, grades, measures=[measure]).to_json()
    for exponent in (-1074, -1000, -600, -500, -1, 400, 1000):
        assert tp.evaluate_scores(scores, np.ldexp(grades, exponent), measures=[measure]).to_json() == expected


def test_units_differ_from_query_to_query() -> None:
    scores, grades = [[1, 1, 0]] * 3, [[1, 0, 2], [1e-320, 0, 2e-320], [1e300, 0, 2e300]]
    result = tp.evaluate_scores(scores, grades, measures=["nDCG"]).per_query("nDCG")
    for values in (result.lower, result.expected, result.upper, result.std):
        assert values[2] == pytest.approx(values[0], rel=1e-15)
        assert values[1] == pytest.approx(values[0], rel=1e-12)
