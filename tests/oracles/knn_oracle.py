"""The vote of the k nearest items by enumerating all choices of tied items; imports nothing of tieproof."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations
from typing import Any


def vote(
    distances: Sequence[Fraction], rounded: Sequence[float], classes: Sequence[Any], label: Any, k: int, weights: Any
) -> tuple[Fraction, Fraction, Fraction]:
    """The lower, expected and upper chance of a label.

    distances : of all items, exactly; these rank
    rounded : the same in float64; these weigh
    weights : None, "distance" or a temperature
    """
    order = sorted(range(len(distances)), key=distances.__getitem__)
    last = distances[order[min(k, len(order)) - 1]]
    nearer = [item for item in order if distances[item] < last]
    tied = [item for item in order if distances[item] == last]
    chances = []
    for chosen in combinations(tied, min(k, len(order)) - len(nearer)):
        best = winners([*nearer, *chosen], rounded, classes, weights)
        chances.append(Fraction(label in best, len(best)))
    lower, upper = all(chance == 1 for chance in chances), any(chances)
    return Fraction(lower), sum(chances, Fraction(0)) / len(chances), Fraction(upper)


def winners(voters: Sequence[int], rounded: Sequence[float], classes: Sequence[Any], weights: Any) -> set[Any]:
    """The classes with the most votes."""
    if weights == "distance" and any(rounded[item] == 0 for item in voters):
        voters, weights = [item for item in voters if rounded[item] == 0], None
    votes: dict[Any, Counter[float]] = {}
    for item in voters:
        votes.setdefault(classes[item], Counter())[0.0 if weights is None else rounded[item]] += 1
    least = min(rounded[item] for item in voters)  # a common factor of exponentials, which could overflow
    for digits in (100, 1500):  # more than the square of any ratio of float64 numbers has
        sums = {each: total(counts, weights, least, digits) for each, counts in votes.items()}
        best = max(sums, key=sums.__getitem__)
        others = [sums[each] for each in votes if votes[each] != votes[best]]
        if not isinstance(weights, float) or not others or sums[best] - max(others) > sums[best] * Decimal("1e-60"):
            break
    if isinstance(weights, float):  # exponentials of different numbers are linearly independent
        return {each for each in votes if votes[each] == votes[best]}
    return {each for each in votes if sums[each] == sums[best]}


def total(counts: Counter[float], weights: Any, least: float, digits: int) -> Any:
    """The sum of the weights of items at these distances: a fraction, or so many digits of exponentials."""
    if weights is None:
        return Fraction(sum(counts.values()))
    if weights == "distance":
        return sum(count / Fraction(distance) for distance, count in counts.items())
    with localcontext() as context:
        context.prec = digits
        powers = {distance: (Fraction(least) - Fraction(distance)) / Fraction(weights) for distance in counts}
        return sum(
            count * (Decimal(powers[distance].numerator) / Decimal(powers[distance].denominator)).exp()
            for distance, count in counts.items()
        )
