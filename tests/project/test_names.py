"""One name is one thing: classes of the source, and the dotted names that it has in backticks."""

import importlib
import re
from collections import Counter
from functools import cache

import numpy
import pytest
from test_public_names import SOURCE, is_module, resolves

LIBRARIES = {"np": "numpy", "numpy": "numpy", "pathlib": "pathlib", "subprocess": "subprocess"}
SLOW = ("plt", "scipy", "torchmetrics")
"""Libraries that docstrings name; the slow ones are not imported, and whatever they are said to have is believed."""

DOTTED = re.compile(r"(?<!`)`([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)(?:\([^`\n]*\))?`")
FILES = re.compile(r"\.(py|c|json|npz|hdf5|parquet|[a-z]*vecs|[a-z]*bin)$")
"""The ends of names of files, which test_recipes.py looks for."""

SHARED: dict[str, int] = {"Interval": 2, "Verdict": 2}
"""Classes that share their name, and how many have it. This list only shrinks."""


@cache
def texts() -> dict[str, str]:
    """Every module as text, by its path."""
    return {str(path.relative_to(SOURCE)): path.read_text("utf-8") for path in sorted(SOURCE.rglob("*.py"))}


@cache
def bodies() -> dict[str, str]:
    """The classes of each name with their bases, as text: up to the next line that is not indented."""
    found: dict[str, str] = {}
    for text in texts().values():
        for name, body in re.findall(r"^class (\w+)(.*\n(?:[ )].*\n|\n)*)", text, re.MULTILINE):
            found[name] = found.get(name, "") + body
    return found


def test_classes_have_names_of_their_own() -> None:
    found = Counter(name for text in texts().values() for name in re.findall(r"^ *class (\w+)", text, re.MULTILINE))
    assert {name: count for name, count in sorted(found.items()) if count > 1} == SHARED


def defined(text: str) -> set[str]:
    """The functions, classes and variables that a text defines, and the attributes that it sets."""
    return set(re.findall(r"(?m)(?:\b(?:def|class) |^ *|\.)([A-Za-z_]\w*)(?=[\[(:]| *(?:: .*)?=[^=])", text))


@cache
def attributes() -> set[str]:
    """The attributes of all classes, and of arrays."""
    return {*dir(numpy.ndarray), *(name for body in bodies().values() for name in defined(body))}


@cache
def members() -> dict[str, set[str]]:
    """What the modules of each name define or import."""
    found: dict[str, set[str]] = {}
    for place, text in texts().items():
        name = place.removesuffix(".py").removesuffix("/__init__").rpartition("/")[2]
        found.setdefault(name, set()).update(defined(text), re.findall(r" as (\w+)$", text, re.MULTILINE))
    return found


def has(kind: str, attribute: str) -> bool:
    """Whether a class, or one of its bases in the source, has an attribute."""
    body = bodies()[kind]
    bases = re.findall(r"\w+", body.partition(":")[0])
    return attribute in defined(body) or any(has(base, attribute) for base in bases if base in bodies())


def means_something(name: str) -> bool:
    """Whether a dotted name in backticks is that of an object of tieproof or of a library.

    A first part that is neither a class, nor a library, nor a module with the second part is a variable, such as
    `result` in `result.plot`: then some class has the second part as an attribute.
    """
    first, second, *_ = parts = name.split(".")
    if first in {"tp", "tieproof"}:
        for count in range(2, len(parts)):
            if is_module(".".join(["tieproof", *parts[1:count]])):
                importlib.import_module(".".join(["tieproof", *parts[1:count]]))
        return resolves(".".join(parts[1:]))
    if first in bodies():
        return has(first, second)
    if first in LIBRARIES:
        return hasattr(importlib.import_module(LIBRARIES[first]), second)
    return first in SLOW or second in members().get(first, ()) or second in attributes()


def test_every_dotted_name_means_something() -> None:
    named = [(place, name) for place, text in texts().items() for name in DOTTED.findall(text)]
    assert len(named) > 80
    wrong = {f"{place} names {name}" for place, name in named if not FILES.search(name) and not means_something(name)}
    assert wrong == set()


@pytest.mark.parametrize("name", ["views.pictures.queries", "Result.nil", "numpy.nil", "tp.nil", "result.nil"])
def test_names_that_mean_nothing_are_noticed(name: str) -> None:
    assert not means_something(name)
