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
    return digest(function.__module__, os.path.dirname(folders[0])) if folders else b""


@cache
def digest(module: str, folder: str) -> bytes:
    """The digest of a module whose package stands in `folder`."""
    found: dict[str, bytes] = {}
    waiting = {module}
    while waiting:
        name = waiting.pop()
        found[name], imported = read(name, folder)
        waiting |= imported - found.keys()
    return hashlib.sha256(b"".join(name.encode() + found[name] for name in sorted(found))).digest()


@cache
def read(module: str, folder: str) -> tuple[bytes, frozenset[str]]:
    """The digest of the file of one module, and the modules of its package that it imports."""
    path = os.path.join(folder, *module.split("."))
    with open(os.path.join(path, "__init__.py") if os.path.isdir(path) else f"{path}.py", "rb") as file:
        content = file.read()
    inside = f"{module.partition('.')[0]}."
    imported = set()
    for source, names, whole in IMPORT.findall(content.decode()):
        name = source or whole
        if name.startswith(inside):
            imported.add(name)
        if f"{name}.".startswith(inside) and os.path.isdir(os.path.join(folder, *name.split("."))):
            imported |= {f"{name}.{word}" for word in re.findall(r"\w+", names) if is_module(name, word, folder)}
    return hashlib.sha256(content).digest(), frozenset(imported)


def is_module(package: str, name: str, folder: str) -> bool:
    """Whether a package has a module of this name."""
    path = os.path.join(folder, *package.split("."), name)
    return os.path.isfile(f"{path}.py") or os.path.isfile(os.path.join(path, "__init__.py"))
