"""The probabilities of the largest precision of one tie, as loops over values, places and hits."""

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


def chances_of_precisions(
    k: int, n: int, l: int, m: int, first: int, at: FloatArray, room: FloatArray, chances: FloatArray
) -> None:
    """Write the probabilities that no precision, and that any one, is at least each value; nothing is skipped."""
    for i, x in enumerate(at.tolist()):
        there, reached = [1.0] + m * [0.0], 0.0
        for place in range(1, l + 1):
            left = l - place + 1
            for h in reversed(range(m)):
                moved = there[h] * (max(m - h, 0) / left)
                there[h] *= max(left - m + h, 0) / left
                if h + 1 >= first and x <= (n + h + 1) / (k + place):
                    reached += moved
                else:
                    there[h + 1] += moved
        chances[:, i] = there[m], reached
