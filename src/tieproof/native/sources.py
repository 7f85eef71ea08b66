"""What a kernel is made of: its own file, and those that it takes parts, types and constants from.

numba looks at the first alone, and would run old machine code after a change of another.
"""

import hashlib
import os
import re
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

IMPORT = re.compile(r"^(?:from ([\w.]+) import (\([^)]*\)|.*)|import ([\w.]+))", re.MULTILINE)
"""An import of a whole module; what a function imports when it is called, a kernel cannot use."""


def digest_of_sources(function: Callable[..., Any]) -> bytes:
    """A digest of the module of `function` and of all that it imports of its own package, directly or not.

    It is to be taken when `function` is defined: the files may have changed when it is first called.
    """
    package = sys.modules.get(function.__module__.partition(".")[0])
    folders = getattr(package, "__path__", [])
    if not folders:
        return b""
    folder = os.path.dirname(folders[0])
    return digest(function.__module__, folder, state(function.__module__, folder))


def state(module: str, folder: str) -> tuple[str, int, int]:
    """The file of a module of a package in `folder`, when it was changed, and its size: what numba looks at, too."""
    path = f"{folder}/{module.replace('.', '/')}"
    file = f"{path}.py" if os.path.isfile(f"{path}.py") else f"{path}/__init__.py"
    found = os.stat(file)
    return file, found.st_mtime_ns, found.st_size


@cache
def digest(module: str, folder: str, own: tuple[str, int, int]) -> bytes:
    """The digest for a module whose own file is in that state; kernels of one module share it."""
    found: dict[str, bytes] = {}
    waiting = {module}
    while waiting:
        name = waiting.pop()
        found[name], imported = read(name, folder, state(name, folder))
        waiting |= imported - found.keys()
    return hashlib.sha256(b"".join(name.encode() + found[name] for name in sorted(found))).digest()


@cache
def read(module: str, folder: str, own: tuple[str, int, int]) -> tuple[bytes, frozenset[str]]:
    """The digest of the file of one module, and the modules of its package that it imports."""
    with open(own[0], "rb") as file:
        content = file.read()
    inside = f"{module.partition('.')[0]}."
    imported = set()
    for source, names, whole in IMPORT.findall(content.decode()):
        name = source or whole
        if name.startswith(inside):
            imported.add(name)
        if f"{name}.".startswith(inside) and os.path.isdir(f"{folder}/{name.replace('.', '/')}"):
            imported |= {f"{name}.{word}" for word in re.findall(r"\w+", names) if is_module(name, word, folder)}
    return hashlib.sha256(content).digest(), frozenset(imported)


def is_module(package: str, name: str, folder: str) -> bool:
    """Whether a package has a module of this name."""
    path = f"{folder}/{package.replace('.', '/')}/{name}"
    return os.path.isfile(f"{path}.py") or os.path.isfile(f"{path}/__init__.py")
