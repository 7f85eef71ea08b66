"""`tieproof competition`: its files, its output, its exit statuses, and its one-line errors."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bundles import by_hand, competition
from programs_here import programs_here
from tieproof import cli

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    programs_here(monkeypatch)

    def call(*args: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stopped:
            cli.main(["competition", *args])
        return int(stopped.value.code or 0), *capsys.readouterr()

    return call


def test_new_says_what_it_made_and_check_holds(run: Run, tmp_path: Path) -> None:
    competition(tmp_path)
    status, out, err = run("new", "competition.toml", "bundle", "--platform", "evalai")
    assert (status, err) == (0, "")
    assert out.startswith("Wrote bundle for evalai: ")
    assert "and scores rounded to 4 digits. The truth and the scores of single queries stay with you" in out
    assert out.endswith(" Before the competition opens, run: tieproof competition check bundle\n")
    status, out, err = run("check", "bundle", "-a", "zeros", "-a", "no file", "--json", "found.json")
    assert (status, err) == (0, "")
    assert "Held: 2 attacks gained nothing." in out
    found = json.loads(Path("found.json").read_text())
    assert [finding["verdict"] for finding in found["findings"]] == ["held", "refused"]
    assert run("new", "competition.toml", "bundle.zip")[1].startswith("Wrote bundle.zip for codabench: an archive.")


def test_the_exit_status_tells_what_was_found(run: Run, tmp_path: Path) -> None:
    by_hand(tmp_path)
    status, out, _ = run("check", "by_hand", "-a", "zeros")
    assert status == 3
    assert "EXPLOITABLE: 1 of 1 attack gained something" in out
    status, out, _ = run("check", "by_hand", "-a", "no file", "--json", "-")
    assert status == 4
    assert json.loads(out)["findings"][0]["verdict"] == "crashed"


def test_one_line_for_what_is_wrong(run: Run, tmp_path: Path) -> None:
    competition(tmp_path)
    for arguments, says in (
        (("new", "none.toml", "bundle"), "none.toml cannot be read"),
        (("new", "competition.toml", "bundle", "--platform", "x"), "'x' is not one of codabench, evalai, kaggle"),
        (("check", "nothing"), "nothing is not a folder or .zip"),
        (("check", ".", "-a", "zero"), "Unknown attack 'zero'"),
        (("make",), "No such command 'make'"),
    ):
        status, out, err = run(*arguments)
        assert (status, out) == (2, "")
        assert says in err
        assert err.startswith("Error: ")
        assert err.count("\n") == 1
    assert not Path("bundle").exists()
