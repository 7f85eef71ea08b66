"""Figure 4: the matrix D of cosine distances and the matrix E, on a part of the test set."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from studies.common import claims, save
from studies.nicolaou2018.straightforward import BoolArray, FloatArray, relevance_matrix
from tieproof.show.style import figure

FIRST = 900
"""The published code (`src/experiments.py`) shows the items from this one on."""


def matrices(distances: FloatArray, labels: npt.NDArray[Any], first: int = FIRST) -> tuple[FloatArray, BoolArray]:
    """D, and the entries of E that are epsilon, for the items from `first` on."""
    part = slice(first, None)
    return distances[part, part], ~relevance_matrix(labels[part])


def draw(distances: FloatArray, epsilons: BoolArray, path: Path) -> None:
    """Draw the matrices D and E side by side."""
    drawn, axes = figure("This study", width=9.0, height=4.2, columns=2)
    shown = axes[0].imshow(distances, cmap="viridis", interpolation="nearest", vmin=0)
    drawn.colorbar(shown, ax=axes[0], shrink=0.8, label="cosine distance")
    shown = axes[1].imshow(epsilons, cmap="gray", interpolation="nearest", vmin=0, vmax=1)
    drawn.colorbar(shown, ax=axes[1], shrink=0.8, ticks=[0, 1]).ax.set_yticklabels(["0", "ε"])
    for ax, name in zip(axes, "DE", strict=True):
        ax.set_title(f"matrix {name}")
        ax.set_xlabel("item")
        ax.set_ylabel("query")
    save(drawn, path)


def section(distances: FloatArray, labels: npt.NDArray[Any], out: Path, first: int = FIRST) -> str:
    """The section of the report."""
    part, epsilons = matrices(distances, labels, first)
    draw(part, epsilons, out / "figure4.png")
    relevant = ~epsilons
    off_diagonal = relevant & ~np.eye(len(relevant), dtype=np.bool_)
    nearest = np.where(np.eye(len(part), dtype=np.bool_), np.inf, part)
    has_relevant = off_diagonal.any(axis=1)
    right = off_diagonal[np.arange(len(part)), nearest.argmin(axis=1)][has_relevant]
    rows = [
        (
            "E is zero for relevant items, epsilon for others",
            f"zero for {off_diagonal.sum():,} of {len(part) * (len(part) - 1):,} pairs of different items and for "
            "each query itself",
            f"the {len(part)} items from number {first} on, as in the published code",
        ),
        (
            "D is small where E is zero",
            f"mean distance {part[off_diagonal].mean():.4f} of relevant items, {part[epsilons].mean():.4f} of "
            f"others; the nearest item is relevant for {right.sum()} of the {has_relevant.sum()} queries that have "
            "one here",
            "the network was trained to bring images of a word together",
        ),
    ]
    return (
        "## Figure 4: the matrices D and E\n\n" + claims(rows, "the paper") + "\n![Matrices D and E](figure4.png)\n"
    )
