"""A judge that was killed continues where it stopped, and writes the same bytes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import kept_waiting
from competitions import HONEST, organize, program
from tieproof.errors import InputError
from tieproof.trials.judge import judge
from tieproof.trials.sandbox.folders import PREFIX

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes as Unix has them"),
    pytest.mark.trials,
]

MUCH_LATER = 120.0
"""Seconds to wait; a longer wait would never end."""


def started(competition: Path, system: str, out: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, kept_waiting.__file__, str(competition), system, str(out)])


def wait_for(what: object, folder: Path, count: int) -> None:
    """Wait until so many batches were handed out."""
    deadline = time.monotonic() + MUCH_LATER
    while len(list(folder.glob("asked-*"))) < count:
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def files_of(folder: Path) -> dict[str, bytes]:
    return {place.name: place.read_bytes() for place in folder.iterdir()}


def has_ended(number: int) -> bool:
    """Whether a process has ended, even if it was not waited for."""
    try:
        return "Z" in Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_judge_that_was_killed_gives_the_same_bytes(
    tmp_path: Path, number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    competition = organize(tmp_path / "organizer", judge_batch=4, judge_runs=2)
    asked = tmp_path / "asked"
    asked.mkdir()
    code = HONEST.replace("import os, sys\n", f"import os, sys\n{kept_waiting.WAITING}")
    system = program(tmp_path / "team", code, f"{{lines}} {asked}")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    process = started(competition, system, tmp_path / "judged")
    wait_for(process, asked, 3)
    process.send_signal(number)
    assert process.wait(MUCH_LATER) == -number
    if Path("/proc").is_dir():
        deadline = time.monotonic() + MUCH_LATER
        while not all(has_ended(int(place.name.removeprefix("asked-"))) for place in asked.iterdir()):
            assert time.monotonic() < deadline
            time.sleep(0.01)
    assert [place.name for place in (tmp_path / "judged").iterdir()] == ["ours.judging"]
    assert len(list(scratch.glob(f"{PREFIX}*"))) == 1  # the items of the batch that was being answered
    (asked / "go").touch()
    assert started(competition, system, tmp_path / "judged").wait(MUCH_LATER) == 0
    assert not list(scratch.glob(f"{PREFIX}*"))
    batches = 2 * (3 + 2)
    assert len(list(asked.glob("asked-*"))) == batches + 1  # the batch that was being answered, again
    assert started(competition, system, tmp_path / "again").wait(MUCH_LATER) == 0
    assert files_of(tmp_path / "judged") == files_of(tmp_path / "again")
    assert len(files_of(tmp_path / "judged")) == 5


def test_a_journal_of_something_else_is_not_gone_on_with(tmp_path: Path) -> None:
    competition = organize(tmp_path / "organizer", judge_batch=2)
    asked = tmp_path / "asked"
    asked.mkdir()
    code = HONEST.replace("import os, sys\n", f"import os, sys\n{kept_waiting.WAITING}")
    system = program(tmp_path / "team", code, f"{{lines}} {asked}")
    process = started(competition, system, tmp_path / "judged")
    wait_for(process, asked, 3)
    with pytest.raises(InputError, match=r"Another judge is running in .*ours\.judging"):
        judge(competition, system, name="ours", out=tmp_path / "judged", seal="none")
    process.kill()
    process.wait(MUCH_LATER)
    with pytest.raises(InputError, match=r"belongs to another judgment: it differs in the system\."):
        judge(competition, f"{system} more", name="ours", out=tmp_path / "judged", seal="none")
    (tmp_path / "organizer" / "seed.txt").write_text("another seed, as long as that")
    with pytest.raises(InputError, match="it differs in the seed"):
        judge(competition, system, name="ours", out=tmp_path / "judged", seal="none")


def test_a_system_that_was_judged_is_not_judged_again_under_its_name(tmp_path: Path) -> None:
    competition, system = organize(tmp_path / "organizer"), program(tmp_path / "team", HONEST)
    judge(competition, system, name="ours", out=tmp_path / "judged")
    with pytest.raises(InputError, match=r"ours\.judgment\.json exists: a system of this name was judged already"):
        judge(competition, system, name="ours", out=tmp_path / "judged")


@pytest.mark.parametrize("content", ["{", "[" * 100_000 + "]" * 100_000])
def test_a_spoilt_journal_is_not_gone_on_with(tmp_path: Path, content: str) -> None:
    plan = tmp_path / "judged" / "ours.judging" / "plan.json"
    plan.parent.mkdir(parents=True)
    plan.write_text(content)
    with pytest.raises(InputError, match=r"plan\.json cannot be read"):
        judge(organize(tmp_path / "organizer"), "cat {lines}", name="ours", out=tmp_path / "judged", seal="none")
