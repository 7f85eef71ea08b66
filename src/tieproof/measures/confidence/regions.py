"""`credible_region`: where a posterior is with a given probability, and the regions themselves."""

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any, overload

import numpy as np

from tieproof.errors import InputError, import_extra
from tieproof.inputs.arrays import as_numbers, check_finite
from tieproof.measures.confidence.inputs import LARGEST, as_floats, as_masses, check_scale, finite_floats
from tieproof.ties import BoolArray, FloatArray

_PANELS, _NODES, _WIDTHS = 128, 20, 40  # of the quadrature: panels, nodes in each, range in widths of the mode


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
class Ellipsoid:
    """The points x with ((x_1 - mean_1) / scale_1)² + … <= radius².

    mean, scale : (d,)
    """

    mean: FloatArray
    scale: FloatArray
    radius: float

    def contains(self, points: Any) -> BoolArray:
        """Whether each of the points (n, d) is inside, (n,)."""
        rows = _as_points(points, len(self.mean))
        return np.asarray((((rows - self.mean) / self.scale) ** 2).sum(axis=1) <= self.radius**2)


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
        rows = _as_points(points, len(self.direction))
        along = rows @ self.direction
        across = np.sqrt(((rows - along[:, None] * self.direction) ** 2).sum(axis=1))
        nothing = ~rows.any(axis=1)
        if nothing.any():
            raise InputError(f"The points must be nonzero vectors, but row {int(np.argmax(nothing))} is all zero.")
        return np.asarray(np.arctan2(across, along) <= self.angle)


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


def _as_points(points: Any, dimensions: int) -> FloatArray:
    array = as_numbers(points, "points")
    if array.ndim != 2 or array.shape[1] != dimensions:
        raise InputError(f"The points must have shape (n, {dimensions}), not {array.shape}.")
    return finite_floats(array, "points")


@overload
def credible_region(posterior: Gaussian, mass: float = ...) -> Ellipsoid: ...
@overload
def credible_region(posterior: VonMisesFisher, mass: float = ...) -> Cap: ...
@overload
def credible_region(posterior: Any, mass: float = ...) -> Interval: ...
def credible_region(posterior: Any, mass: float = 0.95) -> Any:
    """The highest posterior density region (HDI, HPDI) of a distribution, or the shortest interval of samples.

    Of a distribution, it is the smallest of all regions with the given mass: the density at every point inside is at
    least the density at every point outside, so the mode is inside (Hyndman 1996). Of samples, it is the shortest
    single interval. That is the same region if the samples have one mode; if they have several, the interval also
    spans the gaps between them, and several intervals together would be shorter. Every region has
    `contains(points)`.

    Parameters
    ----------
    posterior : `Gaussian(mean, scale)`, `VonMisesFisher(direction, concentration)`, or samples (n,) or (n, d)
    mass : a probability, larger than 0 and smaller than 1

    Returns
    -------
    Ellipsoid
        For a Gaussian: sum of ((x - mean) / scale)² <= the mass-quantile of chi-squared with d degrees of freedom.
    Cap
        For a von Mises-Fisher distribution: all directions within an angle of the mode. In 3 dimensions the cosine of
        the angle is 1 + log(1 - mass (1 - exp(-2 kappa))) / kappa; in other dimensions the density of the angle is
        integrated numerically.
    Interval
        For samples: for each column the shortest interval between two samples that contains a share `mass` of them,
        computed by `arviz_stats` (floor(mass n) + 1 samples; the lowest of several shortest intervals). Regions of
        several intervals would need a density, and with it the choice of a bandwidth; split samples of several modes
        first, and ask for the region of each part.

    Raises
    ------
    InputError
        NaN, infinity, wrong shapes, or scales, concentrations or masses out of range.
    MissingExtraError
        The extra `stats` is not installed: quantiles are computed by scipy, intervals by arviz.

    Notes
    -----
    Quantiles, and the distances that `contains` compares with them, are floats with rounding errors.

    Examples
    --------
    >>> from tieproof.measures.confidence import Gaussian, VonMisesFisher, credible_region
    >>> credible_region(Gaussian([0, 0], [1, 2])).contains([[0, 4.8], [0, 4.9]]).tolist()
    [True, False]
    >>> round(credible_region(VonMisesFisher([0, 0, 1], 20.0)).cosine, 6)
    0.850213

    Samples of two modes have no mode in the middle of their interval:

    >>> region = credible_region([-5.1, -5.0, -4.9, 4.9, 5.0, 5.1], 0.5)
    >>> region.low.item(), region.high.item(), region.contains([0.0]).item()
    (-5.1, 4.9, True)

    """
    masses = as_masses(mass)
    if len(masses) != 1:
        raise InputError(f"mass must be a single number, not {len(masses)}. Call credible_region once for each mass.")
    if type(posterior) is Gaussian:
        radius = math.sqrt(squared_radius(masses[0], len(posterior.mean)))
        return Ellipsoid(posterior.mean, posterior.scale, radius)
    if type(posterior) is VonMisesFisher:
        angle = _cap_angle(masses[0], len(posterior.direction), posterior.concentration)
        return Cap(posterior.direction, angle)
    return _shortest_interval(posterior, masses[0])


def squared_radius(mass: float, dimensions: int) -> float:
    """The quantile `mass` of the chi-squared distribution with `dimensions` degrees of freedom (extra `stats`)."""
    return 2 * float(import_extra("scipy.special", "A credible region", "stats").gammaincinv(dimensions / 2, mass))


def _cap_angle(mass: float, dimensions: int, concentration: float) -> float:
    """The angle around the mode within which the probability is `mass` (extra `stats`)."""
    brentq = import_extra("scipy.optimize", "A credible region", "stats").brentq
    power = dimensions - 2
    root = math.hypot(power, 2 * concentration)
    mode = math.atan2(math.sqrt(2 * power / (power + root)), 2 * concentration / (power + root))
    width = math.sqrt(2 / (power + root))
    edges = np.linspace(max(0.0, mode - _WIDTHS * width), min(math.pi, mode + _WIDTHS * width), _PANELS + 1)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)

    def density(angle: FloatArray) -> FloatArray:
        """exp(kappa cos phi) sin(phi)^(d-2) relative to its value at the mode (Mardia and Jupp 2000, 9.3.4)."""
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


def _shortest_interval(samples: Any, mass: float) -> Interval:
    array = as_numbers(samples, "samples")
    if array.ndim not in (1, 2) or not array.size:
        raise InputError(
            f"The samples must have shape (n,) or (n, dimensions) and not be empty, but have shape {array.shape}."
        )
    floats = finite_floats(array, "samples")
    array_stats = import_extra("arviz_stats.base", "A credible region of samples", "stats").array_stats
    ends = np.asarray(array_stats.hdi(floats, prob=mass, axis=0))
    return Interval(ends[..., 0], ends[..., 1])
