"""The slides' dynamic program for the expected average precision, compared with the closed form.

An ordering of a ranking is a path through a grid, from no items to all of them: a relevant item is a step down,
another a step to the right. A cell is (relevant items above, other items above). The program computes the probability
that a random ordering of the tied items passes each cell, the probability that it comes from above, which is when the
cell's precision counts, and adds up.

What the two cost is compared by what they visit, which is the same wherever this runs. Times are not: a second
evaluation of the same ties finds what the first one noted, and the first one in a process to reach some rank makes
the table of running sums that the others read.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import tieproof as tp
from studies.common import claims, table

Array = npt.NDArray[np.float64]

SIZES = (100, 300, 1000, 3000, 10000)


class Tie(NamedTuple):
    """Items at one distance, and the relevant ones among them."""

    items: int
    relevant: int


FIGURE_1 = (Tie(2, 1), Tie(1, 0), Tie(1, 0), Tie(3, 1), *[Tie(1, 0)] * 93)
"""Lines c to f of figure 1."""


def precision_in_tie(above: Tie, tie: Tie) -> tuple[float, float]:
    """The bounds of section 4.2 on every precision within a tie, with the items that are above it.

    >>> precision_in_tie(Tie(4, 2), Tie(4, 2))
    (0.3333333333333333, 0.6666666666666666)
    """
    (k, n), (length, m) = above, tie
    return n / (k + length - m), (n + m) / (k + m)


def contributions(ranking: Sequence[Tie]) -> Iterator[tuple[int, Array]]:
    """The program: for each rank, the probabilities that the first, the second, … relevant item has it, (R,)."""
    total = sum(tie.relevant for tie in ranking)
    passes = np.zeros(total + 1)  # the probability of each number of relevant items above
    passes[0] = 1.0
    relevant_above = np.arange(total + 1, dtype=np.float64)
    rank, end_items, end_relevant = 0, 0, 0
    for tie in ranking:
        end_items, end_relevant = end_items + tie.items, end_relevant + tie.relevant
        while rank < end_items:
            # the probability that the next item is relevant
            chance = ((end_relevant - relevant_above) / (end_items - rank)).clip(0.0, 1.0)
            from_above = passes[:-1] * chance[:-1]
            rank += 1
            yield rank, from_above
            passes *= 1 - chance
            passes[1:] += from_above


def expected_average_precision(ranking: Sequence[Tie]) -> float:
    """The sum over cells of the probability that a relevant item comes there, times the precision there, over R.

    >>> expected_average_precision([Tie(2, 1)])
    0.75
    """
    total = sum(tie.relevant for tie in ranking)
    relevant = np.arange(1.0, total + 1)
    return sum(float((chances * relevant).sum()) / rank for rank, chances in contributions(ranking)) / total


def printed_sum(ranking: Sequence[Tie]) -> float:
    """The sum as the slides print it: of P_cell times P_parent, without the precision of the cell and without 1 / R.

    >>> printed_sum([Tie(2, 1)])
    1.0
    """
    return sum(float(chances.sum()) for _, chances in contributions(ranking))


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


def precision_claim() -> tuple[str, str, str]:
    """The claim of section 4.2 on precision within a tie, tried on all small ones."""
    tried = [
        (Tie(k, n), Tie(length, m))
        for k in range(5)
        for n in range(k + 1)
        for length in range(2, 6)
        for m in range(1, length)
    ]
    right = sum(precisions(above, tie) == precision_in_tie(above, tie) for above, tie in tried)
    return (
        "(n + m) / (k + m) and n / (k + l - m) bound every precision within a tie (section 4.2)",
        f"attained in {right} of {len(tried)} ties of up to 5 items, with up to 4 items above them, in all orders",
        "average precision reads precision only at relevant items, where the lower bound is (n + 1) / (k + l - m + "
        "1); tieproof computes the mean of these and not of the bounds",
    )


def precisions(above: Tie, tie: Tie) -> tuple[float, float]:
    """The smallest and the largest precision at the ranks within a tie, over all orders of its items."""
    values = [
        (above.relevant + sum(order[:place])) / (above.items + place)
        for order in set(itertools.permutations([1] * tie.relevant + [0] * (tie.items - tie.relevant)))
        for place in range(1, tie.items + 1)
    ]
    return min(values), max(values)


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
                "AP is the sum over all cells of P_cell × P_parent",
                f"{printed_sum(FIGURE_1):.1f} on lines c to f of figure 1, where the expected AP is "
                f"{expected_average_precision(FIGURE_1):.6f}",
                "the printed sum is the expected number of relevant items. Two factors are missing: the precision P@ "
                "of each cell, which the slide before computes, and 1/R",
            ),
            precision_claim(),
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
