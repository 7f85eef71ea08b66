"""Which of two systems is ahead: the same for both orders of naming, by every test, and never by rounding."""

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pytest

import tieproof as tp
from tieproof.analyses.compare.compare import sides
from tieproof.measures.statistics.resampling import Strata, bca
from tieproof.measures.statistics.tests import mean_and_spread, t_test, wilcoxon_test

RANDOM = np.random.default_rng(0)
TESTS: list[Any] = [
    "sign-flip",
    "tukey",
    *(pytest.param(test, marks=pytest.mark.heavy) for test in ("t", "wilcoxon")),
]
Test = Literal["sign-flip", "tukey", "t", "wilcoxon"]


def system(hits: Sequence[int], tied: int = 0, **options: Any) -> tp.Result:
    """A system with so many hits among the first ten of twenty items, by P@10.

    tied : the number of items around the cutoff, on either side, that are in one tie
    """
    scores = np.zeros((len(hits), 20))
    for row, count in zip(scores, hits, strict=True):
        order = [*range(count), *range(10, 20 - count), *range(count, 10), *range(20 - count, 20)]
        row[order] = np.arange(20, 0, -1)
    scores[np.abs(scores - 10.5) <= tied] = 10.5
    return tp.evaluate_scores(scores, [[1] * 10 + [0] * 10] * len(hits), measures=["P@10"], **options)


UNEVEN = [6] * 16 + [0, 0], [5] * 16 + [8, 8]
"""The first system is better by 0.1 on 16 queries, and worse by 0.8 on 2: the mean difference is 0."""


def both_ways(one: tp.Result, other: tp.Result, **options: Any) -> list[tp.Difference]:
    """The difference of "a" and "b", from comparisons that name the one or the other first."""
    given = {"a": one, "b": other}
    return [tp.compare(dict(each), **options)["a", "b", "P@10"] for each in (given.items(), [*given.items()][::-1])]


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("tied", [0, 2])
def test_of_equal_means_none_is_ahead(test: Test, tied: int) -> None:
    one, other = (system(hits, tied) for hits in UNEVEN)
    found, turned = both_ways(one, other, test=test)
    assert found == turned
    assert abs(found.expected) <= 1e-12
    assert found.verdict.better is None
    assert found.verdict.name == ("queries or ties could explain it" if tied else "no difference shown")
    assert "neither is ahead, because 'a' and 'b' have the same mean P@10" in found.verdict.sentence
    assert (found.p_value == pytest.approx(1.0)) == (test != "wilcoxon")
    assert found.p_lower == (1.0 if tied else found.p_value)


@pytest.mark.heavy
def test_of_equal_means_the_p_value_is_that_of_the_ranks() -> None:
    from scipy import stats

    found, _ = both_ways(*map(system, UNEVEN), test="wilcoxon")
    expected = stats.wilcoxon(np.subtract(*UNEVEN)).pvalue
    assert found.p_value == pytest.approx(expected, rel=1e-9)
    assert expected < 0.05
    assert "; only the ranks of their differences are uneven (p = " in found.verdict.sentence


@pytest.mark.parametrize("test", TESTS)
def test_random_systems_have_one_verdict_for_both_orders_of_naming(test: Test) -> None:
    for _ in range(3 if test == "tukey" else 12):
        count, tied = (int(RANDOM.integers(*ends)) for ends in ((2, 12), (0, 4)))
        one, other = (system(RANDOM.integers(3, 8, size=count).tolist(), tied) for _ in range(2))
        found, turned = both_ways(one, other, test=test)
        assert found == turned
        mean = Fraction(0)
        for first, second in zip(*(each.per_query("P@10").expected.tolist() for each in (one, other)), strict=True):
            mean += Fraction(round(1000 * first) - round(1000 * second), 1000 * count)
        if found.verdict.better is not None:
            assert found.verdict.better == ("a" if mean > 0 else "b")
        if not mean:
            assert "is ahead of" not in found.verdict.sentence
        elif found.verdict.better is None:
            assert ("'a' is ahead of 'b'" if mean > 0 else "'b' is ahead of 'a'") in found.verdict.sentence


@pytest.mark.parametrize("test", ["sign-flip", "tukey"])
def test_of_equal_means_over_categories_none_is_ahead(test: Test) -> None:
    kinds = ["cat"] * 3 + ["dog"] * 7
    one, other = (
        system(hits, categories=kinds, average="macro") for hits in ([6, 6, 6, *[5] * 7], [5, 5, 5, *[6] * 7])
    )
    found, turned = both_ways(one, other, test=test)
    assert found == turned
    assert (found.p_value, found.verdict.better) == (1.0, None)


def test_signs_are_those_of_exact_sums() -> None:
    """Tenths that cancel, of which floats leave something over."""
    columns = np.array([[0.1, 1.0, 3e-12, 1e17], [0.2, 1e-12, 0.0, 1.0], [-0.3, -1.0, 0.0, -1e17]])
    assert columns[:, 0].sum() != 0
    assert sides(columns, Strata(np.array([3]))).tolist() == [0, 0, 0, 1]
    assert sides(-3 * columns, Strata(np.array([3]))).tolist() == [0, 0, -1, -1]


@pytest.mark.heavy
def test_ranks_never_speak_for_a_system_with_the_lower_mean() -> None:
    """Ties may reverse the mean of the system that is ahead, while the ranks remain in its favor."""
    values = np.array([0.1] * 18 + [-1.0, -1.0])
    assert wilcoxon_test(values) == 1.0
    assert wilcoxon_test(-values) == 1.0
    assert wilcoxon_test(np.array([0.1] * 18 + [-0.9, -0.9])) == 1.0
    assert wilcoxon_test(values + 0.05) < 0.05


@pytest.mark.heavy
@pytest.mark.parametrize("count", [2, 3, 4, 5, 6])
def test_no_p_value_is_below_the_smallest_possible_one(count: int) -> None:
    """Of all assignments of signs, all equal or all opposite are 2 of 2**n."""
    one, other = system([6] * count), system([5] * count)
    smallest = 2 / 2**count
    for test in ("sign-flip", "t", "wilcoxon"):
        found, turned = both_ways(one, other, test=test)
        assert found == turned
        assert found.p_value == smallest
        said = "which leaves Student's t undefined" if test == "t" else f"below {smallest:.4f} is possible"
        assert (said in found.verdict.sentence) == (test == "t" or count < 6)
    found, _ = both_ways(one, other, test="tukey")
    assert found.p_value == pytest.approx(smallest, rel=0.2)
    assert (f"below about {smallest:.4f} is possible" in found.verdict.sentence) == (count < 6)


@pytest.mark.heavy
def test_of_few_queries_the_t_test_names_its_assumption() -> None:
    one, other = system([6, 7, 8]), system([1, 1, 3])
    found, _ = both_ways(one, other, test="t")
    assert found.p_value < 0.05
    assert found.verdict.sentence.endswith(
        "without this assumption, no p-value below 0.2500 is possible with 3 queries that differ."
    )
    assert "With 3 queries that differ, no p-value below 0.2500 is possible." in str(
        tp.compare({"a": one, "b": other})
    ).replace("\n", " ")


def test_of_several_systems_the_smallest_p_value_is_that_of_all() -> None:
    """Three systems have 6 orders on each query: on 2 queries, 6 of 36 have the same best and the same worst."""
    given = {name: system(hits) for name, hits in (("a", [8, 8]), ("b", [5, 5]), ("c", [1, 1]))}
    found = tp.compare(given, test="tukey")["a", "c", "P@10"]
    assert "With 2 queries, no p-value below about 0.1667 is possible." in found.verdict.sentence
    assert found.corrected_p_value == pytest.approx(1 / 6, rel=0.1)


def test_where_nothing_varies_there_is_no_spread() -> None:
    """Differences that only rounding tells apart count as equal."""
    values, strata = np.array([0.8 - 0.7, 0.5 - 0.4, 0.1]), Strata(np.array([3]))
    assert len(set(values.tolist())) == 3
    mean = mean_and_spread(values, strata).mean
    assert bca(values[:, None], strata, 0.95) == [(mean, mean)]
    assert mean_and_spread(values, strata)[1:] == (0.0, 0.0)
    assert [t_test(sign * values, strata) for sign in (1, 0, -1)] == [0.25, 1.0, 1.0]


def test_a_verdict_agrees_with_the_sign_of_its_table(tmp_path: Any) -> None:
    one, other = system([5, 6, 5, 5, 6, 4], 1), system([6, 6, 5, 6, 5, 5], 1)
    for comparison in (tp.compare({"a": one, "b": other}), tp.compare({"b": other, "a": one})):
        found = comparison[*comparison.pairs[0], "P@10"]
        assert found.verdict.sentence.startswith("Queries or ties could explain it: 'b' is ahead of 'a' by ")
        assert not re.search(r"[+\-\u2212]\d", found.verdict.sentence)
        ends = sorted((abs(found.lower), abs(found.upper)))
        assert f"from 'a' ahead by {ends[0]:.4f} to 'b' ahead by {ends[1]:.4f}" in found.verdict.sentence
