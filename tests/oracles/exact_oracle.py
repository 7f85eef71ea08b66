"""Mean average precision in fractions, from the definition of each distance; imports nothing of tieproof."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import groupby
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt

Vector = list[Fraction]


def fractions(array: npt.NDArray[np.generic]) -> list[Vector]:
    """The exact values of floats or integers."""
    return [[Fraction(value.item()) for value in row] for row in np.asarray(array)]


def over_one_denominator(x: Sequence[Fraction]) -> tuple[list[int], int]:
    """The numerators of fractions over a common denominator, and the denominator; integers are added far faster."""
    denominator = lcm(*[value.denominator for value in x])
    return [value.numerator * (denominator // value.denominator) for value in x], denominator


def dot(x: Vector, y: Vector) -> Fraction:
    (ours, of_x), (theirs, of_y) = over_one_denominator(x), over_one_denominator(y)
    return Fraction(sum(a * b for a, b in zip(ours, theirs, strict=True)), of_x * of_y)


def whole_numbers(*arrays: npt.NDArray[np.generic]) -> Any:
    """The numbers of all arrays, multiplied by one number that makes them integers; this changes no ranking.

    They have type int, which has a numerator and a denominator, too, and is quicker than Fraction.
    """
    given = [fractions(array) for array in arrays]
    factor = lcm(*[value.denominator for rows in given for row in rows for value in row])
    return [[[value.numerator * (factor // value.denominator) for value in row] for row in rows] for rows in given]


def differences(x: Vector, y: Vector) -> tuple[list[int], int]:
    """x - y over a common denominator."""
    both, denominator = over_one_denominator([*x, *y])
    return [a - b for a, b in zip(both[: len(x)], both[len(x) :], strict=True)], denominator


def cosine_key(x: Vector, y: Vector) -> Fraction:
    """Grows with x.y / (|x| |y|): the signed square of x.y / |y|; 0 where a vector is zero."""
    product, square = dot(x, y), dot(y, y)
    return product * abs(product) / square if square else Fraction(0)


def euclidean_key(x: Vector, y: Vector) -> Fraction:
    steps, denominator = differences(x, y)
    return -Fraction(sum(step * step for step in steps), denominator**2)


def cityblock_key(x: Vector, y: Vector) -> Fraction:
    steps, denominator = differences(x, y)
    return -Fraction(sum(map(abs, steps)), denominator)


def hamming_key(x: Vector, y: Vector) -> Fraction:
    return -Fraction(sum(a != b for a, b in zip(x, y, strict=True)))


KEYS: dict[str, Callable[[Vector, Vector], Fraction]] = {
    "cosine": cosine_key,
    "euclidean": euclidean_key,
    "sqeuclidean": euclidean_key,
    "cityblock": cityblock_key,
    "dot": dot,
    "hamming": hamming_key,
}

ORDERS = tuple(name for name in KEYS if name not in ("sqeuclidean", "hamming"))
"""The distances of numbers with different rankings; squares rank as their roots do."""


def average_precision(keys: Sequence[Fraction], relevant: Sequence[bool]) -> tuple[Fraction, Fraction, Fraction]:
    """Lower, expected and upper AP of one ranking: relevant items are last, anywhere, or first in their tie."""
    lower = expected = upper = Fraction(0)
    k = n = 0
    ranking = sorted(zip(over_one_denominator(keys)[0], relevant, strict=True), reverse=True)
    for _, tie in groupby(ranking, key=lambda item: item[0]):
        members = [bool(flag) for _, flag in tie]
        size, m = len(members), sum(members)
        for j in range(1, m + 1):
            lower += Fraction(n + j, k + size - m + j)
            upper += Fraction(n + j, k + j)
        for i in range(1, size + 1):
            # Position i contains a relevant item with probability m / size; then (i - 1) (m - 1) / (size - 1) of
            # the positions before it do on average.
            others = max(size - 1, 1)
            expected += Fraction(m * ((n + 1) * others + (i - 1) * (m - 1)), size * others * (k + i))
        k += size
        n += m
    return lower / n, expected / n, upper / n


def mean_average_precision(
    distance: str,
    queries: npt.NDArray[np.generic],
    query_labels: Sequence[int],
    gallery: npt.NDArray[np.generic] | None = None,
    gallery_labels: Sequence[int] | None = None,
) -> tuple[Fraction, Fraction, Fraction]:
    """Means over the queries that have a relevant item; leave-one-out without a gallery."""
    rows, items = whole_numbers(queries, queries if gallery is None else gallery)
    labels = query_labels if gallery_labels is None else gallery_labels
    total = [Fraction(0)] * 3
    count = 0
    for q, row in enumerate(rows):
        others = [i for i in range(len(items)) if gallery is not None or i != q]
        relevant = [labels[i] == query_labels[q] for i in others]
        if not any(relevant):
            continue
        keys = [KEYS[distance](row, items[i]) for i in others]
        values = average_precision(keys, relevant)
        total = [a + b for a, b in zip(total, values, strict=True)]
        count += 1
    return total[0] / count, total[1] / count, total[2] / count
