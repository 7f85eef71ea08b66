"""The variance of a sum over the places of a tie and over the pairs of its places, as loops."""

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


def variance_of_one(a: FloatArray, l: int) -> float:
    """Var Z of one relevant item, which adds a_i at place i of a tie of l items, 0 beyond them."""
    mean = squares = 0.0
    for value in a:
        mean += value
    mean /= l
    for value in a:
        squares += (value - mean) * (value - mean)
    variance: float = (squares + (l - a.shape[0]) * mean * mean) / l
    return variance


def variance_of(a: FloatArray, b: FloatArray, row: FloatArray, l: int, m: int) -> float:
    """Var Z from a and b at the first places of a tie of l items, 0 beyond them; `row` is room for as many."""
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
    centre = total_row / ((l - 1.0) * others)
    linear = pairs = outside = sum_x = scatter = 0.0
    for j in range(size):
        distance = a[j] + share * row[j] - mean
        linear += distance * distance
        x = row[j] / others
        mean_before = sum_x / j if j else 0.0
        away = b[j] - x + centre - mean_before
        pairs += j * (away * away) + scatter
        step = x - mean_before
        scatter += j / (j + 1) * step * step
        sum_x += x
        outside += (centre - x) * (centre - x)
    linear += beyond * mean * mean
    pairs += beyond * outside + beyond * (beyond - 1) / 2 * centre * centre
    single = m / l * ((l - m) / (l - 1))
    double = single * ((m - 1) / others) * ((l - m - 1) / (l - 3 if l > 3 else 1))
    variance: float = single * linear + double * pairs
    return variance


def trapezoid_variances(
    k: IntArray, n: IntArray, l: IntArray, m: IntArray, s: IntArray, room: FloatArray, variance: FloatArray
) -> None:
    """Var Z of each tie for a_i = (n u_i + w_i)/2 and b_i = u_i/2, w_i = 1/(k+i), u_i = w_(i-1) + w_i.

    At rank 1 the precision before is 1 and no pair ends there, so that b is of no account.
    """
    a, b, row = room[0], room[1], room[2]
    for t in range(k.shape[0]):
        last = k[t] + s[t]
        for j in range(s[t]):
            rank = k[t] + j + 1
            before = rank - 1 if rank > 1 else 1
            w = (last - rank) / (rank * np.float64(last))
            w_before = (last - 1 - before) / (before * np.float64(last - 1 if last > 1 else 1))
            b[j] = (w_before + w) / 2.0
            a[j] = n[t] * b[j] + w / 2.0 + (0.5 if rank == 1 else 0.0)
        variance[t] = variance_of(a[: s[t]], b[: s[t]], row[: s[t]], l[t], m[t])
