"""Measures of confidence, compared with all orders of tied confidences in fractions and with other libraries."""

import itertools
import json
import math
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tieproof as tp
from tieproof.evaluation.scoring import Empty
from tieproof.measures.confidence import confidence_vs_recall_at_1, error_reject_curve, rank_correlation

Array = npt.NDArray[Any]


# The definitions


def orders(values: Sequence[float]) -> Iterator[list[int]]:
    """Every order of the items by falling values."""
    ranked = sorted(range(len(values)), key=lambda item: -values[item])
    ties = [list(tie) for _, tie in itertools.groupby(ranked, key=lambda item: values[item])]
    for parts in itertools.product(*map(itertools.permutations, ties)):
        yield [item for part in parts for item in part]


def running_means(errors: Sequence[Fraction]) -> list[Fraction]:
    """The curve of one strict order."""
    return [total / rank for rank, total in enumerate(itertools.accumulate(errors), 1)]


def mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction()) / len(values)


def std(values: Sequence[Fraction], weights: Sequence[Fraction]) -> float:
    middle = sum((value * weight for value, weight in zip(values, weights, strict=True)), Fraction())
    return math.sqrt(sum((value - middle) ** 2 * weight for value, weight in zip(values, weights, strict=True)))


def check_curve(
    curve: tp.confidence.ErrorRejectCurve, curves: Sequence[Sequence[Fraction]], weights: Sequence[Fraction]
) -> None:
    """Compare with all possible curves, each with its probability."""
    for at, values in enumerate(zip(*curves, strict=True)):
        assert curve.error.lower[at] == float(min(values))
        assert curve.error.upper[at] == float(max(values))
        expected = sum((value * weight for value, weight in zip(values, weights, strict=True)), Fraction())
        assert curve.error.expected[at] == pytest.approx(float(expected), rel=1e-12)
        assert curve.error.std[at] == pytest.approx(std(values, weights), rel=1e-12, abs=1e-14)
    areas = [mean(values) for values in curves]
    expected = sum((area * weight for area, weight in zip(areas, weights, strict=True)), Fraction())
    assert curve.area.lower == pytest.approx(float(min(areas)), rel=1e-12)
    assert curve.area.upper == pytest.approx(float(max(areas)), rel=1e-12)
    assert curve.area.expected == pytest.approx(float(expected), rel=1e-12)
    assert curve.area.std == pytest.approx(std(areas, weights), rel=1e-12, abs=1e-14)


# Error-versus-reject curves


@pytest.mark.parametrize("levels", [1, 2, 3, 50])
@pytest.mark.parametrize("count", [1, 2, 5, 6])
def test_curve_over_all_orders(count: int, levels: int) -> None:
    random = np.random.default_rng(count * 100 + levels)
    for _ in range(6):
        errors, confidence = random.integers(0, 4, count) / 3, random.integers(0, levels, count)
        exact = [Fraction(error) for error in errors.tolist()]
        curves = [running_means([exact[item] for item in order]) for order in orders(confidence.tolist())]
        check_curve(error_reject_curve(errors, confidence), curves, [Fraction(1, len(curves))] * len(curves))


def test_curve_of_errors_that_are_open() -> None:
    # Each error is its lower or its upper bound, at random.
    random = np.random.default_rng(1)
    for _ in range(10):
        lower = random.integers(0, 3, 4) / 8
        upper = lower + random.integers(0, 3, 4) / 8
        chance = random.integers(1, 4, 4) / 4
        confidence = random.integers(0, 2, 4).tolist()
        errors = tp.Estimate(
            lower, lower + chance * (upper - lower), upper, np.sqrt(chance * (1 - chance)) * (upper - lower)
        )
        curves, weights = [], []
        for order in orders(confidence):
            for raised in itertools.product((False, True), repeat=4):
                values = np.where(raised, upper, lower).tolist()
                curves.append(running_means([Fraction(values[item]) for item in order]))
                chances = (Fraction(p if up else 1 - p) for p, up in zip(chance.tolist(), raised, strict=True))
                weights.append(math.prod(chances, start=Fraction(1)))
        total = sum(weights, Fraction())
        check_curve(error_reject_curve(errors, confidence), curves, [weight / total for weight in weights])


def published(errors: Array, confidence: Array) -> float:
    """The formula of ranking-metrics and of probabilistic-embeddings, in which the sort breaks ties."""
    order = np.argsort(-confidence)
    return float((errors[order].cumsum() / np.arange(1, len(errors) + 1)).mean())


@pytest.mark.parametrize("levels", [20, 10**9])
def test_the_interval_contains_the_values_of_other_libraries(levels: int) -> None:
    random = np.random.default_rng(2)
    errors, confidence = random.random(500), random.integers(0, levels, 500) / levels
    area = error_reject_curve(errors, confidence).area
    shuffles = [random.permutation(500) for _ in range(20)]
    values = [published(errors[shuffle], confidence[shuffle]) for shuffle in shuffles]
    assert area.lower - 1e-12 <= min(values) <= max(values) <= area.upper + 1e-12
    if levels > 500:
        assert area.lower == area.expected == area.upper == pytest.approx(values[0], rel=1e-12)
        assert area.std == 0


def test_equal_errors_leave_nothing_open() -> None:
    errors = np.repeat([0.1, 0.7, 1 / 3], 100)
    curve = error_reject_curve(errors, np.repeat([3, 2, 2], 100) + np.repeat([0, 0, -1], 100))
    for name in ("expected", "upper"):
        assert getattr(curve.error, name).tolist() == curve.error.lower.tolist()
        assert getattr(curve.area, name) == curve.area.lower
    assert curve.area.std == 0
    assert not curve.error.std.any()
    assert curve.ties == (3, 300, 100)


def test_one_tie_of_many() -> None:
    random = np.random.default_rng(3)
    errors = random.random(20_000)
    curve = error_reject_curve(errors, np.zeros(20_000, dtype=np.int8))
    middle = math.fsum(errors.tolist()) / 20_000
    assert curve.error.expected == pytest.approx(np.full(20_000, middle), rel=1e-12)
    assert curve.error.lower[-1] == curve.error.upper[-1] == curve.error.expected[-1]
    assert curve.area.lower < middle < curve.area.upper
    assert curve.rejected[[0, -1]].tolist() == [19_999 / 20_000, 0]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "bool"])
def test_only_the_order_of_confidences_matters(dtype: str) -> None:
    confidence = np.array([1, 0, 1, 0, 1])
    wanted = error_reject_curve([1, 0, 0, 1, 0], confidence).to_dict()
    assert error_reject_curve([1, 0, 0, 1, 0], confidence.astype(dtype)).to_dict() == wanted
    assert error_reject_curve([1, 0, 0, 1, 0], 1000 * confidence.astype(np.int64) - 7).to_dict() == wanted


def test_large_integers_and_neighbors_are_no_ties() -> None:
    assert error_reject_curve([0, 1], [2**62 + 1, 2**62]).ties.ties == 0
    assert error_reject_curve([0, 1], np.array([2**64 - 1, 0], dtype=np.uint64)).error.upper.tolist() == [0, 0.5]
    assert error_reject_curve([0, 1], [1.0, np.nextafter(1.0, 0)]).ties.ties == 0
    assert error_reject_curve([0, 1], [0.0, -0.0]).ties.ties == 1


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1.0, 1e60])
def test_errors_of_any_size(scale: float) -> None:
    errors = np.array([0.0, 1.0, 0.25, -0.5]) * scale
    curve = error_reject_curve(errors, [1, 1, 0, 0])
    assert curve.error.upper.tolist() == [
        scale,
        scale / 2,
        float(Fraction(1.25) * Fraction(scale) / 3),
        scale * 0.1875,
    ]
    assert np.isfinite(curve.error.std).all()


def test_same_bits_in_any_order() -> None:
    random = np.random.default_rng(4)
    errors, confidence = random.random(300), random.integers(0, 12, 300)
    truth = random.integers(0, 30, 300)
    hits = errors < 0.5
    spread = np.abs(random.normal(size=300))
    estimate = tp.Estimate(errors - spread, errors, errors + spread, spread / 3)
    for _ in range(5):
        order = random.permutation(300)
        moved = tp.Estimate(*(column[order] for column in vars(estimate).values()))
        given, again = error_reject_curve(estimate, confidence), error_reject_curve(moved, confidence[order])
        assert again.to_dict() == given.to_dict()
        assert rank_correlation(confidence[order], truth[order]) == rank_correlation(confidence, truth)
        found = confidence_vs_recall_at_1(hits[order], confidence[order])
        assert found.to_dict() == confidence_vs_recall_at_1(hits, confidence).to_dict()


def test_json_of_a_curve() -> None:
    curve = error_reject_curve([0, 1, 1], [3, 3, 1])
    data = json.loads(curve.to_json())
    assert data["error"]["lower"] == [0, 0.5, 2 / 3]
    assert data["ties"] == {"ties": 1, "tied_queries": 2, "largest_tie": 2}
    assert data["area"]["upper"] == curve.area.upper


# The curve of an evaluation


POINTS = np.array([[0.0], [1.0], [-1.0], [5.0], [5.0], [9.0]])
LABELS = ["a", "a", "b", "b", "c", "a"]
CONFIDENCE = [0.5, 0.5, 0.5, 0.2, 0.9, 0.2]


def evaluated(**options: Any) -> tp.Result:
    chosen: dict[str, Any] = {"distance": "euclidean", "measures": ["P@1", "AP"], "confidence": CONFIDENCE} | options
    return tp.evaluate(POINTS, LABELS, **chosen)


def test_both_kinds_of_ties() -> None:
    result = evaluated()
    hits = result.per_query("P@1")
    assert result.query_ids.tolist() == [0, 1, 2, 3, 5]
    open_hits = [at for at in range(5) if hits.lower[at] < hits.upper[at]]
    assert open_hits
    curves, weights = [], []
    for order in orders([0.5, 0.5, 0.5, 0.2, 0.2]):
        for raised in itertools.product((0, 1), repeat=len(open_hits)):
            errors = [Fraction(1 - hit) for hit in hits.lower.tolist()]
            chance = Fraction(1)
            for at, hit in zip(open_hits, raised, strict=True):
                errors[at] = Fraction(1 - hit)
                chance *= Fraction(hits.expected[at]) if hit else 1 - Fraction(hits.expected[at])
            curves.append(running_means([errors[at] for at in order]))
            weights.append(chance)
    total = sum(weights, Fraction())
    check_curve(result.error_reject("P@1"), curves, [weight / total for weight in weights])


def test_end_of_the_curve_is_the_mean() -> None:
    result = evaluated()
    for measure in result.measures:
        curve, score = result.error_reject(measure), result[measure]
        assert curve.error.upper[-1] == pytest.approx(1 - score.lower, rel=1e-12)
        assert curve.error.expected[-1] == pytest.approx(1 - score.expected, rel=1e-12)
        assert curve.error.lower[-1] == pytest.approx(1 - score.upper, rel=1e-12)
        assert curve.error.std[-1] == pytest.approx(score.std, rel=1e-12)


@pytest.mark.parametrize(("empty", "count"), [("skip", 5), ("nan", 5), ("zero", 6), ("one", 6)])
def test_queries_with_nothing_relevant(empty: Empty, count: int) -> None:
    curve = evaluated(empty=empty).error_reject("AP")
    assert len(curve.rejected) == count
    first = {"zero": 1.0, "one": 0.0}.get(empty)  # the most confident query has no relevant item
    assert first is None or curve.error.lower[0] == curve.error.upper[0] == first


def test_category_and_macro() -> None:
    result = evaluated(categories=["x", "x", "y", "y", "y", "x"], average="macro")
    values = result.category("x").per_query("AP")
    errors = tp.Estimate(1 - values.upper, 1 - values.expected, 1 - values.lower, values.std)
    wanted = error_reject_curve(errors, [0.5, 0.5, 0.2])
    assert result.category("x").error_reject("AP").to_dict() == wanted.to_dict()
    assert result.error_reject("AP").to_dict() == evaluated().error_reject("AP").to_dict()


def test_curves_in_json_and_text() -> None:
    result = evaluated()
    data = json.loads(result.to_json())
    assert data["error_reject"] == {name: result.error_reject(name).to_dict() for name in ("P@1", "AP")}
    text = str(result)
    area = result.error_reject("AP").area
    assert f"1 - AP          {area.lower:.4f}    {area.expected:.4f}  {area.upper:.4f}   {area.std:.4f}" in text
    assert "There are 2 ties among confidences, and the largest holds 3 of 5 queries." in text
    assert str(evaluated(confidence=None)) == text.partition("\n\narea of errors")[0]
    assert "error_reject" not in evaluated(confidence=None).to_dict()
    assert "No confidences are tied." in str(evaluated(confidence=range(6)))


def test_counts_and_ranks_have_no_error(tmp_path: Path) -> None:
    result, others = evaluated(), evaluated(measures=["NumRet", "P@1", "FirstRank", "AP"])
    assert others.to_dict()["error_reject"] == result.to_dict()["error_reject"]
    assert str(others).partition("\n\narea")[2] == str(result).partition("\n\narea")[2]
    others.report(tmp_path / "report.html")
    assert re.findall(r"1 − \S+?(?=<)", (tmp_path / "report.html").read_text()) == ["1 − P@1", "1 − AP"]
    assert "area of errors" not in str(evaluated(measures=["NumRet"]))
    for name, kind in {"NumRet": "a count", "FirstRank": "a rank"}.items():
        with pytest.raises(tp.InputError, match=f"'{name}' is {kind}, which is no score"):
            others.error_reject(name)


def test_gallery_and_columns() -> None:
    result = tp.evaluate(
        POINTS[:2], LABELS[:2], gallery=POINTS[2:], gallery_labels=LABELS[2:], confidence=[[1], [2]], measures=["AP"]
    )
    assert len(result.error_reject("AP").rejected) == 2


# Confidence vs recall@1


def test_accuracy_by_its_definition() -> None:
    random = np.random.default_rng(5)
    for levels in (1, 3, 1000):
        hits, confidence = random.random(40) < 0.6, random.integers(0, levels, 40)
        found = confidence_vs_recall_at_1(hits, confidence)
        thresholds = [levels, *sorted(set(confidence.tolist()), reverse=True)]
        accuracy = [float(np.mean((confidence >= threshold) == hits)) for threshold in thresholds]
        assert found.accuracy == pytest.approx(accuracy, rel=1e-12)
        assert found.thresholds.tolist() == thresholds[1:]
        assert found.mean == pytest.approx(np.mean(accuracy), rel=1e-12)
        assert found.best == pytest.approx(max(accuracy), rel=1e-12)


def test_accuracy_where_all_are_right_or_wrong() -> None:
    assert confidence_vs_recall_at_1([1, 1], [0.5, 0.7]).accuracy.tolist() == [0, 0.5, 1]
    assert confidence_vs_recall_at_1([0, 0], [0.5, 0.7]).accuracy.tolist() == [1, 0.5, 0]


@pytest.mark.heavy
@pytest.mark.parametrize("levels", [4, 10**6])
def test_accuracy_by_the_roc_curve(levels: int) -> None:
    from sklearn.metrics import roc_curve

    random = np.random.default_rng(6)
    confidence = random.integers(0, levels, 200)
    hits = random.random(200) < 0.5
    false, true, _ = roc_curve(hits, confidence, drop_intermediate=False)
    accuracy = hits.mean() * true + (1 - hits.mean()) * (1 - false)
    found = confidence_vs_recall_at_1(hits, confidence)
    assert found.accuracy == pytest.approx(accuracy, rel=1e-12)
    assert json.loads(found.to_json())["mean"] == pytest.approx(accuracy.mean(), rel=1e-12)


# Rank correlation


def test_rank_correlation_over_all_orders() -> None:
    random = np.random.default_rng(7)
    for count, levels in itertools.product((2, 3, 4, 5), (2, 3, 50)):
        confidence, truth = np.append(random.integers(0, levels, (2, count - 2)), [[0, 1], [1, 0]], axis=1).tolist()
        values = []
        for one, other in itertools.product(orders(confidence), orders(truth)):
            squares = sum((one.index(item) - other.index(item)) ** 2 for item in range(count))
            values.append(1 - Fraction(6 * squares, count**3 - count))
        found = rank_correlation(confidence, truth).orders
        assert found.lower == pytest.approx(float(min(values)), rel=1e-12, abs=1e-15)
        assert found.upper == pytest.approx(float(max(values)), rel=1e-12, abs=1e-15)
        assert found.expected == pytest.approx(float(mean(values)), rel=1e-12, abs=1e-15)
        wanted = std(values, [Fraction(1, len(values))] * len(values))
        assert found.std == pytest.approx(wanted, rel=1e-12, abs=1e-14)


def test_rank_correlation_is_that_of_mean_ranks() -> None:
    random = np.random.default_rng(8)
    for levels in (2, 5, 10**9):
        confidence, truth = random.integers(0, levels, (2, 200))
        ranks = [[np.mean(np.flatnonzero(np.sort(x) == value)) for value in x] for x in (confidence, truth)]
        assert rank_correlation(confidence, truth).coefficient == pytest.approx(np.corrcoef(ranks)[0, 1], rel=1e-10)
    scale = np.arange(200.0)
    assert rank_correlation(scale * 12500, scale).coefficient == 1
    assert rank_correlation(-scale, scale).orders == tp.Estimate(-1.0, -1.0, -1.0, 0.0)
    assert rank_correlation(np.round(scale, -1), np.round(scale, -1)).coefficient == 1


@pytest.mark.heavy
@pytest.mark.parametrize("levels", [2, 7, 10**9])
def test_rank_correlation_is_that_of_scipy(levels: int) -> None:
    from scipy.stats import spearmanr

    confidence, truth = np.random.default_rng(9).integers(0, levels, (2, 3000))
    assert rank_correlation(confidence, truth).coefficient == pytest.approx(
        spearmanr(confidence, truth).statistic, rel=1e-10
    )


# Refusals


def estimate(*columns: Sequence[float]) -> tp.Estimate[npt.NDArray[np.float64]]:
    return tp.Estimate(*(np.array(column, dtype=np.float64) for column in columns))


REFUSED: dict[str, tuple[Any, Any, Any, str]] = {
    "NaN": (
        error_reject_curve,
        [0, 1],
        [0.5, np.nan],
        r"confidences must contain only finite numbers, but contain nan at \[1\]",
    ),
    "infinity": (
        error_reject_curve,
        [0, 1],
        [np.inf, 0],
        r"confidences must contain only finite numbers, but contain inf at \[0\]",
    ),
    "error NaN": (
        error_reject_curve,
        [np.nan],
        [1],
        r"errors must contain only finite numbers, but contain nan at \[0\]",
    ),
    "lengths": (error_reject_curve, [0, 1], [1], r"The number of confidences is 1, but the number of queries is 2"),
    "shape": (error_reject_curve, np.zeros((2, 2)), [1, 2], r"errors must have shape \(n,\), not \(2, 2\)"),
    "nothing": (error_reject_curve, [], [], r"errors are empty"),
    "words": (error_reject_curve, [0, 1], ["sure", "unsure"], r"confidences must contain real numbers"),
    "too large": (error_reject_curve, [0, 1e61], [1, 2], r"errors contain 1e\+61 at \[1\], larger than 1e\+60"),
    "bounds": (
        error_reject_curve,
        estimate([1], [0], [1], [0]),
        [1],
        r"lower <= expected <= upper.* query 0 has 1.0",
    ),
    "bound NaN": (
        error_reject_curve,
        estimate([0], [0], [np.nan], [0]),
        [1],
        r"upper errors must contain only finite",
    ),
    "bound missing": (
        error_reject_curve,
        estimate([0, 0], [0], [0], [0]),
        [1],
        r"number of expected errors is 1, but the number of lower errors is 2",
    ),
    "no hits": (confidence_vs_recall_at_1, [0.5, 1], [1, 2], r"hits must be 0 or 1, but query 0 has 0.5"),
    "hits NaN": (confidence_vs_recall_at_1, [np.nan, 1], [1, 2], r"hits must contain only finite numbers"),
    "hits and NaN": (confidence_vs_recall_at_1, [0, 1], [1, np.nan], r"confidences must contain only finite numbers"),
    "hits without": (confidence_vs_recall_at_1, [0, 1], [1], r"The number of confidences is 1, but"),
    "constant": (rank_correlation, [1, 1], [1, 2], r"confidences are all equal \(1\)"),
    "true constant": (rank_correlation, [1, 2], [0.5, 0.5], r"true confidences are all equal \(0.5\)"),
    "one of each": (rank_correlation, [1], [1], r"confidences are all equal"),
    "true lengths": (rank_correlation, [1, 2, 3], [1, 2], r"number of true confidences is 2, but"),
    "true NaN": (rank_correlation, [1, 2], [1, np.nan], r"true confidences must contain only finite numbers"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    function, first, second, message = REFUSED[name]
    with pytest.raises(tp.InputError, match=message):
        function(first, second)


@pytest.mark.parametrize(
    ("confidence", "message"),
    [
        ([1, 2], r"The number of confidences is 2, but the number of queries is 6\. Pass exactly one for each"),
        ([1, 2, 3, 4, 5, np.nan], r"confidences must contain only finite numbers, but contain nan at \[5\]"),
        (np.zeros((6, 2)), r"confidences must have shape \(n,\)"),
        (["high"] * 6, r"confidences must contain real numbers"),
    ],
)
def test_refused_by_an_evaluation(confidence: Any, message: str) -> None:
    with pytest.raises(tp.InputError, match=message):
        evaluated(confidence=confidence)


def test_refused_without_confidences() -> None:
    with pytest.raises(tp.InputError, match=r"has no confidences\. Pass confidence="):
        evaluated(confidence=None).error_reject("AP")
    with pytest.raises(tp.InputError, match="has no measure 'RR'"):
        evaluated().error_reject("RR")
