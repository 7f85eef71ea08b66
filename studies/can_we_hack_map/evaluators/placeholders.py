"""Placeholders for libraries that open-metric-learning imports, but that its metrics never call.

It requires an old NumPy, and libraries for images and downloads. Its metrics need none of these, and run with a new
NumPy, too. It is therefore installed without its dependencies, which are replaced by placeholders for the import.
"""

import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import Any
from unittest.mock import MagicMock

NEVER_CALLED: tuple[str, ...] = (
    "albumentations",
    "bs4",
    "cv2",
    "gdown",
    "omegaconf",
    "requests",
    "torchvision",
    "validators",
    "oml.inference",
    "oml.lightning.pipelines",
    "oml.registry",
)


def never_called(module: str) -> bool:
    """Whether metrics never call a module."""
    return any(module == name or module.startswith(f"{name}.") for name in NEVER_CALLED)


class Placeholders(MetaPathFinder, Loader):
    """Finds a placeholder for each library that metrics never call, and for its modules."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """A placeholder for a module that metrics never call."""
        return ModuleSpec(fullname, self, is_package=True) if never_called(fullname) else None

    def create_module(self, spec: ModuleSpec) -> Any:
        """A module that has everything."""
        return MagicMock(name=spec.name, __path__=[], __spec__=spec)

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing is left to do."""


@contextmanager
def placeholders() -> Iterator[None]:
    """Use placeholders, and remove them afterwards."""
    before = {name: module for name, module in sys.modules.items() if never_called(name)}
    for name in before:
        del sys.modules[name]
    finder = Placeholders()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in list(filter(never_called, sys.modules)):
            del sys.modules[name]
        sys.modules.update(before)
