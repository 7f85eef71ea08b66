"""The numbers of lists, in float64 without a change of their order."""

from typing import Any

import numpy as np
import numpy.typing as npt

from tieproof.errors import InputError
from tieproof.ties import FloatArray

Row = npt.NDArray[Any]


def as_floats(block: Row, name: str, first_query: int) -> FloatArray:
    """The numbers in float64, their order unchanged; refused where not finite."""
    if block.dtype.kind in "iu" and block.size and max(abs(int(block.min())), int(block.max())) > 2**53:
        if name == "relevance":
            raise InputError("The relevance holds a grade beyond 2^53, which float64 does not hold exactly.")
        # Float64 would merge neighbours: their ranks say the same.
        return np.unique(block, return_inverse=True)[1].reshape(block.shape).astype(np.float64)
    finite = np.isfinite(block)
    if not finite.all():
        query, item = np.argwhere(~finite)[0]
        raise InputError(
            f"The {name} must be finite numbers, and query {first_query + query} holds {block[query, item]} at "
            f"item {item}. Leave the item out, or mark it with a negative relevance and a finite number."
        )
    return block.astype(np.float64)
