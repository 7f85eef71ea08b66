"""Similarities handed in as distances, or distances as similarities: evaluated as they are, with a warning."""

from collections.abc import Iterable, Sequence

import numpy as np

from tieproof.errors import warn
from tieproof.ties import Array

MEANT = {"distances": ("similarities", "evaluate_scores"), "scores": ("distances", "evaluate_distances")}
"""What was probably handed in, and where it belongs."""


FEWEST = 10
"""Rows that there must be where the diagonal counts: in fewer, a diagonal that is farthest may be chance."""


def check_direction(rows: Array | Sequence[Array], blocks: Iterable[tuple[Array, Array]], name: str) -> None:
    """Warn where every item of a square matrix is farther from itself than from any other.

    That alone may be a diagonal that somebody filled, to take it out of the ranking; so relevant items must be
    farther than the others on average, too, the diagonal apart.

    blocks : the rows, some at a time, and their relevance
    """
    if not farthest_on_diagonal(rows, name) or not farther_on_average(blocks, name):
        return
    meant, function = MEANT[name]
    warn(
        f"The {name} rank every item of a square matrix farthest from itself, and relevant items farther than others "
        f"on average: they are probably {meant}. Pass {meant} to {function}."
    )


def farthest_on_diagonal(rows: Array | Sequence[Array], name: str) -> bool:
    """Whether the rows are those of a square matrix whose diagonal is farthest, and each has something nearer."""
    for place, row in enumerate(rows):
        if len(row) != len(rows):
            return False
        low, itself, high = row.min(), row[place], row.max()
        if not (low < itself == high if name == "distances" else low == itself < high):
            return False
    return True


def farther_on_average(blocks: Iterable[tuple[Array, Array]], name: str) -> bool:
    """Whether relevant items are farther than others on average, without the diagonal.

    It is excluded, or relevant as a whole: else it says nothing of what is meant.
    """
    start = 0
    sums, counts = np.zeros(2), np.zeros(2)
    excluded = relevant_to_itself = True
    for block, relevance in blocks:
        index = np.arange(len(block))
        diagonal = relevance[index, start + index]
        excluded &= bool((diagonal < 0).all())
        relevant_to_itself &= bool((diagonal > 0).all())
        if not excluded and not relevant_to_itself:
            return False
        values = block.astype(np.float64)
        others = start + index[:, None] != np.arange(block.shape[1])
        with np.errstate(all="ignore"):  # what is not finite is refused later
            for kind, chosen in enumerate((others & (relevance > 0), others & (relevance == 0))):
                sums[kind] += values[chosen].sum()
                counts[kind] += chosen.sum()
        start += len(block)
    if not counts.all() or (relevant_to_itself and start < FEWEST):
        return False
    relevant, others_mean = (sums / counts).tolist()
    return bool(relevant > others_mean if name == "distances" else relevant < others_mean)
