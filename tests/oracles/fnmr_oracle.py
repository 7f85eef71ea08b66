"""FNMR at FMR in fractions, over all pairs and from the definition; imports nothing of tieproof.

Distances are compared by exact keys; float64 distances are rounded from roots with many more digits.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache
from itertools import combinations
from operator import mul

import numpy as np

from exact_oracle import Vector, cityblock_key, dot, euclidean_key, over_one_denominator

Key = Fraction


def square(x: Vector, y: Vector) -> Fraction:
    return -euclidean_key(x, y)


def signed_square_of_cosine(x: Vector, y: Vector) -> Fraction:
    (ours, _), (theirs, _) = over_one_denominator(x), over_one_denominator(y)  # denominators cancel out
    product = sum(map(mul, ours, theirs))
    norms = sum(map(mul, ours, ours)) * sum(map(mul, theirs, theirs))
    return Fraction(product * abs(product), norms) if norms else Fraction(0)


KEYS: dict[str, Callable[[Vector, Vector], Fraction]] = {
    "cosine": lambda x, y: -signed_square_of_cosine(x, y),
    "euclidean": square,
    "sqeuclidean": square,
    "cityblock": lambda x, y: -cityblock_key(x, y),
    "dot": lambda x, y: -dot(x, y),
    "hamming": lambda x, y: Fraction(sum(a != b for a, b in zip(x, y, strict=True))),
}

DISTANCES = tuple(name for name in KEYS if name != "hamming")
"""The distances of numbers."""


@cache
def distance(name: str, key: Fraction) -> float:
    """The float64 nearest to the distance of a key, from a root with as many digits as necessary."""
    if name not in ("euclidean", "cosine"):
        return nearest(key)
    square, sign = abs(key), -1 if key < 0 else 1
    root = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
    error = Fraction(0)
    digits = 50
    while True:
        if root**2 != square:
            context = Context(prec=digits, Emax=10**6, Emin=-(10**6))
            root = Fraction(context.sqrt(context.divide(Decimal(square.numerator), Decimal(square.denominator))))
            error = root / 10 ** (digits - 2)
        ends = {nearest(1 + sign * end if name == "cosine" else end) for end in (root - error, root + error)}
        if len(ends) == 1:
            return ends.pop()
        digits *= 2


def nearest(number: Fraction) -> float:
    """The nearest float64, or infinity."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def pairs(
    name: str, rows: Sequence[Vector], items: Sequence[Vector], counted: Iterable[tuple[int, int, bool]]
) -> tuple[list[Key], list[Key]]:
    """The keys of relevant and of other pairs among the counted (query, item, relevant)."""
    keys: tuple[list[Key], list[Key]] = ([], [])
    for query, item, relevant in counted:
        keys[0 if relevant else 1].append(KEYS[name](rows[query], items[item]))
    return keys


def linear(name: str, relevant: Sequence[Key], others: Sequence[Key], fmr: float) -> tuple[float, float]:
    """Threshold and FNMR by float64 distances and NumPy's quantile."""
    near, far = ([distance(name, key) for key in keys] for keys in (relevant, others))
    threshold = float(np.quantile(far, fmr))
    return threshold, sum(value >= threshold for value in near) / len(near)


def exact(
    relevant: Sequence[Key], others: Sequence[Key], fmr: str
) -> tuple[Key, Fraction, Fraction, Fraction, Fraction]:
    """The threshold's key; lower, expected and upper FNMR and their variance over all orderings of the tied pairs."""
    rank = max(1, math.ceil(Fraction(fmr) * len(others)))
    threshold = sorted(others)[rank - 1]
    beyond = sum(key > threshold for key in relevant)
    tied, tied_others = relevant.count(threshold), others.count(threshold)
    place = rank - sum(key < threshold for key in others)
    chances = behind(tied, tied_others, place)
    values = {
        Fraction(beyond + count, len(relevant)): Fraction(ways, sum(chances.values()))
        for count, ways in chances.items()
    }
    mean = sum((value * chance for value, chance in values.items()), Fraction(0))
    variance = sum(((value - mean) ** 2 * chance for value, chance in values.items()), Fraction(0))
    return threshold, min(values), mean, max(values), variance


def behind(tied: int, others: int, place: int) -> dict[int, int]:
    """The numbers of arrangements of tied pairs, by the number of relevant pairs behind the `place`-th other pair.

    Relevant pairs before it are arranged with the `place` - 1 other pairs before it, those behind it with the rest.
    """
    return {
        tied - before: math.comb(place - 1 + before, before)
        * math.comb(others - place + tied - before, tied - before)
        for before in range(tied + 1)
    }


def behind_by_enumeration(tied: int, others: int, place: int) -> list[int]:
    """For every arrangement of tied pairs, the number of relevant pairs behind the `place`-th other pair."""
    arrangements = combinations(range(tied + others), others)
    return [tied - (positions[place - 1] - (place - 1)) for positions in arrangements]
