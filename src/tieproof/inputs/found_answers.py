"""Converts answers of usearch or qdrant to matrices of ids and distances, filled up where fewer items were found."""

from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.list_rows import as_rows
from tieproof.inputs.neighbor_lists import NOTHING, as_ids, as_list_lengths, as_returned
from tieproof.ties import Array, IntArray


def as_matrices(found: Any, distances: Any) -> tuple[Any, Any]:
    """Return ids and distances of all queries; anything but answers of these libraries is returned as it is.

    >>> from types import SimpleNamespace as Point
    >>> as_matrices([[Point(id=4, score=0.5)], [Point(id=7, score=0.5), Point(id=2, score=0.25)]], None)[0].tolist()
    [[4, -1], [7, 2]]
    """
    try:
        returned = as_returned(found, distances, None, None)
        if returned.ids is found:
            return found, distances
        ids = [as_ids(row) for row in as_rows(returned.ids, "found ids")]
        numbers = list(as_rows(returned.numbers, "found distances"))
        lengths = as_list_lengths(returned.counts, np.array([len(row) for row in ids]))
    except InputError as error:
        error.argument = "found"
        raise
    return filled(ids, lengths, np.int64, NOTHING), filled(numbers, lengths, np.float32, np.nan)


def filled(rows: list[Array], lengths: IntArray, least: Any, nothing: float) -> Array:
    """Return the first entries of each list as a matrix filled up with `nothing`, in a type that holds all values."""
    some = [row[:length] for row, length in zip(rows, lengths, strict=True) if length]
    kind = np.result_type(least, *some) if some else least
    matrix = np.full((len(rows), max(1, *map(len, rows))), nothing, dtype=kind)
    for row, entries, length in zip(matrix, rows, lengths, strict=True):
        row[:length] = entries[:length]
    return matrix
