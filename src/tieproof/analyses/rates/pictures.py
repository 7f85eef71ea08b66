"""The picture of a detection error tradeoff."""

from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from tieproof.show import style
from tieproof.show.files import takes_path
from tieproof.show.parts import fixed
from tieproof.ties import FloatArray

if TYPE_CHECKING:
    from tieproof.analyses.rates.curve import DetCurve

_TICKS = (0.0001, 0.001, 0.01, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 0.99)
_FEWEST, _MOST = 0.00005, 0.995  # the smallest and the largest rate that the picture shows


@takes_path
def plot(curve: "DetCurve", ax: Any = None) -> Any:
    """Draw the curve on axes of normal deviates (Martin et al. 1997), and the area that ties leave open.

    ax : matplotlib axes to draw on, or the path of a picture to write; None for new axes

    Returns the axes. Rates below 0.005% and above 99.5% are at the edge. Raises MissingExtraError if matplotlib is
    not installed.
    """
    ax = style.axes_or_new(ax, "DetCurve.plot", height=4.8)
    across, up = _deviates(curve.fmr), _deviates(curve.fnmr)
    before = np.concatenate([up[:1], up[:-1]])
    # Between two operating points, the best ordering has the later FNMR, and the worst one has the earlier FNMR.
    ax.fill_between(
        across, up, before, step="pre", color=style.SKY_BLUE, alpha=0.4, linewidth=0, label="over orderings of ties"
    )
    ax.plot(across, up, color=style.BLUE, label="all or none of a tie accepted")
    eer = curve.eer
    ax.plot(*(_deviates(np.array([eer.interpolated])),) * 2, "o", color=style.VERMILION, label="EER")
    edges = _deviates(np.array([0.0, 1.0]))
    ticks = _deviates(np.array(_TICKS))
    ax.set(xlim=edges, ylim=edges, xlabel="FMR", ylabel="FNMR", xticks=ticks, yticks=ticks)
    names = [f"{100 * tick:g}%" for tick in _TICKS]
    ax.set_xticklabels(names, fontsize=8)
    ax.set_yticklabels(names, fontsize=8)
    title = f"EER {fixed(eer.lower)} to {fixed(eer.upper)} over all orderings of tied pairs"
    ax.set_title(title, loc="left", fontsize=10)
    style.legend_below(ax, 3)
    return ax


def _deviates(rates: FloatArray) -> FloatArray:
    """The normal deviates of rates; those beyond the edges of the picture are at the edge."""
    distinct, place = np.unique(rates.clip(_FEWEST, _MOST), return_inverse=True)
    return np.array([NormalDist().inv_cdf(rate) for rate in distinct.tolist()])[place.reshape(rates.shape)]
