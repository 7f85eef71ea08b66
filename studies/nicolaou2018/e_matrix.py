"""Section 4.1: the bounds by way of a matrix E of a small constant, as published, and when they fail."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import tieproof as tp
from studies.common import claims, table
from studies.nicolaou2018.straightforward import FloatArray, mean_average_precision, relevance_matrix
from tieproof.plots.style import LOOKS, figure, save, tidy

EPSILONS = tuple(10.0**power for power in range(-20, 0))

AGREES = 1e-12
"""Values as close as this are the same; the sums of `mean_average_precision` are not rounded once, as tieproof's are."""

RIGHT, NARROW, WRONG = "the interval", "too narrow", "wrong"


class Bounds(NamedTuple):
    """mAP- and mAP+."""

    lower: float
    upper: float


def exact_bounds(distances: FloatArray, labels: npt.NDArray[Any]) -> Bounds:
    """The interval of these very distances, each query left out by its index."""
    relevance = relevance_matrix(labels).astype(np.int64)
    np.fill_diagonal(relevance, -1)
    found = tp.evaluate_distances(distances, relevance, measures=["AP"])["AP"]
    return Bounds(found.lower, found.upper)


def bounds_by_matrix(distances: FloatArray, labels: npt.NDArray[Any], epsilon: float) -> Bounds:
    """Equations 5 and 6: mAP of D - E and D + E, where E is epsilon for items that are not relevant.

    The query is left out by its index; ties that are left are broken by the order of the data.
    """
    matrix = ~relevance_matrix(labels) * epsilon
    below, above = (
        mean_average_precision(shifted, labels, by_index=True).mean for shifted in (distances - matrix, distances + matrix)
    )
    return Bounds(below, above)


def verdict(bounds: Bounds, exact: Bounds) -> str:
    """Whether these are the bounds."""
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
    """What epsilon must be larger than to change every distance when it is added: half a unit in the last place.

    >>> smallest_change(np.array([[0.75]])) == 2.0**-54
    True
    """
    return float(np.spacing(np.abs(distances).max()) / 2)


class Sweep(NamedTuple):
    """A distance matrix, its exact interval, and what the method makes of it with each epsilon."""

    name: str
    gap: float
    change: float
    exact: Bounds
    bounds: list[Bounds]


def sweep(name: str, distances: FloatArray, labels: npt.NDArray[Any], epsilons: Sequence[float] = EPSILONS) -> Sweep:
    """Try every epsilon."""
    return Sweep(
        name,
        smallest_gap(distances),
        smallest_change(distances),
        exact_bounds(distances, labels),
        [bounds_by_matrix(distances, labels, epsilon) for epsilon in epsilons],
    )


def draw(sweeps: Sequence[Sweep], path: Path) -> None:
    """What the method gives against epsilon, over the exact interval."""
    drawn, axes = figure("This study", width=8.0, height=3.4, columns=len(sweeps))
    for ax, found in zip(np.atleast_1d(axes), sweeps, strict=True):
        ax.axhspan(*found.exact, color="0.85", label="exact interval")
        for look, side, name in ((LOOKS[0], 1, "mAP+ by E"), (LOOKS[1], 0, "mAP− by E")):
            values = [bounds[side] for bounds in found.bounds]
            ax.semilogx(EPSILONS, values, color=look.color, marker=look.marker, markersize=4, label=name)
        ax.set_xlabel("epsilon")
        ax.set_title(found.name, fontsize=10)
        tidy(ax)
    axes[0].set_ylabel("mAP")
    axes[0].legend(frameon=False, fontsize=9, loc="lower left")
    save(drawn, path)


def section(distances: FloatArray, labels: npt.NDArray[Any], out: Path) -> str:
    """The part of the report, of cosine distances in double precision and rounded to float16."""
    double = sweep("distances in double precision", distances, labels)
    half = sweep("the same, rounded to float16", distances.astype(np.float16).astype(np.float64), labels)
    draw([double, half], out / "e_matrix.svg")
    rows = []
    for place, epsilon in enumerate(EPSILONS):
        cells = [f"{epsilon:.0e}"]
        for found in (double, half):
            bounds = found.bounds[place]
            cells += [f"{bounds.lower:.6f}", f"{bounds.upper:.6f}", verdict(bounds, found.exact)]
        rows.append(cells)
    rows.append(
        ["none: tieproof"]
        + [cell for found in (double, half) for cell in (f"{found.exact.lower:.6f}", f"{found.exact.upper:.6f}", RIGHT)]
    )
    right = [e for e, bounds in zip(EPSILONS, half.bounds, strict=True) if verdict(bounds, half.exact) == RIGHT]
    works = f"works for epsilon {min(right):.0e} to {max(right):.0e} of those tried" if right else "works for none tried"
    summary = claims(
        [
            (
                "epsilon must be smaller than the smallest difference above zero between two distances of a query",
                f"that is {double.gap:.1e} in double precision, {half.gap:.1e} in float16",
                "a larger one moves items past others that are really nearer: the bounds are wrong from "
                f"{first(double, WRONG)} and from {first(half, WRONG)} on",
            ),
            (
                "(not in the paper) it must also be large enough to change the distances",
                f"to change all of them in double precision it must exceed {double.change:.1e}",
                f"a smaller one leaves most ties as they are, and the order of the data breaks them: {NARROW} at "
                f"{EPSILONS[0]:.0e} for float16, which {works}",
            ),
            (
                '"This can for example be easily achieved by switching from float to double precision"',
                f"from float16 to double, yes. Where distances are doubles already, the window is {double.change:.1e} "
                f"to {double.gap:.1e}",
                "nothing is safely between a unit in the last place and half of it. tieproof compares real distances "
                "and needs no epsilon",
            ),
        ],
        "the paper",
    )
    return (
        "## Section 4.1: bounds by a matrix of epsilons\n\n"
        + summary
        + "\nPHOCNet by cosine distance, each query left out by its index.\n\n"
        + table(("epsilon", "mAP−", "mAP+", "double", "mAP−", "mAP+", "float16"), rows, words=1)
        + "\n![mAP by the matrix E against epsilon](e_matrix.svg)\n"
    )


def first(found: Sweep, kind: str) -> str:
    """The smallest epsilon with this verdict."""
    return next(
        (f"{e:.0e}" for e, bounds in zip(EPSILONS, found.bounds, strict=True) if verdict(bounds, found.exact) == kind),
        "none tried",
    )
