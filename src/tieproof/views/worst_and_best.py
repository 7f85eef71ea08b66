"""Which categories are shown where all are too many: the worst and the best."""

from typing import NamedTuple

from tieproof.results.results import Result
from tieproof.ties import Estimate

MOST = 20
"""More categories than these have no place on a screen."""

EACH = 5
"""How many of the worst are shown then, and how many of the best."""


Means = list[tuple[str, Estimate[float]]]
"""Names of categories, each with the mean of a measure."""


class Shown(NamedTuple):
    """Categories in the order in which they are shown; between `first` and `last` there are `between` more."""

    first: Means
    between: int
    last: Means


def worst_and_best(result: Result, measure: str) -> Shown:
    """All categories as they are sorted, or of more than 20 the five worst and the five best, the worst first.

    They are compared by `lower`, which is the score to report; equal ones by `expected`, `upper` and their names.

    >>> import tieproof as tp
    >>> result = tp.evaluate_scores([[2, 1]] * 2, [[1, 0]] * 2, measures=["RR"], categories=["cats", "dogs"])
    >>> shown = worst_and_best(result, "RR")
    >>> [name for name, mean in shown.first], shown.between, shown.last
    (['cats', 'dogs'], 0, [])
    """
    means = [(str(name), mean) for name, mean in result.category_means(measure).items()]
    if len(means) <= MOST:
        return Shown(means, 0, [])

    def score(named: tuple[str, Estimate[float]]) -> tuple[float, float, float, str]:
        name, mean = named
        return mean.lower, mean.expected, mean.upper, name

    means.sort(key=score)
    return Shown(means[:EACH], len(means) - 2 * EACH, means[-EACH:])
