"""The chances of a class in a vote of the k nearest items, over the choices of tied items and ties of votes.

Of t items that are tied at rank k, r are among the k nearest. All of them have the same weight, which is the unit of
the votes here. So whether a rival is ahead of a class depends only on how many tied items of both are chosen, and on
the lead of the class among the nearer items, which is a whole number of half votes: `Rival.lead`.
"""

import math
from collections.abc import Callable, Sequence
from decimal import MAX_EMAX, MIN_EMIN, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.ties import FloatArray

# More than the relative error of a weight in float64, and of a sum of a few thousand of them: a quotient and an
# exponential of at most 2^10 are wrong by less than 2^-41.
ROUNDED = 2.0**-40
FARTHEST = 10**6  # the most temperatures by which distances may differ, so that their weights can be computed


class Rival(NamedTuple):
    """Another class that has votes."""

    tied: int  # how many items of the tie at rank k belong to it
    # By how many half votes it is behind before tied items are chosen: 2 n for exactly n votes (which may be
    # negative), 2 n + 1 for more than n and less than n + 1.
    lead: int


@lru_cache(maxsize=2**12)
def chances(places: int, tied: int, rivals: tuple[Rival, ...]) -> tuple[int, Fraction, int]:
    """Return the lower, expected and upper chance that a class wins the vote.

    places : how many of the items that are tied at rank k are among the k nearest; every choice is equally likely
    tied : how many items of this tie belong to the class
    rivals : the other classes; a class that is level with n rivals at the top wins with the probability 1 / (n + 1)

    >>> chances(1, 1, (Rival(2, 0),)), chances(0, 0, (Rival(0, 0), Rival(0, 2)))
    ((0, Fraction(1, 3), 1), (0, Fraction(1, 2), 1))
    """
    # It is 1 only if every choice wins, because all are equally likely.
    expected = _expected(places, tied, rivals) if rivals else Fraction(1)
    return math.floor(expected), expected, math.ceil(expected)


def _expected(places: int, tied: int, rivals: Sequence[Rival]) -> Fraction:
    """The probability to win, by counting choices.

    The ways to choose j items of some classes are the coefficients of a polynomial in z. It is stored as the integer
    that is its value at a power of two larger than any coefficient, so that integers multiply as polynomials do; what
    overflows moves on to powers that are cut away.
    """
    total = tied + sum(rival.tied for rival in rivals)
    bits = max(math.comb(total, chosen).bit_length() for chosen in range(places + 1))
    wins = Fraction(0)
    for own in range(min(places, tied) + 1):
        rest = places - own
        kept = (1 << bits * (rest + 1)) - 1
        ways = [1]  # by the number of rivals that are level
        for rival in rivals:
            level = 2 * own + rival.lead
            fewer = [chosen for chosen in range(min(rival.tied, rest) + 1) if 2 * chosen < level]
            below = sum(math.comb(rival.tied, chosen) << bits * chosen for chosen in fewer)
            equal = 0
            if level >= 0 and level % 2 == 0 and level // 2 <= min(rival.tied, rest):
                equal = math.comb(rival.tied, level // 2) << bits * (level // 2)
            ways = [
                (first * below + second * equal) & kept for first, second in zip([*ways, 0], [0, *ways], strict=True)
            ]
            while ways and not ways[-1]:
                ways.pop()
        won = sum(Fraction(each >> bits * rest, level + 1) for level, each in enumerate(ways))
        wins += math.comb(tied, own) * won
    return wins / math.comb(total, places)


Lead = Callable[[FloatArray, FloatArray, float, int], int]
"""Returns the lead of a class over a rival, as in `Rival`, from the distances of the items of both that are nearer
than rank k, the distance at rank k, and a number of votes that is as good as any larger one."""


def by_number(own: FloatArray, theirs: FloatArray, last: float, most: int) -> int:
    """Return the lead if every item has one vote."""
    return 2 * (len(own) - len(theirs))


def by_inverse(own: FloatArray, theirs: FloatArray, last: float, most: int) -> int:
    """Return the lead if a vote weighs 1 / distance; all distances are above 0."""
    with np.errstate(over="ignore"):
        lead = _by_bound(last / own, last / theirs, most)
    if lead is not None:
        return lead
    ahead = sum((1 / Fraction(each) for each in own.tolist()), Fraction(0))
    ahead -= sum((1 / Fraction(each) for each in theirs.tolist()), Fraction(0))
    ahead *= Fraction(last)
    whole = math.floor(ahead)
    return 2 * whole + (ahead != whole)


def by_exponential(temperature: float) -> Lead:
    """Return the function for votes that weigh exp(-distance / temperature)."""

    def lead(own: FloatArray, theirs: FloatArray, last: float, most: int) -> int:
        with np.errstate(over="ignore"):
            bounded = _by_bound(np.exp((last - own) / temperature), np.exp((last - theirs) / temperature), most)
        if bounded is not None:
            return bounded
        terms: dict[Fraction, int] = {}
        for distances, sign in ((own, 1), (theirs, -1)):
            for each in distances.tolist():
                power = (Fraction(last) - Fraction(each)) / Fraction(temperature)
                terms[power] = terms.get(power, 0) + sign
        return _lead_of_exponentials(terms, temperature, most)

    return lead


def _by_bound(own: FloatArray, theirs: FloatArray, most: int) -> int | None:
    """Return the lead by weights in float64; None if a whole number of votes is within the error of their sums."""
    ahead, behind = float(own.sum()), float(theirs.sum())
    error = (ahead + behind) * ROUNDED * (1 + (len(own) + len(theirs)) * 2.0**-10)
    low, high = ahead - behind - error, ahead - behind + error
    if not (math.isfinite(low) and math.isfinite(high)) or math.ceil(low) <= high:
        return None
    return 2 * max(-most - 1, min(most, math.floor(low))) + 1


def _lead_of_exponentials(terms: dict[Fraction, int], temperature: float, most: int) -> int:
    """The lead that is the sum of n exp(x) over terms {x: n}.

    Exponentials of different rational numbers are linearly independent (theorem of Lindemann and Weierstrass). So the
    sum is whole only if no exponential but exp(0) is left, and otherwise enough digits decide.
    """
    whole = terms.pop(Fraction(0), 0)
    left = {power: count for power, count in terms.items() if count}
    if not left:
        return 2 * whole
    if max(left) > FARTHEST:
        raise InputError(
            f"The temperature {temperature!r} is too small: distances of one query differ by more than {FARTHEST:,} "
            "temperatures, so that only the nearest item votes. Pass a larger one, such as 0.07, or k=1.",
            "weights",
        )
    digits = 32
    while True:
        with localcontext(Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN)):
            error, ahead = Decimal(abs(whole)), Decimal(whole)
            for power, count in left.items():
                term = count * (Decimal(power.numerator) / Decimal(power.denominator)).exp()
                ahead += term
                error += abs(term)
            error *= FARTHEST * len(left) * 10 * Decimal(10) ** -digits
            low, high = ahead - error, ahead + error
            if low > most or high < -most:
                return 2 * most + 1 if low > 0 else -2 * most - 1
            floor = low.to_integral_value(ROUND_FLOOR)
            if low > floor and high < floor + 1:
                return 2 * int(floor) + 1
        digits *= 2
