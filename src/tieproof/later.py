"""Names that a package hands on from modules which are imported when a name is first asked for."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def handed_on(
    package: str, modules: Mapping[str, str | None]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package for names and the modules that have them; None: it is a module itself.

    >>> get, _ = handed_on("tieproof", {"InputError": "tieproof.errors"})
    >>> get("InputError").__name__
    'InputError'
    """

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = modules[name]
        found = import_module(f"{package}.{name}") if module is None else getattr(import_module(module), name)
        setattr(sys.modules[package], name, found)
        return found

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *modules})

    return get, names
