"""Check the files of a release: contents, sizes, links of the description, and what libraries require of a machine.

`python release/check.py dist`
"""

import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

ROOT = Path(__file__).parents[1]
PACKAGE, KERNELS = "src/tieproof/", "src/tieproof/native/kernels/"

LIBRARIES = {
    "manylinux_2_17_x86_64.manylinux2014_x86_64": 3,
    "manylinux_2_17_aarch64.manylinux2014_aarch64": 1,
    "macosx_11_0_x86_64": 3,
    "macosx_11_0_arm64": 1,
    "win_amd64": 3,
}
"""The number of libraries in the wheel of each platform: one for each level of processor."""

SYSTEM = ("libc.so.6", "libm.so.6", "/usr/lib/libSystem.B.dylib", "KERNEL32.dll", "api-ms-win-crt-")
"""The beginnings of the names of libraries that every machine of a platform has."""

OLDEST_GLIBC, OLDEST_MACOS = (2, 17), (11, 0, 0)
LARGEST = 4 << 20
"""The largest size of a release file in bytes."""


def main(folder: str) -> int:
    """Print the files and their faults; the exit status is 1 if there is any fault."""
    faults: list[str] = []
    tracked = set(subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines())
    sources = sorted(Path(folder).glob("*.tar.gz"))
    wheels = sorted(Path(folder).glob("*.whl"))
    faults += wrong_platforms([wheel.stem.split("-none-")[1] for wheel in wheels])
    faults += [] if len(sources) == 1 else [f"{len(sources)} sdists, not one"]
    for path in [*sources, *wheels]:
        found = in_sdist(path, tracked) if path in sources else in_wheel(path, tracked)
        found += [f"{path.stat().st_size} bytes, more than {LARGEST}"] if path.stat().st_size > LARGEST else []
        print(f"{path.stat().st_size:>9}  {path.name}")
        faults += [f"{path.name}: {fault}" for fault in found]
    print(*(f"wrong: {fault}" for fault in faults), sep="\n", end="\n" if faults else "")
    return int(bool(faults))


def wrong_platforms(found: Sequence[str]) -> list[str]:
    """Report missing and unexpected wheels."""
    return [] if sorted(found) == sorted(LIBRARIES) else [f"wheels for {', '.join(found)}, not for LIBRARIES"]


def different(found: set[str], expected: set[str]) -> list[str]:
    """Report missing and unexpected names."""
    return [f"lacks {name}" for name in sorted(expected - found)] + [
        f"contains {name}, which does not belong there" for name in sorted(found - expected)
    ]


def in_sdist(path: Path, tracked: set[str]) -> list[str]:
    """The faults of an sdist, which must contain the tracked files of the repository and its metadata."""
    with tarfile.open(path) as archive:
        names = {str(PurePosixPath(*PurePosixPath(name).parts[1:])): name for name in archive.getnames()}
        metadata = archive.extractfile(names["PKG-INFO"])
        assert metadata is not None
        found = relative_links(metadata.read().decode())
    return different(set(names), tracked | {"PKG-INFO"}) + found


def relative_links(description: str) -> list[str]:
    """The links and pictures of a description that PyPI could not resolve."""
    named = re.findall(r"\]\(\s*([^)]*)|(?:src|href)=\W?([^\s>]*)", description)
    return [f"links to {way}" for names in named for way in names if way and not way.startswith(("https://", "#"))]


def in_wheel(path: Path, tracked: set[str]) -> list[str]:
    """The faults of a wheel, which must contain the package without the kernels' sources, libraries and metadata."""
    import lief

    lief.logging.disable()  # it warns of an empty table in each library for macOS; what counts is checked below
    expected = {name.removeprefix("src/") for name in tracked if name.startswith(PACKAGE) and KERNELS not in name}
    with zipfile.ZipFile(path) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        libraries = {name for name in names if name.startswith("tieproof/native/kernels-")}
        parsed = {name: lief.parse(list(archive.read(name))) for name in sorted(libraries)}
        (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        faults = relative_links(archive.read(metadata).decode())
    faults += different(names - libraries, expected)
    if len(libraries) != LIBRARIES.get(path.stem.split("-none-")[1]):
        faults.append(f"{len(libraries)} libraries")
    faults += [f"{name}: {fault}" for name, library in parsed.items() for fault in in_library(library)]
    # The libraries of different levels differ in their instructions, but export the same functions.
    if len({frozenset(exported(library)) for library in parsed.values()}) != 1:
        faults.append("its libraries do not export the same functions")
    return faults


def exported(library: Any) -> set[str]:
    """The functions that a library exports."""
    return {str(function.name).removeprefix("_") for function in library.exported_functions}


def in_library(library: Any) -> list[str]:
    """The faults of a library: requirements that not every machine of its platform meets."""
    import lief

    needed = [entry if isinstance(entry, str) else entry.name for entry in library.libraries]
    if isinstance(library, lief.MachO.Binary):
        needed = needed[1:]  # the first is its own name
    faults = [f"needs {name}" for name in needed if not name.startswith(SYSTEM)]
    if isinstance(library, lief.ELF.Binary) and newest_glibc(library) > OLDEST_GLIBC:
        faults.append(f"needs GLIBC {newest_glibc(library)}")
    if isinstance(library, lief.MachO.Binary):
        oldest = library.build_version.minos if library.has_build_version else library.version_min.version
        faults += [f"needs macOS {oldest}"] if tuple(oldest) > OLDEST_MACOS else []
        faults += [] if library.libraries[0].name.startswith("@rpath/") else [f"is {library.libraries[0].name}"]
    return faults + ([] if "made_of" in exported(library) else ["exports no made_of"])


def newest_glibc(library: Any) -> tuple[int, ...]:
    """The newest version of the C library that an ELF library needs."""
    needs = library.symbols_version_requirement
    names = [auxiliary.name for need in needs for auxiliary in need.get_auxiliary_symbols()]
    return max(tuple(int(part) for part in name.removeprefix("GLIBC_").split(".")) for name in names)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
