"""`tieproof confidence` prints what the functions of `tieproof.measures.confidence` return."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from command_line import exit_status as run
from tieproof.measures.confidence import confidence_vs_recall_at_1, credible_retrieval, rank_correlation

pytest.importorskip("scipy", reason="credible regions need it")

RANDOM = np.random.default_rng(5)
LABELS = np.arange(41) % 4
LABELS[40] = 9  # an item without another one of its class is no query
ROWS = RANDOM.normal(size=(41, 3)) + np.eye(10, 3)[LABELS]
SURE = RANDOM.integers(1, 6, 41).astype(float)
TRUTH, SCALES = RANDOM.random(41), RANDOM.random(41) + 0.5


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, values in (("rows", ROWS), ("labels", LABELS), ("sure", SURE), ("truth", TRUTH), ("scales", SCALES)):
        np.save(f"{name}.npy", values)
    return tmp_path


def test_all_scores(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("rows.npy", "labels.npy", "sure.npy", "--truth", "truth.npy", "--scale", "scales.npy", "-m", "AP")
    assert run("confidence", *arguments, "--mass", "0.5", "--mass", "0.9", "--json", "scores.json") == 0
    found: dict[str, Any] = json.loads(Path("scores.json").read_text())
    result = tp.evaluate(ROWS, LABELS, measures=["AP", "P@1"], confidence=SURE)
    accuracy = confidence_vs_recall_at_1(result.per_query("P@1").lower, SURE[result.query_ids])
    assert len(result.query_ids) == 40
    assert found["confidence_vs_recall_at_1"] == accuracy.to_dict()
    correlation = rank_correlation(SURE, TRUTH)
    assert found["rank_correlation"] == correlation.to_dict()
    assert found["credible_retrieval"] == credible_retrieval(ROWS, SCALES, LABELS, (0.5, 0.9)).to_dict()
    assert found.items() >= result.to_dict().items()
    printed = capsys.readouterr().out
    assert "1 - AP" in printed
    for value in (accuracy.mean, accuracy.best, correlation.coefficient, correlation.orders.lower):
        assert f"{value:.4f}" in printed
    np.save("scales.npy", np.repeat(SCALES[:, None], 3, axis=1))
    assert run("confidence", *arguments, "--mass", "0.5", "--mass", "0.9", "--json", "again.json") == 0
    assert json.loads(Path("again.json").read_text())["credible_retrieval"] == found["credible_retrieval"]


def test_only_what_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("confidence", "rows.npy", "labels.npy", "sure.npy") == 0
    printed = capsys.readouterr().out
    assert "confidence vs recall@1, mean" in printed
    assert "rank correlation" not in printed
    assert "mass of the regions" not in printed


@pytest.mark.parametrize(
    ("option", "message"),
    [("--truth", "sure.npy, short.npy: "), ("--scale", "short.npy: The scales must have shape")],
)
def test_errors_name_the_file(option: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    np.save("short.npy", np.ones(3))
    assert run("confidence", "rows.npy", "labels.npy", "sure.npy", option, "short.npy") == 2
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rows.npy", "labels.npy"], "Missing argument 'CONFIDENCE'"),
        (["rows.npy"], "Missing argument 'LABELS'"),
        (["rows.npy", "labels.npy", "sure.npy", "--mass", "0.5"], "--mass is for regions; it needs --scale."),
    ],
)
def test_what_is_missing_is_named(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("confidence", *arguments) == 2
    assert message in " ".join(capsys.readouterr().err.split())
