"""How the kernels are compiled: all of `kernels/`, into one shared library for each level of processor.

It needs the standard library alone, for it runs before tieproof is installed: by the hook of the build
(`hatch_build.py`), and as a script (`make kernels`), which makes the libraries beside this file anew. What loads them
reads here what they are called, so functions that compile import themselves what they need, and paths are strings:
`pathlib` takes as long to import as all that is here.
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
    "-ffp-contract=off",  # each operation rounds, as it is written
    "-fno-math-errno",  # changes no value; roots are single instructions
    "-fno-trapping-math",  # changes no value; loops with conditions become vectors
    "-fPIC",
    "-fvisibility=hidden",
)
STRICT = ("-Wall", "-Wextra", "-Werror")
"""For us; a later compiler may warn of what is no defect, and shall still install."""

SANITIZED = (
    "-DCHECKED",
    "-O1",
    "-g",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
)


class Target(NamedTuple):
    """What a library is compiled for.

    levels : the levels of processor that there is a library for, as `-march` has them; one of another name where the
        compiler's own choice serves all
    suffix : of shared libraries
    zig : the platform in the words of `zig cc -target`; None is this machine
    tag : of a wheel; None is that of this machine
    """

    levels: tuple[str, ...]
    suffix: str
    zig: str | None
    tag: str | None


X86_64, ARM = ("x86-64-v2", "x86-64-v3", "x86-64-v4"), ("aarch64",)

TARGETS = {
    "linux-x86-64": Target(X86_64, ".so", "x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64.manylinux2014_x86_64"),
    "linux-aarch64": Target(ARM, ".so", "aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64.manylinux2014_aarch64"),
    "macos-x86-64": Target(X86_64, ".dylib", "x86_64-macos.11.0", "macosx_11_0_x86_64"),
    "macos-arm64": Target(ARM, ".dylib", "aarch64-macos.11.0", "macosx_11_0_arm64"),
    "windows-x86-64": Target(X86_64, ".dll", "x86_64-windows-gnu", "win_amd64"),
}
"""What wheels are made for, by `zig cc` on one machine."""


def this_machine() -> Target:
    """What a library is compiled for that stays here."""
    machine = platform.machine().lower()
    levels = {"x86_64": X86_64, "amd64": X86_64, "arm64": ARM}.get(machine, (machine,))
    suffix = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
    return Target(levels, suffix, None, None)


def zig_of(target: Target) -> str | None:
    """The platform in the words of `zig cc -target`; None where only zig itself knows its name.

    This machine is named, too: without a name, zig looks for a C library's headers, and a machine without a compiler
    seldom has them; with one, it brings its own.
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


def tag_of(target: Target) -> str:
    """The tag of a wheel for a target."""
    import sysconfig

    return target.tag or sysconfig.get_platform().replace("-", "_").replace(".", "_")


def library_file(level: str, suffix: str, folder: str = FOLDER) -> str:
    """Where the library for a level of processor is."""
    return os.path.join(folder, f"kernels-{level}{suffix}")


@cache
def sources_digest() -> str | None:
    """What is to be compiled, in a few letters; None where the sources are not there, as in a wheel."""
    if not os.path.isdir(SOURCES):
        return None
    import hashlib

    found = hashlib.sha256(" ".join(FLAGS).encode())
    for name in sorted(os.listdir(SOURCES)):
        if name.endswith((".h", ".c")):
            with open(os.path.join(SOURCES, name), "rb") as file:
                found.update(name.encode() + b"\0" + file.read() + b"\0")
    return found.hexdigest()[:16]


@cache
def system_compiler() -> tuple[str, ...] | None:
    """A compiler of this machine that can do what is needed: $CC, cc, gcc or clang; None where there is none."""
    import shlex
    import shutil

    named = shlex.split(os.environ.get("CC", ""))
    for command in [named] if named else [["cc"], ["gcc"], ["clang"]]:
        if shutil.which(command[0]) and can_compile(command):
            return tuple(command)
    return None


def can_compile(command: Sequence[str]) -> bool:
    """Whether a compiler finds its headers and knows the newest processor: both may be lacking, or older."""
    import subprocess
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        source = f"{folder}/tried.c"
        with open(source, "w", encoding="utf-8") as file:
            file.write("#include <math.h>\n#include <stdint.h>\ndouble tried(double x) { return sqrt(x); }\n")
        made = [*command, *FLAGS, "-shared", *march(this_machine().levels[-1]), source, "-o", f"{folder}/tried"]
        return subprocess.run(made, capture_output=True, check=False).returncode == 0


def compiler(target: Target) -> list[str]:
    """The command that compiles for a target: one of this machine where that serves, else `ziglang` of the index."""
    from importlib.util import find_spec

    own = system_compiler() if target.zig is None else None
    if own is not None:
        return list(own)
    if find_spec("ziglang") is None:
        raise RuntimeError("There is no C compiler here. Install gcc, clang, or the package ziglang.")
    named = zig_of(target)
    return [sys.executable, "-m", "ziglang", "cc", *(["-target", named] if named else [])]


def march(level: str, zig: bool = False) -> list[str]:
    """The instructions that a level may use."""
    if zig:  # which else takes what this machine has
        return [f"-mcpu={level.replace('-', '_') if level in X86_64 else 'baseline'}"]
    return [f"-march={level}"] if level in X86_64 else []


def compile_kernels(folder: str, target: Target, more: Sequence[str] = ()) -> list[str]:
    """Make the libraries of a target in `folder`, all at the same time, with `more` flags; return their files."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor() as pool:
        return list(pool.map(lambda level: compile_level(folder, target, level, more), target.levels))


def compile_level(folder: str, target: Target, level: str, more: Sequence[str]) -> str:
    """Make one library. One that processes run is not written to: a new file takes its place.

    It is linked apart: zig makes what it links to only once for all levels. On Linux that is the C library alone,
    since the library of zig's own compiler takes longer to make than ours, and nothing of it is used. A library knows
    no folder that it was made in, so that it has the same bytes wherever that is: nothing for debuggers, which zig
    would add with their paths, and on macOS a name of its own in place of its path.
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
    """Run a compiler; what it says of an error is the error's message."""
    import shlex
    import subprocess

    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{shlex.join(command)}\n{done.stdout}")


def main(sanitized: str = "") -> None:
    """Make the libraries beside this file, or those that sanitizers watch in a folder of their own."""
    folder = sanitized or FOLDER
    os.makedirs(folder, exist_ok=True)
    for file in compile_kernels(folder, this_machine(), [*STRICT, *(SANITIZED if sanitized else ())]):
        print(os.path.relpath(file))


if __name__ == "__main__":
    main(*sys.argv[1:])
