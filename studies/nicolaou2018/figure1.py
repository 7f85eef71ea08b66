"""Figure 1: six rankings of 100 items, of which two are relevant; four of them order the same tied distances."""

from typing import NamedTuple

import numpy as np

import tieproof as tp
from studies.common import claims
from studies.nicolaou2018.straightforward import FloatArray

ITEMS = 100

TIED_DISTANCES = np.array([1, 1, 3, 4, 5, 5, 5, *range(8, ITEMS + 1)], dtype=np.float64)
"""The ranks that lines c to f print: items at the same distance share one."""


class Line(NamedTuple):
    """A line of the figure: the ranks of the two relevant items, and the average precision in percent."""

    name: str
    ranks: tuple[int, int]
    paper: float
    tied: bool


LINES = (
    Line("a", (1, 6), 66.66, False),
    Line("b", (1, 2), 100.0, False),
    Line("c", (1, 5), 70.0, True),
    Line("d", (2, 7), 39.28, True),
    Line("e", (1, 7), 64.28, True),
    Line("f", (2, 5), 45.0, True),
)


def average_precision(ranks: tuple[int, int], distances: FloatArray | None = None) -> tp.Estimate[float]:
    """The average precision of 100 items with relevant items at these ranks; by default without ties.

    >>> average_precision((1, 5)).lower
    0.7
    """
    relevant = np.zeros(ITEMS, dtype=np.int64)
    relevant[np.array(ranks) - 1] = 1
    strict = np.arange(ITEMS, dtype=np.float64)
    return tp.evaluate_distances([strict if distances is None else distances], [relevant], measures=["AP"])["AP"]


def section() -> str:
    """The section of the report."""
    rows = []
    for line in LINES:
        measured = average_precision(line.ranks).lower
        kind = "one ordering of the tied items" if line.tied else "no ties"
        rows.append(
            (
                f"{line.name}: {line.paper:.2f}%",
                f"{measured:.4%}",
                f"relevant at ranks {line.ranks[0]} and {line.ranks[1]}, {kind}",
            )
        )
    tied = average_precision((1, 5), TIED_DISTANCES)
    rows.append(
        (
            "lines c to f: 39.28% to 70%",
            f"{tied.lower:.4%} to {tied.upper:.4%}, expectation {tied.expected:.4%}",
            "one of ranks 1 and 2 and one of ranks 5 to 7 is relevant. Of the six orderings, which are equally "
            "likely, the figure shows four, including both extremes. The paper does not give the expectation",
        )
    )
    return (
        "## Figure 1: one query, six average precisions\n\n"
        + claims(rows, "the paper")
        + "\nThe paper truncates digits: 66.66, 39.28 and 64.28 would round to 66.67, 39.29 and 64.29.\n"
    )
