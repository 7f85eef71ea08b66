"""The reference lists every public name; `make docs` checks that the docstrings can be rendered."""

import ast
import re
import runpy
from functools import cache

import pytest
from test_public_names import DOCUMENTED, DOORS, door, statements, trees

import tieproof
from pages import ROOT

pytestmark = pytest.mark.skipif(not (ROOT / "README.md").exists(), reason="no documents beside the tests")

DIRECTIVE = re.compile(r"^\.\. (currentmodule|auto\w+|py:data):: ([\w.]+)$", re.MULTILINE)


@cache
def documented() -> list[str]:
    """The full names of all objects that the pages describe, in their order."""
    found = []
    for page in sorted((ROOT / "docs" / "reference").glob("*.md")):
        module = ""
        for kind, name in DIRECTIVE.findall(page.read_text(encoding="utf-8")):
            if kind == "currentmodule":
                module = name
            else:
                found.append(name if "." in name else f"{module}.{name}")
    return found


@cache
def origin(full: str) -> str:
    """The name of an exported object in its own module, because two packages may export the same object."""
    module, _, name = full.rpartition(".")
    for node in (inner for statement in statements(module) for inner in ast.walk(statement)):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    source = f"{node.module}.{alias.name}"
                    return origin(source) if node.module in DOORS else source
    return full


@pytest.mark.parametrize("module", DOORS)
def test_every_public_name_is_described(module: str) -> None:
    described = {origin(name) for name in documented()}
    public = [name for name in door(module) if f"{module}.{name}" not in DOORS]
    assert [name for name in public if origin(f"{module}.{name}") not in {*described, *DOORS}] == []


CLASS = re.compile(r"^\.\. autoclass:: (\w+)\n((?:   :.*\n)*)", re.MULTILINE)


def test_methods_of_base_classes_are_described() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs" / "reference").glob("*.md")))
    described = dict(CLASS.findall(pages))
    known = {name: kind for name in door("tieproof") if isinstance(kind := getattr(tieproof, name), type)}
    inheriting = [
        name
        for name, kind in known.items()
        if not issubclass(kind, Exception)
        and any(
            base.__module__.startswith("tieproof.") and not method.startswith("_")
            for base in kind.__mro__[1:]
            for method in vars(base)
        )
    ]
    assert "Result" in inheriting
    assert [name for name in inheriting if ":inherited-members:" not in described[name]] == []


SECTION = re.compile(r"^(Parameters|Returns|Raises|Warns)\n-+\n((?:.*\n?)*?)(?=^[A-Z]\w+\n-+\n|\Z)", re.MULTILINE)
FORMS = {
    "Parameters": re.compile(r"\*{0,2}\w+(, \*{0,2}\w+)* :( .+)?(\n +[^a-z\n].*)?"),
    "Returns": re.compile(r"[^:]+(\n .*)?"),
    "Raises": re.compile(r"\w+\n .*"),
    "Warns": re.compile(r"\w+\n .*"),
}
"""What stands at the margin of a section, and the line after it: a name or a type, which ends with its line."""


def test_sections_of_docstrings_list_names() -> None:
    odd = []
    for path, tree in trees().items():
        for node in ast.walk(tree):
            docstring = ast.get_docstring(node) if isinstance(node, DOCUMENTED) else None
            for title, body in SECTION.findall(docstring or ""):
                entries = re.findall(r"^\S.*(?:\n .*)?", body, re.MULTILINE)
                odd += [f"{path}, {title}: {entry}" for entry in entries if not FORMS[title].fullmatch(entry)]
    assert odd == []


def test_names_in_docstrings_keep_their_case() -> None:
    lines = ["Ties of a query:", "k : items that are nearer,", "    or none", "n_items, m : others", "", "Text."]
    runpy.run_path(str(ROOT / "docs" / "conf.py"))["as_definitions"](None, "", "", None, None, lines)
    assert lines == [
        "Ties of a query:",
        "",
        "``k``",
        "    items that are nearer,",
        "    or none",
        "``n_items, m``",
        "    others",
        "",
        "Text.",
    ]


def test_nothing_is_described_twice_or_is_not_public() -> None:
    assert len(documented()) == len(set(documented()))
    public = {f"{module}.{name}" for module in DOORS for name in door(module)}
    assert set(documented()) - public == set()
