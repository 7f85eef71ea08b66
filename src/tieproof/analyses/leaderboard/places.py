"""The places of systems on a leaderboard: by one value of each, and all that the orders of tied items leave open."""

from collections.abc import Sequence

import numpy as np

from tieproof.ties import ROUNDING, Estimate


def places_by(values: Sequence[float]) -> list[int]:
    """Return the place of each system: 1 + the number of systems with larger values.

    >>> places_by([0.5, 0.75, 0.5])
    [2, 1, 2]
    """
    return [int(1 + above) for above in (np.subtract.outer(values, values) > ROUNDING).sum(axis=0)]


def possible_places(scores: Sequence[Estimate[float]]) -> list[tuple[int, int]]:
    """Return the best and the worst place of each system over all orders of tied items.

    The ties of two systems are broken independently: a system at its upper value is behind those alone whose lower
    value is larger, and a system at its lower value is behind all those whose upper value is larger.

    >>> possible_places([Estimate(0.25, 0.5, 0.75, 0.1), Estimate(0.5, 0.5, 0.5, 0.0), Estimate(0.0, 0.0, 0.0, 0.0)])
    [(1, 2), (1, 2), (3, 3)]
    """
    lower, upper = (np.array([getattr(each, bound) for each in scores]) for bound in ("lower", "upper"))
    best = 1 + (lower[:, None] > upper + ROUNDING).sum(axis=0)
    above = upper[:, None] > lower + ROUNDING
    np.fill_diagonal(above, False)
    return list(zip(best.tolist(), (1 + above.sum(axis=0)).tolist(), strict=True))


def can_swap(first: Estimate[float], second: Estimate[float]) -> bool:
    """Whether the orders of tied items alone can put either of two systems above the other one."""
    return first.upper > second.lower + ROUNDING and second.upper > first.lower + ROUNDING
