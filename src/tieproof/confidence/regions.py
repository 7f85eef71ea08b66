"""`credible_region`: the smallest region that holds a posterior with a given probability."""

from collections.abc import Callable
from typing import Any, overload

from tieproof.confidence.gaussian import Ellipsoid, Gaussian, ellipsoid
from tieproof.confidence.inputs import as_masses
from tieproof.confidence.samples import Interval, interval
from tieproof.confidence.von_mises_fisher import Cap, VonMisesFisher, cap
from tieproof.errors import InputError

REGIONS: dict[type, Callable[[Any, float], Any]] = {Gaussian: ellipsoid, VonMisesFisher: cap}
"""Posteriors that are given by parameters; anything else is samples."""


@overload
def credible_region(posterior: Gaussian, mass: float = ...) -> Ellipsoid: ...
@overload
def credible_region(posterior: VonMisesFisher, mass: float = ...) -> Cap: ...
@overload
def credible_region(posterior: Any, mass: float = ...) -> Interval: ...
def credible_region(posterior: Any, mass: float = 0.95) -> Any:
    """The highest posterior density region (HDI, HDPI): of all regions that hold the mass, the smallest.

    Every point inside is at least as dense as every point outside, so that the mode is in it (Hyndman 1996).

    Parameters
    ----------
    posterior : `Gaussian(mean, scale)`, `VonMisesFisher(direction, concentration)`, or samples (n,) or (n, d)
    mass : a probability, larger than 0 and smaller than 1

    Returns
    -------
    Ellipsoid
        Of a Gaussian: sum of ((x - mean) / scale)² <= the mass-quantile of chi-squared with d degrees of freedom.
    Cap
        Of a von Mises-Fisher distribution: all directions within an angle of the mode. In 3 dimensions its cosine is
        1 + log(1 - mass (1 - exp(-2 kappa))) / kappa; in others the angle's density is integrated numerically.
    Interval
        Of samples: for each column by itself the shortest interval with a share `mass` of them, between two samples,
        as `arviz_stats` finds it (floor(mass n) + 1 samples; of several shortest ones the lowest).

    Each has `contains(points)`.

    Raises
    ------
    InputError
        NaN, infinity, wrong shapes; scales, concentrations or masses out of their range.
    MissingExtraError
        The quantiles are scipy's, the intervals arviz's (extra `stats`).

    Notes
    -----
    Quantiles are floats, and so are the distances that `contains` compares with them.

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
        raise InputError(f"A region has one mass, and {len(masses)} arrived. Call credible_region once for each.")
    make: Callable[[Any, float], Any] = REGIONS.get(type(posterior), interval)
    return make(posterior, masses[0])
