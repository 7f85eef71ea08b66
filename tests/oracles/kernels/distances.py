"""Tiles of city-block distances, and squared sines from sums, as loops."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


def city_block_tile(x: npt.NDArray[Any], y: npt.NDArray[Any], out: npt.NDArray[Any]) -> None:
    """out[i, j] = - sum over d of |x[i, d] - y[j, d]|, summed in the order of d."""
    out[:] = 0
    for d in range(x.shape[1]):
        out -= abs(x[:, None, d] - y[:, d])


def combine(
    e: FloatArray,
    e_error: FloatArray,
    f: FloatArray,
    f_error: FloatArray,
    x_square: FloatArray,
    y_square: FloatArray,
    relative: float,
) -> None:
    """Replace e by the key and e_error by its error, which is infinite if the sign of x.y is unknown."""
    for i in range(len(e)):
        x, y = float(x_square[i]), float(y_square[i])
        if x == 0.0 or y == 0.0:
            e[i], e_error[i] = -1.0, 0.0
            continue
        of_e, of_f, off = float(e[i]), float(f[i]), float(f_error[i])
        projection = of_f * of_f / x
        sine = (of_e - projection) / y
        error = float(e_error[i]) + (2.0 * abs(of_f) + off) * off / x + relative * (abs(of_e) + projection)
        inner = of_f + x
        is_open = abs(inner) <= off + relative * (abs(of_f) + x)
        e[i] = -sine if inner > 0.0 else sine - 2.0
        e_error[i] = math.inf if is_open else (error / y + relative) * (1.0 + relative) if inner < 0.0 else error / y
