"""Similarity of two rankings, from the definitions for rankings without ties; ties are broken in every order.

A ranking is a list of ties, each of which is a list of items.
"""

import csv
import math
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path

Ranking = Sequence[Sequence[str]]
Strict = tuple[str, ...]

DEPTH = 200
"""Deeper ranks have a share of less than 1e-19 of the weight if p is at most 0.8."""


def orders(ranking: Ranking) -> Iterator[Strict]:
    """All rankings without ties that agree with a ranking."""
    for ordered in product(*(list(permutations(tie)) for tie in ranking)):
        yield tuple(item for tie in ordered for item in tie)


def agreement(one: Strict, other: Strict, depth: int) -> Fraction:
    """The share of items in common in both prefixes."""
    return Fraction(len(set(one[:depth]) & set(other[:depth])), depth)


def weighted(agreements: Sequence[Fraction | float], p: float) -> float:
    """Rank-biased overlap of whole rankings (Webber et al. 2010, equation 4); the last agreement goes on forever."""
    terms = [(1 - p) * p ** (depth - 1) * float(value) for depth, value in enumerate(agreements, 1)]
    return math.fsum([*terms, p ** len(agreements) * float(agreements[-1])])


def continued(one: Strict, other: Strict, alike: bool) -> tuple[Strict, Strict]:
    """Two rankings that go on with the items of the other one and then with equal items; or with different items."""
    if not alike:
        return one + tuple(f"one {at}" for at in range(DEPTH)), other + tuple(f"other {at}" for at in range(DEPTH))
    new = tuple(f"new {at}" for at in range(DEPTH))
    return tuple(dict.fromkeys(one + other + new)), tuple(dict.fromkeys(other + one + new))


def overlap(one: Strict, other: Strict, p: float) -> tuple[float, float, float]:
    """RBO_EXT by Webber et al. 2010, equation 32; RBO_MIN and RBO_MAX as overlaps of continued rankings."""
    least, most = (
        [agreement(*continued(one, other, alike), depth) for depth in range(1, DEPTH + 1)] for alike in (False, True)
    )
    short, long = sorted((one, other), key=len)
    known = len(short)
    end = agreement(short, long, known)
    going_on = [  # X_d / d, where each of the d - s unknown items is in common with the chance X_s / s
        agreement(short, long, depth) + max(0, depth - known) * end / depth for depth in range(1, len(long) + 1)
    ]
    return weighted(going_on, p), weighted(least, p), weighted(most, p)


def kendall(one: Strict, other: Strict) -> Fraction:
    """Kendall's tau."""
    place = {item: rank for rank, item in enumerate(one)}
    pairs = [(other[i], other[j]) for j in range(len(other)) for i in range(j)]
    return Fraction(sum(1 if place[above] < place[below] else -1 for above, below in pairs), len(pairs))


def ap_correlation(truth: Strict, estimate: Strict) -> Fraction:
    """AP correlation (Yilmaz et al. 2008, equation 3)."""
    place = {item: rank for rank, item in enumerate(truth)}
    shares = [
        Fraction(sum(place[above] < place[item] for above in estimate[:rank]), rank)
        for rank, item in enumerate(estimate)
        if rank
    ]
    return 2 * sum(shares, Fraction(0)) / len(shares) - 1


def published() -> Iterator[tuple[list[list[str]], list[list[str]], float, dict[str, float]]]:
    """Pairs of rankings, p, and the overlaps that Corsi and Urbano computed.

    From rbo/test.csv of https://github.com/julian-urbano/sigir2024-rbo: the shortest examples, those of equal length,
    some without common items, the longest and the first ones.
    """
    with Path(__file__).with_name("published_overlaps.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            one, other = (
                [(tied or single).split() for tied, single in re.findall(r"\(([^)]*)\)|(\w+)", row.pop(side))]
                for side in ("x", "y")
            )
            yield one, other, float(row.pop("p")), {name: float(value) for name, value in row.items()}
