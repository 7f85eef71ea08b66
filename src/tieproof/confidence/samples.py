"""The credible region of samples of a posterior: the shortest intervals."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tieproof.confidence.inputs import within_range
from tieproof.errors import InputError, MissingExtraError
from tieproof.inputs.arrays import as_numbers, check_finite
from tieproof.ties import BoolArray, FloatArray


@dataclass(frozen=True)
class Interval:
    """From `low` to `high`: arrays of shape (), or (d,) with an interval for each column of the samples."""

    low: FloatArray
    high: FloatArray

    def contains(self, values: Any) -> BoolArray:
        """Whether each value is inside its interval."""
        array = as_numbers(values, "values")
        check_finite(array, "values")
        return np.asarray((self.low <= array) & (array <= self.high))


def interval(samples: Any, mass: float) -> Interval:
    """The shortest interval with the mass for each column of samples, (n,) or (n, d), by arviz (extra `stats`)."""
    array = as_numbers(samples, "samples")
    if array.ndim not in (1, 2) or not array.size:
        raise InputError(
            f"The samples must have shape (n,) or (n, dimensions) and not be empty, but have shape {array.shape}."
        )
    check_finite(array, "samples")
    try:
        from arviz_stats.base import array_stats
    except ImportError:
        raise MissingExtraError("A credible region of samples", "stats") from None
    ends = np.asarray(array_stats.hdi(within_range(array, "samples"), prob=mass, axis=0))
    return Interval(ends[..., 0], ends[..., 1])
