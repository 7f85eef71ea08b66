"""Products of sparse rows, in plain Python."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def entries_of(rows: Any, row: int) -> dict[int, Any]:
    """The entries of a row by their terms, ascending."""
    span = slice(rows.starts[row], rows.starts[row + 1])
    return dict(zip(rows.term[span].tolist(), rows.value[span], strict=True))


def products(rows: Any, items: Any, out: Array) -> None:
    """The product of each row with each item, added term after term in their type; -0.0 without a common term."""
    for row, item in np.ndindex(out.shape):
        own, total = entries_of(rows, row), out.dtype.type(-0.0)
        for term, value in entries_of(items, item).items():
            if term in own:
                total += value * own[term]
        out[row, item] = total


def products_of_pairs(x: Any, y: Any, rows: Array, items: Array, out: Array) -> None:
    """The product of each pair, added term after term in float64; -0.0 without a common term."""
    for pair, (row, item) in enumerate(zip(rows, items, strict=True)):
        own, others = entries_of(x, row), entries_of(y, item)
        common = [float(own[term]) * float(others[term]) for term in own if term in others]
        out[pair] = sum(common, 0.0) if common else -0.0
