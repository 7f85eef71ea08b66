"""Products of sparse rows, in plain Python."""

from typing import Any

import numpy as np
import numpy.typing as npt

from kernels import scan
from kernels.digests import FIRST_FACTOR, FIRST_KEY, SECOND_FACTOR, SECOND_KEY, WORD, bits_of, folded, spread

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


def products_of_pairs(x: Any, y: Any, rows: Array, items: Array, of_rows: Array, of_items: Array, out: Array) -> None:
    """The product of each pair, divided, added term after term in float64; -0.0 without a common term."""
    for pair, (row, item, by, other) in enumerate(zip(rows, items, of_rows, of_items, strict=True)):
        own, others = entries_of(x, row), entries_of(y, item)
        common = [float(own[term]) / by * (float(others[term]) / other) for term in own if term in others]
        out[pair] = sum(common, 0.0) if common else -0.0


def aligned(x: Any, y: Any, rows: Array, items: Array, of_rows: Array, of_items: Array) -> None:
    """The values of both rows of each pair, in places of the terms that one of them has."""
    for pair, (row, item) in enumerate(zip(rows, items, strict=True)):
        own, others = entries_of(x, row), entries_of(y, item)
        for place, term in enumerate(sorted({*own, *others})):
            of_rows[pair, place], of_items[pair, place] = own.get(term, 0), others.get(term, 0)


def divided(rows: Any, chosen: Array, divisor: Array, norm: Array) -> list[tuple[int, float]]:
    """The entries of the chosen rows, each divided by its divisor and then by its norm."""
    by = zip(chosen, divisor.tolist(), norm.tolist(), strict=True)
    return [(t, float(v) / first / second) for row, first, second in by for t, v in entries_of(rows, row).items()]


def statistics(rows: Any, multipliers: Array, up_to_factor: bool) -> list[tuple[Any, ...]]:
    """The fields of `Statistics` of each row; its terms add to the checksum."""
    of_values, of_terms = np.split(multipliers, 2)
    found = []
    for row in range(len(rows.starts) - 1):
        terms, values = zip(*entries_of(rows, row).items(), strict=True)
        *others, checksum = scan.statistics(np.array(values, np.float64), of_values[: len(values)], up_to_factor)
        checksum += sum(term * int(multiplier) for term, multiplier in zip(terms, of_terms, strict=False))
        found.append((*others, checksum % 2**64))
    return found


def digests(rows: Any) -> list[list[int]]:
    """Two sums of the digests of the entries of each row."""
    keys = (FIRST_KEY, FIRST_FACTOR), (SECOND_KEY, SECOND_FACTOR)
    found = []
    for row in range(len(rows.starts) - 1):
        words = [(bits_of(float(v)), spread((t + FIRST_KEY) % WORD)) for t, v in entries_of(rows, row).items()]
        found.append([sum(folded(bits ^ key, term ^ factor) for bits, term in words) % WORD for key, factor in keys])
    return found
