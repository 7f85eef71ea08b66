"""How the kernels are compiled, for this machine and for others, with a compiler and without."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tieproof.native import building
from tieproof.native.building import TARGETS, BuildTarget, compile_kernels, compiler, march, system_compiler, zig_of

ROOT = Path(__file__).parents[2]
Patch = pytest.MonkeyPatch


@pytest.fixture(autouse=True)
def asked_anew() -> Iterator[None]:
    """Forget the compiler that was found, because it depends on the environment, which tests change."""
    system_compiler.cache_clear()
    yield
    system_compiler.cache_clear()


def test_a_compiler_that_cannot_do_it_is_none(monkeypatch: Patch) -> None:
    monkeypatch.setenv("CC", sys.executable)
    assert system_compiler() is None


@pytest.mark.skipif(sys.platform == "win32", reason="the compiler here is a script of a Unix shell")
@pytest.mark.parametrize("folder", ["my tools", "back\\slashes"])
def test_the_path_of_a_compiler_may_contain_any_character(monkeypatch: Patch, tmp_path: Path, folder: str) -> None:
    monkeypatch.delenv("CC", raising=False)
    known = system_compiler()
    if known is None:
        pytest.skip("this machine has no C compiler")
    (tmp_path / folder).mkdir()
    path = tmp_path / folder / "cc"
    path.write_text(f'#!/bin/sh\nexec {" ".join(known)} "$@"\n')
    path.chmod(0o755)
    system_compiler.cache_clear()
    monkeypatch.setenv("CC", str(path))
    assert system_compiler() == (str(path),)


def test_no_compiler_at_all(monkeypatch: Patch, tmp_path: Path) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert system_compiler() is None
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(RuntimeError, match=r"No C compiler was found\. Install gcc, clang, or the package ziglang\."):
        compiler(building.this_machine())


def test_zig_compiles_for_others(monkeypatch: Patch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    for target in TARGETS.values():
        assert compiler(target) == [sys.executable, "-m", "ziglang", "cc", "-target", target.zig]
    assert march("x86-64-v3", zig=True) == ["-mcpu=x86_64_v3"]
    assert march("aarch64", zig=True) == ["-mcpu=baseline"]


MACHINES = {
    ("linux", "x86_64", "glibc"): "x86_64-linux-gnu.2.17",
    ("linux", "aarch64", "glibc"): "aarch64-linux-gnu.2.17",
    ("linux", "x86_64", ""): "x86_64-linux-musl",
    ("darwin", "arm64", ""): "aarch64-macos.11.0",
    ("win32", "AMD64", ""): "x86_64-windows-gnu",
    ("linux", "riscv64", "glibc"): None,
}


@pytest.mark.parametrize("machine", MACHINES, ids=" ".join)
def test_zig_is_told_what_machine_this_is(monkeypatch: Patch, machine: tuple[str, str, str]) -> None:
    """Otherwise, it looks for headers of a C library, which machines without a compiler rarely have."""
    system, architecture, libc = machine
    monkeypatch.setattr("sys.platform", system)
    monkeypatch.setattr("platform.machine", lambda: architecture)
    monkeypatch.setattr("platform.libc_ver", lambda: (libc, ""))
    assert zig_of(building.this_machine()) == MACHINES[machine]


def test_the_error_contains_the_message_of_the_compiler(tmp_path: Path) -> None:
    (tmp_path / "kept").touch()
    with pytest.raises(RuntimeError, match=r"kernels\.c(.|\n)*no-such-flag"):
        compile_kernels(str(tmp_path), building.this_machine(), ["--no-such-flag"])
    assert [file.name for file in tmp_path.iterdir()] == ["kept"]


@pytest.mark.long
def test_a_library_is_the_same_wherever_it_is_made_and_takes_the_place_of_an_old_one(tmp_path: Path) -> None:
    here = building.this_machine()
    one, made = BuildTarget(here.levels[:1], here.suffix, None, here.tag), []
    for name in ("here", "here", "elsewhere/deeper"):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
        made += compile_kernels(str(tmp_path / name), one, ["-O0"])
        assert Path(made[-1]).name == f"kernels-{here.levels[0]}{here.suffix}"
        assert len(list((tmp_path / name).glob("*.*"))) == 1
    assert Path(made[0]).read_bytes() == Path(made[-1]).read_bytes()
    assert str(tmp_path).encode() not in Path(made[0]).read_bytes()


@pytest.mark.parametrize("name", TARGETS)
def test_zig_writes_no_folder_into_a_library(monkeypatch: Patch, tmp_path: Path, name: str) -> None:
    """Debug information contains paths, and so does a library for macOS without a name of its own."""
    commands: list[list[str]] = []

    def written(command: list[str]) -> None:
        commands.append(command)
        Path(command[-1]).touch()

    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    monkeypatch.setattr(building, "run", written)
    files = compile_kernels(str(tmp_path), TARGETS[name])
    for command in commands:
        assert ("-s" if "-shared" in command else "-g0") in command
    named = {part for command in commands for part in command if "install_name" in part}
    dylibs = [Path(file).name for file in files if file.endswith(".dylib")]
    assert named == {f"-Wl,-install_name,@rpath/{file}" for file in dylibs}


def test_wheels_are_made_for_the_platforms_that_there_are() -> None:
    named = re.search(r"^PLATFORMS = (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert named is not None
    assert named[1].split() == list(TARGETS)


def test_it_runs_before_anything_is_installed() -> None:
    """Neither tieproof nor NumPy is installed when a wheel is built."""
    program = "import building, sys; print(not {'numpy', 'tieproof'} & set(sys.modules))"
    folder = ROOT / "src" / "tieproof" / "native"
    done = subprocess.run(
        [sys.executable, "-S", "-c", program], cwd=folder, capture_output=True, text=True, check=True
    )
    assert done.stdout == "True\n"


def test_wheels_leave_out_the_sources_of_kernels() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        wheel = tomllib.load(file)["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["exclude"] == ["src/tieproof/native/kernels"]


def test_templates_are_where_they_are_looked_for() -> None:
    """Next to their modules, in a folder that the wheel contains completely."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    assert settings["targets"]["wheel"]["packages"] == ["src/tieproof"]
    assert settings["targets"]["wheel"]["exclude"] == ["src/tieproof/native/kernels"]
    templates = {path.name for path in (ROOT / "src/tieproof/show/pages/templates").iterdir()}
    ignored = subprocess.run(["git", "check-ignore", *templates], cwd=ROOT, capture_output=True, text=True)
    assert ignored.stdout == ""
    assert {"page.html", "page.css", "page.js", "result.html"} <= templates
