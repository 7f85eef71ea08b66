"""Which calls and commands take sparse rows and items of several vectors; all others refuse them by name."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from tieproof.cli import main

sparse = pytest.importorskip("scipy.sparse")
pytestmark = pytest.mark.filterwarnings("ignore::tieproof.InputWarning")

ROWS = np.arange(1.0, 25).reshape(6, 4) % 5 * (np.arange(24).reshape(6, 4) % 3 > 0)
LABELS = np.arange(6) % 2
FOUND = [[(item + 1) % 6] for item in range(6)]
SPARSE = sparse.csr_array(ROWS)
KINDS: dict[str, tuple[Any, str]] = {
    "sparse": (SPARSE, "dot"),
    "dictionaries": ([{"a": 1.0, "b": float(row)} for row in range(6)], "dot"),
    "vectors": (tp.MultiVectors(ROWS, np.arange(7)), "maxsim"),
    "lists of arrays": ([ROWS[:2], *ROWS[1:, None]], "maxsim"),
}
NAMED = {
    "sparse": "(?i)sparse (matrix|rows)",
    "dictionaries": "(?i)dictionaries|sparse rows",
    "vectors": "several|maxsim",
    "lists of arrays": "several|maxsim",
}
ADVICE = "Make", "Pass", "Convert", "Leave", "Round"  # one of which begins what to do


def updated(rows: Any, distance: str) -> object:
    evaluator = tp.Evaluator(distance=distance)
    evaluator.update(rows, LABELS)
    return evaluator.compute()


def recall(rows: Any, distance: str) -> object:
    return tp.neighbor_recall(FOUND, queries=rows, gallery=rows, k=1, distance=distance)


def certified(rows: Any, distance: str) -> object:
    with TemporaryDirectory() as folder:
        tp.truth(rows, rows, 2, out=folder, distance=distance)
        return tp.verify_truth(folder, rows, rows)


def in_parts(rows: Any, distance: str) -> object:
    with TemporaryDirectory() as folder:
        return tp.evaluate(rows, LABELS, distance=distance, checkpoint=f"{folder}/parts")


CALLS: dict[str, tuple[Callable[[Any, str], object], str]] = {
    "evaluate": (lambda rows, distance: tp.evaluate(rows, LABELS, distance=distance), "all"),
    "evaluate a gallery": (
        lambda rows, distance: tp.evaluate(rows, LABELS, gallery=rows, gallery_labels=LABELS, distance=distance),
        "all",
    ),
    "nearest": (lambda rows, distance: tp.nearest(rows, k=2, distance=distance), "all"),
    "knn_accuracy": (lambda rows, distance: tp.knn_accuracy(rows, LABELS, k=1, distance=distance), "all"),
    "Evaluator": (updated, "all"),
    "collisions": (lambda rows, distance: tp.collisions(rows, LABELS, distance=distance), "sparse"),
    "neighbor_recall": (recall, "sparse"),
    "truth": (certified, "sparse"),
    "examine_truth": (lambda rows, distance: tp.examine_truth(FOUND, rows, rows, distance=distance), "sparse"),
    "fnmr_at_fmr": (lambda rows, distance: tp.fnmr_at_fmr(rows, LABELS, distance=distance), ""),
    "open_set": (
        lambda rows, distance: tp.open_set_identification(rows, LABELS, gallery=rows, gallery_labels=LABELS),
        "",
    ),
    "det_curve_of_pairs": (
        lambda rows, distance: tp.det_curve_of_pairs(LABELS, embeddings=(rows, rows), distance=distance),
        "",
    ),
    "pcf": (lambda rows, distance: tp.pcf(rows), ""),
    "noise": (lambda rows, distance: tp.noise(rows, rows, LABELS, distance=distance), ""),
    "evaluate with noise": (lambda rows, distance: tp.evaluate(rows, LABELS, distance=distance, noise=0.1), ""),
    "evaluate noise of rows": (lambda rows, distance: tp.evaluate(ROWS, LABELS, noise=rows), ""),
    "evaluate with precision": (
        lambda rows, distance: tp.evaluate(rows, LABELS, distance=distance, precision="float16"),
        "",
    ),
    "evaluate in parts": (in_parts, "sparse"),
    "evaluate cityblock": (lambda rows, distance: tp.evaluate(rows, LABELS, distance="cityblock"), ""),
    "nearest hamming": (lambda rows, distance: tp.nearest(rows, k=1, distance="hamming"), ""),
    "credible_retrieval": (lambda rows, distance: tp.confidence.credible_retrieval(rows, ROWS, LABELS), ""),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CALLS)
def test_a_kind_is_ranked_or_refused_by_name(name: str, kind: str) -> None:
    call, takes = CALLS[name]
    rows, distance = KINDS[kind]
    if takes == "all" or (takes == "sparse" and distance == "dot"):
        call(rows, distance)
        return
    with pytest.raises(tp.InputError, match=NAMED[kind]) as caught:
        call(rows, distance)
    assert "\n" not in f"{caught.value}"
    assert any(f" {word} " in f"{caught.value}" for word in ADVICE)


COMMANDS: dict[str, tuple[list[str], str]] = {
    "evaluate": (["evaluate", "{x}", "labels.npy", "-d", "{d}"], "all"),
    "collisions": (["collisions", "{x}", "labels.npy", "-d", "{d}"], "sparse"),
    "fnmr": (["fnmr", "{x}", "labels.npy", "-d", "{d}"], ""),
    "open-set": (["open-set", "{x}", "labels.npy", "--gallery", "{x}", "--gallery-labels", "labels.npy"], ""),
    "noise": (["noise", "{x}", "{x}", "labels.npy", "-d", "{d}"], ""),
    "pcf": (["pcf", "{x}"], ""),
    "confidence": (["confidence", "{x}", "labels.npy", "sure.npy", "-d", "{d}"], "all"),
    "truth": (["truth", "{x}", "{x}", "-d", "{d}", "--out", "truth"], "sparse"),
    "neighbor-recall": (
        ["neighbor-recall", "found.npy", "-k", "1", "--queries", "{x}", "--gallery", "{x}", "-d", "{d}"],
        "sparse",
    ),
    "labels": (["evaluate", "rows.npy", "{x}"], ""),
    "run": (["run", "{x}", "{x}"], ""),
    "scores": (["scores", "{x}"], ""),
}


@pytest.mark.parametrize("kind", ["sparse", "vectors"])
@pytest.mark.parametrize("name", COMMANDS)
def test_commands(
    name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    sparse.save_npz("sparse.npz", SPARSE)
    np.savez("vectors.npz", vectors=ROWS, offsets=np.arange(7))
    for file, array in (("labels", LABELS), ("sure", LABELS / 2), ("found", FOUND), ("rows", ROWS)):
        np.save(f"{file}.npy", array)
    arguments, takes = COMMANDS[name]
    distance = KINDS[kind][1]
    works = takes == "all" or (takes == "sparse" and kind == "sparse")
    with pytest.raises(SystemExit) as ended:
        main([each.format(x=f"{kind}.npz", d=distance) for each in arguments])
    said = capsys.readouterr().err
    assert ended.value.code == (0 if works else 2), said
    assert "Traceback" not in said
    assert works or f"{kind}.npz" in said
