"""The choice of categories to show if there are too many: the worst and the best."""

from typing import NamedTuple

from tieproof.evaluation.result import Result
from tieproof.ties import Estimate

MOST = 20
"""The most categories that are all shown."""

EACH = 5
"""The number of the worst categories, and of the best, that are shown otherwise."""


Means = list[tuple[str, Estimate[float]]]
"""Names of categories, each with the mean of a measure."""


class Shown(NamedTuple):
    """Categories in the order in which they are shown; `between` categories between `first` and `last` are not."""

    first: Means
    between: int
    last: Means


def worst_and_best(result: Result, measure: str) -> Shown:
    """All categories in their order or, if there are more than 20, the five worst and the five best, the worst first.

    They are compared by `lower`, which is the score to report, then by `expected`, `upper` and their names.

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
