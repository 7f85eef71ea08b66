"""Confidence intervals of means, against scipy and their definitions."""

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from tieproof.measures.statistics import resampling
from tieproof.measures.statistics.resampling import (
    Strata,
    as_whole,
    bca,
    bca_levels,
    grouped,
    quantile,
    resampled_sums,
)
from tieproof.measures.statistics.tests import mean_and_spread, t_interval, t_test

needs_scipy = pytest.mark.heavy

RANDOM = np.random.default_rng(0)
SAMPLES = {
    "uniform": RANDOM.random(40),
    "skewed": RANDOM.random(60) ** 6,
    "zeros and ones": (RANDOM.random(50) < 0.9).astype(float),
    "thirds": RANDOM.integers(0, 4, size=30) / 3,
    "of both signs": RANDOM.normal(size=25),
    "two": np.array([0.25, 1.0]),
}


def one_group(values: Any) -> Strata:
    return Strata(np.array([len(values)]))


def in_three(values: Any) -> Strata:
    return Strata(np.array([5, 7, len(values) - 12]))


def scipy_bca(parts: list[Any], confidence: float) -> tuple[float, float]:
    """The interval of scipy, from resamples of its own."""
    from scipy import stats

    found = stats.bootstrap(
        parts,
        lambda *several, axis: sum(np.mean(each, axis=axis) for each in several) / len(several),
        n_resamples=99_999,
        confidence_level=confidence,
        method="BCa",
        rng=np.random.default_rng(1),
    )
    return found.confidence_interval.low, found.confidence_interval.high


@needs_scipy
@pytest.mark.parametrize("name", [name for name in SAMPLES if name != "two"])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_bca_is_that_of_scipy(name: str, confidence: float) -> None:
    """The tolerance is a few percent: the densities of resamples at the ends determine the error of so many draws."""
    values = SAMPLES[name]
    ((low, high),) = bca(values[:, None], one_group(values), confidence)
    expected = scipy_bca([values], confidence)
    error = mean_and_spread(values, one_group(values)).error
    grain = 1 / len(values) if len(np.unique(values)) < 5 else 0
    assert abs(low - expected[0]) < max(0.05 * error, grain)
    assert abs(high - expected[1]) < max(0.05 * error, grain)


@needs_scipy
def test_bca_of_groups_is_that_of_scipy() -> None:
    values = SAMPLES["skewed"]
    strata = in_three(values)
    ((low, high),) = bca(values[:, None], strata, 0.95)
    expected = scipy_bca(list(strata.parts(values)), 0.95)
    error = mean_and_spread(values, strata).error
    assert np.abs(np.subtract((low, high), expected)).max() < 0.05 * error


@pytest.mark.parametrize("name", SAMPLES)
def test_bca_by_its_definition(name: str) -> None:
    """Efron and Tibshirani 1993, 14.9 to 14.15, from the same resamples, whose sums are computed one by one."""
    values = np.sort(SAMPLES[name])
    total = math.fsum(values.tolist())
    if total < 0:  # negated values have the negated interval; resamples are drawn for the sign with a sum above 0
        values = np.sort(-values)
    n, means, confidence = len(values), [], 0.9
    for numbers in resampling.raw(resampling.RESAMPLES, n, n):
        for row in numbers:
            index = [int(number) // 2**32 * n // 2**32 for number in row.tolist()]
            means.append(math.fsum(values[index].tolist()) / n)
    mean = math.fsum(values.tolist()) / n
    normal = NormalDist()
    same = 1e-12
    below = sum(each < mean - same for each in means)
    equal = sum(abs(each - mean) <= same for each in means)
    bias = normal.inv_cdf((below + equal / 2) / len(means))
    left_out = np.array([math.fsum(np.delete(values, i).tolist()) / (n - 1) for i in range(n)])
    influence = left_out.mean() - left_out
    acceleration = (influence**3).sum() / (6 * (influence**2).sum() ** 1.5)
    levels = [
        normal.cdf(bias + (bias + normal.inv_cdf(tail)) / (1 - acceleration * (bias + normal.inv_cdf(tail))))
        for tail in ((1 - confidence) / 2, (1 + confidence) / 2)
    ]
    expected = np.quantile(means, levels)
    ((low, high),) = bca(values[:, None], one_group(values), confidence)
    np.testing.assert_allclose((low, high), expected, rtol=1e-9, atol=1e-12)


def test_resamples_draw_each_group_within_itself() -> None:
    strata = Strata(np.array([3, 4]))
    values = np.array([1.0, 10.0, 100.0, 1e4, 1e5, 1e6, 1e7])
    sums = resampled_sums(values[:, None], strata)[:, 0]
    assert len(sums) == resampling.RESAMPLES
    for total in sums[:500].astype(int).tolist():
        digits = [int(digit) for digit in str(total).zfill(8)]
        assert sum(digits[-3:]) == 3  # of the first group: ones, tens and hundreds
        assert sum(digits[:-4]) == 4
        assert digits[-4] == 0
    np.testing.assert_allclose(sums.mean(), 111 + 11110000, rtol=0.02)


def test_indices_are_drawn_alike() -> None:
    limits = np.full(1000, 7)
    drawn = np.concatenate([resampling.below(numbers, limits) for numbers in resampling.raw(200, 1000, 1000)])
    counts = np.bincount(drawn.ravel())
    assert len(counts) == 7
    assert ((counts - 200_000 / 7) ** 2 / (200_000 / 7)).sum() < 22.5  # chi-square with 6 degrees of freedom: 0.1 %
    coins = np.concatenate(list(resampling.coins(300, 1000, 1000)))
    assert coins.shape == (300, 1000)
    assert abs(coins.mean() - 0.5) < 0.005


def test_draws_do_not_depend_on_how_many_are_made_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.column_stack([SAMPLES["uniform"], -(SAMPLES["uniform"] ** 2)])
    strata = in_three(values)
    expected = bca(values, strata, 0.95)
    monkeypatch.setattr(resampling, "ROOM", 1000)
    assert bca(values, strata, 0.95) == expected
    assert [bca(values[:, [at]], strata, 0.95)[0] for at in (0, 1)] == expected


@pytest.mark.parametrize("name", SAMPLES)
def test_the_same_in_any_order_and_turned_round(name: str) -> None:
    values = SAMPLES[name]
    strata = one_group(values)
    ((low, high),) = bca(values[:, None], strata, 0.95)
    assert bca(RANDOM.permutation(values)[:, None], strata, 0.95) == [(low, high)]
    assert bca(-values[:, None], strata, 0.95) == [(-high, -low)]


def test_negated_values_with_sum_zero_have_the_negated_interval() -> None:
    values = np.array([[3.0], [-1.0], [-1.0], [-1.0]])
    strata = one_group(values)
    ((low, high),) = bca(values, strata, 0.95)
    assert bca(-values, strata, 0.95) == [(-high, -low)]
    assert low < 0 < high


def test_symmetric_values_have_a_symmetric_interval() -> None:
    both = np.array([[1.0], [-1.0], [0.0], [0.25], [-0.25]])
    for strata in (one_group(both), Strata(np.array([3, 2]))):
        ((low, high),) = bca(both, strata, 0.95)
        assert low == -high < 0
        assert bca(-both, strata, 0.95) == [(low, high)]


def test_a_point_where_nothing_differs() -> None:
    equal = np.full((5, 1), 0.3)
    assert bca(equal, one_group(equal), 0.95) == [(0.3, 0.3)]
    assert bca(0 * equal, one_group(equal), 0.95) == [(0.0, 0.0)]
    assert t_interval(equal[:, 0], one_group(equal), 0.95) == (0.3, 0.3)


def test_levels_without_bias_and_acceleration_are_those_of_the_percentiles() -> None:
    low, high = bca_levels(np.array([0.0, 1.0, 2.0]), 1.0, 0.0, 0.9)
    assert (low, high) == (0.05, 0.95)
    assert quantile(np.arange(11.0), 0.05) == 0.5
    assert quantile(np.arange(11.0), 1.0) == 10.0


@needs_scipy
@pytest.mark.parametrize("name", SAMPLES)
def test_interval_and_test_by_t_are_those_of_scipy(name: str) -> None:
    from scipy import stats

    values = SAMPLES[name]
    found = t_interval(values, one_group(values), 0.9)
    expected = stats.ttest_1samp(values, 0.0)
    np.testing.assert_allclose(found, expected.confidence_interval(0.9), rtol=1e-9)
    p_values = [t_test(signed, one_group(values)) for signed in (values, -values)]
    assert math.isclose(min(p_values), expected.pvalue, rel_tol=1e-9)
    assert max(p_values) == 1.0


@needs_scipy
def test_interval_and_test_by_t_of_two_groups_are_those_of_welch() -> None:
    """The mean of two groups' means is half of the difference between the first group and the negated second one."""
    from scipy import stats

    one, other = SAMPLES["uniform"], SAMPLES["skewed"]
    strata = Strata(np.array([len(one), len(other)]))
    expected = stats.ttest_ind(one, -other, equal_var=False)
    found = mean_and_spread(np.concatenate([one, other]), strata)
    assert math.isclose(found.freedom, expected.df, rel_tol=1e-9)
    interval = t_interval(np.concatenate([one, other]), strata, 0.95)
    np.testing.assert_allclose(interval, np.array(expected.confidence_interval(0.95)) / 2, rtol=1e-9)
    assert math.isclose(t_test(np.concatenate([one, other]), strata), expected.pvalue, rel_tol=1e-9)


def test_t_where_all_differ_by_the_same() -> None:
    equal = np.full(5, 0.25)
    assert [t_test(sign * equal, one_group(equal)) for sign in (1, 0, -1)] == [2 / 2**5, 1.0, 1.0]


def test_weights_make_the_mean_of_means() -> None:
    values, names = SAMPLES["thirds"], np.array(["dog", "cat", "owl"])[RANDOM.integers(0, 3, size=30)]
    order, strata = grouped(names, 30)
    expected = np.mean([values[names == name].mean() for name in ("cat", "dog", "owl")])
    assert math.isclose((strata.weights * values[order]).mean(), expected, rel_tol=1e-12)


def test_whole_numbers_have_room_for_their_sums() -> None:
    for size in (1e-300, 3e-7, 1.0, 1e200):
        values = size * RANDOM.random((1000, 2))
        whole = as_whole(values)
        assert (whole.numbers == np.rint(whole.numbers)).all()
        assert (len(values) * np.abs(whole.numbers).max(axis=0) <= 2**53).all()
        assert (np.abs(whole.numbers * whole.unit - values) <= size * 2**-41).all()


def test_more_confidence_never_makes_the_interval_shorter() -> None:
    one_of_sixty = np.array([[0.2]] * 59 + [[1.0]])
    ends = [bca(one_of_sixty, one_group(one_of_sixty), 1 - 10.0**-nines)[0] for nines in range(1, 16)]
    lows, highs = zip(*ends, strict=True)
    assert list(lows) == sorted(lows, reverse=True)
    assert list(highs) == sorted(highs)
