"""`tieproof neighbors`: what an index returned, from files."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tieproof as tp
from command_line import Outcome, the_line
from tieproof import cli

LABELS = np.array([0, 0, 1, 1, 0])
IDS = np.array([[0, 1, 2], [1, 0, 4], [3, 2, -1], [3, 2, 1], [4, 1, 0]])
DISTANCES = np.array([[0.0, 1.0, 1.0], [0.0, 1.0, 2.0], [0.0, 0.5, 3.4e38], [0.0, 0.5, 2.0], [0.0, 0.25, 0.5]])

Run = Callable[..., Outcome]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for name, array in {"ids": IDS, "distances": DISTANCES, "scores": -DISTANCES, "labels": LABELS}.items():
        np.save(f"{name}.npy", array)
    np.savez("found.npz", ids=IDS, distances=DISTANCES, more=LABELS)

    def call(*args: str) -> Outcome:
        with pytest.raises(SystemExit) as stopped:
            cli.main(args)
        assert isinstance(stopped.value.code, int)
        return Outcome(stopped.value.code, *capsys.readouterr())

    return call


def test_it_is_the_function(run: Run) -> None:
    expected = tp.evaluate_neighbors(IDS, DISTANCES, labels=LABELS, search="approximate")
    arguments = "ids.npy distances.npy --labels labels.npy --search approximate"
    assert run("neighbors", *arguments.split()) == (0, f"{expected}\n", "")
    returned = tp.evaluate_neighbors(IDS, DISTANCES, labels=LABELS, search="returned")
    assert run("neighbors", *arguments.replace("approximate", "returned").split()) == (0, f"{returned}\n", "")
    outputs = "--json result.json --per-query queries.csv --plot result.svg --save it.tieproof --report page.html"
    assert run("neighbors", *arguments.split(), *outputs.split()).status == 0
    assert json.loads(Path("result.json").read_text()) == expected.to_dict()
    assert tp.verify("it.tieproof", IDS, DISTANCES, labels=LABELS).agrees
    assert "approximate search" in Path("page.html").read_text()
    named = run("neighbors", *arguments.replace("ids.npy", "found.npz:ids").split())
    assert named == run("neighbors", *arguments.replace("ids.npy distances.npy", "found.npz found.npz").split())
    assert named.out == f"{expected}\n"
    scores = run("neighbors", *arguments.replace("distances.npy", "--scores scores.npy").split())
    assert scores.out == named.out.replace("by the distances", "by the scores")


def test_ids_are_called_neighbors_in_files_of_ann_benchmarks(run: Run) -> None:
    np.savez("index.npz", neighbors=IDS, distances=DISTANCES)
    arguments = ("--labels", "labels.npy", "--search", "approximate")
    assert run("neighbors", "index.npz", "index.npz", *arguments) == run(
        "neighbors", "ids.npy", "distances.npy", *arguments
    )


def test_a_search_that_filled_up_is_warned_about(run: Run) -> None:
    outcome = run("neighbors", "ids.npy", "distances.npy", "--labels", "labels.npy")
    assert outcome.status == 0
    assert "1 of 5 lists end before they are full" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("ids.npy distances.npy --scores scores.npy --labels labels.npy", "DISTANCES and --scores both define"),
        ("found.npz:more --labels labels.npy", "found.npz:more: The ids must be a matrix"),
        ("found.npz --counts found.npz --labels labels.npy", "found.npz does not say which of its entries are the"),
        ("ids.npy --labels found.npz:more --gallery-labels nothing.npy", "nothing.npy does not exist"),
        ("labels.npy --labels labels.npy", "labels.npy: The ids must be a matrix"),
        ("ids.npy labels.npy --labels labels.npy", "labels.npy: The distances must be a matrix"),
        ("found.npz:absent --labels labels.npy", "found.npz has no entry called 'absent'"),
    ],
)
def test_what_is_refused_names_its_file(run: Run, arguments: str, said: str) -> None:
    assert said in the_line(run("neighbors", *arguments.split()))


def test_labels_are_needed(run: Run) -> None:
    outcome = run("neighbors", "ids.npy")
    assert outcome.status == 2
    assert "--labels" in outcome.err


def test_the_help_says_how_a_record_is_checked(run: Run) -> None:
    """The command `tieproof verify` checks only records of embeddings and of runs."""
    told = " ".join(run("neighbors", "--help").out.split())
    assert "a record (.tieproof), which tieproof.verify checks in Python." in told
    lists = ["ids.npy", "--labels", "labels.npy", "--search", "approximate"]
    assert run("neighbors", *lists, "--save", "saved.tieproof").status == 0
    assert "check it in Python, with tieproof.verify" in the_line(run("verify", "saved.tieproof", "ids.npy"))
    assert tp.verify("saved.tieproof", IDS, labels=LABELS).agrees
