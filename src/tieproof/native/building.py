"""Compile the kernels: all of `kernels/` into one shared library for each level of processor.

This module needs only the standard library, because it runs before tieproof is installed: in the build hook
(`hatch_build.py`), and as a script (`make kernels`) that rebuilds the libraries in this folder. At run time it only
provides the libraries' names. So that it is imported quickly, functions that compile import their own modules, and
paths are strings: importing `pathlib` takes as long as everything here.
"""

import os
import platform
import sys
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

FOLDER = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(FOLDER, "kernels")

FLAGS = (
    "-std=c11",
    "-O3",
    "-ffp-contract=off",  # each operation rounds as written
    "-fno-math-errno",  # changes no value; roots are single instructions
    "-fno-trapping-math",  # changes no value; loops with conditions become vectors
    "-fPIC",
    "-fvisibility=hidden",
)
STRICT = ("-Wall", "-Wextra", "-Werror")
"""Flags for development only; an installation must not fail if a later compiler warns of something harmless."""

SANITIZED = (
    "-DCHECKED",
    "-O1",
    "-g",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
)


class BuildTarget(NamedTuple):
    """A platform for which libraries are compiled."""

    # The levels of processor that have a library, in the names of `-march`; a single other name if the
    # compiler's default is used for all processors.
    levels: tuple[str, ...]
    suffix: str  # the suffix of shared libraries
    zig: str | None  # the platform in the names of `zig cc -target`; None for this machine
    tag: str | None  # the platform tag of a wheel; None for the tag of this machine


X86_64, ARM = ("x86-64-v2", "x86-64-v3", "x86-64-v4"), ("aarch64",)

TARGETS = {
    "linux-x86-64": BuildTarget(X86_64, ".so", "x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64.manylinux2014_x86_64"),
    "linux-aarch64": BuildTarget(
        ARM, ".so", "aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64.manylinux2014_aarch64"
    ),
    "macos-x86-64": BuildTarget(X86_64, ".dylib", "x86_64-macos.11.0", "macosx_11_0_x86_64"),
    "macos-arm64": BuildTarget(ARM, ".dylib", "aarch64-macos.11.0", "macosx_11_0_arm64"),
    "windows-x86-64": BuildTarget(X86_64, ".dll", "x86_64-windows-gnu", "win_amd64"),
}
"""The platforms of the wheels, which `zig cc` compiles on one machine."""


def this_machine() -> BuildTarget:
    """The target for libraries that are used on this machine."""
    machine = platform.machine().lower()
    levels = {"x86_64": X86_64, "amd64": X86_64, "arm64": ARM}.get(machine, (machine,))
    suffix = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
    return BuildTarget(levels, suffix, None, None)


def zig_of(target: BuildTarget) -> str | None:
    """The platform in the names of `zig cc -target`; None if the name is unknown here.

    This machine is named, too. Without a name, zig searches for the headers of a C library, which a machine without a
    compiler rarely has; with a name, it uses its own.
    """
    if target.zig is not None:
        return target.zig
    system = {"linux": "linux", "darwin": "macos", "win32": "windows"}.get(sys.platform)
    architecture = {X86_64: "x86-64", ARM: "arm64" if system == "macos" else "aarch64"}.get(target.levels)
    known = TARGETS.get(f"{system}-{architecture}")
    if known is None or known.zig is None:
        return None
    return (
        known.zig if system != "linux" or platform.libc_ver()[0] == "glibc" else known.zig.replace("gnu.2.17", "musl")
    )


def tag_of(target: BuildTarget) -> str:
    """The tag of a wheel for a target."""
    import sysconfig

    return target.tag or sysconfig.get_platform().replace("-", "_").replace(".", "_")


def library_file(level: str, suffix: str, folder: str = FOLDER) -> str:
    """The path of the library for a level of processor."""
    return os.path.join(folder, f"kernels-{level}{suffix}")


@cache
def sources_digest() -> str | None:
    """A digest of the sources and flags; None if the sources are not installed, as in a wheel."""
    if not os.path.isdir(SOURCES):
        return None
    import hashlib

    digest = hashlib.sha256(" ".join(FLAGS).encode())
    for name in sorted(os.listdir(SOURCES)):
        if name.endswith((".h", ".inc", ".c")):
            with open(os.path.join(SOURCES, name), "rb") as file:
                digest.update(name.encode() + b"\0" + file.read() + b"\0")
    return digest.hexdigest()[:16]


@cache
def system_compiler() -> tuple[str, ...] | None:
    """A suitable compiler of this machine: $CC, cc, gcc or clang; None if there is none."""
    import shlex
    import shutil

    given = os.environ.get("CC", "")
    named = [given] if shutil.which(given) else shlex.split(given)  # a path may contain spaces or backslashes
    for command in [named] if named else [["cc"], ["gcc"], ["clang"]]:
        if shutil.which(command[0]) and can_compile(command):
            return tuple(command)
    return None


def can_compile(command: Sequence[str]) -> bool:
    """Whether a compiler finds its headers and supports the highest level of processor."""
    import subprocess
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        source = f"{folder}/tried.c"
        with open(source, "w", encoding="utf-8") as file:
            file.write("#include <math.h>\n#include <stdint.h>\ndouble tried(double x) { return sqrt(x); }\n")
        made = [*command, *FLAGS, "-shared", *march(this_machine().levels[-1]), source, "-o", f"{folder}/tried"]
        return subprocess.run(made, capture_output=True, check=False).returncode == 0


def compiler(target: BuildTarget) -> list[str]:
    """The command that compiles for a target: a compiler of this machine if it is suitable, else `ziglang`."""
    from importlib.util import find_spec

    own = system_compiler() if target.zig is None else None
    if own is not None:
        return list(own)
    if find_spec("ziglang") is None:
        raise RuntimeError("No C compiler was found. Install gcc, clang, or the package ziglang.")
    named = zig_of(target)
    return [sys.executable, "-m", "ziglang", "cc", *(["-target", named] if named else [])]


def march(level: str, zig: bool = False) -> list[str]:
    """The flags that select the instructions of a level."""
    if zig:  # by default zig would use all instructions of this machine
        return [f"-mcpu={level.replace('-', '_') if level in X86_64 else 'baseline'}"]
    return [f"-march={level}"] if level in X86_64 else []


def compile_kernels(folder: str, target: BuildTarget, more: Sequence[str] = ()) -> list[str]:
    """Compile the libraries of a target into `folder`, in parallel, with `more` flags; return their paths."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor() as pool:
        return list(pool.map(lambda level: compile_level(folder, target, level, more), target.levels))


def compile_level(folder: str, target: BuildTarget, level: str, more: Sequence[str]) -> str:
    """Compile one library. A new file replaces an existing library, which processes may be using.

    Linking is a separate step, so that zig builds the libraries that it links to only once for all levels. On Linux
    these are only the C library: zig's compiler library takes longer to build than the kernels, and is not needed.
    The result does not contain the path of the build folder, so that it has the same bytes in every folder: there is
    no debugging information, which zig would add with paths, and on macOS the library has a name instead of its path.
    """
    import tempfile

    command, file = compiler(target), library_file(level, target.suffix, folder)
    zig = "ziglang" in command
    flags = [*FLAGS, *march(level, zig), *(["-g0"] if zig else []), *more]
    alone = ["-nostdlib", "-lc"] if zig and "linux" in (zig_of(target) or "") else []
    bare = ["-s"] if zig else []
    name = [f"-Wl,-install_name,@rpath/{os.path.basename(file)}"] if target.suffix == ".dylib" else []
    known = [f'-DMADE_OF="{sources_digest()}"', f'-DFLAGS="{" ".join(flags)}"']
    with tempfile.TemporaryDirectory(dir=folder, prefix="kernels-") as made:
        machine_code, new = f"{made}/kernels.o", f"{made}/{os.path.basename(file)}"
        run([*command, *flags, *known, "-c", f"{SOURCES}/kernels.c", "-o", machine_code])
        run([*command, *FLAGS, "-shared", *more, machine_code, *alone, *bare, *name, "-lm", "-o", new])
        os.replace(new, file)
    return file


def run(command: Sequence[str]) -> None:
    """Run a compiler; on failure, raise RuntimeError with its output."""
    import shlex
    import subprocess

    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{shlex.join(command)}\n{done.stdout}")


def main(sanitized: str = "") -> None:
    """Compile the libraries into this folder, or libraries with sanitizers into the folder `sanitized`."""
    folder = sanitized or FOLDER
    os.makedirs(folder, exist_ok=True)
    for file in compile_kernels(folder, this_machine(), [*STRICT, *(SANITIZED if sanitized else ())]):
        print(os.path.relpath(file))


if __name__ == "__main__":
    main(*sys.argv[1:])
