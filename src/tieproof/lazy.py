"""Lazy imports: a package exports names of modules that are imported when a name is first used."""

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any


def exports(package: str, *defined: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for a package, which also give it the names of its modules and `__all__`.

    These names stand once, in the package's block `if TYPE_CHECKING:`, where type checkers read them, too: a line
    `from module import name as name` exports the name. The block is read when one of the names is first used. Where
    such lines stand outside of a block, their names are there at once, and belong to `__all__`, too.

    defined : further public names, which the package itself defines

    >>> get, _ = exports("tieproof")
    >>> get("InputError").__name__
    'InputError'
    """

    @cache
    def modules() -> dict[str, str]:
        """The module of each name, read from the file of the package."""
        import ast  # not at the top: the import of tieproof would take longer

        spec = sys.modules[package].__spec__
        try:
            tree = ast.parse(spec.loader.get_data(spec.origin))  # type: ignore[union-attr]  # also within a .zip
        except (OSError, AttributeError, SyntaxError, ValueError) as error:  # no file, or only its bytecode
            raise ImportError(
                f"The names of {package} are read from its source, which is missing here; include the .py files of "
                "tieproof in the distribution (with PyInstaller: module_collection_mode={'tieproof': 'pyz+py'})."
            ) from error
        blocks = (statement.body if isinstance(statement, ast.If) else [statement] for statement in tree.body)
        return {
            alias.name: str(line.module)
            for block in blocks
            for line in block
            if isinstance(line, ast.ImportFrom)
            for alias in line.names
            if alias.name == alias.asname
        }

    def get(name: str) -> Any:
        if name == "__all__":
            value: Any = sorted({*defined, *(name for name in modules() if not name.startswith("_"))})
        elif name not in modules():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        elif modules()[name] == package or not hasattr(import_module(modules()[name]), name):
            value = import_module(f"{modules()[name]}.{name}")
        else:
            value = getattr(import_module(modules()[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        own = {name for name in vars(sys.modules[package]) if name.startswith("__")}
        return sorted({*own, *get("__all__"), "__all__"})

    return get, names
