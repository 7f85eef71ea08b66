"""`credible_region`: the smallest region with a given probability under a posterior."""

from collections.abc import Callable
from typing import Any, overload

from tieproof.confidence.distributions import Cap, Ellipsoid, Gaussian, VonMisesFisher, cap, ellipsoid
from tieproof.confidence.inputs import Interval, as_masses, interval
from tieproof.errors import InputError

REGIONS: dict[type, Callable[[Any, float], Any]] = {Gaussian: ellipsoid, VonMisesFisher: cap}
"""The functions for posteriors that are given by parameters; anything else is treated as samples."""


@overload
def credible_region(posterior: Gaussian, mass: float = ...) -> Ellipsoid: ...
@overload
def credible_region(posterior: VonMisesFisher, mass: float = ...) -> Cap: ...
@overload
def credible_region(posterior: Any, mass: float = ...) -> Interval: ...
def credible_region(posterior: Any, mass: float = 0.95) -> Any:
    """The highest posterior density region (HDI, HDPI): the smallest of all regions with the given mass.

    The density at every point inside is at least the density at every point outside, so the mode is inside
    (Hyndman 1996). Every region has `contains(points)`.

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
        computed by `arviz_stats` (floor(mass n) + 1 samples; the lowest of several shortest intervals).

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
    >>> from tieproof.confidence import Gaussian, VonMisesFisher, credible_region
    >>> credible_region(Gaussian([0, 0], [1, 2])).contains([[0, 4.8], [0, 4.9]]).tolist()
    [True, False]
    >>> round(credible_region(VonMisesFisher([0, 0, 1], 20.0)).cosine, 6)
    0.850213

    """
    masses = as_masses(mass)
    if len(masses) != 1:
        raise InputError(f"mass must be a single number, not {len(masses)}. Call credible_region once for each mass.")
    make: Callable[[Any, float], Any] = REGIONS.get(type(posterior), interval)
    return make(posterior, masses[0])
