"""What the documents name can be had as they say, from the doors of the public packages."""

import ast
import importlib
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import tieproof

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

DOORS = [
    "tieproof",
    "tieproof.audit",
    "tieproof.compat.oml",
    "tieproof.compat.pml",
    "tieproof.compat.torchmetrics",
    "tieproof.confidence",
    "tieproof.data",
    "tieproof.measures",
]

INNER = {"tieproof.views.pictures.error_reject"}
"""Modules within a package that a page names; a picture of what no result draws itself."""

pytestmark = pytest.mark.skipif(not PAGES[0].exists(), reason="no documents beside the tests")


def door(module: str) -> list[str]:
    """The names in `__all__`, read from the file: some doors open only where another library is."""
    found = importlib.util.find_spec(module)
    assert found is not None
    assert found.origin is not None
    tree = ast.parse(Path(found.origin).read_text(encoding="utf-8"))
    (names,) = (ast.literal_eval(node.value) for node in tree.body if is_door(node) and isinstance(node, ast.Assign))
    return list(names)


def is_door(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"


def imported_names() -> Iterator[tuple[str, str, str]]:
    """The page, the module and the name of each `from tieproof... import name` that a page shows."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for module, several, one in re.findall(r"from (tieproof[\w.]*) import (?:\(([^)]*)\)|([\w, ]+))", text):
            for name in re.findall(r"\w+", several or one):
                yield page.name, module, name


def dotted_names() -> Iterator[tuple[str, str]]:
    """The page and the name of all that a page calls `tp...` or `tieproof...`, without imports."""
    for page in PAGES:
        text = re.sub(r"from tieproof[\w.]* import", "", page.read_text(encoding="utf-8"))
        for name in re.findall(r"(?<![\w./])(?:tp|tieproof)((?:\.[A-Za-z_]\w*)+)", text):
            yield page.name, name.removeprefix(".")


def test_all_that_is_imported() -> None:
    shown = set(imported_names())
    assert ("audit.md", "tieproof.audit", "ATTACKS") in shown
    assert ("compat.md", "tieproof.compat.oml", "RetrievalResults") in shown
    for page, module, name in shown:
        assert module in DOORS or module in INNER, page
        assert name in door(module) if module in DOORS else hasattr(importlib.import_module(module), name), page


def test_all_that_has_a_dot() -> None:
    shown = set(dotted_names())
    assert ("collisions.md", "collisions") in shown
    for page, name in shown:
        if importlib.util.find_spec(f"tieproof.{name}") is None:
            first, *further = name.split(".")
            assert first in door("tieproof"), page
            found = getattr(tieproof, first)
            for attribute in further:
                found = getattr(found, attribute, None)
            assert found is not None, f"{page} names tieproof.{name}"


@pytest.mark.parametrize("module", [name for name in DOORS if ".compat." not in name])
def test_doors_hold_what_they_promise(module: str) -> None:
    there = vars(importlib.import_module(module))
    assert [name for name in door(module) if name not in there] == []
