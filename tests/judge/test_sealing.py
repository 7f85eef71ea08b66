"""A sealed system that looks for the labels finds nothing; without a seal, the report states what it could read.

The spies answer with what they find, so that their answers show it.
"""

import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from competitions import HEAD, HONEST, PRINT, organize, program
from tieproof.errors import InputError
from tieproof.trials.judge import Judgment, Seal, judge
from tieproof.trials.judge.systems import UNSEALED, How, as_system, choose_seal
from tieproof.trials.sandbox import bubblewrap

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes as Unix has them")

sealed_only = pytest.mark.skipif(not bubblewrap.works(), reason="needs bubblewrap, and namespaces")

SECRET = "TIEPROOF_TEST_SECRET"

SPY = """
import socket
def reads(path):
    try:
        return open(path, "rb").read()
    except OSError:
        return b""
def reaches(port):
    try:
        socket.create_connection(("127.0.0.1", port), 5).close()
        return True
    except OSError:
        return False
organizer, port, judge = {organizer!r}, {port}, {judge}
found = [
    b"puppy" in reads(os.path.join(organizer, "items.txt")) or b"cow" in reads(os.path.join(organizer, "labels.txt")),
    "SECRET" in repr(dict(os.environ)),
    b"SECRET" in reads(f"/proc/{judge}/environ"),
    reaches(port),
    any("labels.txt" in names for _, _, names in os.walk(os.path.dirname(organizer))),
]
for name, word in lines: print(name, *map(int, found), len(word), sep=",")
"""

LABELS, ENVIRONMENT, JUDGE, NETWORK, OTHERS = range(5)


@pytest.fixture
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=accept, args=[server], daemon=True).start()
        yield server.getsockname()[1]


def accept(server: socket.socket) -> None:
    try:
        while True:
            server.accept()[0].close()
    except OSError:
        pass


def spied(folder: Path, port: int, seal: How) -> tuple[Judgment, list[bool]]:
    """The judgment of a spy, and its findings."""
    competition = organize(folder / "organizer", judge_batch=100, judge_repeats=0)
    code = SPY
    for name, value in {"organizer!r": repr(str(folder / "organizer")), "port": port, "judge": os.getpid()}.items():
        code = code.replace(f"= {{{name}}}", f"= {value}").replace(f", {{{name}}}", f", {value}")
    system = program(folder / "team", PRINT + code)
    judgment = judge(competition, system, name="spy", out=folder / "judged", seal=seal)
    assert judgment.refused == ({},)
    answers = np.load(folder / "judged" / "spy.run-1.npy")
    return judgment, answers[0, :5].astype(bool).tolist()


@sealed_only
def test_a_spy_finds_nothing_under_bubblewrap(tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET, "SECRET")
    judgment, found = spied(tmp_path, port, "bubblewrap")
    assert found == [False] * 5
    assert judgment.seal.by in ("bubblewrap, limits by cgroup", "bubblewrap, limits by process")
    assert judgment.seal.not_sealed == tuple(bubblewrap.gaps())


def test_without_a_seal_the_report_says_what_a_spy_finds(
    tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SECRET, "SECRET")
    judgment, found = spied(tmp_path, port, "none")
    assert found[LABELS]
    assert found[NETWORK]
    assert found[OTHERS]
    assert not found[ENVIRONMENT]
    assert judgment.seal.by == "nothing"
    assert set(UNSEALED) <= set(judgment.seal.not_sealed)
    assert "Not sealed." in str(judgment)
    assert UNSEALED[0] in " ".join(judgment.to_text(explain=True).split())


def test_a_sandbox_that_does_not_work_is_noticed_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If bwrap is installed but may not create namespaces, as in many containers, the report says so."""
    broken = tmp_path / "bin" / "bwrap"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{broken.parent}:{os.environ['PATH']}")
    bubblewrap.works.cache_clear()
    try:
        judgment = judge(
            organize(tmp_path / "o"), program(tmp_path / "t", HONEST), name="ours", out=tmp_path / "judged"
        )
        assert judgment.seal.by == "nothing"
        with pytest.raises(InputError, match=r"bubblewrap \(bwrap\) is not installed, or may not create namespaces"):
            judge(tmp_path / "o" / "competition.toml", "cat {lines}", name="b", out=tmp_path / "b", seal="bubblewrap")
    finally:
        bubblewrap.works.cache_clear()


def test_a_seal_refuses_a_shim_of_pyenv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shim starts a program that the seal hides, so it would fail in every batch without a clear reason."""
    shim = tmp_path / "shims" / "python3"
    shim.parent.mkdir()
    shim.write_text('#!/usr/bin/env bash\nexec pyenv exec "${0##*/}" "$@"\n')
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", str(shim.parent))
    system = as_system("python3 {lines}")
    monkeypatch.setattr(bubblewrap, "works", lambda: True)
    with pytest.raises(
        InputError, match=f"program {shim} of the system only starts another .* 'pyenv which python3'"
    ):
        choose_seal(system, "auto")
    assert choose_seal(system, "none").by == "nothing"


def test_the_program_behind_a_shim_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program and the installation around it are shown, not the shim, which could start nothing."""
    installed, shims = tmp_path / "versions" / "3.13.1" / "bin" / "python3", tmp_path / "shims"
    for place, text in (
        (installed, "#!/bin/sh\n"),
        (shims / "python3", "#!/bin/sh\nexit 1\n"),
        (shims / "pyenv", f'#!/bin/sh\ntest "$*" = "which python3" && echo {installed}\n'),
    ):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        place.chmod(0o755)
    monkeypatch.setenv("PATH", str(shims))
    monkeypatch.setattr(bubblewrap, "works", lambda: True)
    system = as_system("python3 {lines}")
    assert system.command == (str(installed), "{lines}")
    assert set(system.shows) == {installed, installed.parents[1]}
    assert choose_seal(system, "auto").by.startswith("bubblewrap")


@sealed_only
def test_a_system_leaves_nothing_for_its_next_batch(tmp_path: Path) -> None:
    """All files that a system writes, in its folder or elsewhere, are removed, so that it remembers nothing."""
    code = f"""{PRINT}
found = sum(os.path.exists(place) for place in ("/tmp/left", "/judge/left", os.path.expanduser("~/left")))
for place in ("/tmp/left", "/judge/left", "/usr/left", {str(tmp_path)!r} + "/left"):
    try:
        open(place, "w").close()
    except OSError:
        pass
for name, word in lines: print(name, found, len(word), sep=",")
"""
    system = program(tmp_path / "team", code)
    judge(organize(tmp_path / "organizer"), system, name="ours", out=tmp_path / "judged", seal="bubblewrap")
    assert not np.load(tmp_path / "judged" / "ours.run-1.npy")[:, 0].any()
    assert not list(tmp_path.rglob("left"))
    assert not Path("/usr/left").exists()


def test_nothing_about_an_item_is_in_what_a_system_is_given(tmp_path: Path) -> None:
    """Names are random; times, sizes of folders and the order of files reveal nothing about the organizer's files."""
    code = f"""{HEAD}
found = [os.stat(os.path.join(items, name)) for name in names]
same = len({{(each.st_mtime, each.st_mode) for each in found}}) == 1
named = all(len(name) == 20 and name.endswith(".txt") for name in names)
with open(answers, "w") as file:
    for name in names: print(name[:-4], int(same), int(named), sep=",", file=file)
"""
    system = program(tmp_path / "team", code, "{items} {answers}")
    judgment = judge(organize(tmp_path / "organizer"), system, name="ours", out=tmp_path / "judged")
    assert judgment.refused == ({},)
    assert np.load(tmp_path / "judged" / "ours.run-1.npy").tolist() == [[1.0, 1.0]] * 12


@pytest.mark.trials
@sealed_only
@pytest.mark.parametrize(
    "place", ["/tmp/{at}", "/dev/shm/{at}", "/judge/{at}", "/{at}", "/dev/{at}", "/judge/items/{at}"]
)
def test_a_system_cannot_fill_the_memory_with_files(tmp_path: Path, place: str) -> None:
    """The sizes of many files, each within the limit, are added up, or the files cannot be written at all."""
    code = f"import time\nfor at in range(40): open(f{place!r}, 'wb').write(b'x' * 100_000)\ntime.sleep(100)\n"
    limits = {"judge_output": "1MB", "judge_seconds": 60, "judge_batch": 100, "judge_repeats": 0}
    competition = organize(tmp_path / "organizer", **limits)
    judgment = judge(competition, program(tmp_path / "team", code), name="full", out=tmp_path / "judged")
    refused = [{"crashed": 12}]  # the folder is full, or cannot be written to at all
    if place not in ("/{at}", "/dev/{at}", "/judge/items/{at}"):
        refused.append({"too much output": 12})  # the judge may notice first that it is full
    assert judgment.refused[0] in refused


@pytest.mark.parametrize("shown", ["organizer", "organizer/labels.txt", "."])
def test_a_system_is_not_shown_the_secrets(tmp_path: Path, shown: str) -> None:
    competition, system = organize(tmp_path / "organizer"), program(tmp_path / "team", HONEST)
    with pytest.raises(InputError, match=r"The system may read .* which contains the secret"):
        judge(competition, system, name="ours", out=tmp_path / "judged", show=[tmp_path / shown])
    with pytest.raises(InputError, match=r"which contains the secret .*labels\.txt\."):
        judge(competition, f"cat {{lines}} {tmp_path}/organizer/labels.txt", name="ours", out=tmp_path / "judged")


@pytest.mark.trials
@sealed_only
def test_a_system_sees_what_it_is_shown(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "weights").write_text("7")
    code = f"{PRINT}weight = open({str(tmp_path / 'model' / 'weights')!r}).read()\n"
    code += "for name, word in lines: print(name, weight, len(word), sep=',')\n"
    competition, system = organize(tmp_path / "organizer"), program(tmp_path / "team", code)
    blind = judge(competition, system, name="blind", out=tmp_path / "judged", seal="bubblewrap")
    assert blind.refused == ({"crashed": 12},)
    judge(competition, system, name="ours", out=tmp_path / "judged", seal="bubblewrap", show=[tmp_path / "model"])
    assert (np.load(tmp_path / "judged" / "ours.run-1.npy")[:, 0] == 7).all()


ENGINE = """#!{python} -IS
import json, os, subprocess, sys
open({log!r}, "a").write(json.dumps(sys.argv[1:]) + "\\n")
if sys.argv[1] == "run":
    at = next(place for place, word in enumerate(sys.argv) if word == "image")
    volume = next(word for word in sys.argv if word.startswith("--volume=")).removeprefix("--volume=")
    folder, _, inside = volume.rpartition(":")
    words = [word.replace(inside, folder) for word in sys.argv[at + 1 :]]
    sys.exit(subprocess.run(words).returncode)
"""
"""Replaces podman: it records its arguments, and runs the command of the image on this machine."""


@pytest.mark.parametrize("engine", ["podman", "docker"])
def test_an_image_runs_without_network_and_is_removed(
    tmp_path: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, place = tmp_path / "calls", tmp_path / "bin" / engine
    place.parent.mkdir()
    place.write_text(ENGINE.format(python=sys.executable, log=str(log)))
    place.chmod(place.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{place.parent}:{os.environ['PATH']}")
    command = program(tmp_path / "team", HONEST)
    competition = organize(tmp_path / "organizer", judge_batch=100, judge_repeats=0)
    judgment = judge(competition, f"{engine}:image {command}", name="ours", out=tmp_path / "judged")
    assert judgment.refused == ({},)
    assert judgment.seal == Seal(engine, ())
    run, removed = (line for line in log.read_text().splitlines())
    for option in ("--network=none", "--read-only", "--cap-drop=ALL", "--pull=never", f"--memory={4 * 2**30}"):
        assert f'"{option}"' in run
    assert '["rm", "--force", "tieproof-locked-' in removed


def test_a_judge_leaves_no_process(tmp_path: Path) -> None:
    """A judge ends all processes of a system, even if they leave the session or if the time is over."""
    mark = f"sleep 98765.{os.getpid()}"
    code = f"import subprocess\nfor _ in range(3): subprocess.Popen({mark.split()!r}, start_new_session=True)\n"
    competition = organize(tmp_path / "organizer", judge_batch=100, judge_repeats=0)
    chosen: tuple[How, ...] = ("none", "auto")
    for seal in chosen:
        judge(competition, program(tmp_path / "team", code), name=seal, out=tmp_path / "judged", seal=seal)
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert mark not in running
