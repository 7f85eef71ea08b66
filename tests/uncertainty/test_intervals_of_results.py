"""`Result.interval`: the values that it is computed from, and its refusals."""

import json
import math
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from tieproof.measures.statistics.resampling import Strata, bca

RANDOM = np.random.default_rng(0)
RELEVANCE = RANDOM.integers(0, 2, size=(24, 10))
RELEVANCE[:, 0] = 1
SCORES = RANDOM.integers(0, 4, size=(24, 10))
CATEGORIES = np.array(["dog", "cat", "owl"])[np.arange(24) % 3]


def evaluated(order: Any = slice(None), relevance: Any = RELEVANCE, **options: Any) -> tp.Result:
    return tp.evaluate_scores(SCORES[order], relevance[order], measures=["AP", "P@1"], **options)


@pytest.mark.parametrize("bound", ["lower", "expected", "upper"])
def test_of_a_mean_over_queries(bound: Any) -> None:
    result = evaluated()
    found = result.interval("map", 0.9, bound=bound)
    values = getattr(result.per_query("AP"), bound)
    assert (found.low, found.high) == bca(values[:, None], Strata(np.array([24])), 0.9)[0]
    assert found.value == getattr(result["AP"], bound)
    assert (found.confidence, found.method, found.bound) == (0.9, "bca", bound)
    assert found.low < found.value < found.high
    assert result.intervals(0.9, bound=bound)["AP"] == found


def test_of_a_mean_over_categories() -> None:
    result = evaluated(categories=CATEGORIES, average="macro")
    parts = [result.per_query("AP").lower[name == CATEGORIES] for name in ("cat", "dog", "owl")]
    found = result.interval("AP")
    assert (found.low, found.high) == bca(np.concatenate(parts)[:, None], Strata(np.array([8, 8, 8])), 0.95)[0]
    assert found.value == result["AP"].lower
    micro = evaluated(categories=CATEGORIES).interval("AP")
    assert micro == evaluated().interval("AP")
    assert micro != found
    assert result.category("cat").interval("AP").value == result.category("cat")["AP"].lower


@pytest.mark.heavy
def test_by_t() -> None:
    from scipy import stats

    values = evaluated().per_query("AP").expected
    expected = stats.ttest_1samp(values, 0.0).confidence_interval(0.99)
    found = evaluated().interval("AP", 0.99, method="t", bound="expected")
    assert math.isclose(found.low, expected.low, rel_tol=1e-9)
    assert math.isclose(found.high, expected.high, rel_tol=1e-9)


@pytest.mark.parametrize("average", ["micro", "macro"])
def test_the_same_in_any_order(average: Any) -> None:
    order = RANDOM.permutation(24)
    shuffled = evaluated(order, categories=CATEGORIES[order], average=average)
    expected = evaluated(categories=CATEGORIES, average=average)
    assert shuffled.intervals() == expected.intervals()
    assert shuffled.with_ci().to_json() == expected.with_ci().to_json()


@pytest.mark.parametrize("empty", ["skip", "nan"])
def test_queries_that_the_mean_leaves_out_are_left_out(empty: Any) -> None:
    """Queries that the mean counts as 0 also count as 0 in the interval."""
    relevance = RELEVANCE * (np.arange(24) < 20)[:, None]
    found = evaluated(relevance=relevance, empty=empty).interval("AP")
    assert found == evaluated(slice(20)).interval("AP")
    zeros = evaluated(relevance=relevance, empty="zero")
    values = np.append(evaluated(slice(20)).per_query("AP").lower, np.zeros(4))
    assert zeros.interval("AP").high == bca(values[:, None], Strata(np.array([24])), 0.95)[0][1]


def test_all_equal_is_a_point() -> None:
    result = tp.evaluate_scores([[2, 1], [2, 1], [2, 1]], [[1, 0]] * 3, measures=["RR"])
    found = result.interval("RR")
    assert (found.low, found.value, found.high) == (1.0, 1.0, 1.0)


def test_shown_only_where_it_was_asked_for() -> None:
    result = evaluated()
    shown = result.with_ci(0.9)
    assert "queries 90%" in str(shown)
    assert "queries" not in str(result).splitlines()[0]
    data = json.loads(shown.to_json())
    interval = data.pop("intervals")["AP"]
    assert data == result.to_dict()
    assert shown.named(shown.query_ids + 1).to_json() == shown.to_json()
    assert interval["low"] == result.interval("AP", 0.9).low
    assert f"{result.interval('AP'):.3f}" == str(
        f"{result['AP'].lower:.3f} [{result.interval('AP').low:.3f}, {result.interval('AP').high:.3f}]"
    )
