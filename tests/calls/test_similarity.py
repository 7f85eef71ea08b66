"""Similarity of two rankings: by enumeration of the orders of ties, by published values, and by SciPy."""

import json
import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import similarity_oracle as oracle
import tieproof as tp
from command_line import exit_status as run_command

NUMBERS = ("extrapolated", "minimum", "maximum")
ITEMS = "abcdefgh"


def drawn(random: np.random.Generator, items: str, most: int) -> list[list[str]]:
    """A ranking of some of the items in ties of at most three items."""
    chosen = random.permutation(list(items))[: random.integers(1, most + 1)].tolist()
    ranking: list[list[str]] = []
    while chosen:
        size = int(random.integers(1, 4))
        ranking.append(chosen[:size])
        chosen = chosen[size:]
    return ranking


def numbers(overlap: tp.Overlap) -> list[float]:
    return [getattr(overlap, number) for number in NUMBERS]


def approximately(values: Any) -> Any:
    return pytest.approx(values, rel=1e-12, abs=1e-15)


# Rank-biased overlap


@pytest.mark.parametrize("seed", range(16))
def test_overlap_by_enumeration(seed: int) -> None:
    random = np.random.default_rng(seed)
    first, second = drawn(random, ITEMS, 5), drawn(random, ITEMS[:6], 4 + seed % 2)
    p = (0.8, 0.5)[seed % 2]
    found = tp.rbo(first, second, p=p)
    pairs = product(oracle.orders(first), oracle.orders(second))
    values = np.array([oracle.overlap(one, other, p) for one, other in pairs])
    assert numbers(found.lower) == approximately(values.min(axis=0))
    assert numbers(found.upper) == approximately(values.max(axis=0))
    mean = [math.fsum(column) / len(values) for column in values.T.tolist()]
    assert numbers(found.expected) == approximately(mean)
    # RBO^a is this mean, except for what it assumes about unknown items beside a tie.
    assert found.a.minimum == approximately(mean[1])
    if sum(map(len, first)) == sum(map(len, second)):
        assert numbers(found.a) == approximately(mean)


def test_the_published_treatment_a_is_no_mean_where_only_one_list_goes_on() -> None:
    """Every order of the tie has the overlap 1, if the agreement goes on as it is."""
    found = tp.rbo(["a"], ["a", {"b", "c"}], p=0.8)
    assert found.lower.extrapolated == found.expected.extrapolated == found.upper.extrapolated == 1.0
    assert found.a.extrapolated == approximately(1 - 0.2 * 0.8 / 4)


@pytest.mark.parametrize(("first", "second", "p", "expected"), [*oracle.published()])
def test_published_overlaps(first: Any, second: Any, p: float, expected: dict[str, float]) -> None:
    for one, other in ((first, second), (second, first)):
        found = tp.rbo(one, other, p=p)
        for treatment in "wab":
            assert numbers(getattr(found, treatment)) == pytest.approx(
                [expected[f"{treatment}.{name}"] for name in ("ext", "min", "max")], abs=1e-13
            )


def test_the_example_of_the_authors() -> None:
    """The README of their implementation: residuals and all treatments of one example."""
    found = tp.rbo(
        ["red", {"blue", "green"}, "yellow", "pink"],
        [{"blue", "red"}, "white", {"yellow", "black", "purple"}, "green"],
        p=0.95,
    )
    assert numbers(found.a) == pytest.approx([0.6922853, 0.3310519, 0.8930692], abs=5e-8)
    assert numbers(found.w) == pytest.approx([0.7068257, 0.3429684, 0.9049857], abs=5e-8)
    assert numbers(found.b) == pytest.approx([0.7207131, 0.3509163, 0.9129336], abs=5e-8)
    assert found.a.residual == pytest.approx(0.5620173, abs=5e-8)


def test_the_figure_of_webber_et_al() -> None:
    """Figure 5 of Webber, Moffat and Zobel 2010 has the agreements at each depth."""
    agreements = [0, 0, 2 / 3, 2 / 4, 2 / 5, 2 / 6, 2 / 7]
    assert [oracle.agreement(tuple("abcdefg"), tuple("zcavwxy"), depth) for depth in range(1, 8)] == approximately(
        agreements
    )
    found = tp.rbo(list("abcdefg"), list("zcavwxy"), p=0.9)
    assert found.lower == found.upper == found.w == found.b
    assert found.w.extrapolated == approximately(oracle.weighted(agreements, 0.9))


@pytest.mark.parametrize(("p", "ranks", "share"), [(0.9, 10, 0.86), (0.98, 50, 0.85)])
def test_how_deep_a_reader_looks(p: float, ranks: int, share: float) -> None:
    """What the documents say of p: the share of the first ranks of equal rankings, whose further items differ."""
    least = tp.rbo(list(range(ranks)), [*range(ranks)], p=p).w.minimum
    assert least == pytest.approx(share, abs=0.005)


@pytest.mark.parametrize("p", [1e-12, 0.3, 0.9, 0.9999, 0.999999])
def test_extreme_persistence_and_long_lists(p: float) -> None:
    """The agreement of equal lists is 1 at each depth; of their continuations with different items it is l / d."""
    ties = [[f"{at}", f"{at}'"] for at in range(600)]
    for found in (tp.rbo(ties, ties, p=p), tp.rbo(list(range(1200)), list(range(1200)), p=p)):
        assert found.b.extrapolated == found.b.maximum == found.w.maximum == found.upper.extrapolated == 1.0
    share = math.fsum([1 - p**1200, 1200 * (1 - p) / p * rest(1200, p)])
    assert found.b.minimum == pytest.approx(share, rel=1e-11)


def rest(depth: int, p: float) -> float:
    """The sum of p^d / d over d > depth, term by term, where that is possible, or by a logarithm."""
    if p > 0.999:
        return -math.log1p(-p) - math.fsum(p**d / d for d in range(1, depth + 1))
    return math.fsum(p**d / d for d in range(depth + 1, depth + 60_000))


def test_overlap_of_prefixes_that_no_float_can_weigh() -> None:
    """Items deep down weigh less than the smallest float64; none is NaN."""
    first, second = list(range(5000)), [*range(5000, 10_000)]
    found = tp.rbo([*first, "x"], [*second, "x"], p=0.01)
    assert numbers(found.w) == approximately([0.0, 0.0, 0.01**2500])
    assert numbers(tp.rbo(["a"], ["b"]).w)[:2] == [0.0, 0.0]


# Kendall's tau and AP correlation


@pytest.mark.parametrize("seed", range(24))
def test_correlations_by_enumeration(seed: int) -> None:
    random = np.random.default_rng(seed)
    names = ITEMS[: random.integers(2, 6)]
    first, second = (with_different_scores(random, names) for _ in range(2))
    found = tp.kendall_tau(first, second)
    pairs = list(product(oracle.orders(ties(first)), oracle.orders(ties(second))))
    for definition, correlation in ((oracle.kendall, found.tau), (oracle.ap_correlation, found.ap)):
        values = [definition(one, other) for one, other in pairs]
        assert correlation.lower == approximately(float(min(values)))
        assert correlation.upper == approximately(float(max(values)))
        assert correlation.expected == approximately(float(sum(values, Fraction(0)) / len(values)))


def with_different_scores(random: np.random.Generator, names: str) -> dict[str, int]:
    scores = random.integers(0, 4, size=len(names))
    scores[0] += scores.max() == scores.min()
    return dict(zip(random.permutation(list(names)).tolist(), scores.tolist(), strict=True))


def ties(scores: dict[str, int]) -> list[list[str]]:
    return [[item for item in scores if scores[item] == score] for score in sorted({*scores.values()}, reverse=True)]


@pytest.mark.parametrize("size", [10, 1000, 4097])
def test_kendall_as_scipy_has_it(size: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    random = np.random.default_rng(size)
    first = random.integers(0, size // 3, size=size)
    second = first + random.integers(0, size // 5, size=size)
    found = tp.kendall_tau(dict(enumerate(first.tolist())), dict(enumerate(second.tolist())))
    assert found.tau.b == pytest.approx(stats.kendalltau(first, second).statistic, rel=1e-12)


URBANO = {
    "x": [
        [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992],
        [0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38],
        [0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445],
    ],
    "y": [
        [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988],
        [0.263, 0.843, 0.728, 0.928, 0.08, 0.114, 0.467, 0.641, 0.973, 0.644],
        [0.845, 0.272, 0.275, 0.924, 0.605, 0.334, 0.162, 0.872, 0.018, 0.25],
    ],
}
"""The three examples in the tests of the R package ircor of Urbano; it makes ties by rounding to one digit."""


@pytest.mark.parametrize(
    ("tied", "coefficient", "expected"),
    [
        ("", lambda found: found.tau.expected, [0.9111, 0.2889, -0.6889]),
        ("", lambda found: found.tau.b, [0.9111, 0.2889, -0.6889]),
        ("", lambda found: found.ap.expected, [0.8519, 0.2504, -0.6971]),
        ("", lambda found: found.ap.b, [0.8333, 0.2880, -0.668]),
        ("y", lambda found: found.tau.expected, [0.8889, 0.3333, -0.6222]),
        ("y", lambda found: found.ap.expected, [0.7454, 0.2692, -0.5558]),
        ("xy", lambda found: found.tau.b, [0.9398, 0.3765, -0.6510]),
        ("xy", lambda found: found.ap.b, [0.7321, 0.297, -0.7047]),
    ],
)
def test_published_correlations(tied: str, coefficient: Any, expected: list[float]) -> None:
    for at, value in enumerate(expected):
        scores = [np.round(URBANO[side][at], 1 if side in tied else 3).tolist() for side in "xy"]
        found = tp.kendall_tau(*(dict(enumerate(side)) for side in scores))
        assert coefficient(found) == pytest.approx(value, abs=5e-5)


# Both


def in_other_orders(scores: dict[str, float], random: np.random.Generator) -> Iterator[dict[str, float]]:
    for _ in range(3):
        yield {item: scores[item] for item in random.permutation(list(scores)).tolist()}


def test_the_same_bits_in_any_order_of_the_items() -> None:
    random = np.random.default_rng(7)
    names = [f"item {at}" for at in range(300)]
    first, second = (dict(zip(names, random.integers(0, 90, size=300).tolist(), strict=True)) for _ in range(2))
    found = tp.rbo(first, second, p=0.97), tp.kendall_tau(first, second)
    for one, other in zip(in_other_orders(first, random), in_other_orders(second, random), strict=True):
        assert (tp.rbo(one, other, p=0.97), tp.kendall_tau(one, other)) == found
    assert tp.rbo(second, first, p=0.97) == found[0]
    assert tp.kendall_tau(second, first).tau == found[1].tau


def test_scores_and_lists_are_the_same_rankings() -> None:
    scores, listed = {"a": 0.5, "b": 2, "c": 0.5, "d": -1}, ["b", {"a", "c"}, "d"]
    other = np.array(["d", "c", "b", "a"])
    assert tp.rbo(scores, other) == tp.rbo(listed, ["d", ("c",), "b", ["a"]])
    assert tp.kendall_tau(scores, other) == tp.kendall_tau(listed, other)


def test_integers_that_no_float_can_tell_apart() -> None:
    found = tp.kendall_tau({"a": 2**60, "b": 2**60 + 1}, {"a": 2**60 + 1, "b": 2**60})
    assert found.tau.upper == -1.0


# Runs


def test_runs_are_compared_query_by_query(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    random = np.random.default_rng(5)
    runs = [
        {
            f"q{query}": {f"d{at}": float(random.integers(0, 5)) for at in random.permutation(20)[: 8 + 2 * query]}
            for query in queries
        }
        for queries in ((2, 1, 3), (3, 2, 4))
    ]
    found = tp.agreement(*runs, p=0.8)
    assert list(found.queries) == ["q2", "q3"]
    assert found.left_out == (["q1"], ["q4"])
    for query, overlap in found.queries.items():
        assert overlap == tp.rbo(runs[0][query], runs[1][query], p=0.8)
    alone = tp.agreement({"q3": runs[0]["q3"]}, {"q3": runs[1]["q3"]}, p=0.8)
    assert alone.mean == alone.queries["q3"] == found.queries["q3"]
    mean = [math.fsum(getattr(each.b, name) for each in found.queries.values()) / 2 for name in NUMBERS]
    assert numbers(found.mean.b) == mean
    assert found.columns()["upper_maximum"].tolist() == [each.upper.maximum for each in found.queries.values()]
    assert json.loads(found.to_json()) == found.to_dict()
    assert "Left out: 1 query that only the first run has." in str(found)
    files: list[Path] = []
    for at, run in enumerate(runs):
        files.append(tmp_path / f"{at}.run")
        lines = [
            f"{query} Q0 {name} 1 {score} tag" for query, scores in run.items() for name, score in scores.items()
        ]
        files[-1].write_text("\n".join(random.permutation(lines).tolist()), encoding="utf-8")
    assert tp.agreement(*files, p=0.8).to_dict() == found.to_dict()
    table = tmp_path / "overlaps.csv"
    assert run_command("agree", *map(str, files), "--p", "0.8", "--per-query", str(table), "--json", "-") == 0
    assert json.loads(capsys.readouterr().out) == found.to_dict()
    assert table.read_text(encoding="utf-8").splitlines()[1].split(",")[:2] == [
        "q2",
        repr(found.queries["q2"].lower.extrapolated),
    ]
    assert run_command("agree", *map(str, files), "--json", str(files[0])) == 2
    assert run_command("agree", str(files[0]), str(files[0]) + "x") == 2
    assert "does not exist" in capsys.readouterr().err
