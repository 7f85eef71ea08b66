"""`tieproof noise`, and `--noise` of the commands that evaluate."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from command_line import exit_status as run

ROWS = np.random.default_rng(3).normal(size=(40, 6)).astype(np.float32)
LABELS = np.arange(40) % 4


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    np.save("rows.npy", ROWS)
    np.save("again.npy", ROWS.astype(np.float16))
    np.save("labels.npy", LABELS)
    Path("qrels.txt").write_text("q 0 a 1\nq 0 b 0\n", encoding="utf-8")
    Path("run.txt").write_text("q Q0 a 1 0.9 x\nq Q0 b 2 0.8 x\n", encoding="utf-8")
    return tmp_path


def noise_of(*command: str) -> Any:
    assert run(*command, "--json", "result.json") == 0
    return json.loads(Path("result.json").read_text(encoding="utf-8"))


@pytest.mark.usefixtures("folder")
def test_evaluate() -> None:
    for given, noise in (("0.25", 0.25), ("bfloat16", "bfloat16"), ("again.npy", ROWS.astype(np.float16))):
        told = noise_of("evaluate", "rows.npy", "labels.npy", "-m", "AP", "--noise", given)
        assert told == tp.evaluate(ROWS, LABELS, measures=["AP"], noise=noise).to_dict()


@pytest.mark.usefixtures("folder")
def test_run(capsys: pytest.CaptureFixture[str]) -> None:
    told = noise_of("run", "qrels.txt", "run.txt", "-m", "RR", "--noise", "0.1")
    assert told["measures"]["RR"]["noise"] == {"lower": 0.5, "upper": 1.0}
    for wrong in ("-1", "nan", "few"):
        assert run("run", "qrels.txt", "run.txt", "--noise", wrong) == 2
        assert "number" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_noise(capsys: pytest.CaptureFixture[str]) -> None:
    told = noise_of("noise", "rows.npy", "again.npy", "labels.npy", "-m", "AP")
    report = tp.noise(ROWS, ROWS.astype(np.float16), LABELS, measures=["AP"])
    assert told == json.loads(report.to_json())
    assert report.first["AP"].noise.lower <= report.second["AP"].lower <= report.first["AP"].noise.upper
    assert run("noise", "rows.npy", "again.npy", "labels.npy", "-m", "AP") == 0
    assert capsys.readouterr().out.endswith(f"{report}\n")
    assert run("noise", "rows.npy", "labels.npy", "labels.npy") == 2
    assert "labels.npy" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_noise_names_the_queries_that_may_change() -> None:
    told = noise_of("noise", "rows.npy", "again.npy", "labels.npy", "-m", "AP", "--per-query", "queries.csv")
    with Path("queries.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["query"]) for row in rows if row["may_change"] == "True"] == told["may_change"]
    assert [int(row["query"]) for row in rows if row["changed"] == "True"] == told["changed"]
    moves = tp.noise(ROWS, ROWS.astype(np.float16), LABELS).moves
    assert [float(row["move"]) for row in rows] == moves.tolist()


def test_what_changes_is_among_what_may_change() -> None:
    """The first computation leaves RR of query 0 between 1/2 and 1, the second one makes it 1/2."""
    first, second = np.array([[0.0], [1.0], [-1.0], [9.0]]), np.array([[0.0], [1.0], [-1.25], [9.0]])
    report = tp.noise(first, second, ["a", "b", "a", "c"], distance="euclidean", measures=["RR"])
    table = report.to_frame()
    assert 0 in report.changed
    assert set(report.changed) <= set(report.may_change)
    assert table["query"][table["changed"]].tolist() == report.changed.tolist()
    assert table["query"][table["may_change"]].tolist() == report.may_change.tolist()


@pytest.mark.usefixtures("folder")
def test_noise_says_whether_a_comparison_survives_it(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("other.npy", ROWS[:, :3])
    np.save("other_again.npy", ROWS[:, :3].astype(np.float16))
    command = ("noise", "rows.npy", "again.npy", "labels.npy", "-m", "AP", "--against", "other.npy")
    moved = tp.evaluate(ROWS, LABELS, measures=["AP"], noise=ROWS.astype(np.float16))["AP"].noise
    other = tp.evaluate(ROWS[:, :3], LABELS, measures=["AP"])["AP"]
    told = noise_of(*command)["comparison"]["differences"][0]
    assert (told["a"], told["b"]) == ("first", "against")
    assert told["noise"] == {"lower": moved.lower - other.upper, "upper": moved.upper - other.lower}
    further = tp.evaluate(ROWS[:, :3], LABELS, measures=["AP"], noise=ROWS[:, :3].astype(np.float16))["AP"].noise
    told = noise_of(*command, "--against-again", "other_again.npy")["comparison"]["differences"][0]
    assert told["noise"] == {"lower": moved.lower - further.upper, "upper": moved.upper - further.lower}
    capsys.readouterr()
    assert run(*command) == 0
    assert "of 'first' minus that of 'against' is from" in " ".join(capsys.readouterr().out.split())
    assert run(*command[:-2], "--against-again", "other_again.npy") == 2
    assert "--against-again is another computation" in capsys.readouterr().err


def test_noise_takes_a_gallery() -> None:
    again = ROWS.astype(np.float16)
    sides: dict[str, Any] = {"gallery": ROWS[10:], "gallery_again": again[10:], "gallery_labels": LABELS[10:]}
    report = tp.noise(ROWS[:10], again[:10], LABELS[:10], measures=["AP"], **sides)
    alone = tp.evaluate(
        ROWS[:10],
        LABELS[:10],
        gallery=ROWS[10:],
        gallery_labels=LABELS[10:],
        measures=["AP"],
        noise=(again[:10], again[10:]),
    )
    assert report.first["AP"] == alone["AP"]
    assert report.first["AP"].noise.lower <= report.second["AP"].lower <= report.first["AP"].noise.upper
    assert len(report.moves) == 10
    assert report.columns()["query"].tolist() == list(range(10))


def test_an_evaluator_has_noise() -> None:
    evaluator = tp.Evaluator(measures=["AP"], noise="float16")
    for part in (slice(0, 25), slice(25, 40)):
        evaluator.update(ROWS[part], LABELS[part])
    assert evaluator.compute()["AP"] == tp.evaluate(ROWS, LABELS, measures=["AP"], noise="float16")["AP"]
