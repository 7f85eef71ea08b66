"""`tieproof judge` and `tieproof leaderboard`."""

import json
import os
from pathlib import Path

import pytest

import tieproof as tp
from command_line import exit_status as run
from competitions import EMBEDDINGS, HONEST, LABELS, organize, program
from tieproof.trials.judge import leaderboard

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes as Unix has them")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    organize(tmp_path / "organizer", judge_batch=100, judge_repeats=0)
    monkeypatch.chdir(tmp_path)
    return tmp_path


COMPETITION = "organizer/competition.toml"


def test_judge_verify_and_rank(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    system = program(folder / "team", HONEST)
    assert run("judge", COMPETITION, "--system", system, "--name", "ours", "--json", "ours.json") == 0
    expected = tp.evaluate(EMBEDDINGS, LABELS, distance="euclidean", measures=["AP", "P@1"])
    said = capsys.readouterr()
    assert f"AP       {expected['AP'].lower:.4f}" in said.out
    assert "No answer was refused." in said.out
    assert said.err == ""
    found = json.loads(Path("ours.json").read_text())
    assert found["scores"]["AP"]["lower"] == expected["AP"].lower
    assert found["records"] if "records" in found else found["runs"][0]["record"] == "ours.run-1.tieproof"
    assert run("verify", "judged/ours.run-1.tieproof", "judged/ours.run-1.npy", "organizer/labels.txt") == 0
    assert capsys.readouterr().out == "Every bit agrees.\n"
    assert run("judge", COMPETITION, "--system", system, "--name", "again", "-q") == 0
    assert capsys.readouterr().out == f"{expected['AP'].lower!r}\n"
    assert run("leaderboard", "judged", "--html", "board.html") == 0
    assert capsys.readouterr().out == f"{leaderboard('judged')}\n"
    assert "<h1>2 systems by AP</h1>" in Path("board.html").read_text()
    assert run("leaderboard", "judged", "-q", "-m", "P@1") == 0
    lower = expected["P@1"].lower
    assert capsys.readouterr().out == f"1\t{lower!r}\tagain\n1\t{lower!r}\tours\n"
    assert run("leaderboard", "judged", "--json", "-") == 0
    assert json.loads(capsys.readouterr().out) == leaderboard("judged").to_dict()
    ours, labels = "ours.run-1.tieproof judged/ours.run-1.npy", "organizer/labels.txt"
    assert run("leaderboard", "judged", "--verify", f"{ours} {labels}", "--json", "-") == 0
    found = json.loads(capsys.readouterr().out)["standings"]
    assert {each["name"]: each["record"] for each in found} == {"ours": "verified", "again": "not verified"}
    Path("others.txt").write_text("cat\ncat\ncow\ndog\n" * 3)
    assert run("leaderboard", "judged", "--verify", f"{ours} others.txt") == 4
    assert "differs" in capsys.readouterr().out


def test_a_record_with_refused_answers_is_verified(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    system = program(folder / "team", HONEST.replace("in lines: print", "in lines[1:]: print"))
    assert run("judge", COMPETITION, "--system", system, "--name", "ours") == 0
    assert "1 answer was refused (1 missing). Items" in capsys.readouterr().out
    files = ["judged/ours.run-1.tieproof", "judged/ours.run-1.npy", "organizer/labels.txt"]
    assert run("verify", *files, "--threads", "1") == 0
    assert capsys.readouterr().out == "Every bit agrees.\n"


REFUSED = {
    "no system": (["judge", COMPETITION], "Missing option '--system'"),
    "no such file": (["judge", "absent.toml", "--system", "cat {items}"], "absent.toml cannot be read"),
    "no field": (["judge", COMPETITION, "--system", "cat"], "must have {items} or {lines}"),
    "unknown field": (["judge", COMPETITION, "--system", "cat {items} {labels}"], "no fields other than"),
    "no such program": (
        ["judge", COMPETITION, "--system", "./absent {items}"],
        "'./absent' of the system does not exist",
    ),
    "no such module": (["judge", COMPETITION, "--system", "absent:embed"], "The module 'absent' does not exist here"),
    "a bad name": (["judge", COMPETITION, "--system", "cat {items}", "--name", "../x"], "must consist of letters"),
    "a bad seal": (
        ["judge", COMPETITION, "--system", "cat {items}", "--seal", "firejail"],
        "'firejail' is not one of",
    ),
    "both": (
        ["judge", COMPETITION, "--system", "cat {items}", "-q", "--json", "-"],
        "--lines (-q) and --json - both print",
    ),
    "over a secret": (
        ["judge", COMPETITION, "--system", "cat {items}", "--json", "organizer/labels.txt"],
        "is read in this evaluation",
    ),
    "no folder": (["leaderboard", "absent"], "absent is not a folder"),
    "an unknown measure": (["leaderboard", "organizer", "-m", "APP"], "--measure: Unknown measure 'APP'"),
    "words that are no data": (
        ["leaderboard", "organizer", "--verify", "ours.tieproof"],
        "--verify 'ours.tieproof' needs a record and its data, as after tieproof verify: Missing",
    ),
    "a quote that is not closed": (["leaderboard", "organizer", "--verify", "a 'b"], "No closing quotation"),
    "JSON of a verification": (
        ["leaderboard", "organizer", "--verify", "a.tieproof b.npy --json c.json"],
        "has the option --json, which only tieproof verify takes",
    ),
    "no page": (["leaderboard", "organizer", "--html", "board.pdf"], "has the extension '.pdf'"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_refused_in_one_line(folder: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    arguments, message = REFUSED[kind]
    assert run(*arguments) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert "kitten" not in (folder / "organizer" / "labels.txt").read_text()


@pytest.mark.parametrize("name", ["judge", "leaderboard"])
def test_help_shows_examples(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(name, "--help") == 0
    assert f"  tieproof {name} " in capsys.readouterr().out.partition("Examples")[2]
