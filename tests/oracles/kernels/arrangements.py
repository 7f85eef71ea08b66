"""The variance of a sum over the places of a tie and over the pairs of its places, as loops."""

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


def variance_of_one(a: FloatArray, l: int) -> float:
    """Var Z for a single relevant item, which adds a_i at place i of a tie of l items, and 0 at later places."""
    mean = squares = 0.0
    for value in a:
        mean += value
    mean /= l
    for value in a:
        squares += (value - mean) * (value - mean)
    variance: float = (squares + (l - a.shape[0]) * mean * mean) / l
    return variance


def variance_of(a: FloatArray, b: FloatArray, row: FloatArray, l: int, m: int) -> float:
    """Var Z from a and b at the first places of a tie of l items, 0 at later places; `row` is working memory."""
    size = a.shape[0]
    beyond = l - size
    others = l - 2 if l > 2 else 1
    all_b = 0.0
    for j in range(size):
        all_b += b[j]
    share = (m - 1) / others
    up_to_here = total_g = total_row = 0.0
    for j in range(size):
        up_to_here += b[j]
        row[j] = j * b[j] + (all_b - up_to_here)
        total_g += a[j] + share * row[j]
        total_row += row[j]
    mean = total_g / l
    center = total_row / ((l - 1.0) * others)
    linear = pairs = outside = sum_x = scatter = 0.0
    for j in range(size):
        distance = a[j] + share * row[j] - mean
        linear += distance * distance
        x = row[j] / others
        mean_before = sum_x / j if j else 0.0
        away = b[j] - x + center - mean_before
        pairs += j * (away * away) + scatter
        step = x - mean_before
        scatter += j / (j + 1) * step * step
        sum_x += x
        outside += (center - x) * (center - x)
    linear += beyond * mean * mean
    pairs += beyond * outside + beyond * (beyond - 1) / 2 * center * center
    single = m / l * ((l - m) / (l - 1))
    double = single * ((m - 1) / others) * ((l - m - 1) / (l - 3 if l > 3 else 1))
    variance: float = single * linear + double * pairs
    return variance
