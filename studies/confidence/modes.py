"""Samples of a posterior with two modes: the shortest interval that holds them, and the smallest region."""

from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from studies.common import table
from tieproof.measures.confidence import credible_region

MODE = 5.0
"""The modes are at this distance from 0, which at a standard deviation of 1 leaves nothing between them."""

MASSES = (0.5, 0.8, 0.95)


def samples(count: int, seed: int) -> npt.NDArray[Any]:
    """So many samples of a normal distribution around each of the two modes."""
    random = np.random.default_rng(seed)
    return np.concatenate([random.normal(mode, 1.0, count) for mode in (-MODE, MODE)])


class Regions(NamedTuple):
    """The two regions of a mass.

    low, high : the ends of the shortest interval of the samples
    half : the smallest region of the distribution is the two intervals of this half width around the modes
    """

    mass: float
    low: float
    high: float
    half: float

    @property
    def gap(self) -> float:
        """The share of the interval that is outside the smallest region.

        >>> Regions(0.5, -6.0, 6.0, 1.0).gap
        0.6666666666666667
        """
        inside = sum(
            max(0.0, min(self.high, mode + self.half) - max(self.low, mode - self.half)) for mode in (-MODE, MODE)
        )
        return 1 - inside / (self.high - self.low)


def regions(found: npt.NDArray[Any], mass: float) -> Regions:
    """The regions of one mass."""
    interval = credible_region(found, mass)
    return Regions(mass, float(interval.low), float(interval.high), NormalDist().inv_cdf((1 + mass) / 2))


def section(count: int, seed: int) -> str:
    """The section of the report."""
    every = [regions(samples(count, seed), mass) for mass in MASSES]
    rows = [
        (
            f"{each.mass:g}",
            f"{each.low:.2f} to {each.high:.2f}",
            f"{each.high - each.low:.2f}",
            " and ".join(f"{mode - each.half:.2f} to {mode + each.half:.2f}" for mode in (-MODE, MODE)),
            f"{4 * each.half:.2f}",
            f"{each.gap:.0%}",
        )
        for each in every
    ]
    headings = ("mass", "shortest interval", "length", "smallest region", "length", "of the interval outside it")
    return f"""## Intervals of samples with two modes

The repository describes the interval of highest posterior density around the mode. A posterior may have two modes:
these are {count:,} samples of a normal distribution around {-MODE:g} and as many around {MODE:g}, both with the
standard deviation 1. `credible_region` of samples is the shortest single interval, as in other programs. It spans
the gap between the modes, where hardly any sample is; the smallest region with the same mass is two intervals:

{table(headings, rows, words=0)}
The interval therefore describes samples of one mode only. Split samples of several modes first."""
