"""Intervals over queries end where the measure ends, and are the value itself if all queries score the same."""

from typing import Any

import numpy as np
import pytest

import tieproof as tp
from tieproof.evaluation.intervals import METHODS
from tieproof.measures.statistics.resampling import Strata, bca
from tieproof.measures.statistics.tests import t_interval

RANDOM = np.random.default_rng(0)
BY_METHOD = ["bca", pytest.param("t", marks=pytest.mark.heavy)]


def system(places: Any, count: int = 12, **options: Any) -> tp.Result:
    """A system that ranks the only relevant item of each query at the given place, from 0."""
    own, others = -np.reshape(places, (-1, 1)), -np.arange(1, count)
    scores = np.hstack([own, others + np.where(others >= own, 0.5, -0.5)])
    return tp.evaluate_scores(scores, np.eye(1, count, dtype=int).repeat(len(scores), axis=0), **options)


def test_the_place_is_that_of_the_relevant_item() -> None:
    assert system([0, 1, 2, 11], measures=["RR"]).per_query("RR").lower.tolist() == [1, 1 / 2, 1 / 3, 1 / 12]


@pytest.mark.parametrize("method", METHODS)
def test_the_interval_of_a_constant_value_is_the_value(method: Any) -> None:
    """Sums of equal floats are rounded, so that the value and its bounds may lie an ulp beside the constant."""
    for place in range(12):
        for count in RANDOM.integers(2, 80, size=3).tolist():
            result = system(np.full(count, place), measures=["RR", "nDCG@12"])
            for found in result.intervals(method=method).values():
                assert (found.low, found.high) == (found.value, found.value)


@pytest.mark.parametrize("method", METHODS)
def test_the_interval_of_constant_values_in_categories_is_the_value(method: Any) -> None:
    """Every category is constant, so nothing varies, though the categories differ."""
    for count in (7, 12, 30):
        kinds = np.sort(RANDOM.permutation(np.arange(count) % 3))
        for places in (kinds, kinds * 0, 2 * kinds + 3):
            result = system(places, measures=["RR", "nDCG@12"], categories=kinds, average="macro")
            for found in result.intervals(method=method, bound="expected").values():
                assert (found.low, found.high) == (found.value, found.value)


@pytest.mark.parametrize("method", BY_METHOD)
@pytest.mark.parametrize("average", ["micro", "macro"])
def test_intervals_end_at_zero_and_one(method: Any, average: Any) -> None:
    kinds = np.arange(12) % 3
    some = np.where(np.arange(12) == 5, 11, 0)
    for places in (some, 11 - some):
        for confidence in (0.5, 0.95, 0.999999):
            result = system(places, measures=["RR", "P@1"], categories=kinds, average=average)
            for found in result.intervals(confidence, method=method).values():
                assert 0 <= found.low <= found.value <= found.high <= 1


@pytest.mark.heavy
def test_student_is_not_cut_where_it_ends_inside() -> None:
    values = system([0, 1, 2, 3, 5, 7], measures=["RR"]).per_query("RR").lower
    low, high = t_interval(values, Strata(np.array([6])), 0.8)
    assert 0 < low < high < 1
    found = system([0, 1, 2, 3, 5, 7], measures=["RR"]).interval("RR", 0.8, method="t")
    assert (found.low, found.high) == (low, high)
    wide = system([0, 11, 0], measures=["RR"]).interval("RR", method="t")
    assert t_interval(np.array([1, 1 / 12, 1]), Strata(np.array([3])), 0.95)[1] > 1
    assert (wide.low, wide.high) == (0.0, 1.0)


def test_the_interval_of_a_constant_difference_is_the_difference() -> None:
    kinds = np.arange(9) % 3
    for average in ("micro", "macro"):
        options: Any = {"measures": ["RR"], "categories": kinds, "average": average}
        one, other = system(kinds, **options), system(kinds + 3, **options)
        found = tp.compare({"a": one, "b": other})["a", "b", "RR"]
        if average == "macro":
            assert found.interval == (found.expected, found.expected)
        one, other = system(np.full(9, 2), **options), system(np.full(9, 6), **options)
        for a, b in (("a", "b"), ("b", "a")):
            found = tp.compare({"a": one, "b": other})[a, b, "RR"]
            assert found.interval == (found.expected, found.expected)


def test_intervals_of_differences_end_at_minus_one_and_one() -> None:
    kinds = np.arange(21) % 3
    right = np.where(np.arange(21) == 20, 11, 0)
    for places in (right, np.where(np.arange(21) < 4, 11, 0)):
        one, other = (
            system(each, measures=["P@1"], categories=kinds, average="macro") for each in (places, 11 - places)
        )
        for confidence in (0.9, 0.999999):
            found = tp.compare({"a": one, "b": other}, confidence=confidence)
            for a, b in (("a", "b"), ("b", "a")):
                low, high = found[a, b, "P@1"].interval
                assert -1 <= low <= high <= 1


def test_bca_of_constant_columns_beside_columns_that_vary() -> None:
    values = RANDOM.random(10)
    strata = Strata(np.array([10]))
    both = bca(np.column_stack([values, np.full(10, 0.1), 0 * values]), strata, 0.95)
    assert both[0] == bca(values[:, None], strata, 0.95)[0]
    assert both[1:] == [(0.1, 0.1), (0.0, 0.0)]
