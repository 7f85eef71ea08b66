"""Lazy imports: a package exports names of modules that are imported when a name is first used."""

import sys
from collections.abc import Callable, Mapping
from functools import update_wrapper
from importlib import import_module
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def handed_on(
    package: str, modules: Mapping[str, str | None]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for a package that exports names from modules.

    modules : the module of each name; None: the name is itself a module of the package

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


class AsPackage:
    """A function that has the name of a package and hides it; its attributes are those of the package."""

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Call the function."""
        return self.__wrapped__(*arguments, **options)

    def __getattr__(self, name: str) -> Any:
        """Return the attribute or module of the package with this name."""
        package = self.__dict__["__module__"]
        try:
            return getattr(sys.modules[package], name)
        except AttributeError:
            if name.startswith("_"):
                raise
        try:
            return import_module(f"{package}.{name}")
        except ModuleNotFoundError:
            raise AttributeError(f"module {package!r} has no attribute {name!r}") from None

    def __repr__(self) -> str:
        """Return the representation of the function."""
        return repr(self.__wrapped__)


def as_package(function: F) -> F:
    """Return the function with the attributes of its package.

    >>> import tieproof
    >>> tieproof.audit.ATTACKS is tieproof.audit.attacks.ATTACKS
    True
    """
    return AsPackage(function)  # type: ignore[return-value]  # it is called as the function is
