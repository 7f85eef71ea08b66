"""Machine code on disk: whatever happens to it costs time and nothing else; and what people are told meanwhile."""

import io
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.caching import IndexDataCacheFile

import tieproof as tp
from tieproof.native import compiled, waiting
from tieproof.native.compiled import KernelCache, SealedFile, kernel
from tieproof.native.sources import read, state
from tieproof.native.waiting import Wait, shown_waits

Patch = pytest.MonkeyPatch


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: Patch) -> Path:
    """Where machine code is kept meanwhile."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiled.WAIT, "what", compiled.WAIT.what)  # put back, where nothing could be kept
    return tmp_path


def triple() -> Any:
    """A kernel that nobody has called in this process."""

    def three_times(x: Any) -> Any:
        return 3 * x

    return kernel(three_times)


def checked(function: Any) -> int:
    """How often code came from the disk; what it computes is right."""
    assert function(14) == 42
    assert function(0.5) == 1.5
    return sum(function.stats.cache_hits.values())


def files(folder: Path, kind: str) -> list[Path]:
    found = sorted(folder.rglob(f"*.{kind}"))
    assert found
    return found


def test_code_is_read_from_disk(folder: Path) -> None:
    assert [checked(triple()) for _ in range(3)] == [0, 2, 2]


DAMAGES: dict[str, Callable[[bytes, np.random.Generator], bytes]] = {
    "empty": lambda content, random: b"",
    "something else": lambda content, random: b"<html>Not found</html>",
    "half": lambda content, random: content[: len(content) // 2],
    "one byte short": lambda content, random: content[:-1],
    "zeros at the end": lambda content, random: (
        content[: len(content) // 2] + bytes(len(content) - len(content) // 2)
    ),
    **{f"a bit flipped, {i}": lambda content, random: flipped(content, random) for i in range(12)},
}


def flipped(content: bytes, random: np.random.Generator) -> bytes:
    place = int(random.integers(len(content)))
    return content[:place] + bytes([content[place] ^ 1 << int(random.integers(8))]) + content[place + 1 :]


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files(damage: str, kind: str, folder: Path) -> None:
    checked(triple())
    random = np.random.default_rng(len(damage) + list(DAMAGES).index(damage))
    for path in files(folder, kind):
        path.write_bytes(DAMAGES[damage](path.read_bytes(), random))
    assert checked(triple()) <= 2
    checked(triple())
    assert checked(triple()) == 2  # they are repaired


def test_the_code_of_another_signature_is_not_run(folder: Path) -> None:
    checked(triple())
    first, second = files(folder, "nbc")
    first.write_bytes(second.read_bytes())
    assert checked(triple()) < 2


def fails(*_: Any, **__: Any) -> Any:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("what", ["reading", "writing", "both", "no folder"])
def test_a_disk_that_fails(what: str, folder: Path, monkeypatch: Patch) -> None:
    checked(triple())
    if what in ("reading", "both"):
        monkeypatch.setattr(IndexDataCacheFile, "_load_index", fails)
    if what in ("writing", "both"):
        monkeypatch.setattr(SealedFile, "_open_for_write", fails)
        for path in files(folder, "nbc"):
            path.unlink()
    if what == "no folder":
        monkeypatch.setattr(KernelCache._impl_class, "_locator_classes", [])
    assert [checked(triple()) for _ in range(2)] == [0, 0]


def test_a_folder_that_goes_away(folder: Path) -> None:
    function = triple()
    for path in folder.iterdir():
        path.rmdir()
    folder.rmdir()
    folder.write_text("in its way")
    assert checked(function) == 0


FULL = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
sys.path.insert(0, {tests!r})
import test_compiled
print(test_compiled.checked(test_compiled.triple()))
"""


@pytest.mark.skipif(os.name == "nt", reason="no such limit there")
def test_a_full_disk(tmp_path: Path) -> None:
    """No file can be longer than 64 bytes."""
    for _ in range(2):
        result = subprocess.run(
            [sys.executable, "-c", FULL.format(tests=str(Path(__file__).parent))],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        assert (result.stdout, result.returncode) == ("0\n", 0), result.stderr
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.stat().st_size]


# Machine code of other source

TOY = {
    "__init__.py": "",
    "numbers/__init__.py": "",
    "numbers/factors.py": "FACTOR = 3\n",
    "parts.py": """
from tieproof.native.compiled import part
from toy.numbers import factors
FACTOR = factors.FACTOR
@part
def times(x):
    return FACTOR * x
""",
    "aside.py": "",
    "kernels.py": """
from tieproof.native.compiled import kernel
from toy.parts import (
    times,
)
@kernel
def add_one(x):
    return times(x) + 1
""",
}
CALL = "from toy.kernels import add_one; print(add_one(14), sum(add_one.stats.cache_hits.values()))"


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """A kernel, a part of it in another file, and a number of that in a third."""
    for name, text in TOY.items():
        path = tmp_path / "toy" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path / "toy"


def called(toy: Path) -> tuple[int, int]:
    """What the kernel computes in a fresh process, and how often code came from the disk."""
    environment = {**os.environ, "PYTHONPATH": str(toy.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("NUMBA_CACHE_DIR", None)
    command = [sys.executable, "-c", CALL]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200, check=True)
    value, hits = ended.stdout.split()
    return int(value), int(hits)


@pytest.mark.parametrize(
    ("changed", "by", "value"),
    [
        ("kernels.py", ("+ 1", "+ 2"), 44),
        ("parts.py", ("* x", "* x * x"), 589),
        ("numbers/factors.py", ("3", "4"), 57),
    ],
)
def test_a_change_of_any_source_of_a_kernel_is_seen(changed: str, by: tuple[str, str], value: int, toy: Path) -> None:
    assert called(toy) == (43, 0)
    assert called(toy) == (43, 1)
    path = toy / changed
    path.write_text(path.read_text().replace(*by))
    assert called(toy) == (value, 0)
    assert called(toy) == (value, 1)


def test_a_change_of_what_a_kernel_does_not_use_costs_nothing(toy: Path) -> None:
    assert called(toy) == (43, 0)
    (toy / "aside.py").write_text("FACTOR = 5\n")
    assert called(toy) == (43, 1)


def test_parts_and_types_are_among_the_sources_of_our_kernels() -> None:
    folder = str(Path(tp.__file__).parents[1])
    found, waiting = set(), {"tieproof.engine.buckets"}
    while waiting:
        found.add(name := waiting.pop())
        waiting |= read(name, folder, state(name, folder))[1] - found
    assert {f"tieproof.{name}" for name in ("engine.masks", "engine.structures", "native.compiled")} <= found
    assert not [name for name in found if name.startswith(("tieproof.cli", "tieproof.views"))]


# What people are told


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def at_a_terminal(monkeypatch: Patch) -> Terminal:
    """Standard error, which pytest puts back between a fixture and its test."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


def test_a_long_wait_is_explained_once(monkeypatch: Patch) -> None:
    terminal = at_a_terminal(monkeypatch)
    monkeypatch.setattr(waiting, "SECONDS", 0.05)
    wait = Wait("waiting for Godot")
    with shown_waits(True):
        for _ in range(2):
            wait.begin()
            time.sleep(0.2)
            wait.end()
    assert terminal.getvalue() == "waiting for Godot\n"


def test_short_waits_add_up(monkeypatch: Patch) -> None:
    terminal = at_a_terminal(monkeypatch)
    monkeypatch.setattr(waiting, "SECONDS", 0.2)
    wait = Wait("waiting for Godot")
    with shown_waits(True):
        wait.begin()
        time.sleep(0.01)
        wait.end()
        time.sleep(0.3)  # nobody waits
        assert not terminal.getvalue()
        for _ in range(50):
            wait.begin()
            time.sleep(0.02)
            wait.end()
    assert terminal.getvalue() == "waiting for Godot\n"


def test_pieces_within_pieces_are_one_wait(monkeypatch: Patch) -> None:
    monkeypatch.setattr(waiting, "SECONDS", 60.0)
    wait, before = Wait("waiting for Godot"), threading.active_count()
    for _ in range(3):
        wait.begin()
    assert threading.active_count() <= before + 1
    for _ in range(3):
        wait.end()
    assert wait.timer is None
    assert not wait.said


@pytest.mark.parametrize(("shown", "is_terminal"), [(False, True), (True, False), (False, False)])
def test_nobody_who_does_not_look_is_told(shown: bool, is_terminal: bool, monkeypatch: Patch) -> None:
    monkeypatch.setattr(waiting, "_asked", False)
    stream = Terminal() if is_terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with shown_waits(shown):
        Wait("waiting for Godot").say()
    with shown_waits(True):
        pass
    Wait("waiting for Godot").say()
    assert not stream.getvalue()


def test_a_log_is_told_in_any_case(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="tieproof"):
        Wait("waiting for Godot").say()
    assert caplog.messages == ["waiting for Godot"]


def test_compiling_is_such_a_wait(folder: Path, monkeypatch: Patch) -> None:
    terminal = at_a_terminal(monkeypatch)
    monkeypatch.setattr(waiting, "SECONDS", 0.0)
    monkeypatch.setattr(compiled, "WAIT", Wait(compiled.KEPT))
    with shown_waits(True):
        checked(triple())
    assert terminal.getvalue() == f"{compiled.KEPT}\n"
    monkeypatch.setattr(compiled, "WAIT", Wait(compiled.KEPT))
    terminal.truncate(0)
    with shown_waits(True):
        assert checked(triple()) == 2  # read from disk: nobody waits
        numba.njit(lambda x: x + 1)(1)  # somebody else's
    assert not terminal.getvalue()


def test_where_nothing_can_be_kept_it_says_what_to_do(folder: Path, monkeypatch: Patch) -> None:
    terminal = at_a_terminal(monkeypatch)
    monkeypatch.setattr(waiting, "SECONDS", 0.0)
    monkeypatch.setattr(compiled, "WAIT", Wait(compiled.KEPT))
    monkeypatch.setattr(KernelCache._impl_class, "_locator_classes", [])
    with shown_waits(True):
        checked(triple())
    assert "in every process; let NUMBA_CACHE_DIR name a folder" in terminal.getvalue()


CALLS: dict[str, Callable[..., Any]] = {
    "evaluate": tp.evaluate,
    "collisions": tp.collisions,
    "fnmr_at_fmr": tp.fnmr_at_fmr,
}


@pytest.mark.parametrize("progress", [True, False])
@pytest.mark.parametrize("call", CALLS)
def test_who_asks_for_progress_is_told(call: str, progress: bool, monkeypatch: Patch) -> None:
    terminal = at_a_terminal(monkeypatch)
    wait = Wait("waiting for Godot")

    def distance(x: Any, y: Any) -> Any:
        wait.say()
        return -(x @ y.T)

    CALLS[call](np.eye(4), [0, 0, 1, 1], distance=distance, progress=progress)
    assert ("waiting for Godot\n" in terminal.getvalue()) == progress
