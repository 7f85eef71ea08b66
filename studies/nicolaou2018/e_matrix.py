"""Section 4.1: the published bounds by a matrix E of a small constant, and when they fail."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import tieproof as tp
from studies.common import claims, save, table
from studies.nicolaou2018.figure1 import TIED_DISTANCES, average_precision
from studies.nicolaou2018.straightforward import FloatArray, estimate, mean_average_precision, relevance_matrix
from tieproof.show.style import LOOKS, figure, tidy

EPSILONS = tuple(10.0**power for power in range(-20, 0))

AGREES = 1e-12
"""Values as close as this are the same: `mean_average_precision` rounds its sums more often than tieproof does."""

RIGHT, NARROW, WRONG = "the interval", "too narrow", "wrong"


class Bounds(NamedTuple):
    """mAP- and mAP+."""

    lower: float
    upper: float


def exact_bounds(distances: FloatArray, labels: npt.NDArray[Any]) -> Bounds:
    """The exact interval for these distances, with each query left out by its index."""
    found = estimate(distances, labels)
    return Bounds(found.lower, found.upper)


def bounds_by_matrix(distances: FloatArray, labels: npt.NDArray[Any], epsilon: float) -> Bounds:
    """Equations 5 and 6: mAP of D - E and D + E, where E is epsilon for items that are not relevant.

    The query is left out by its index; ties that are left are broken by the order of the data.
    """
    matrix = ~relevance_matrix(labels) * epsilon
    below, above = (
        mean_average_precision(shifted, labels, by_index=True).mean
        for shifted in (distances - matrix, distances + matrix)
    )
    return Bounds(below, above)


def verdict(bounds: Bounds, exact: Bounds) -> str:
    """Whether the bounds are exact, too narrow or wrong."""
    if max(abs(bounds.lower - exact.lower), abs(bounds.upper - exact.upper)) <= AGREES:
        return RIGHT
    inside = exact.lower - AGREES <= bounds.lower and bounds.upper <= exact.upper + AGREES
    return NARROW if inside else WRONG


def smallest_gap(distances: FloatArray) -> float:
    """The smallest difference above zero between two distances of a query: what epsilon must stay below.

    >>> smallest_gap(np.array([[0.0, 2.0, 1.5, 2.0]]))
    0.5
    """
    gaps = np.diff(np.sort(distances, axis=1), axis=1)
    return float(gaps[gaps > 0].min())


def smallest_change(distances: FloatArray) -> float:
    """The value that epsilon must exceed to change every distance: half a unit in the last place.

    >>> smallest_change(np.array([[0.75]])) == 2.0**-54
    True
    """
    return float(np.spacing(np.abs(distances).max()) / 2)


class Sweep(NamedTuple):
    """A distance matrix, its exact interval, and the bounds of the method for each epsilon."""

    name: str
    gap: float
    change: float
    exact: Bounds
    bounds: dict[float, Bounds]

    def first(self, kind: str) -> str:
        """The smallest epsilon with this verdict."""
        found = (f"{e:.0e}" for e, bounds in self.bounds.items() if verdict(bounds, self.exact) == kind)
        return next(found, "none tried")


def sweep(name: str, distances: FloatArray, labels: npt.NDArray[Any], epsilons: Sequence[float]) -> Sweep:
    """Compute the bounds for every epsilon."""
    return Sweep(
        name,
        smallest_gap(distances),
        smallest_change(distances),
        exact_bounds(distances, labels),
        {epsilon: bounds_by_matrix(distances, labels, epsilon) for epsilon in epsilons},
    )


def draw(sweeps: Sequence[Sweep], path: Path) -> None:
    """Draw the bounds against epsilon, over the exact interval; bounds far from it are outside the picture."""
    lower, upper = min(found.exact.lower for found in sweeps), max(found.exact.upper for found in sweeps)
    room = 2 * (upper - lower) or 1e-3
    drawn, axes = figure("This study", width=8.0, height=3.4, columns=len(sweeps))
    for ax, found in zip(axes, sweeps, strict=True):
        ax.axhspan(*found.exact, color="0.85", linewidth=1, label="exact interval")
        for look, side, name in ((LOOKS[0], 1, "mAP+ by E"), (LOOKS[1], 0, "mAP− by E")):
            values = [bounds[side] for bounds in found.bounds.values()]
            ax.semilogx(list(found.bounds), values, color=look.color, marker=look.marker, markersize=4, label=name)
        ax.set_ylim(lower - room, upper + room)
        ax.set_xlabel("epsilon")
        ax.set_title(found.name, fontsize=10)
        tidy(ax)
    axes[0].set_ylabel("mAP")
    axes[0].legend(frameon=False, fontsize=9, loc="lower left")
    save(drawn, path)


def section(distances: FloatArray, labels: npt.NDArray[Any], out: Path, quick: bool) -> str:
    """The section of the report, for cosine distances in double precision and rounded to float16."""
    epsilons = EPSILONS[::6] if quick else EPSILONS
    rounded = distances.astype(np.float16).astype(np.float64)
    double = sweep("distances in double precision", distances, labels, epsilons)
    half = sweep("the same, rounded to float16", rounded, labels, epsilons)
    draw([double, half], out / "e_matrix.svg")
    right = [epsilon for epsilon, bounds in half.bounds.items() if verdict(bounds, half.exact) == RIGHT]
    works = f"{min(right):.0e} to {max(right):.0e}" if right else "none"
    rows = [
        (
            "epsilon must be smaller than the smallest difference above zero between two distances of a query",
            f"this difference is {double.gap:.1e} in double precision, {half.gap:.1e} in float16",
            "a larger epsilon moves items past others that are in fact nearer: the bounds are wrong from "
            f"{double.first(WRONG)} and from {half.first(WRONG)} on",
        ),
        (
            "(not in the paper) it must also be large enough to change the distances",
            f"to change the largest one, {rounded.max():g} in float16, it must exceed {half.change:.1e}",
            f"a smaller epsilon leaves ties unchanged, and the order of the data breaks them: {NARROW} from "
            f"{half.first(NARROW)} on for float16, where of the epsilons tried {works} are right",
        ),
        (
            '"This can for example be easily achieved by switching from float to double precision"',
            "from float16 to double, yes. If distances are already doubles, epsilon would have to lie between "
            f"{double.change:.1e} and {double.gap:.1e}",
            "this range, from half a unit in the last place of a distance near 1 to one or two such units, is "
            "too narrow. Small epsilons are right here only because these doubles have no ambiguous tie, so it "
            "is right to change nothing. tieproof compares real distances and needs no epsilon",
        ),
        mean_claim(rounded, labels),
    ]
    return (
        "## Section 4.1: bounds by a matrix of epsilons\n\n"
        + claims(rows, "the paper")
        + "\nPHOCNet by cosine distance; each query is left out by its index.\n\n"
        + sweep_table(double, half)
        + "\n![mAP by the matrix E against epsilon](e_matrix.svg)\n"
    )


def mean_claim(rounded: FloatArray, labels: npt.NDArray[Any]) -> tuple[str, str, str]:
    """The claim on the mean of the bounds, for figure 1, these distances in float16, and zeros."""
    tenth = np.arange(1000) % 10
    found = {
        "lines c to f of figure 1": average_precision((1, 5), TIED_DISTANCES),
        "these distances in float16": estimate(rounded, labels),
        "zeros of section 5.2": tp.evaluate(np.zeros((1000, 1)), tenth, measures=["AP"])["AP"],
    }
    return (
        "the mean of the bounds is not directly related to the expected AP",
        "; ".join(
            f"{name}: mean {(v.lower + v.upper) / 2:.4%}, expected {v.expected:.4%}" for name, v in found.items()
        ),
        "right: the better orders of a tie are rarer than the worse ones, the more so the larger the tie",
    )


def sweep_table(*sweeps: Sweep) -> str:
    """The bounds for each epsilon, and the exact ones."""

    def cells(found: Sweep, bounds: Bounds) -> list[str]:
        return [f"{bounds.lower:.6f}", f"{bounds.upper:.6f}", verdict(bounds, found.exact)]

    rows = [
        [f"{epsilon:.0e}", *(cell for found in sweeps for cell in cells(found, found.bounds[epsilon]))]
        for epsilon in sweeps[0].bounds
    ]
    rows.append(["none (tieproof)", *(cell for found in sweeps for cell in cells(found, found.exact))])
    return table(("epsilon", *("mAP−", "mAP+", "double"), *("mAP−", "mAP+", "float16")), rows)
