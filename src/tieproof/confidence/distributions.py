"""Credible regions by a Gaussian or a von Mises-Fisher distribution of samples."""

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from tieproof.confidence.inputs import LARGEST, as_floats, check_scale, within_range
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


PANELS, NODES, WIDTHS = 128, 20, 40
"""Gauss-Legendre quadrature of the density: panels, nodes in each panel, and the range around the mode in widths."""


class VonMisesFisher:
    """The distribution on the unit sphere whose density at x is proportional to exp(concentration × direction.x).

    Scott et al. 2021 use the norm of an embedding as its concentration.

    Parameters
    ----------
    direction : (d,) numbers, d >= 2, not all 0
        The mode, of any length.
    concentration : a number larger than 0
        Called kappa in the literature; larger means more certain.

    """

    def __init__(self, direction: Any, concentration: float) -> None:
        values = as_floats(direction, "directions")
        length = math.sqrt(float((values * values).sum()))
        if len(values) < 2 or length == 0:
            raise InputError(
                f"The direction must be a nonzero vector of at least 2 dimensions, not {values.tolist()}."
            )
        if isinstance(concentration, bool) or not isinstance(concentration, Real) or not 0 < concentration <= LARGEST:
            raise InputError(
                f"The concentration must be a number larger than 0 and at most {LARGEST:g}, not {concentration!r}."
            )
        self.direction: FloatArray = values / length
        self.concentration: float = float(concentration)


@dataclass(frozen=True)
class Cap:
    """The points of the unit sphere within an angle, in radians, of a direction (d,) of length 1."""

    direction: FloatArray
    angle: float

    @property
    def cosine(self) -> float:
        """The smallest cosine similarity to the direction among the points inside."""
        return math.cos(self.angle)

    def contains(self, points: Any) -> BoolArray:
        """Whether each of the points (n, d), of any nonzero length, is inside, (n,)."""
        rows = as_points(points, len(self.direction))
        along = rows @ self.direction
        across = np.sqrt(((rows - along[:, None] * self.direction) ** 2).sum(axis=1))
        nothing = ~rows.any(axis=1)
        if nothing.any():
            raise InputError(f"The points must be nonzero vectors, but row {int(np.argmax(nothing))} is all zero.")
        return np.asarray(np.arctan2(across, along) <= self.angle)


def cap(posterior: VonMisesFisher, mass: float) -> Cap:
    """The credible region of a von Mises-Fisher posterior."""
    return Cap(posterior.direction, cap_angle(mass, len(posterior.direction), posterior.concentration))


def cap_angle(mass: float, dimensions: int, concentration: float) -> float:
    """The angle around the mode within which the probability is `mass` (extra `stats`).

    The angle phi has a density proportional to exp(kappa cos phi) sin(phi)^(d-2) (Mardia and Jupp 2000, 9.3.4).

    >>> round(cap_angle(0.95, 3, 20.0), 12) == round(math.acos(1 + math.log(0.05 + 0.95 * math.exp(-40)) / 20), 12)
    True
    """
    try:
        from scipy.optimize import brentq
    except ImportError:
        raise MissingExtraError("A credible region", "stats") from None
    power = dimensions - 2
    root = math.hypot(power, 2 * concentration)
    mode = math.atan2(math.sqrt(2 * power / (power + root)), 2 * concentration / (power + root))
    width = math.sqrt(2 / (power + root))
    edges = np.linspace(max(0.0, mode - WIDTHS * width), min(math.pi, mode + WIDTHS * width), PANELS + 1)
    nodes, weights = np.polynomial.legendre.leggauss(NODES)

    def density(angle: FloatArray) -> FloatArray:
        """The density relative to its value at the mode."""
        rise = -2 * concentration * np.sin((angle + mode) / 2) * np.sin((angle - mode) / 2)
        if power:
            with np.errstate(divide="ignore"):  # exp(log(0)) is 0, as it should be
                rise = rise + power * np.log(np.sin(angle) / math.sin(mode))
        return np.asarray(np.exp(rise))

    def integrals(start: FloatArray, stop: FloatArray) -> FloatArray:
        half = (stop - start) / 2
        return np.asarray(half * (density(start + half * (nodes[:, None] + 1)) * weights[:, None]).sum(axis=0))

    below = np.append(0.0, np.cumsum(integrals(edges[:-1], edges[1:])))
    wanted = mass * below[-1]
    panel = int(np.searchsorted(below[1:-1], wanted))
    start, stop = edges[panel], edges[panel + 1]

    def excess(angle: float) -> float:
        return float(below[panel] - wanted + integrals(np.array([start]), np.array([angle]))[0])

    if excess(stop) <= 0:  # up to rounding, the mass is reached at the end of the panel
        return float(stop)
    return float(brentq(excess, start, stop, xtol=1e-300, rtol=4 * np.finfo(float).eps))
