"""Tests of significance and corrections, against scipy, statsmodels and enumerations of their definitions."""

import math
from itertools import permutations, product

import numpy as np
import pytest

from tieproof.measures.statistics import tests as sign_flips
from tieproof.measures.statistics.tests import DEALS, bonferroni, cohens_d, fdr, holm, sign_flip, tukey, wilcoxon_test
from tieproof.ties import FloatArray

needs_scipy = pytest.mark.heavy

RANDOM = np.random.default_rng(0)


def enumerated(differences: FloatArray) -> float:
    """The share of all choices of signs whose sum is at least as far from 0; 1 if the sum is 0 or below."""
    found = math.fsum(differences.tolist())
    if found <= 1e-12:
        return 1.0
    sums = [math.fsum(np.multiply(signs, differences)) for signs in product((1, -1), repeat=len(differences))]
    return sum(abs(each) >= found - 1e-12 for each in sums) / len(sums)


SMALL = {
    "normal": RANDOM.normal(0.5, size=10),
    "thirds": np.array([1 / 3, 1 / 3, -2 / 3, 1, 2 / 3, -1 / 3, 0, 1]),
    "tenths": np.array([0.1, 0.2, -0.3, 0.3, 0.1, 0.7, 0.0, -0.1, 0.4]),
    "below 0": -RANDOM.random(8),
    "one": np.array([0.5]),
    "zeros": np.zeros(6),
    "canceling": np.array([0.1, 0.2, -0.3]),
}


@pytest.mark.parametrize("name", SMALL)
def test_signs_that_are_all_tried(name: str) -> None:
    (found,) = sign_flip(SMALL[name][:, None])
    assert found == enumerated(SMALL[name])


@needs_scipy
def test_signs_by_scipy() -> None:
    from scipy import stats

    values = np.abs(SMALL["normal"]) * np.array([1, 1, 1, -1, 1, 1, -1, 1, 1, 1])
    expected = stats.permutation_test(
        (values,), lambda x, axis: np.sum(x, axis=axis), permutation_type="samples", n_resamples=np.inf
    )
    assert math.isclose(sign_flip(values[:, None])[0], expected.pvalue, rel_tol=1e-12)


def sign_test(positive: int, count: int) -> float:
    """The share of all choices of signs of which at least as many are equal."""
    return math.ldexp(sum(math.comb(count, k) for k in range(positive, count + 1)), 1 - count)


def test_as_many_as_are_tried_by_halves() -> None:
    """The sum of differences of 1 and -1 is binomial: the sign test."""
    values = np.concatenate([np.ones(21), -np.ones(sign_flips.MOST_EXACT - 21), np.zeros(500)])
    assert np.count_nonzero(values) == sign_flips.MOST_EXACT
    expected = sign_test(21, sign_flips.MOST_EXACT)
    assert math.isclose(sign_flip(values[:, None])[0], expected, rel_tol=1e-12)


def test_signs_that_are_drawn() -> None:
    """The sign test with more differences; and differences of any size, compared with all choices of signs."""
    signs = np.concatenate([np.ones(60), -np.ones(40)])
    expected = sign_test(60, 100)
    (found,) = sign_flip(signs[:, None])
    draws = sign_flips.FLIPS
    assert abs(found - expected) < 4 * math.sqrt(expected / draws)
    assert (found * (draws + 1)) == pytest.approx(round(found * (draws + 1)))


@pytest.mark.long
def test_drawn_signs_agree_with_all(monkeypatch: pytest.MonkeyPatch) -> None:
    values = RANDOM.normal(0.3, size=(14, 20))
    values *= np.where(values.sum(axis=0) < 0, -1, 1)
    expected = np.array([enumerated(column) for column in values.T])
    monkeypatch.setattr(sign_flips, "MOST_EXACT", 3)
    found = sign_flip(values)
    assert (np.abs(found - expected) < 5 * np.sqrt(expected / sign_flips.FLIPS) + 1e-5).all()
    assert (found != expected).any()
    extreme = np.full((200, 1), 1.0) + RANDOM.random((200, 1))
    assert sign_flip(extreme)[0] == 1 / (sign_flips.FLIPS + 1)
    assert sign_flip(-extreme)[0] == 1.0


def test_smaller_differences_are_never_more_significant() -> None:
    """The p-value is largest if all ties break against the system that is ahead."""
    for size in (12, 60):
        ahead = RANDOM.random((size, 15)) - 0.35
        ahead = ahead[:, ahead.sum(axis=0) > 0]
        less = ahead - 0.1 * RANDOM.integers(0, 2, size=ahead.shape) * RANDOM.random(ahead.shape)
        both = sign_flip(np.hstack([ahead, less]))
        assert (both[: ahead.shape[1]] <= both[ahead.shape[1] :]).all()


@needs_scipy
@pytest.mark.parametrize(("correct", "method"), [(holm, "holm"), (bonferroni, "bonferroni"), (fdr, "fdr_bh")])
def test_corrections_are_those_of_statsmodels(correct: object, method: str) -> None:
    from statsmodels.stats import multitest

    for values in (
        RANDOM.random(12),
        RANDOM.random(7) ** 4,
        np.array([0.04]),
        np.array([0.01, 0.01, 1.0, 1.0, 0.04]),
    ):
        expected = multitest.multipletests(values, method=method)[1]
        np.testing.assert_allclose(correct(values), expected, rtol=1e-12)  # type: ignore[operator]


@needs_scipy
def test_false_discoveries_are_those_of_scipy() -> None:
    from scipy import stats

    values = RANDOM.random(20) ** 3
    np.testing.assert_allclose(fdr(values), stats.false_discovery_control(values), rtol=1e-12)


@needs_scipy
def test_signed_ranks() -> None:
    from scipy import stats

    for values in (SMALL["normal"], RANDOM.normal(0.1, size=80), SMALL["tenths"]):
        expected = stats.wilcoxon(np.round(values, 12)).pvalue
        p_values = [wilcoxon_test(RANDOM.permutation(signed)) for signed in (values, -values)]
        assert math.isclose(min(p_values), expected, rel_tol=1e-9)
        assert math.isclose(max(p_values), 1.0)
    assert wilcoxon_test(np.zeros(5)) == 1.0
    # Differences of equal size have equal ranks, even if their floats differ.
    assert wilcoxon_test(np.array([0.3, 0.1 + 0.2, -0.3, 0.7])) == wilcoxon_test(np.array([0.3, 0.3, -0.3, 0.7]))


def tukey_enumerated(values: FloatArray, wanted: float, pair: tuple[int, int]) -> tuple[float, float]:
    """Over all permutations of each query's values: the shares in which a pair, or any pair, differs by so much."""
    systems = values.shape[1]
    alone = among_all = total = 0
    for deal in product(permutations(range(systems)), repeat=len(values)):
        sums = np.sum([row[list(order)] for row, order in zip(values, deal, strict=True)], axis=0)
        alone += abs(sums[pair[0]] - sums[pair[1]]) >= wanted - 1e-12
        among_all += sums.max() - sums.min() >= wanted - 1e-12
        total += 1
    return alone / total, among_all / total


@pytest.mark.parametrize("seed", range(4))
def test_tukey_by_its_definition(seed: int) -> None:
    random = np.random.default_rng(seed)
    values = random.integers(0, 4, size=(5, 3)) / 3 if seed % 2 else random.random((5, 3))
    pairs = np.array([[0, 1], [2, 1]])
    wanted = np.abs(values[:, pairs[:, 0]].sum(axis=0) - values[:, pairs[:, 1]].sum(axis=0))
    found = tukey(values[None], pairs, wanted[None, :, None])
    for at, pair in enumerate(pairs.tolist()):
        expected = tukey_enumerated(values, wanted[at], (pair[0], pair[1]))
        for share, p_value in zip(expected, (found.alone[0, at, 0], found.among_all[0, at, 0]), strict=True):
            assert abs(p_value - share) < 4 * math.sqrt(share * (1 - share) / DEALS) + 1 / DEALS


def test_tukey_of_two_systems_is_the_sign_flip_test() -> None:
    values = RANDOM.random((12, 2))
    wanted = abs(values[:, 0].sum() - values[:, 1].sum())
    found = tukey(values[None], np.array([[0, 1]]), np.array([[[wanted]]]))
    expected = enumerated((values[:, 0] - values[:, 1]) * np.sign(values[:, 0].sum() - values[:, 1].sum()))
    assert found.alone == found.among_all
    assert abs(found.alone.item() - expected) < 4 * math.sqrt(expected / DEALS)


def test_tukey_in_any_order_of_queries_and_beside_other_measures() -> None:
    values = RANDOM.random((2, 30, 4))
    pairs = np.array([[0, 1], [0, 2], [3, 1]])
    wanted = RANDOM.random((2, 3, 2)) * 5
    found = tukey(values, pairs, wanted)
    again = tukey(values[:, RANDOM.permutation(30)], pairs, wanted)
    assert np.array_equal(found, again)
    assert np.array_equal(tukey(values[1:], pairs, wanted[1:]).among_all, found.among_all[1:])
    assert (found.alone <= found.among_all).all()


def test_effect_size() -> None:
    values = RANDOM.normal(0.3, size=50)
    expected = values.mean() / np.std(values, ddof=1)
    assert math.isclose(cohens_d(values.mean(), values) or 0, expected, rel_tol=1e-9)
    assert cohens_d(0.5, np.full(4, 0.5)) is None
    assert cohens_d(0.3, np.array([0.3, 0.1 + 0.2])) is None
