"""The version, which is defined only in pyproject.toml."""

import importlib.metadata
import runpy
import tomllib
from pathlib import Path
from typing import NoReturn

import pytest

import tieproof as tp
from tieproof import installed

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def test_it_is_the_one_of_the_project() -> None:
    assert tp.__version__ == tomllib.loads(PROJECT.read_text())["project"]["version"]


def test_a_source_tree_that_is_not_installed_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> NoReturn:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", absent)
    assert runpy.run_path(installed.__file__)["__version__"] == "0+source.not.installed"


def test_nothing_else_is_made_up() -> None:
    with pytest.raises(AttributeError, match="module 'tieproof' has no attribute 'version'"):
        tp.version  # type: ignore[attr-defined]  # noqa: B018
