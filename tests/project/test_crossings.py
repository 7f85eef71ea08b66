"""Which tests are collected: the sample of cases has every value of every parameter, and is the same each time."""

import ast
import re
import sys
import tomllib
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import conftest

NUMBERS, WORDS, OBJECTS = range(7), ["a", "b", "c"], [[1], [1], [2]]


def case(test: str, **values: Any) -> Any:
    name = f"{test}[{'-'.join(map(str, values.values()))}]" if values else test
    return (
        SimpleHashable(nodeid=name, callspec=SimpleNamespace(params=values))
        if values
        else SimpleHashable(nodeid=name)
    )


class SimpleHashable(SimpleNamespace):
    __hash__ = object.__hash__  # type: ignore[assignment]

    def get_closest_marker(self, name: str) -> Any:
        return getattr(self, name, None)


CASES = [case("crossed", number=n, word=w, thing=t) for n, w, t in product(NUMBERS, WORDS, OBJECTS)]


def test_every_value_of_every_parameter_is_sampled() -> None:
    chosen: set[Any] = conftest.sample(CASES)
    assert len(chosen) == len(NUMBERS)  # each number with some word and some object
    assert {each.callspec.params["number"] for each in chosen} == set(NUMBERS)
    assert {each.callspec.params["word"] for each in chosen} == set(WORDS)
    assert {id(each.callspec.params["thing"]) for each in chosen} == set(map(id, OBJECTS))


def test_the_sample_is_the_same_each_time() -> None:
    assert conftest.sample(CASES) == conftest.sample(list(CASES))


def test_tests_with_few_cases_are_whole() -> None:
    few = [*CASES[: conftest.LEAST - 1], case("a test without parameters")]
    assert conftest.sample(few) == set(few)


def test_cases_of_one_parameter_are_all_sampled() -> None:
    many = [case("listed", number=number) for number in range(100)]
    assert conftest.sample(many) == set(many)


def test_a_sample_may_be_limited() -> None:
    many = [case("listed", number=number) for number in range(100)]
    for each in many:
        each.few = SimpleNamespace(args=(5,))
    assert len(conftest.sample(many)) == 5


def test_modules_that_need_heavy_libraries_are_there() -> None:
    assert [path for path in conftest.NEEDED if not path.exists()] == []


@pytest.mark.parametrize(
    ("crossings", "named", "chosen"),
    [("sample", "tests", [0]), ("rest", "tests", [1]), ("all", "tests", [0, 1]), ("sample", "a::long", [0, 1])],
)
def test_long_tests_run_with_the_rest_or_by_name(crossings: str, named: str, chosen: list[int]) -> None:
    both = [case("short"), case("long")]
    for is_long, each in enumerate(both):
        each.path = Path("a.py")
        each.get_closest_marker = lambda _, found=is_long: found or None
    hook = SimpleNamespace(pytest_deselected=lambda items: None)
    config: Any = SimpleNamespace(getoption=lambda _: crossings, args=[named], hook=hook)
    left = list(both)
    conftest.pytest_collection_modifyitems(config, left)
    assert left == [both[number] for number in chosen]


def test_what_skips_without_a_library_runs_where_it_is_installed() -> None:
    """`make test` installs the extra test; only tests that are marked as heavy run with more than that."""
    root = Path(__file__).parents[2]
    extras = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    own, *others = extras["test"]
    wanted = [*others, *(each for name in re.findall(r"[\w-]+(?=[,\]])", own) for each in extras[name])]
    there = {"PIL" if name == "pillow" else name for name in (re.findall(r"[\w-]+", each)[0] for each in wanted)}
    found = []
    texts = {file: file.read_text("utf-8") for file in (root / "tests").rglob("test_*.py")}
    for file in [file for file, text in texts.items() if "importorskip" in text]:
        parts = ast.parse(texts[file]).body
        marks = [ast.unparse(part) for part in parts if ast.unparse(part).startswith("pytestmark")]
        for part in parts:
            named = getattr(part, "name", "test_").startswith("test_")
            if named and "mark.heavy" not in f"{marks}{[*map(ast.unparse, getattr(part, 'decorator_list', []))]}":
                found += [(name, file.name) for name in re.findall(r"importorskip\('(\w+)", ast.unparse(part))]
    assert {"scipy", "PIL"} <= {name for name, _ in found}
    assert [each for each in found if each[0] not in there | sys.stdlib_module_names] == []
