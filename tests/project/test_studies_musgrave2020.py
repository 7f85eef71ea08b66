"""The study of the toy examples: its points are as described, and its numbers follow from the definitions."""

from pathlib import Path

import numpy as np
import pytest

import rankings
import tieproof as tp
from studies.musgrave2020 import study

pytestmark = pytest.mark.heavy  # a study is not a promise of the library


@pytest.mark.parametrize("name", study.EXAMPLES)
def test_points_lie_in_the_strips_of_their_class(name: str) -> None:
    points, labels = study.sample(name, 400, seed=3)
    assert points.shape == (400, 2)
    assert np.bincount(labels).tolist() == [200, 200]
    assert ((points[:, 1] >= 0) & (points[:, 1] < 1)).all()
    for label, strips in enumerate(study.EXAMPLES[name]):
        across = points[labels == label, 0]
        counts = [int(((across >= start) & (across <= end)).sum()) for start, end in strips]
        assert counts == [200 // len(strips)] * len(strips)
    again, _ = study.sample(name, 400, seed=3)
    assert np.array_equal(points, again)
    assert not np.array_equal(points, study.sample(name, 400, seed=4)[0])


@pytest.mark.parametrize("name", study.EXAMPLES)
def test_intervals_are_the_definition(name: str) -> None:
    points, labels = study.sample(name, 8, seed=1)
    for step, result in study.by_step(points, labels).items():
        grid = study.stored(points, study.STEPS[step])
        for measure in study.MEASURES:
            definition, cutoff = ("Success", 1) if measure == "Success@1" else (measure, None)
            found = result[measure]
            expected = rankings.mean(grid, labels, "euclidean", definition, cutoff)
            assert [found.lower, found.expected, found.upper] == pytest.approx(expected, rel=1e-12), (step, measure)


def test_a_query_that_is_left_in_its_list_finds_itself() -> None:
    points, labels = study.sample("Example 2", 40, seed=1)
    shuffled = np.random.default_rng(0).permutation(labels)
    assert study.with_itself(points, shuffled).startswith("recall@1 100.0,")
    with pytest.warns(tp.InputWarning, match="each query finds itself"):  # which the study means to show
        tp.evaluate(points, shuffled, gallery=points, gallery_labels=shuffled)


def test_spread_over_seeds() -> None:
    values = []
    for seed in range(1, study.SEEDS + 1):
        points, labels = study.sample("Example 1", 40, seed)
        values.append(tp.evaluate(points, labels, distance="euclidean", measures=["AP@R"])["AP@R"].lower)
    expected = f"{100 * np.mean(values):.1f} ± {100 * np.std(values):.1f}"
    assert study.spread("Example 1", 40)[list(study.MEASURES).index("AP@R")] == expected


def test_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["study.py", "--quick", "--out", str(tmp_path)])
    study.main()
    report = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert f"{study.QUICK} points" in report
    for name in study.EXAMPLES:
        results = study.by_step(*study.sample(name, study.QUICK, seed=0))
        for step, result in results.items():
            values = " | ".join(study.percent(result[measure]) for measure in study.MEASURES)
            assert f"| {name} | {step} | {values} |" in report
        values = " | ".join(study.percent(results["as drawn"][measure]) for measure in study.MEASURES)
        assert f"| {name} | {values} |" in report
    assert "](examples.png)" in report
    assert (tmp_path / "examples.png").read_bytes().startswith(b"\x89PNG")
    assert ">Example 3</text>" in (tmp_path / "intervals.svg").read_text()


def test_committed_report_is_what_the_study_prints() -> None:
    report = Path(study.__file__).with_name("report.md").read_text(encoding="utf-8")
    for name in study.EXAMPLES:
        points, labels = study.sample(name, study.POINTS, seed=0)
        result = tp.evaluate(points, labels, distance="euclidean", measures=list(study.MEASURES))
        values = " | ".join(study.percent(result[measure]) for measure in study.MEASURES)
        assert f"| {name} | {values} |" in report


def test_what_the_report_says_of_the_full_examples() -> None:
    """The examples differ in Recall@1 by less than a point, in MAP@R by more than twenty; no distances are tied."""
    results = {
        name: tp.evaluate(*study.sample(name, study.POINTS, seed=0), distance="euclidean", measures=["P@1", "AP@R"])
        for name in study.EXAMPLES
    }
    assert all(result.ties.queries_with_ambiguous_ties == 0 for result in results.values())
    recall, at_r = ([result[measure].lower for result in results.values()] for measure in ("P@1", "AP@R"))
    assert max(recall) - min(recall) < 0.01
    assert at_r == sorted(at_r)
    assert max(at_r) - min(at_r) > 0.2
