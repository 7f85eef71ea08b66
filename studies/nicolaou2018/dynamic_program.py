"""The slides' dynamic program for the expected average precision, compared with the closed form.

An ordering of a ranking is a path through a grid, from no items to all of them: a relevant item is a step down,
another a step to the right. A cell is (relevant items above, other items above). The program computes the probability
that a random ordering of the tied items passes each cell, the probability that it comes from above, which is when the
cell's precision counts, and adds up.

What the two cost is compared by what they visit, which is the same wherever this runs. Times are not: a second
evaluation of the same ties finds what the first one noted, and the first one in a process to reach some rank makes
the table of running sums that the others read.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

import tieproof as tp
from studies.common import claims, table

SIZES = (100, 300, 1000, 3000, 10000)


class Tie(NamedTuple):
    """Items at one distance, and the relevant ones among them."""

    items: int
    relevant: int


def expected_average_precision(ranking: Sequence[Tie]) -> float:
    """The program, rank by rank: one row of probabilities for each number of items, R + 1 cells wide.

    >>> expected_average_precision([Tie(2, 1)])
    0.75
    """
    total = sum(tie.relevant for tie in ranking)
    passes = np.zeros(total + 1)  # the probability of each number of relevant items above
    passes[0] = 1.0
    relevant_above = np.arange(total + 1, dtype=np.float64)
    score, rank, end_items, end_relevant = 0.0, 0, 0, 0
    for tie in ranking:
        end_items, end_relevant = end_items + tie.items, end_relevant + tie.relevant
        while rank < end_items:
            chance = ((end_relevant - relevant_above) / (end_items - rank)).clip(
                0.0, 1.0
            )  # that the next is relevant
            from_above = passes[:-1] * chance[:-1]
            rank += 1
            score += float((from_above * relevant_above[1:]).sum()) / rank
            passes *= 1 - chance
            passes[1:] += from_above
    return score / total


def closed_form(ranking: Sequence[Tie]) -> float:
    """The expected value by tieproof."""
    return float(tp.AP(ties_of(ranking)).expected[0])


def ties_of(ranking: Sequence[Tie]) -> tp.Ties:
    """The ranking in the form that measures read."""
    items, relevant = np.array(ranking, dtype=np.int64).T
    chosen = relevant > 0
    return tp.Ties(
        query=np.zeros(int(chosen.sum()), dtype=np.int64),
        k=(np.cumsum(items) - items)[chosen],
        n=(np.cumsum(relevant) - relevant)[chosen],
        l=items[chosen],
        m=relevant[chosen],
        n_relevant=relevant.sum(keepdims=True),
        n_items=items.sum(keepdims=True),
    )


def random_ranking(items: int, random: np.random.Generator) -> list[Tie]:
    """A ranking with about a tenth of the items relevant, and about sqrt(items) different random distances."""
    distances = np.sort(random.integers(0, max(2, int(items**0.5)), size=items))
    relevant = random.random(items) < 0.1
    relevant[random.integers(items)] = True
    starts = np.flatnonzero(np.diff(distances, prepend=-1))
    return [Tie(len(part), int(part.sum())) for part in np.split(relevant, starts[1:])]


class Row(NamedTuple):
    """A ranking of `items` items, and the results of the two methods."""

    items: int
    relevant: int
    ties: int
    program: float
    closed: float

    @property
    def cells(self) -> int:
        """The cells that the program visits: for each rank, each number of relevant items above it."""
        return self.items * (self.relevant + 1)

    @property
    def difference(self) -> float:
        """The relative difference of program and closed form."""
        return abs(self.program - self.closed) / self.program


def measure(sizes: Sequence[int]) -> list[Row]:
    """One row for each size."""
    random = np.random.default_rng(0)
    rows = []
    for items in sizes:
        ranking = random_ranking(items, random)
        rows.append(
            Row(
                items,
                sum(tie.relevant for tie in ranking),
                len(ranking),
                expected_average_precision(ranking),
                closed_form(ranking),
            )
        )
    return rows


def section(quick: bool) -> str:
    """The section of the report."""
    rows = measure(SIZES[:2] if quick else SIZES)
    worst = max(row.difference for row in rows)
    largest = rows[-1]
    cells = table(
        ("items", "relevant", "ties", "program", "closed form", "relative difference", "cells of the program"),
        [
            (
                f"{row.items:,}",
                f"{row.relevant:,}",
                str(row.ties),
                f"{row.program:.12f}",
                f"{row.closed:.12f}",
                f"{row.difference:.1e}",
                f"{row.cells:,}",
            )
            for row in rows
        ],
        words=0,
    )
    summary = claims(
        [
            (
                "a dynamic program over a grid of relevant and other items computes the true AP, O(r·i)",
                f"equal to the closed form, with a relative difference of at most {worst:.1e}",
                "both compute the mean over all orderings; the test suite compares both with an enumeration in "
                "fractions",
            ),
            (
                '"the brute force algorithm would be inefficient" (section 4.2)',
                f"at {largest.items:,} items the program visits {largest.cells:,} cells, the closed form "
                f"{largest.ties:,} ties",
                "a cell is a rank and a number of relevant items above it. The expectation and the bounds of a "
                "tie are formulas of running sums, and one table of these sums serves all rankings",
            ),
        ],
        "the paper",
    )
    return "## Slides: the expected average precision by dynamic programming\n\n" + summary + "\n" + cells
