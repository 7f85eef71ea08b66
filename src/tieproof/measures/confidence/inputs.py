"""The confidences that users pass, checked, and the ties among them."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.errors import InputError
from tieproof.inputs.arrays import as_numbers, check_count, check_finite
from tieproof.inputs.options import as_shares
from tieproof.ties import Array, FloatArray, IntArray

LARGEST = 1e60  # the largest number accepted: neither its square nor quotients of squares overflow float64


def as_column(values: Any, name: str, count: int | None = None, items: str = "queries") -> Array:
    """Finite real numbers (n,), one for each of `count` items, in their own dtype, so that no tie comes or goes."""
    array = as_numbers(values, name)
    if array.ndim == 2 and 1 in array.shape:
        array = array.ravel()
    if array.ndim != 1:
        raise InputError(f"The {name} must have shape (n,), not {array.shape}.")
    if count is not None:
        check_count(len(array), name, count, items)
    if not len(array):
        raise InputError(f"The {name} are empty. Pass at least one number.")
    check_finite(array, name)
    return array


def as_floats(values: Any, name: str, count: int | None = None, items: str = "queries") -> FloatArray:
    """Real numbers of shape (n,) as float64, none larger than `LARGEST`."""
    return finite_floats(as_column(values, name, count, items), name)


def finite_floats(array: Array, name: str) -> FloatArray:
    """The numbers as float64; NaN, infinity and numbers larger than `LARGEST` are refused."""
    check_finite(array, name)
    floats = array.astype(np.float64)
    too_large = np.argwhere(np.abs(floats) > LARGEST)
    if len(too_large):
        place = tuple(too_large[0].tolist())
        raise InputError(
            f"The {name} contain {floats[place]} at {list(place)}, larger than {LARGEST:g}. Divide all by one number."
        )
    return floats


def check_scale(scale: FloatArray) -> FloatArray:
    """Refuse standard deviations that are not larger than 0, or so small that quotients overflow."""
    wrong = np.argwhere(scale < 1 / LARGEST)
    if len(wrong):
        place = tuple(wrong[0].tolist())
        raise InputError(
            f"The scales must be standard deviations of at least {1 / LARGEST:g}, but contain {scale[place]} at "
            f"{list(place)}. Pass sigma, not its logarithm, and for certain points a small positive sigma."
        )
    return scale


def as_masses(mass: float | Iterable[float]) -> tuple[float, ...]:
    """Check the masses of regions: probabilities larger than 0 and smaller than 1; a number alone is one mass."""
    masses = as_shares(mass, "A mass", "mass=(0.95,)")
    for each in masses:
        if each in (0.0, 1.0):
            raise InputError(
                f"A mass must be larger than 0 and smaller than 1, not {each:g}: pass a mass such as 0.95."
            )
    return masses


class ConfidenceTies(NamedTuple):
    """The number of ties among confidences, the number of tied queries, and the size of the largest tie."""

    ties: int
    tied_queries: int
    largest_tie: int


class Groups(NamedTuple):
    """Queries of equal confidence, the most confident first."""

    of_query: IntArray  # (n,) the group of each query
    start: IntArray  # (G,) how many queries are more confident than the queries of each group
    length: IntArray  # (G,) how many queries each group has

    @classmethod
    def of(cls, confidence: npt.NDArray[np.generic]) -> "Groups":
        """The groups of confidences (n,)."""
        distinct, place = np.unique(confidence, return_inverse=True)
        of_query = (len(distinct) - 1 - place).astype(np.int64)
        length = np.bincount(of_query)
        return cls(of_query, np.cumsum(length) - length, length)

    @property
    def ties(self) -> ConfidenceTies:
        """Counts of the groups with more than one query."""
        tied = self.length[self.length > 1]
        return ConfidenceTies(len(tied), int(tied.sum()), int(tied.max(initial=0)))
