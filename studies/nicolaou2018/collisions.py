"""Figures 2 and 3 and section 3.3: neighbours in a ranking that are closer than epsilon, under three distances."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from studies.common import claims, table
from studies.nicolaou2018.phocnet import Data
from studies.nicolaou2018.straightforward import BoolArray, FloatArray, distance_matrix, relevance_matrix
from tieproof.plots.style import BLUE, VERMILLION, figure, matplotlib, save

DISTANCES = ("cosine", "euclidean", "cityblock")
PHOCNET, NOISE = "PHOCNet", "white noise"

EPSILON = {PHOCNET: (1e-10,), NOISE: (1e-6, 1e-5)}
"""Those of the paper; for white noise section 3.2 has the one and section 3.3 (and the published code) the other."""

FIRST = {PHOCNET: 650, NOISE: 900}
"""The first item that the pictures show (section 3.1, and for white noise the published code)."""


class Rankings(NamedTuple):
    """What the items' rankings of each other look like, each query left out of its own.

    distances : (n, n - 1) ascending
    relevant : (n, n - 1) whether the item at that rank is
    mean, deviation : of all the distances
    """

    distances: FloatArray
    relevant: BoolArray
    mean: float
    deviation: float


class Collisions(NamedTuple):
    """Neighbours closer than epsilon; an item collides if it is so close to the one before it.

    right : share of the collisions that are in the farther half of their ranking
    relevant : collisions of relevant items
    """

    number: int
    relevant: int
    right: float


def rank(distances: FloatArray, labels: npt.NDArray[Any]) -> Rankings:
    """Sort every row, without the query."""
    n = len(distances)
    others = ~np.eye(n, dtype=np.bool_)
    rows = distances[others].reshape(n, n - 1)
    order = np.argsort(rows, axis=1, kind="stable")
    relevant = relevance_matrix(labels)[others].reshape(n, n - 1)
    return Rankings(
        np.take_along_axis(rows, order, axis=1),
        np.take_along_axis(relevant, order, axis=1),
        float(rows.mean()),
        float(rows.std()),
    )


def collision_map(rankings: Rankings, epsilon: float) -> npt.NDArray[np.int8]:
    """Queries × ranks: 1 where a relevant item collides, -1 where another does, 0 for none.

    >>> rankings = Rankings(np.array([[1.0, 1.5, 3.0]]), np.array([[False, True, False]]), 0.0, 0.0)
    >>> collision_map(rankings, 1.0).tolist()
    [[0, 1, 0]]
    """
    close = np.diff(rankings.distances, axis=1, prepend=-np.inf) < epsilon
    return np.where(close, np.where(rankings.relevant, 1, -1), 0).astype(np.int8)


def count(rankings: Rankings, epsilon: float) -> Collisions:
    """The collisions of all queries."""
    collides = collision_map(rankings, epsilon)
    ranks = np.nonzero(collides)[1]
    right = float((ranks >= collides.shape[1] / 2).mean()) if len(ranks) else float("nan")
    return Collisions(len(ranks), int((collides > 0).sum()), right)


def matching_epsilon(rankings: Rankings, collisions: int) -> float:
    """The smallest epsilon at which there are as many collisions."""
    gaps = np.diff(rankings.distances, axis=1).ravel()
    return float(np.partition(gaps, collisions - 1)[collisions - 1]) if collisions else 0.0


def white_noise(shape: tuple[int, ...]) -> FloatArray:
    """Uniform in [0, 1] (section 3.2)."""
    return np.random.default_rng(0).random(shape)


def draw(shown: Sequence[npt.NDArray[np.int8]], path: Path) -> None:
    """A map for each distance, as in the figures of the paper."""
    colors = matplotlib("This study").colors.ListedColormap([BLUE, "#FFFFFF", VERMILLION])
    drawn, axes = figure("This study", width=13.0, height=4.0, columns=len(shown))
    for ax, collides, distance in zip(axes, shown, DISTANCES, strict=True):
        image = ax.imshow(collides, cmap=colors, vmin=-1.5, vmax=1.5, interpolation="nearest")
        ax.set_title(f"{distance}: {np.count_nonzero(collides):,} collisions", fontsize=10)
        ax.set_xlabel("rank")
    axes[0].set_ylabel("query")
    bar = drawn.colorbar(image, ax=list(axes), ticks=[-1, 0, 1], shrink=0.8)
    bar.ax.set_yticklabels(["collision of\nanother item", "none", "collision of\na relevant item"])
    save(drawn, path)


class Row(NamedTuple):
    """Collisions of one data set by one distance, at epsilon itself and at epsilon times the distance's scales."""

    data: str
    epsilon: float
    distance: str
    absolute: Collisions
    by_mean: Collisions
    by_deviation: Collisions


def measure(data: str, rankings: dict[str, Rankings], epsilons: Sequence[float]) -> list[Row]:
    """A row for each epsilon and distance."""
    return [
        Row(
            data,
            epsilon,
            distance,
            *(count(found, epsilon * scale) for scale in (1.0, found.mean, found.deviation)),
        )
        for epsilon in epsilons
        for distance, found in rankings.items()
    ]


class Studied(NamedTuple):
    """A data set: its rankings by distance, and the collisions."""

    rankings: dict[str, Rankings]
    rows: list[Row]

    def counts(self, distance: str, epsilon: float) -> Row:
        """The row of a distance and an epsilon."""
        return next(row for row in self.rows if (row.distance, row.epsilon) == (distance, epsilon))

    def ratio(self, nearer: str, farther: str, epsilon: float, scale: str = "absolute") -> str:
        """How many times as many collisions one distance has as another."""
        first, second = (getattr(self.counts(distance, epsilon), scale).number for distance in (nearer, farther))
        return f"{first / second:,.1f}" if second else f"{first:,} : 0"


def study(name: str, distances: dict[str, FloatArray], labels: npt.NDArray[Any], path: Path) -> Studied:
    """Count the collisions of all items, and draw those among the items that the paper shows."""
    rankings = {distance: rank(matrix, labels) for distance, matrix in distances.items()}
    part = slice(FIRST[name], None)
    parts = [rank(matrix[part, part], labels[part]) for matrix in distances.values()]
    draw([collision_map(each, EPSILON[name][-1]) for each in parts], path)
    return Studied(rankings, measure(name, rankings, EPSILON[name]))


def section(data: Data, phocnet_cosine: FloatArray, out: Path) -> str:
    """The part of the report."""
    noise = white_noise(data.embeddings.shape)
    matrices = {
        PHOCNET: {
            "cosine": phocnet_cosine,
            **{name: distance_matrix(data.embeddings, name) for name in DISTANCES[1:]},
        },
        NOISE: {name: distance_matrix(noise, name) for name in DISTANCES},
    }
    files = {PHOCNET: "figure2.png", NOISE: "figure3.png"}
    found = {name: study(name, matrix, data.labels, out / files[name]) for name, matrix in matrices.items()}
    return (
        "## Figures 2 and 3, section 3.3: collisions\n\n"
        + claims(rows_of_claims(found[PHOCNET], found[NOISE]), "the paper")
        + "\nNeighbouring items in a ranking (all items, each query left out of its own) closer than epsilon; in "
        "brackets how many of the colliding items are relevant, and how many are in the farther half of the ranking. "
        "The last two columns multiply epsilon by the mean and by the standard deviation of the distances:\n\n"
        + count_table([*found[PHOCNET].rows, *found[NOISE].rows])
        + f"\nFigure 2: PHOCNet, the items from number {FIRST[PHOCNET]} on, epsilon {EPSILON[PHOCNET][-1]:g}.\n\n"
        "![Collisions of PHOCNet, by query and rank](figure2.png)\n\n"
        f"Figure 3: white noise, the items from number {FIRST[NOISE]} on, epsilon {EPSILON[NOISE][-1]:g}.\n\n"
        "![Collisions of white noise, by query and rank](figure3.png)\n"
    )


def rows_of_claims(phocnet: Studied, noise: Studied) -> list[tuple[str, str, str]]:
    """What section 3.3 says, and what was counted."""
    (epsilon,), (small, large) = EPSILON[PHOCNET], EPSILON[NOISE]
    cosine = phocnet.counts("cosine", epsilon).absolute
    others = [phocnet.counts(name, epsilon).absolute for name in DISTANCES[1:]]
    right = [noise.counts(name, large).absolute.right for name in DISTANCES]
    matching = matching_epsilon(noise.rankings["cosine"], cosine.number)
    relevant_share = float(phocnet.rankings["cosine"].relevant.mean())
    scales = {name: rankings.mean for name, rankings in noise.rankings.items()}
    at_mean = {name: noise.counts(name, large).by_mean.number for name in DISTANCES}
    falling = sorted(DISTANCES, key=lambda name: -at_mean[name])
    return [
        (
            "cosine has about 20 times as many collisions as Euclidean, for PHOCNet and for white noise",
            f"PHOCNet {phocnet.ratio(*DISTANCES[:2], epsilon)} times; white noise "
            f"{noise.ratio(*DISTANCES[:2], small)} times at {small:g}, {noise.ratio(*DISTANCES[:2], large)} at "
            f"{large:g}",
            "about 20 is the ratio of white noise, and it is a matter of scale: noise has Euclidean distances about "
            f"{scales['euclidean']:.1f} and cosine distances about {scales['cosine']:.2f}, so that one epsilon is "
            "not the same to both",
        ),
        (
            "city-block has a lot less than Euclidean",
            f"PHOCNet {others[1].number} against {others[0].number:,}; white noise "
            f"{noise.counts('cityblock', large).absolute.number:,} against "
            f"{noise.counts('euclidean', large).absolute.number:,} at {large:g}",
            f"scale again: city-block distances of the noise are about {scales['cityblock']:.0f}",
        ),
        (
            "(not in the paper) the same at epsilon times the mean distance",
            f"white noise: {', '.join(f'{name} {at_mean[name]:,}' for name in falling)} at {large:g}; PHOCNet cosine "
            f": Euclidean {phocnet.ratio(*DISTANCES[:2], epsilon, 'by_mean')}, Euclidean : city-block "
            f"{phocnet.ratio(*DISTANCES[1:], epsilon, 'by_mean')}",
            f"the order of the noise changes: {' > '.join(falling)}. That of PHOCNet does not, and its ratios shrink",
        ),
        (
            "(not in the paper) the same at epsilon times the deviation of the distances",
            f"white noise cosine : Euclidean {noise.ratio(*DISTANCES[:2], large, 'by_deviation')}, Euclidean : "
            f"city-block {noise.ratio(*DISTANCES[1:], large, 'by_deviation')}; PHOCNet "
            f"{phocnet.ratio(*DISTANCES[:2], epsilon, 'by_deviation')} and "
            f"{phocnet.ratio(*DISTANCES[1:], epsilon, 'by_deviation')}",
            "for noise nothing is left of the difference; for PHOCNet, whose vectors are nearly binary, something is",
        ),
        (
            "only PHOCNet by cosine has almost all collisions among the farthest items",
            f"farther half: {cosine.right:.1%} of them; PHOCNet by Euclidean {others[0].right:.1%}; white noise "
            f"{', '.join(f'{share:.1%}' for share in right)}",
            "words with no character in common have nearly orthogonal vectors, all at a cosine distance near 1",
        ),
        (
            "PHOCNet by cosine has many collisions among relevant items",
            f"{cosine.relevant:,} of {cosine.number:,}, {cosine.relevant / cosine.number:.1%}; of all ranked items "
            f"{relevant_share:.1%} are relevant",
            "images of one word come out almost the same; white noise collides as often as its share of relevant "
            "items",
        ),
        (
            "white noise needs an epsilon of 1e-6 (section 3.2) or 1e-5 (3.3) instead of 1e-10: PHOCNet is 10 000 "
            "times more prone to collisions",
            f"as many collisions by cosine as PHOCNet at {epsilon:g} need {matching:.2g}, {matching / epsilon:,.0f} "
            "times as much",
            "the two epsilons of the paper contradict each other; 1e-6 goes with 10 000 times, 1e-5 is in the "
            "published code",
        ),
    ]


def count_table(rows: Sequence[Row]) -> str:
    """All counts."""

    def cell(found: Collisions) -> str:
        right = "" if np.isnan(found.right) else f", {found.right:.0%} far"
        return f"{found.number:,} ({found.relevant:,} relevant{right})"

    cells = [
        (row.data, f"{row.epsilon:g}", row.distance, *map(cell, (row.absolute, row.by_mean, row.by_deviation)))
        for row in rows
    ]
    headings = ("data", "epsilon", "distance", "closer than epsilon", "× mean", "× deviation")
    return table(headings, cells, words=3)
