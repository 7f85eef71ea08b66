"""Ranks: 1 + the systems that are ahead by their lower bounds; ties never pay, and nobody is ahead by chance."""

import json
import math
import os
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from competitions import HONEST, PRINT, organize, program
from tieproof.trials.judge import Leaderboard, judge, leaderboard

LABELS = np.arange(200) % 10


@cache
def system(strength: float, seed: int = 0) -> tp.Result:
    """A result of embeddings whose knowledge of the classes has this strength."""
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(200, 16)) + strength * np.eye(16)[LABELS]
    return tp.evaluate(vectors, LABELS, measures=["AP", "P@1"])


def ranks(board: Leaderboard) -> list[tuple[int | None, str]]:
    return [(each.rank, each.name) for each in board.standings]


@pytest.mark.trials
def test_those_that_cannot_be_told_apart_share_a_rank() -> None:
    random = np.random.default_rng(5)
    vectors = random.normal(size=(200, 16)) + 2 * np.eye(16)[LABELS]
    near = vectors + 1e-3 * random.normal(size=vectors.shape)
    systems = {
        "worst": system(0.0),
        "twin": tp.evaluate(near, LABELS, measures=["AP", "P@1"]),
        "good": tp.evaluate(vectors, LABELS, measures=["AP", "P@1"]),
        "best": system(5.0),
    }
    board = leaderboard(systems)
    found = {name: rank for rank, name in ranks(board)}
    assert found == {"best": 1, "good": 2, "twin": 2, "worst": 4}
    standing = {each.name: each for each in board.standings}
    assert set(standing["good"].ahead_of) == {"worst"}
    assert standing["good"].behind == ("best",)
    lowers = [each.scores["AP"].lower for each in board.standings]
    assert lowers == sorted(lowers, reverse=True)


def test_ties_never_pay() -> None:
    """All zeros could be perfect by luck, and are as good as chance in expectation; they rank last."""
    zeros = tp.evaluate(np.zeros((200, 3)), LABELS, measures=["AP"])
    assert zeros["AP"].upper == 1.0
    board = leaderboard({"zeros": zeros, "chance": system(0.0), "good": system(2.0)}, measures=["AP"])
    assert ranks(board) == [(1, "good"), (2, "chance"), (3, "zeros")]


@pytest.mark.trials
def test_a_copy_shares_the_rank_of_what_it_copies(tmp_path: Path) -> None:
    board = leaderboard({"copy": system(2.0), "original": system(2.0), "chance": system(0.0)})
    assert [rank for rank, _ in ranks(board)] == [1, 1, 3]
    board.report(tmp_path / "board.html")
    assert "not told apart" in (tmp_path / "board.html").read_text()


@pytest.mark.trials
def test_the_same_board_in_any_order() -> None:
    systems = {f"s{strength}": system(strength, int(10 * strength)) for strength in (0.0, 1.0, 1.1, 1.2, 3.0)}
    board = leaderboard(systems)
    again = leaderboard(dict(reversed(systems.items())))
    assert ranks(again) == ranks(board)
    assert [each.scores for each in again.standings] == [each.scores for each in board.standings]


@pytest.mark.trials
def test_records_are_not_verified_without_their_data(tmp_path: Path) -> None:
    vectors = {name: np.random.default_rng(seed).normal(size=(200, 16)) for seed, name in enumerate(("a", "b"))}
    for name, rows in vectors.items():
        tp.evaluate(rows, LABELS, measures=["AP"]).save(tmp_path / f"{name}.tieproof")
    board = leaderboard(tmp_path)
    assert {each.record for each in board.standings} == {"not verified"}
    assert {each["record"] for each in json.loads(board.to_json())["standings"]} == {"not verified"}
    assert str(board).count("not verified\n") == 2
    board.report(tmp_path / "board.html")
    assert (tmp_path / "board.html").read_text().count('<td class="words">not verified</td>') == 2
    one = leaderboard(tmp_path, verify={"a": {"embeddings": vectors["a"], "labels": LABELS}})
    assert {each.name: each.record for each in one.standings} == {"a": "verified", "b": "not verified"}
    assert [each.scores for each in one.standings] == [each.scores for each in board.standings]
    assert {each.record for each in leaderboard({"here": system(1.0)}).standings} == {"evaluated"}


def test_a_record_that_differs_from_its_data_gets_no_rank(tmp_path: Path) -> None:
    vectors = np.random.default_rng(4).normal(size=(200, 16))
    results = {"weak": system(0.0), "claimed": system(5.0)}
    for name, result in results.items():
        result.save(tmp_path / f"{name}.tieproof")
    board = leaderboard(tmp_path, verify={"claimed": {"embeddings": vectors, "labels": LABELS}})
    assert ranks(board) == [(1, "weak"), (None, "claimed")]
    assert board.standings[1].record == "differs"
    assert board.standings[1].notes[0].startswith("claimed does not agree with its data: The data differs")
    assert "claimed: claimed does not agree" in " ".join(str(board).split())


def test_a_single_system_is_first() -> None:
    board = leaderboard({"alone": system(1.0)})
    assert ranks(board) == [(1, "alone")]
    assert board.comparison is None
    assert json.loads(board.to_json())["differences"] == []


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The records and logs of judges for three systems, and a record that no judge wrote."""
    if not hasattr(os, "fork"):
        pytest.skip("needs processes as Unix has them")
    tmp_path = tmp_path_factory.mktemp("board")
    competition = organize(tmp_path / "organizer", judge_batch=100, judge_refused="disqualified")
    out = tmp_path / "judged"
    judge(competition, program(tmp_path / "a", HONEST), name="honest", out=out)
    chance = f"{PRINT}import random\nfor name, word in lines: print(name, random.random())".replace(
        "print(name, random", "print(name + ',' + str(random"
    ).replace("random())", "random()))")
    judge(competition, program(tmp_path / "b", chance), name="chance", out=out, runs=3)
    judge(competition, program(tmp_path / "c", "pass"), name="silent", out=out)
    tp.evaluate(np.eye(12), ["cat", "dog", "cow"] * 4, measures=["AP", "P@1"], distance="euclidean").save(
        tmp_path / "other.tieproof"
    )
    return tmp_path


@pytest.fixture
def folder(judged: Path, tmp_path: Path) -> Path:
    """A copy of the records and logs, which a test may change."""
    shutil.copy(judged / "other.tieproof", tmp_path)
    return Path(shutil.copytree(judged / "judged", tmp_path / "judged"))


@pytest.mark.trials
def test_a_folder_of_what_judges_wrote(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    board = leaderboard(folder)
    found = {each.name: each for each in board.standings}
    assert set(found) == {"honest", "chance", "silent"}
    assert found["silent"].rank is None
    assert board.standings[-1].name == "silent"
    assert found["silent"].notes[:2] == ("disqualified", "12 of 12 answers refused")
    assert found["chance"].scores["AP"].runs.runs == 3
    lowers = [tp.load(folder / f"chance.run-{number}.tieproof")["AP"].lower for number in (1, 2, 3)]
    assert found["chance"].scores["AP"].lower == pytest.approx(np.mean(lowers), rel=1e-12)
    assert "answers changed when asked again" in found["chance"].notes[0]
    assert "silent: disqualified; 12 of 12 answers refused" in " ".join(str(board).split())
    page = folder / "board.html"
    board.report(page)
    # In some runs of this test, the random system is told apart by luck.
    told_apart = "chance" in {*found["honest"].ahead_of, *found["honest"].behind}
    assert ("not told apart" in page.read_text()) is not told_apart


def test_scores_are_those_of_records_and_not_of_logs(folder: Path) -> None:
    log = folder / "honest.judgment.json"
    before = leaderboard(folder)
    told = json.loads(log.read_text())
    told["scores"]["AP"]["lower"] = 1.0
    log.write_text(json.dumps(told))
    after = leaderboard(folder)
    assert [each.scores for each in after.standings] == [each.scores for each in before.standings]


def test_a_record_that_no_judge_wrote_is_a_system_of_its_own(folder: Path) -> None:
    tp.load(folder / "honest.run-1.tieproof").save(folder / "copied.tieproof")
    assert {each.name for each in leaderboard(folder).standings} == {"honest", "chance", "silent", "copied"}


SPOILT: dict[str, tuple[Any, str]] = {
    "no JSON": (lambda told: "{", r"honest\.judgment\.json is not a log of tieproof judge"),
    "another format": (lambda told: json.dumps(told | {"format": "x"}), "is not a log of tieproof judge"),
    "a record elsewhere": (
        lambda told: json.dumps(told | {"runs": [told["runs"][0] | {"record": "../../etc/passwd"}]}),
        "a record elsewhere",
    ),
    "no such record": (
        lambda told: json.dumps(told | {"runs": [told["runs"][0] | {"record": "gone.tieproof"}]}),
        r"gone\.tieproof does not exist",
    ),
    "brackets in brackets": (lambda told: "[" * 100_000 + "]" * 100_000, "is not a log of tieproof judge"),
    "a text as a number": (lambda told: json.dumps(told | {"questions": "12"}), "fields of other types"),
    "an infinite number": (
        lambda told: json.dumps(
            told | {"runs": [told["runs"][0] | {"asked_twice": {"asked": 1, "differ": 1, "largest": math.inf}}]}
        ),
        "fields of other types",
    ),
    "a number as refusals": (
        lambda told: json.dumps(told | {"runs": [told["runs"][0] | {"refused": {"late": 3}}]}),
        "fields of other types",
    ),
    "other rules": (lambda told: json.dumps(told | {"rules": []}), "fields of other types"),
    "no runs": (lambda told: json.dumps(told | {"runs": []}), "is not a log of tieproof judge"),
}


@pytest.mark.parametrize("kind", SPOILT)
def test_spoilt_logs_are_refused(folder: Path, kind: str) -> None:
    spoil, says = SPOILT[kind]
    log = folder / "honest.judgment.json"
    log.write_text(spoil(json.loads(log.read_text())))
    with pytest.raises(tp.InputError, match=says):
        leaderboard(folder)


def test_a_log_that_is_no_file_is_refused(folder: Path) -> None:
    os.mkfifo(folder / "pipe.judgment.json")
    with pytest.raises(tp.InputError, match="is not a regular file"):
        leaderboard(folder)


def test_other_rules_are_told(folder: Path) -> None:
    log = folder / "honest.judgment.json"
    told = json.loads(log.read_text())
    log.write_text(json.dumps(told | {"rules": told["rules"] | {"refused": "last"}}))
    notes = {each.name: each.notes for each in leaderboard(folder).standings}
    assert "the rule refused = last" in notes["honest"]
    assert "the rule refused = disqualified" in notes["chance"]


def test_runs_of_one_system_have_the_same_queries_and_policies(folder: Path) -> None:
    other = tp.evaluate(np.eye(12), ["cat", "dog", "cow"] * 4, measures=["AP", "P@1"], empty="zero")
    other.save(folder / "chance.run-2.tieproof")
    with pytest.raises(tp.InputError, match=r"'chance\.run-1' and 'chance\.run-2' have different empty="):
        leaderboard(folder)


def test_two_logs_of_one_name_are_refused(folder: Path) -> None:
    (folder / "another.judgment.json").write_text((folder / "honest.judgment.json").read_text())
    with pytest.raises(tp.InputError, match="another log are both for 'honest'"):
        leaderboard(folder)


def test_folders_that_hold_no_board(folder: Path) -> None:
    (folder / "empty").mkdir()
    with pytest.raises(tp.InputError, match=r"contains no record \(\.tieproof\)"):
        leaderboard(folder / "empty")
    with pytest.raises(tp.InputError, match="is not a folder"):
        leaderboard(folder / "nowhere")
    (folder.parent / "other.tieproof").rename(folder / "other.tieproof")
    with pytest.raises(tp.InputError, match="have different labels"):
        leaderboard(folder)
