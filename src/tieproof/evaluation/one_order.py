"""`Result.std_of_one_order`: how far one order of the gallery for all queries spreads a mean, by simulation.

result, the data again ──► the tie of each item for each query ──► a drawn order of all items ranks those of each tie
                       ──► rankings without ties ──► the mean of each draw ──► `OneOrderStd`
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.evaluation.given_lists import list_parts
from tieproof.evaluation.measured import Measured
from tieproof.evaluation.nearest import data_of, lists_of, problem_of
from tieproof.evaluation.printed import without_ties
from tieproof.inputs.lists import LabeledRows, Rows
from tieproof.inputs.options import check_whole
from tieproof.measures import Measure
from tieproof.ties import IntArray


class OneOrderStd(NamedTuple):
    """The standard deviation of a mean over orders of the gallery; `Result.std_of_one_order` returns it.

    std : the standard deviation over the drawn orders, each of which ranks the tied items of all queries
    standard_error : the standard error of `std`, because the orders are drawn
    draws : the number of drawn orders
    """

    std: float
    standard_error: float
    draws: int


def std_of_one_order(
    result: Measured, measure: Measure, draws: int, seed: int, evaluated: Mapping[str, Any]
) -> OneOrderStd:
    """Return the standard deviation of the mean over drawn orders of all items; see `Result.std_of_one_order`."""
    check_whole("draws", draws, 2)
    check_whole("seed", seed, 0)
    with data_of(result, evaluated) as (kind, given):
        if kind == "run":
            raise InputError(
                "One order of the gallery breaks ties of embeddings and of matrices, not of a run, whose lists have "
                "few documents in common. as_printed tells what an order of their ids gives.",
                "run",
            )
        ties, judged = (_ties_of_embeddings if kind == "embeddings" else _ties_of_lists)(result, given)
        queries, items = ties.shape
        ties *= items  # so that the place of an item in an order can be added
        random, means = np.random.default_rng(seed), []
        for _ in range(draws):
            parts = list_parts(ties + random.permutation(items), judged, None, "distances", True)
            means.append(without_ties(result, parts, queries, {measure: measure})[measure].expected)
    return OneOrderStd(*_std_of(means), draws)


def _std_of(values: list[float]) -> tuple[float, float]:
    """Return the standard deviation of drawn values, and its standard error.

    The variance of the sample variance is (m4 - m2^2 (n - 3) / (n - 1)) / n (Mood, Graybill and Boes 1974, chapter
    VI), and the error of its root follows by the derivative.
    """
    n, mean = len(values), math.fsum(values) / len(values)
    squares = [(value - mean) * (value - mean) for value in values]
    variance, fourth = math.fsum(squares) / (n - 1), math.fsum(square * square for square in squares) / n
    error = max(0.0, fourth - variance * variance * (n - 3) / (n - 1)) / n
    return math.sqrt(variance), math.sqrt(error / variance) / 2 if variance else 0.0


def _ties_of_embeddings(result: Measured, given: Mapping[str, Any]) -> tuple[IntArray, Rows]:
    """Return the number of the tie of each item for each query, (q, n), and the grades, -1 for excluded items."""
    from tieproof.engine import neighbors_of

    problem = problem_of(result, given)
    shape = problem.relevance.n_queries, problem.relevance.n_items
    queries = np.arange(shape[0])
    block = problem.relevance.block(queries)
    ties, grades = np.zeros(shape, dtype=np.int64), np.full(shape, -1.0)
    for query, (near, _) in enumerate(neighbors_of(problem, queries, shape[1])):
        ties[query, near.item], grades[query, near.item] = near.tie, 0
    relevant = np.repeat(queries, np.diff(block.pointer)), block.items
    grades[relevant] = 1.0 if block.grades is None else block.grades
    return ties, grades


def _ties_of_lists(result: Measured, given: Mapping[str, Any]) -> tuple[IntArray, Rows | LabeledRows]:
    """Return the number of the tie of each column for each list, (q, n), and the relevance."""
    name, rows, judged = lists_of(result, given)
    if len({len(row) for row in rows}) > 1 or given.get("n_relevant") is not None:
        raise InputError(
            f"One order of the gallery needs a matrix of {name} with the same items in each row, and not lists of "
            "several lengths or lists that were cut off. Write the ranking as a run, with the ids of items.",
            name,
        )
    ties = np.stack([np.unique(row, return_inverse=True)[1] for row in rows])
    together = judged if isinstance(judged, LabeledRows) else np.stack([*judged])
    return (ties if name == "distances" else ties.max() - ties), together
