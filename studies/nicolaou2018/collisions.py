"""Figures 2 and 3 and section 3.3: neighbors in a ranking that are closer than epsilon, under three distances."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import tieproof as tp
from studies.common import claims, save, table
from studies.nicolaou2018.phocnet import Data
from studies.nicolaou2018.straightforward import FloatArray, distance_matrix, relevance_matrix
from tieproof.show.style import figure

DISTANCES = ("cosine", "euclidean", "cityblock")
PHOCNET, NOISE = "PHOCNet", "white noise"

EPSILON = {PHOCNET: (1e-10,), NOISE: (1e-6, 1e-5)}
"""Epsilons of the paper; for white noise section 3.2 has the one, section 3.3 (and the published code) the other."""

FIRST = {PHOCNET: 650, NOISE: 900}
"""The first item that the pictures show (section 3.1, and for white noise the published code)."""


class Collisions(NamedTuple):
    """Neighbors in the rankings of all items that are closer than epsilon.

    right : share of them that are in the farther half of their ranking
    """

    number: int
    right: float


def count(embeddings: Any, distance: str, epsilon: float) -> Collisions:
    """Count the collisions, with every item as a query for the others.

    >>> count([[0.0], [1.0], [-1.0], [5.0]], "euclidean", 0.5)  # from 0, both 1 and -1 are at distance 1
    Collisions(number=1, right=0.0)
    """
    by_rank = tp.collisions(embeddings, distance=distance, epsilon=epsilon).by_rank["pairs"][:-1]
    number = int(by_rank.sum())
    farther = int(by_rank[len(by_rank) // 2 :].sum())
    return Collisions(number, farther / number if number else float("nan"))


def relevant_share(data: Data, distance: str, epsilon: float) -> float:
    """The share of relevant items among those that collide, in the rankings of queries with a relevant item."""
    found = tp.collisions(data.embeddings, data.labels, distance=distance, epsilon=epsilon).per_query
    relevant, others = (int(found[name].sum()) for name in ("relevant", "others"))
    return relevant / (relevant + others) if relevant + others else float("nan")


def share_of_relevant(labels: npt.NDArray[Any]) -> float:
    """The share of relevant items among all items in the rankings of queries with a relevant item.

    >>> share_of_relevant(np.array([0, 0, 1, 2]))
    0.3333333333333333
    """
    relevant = off_diagonal(relevance_matrix(labels))
    return float(relevant[relevant.any(axis=1)].mean())


def off_diagonal(matrix: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The entries of a matrix for pairs of different items, (n, n - 1)."""
    n = len(matrix)
    return matrix[~np.eye(n, dtype=np.bool_)].reshape(n, n - 1)


def matching_epsilon(distances: FloatArray, collisions: int) -> float:
    """The largest difference of distances that epsilon must exceed to give this number of collisions.

    >>> matching_epsilon(np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 1.5], [3.0, 1.5, 0.0]]), 2)
    1.5
    """
    gaps = np.diff(np.sort(off_diagonal(distances), axis=1), axis=1).ravel()
    return float(np.partition(gaps, collisions - 1)[collisions - 1]) if collisions else 0.0


def white_noise(shape: tuple[int, ...]) -> FloatArray:
    """Embeddings uniform in [0, 1] (section 3.2)."""
    return np.random.default_rng(0).random(shape)


def figure_of(name: str, data: Data, first: int, path: Path) -> dict[str, tp.Collisions]:
    """Draw the collisions among the items from `first` on, a picture for each distance."""
    part = Data(data.embeddings[first:], data.labels[first:])
    found = {
        distance: tp.collisions(part.embeddings, part.labels, distance=distance, epsilon=EPSILON[name][-1])
        for distance in DISTANCES
    }
    drawn, axes = figure("This study", width=13.0, height=4.6, columns=len(found))
    for ax, (distance, each) in zip(axes, found.items(), strict=True):
        each.plot(ax)
        ax.set_title(f"{distance}: {each.pairs:,} collisions", loc="left", fontsize=10)
        ax.set_xscale("linear")  # as the paper has it
    handles = axes[0].get_legend().legend_handles
    for ax in axes:
        ax.get_legend().remove()  # one for all is enough
    drawn.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)
    save(drawn, path)
    return found


class Row(NamedTuple):
    """Collisions of one data set by one distance, at epsilon itself and at epsilon times the distance's scales.

    relevant : the share of relevant ones among the items that collide at epsilon
    """

    data: str
    epsilon: float
    distance: str
    relevant: float
    absolute: Collisions
    by_mean: Collisions
    by_deviation: Collisions


class Studied(NamedTuple):
    """A data set: its labels, its distance matrices, the collisions of all items, and those in the paper's figure."""

    labels: npt.NDArray[np.int64]
    matrices: dict[str, FloatArray]
    rows: list[Row]
    pictured: dict[str, tp.Collisions]

    def row(self, distance: str, epsilon: float) -> Row:
        """The row of a distance and an epsilon."""
        return next(row for row in self.rows if (row.distance, row.epsilon) == (distance, epsilon))

    def mean(self, distance: str) -> float:
        """The mean of the distances between different items."""
        return float(off_diagonal(self.matrices[distance]).mean())

    def ratio(self, first: str, second: str, epsilon: float, scale: str = "absolute") -> str:
        """The ratio of the numbers of collisions of two distances."""
        more, fewer = (getattr(self.row(distance, epsilon), scale).number for distance in (first, second))
        return f"{more / fewer:,.1f}" if fewer else f"{more:,} : 0"


def study(name: str, data: Data, matrices: dict[str, FloatArray], first: int, path: Path) -> Studied:
    """Count the collisions for each epsilon and distance, and draw those among the items from `first` on."""
    rows = []
    for epsilon, (distance, matrix) in itertools.product(EPSILON[name], matrices.items()):
        different = off_diagonal(matrix)
        scales = (1.0, float(different.mean()), float(different.std()))
        counts = (count(data.embeddings, distance, epsilon * scale) for scale in scales)
        rows.append(Row(name, epsilon, distance, relevant_share(data, distance, epsilon), *counts))
    return Studied(data.labels, matrices, rows, figure_of(name, data, first, path))


def section(data: Data, phocnet_cosine: FloatArray, out: Path, first: dict[str, int] | None = None) -> str:
    """The section of the report; the pictures show the items from `first` on."""
    first = first or FIRST
    noise = Data(white_noise(data.embeddings.shape), data.labels)
    phocnet_matrices = {"cosine": phocnet_cosine} | {
        name: distance_matrix(data.embeddings, name) for name in DISTANCES[1:]
    }
    noise_matrices = {name: distance_matrix(noise.embeddings, name) for name in DISTANCES}
    found = (
        study(PHOCNET, data, phocnet_matrices, first[PHOCNET], out / "figure2.png"),
        study(NOISE, noise, noise_matrices, first[NOISE], out / "figure3.png"),
    )
    return (
        "## Figures 2 and 3, section 3.3: collisions\n\n"
        + claims(claim_rows(*found), "the paper")
        + "\nThe table counts neighboring items in a ranking that are closer than epsilon; every item is a query "
        "for the others. The share in the farther half of the ranking is in brackets. The last two columns "
        "multiply epsilon by the mean and by the standard deviation of the distances:\n\n"
        + count_table([*found[0].rows, *found[1].rows])
        + "".join(caption(number, name, first[name]) for number, name in ((2, PHOCNET), (3, NOISE)))
    )


def caption(number: int, name: str, first: int) -> str:
    """A picture and what it shows."""
    return (
        f"\nFigure {number}: {name}, queries with a relevant item among the items from number {first} on, epsilon "
        f"{EPSILON[name][-1]:g}.\n\n![Collisions of {name}, by query and rank](figure{number}.png)\n"
    )


def claim_rows(phocnet: Studied, noise: Studied) -> list[tuple[str, str, str]]:
    """The claims of section 3.3, and the counts."""
    (epsilon,), (small, large) = EPSILON[PHOCNET], EPSILON[NOISE]
    first, second = DISTANCES[:2], DISTANCES[1:]
    cosine, euclidean, cityblock = (phocnet.row(name, epsilon) for name in DISTANCES)
    of_noise = [noise.row(name, large) for name in DISTANCES]
    matching = matching_epsilon(noise.matrices["cosine"], cosine.absolute.number)
    in_figure = phocnet.pictured["cosine"].pairs / max(1, phocnet.pictured["euclidean"].pairs)
    ranked = share_of_relevant(phocnet.labels)
    falling = sorted(of_noise, key=lambda row: -row.by_mean.number)
    return [
        (
            "cosine has about 20 times as many collisions as Euclidean, for PHOCNet and for white noise",
            f"PHOCNet {phocnet.ratio(*first, epsilon)} times ({in_figure:.1f} among the items of figure 2); white "
            f"noise {noise.ratio(*first, small)} times at {small:g}, {noise.ratio(*first, large)} at {large:g}",
            "about 20 is the ratio for white noise, not for PHOCNet. The cause is scale: noise has Euclidean "
            f"distances of about {noise.mean('euclidean'):.1f} and cosine distances of about "
            f"{noise.mean('cosine'):.2f}, so the same epsilon is relatively larger for cosine distances",
        ),
        (
            "city-block has a lot less than Euclidean",
            f"PHOCNet {cityblock.absolute.number:,} against {euclidean.absolute.number:,}; white noise "
            f"{of_noise[2].absolute.number:,} against {of_noise[1].absolute.number:,} at {large:g}",
            f"scale again: city-block distances of the noise are about {noise.mean('cityblock'):.0f}",
        ),
        (
            "(not in the paper) the same at epsilon times the mean distance",
            f"white noise at {large:g}: "
            + ", ".join(f"{row.distance} {row.by_mean.number:,}" for row in falling)
            + f"; PHOCNet cosine : Euclidean {phocnet.ratio(*first, epsilon, 'by_mean')}, Euclidean : city-block "
            f"{phocnet.ratio(*second, epsilon, 'by_mean')}",
            f"the order for noise changes: {' > '.join(row.distance for row in falling)}. The order for PHOCNet "
            "stays the same, with smaller ratios",
        ),
        (
            "(not in the paper) the same at epsilon times the deviation of the distances",
            f"cosine : Euclidean {noise.ratio(*first, large, 'by_deviation')}, Euclidean : city-block "
            f"{noise.ratio(*second, large, 'by_deviation')} for white noise; "
            f"{phocnet.ratio(*first, epsilon, 'by_deviation')} and {phocnet.ratio(*second, epsilon, 'by_deviation')} "
            "for PHOCNet",
            "for noise the three distances no longer differ: they collide as often as their spread implies. For "
            "PHOCNet, whose vectors are nearly binary, a difference remains",
        ),
        (
            "only PHOCNet by cosine has almost all collisions among the farthest items",
            f"in the farther half: {cosine.absolute.right:.0%} of them; PHOCNet by Euclidean "
            f"{euclidean.absolute.right:.0%}; white noise "
            f"{', '.join(f'{row.absolute.right:.0%}' for row in of_noise)}",
            "words with no character in common have nearly orthogonal vectors, all at a cosine distance near 1",
        ),
        (
            "PHOCNet by cosine has many collisions among relevant items",
            f"{cosine.relevant:.1%} of the items that collide are relevant; PHOCNet by Euclidean "
            f"{euclidean.relevant:.1%}, white noise by cosine {of_noise[0].relevant:.1%}",
            f"images of the same word get almost the same vector; of all items in the rankings {ranked:.1%} are "
            "relevant",
        ),
        (
            "white noise needs an epsilon of 1e-6 (section 3.2) or 1e-5 (3.3) instead of 1e-10: PHOCNet is 10 000 "
            "times more prone to collisions",
            f"to have as many collisions by cosine as PHOCNet at {epsilon:g}, white noise needs {matching:.2g}, "
            f"{matching / epsilon:,.0f} times as much",
            "the two epsilons of the paper contradict each other: 1e-6 corresponds to 10 000 times, and 1e-5 is "
            "the epsilon of the published code",
        ),
    ]


def count_table(rows: Sequence[Row]) -> str:
    """The table of all counts."""

    def cell(found: Collisions) -> str:
        return f"{found.number:,} ({found.right:.0%})" if found.number else "0"

    cells = [
        (row.data, f"{row.epsilon:g}", row.distance, *map(cell, (row.absolute, row.by_mean, row.by_deviation)))
        for row in rows
    ]
    return table(("data", "epsilon", "distance", "epsilon itself", "× mean", "× deviation"), cells, words=3)
