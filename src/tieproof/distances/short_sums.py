"""float32 products whose sums are short, so that their bound is small, in the time of BLAS's long sums."""

from functools import cache

import numpy as np
import numpy.typing as npt

from tieproof.native.calls import Output, best_library, native

Floats = npt.NDArray[np.float32]

SUMMED = 64  # the number of products that are summed before these sums are added
ARRANGED, GROUP = 256, 48  # how many dimensions, and rows or items, are arranged and multiplied together
FASTEST_WAY = 1  # the fastest way to multiply, if this processor has it; tests choose the other


@cache
def sums_by_vectors() -> bool:
    """Whether this processor multiplies by vectors here; otherwise the products of BLAS are faster."""
    return bool(best_library().sums_by_vectors())


@native
def multiply_by_short_sums(
    rows: Floats, items: Floats, of_rows: Output[Floats], of_items: Output[Floats], way: int, out: Output[Floats]
) -> None:
    """out[i, j] = rows[i] . items[j], each a sum of sums of `SUMMED` products."""
    # of_rows, of_items: room for `ARRANGED` dimensions of the rows and of the items, and for a whole group of either
    # way: the fastest way that may be used


def product(rows: Floats, items: Floats) -> Floats:
    """The inner products of rows and items."""
    depth = min(rows.shape[1], ARRANGED)
    of_rows, of_items = (np.empty((len(side) + GROUP) * depth, dtype=np.float32) for side in (rows, items))
    out = np.empty((len(rows), len(items)), dtype=np.float32)
    multiply_by_short_sums(rows, items, of_rows, of_items, FASTEST_WAY, out)
    return out
