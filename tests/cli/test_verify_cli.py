"""`--save` and `tieproof verify`."""

import json
from pathlib import Path

import numpy as np
import pytest

import tieproof as tp
from tieproof.cli import main

RANDOM = np.random.default_rng(2)
EMBEDDINGS, LABELS = RANDOM.integers(0, 3, (20, 4)).astype(float), np.arange(20) % 6


def run(arguments: list[str]) -> int:
    with pytest.raises(SystemExit) as done:
        main(arguments)
    return int(done.value.code or 0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    order = RANDOM.permutation(20)
    np.save("e.npy", EMBEDDINGS)
    np.save("l.npy", LABELS)
    np.save("moved-e.npy", EMBEDDINGS[order])
    np.save("moved-l.npy", LABELS[order])
    np.save("other.npy", EMBEDDINGS + (np.arange(20) == 3)[:, None])
    Path("qrels.txt").write_text("q1 0 d1 1\nq2 0 d3 1\n")
    Path("run.txt").write_text("q1 Q0 d1 1 0.5 t\nq1 Q0 d2 1 0.5 t\nq2 Q0 d3 1 2 t\n")
    Path("categories.txt").write_text("q1 one\nq2 two words\n")
    return tmp_path


def test_save_is_what_python_saves(folder: Path) -> None:
    assert run(["evaluate", "e.npy", "l.npy", "-d", "euclidean", "-m", "AP,P@1", "--save", "run.tieproof"]) == 0
    tp.evaluate(EMBEDDINGS, LABELS, distance="euclidean", measures=["AP", "P@1"]).save("python.tieproof")
    assert Path("run.tieproof").read_bytes() == Path("python.tieproof").read_bytes()


def test_verified(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["evaluate", "e.npy", "l.npy", "-m", "AP", "--save", "run.tieproof"]) == 0
    capsys.readouterr()
    assert run(["verify", "run.tieproof", "e.npy", "l.npy"]) == 0
    assert capsys.readouterr().out == "Every bit agrees.\n"
    assert run(["verify", "run.tieproof", "moved-e.npy", "moved-l.npy"]) == 0
    assert "in another order or under other names" in capsys.readouterr().out
    assert run(["verify", "run.tieproof", "other.npy", "l.npy", "--json", "-"]) == 4
    found = json.loads(capsys.readouterr().out)
    assert (found["agrees"], found["same_data"]) == (False, False)
    assert found["differences"]


def test_verified_with_a_gallery_and_categories(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sides = ["other.npy", "l.npy", "--gallery", "e.npy", "--gallery-labels", "l.npy", "--categories", "l.npy"]
    assert run(["evaluate", *sides, "--save", "run.tieproof"]) == 0
    capsys.readouterr()
    assert run(["verify", "run.tieproof", *sides, "--threads", "1"]) == 0
    assert capsys.readouterr().out == "Every bit agrees.\n"


def test_verified_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--categories", "categories.txt"]
    assert run(["run", "qrels.txt", "run.txt", *options, "--average", "macro", "--save", "run.tieproof"]) == 0
    capsys.readouterr()
    assert run(["verify", "run.tieproof", "qrels.txt", "run.txt", *options]) == 0
    assert capsys.readouterr().out == "Every bit agrees.\n"
    Path("run.txt").write_text("q1 Q0 d1 1 0.5 t\nq1 Q0 d2 1 0.25 t\nq2 Q0 d3 1 2 t\n")
    assert run(["verify", "run.tieproof", "qrels.txt", "run.txt", *options]) == 4
    assert "first for 'q1': lower 0.5 in the record, 1.0 now." in capsys.readouterr().out.replace("\n", " ")


def test_bad_input(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["run", "qrels.txt", "run.txt", "--save", "run.tieproof"]) == 0
    tp.evaluate_scores([[1, 2]], [[0, 1]]).save("scores.tieproof")
    capsys.readouterr()
    for arguments, says in (
        (["run.tieproof", "qrels.txt"], "run.tieproof is the record of a run; give the qrels and the run"),
        (["run.tieproof", "qrels.txt", "run.txt", "--gallery", "e.npy"], "is the record of a run; give the qrels"),
        (["e.npy", "e.npy", "l.npy"], "e.npy is not a record"),
        (["none.tieproof", "e.npy"], "none.tieproof does not exist"),
        (["scores.tieproof", "e.npy"], "check it in Python, with tieproof.verify"),
        (
            ["run.tieproof", "qrels.txt", "run.txt", "--json", "run.tieproof"],
            "run.tieproof is read in this evaluation",
        ),
    ):
        assert run(["verify", *arguments]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert says in said.err
        assert said.err.count("\n") == 1
    assert run(["evaluate", "e.npy", "l.npy", "--save", "run.npz"]) == 2
    assert "Use one of: .tieproof." in capsys.readouterr().err
