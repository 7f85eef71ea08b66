"""A Gaussian posterior, and its credible region: an ellipsoid."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tieproof.confidence.inputs import as_floats, check_scale, within_range
from tieproof.errors import InputError, MissingExtraError
from tieproof.inputs.arrays import as_numbers, check_finite
from tieproof.ties import BoolArray, FloatArray


class Gaussian:
    """Independent normal distributions, one for each dimension.

    Parameters
    ----------
    mean : (d,) numbers
    scale : a number, or (d,) numbers
        Standard deviations (the sigma of probabilistic embeddings), larger than 0.

    """

    def __init__(self, mean: Any, scale: Any) -> None:
        self.mean = as_floats(mean, "means")
        scales = np.full(len(self.mean), scale) if np.ndim(scale) == 0 else scale
        self.scale = check_scale(as_floats(scales, "scales", len(self.mean), "means"))


@dataclass(frozen=True)
class Ellipsoid:
    """The points x with ((x_1 - mean_1) / scale_1)² + … <= radius².

    mean, scale : (d,)
    """

    mean: FloatArray
    scale: FloatArray
    radius: float

    def contains(self, points: Any) -> BoolArray:
        """Whether each of the points (n, d) is inside, (n,)."""
        rows = as_points(points, len(self.mean))
        return np.asarray((((rows - self.mean) / self.scale) ** 2).sum(axis=1) <= self.radius**2)


def as_points(points: Any, dimensions: int) -> FloatArray:
    """Points as floats of shape (n, d)."""
    array = as_numbers(points, "points")
    if array.ndim != 2 or array.shape[1] != dimensions:
        raise InputError(f"The points must have shape (n, {dimensions}), not {array.shape}.")
    check_finite(array, "points")
    return within_range(array, "points")


def squared_radius(mass: float, dimensions: int) -> float:
    """The quantile `mass` of the chi-squared distribution with `dimensions` degrees of freedom (extra `stats`).

    >>> squared_radius(0.95, 2)
    5.991464547107979
    """
    try:
        from scipy.special import gammaincinv
    except ImportError:
        raise MissingExtraError("A credible region", "stats") from None
    return 2 * float(gammaincinv(dimensions / 2, mass))


def ellipsoid(posterior: Gaussian, mass: float) -> Ellipsoid:
    """The credible region of a Gaussian posterior."""
    return Ellipsoid(posterior.mean, posterior.scale, math.sqrt(squared_radius(mass, len(posterior.mean))))
