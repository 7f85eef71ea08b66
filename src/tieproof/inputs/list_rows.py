"""Reads and checks lists of numbers, one for each query: a matrix, or lists of any lengths."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.arrays import as_numbers
from tieproof.inputs.list_relevance import LabelledRows
from tieproof.ties import Array, FloatArray

BLOCK_ENTRIES = 2**22
"""The number of entries of lists that are checked or ranked at a time."""


def as_rows(values: Any, name: str) -> Array | list[Array]:
    """Return a matrix as it is, anything else as a list of one-dimensional arrays."""
    if isinstance(values, list | tuple):
        rows = [as_numbers(row, name) for row in values]
        wrong = [row.shape for row in rows if row.ndim != 1]
        shape: tuple[int, ...] | None = None
        if wrong:
            shape = wrong[0] if any(wrong) or len(wrong) < len(rows) else (len(rows),)
    else:
        matrix = as_numbers(values, name)
        shape = None if matrix.ndim == 2 else matrix.shape
        if shape is None and len(matrix):
            return matrix
        rows = []
    if shape is not None:
        alone = f" For a single query, pass a matrix of one row, [{name}]." if len(shape) == 1 else ""
        raise InputError(
            f"The {name} must be a matrix (queries, items) or a list of one-dimensional arrays, one for each "
            f"query, not of the shape {shape}.{alone}"
        )
    if not rows:
        raise InputError(f"The {name} must contain a list for at least one query, but are empty.")
    return rows


def check_shapes(rows: Array | list[Array], judged: Array | list[Array], name: str) -> None:
    """Refuse relevance that does not have one value for each item."""
    if isinstance(rows, np.ndarray) and isinstance(judged, np.ndarray) and rows.shape == judged.shape:
        return
    if len(rows) != len(judged):
        raise InputError(
            f"The number of queries is {len(rows)} for the {name}, but {len(judged)} for the relevance. Pass both "
            "for every query."
        )
    for query, (row, relevant) in enumerate(zip(rows, judged, strict=True)):
        if len(row) != len(relevant):
            raise InputError(
                f"The number of {name} of query {query} is {len(row)}, but the number of its relevance values is "
                f"{len(relevant)}. Pass one of each for every item."
            )


def in_float64(block: Array, name: str, first_query: int) -> FloatArray:
    """Convert numbers to float64 without changing their order; numbers that are not finite are refused."""
    if block.dtype.kind in "iu" and block.size and max(abs(int(block.min())), int(block.max())) > 2**53:
        if name == "relevance":
            raise InputError(
                "The relevance contains a grade beyond 2^53, which float64 cannot represent exactly. Pass smaller "
                "grades."
            )
        # float64 would make different integers equal, so ranks, which have the same order, take their place.
        return np.unique(block, return_inverse=True)[1].reshape(block.shape).astype(np.float64)
    finite = np.isfinite(block)
    if not finite.all():
        query, item = np.argwhere(~finite)[0]
        raise InputError(
            f"The {name} must contain only finite numbers, but query {first_query + query} has {block[query, item]} "
            f"at item {item}. Leave the item out, or give it a negative relevance and a finite number."
        )
    return block.astype(np.float64)


def blocks(rows: Array | list[Array], judged: Array | list[Array] | LabelledRows) -> Iterator[tuple[Array, Array]]:
    """Yield matrices of numbers and relevance, each of consecutive lists of equal length."""
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
