"""An evaluation leaves nothing behind, however it ends: no threads of BLAS or Python, no changed settings."""

import decimal
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import tieproof as tp
from tieproof.analyses.collisions import collisions
from tieproof.analyses.rates import counting
from tieproof.engine import collisions_of, ties_of
from tieproof.evaluation import progress, scoring
from tieproof.evaluation.problems import ArgumentSide, as_budget, in_memory, make_problem, unwatched
from tieproof.inputs.options import FORMATS

RANDOM = np.random.default_rng(0)
DATA = RANDOM.normal(size=(1500, 8)).astype(np.float32)
LABELS = np.arange(1500) % 30

CALLS: dict[str, Callable[..., Any]] = {
    "evaluate": partial(tp.evaluate, DATA, LABELS),
    "function": partial(tp.evaluate, DATA, LABELS, distance=lambda x, y: -(x @ y.T)),
    "precision": partial(tp.evaluate, DATA, LABELS, precision="float16"),
    "collisions": partial(tp.collisions, DATA, LABELS, epsilon=1e-4),
    "fnmr_at_fmr": partial(tp.fnmr_at_fmr, DATA, LABELS),
}

PLACES = [
    "tieproof.engine.counting.count_in_rows",
    "tieproof.engine.dense.count_lists",
    "tieproof.engine.rounded.round_tile",
    "tieproof.engine.collisions.written_down",
    "tieproof.analyses.rates.counting.histogram",
]
"""The calls that are made in each thread."""


def settings() -> dict[str, Any]:
    """The settings of the process."""
    handled = [signal.SIGINT, signal.SIGTERM, signal.SIGALRM] if hasattr(signal, "SIGALRM") else [signal.SIGINT]
    return {
        "threads of libraries": [(pool["filepath"], pool["num_threads"]) for pool in threadpool_info()],
        "signals": [signal.getsignal(number) for number in handled],
        "warnings": list(warnings.filters),
        "errors of NumPy": np.geterr(),
        "print options": np.get_printoptions(),
        "decimal": decimal.getcontext().copy().__reduce__(),
        "streams": (sys.stdout, sys.stderr, sys.excepthook),
        "recursion": sys.getrecursionlimit(),
        "random": np.random.get_state()[1].tolist(),  # type: ignore[index]  # noqa: NPY002
    }


def products() -> list[int]:
    """The number of threads of each library of matrix products."""
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.fixture(scope="module")
def libraries() -> None:
    """All libraries of the calls are loaded."""
    for call in CALLS.values():
        call()


@pytest.fixture
def left_as_found(libraries: None) -> Iterator[None]:
    """Settings are the same afterwards, and no thread is left, although the caller still holds the error."""
    with threadpool_limits(2):
        before, threads = settings(), threading.active_count()
        yield
        soon(lambda: threading.active_count() <= threads)
        assert settings() == before


def soon(holds: Callable[[], bool]) -> None:
    """Wait until the condition holds; threads need a moment to end."""
    for _ in range(200):
        if holds():
            return
        time.sleep(0.02)
    raise AssertionError("not within seconds")


def fails(*_: Any, **__: Any) -> Any:
    """An error of the caller."""
    raise RuntimeError("mine")


def assert_nothing_is_held(call: Callable[[], Any], threads: int) -> None:
    """Check while the error and its traceback still exist, as in a notebook or a debugger."""
    with pytest.raises(RuntimeError, match="mine") as error:
        call()
    assert error.value.__traceback__ is not None
    assert set(products()) == {2}
    assert not type(sys.stderr).__module__.startswith("rich")  # the progress bar has gone
    soon(lambda: threading.active_count() <= threads)


@pytest.mark.parametrize("call", CALLS)
def test_settings_are_left_as_found(call: str, left_as_found: None) -> None:
    CALLS[call]()


@pytest.mark.parametrize("call", CALLS)
def test_an_error_of_the_consumer(call: str, left_as_found: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SILENT_SECONDS", 0.0)
    monkeypatch.setattr(scoring, "count_by_query", fails)
    monkeypatch.setattr(collisions, "tie_widths", fails)
    monkeypatch.setattr(counting, "_narrowed", fails)
    assert_nothing_is_held(partial(CALLS[call], progress=True), threading.active_count())


@pytest.mark.parametrize("call", CALLS)
def test_an_error_in_a_thread(call: str, left_as_found: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SILENT_SECONDS", 0.0)
    for place in PLACES:
        monkeypatch.setattr(place, fails)
    assert_nothing_is_held(partial(CALLS[call], progress=True), threading.active_count())


@pytest.mark.parametrize("kind", ["tiles", "precision", "collisions"])
def test_a_generator_that_is_kept(kind: str, left_as_found: None) -> None:
    """The caller takes the first part of a generator, and never the next one."""
    sides, budget = (ArgumentSide(DATA, LABELS), ArgumentSide(None)), as_budget("8MiB", 2)
    rounding = FORMATS["float16"] if kind == "precision" else None
    problem = in_memory(make_problem(*sides, "cosine", budget, rounding=rounding))
    parts: Any = collisions_of(problem, 0.0, unwatched) if kind == "collisions" else ties_of(problem, unwatched).parts
    next(parts)
    soon(lambda: set(products()) == {2})
    parts.close()
