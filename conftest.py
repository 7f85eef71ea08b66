"""Selects the tests that are collected.

Doctests of modules that need heavy libraries are marked as heavy, and are not collected if these libraries are not
installed. Tests of the kernels' sources are left out if an installed wheel is tested, which has no sources.

A test that crosses several parameters has many cases. By default, a sample of them runs: every value of every
parameter at least once, and at least `LEAST` cases. `--crossings rest` runs the others, `--crossings all` runs all.
Tests marked as long are in no sample, unless they are named; of tests marked as few(n), only n cases are.

The objects of all collected tests live until the end; Python's garbage collector never looks at them.
"""

import gc
import random
import re
from collections import defaultdict
from collections.abc import Generator
from importlib.util import find_spec
from pathlib import Path

import pytest

PACKAGE = find_spec("tieproof")
assert PACKAGE is not None
assert PACKAGE.origin is not None
SOURCE = Path(PACKAGE.origin).parent  # beside this file, or of an installed wheel
NEEDED = {
    SOURCE / "compat" / "oml": "torch",
    SOURCE / "compat" / "distributed.py": "torch",
    SOURCE / "compat" / "torchmetrics": "torchmetrics",
    SOURCE / "inputs" / "readers" / "ranx.py": "numba",
    SOURCE / "integrations" / "sentence_transformers": "sentence_transformers",
    SOURCE / "measures" / "confidence" / "regions.py": "arviz_stats",
    SOURCE / "measures" / "confidence" / "retrieval.py": "scipy",
    SOURCE / "integrations" / "sklearn": "sklearn",
    SOURCE / "integrations" / "mteb.py": "mteb",
    SOURCE / "integrations" / "ir_measures": "ir_measures",
}

OF_SOURCES = [
    Path(__file__).parent / "tests" / "native" / "test_native_library.py",
    Path(__file__).parent / "tests" / "native" / "test_native_calls.py",
    Path(__file__).parent / "tests" / "native" / "test_other_machines.py",
    Path(__file__).parent / "tests" / "project" / "test_building.py",
]
"""Tests that read and compile the sources of kernels, which wheels do not contain."""

ABSENT = [path for path, library in NEEDED.items() if find_spec(library) is None]
ABSENT += [] if (SOURCE / "native" / "kernels").is_dir() else OF_SOURCES


WHOLLY_HEAVY = re.compile(r"^pytestmark = (\[[^]]*)?pytest\.mark\.heavy\b", re.MULTILINE)
"""In the text of a module of tests: all of its tests are heavy."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out modules that cannot be imported, and those that load heavy libraries for tests that will not run."""
    light = "not heavy" in config.option.markexpr
    if any(collection_path.is_relative_to(path) for path in [*ABSENT, *(NEEDED if light else ())]):
        return True
    is_module = light and collection_path.suffix == ".py"
    return True if is_module and WHOLLY_HEAVY.search(collection_path.read_text("utf-8")) else None


PLAIN = str | int | float | bytes | None
"""The types of values that are the same if they are equal; other values are the same if they are one object."""

LEAST = 3
"""The cases of a test that always run; a test with no more than these is never sampled."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that chooses among the cases of crossed parameters."""
    parser.addoption(
        "--crossings",
        choices=("sample", "rest", "all"),
        default="sample",
        help="of tests that cross several parameters, run a sample (with every parameter's values), the rest, or all",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the doctests of modules that need heavy libraries, and leave out the cases that were not chosen."""
    heavy = {file: any(file.is_relative_to(path) for path in NEEDED) for file in {item.path for item in items}}
    for item in items:
        if heavy[item.path]:
            item.add_marker(pytest.mark.heavy)
    wanted = config.getoption("crossings")
    named = any("::" in argument and "[" in argument for argument in config.args)
    if wanted == "all" or named:
        return
    asked = any("::" in argument for argument in config.args)
    chosen = sample([item for item in items if asked or item.get_closest_marker("long") is None])
    left = [item for item in items if (item in chosen) != (wanted == "sample")]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if (item in chosen) == (wanted == "sample")]


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collect tests without the garbage collector, which would look at all of them again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def sample(items: list[pytest.Item]) -> set[pytest.Item]:
    """The cases that always run: in a random order that is the same each time, first those with most new values."""
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        tests[item.nodeid.partition("[")[0]].append(item)
    chosen: set[pytest.Item] = set()
    for test, cases in tests.items():
        if len(cases) <= LEAST:
            chosen.update(cases)
            continue
        order = random.Random(test).sample(cases, len(cases))
        values = {case: values_of(case) for case in order}
        met: set[object] = set()
        new = []
        for count in range(max(map(len, values.values())), 0, -1):
            for case in order:
                if len(values[case] - met) >= count:
                    new.append(case)
                    met |= values[case]
        mark = cases[0].get_closest_marker("few")
        chosen.update(new if mark is None else new[: mark.args[0]])
        chosen.update([case for case in order if case not in new][: max(0, LEAST - len(new))])
    return chosen


def values_of(case: pytest.Item) -> set[object]:
    """The values of a case's parameters."""
    parameters = case.callspec.params.items() if hasattr(case, "callspec") else ()
    return {(key, type(value), value if isinstance(value, PLAIN) else id(value)) for key, value in parameters}
