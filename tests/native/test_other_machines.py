"""The same bits on another machine: calls of kernels that were recorded here are repeated on ARM, by qemu.

The compiler is `ziglang` or Debian's. The driver is also run on this machine, to check the driver itself.
"""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import pytest

from tieproof.native.building import FLAGS, SOURCES, compiler, this_machine

TOOLS = Path(__file__).parents[1] / "tools"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recorded calls of kernels, and their results on this machine."""
    folder = tmp_path_factory.mktemp("recorded")
    subprocess.run([sys.executable, str(TOOLS / "recorded_calls.py"), str(folder)], check=True)
    return folder


def repeated(folder: Path, compiler: list[str], emulator: list[str], *more: str) -> bytes:
    """The results of the driver, compiled and run by these commands."""
    known = ['-DMADE_OF=""', '-DFLAGS=""', f'-DCALLS="{folder}/calls.h"', f"-I{SOURCES}"]
    made = str(folder / "driver")
    subprocess.run([*compiler, *FLAGS, *more, *known, str(TOOLS / "kernel_driver.c"), "-lm", "-o", made], check=True)
    with (folder / "calls").open("rb") as calls:
        return subprocess.run([*emulator, made], stdin=calls, capture_output=True, check=True).stdout


@pytest.mark.long
@pytest.mark.parametrize("more", [(), ("-include", str(Path(__file__).with_name("emulated_panels.h")))])
def test_the_driver_gives_the_same_bits_here(more: tuple[str, ...], recorded: Path) -> None:
    """Also without optimization, which is the quickest to compile; and with an emulated matrix unit."""
    assert repeated(recorded, compiler(this_machine()), [], "-O0", *more) == (recorded / "results").read_bytes()


@pytest.mark.parametrize("processor", ["max", "cortex-a76", "cortex-a72"])
def test_arm_gives_the_same_bits(recorded: Path, processor: str) -> None:
    """The first multiplies small matrices of bytes, the second adds products to lanes, the last does neither."""
    if which("qemu-aarch64") is None:
        pytest.skip("qemu-aarch64 is not installed (Debian: qemu-user)")
    if which("aarch64-linux-gnu-gcc"):
        cross = ["aarch64-linux-gnu-gcc", "-static"]
    elif find_spec("ziglang"):
        cross = [sys.executable, "-m", "ziglang", "cc", "-target", "aarch64-linux-musl", "-static"]
    else:
        pytest.skip("there is no compiler for ARM (Debian: gcc-aarch64-linux-gnu; the package index: ziglang)")
    assert repeated(recorded, cross, ["qemu-aarch64", "-cpu", processor]) == (recorded / "results").read_bytes()
