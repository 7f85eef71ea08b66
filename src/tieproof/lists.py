"""Rankings given as scores or distances: matrices and ragged lists."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tieproof.arrays import as_numbers
from tieproof.errors import InputError
from tieproof.measures import DEFAULT_MEASURES, Measure
from tieproof.result import Result, Setting
from tieproof.scoring import Empty, Parts, check_empty, parse_measures, score

BLOCK_ENTRIES = 2**22
"""Entries of a matrix that are ranked together."""

FloatArray = npt.NDArray[np.float64]
Row = npt.NDArray[Any]


def evaluate_scores(
    scores: Any,
    relevance: Any,
    *,
    measures: Sequence[str | Measure] = DEFAULT_MEASURES,
    empty: Empty = "skip",
) -> Result:
    """Score rankings given as scores; larger is nearer, and the given floats are the numbers.

    Parameters
    ----------
    scores : (q, n) array, or a list of q arrays of any lengths
    relevance : the same shape
        0 not relevant, above 0 relevant with that grade, below 0 excluded from the ranking.
    measures, empty :
        As in `evaluate`.

    Examples
    --------
    >>> import tieproof as tp
    >>> tp.evaluate_scores([[0.9, 0.5, 0.5, 0.1]], [[0, 1, 0, 0]], measures=["RR"])["RR"]
    Estimate(lower=0.3333333333333333, expected=0.41666666666666663, upper=0.5, std=0.08333333333333333)

    """
    return evaluate_lists(scores, relevance, measures, empty, name="scores", sign=1)


def evaluate_distances(
    distances: Any,
    relevance: Any,
    *,
    measures: Sequence[str | Measure] = DEFAULT_MEASURES,
    empty: Empty = "skip",
) -> Result:
    """Score rankings given as distances: as `evaluate_scores`, and smaller is nearer.

    Examples
    --------
    >>> import tieproof as tp
    >>> tp.evaluate_distances([[0.0, 1.0, 1.0]], [[1, 1, 0]], measures=["P@1"])["P@1"].lower
    1.0

    """
    return evaluate_lists(distances, relevance, measures, empty, name="distances", sign=-1)


def evaluate_lists(
    values: Any, relevance: Any, measures: Sequence[str | Measure], empty: Empty, name: str, sign: int
) -> Result:
    """What scores and distances share."""
    wanted = parse_measures(measures)
    check_empty(empty)
    rows, judged = as_rows(values, name), as_rows(relevance, "relevance")
    check_shapes(rows, judged, name)
    setting = Setting(
        distance=name,
        leave_one_out=False,
        queries=len(rows),
        gallery=max(len(row) for row in rows),
        dimensions=None,
        empty=empty,
    )
    return score(list_parts(rows, judged, name, sign), wanted, setting, zero_vectors=0)


def as_rows(values: Any, name: str) -> Row | list[Row]:
    """A matrix as it is, anything else as a list of one-dimensional arrays."""
    if isinstance(values, list | tuple):
        rows = [as_numbers(row, name) for row in values]
        wrong = [row.shape for row in rows if row.ndim != 1]
        shape: tuple[int, ...] | None = wrong[0] if wrong else None
    else:
        matrix = as_numbers(values, name)
        shape = None if matrix.ndim == 2 else matrix.shape
        if shape is None and len(matrix):
            return matrix
        rows = []
    if shape is not None:
        raise InputError(
            f"The {name} must be a matrix (queries, items) or a list of one-dimensional arrays, one for each "
            f"query, and arrived with the shape {shape}."
        )
    if not rows:
        raise InputError(f"The {name} are empty. At least one query is needed.")
    return rows


def check_shapes(rows: Row | list[Row], judged: Row | list[Row], name: str) -> None:
    """Every item needs its relevance."""
    if len(rows) != len(judged):
        raise InputError(f"There are {name} for {len(rows)} queries and relevance for {len(judged)}.")
    for query, (row, relevant) in enumerate(zip(rows, judged, strict=True)):
        if len(row) != len(relevant):
            raise InputError(
                f"Query {query} has {len(row)} {name} and {len(relevant)} relevance values. Pass one for each item."
            )


def list_parts(rows: Row | list[Row], judged: Row | list[Row], name: str, sign: int) -> Parts:
    """The ties of all lists, a block of equally long ones at a time."""
    from tieproof.engine.dense import block_of_matrix, ties_of_scores

    start = 0
    for block, relevant in blocks(rows, judged):
        nearness = sign * as_floats(block, name, start)
        relevance = as_floats(relevant, "relevance", start)
        yield np.arange(start, start + len(block)), ties_of_scores(nearness, block_of_matrix(relevance))
        start += len(block)


def blocks(rows: Row | list[Row], judged: Row | list[Row]) -> Iterator[tuple[Row, Row]]:
    """Matrices of scores and relevance."""
    start = 0
    while start < len(rows):
        width = len(rows[start])
        stop = start + 1
        while (
            stop < len(rows)
            and len(rows[stop]) == width
            and rows[stop].dtype == rows[start].dtype
            and (stop - start) * width < BLOCK_ENTRIES
        ):
            stop += 1
        yield np.asarray(rows[start:stop]), np.asarray([np.asarray(row) for row in judged[start:stop]])
        start = stop


def as_floats(block: Row, name: str, first_query: int) -> FloatArray:
    """The numbers in float64, their order unchanged; refused where not finite."""
    if block.dtype.kind in "iu" and block.size and max(abs(int(block.min())), int(block.max())) > 2**53:
        if name == "relevance":
            raise InputError("The relevance holds a grade beyond 2^53, which float64 does not hold exactly.")
        # Float64 would merge neighbours: their ranks say the same.
        return np.unique(block, return_inverse=True)[1].reshape(block.shape).astype(np.float64)
    finite = np.isfinite(block)
    if not finite.all():
        query, item = np.argwhere(~finite)[0]
        raise InputError(
            f"The {name} must be finite numbers, and query {first_query + query} holds {block[query, item]} at "
            f"item {item}. Leave the item out, or mark it with a negative relevance and a finite number."
        )
    return block.astype(np.float64)
