"""The problems that are passed to the engine are complete when they are created, and never change."""

from dataclasses import FrozenInstanceError, fields
from typing import Any

import numpy as np
import pytest

from tieproof.engine import collisions_of, ties_of
from tieproof.engine.problem import Budget, Problem
from tieproof.evaluation.problems import ArgumentSide, as_budget, in_memory, make_problem, unwatched
from tieproof.inputs.options import FORMATS

DATA = np.random.default_rng(0).integers(-3, 4, size=(40, 5)).astype(np.float32)
LABELS, GROUPS = np.arange(40) % 4, np.arange(40) % 3
COLUMNS = np.eye(4, dtype=np.int64)[LABELS]
TRIPLES = np.column_stack([np.arange(40), (np.arange(40) + 7) % 40, np.arange(40) % 5 - 1])

PROBLEMS: dict[str, dict[str, Any]] = {
    "labels": {"queries": ArgumentSide(DATA, LABELS, GROUPS), "exclude": [(0, 4), (1, 5)]},
    "columns": {"queries": ArgumentSide(DATA, COLUMNS)},
    "triples": {"queries": ArgumentSide(DATA), "relevance": TRIPLES},
    "gallery": {"queries": ArgumentSide(DATA[:9], LABELS[:9]), "gallery": ArgumentSide(DATA[9:], LABELS[9:])},
    "codes": {"queries": ArgumentSide(DATA > 0, LABELS), "distance": "hamming"},
    "function": {"queries": ArgumentSide(DATA, LABELS), "distance": lambda x, y: -(x @ y.T)},
    "rounded": {"queries": ArgumentSide(DATA, LABELS), "rounding": FORMATS["bfloat16"]},
}


def problem_of(name: str) -> Problem:
    arguments = {"gallery": ArgumentSide(None), "distance": "cosine"} | PROBLEMS[name]
    return in_memory(
        make_problem(
            arguments.pop("queries"),
            arguments.pop("gallery"),
            arguments.pop("distance"),
            as_budget("8MiB", 2),
            **arguments,
        )
    )


@pytest.mark.parametrize("name", PROBLEMS)
def test_nothing_is_set_afterwards(name: str) -> None:
    problem = problem_of(name)
    for thing in (problem, problem.budget, problem.relevance):
        for field in fields(thing):
            with pytest.raises(FrozenInstanceError):
                setattr(thing, field.name, None)
        assert set(vars(thing)) == {field.name for field in fields(thing)}


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_engine_leaves_a_problem_as_it_is(name: str) -> None:
    problem = problem_of(name)
    relevance = dict(vars(problem.relevance))
    first, again = ([ties for _, ties in ties_of(problem, unwatched).parts] for _ in range(2))
    for ties, others in zip(first, again, strict=True):
        for column in ("query", "k", "n", "l", "m", "n_relevant", "n_items"):
            assert np.array_equal(getattr(ties, column), getattr(others, column))
    assert sum(len(found.queries) for found in collisions_of(problem, 0.0, unwatched)) == len(problem.queries)
    assert all(vars(problem.relevance)[field] is value for field, value in relevance.items())


def test_a_budget_as_people_write_it() -> None:
    assert as_budget("64MiB", 3) == Budget(memory=64 * 2**20, threads=3)
