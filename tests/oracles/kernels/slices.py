"""Exact differences, slices and sums of slices, by fractions and by Python's integers."""

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


def subtract(rows: FloatArray, center: FloatArray, rest: FloatArray) -> bool:
    """Replace `rows` by the rounded rows - center, write the errors to `rest`, and return whether there are any."""
    for i, d in np.ndindex(*rows.shape):
        exact = Fraction(float(rows[i, d])) - Fraction(float(center[d]))
        rows[i, d] = rows[i, d] - center[d]
        rest[i, d] = float(exact - Fraction(float(rows[i, d])))
    return bool(rest.any())


def cut_off(rows: FloatArray, unit: float, piece: FloatArray) -> None:
    """Move whole multiples of `unit` from `rows` to `piece`."""
    for i, d in np.ndindex(*rows.shape):
        whole = math.trunc(Fraction(float(rows[i, d])) / Fraction(unit))
        rows[i, d] = float(Fraction(float(rows[i, d])) - whole * Fraction(unit))
        piece[i, d] += whole


def sums_of_pairs(
    factor: int,
    pairs: IntArray,
    where: IntArray,
    of_row: IntArray,
    rows: IntArray,
    of_column: IntArray,
    columns: IntArray,
) -> list[list[int]]:
    """Return factor * pairs[:, where[i]] + of_row[rows[i]] + of_column[columns[i]], place by place."""
    places = max(pairs.shape[0], of_row.shape[1], of_column.shape[1])

    def padded(numbers: IntArray) -> list[int]:
        return [*numbers.tolist(), *[0] * (places - len(numbers))]

    return [
        [
            factor * a + b + c
            for a, b, c in zip(padded(pairs[:, w]), padded(of_row[r]), padded(of_column[k]), strict=True)
        ]
        for w, r, k in zip(where, rows, columns, strict=True)
    ]


def rounded_sums(sums: list[list[int]], bits: int) -> tuple[list[float], list[float]]:
    """Sums in float64, from the highest place to the lowest, and sums of the magnitudes."""
    value, size = [0.0] * len(sums), [0.0] * len(sums)
    for i, places in enumerate(sums):
        for entry in places[::-1]:
            value[i] = value[i] * 2.0**bits + float(entry)
            size[i] = size[i] * 2.0**bits + abs(float(entry))
    return value, size


def distances(x: FloatArray, y: FloatArray, rows: IntArray, columns: IntArray, bits: int) -> IntArray:
    """Sums of |x - y| by places: the sums of each place's differences, with the sign of the whole difference."""
    total = np.zeros((len(rows), len(x)), dtype=np.int64)
    for i, (row, column) in enumerate(zip(rows, columns, strict=True)):
        for a, b in zip(x[:, row].T, y[:, column].T, strict=True):
            places = [int(difference) for difference in a - b]
            number = sum(difference << bits * place for place, difference in enumerate(places))
            sign = (number > 0) - (number < 0)
            total[i] += [sign * difference for difference in places]
    return total
