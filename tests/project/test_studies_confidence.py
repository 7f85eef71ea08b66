"""The study of confidences: its points, its scores compared with their definitions, and the claims of its report."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from studies.confidence import modes, report, study
from studies.confidence.scenario import MEASURES, STORED, Scenario, claimed, errors, printed, scenario, scores
from studies.musgrave2020.study import sample
from tieproof.measures.confidence import rank_correlation

pytestmark = pytest.mark.heavy  # a study is not a promise of the library

Array = npt.NDArray[Any]


def small() -> Scenario:
    return scenario(40, 6, seed=2)


def neighbors(scene: Scenario) -> tuple[Array, Array]:
    """Recall@1 and MAP@R of each point, by sorting."""
    hits, means = [], []
    for at, point in enumerate(scene.points):
        distances = ((scene.points - point) ** 2).sum(axis=1)
        distances[at] = np.inf
        found = (scene.labels == scene.labels[at])[np.argsort(distances)]
        relevant = int((scene.labels == scene.labels[at]).sum()) - 1
        precision = np.cumsum(found) / np.arange(1, len(found) + 1)
        hits.append(float(found[0]))
        means.append(float((precision * found)[:relevant].sum() / relevant))
    return np.array(hits), np.array(means)


def test_scenario() -> None:
    scene = scenario(400, 30, seed=3)
    points, labels = sample("Example 2", 400, seed=3)
    assert np.array_equal(scene.points, points)
    assert np.flatnonzero(scene.labels != labels).tolist() == scene.corrupted.tolist()
    assert len(scene.corrupted) == 30
    assert ((scene.truth > 0.2) & (scene.truth < 1)).all()
    nearest = np.argsort(np.abs(points[:, 0]))
    assert (np.diff(scene.truth[nearest]) >= 0).all()  # the farther from the border, the more confident
    raised = claimed(scene, 0.75)
    assert set(raised[scene.corrupted].tolist()) == {0.75}
    others = np.setdiff1d(np.arange(400), scene.corrupted)
    assert np.array_equal(raised[others], scene.truth[others])


@pytest.mark.parametrize("level", [0.05, 0.6, 1.0])
def test_scores_by_their_definitions(level: float) -> None:
    scene = small()
    confidence = claimed(scene, level)
    found = scores(scene, confidence)
    hits, means = neighbors(scene)
    for title, values in zip(MEASURES.values(), (hits, means), strict=True):
        wrong = 1 - values
        order = np.lexsort((wrong, -confidence))
        for at in (order, np.lexsort((-wrong, -confidence))):
            curve = np.cumsum(wrong[at]) / np.arange(1, 41)
            end = "lower" if at is order else "upper"
            assert getattr(found.curves[title].error, end) == pytest.approx(curve, rel=1e-12)
            assert getattr(found.curves[title].area, end) == pytest.approx(curve.mean(), rel=1e-12)
            assert printed(wrong, confidence, at) == pytest.approx(curve.mean(), rel=1e-12)
    thresholds = [2.0, *sorted(set(confidence.tolist()), reverse=True)]
    rightly = [float(((confidence >= threshold) == (hits == 1)).mean()) for threshold in thresholds]
    assert found.accuracy.mean == pytest.approx(np.mean(rightly), rel=1e-12)
    assert found.ambiguous_ties == 0


def test_errors() -> None:
    scene = small()
    for measure, values in zip(MEASURES, neighbors(scene), strict=True):
        assert errors(scene, measure) == pytest.approx(1 - values, rel=1e-12, abs=1e-15)


def test_sorting_prints_what_is_in_the_interval() -> None:
    scene = small()
    random = np.random.default_rng(4)
    wrong = errors(scene, "AP@R")
    for store in STORED.values():
        confidence = store(scene.truth)
        area = scores(scene, confidence).curves["MAP@R"].area
        values = [printed(wrong, confidence, random.permutation(40)) for _ in range(10)]
        assert area.lower - 1e-12 <= min(values) <= max(values) <= area.upper + 1e-12
        low, _, high = report.printed_range(wrong, confidence).partition(" to ")
        assert round(area.lower, 4) <= float(low) <= float(high or low) <= round(area.upper, 4)


def test_best_level() -> None:
    scene = small()
    level, largest = report.best_level(scene)
    assert rank_correlation(claimed(scene, level), scene.truth).coefficient == largest
    around = np.abs(np.array(study.LEVELS) - level).argmin()
    assert largest >= rank_correlation(claimed(scene, study.LEVELS[around]), scene.truth).coefficient


def test_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["study.py", "--quick", "--out", str(tmp_path)])
    study.main()
    assert {path.name for path in tmp_path.iterdir()} == {
        "report.md",
        "points.png",
        "scores.svg",
        "correlations.svg",
        "ties.svg",
    }
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert text == capsys.readouterr().out
    scene = scenario(200, 10, study.SEED)
    for level, (measure, title) in itertools.product((0.05, 1.0), MEASURES.items()):
        assert errors(scene, measure).shape == (200,)
        area = scores(scene, claimed(scene, level)).curves[title].area
        assert report.interval(area) in text
    assert "is the same, and the areas are the same" in text
    assert f"| {level:.2f} |" in text


def test_interval_of_two_modes_is_mostly_the_gap() -> None:
    found = modes.regions(modes.samples(2000, 0), 0.5)
    assert (round(found.low, 2), round(found.high, 2)) == (-2.24, 7.68)
    assert found.half == pytest.approx(0.67449, abs=1e-5)  # the quartile of a normal distribution
    inside = (5 + found.half) - (5 - found.half)  # the other mode is outside the interval
    assert found.gap == pytest.approx(1 - inside / (found.high - found.low))
