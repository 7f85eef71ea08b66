"""A sealed program tries each way out of the sandbox, started by root and by an ordinary user.

`tests/tools/escapes.py` contains the program. It runs twice, so that it finds what an earlier batch has left.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import escapes
import tieproof
from tieproof.trials.competition.inspection.tasks import written_text
from tieproof.trials.sandbox import bubblewrap, limits
from tieproof.trials.sandbox.bubblewrap import SealedRoom, as_nobody, works
from tieproof.trials.sandbox.folders import (
    NOBODY,
    nobody_reads,
    opened_file,
    outermost,
    python_folders,
    readable,
    size_by,
)
from ways_out import OPEN, WAYS, page

ROOT = Path(__file__).parents[3]

sealed_only = pytest.mark.skipif(not works(), reason="bubblewrap is not installed, or may not create namespaces here")
root_only = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away"
)


@pytest.fixture(scope="module", params=["root", "a user"])
def found(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    """What the program found when it was started by root, or by an ordinary user."""
    if not works():
        pytest.skip("bubblewrap is not installed, or may not create namespaces here")
    is_root = os.geteuid() == 0
    if request.param == "root" and not is_root:
        pytest.skip("the tests are not run by root")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for place, content in {"shown/model.txt": "7", "organizer/labels.txt": "cat"}.items():
            (folder / place).parent.mkdir()
            (folder / place).write_text(content)
        words = [sys.executable, escapes.__file__, name]
        if request.param == "a user" and is_root:
            os.chown(folder, NOBODY, NOBODY)
            needed = [*python_folders(), Path(tieproof.__file__).parents[1], Path(escapes.__file__).parent]
            room = SealedRoom("/", {str(place): place for place in outermost(needed)}, {name: folder})
            words = [*as_nobody(shutil.which("bwrap") or "bwrap", room), *words]
        environment = {**os.environ, escapes.SECRET: "1"}
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, done.stderr
        yield json.loads(done.stdout)


@pytest.mark.trials
def test_a_program_is_never_root(found: dict[str, Any]) -> None:
    assert 0 not in found["uids"]
    assert found["users"] == [NOBODY if os.geteuid() == 0 else os.geteuid()]
    assert found["capabilities"] == [0] * 5
    assert found["no_new_privileges"] == "1"


def test_a_program_cannot_remount_a_folder(found: dict[str, Any]) -> None:
    assert not found["remounted"]
    assert not found["mounted"]
    assert not found["unmounted"]
    assert not found["namespace"]
    assert not found["entered"]


def test_a_program_cannot_reach_other_files(found: dict[str, Any]) -> None:
    assert not found["secret"]
    assert not found["labels"]
    assert not found["written"]


def test_a_program_cannot_read_the_environment(found: dict[str, Any]) -> None:
    assert not found["environment"]
    assert not found["environments"]


def test_a_program_cannot_change_settings_of_the_kernel(found: dict[str, Any]) -> None:
    assert not found["settings"]
    assert not found["sys"]


def test_a_program_cannot_reach_other_processes(found: dict[str, Any]) -> None:
    assert found["processes"] == 2
    assert not found["signaled"]
    assert not found["seen"]


def test_a_program_cannot_reach_the_network(found: dict[str, Any]) -> None:
    assert not found["network"]
    assert not found["abstract"]
    assert not found["families"]


def test_a_program_cannot_use_devices(found: dict[str, Any]) -> None:
    assert not found["devices"]
    assert not found["made_device"]


def test_a_program_inherits_nothing_that_is_open(found: dict[str, Any]) -> None:
    assert not found["terminal"]
    assert not found["descriptors"]


def test_a_program_cannot_leave_a_key(found: dict[str, Any]) -> None:
    assert not found["keys"]
    assert not found["keys_made"]
    assert not found["listed_keys"]


def test_a_program_cannot_leave_shared_memory(found: dict[str, Any]) -> None:
    assert not found["system_v"]
    assert not found["queue"]


def test_a_program_cannot_leave_a_file(found: dict[str, Any]) -> None:
    assert not found["left"]
    assert not found["meeting"]
    assert not found["locked"]
    assert not found["times"]
    assert not found["time_set"]
    assert not found["node_changed"]
    assert not found["node_open"]
    assert not found["locks"]
    assert not found["left_on_files"]


def test_a_program_cannot_watch_other_programs(found: dict[str, Any]) -> None:
    assert not found["watched"]
    assert not found["looked"]


def test_a_program_cannot_set_room_aside(found: dict[str, Any]) -> None:
    assert not found["set_aside"]
    assert not found["attributes"]
    assert found["enlarged"]  # what stays below the size of the file is allowed


@pytest.mark.parametrize(
    ("size", "on_disk", "counted"),
    [(10, 4096, 10), (2**20, 2**21, 2**20), (2**30, 0, 2**30), (0, 2**20, 2**20), (2**20, 2**22, 2**22)],
)
def test_room_that_is_set_aside_is_counted(size: int, on_disk: int, counted: int) -> None:
    """Holes count as they are read; what a file system itself sets aside for a growing file does not count."""
    assert size_by(cast("os.stat_result", SimpleNamespace(st_size=size, st_blocks=on_disk // 512))) == counted


def test_a_program_cannot_keep_memory_in_pipes(found: dict[str, Any]) -> None:
    assert not found["kept_in_pipes"]
    assert found["locked_memory"] == [0, 0]


def test_a_program_cannot_avoid_the_filter(found: dict[str, Any]) -> None:
    assert not found["newer"]


def test_a_program_cannot_leave_a_process(found: dict[str, Any]) -> None:
    assert not found["daemons"]


def test_a_program_cannot_use_more_memory_in_files(found: dict[str, Any]) -> None:
    assert not found["memfd"]
    assert all(0 < size <= escapes.MOST for size in found["filled"])


def test_a_program_cannot_start_hundreds_of_processes(found: dict[str, Any]) -> None:
    assert 0 < found["started"] <= limits.PROCESSES
    assert found["opened"] <= limits.OPEN_FILES


def test_a_program_cannot_write_thousands_of_files(found: dict[str, Any]) -> None:
    assert found["files_noticed"]


def test_a_program_cannot_hand_in_what_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("labels")
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    os.link(tmp_path / "secret", tmp_path / "second name")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(bytes(11))
    (tmp_path / "device").symlink_to("/dev/zero")
    (tmp_path / "folder").mkdir()
    for name in ("link", "second name", "pipe", "large", "device", "folder", "nothing"):
        assert opened_file(tmp_path / name, 10) is None
        if name != "large":
            with pytest.raises(OSError, match="is not a regular file of at most 1,048,576 bytes"):
                written_text(tmp_path / name)


def test_the_report_says_that_nodes_can_be_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap, "_keeps_nodes", lambda: False)
    assert [each for each in bubblewrap.gaps() if each.startswith("The times of device nodes could be set")]


def test_every_way_of_the_table_is_tried() -> None:
    named = [way.test for way in WAYS]
    assert len(set(named)) == len(named)
    assert set(named) <= globals().keys()


def test_the_page_shows_the_table() -> None:
    words = (ROOT / "SECURITY.md").read_text("utf-8").split()  # its lines are wrapped
    assert " ".join(page().split()) in " ".join(words)
    assert OPEN


@root_only
@sealed_only
def test_a_file_that_only_root_may_read_is_shown_as_a_copy(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir(mode=0o755)
    (folder / "weights").write_text("7")
    assert nobody_reads(str(folder))
    with readable([folder]) as shown:
        assert shown == {str(folder): folder}
    (folder / "weights").chmod(0o600)
    with readable([folder]) as shown:
        copy = shown[str(folder)] / "weights"
        assert (copy.read_text(), copy.stat().st_uid) == ("7", NOBODY)
    assert not copy.exists()
    found = (folder / "weights").stat()
    assert (found.st_mode & 0o777, found.st_uid) == (0o600, 0)


def test_a_control_group_limits_all_processes_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plain folder replaces the system's, so this shows what would be written, not that the kernel obeys."""
    around = tmp_path / "user.slice" / "app.slice"
    (around / "own.scope").mkdir(parents=True)
    (around / "cgroup.subtree_control").write_text("cpu memory pids\n")
    (around / "cgroup.procs").touch()
    (tmp_path / "cgroup").write_text("1:name=systemd:/elsewhere\n0::/user.slice/app.slice/own.scope\n")
    monkeypatch.setattr(limits, "GROUPS", tmp_path)
    monkeypatch.setattr(limits, "OWN_GROUP", tmp_path / "cgroup")
    monkeypatch.setattr(limits, "END_SECONDS", 0)
    with limits.group(2**20) as made:
        assert made is not None
        assert made.parent == around
        written = {place.name: place.read_text() for place in made.iterdir()}
        assert written == {"memory.max": "1048576", "memory.swap.max": "0", "pids.max": str(limits.PROCESSES)}
        tree = limits.launched(["true"], os.environ, limits.ProgramLimits(None, 2**20), made)
        tree.process.wait(60)
        assert (tree.end(), (made / "cgroup.procs").read_text()) == (0, "0")
    assert (made / "cgroup.kill").read_text() == "1"
    with limits.group(None) as none:
        assert none is None
    assert not limits.holds(tmp_path / "nothing")
    (around / "cgroup.subtree_control").write_text("cpu\n")
    assert limits.place_for_groups() is None
    (tmp_path / "cgroup").write_text("0::/\n")
    assert limits.place_for_groups() is None


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt others")
def test_a_daemon_of_an_unsealed_program_does_not_outlive_it(tmp_path: Path) -> None:
    """It leaves the session and the environment, and its parents have ended, but the launcher has adopted it."""
    seconds = f"98766.{os.getpid()}"
    code = (
        "import os\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        f"    if os.fork() == 0: os.execve('/usr/bin/env', ['env', '-i', 'sleep', '{seconds}'], {{}})\n"
        "    os._exit(0)\n"
        "os.wait()\n"
        "import time; time.sleep({pause})\n"
    )
    for pause in ("0", "100"):  # the program ends by itself, or is ended
        words = [sys.executable, "-I", "-S", "-c", code.replace("{pause}", pause)]
        tree = limits.launched(words, os.environ, limits.ProgramLimits(None, 2**20))
        while pause == "100" and f"sleep {seconds}" not in running():
            time.sleep(0.01)
        tree.process.wait(60) if pause == "0" else None
        tree.end()
        assert f"sleep {seconds}" not in running()


def running() -> str:
    """The command lines of all processes."""
    return subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent has ended")
def test_a_program_ends_with_a_judge_that_is_killed() -> None:
    seconds = f"98767.{os.getpid()}"
    code = (
        "import os, time\n"
        "from tieproof.trials.sandbox.limits import ProgramLimits, launched\n"
        f"launched(['sleep', '{seconds}'], os.environ, ProgramLimits(None, 2**20))\n"
        "time.sleep(500)\n"
    )
    judge = subprocess.Popen([sys.executable, "-c", code])
    while f"sleep {seconds}" not in running():
        time.sleep(0.01)
    judge.kill()
    judge.wait()
    while f"sleep {seconds}" in running():
        time.sleep(0.01)
