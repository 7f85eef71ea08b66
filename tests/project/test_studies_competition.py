"""The study of a simulated competition: its script and its entries work as the report says."""

import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tieproof as tp
from shared_data import load_shared
from studies.competition import entries, study, usual

pytestmark = pytest.mark.heavy  # a study is not a promise of the library

Array = npt.NDArray[Any]

RANDOM = np.random.default_rng(3)
ROWS = RANDOM.standard_normal((12, 40)).astype(np.float32)
LABELS = np.arange(12) // 3
NAMES = [f"{label}-{at:05}" for at, label in enumerate(LABELS)]


def average_precision(relevant: list[bool]) -> Fraction:
    """By the definition: the mean precision at the ranks of the relevant items."""
    ranks = [rank for rank, good in enumerate(relevant, 1) if good]
    return sum((Fraction(at, rank) for at, rank in enumerate(ranks, 1)), Fraction(0)) / len(ranks)


def test_the_usual_script_is_the_definition_where_nothing_is_tied() -> None:
    values = []
    for query in range(12):
        unit = ROWS.astype(np.float64) / np.linalg.norm(ROWS.astype(np.float64), axis=1, keepdims=True)
        order = np.argsort(-(unit @ unit[query]))
        values.append(average_precision([bool(LABELS[at] == LABELS[query]) for at in order if at != query]))
    expected = sum(values, Fraction(0)) / len(values)
    assert usual.mean_average_precision(ROWS, LABELS) == pytest.approx(float(expected), rel=1e-12)


def test_there_are_twenty_honest_systems_and_five_cheats() -> None:
    assert (len(entries.HONEST), len(entries.CHEATS), len(entries.ENTRIES)) == (20, 5, 25)


@pytest.mark.parametrize("name", entries.HONEST)
def test_honest_systems_look_at_their_rows_alone(name: str) -> None:
    answers = entries.HONEST[name](NAMES, ROWS)
    order = RANDOM.permutation(12)
    again = entries.HONEST[name](["other"] * 12, ROWS[order])
    assert len(np.unique(answers, axis=0)) > 4
    assert again == pytest.approx(answers[order], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", ["zeros", "constant", "order", "names"])
def test_cheats_do_not_look_at_their_rows(name: str) -> None:
    answers = entries.CHEATS[name](NAMES, ROWS)
    assert np.array_equal(answers, entries.CHEATS[name](NAMES, ROWS[::-1]))
    upper = tp.evaluate(answers, LABELS, measures=["AP"])["AP"].upper
    assert upper > tp.evaluate(ROWS, LABELS, measures=["AP"])["AP"].upper


def test_the_copy_is_near_to_what_it_copies() -> None:
    copied = entries.CHEATS["copy"](NAMES, ROWS)
    lengths = np.linalg.norm(copied - ROWS, axis=1) / np.linalg.norm(ROWS, axis=1)
    assert lengths == pytest.approx(1e-3, rel=1e-3)


def test_rankings_of_runs() -> None:
    printed = {"a": [0.0, 0.31, 0.33, 0.1], "b": [0.0, 0.2, 0.2, 0.104], "c": [1.0, 0.0, 0.25, 0.0]}
    assert study.different_rankings(printed) == (3, 3)
    assert study.different_rankings(printed, 2) == (2, 3)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes as Unix has them")
def test_a_small_competition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cheats that use names or the order rank first by the script, but not by the judge."""
    load_shared("package-sections.npz")
    monkeypatch.setattr(study, "QUICK", 60)
    monkeypatch.setattr("sys.argv", ["study.py", "--quick", "--out", str(tmp_path)])
    study.main()
    report = (tmp_path / "report.md").read_text()
    rows = {line.split(" | ")[0].strip("|* "): line.split(" | ") for line in report.splitlines() if "| " in line}
    assert rows["names"][1:3] == ["1", "1.0000"]
    assert rows["whole"][4] == "1"
    assert int(rows["names"][4]) > 1
    assert int(rows["zeros"][4]) > 1
