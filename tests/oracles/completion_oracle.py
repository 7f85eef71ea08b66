"""Every ranking of a whole gallery that begins with a list: each unseen item takes every distance that it may have.

Like `oracle`, this imports nothing of the library. The distances of the found items are 0, 1, 2, …, tie by tie. An
unseen item may have one of these, or a distance between two of them, before the first or behind the last. Unseen
items at different distances between the same two ties are covered by the orders within one tie.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import oracle


@dataclass(frozen=True)
class Search:
    """The found ties, nearest first, the grades of unseen relevant items, and the number of other unseen items."""

    ranking: tuple[tuple[oracle.Grade, ...], ...]
    missing: tuple[oracle.Grade, ...]
    others: int

    @property
    def unseen(self) -> tuple[oracle.Grade, ...]:
        return self.missing + (0,) * self.others

    @property
    def grades(self) -> list[oracle.Grade]:
        return [grade for tie in self.ranking for grade in tie]


def places(search: Search, kind: str) -> list[Fraction]:
    """The distances that an unseen item may have: those of the found items, and halves between them."""
    count = len(search.ranking)
    last = Fraction(count - 1)
    if kind == "exact":
        return [last, last + Fraction(1, 2)] if count else [Fraction(0)]
    if kind == "order":
        return [last + Fraction(1, 2)]
    return [Fraction(place, 2) for place in range(-1, 2 * count)] if count else [Fraction(0)]


def completions(search: Search, kind: str) -> Iterator[oracle.Ranking]:
    """Every whole ranking as a list of ties, possibly repeated."""
    unseen = search.unseen
    for chosen in set(itertools.product(places(search, kind), repeat=len(unseen))):
        at: dict[Fraction, list[oracle.Grade]] = {Fraction(i): [*tie] for i, tie in enumerate(search.ranking)}
        for grade, place in zip(unseen, chosen, strict=True):
            at.setdefault(place, []).append(grade)
        yield [at[place] for place in sorted(at)]


@cache
def strict(search: Search, kind: str) -> frozenset[oracle.Ordering]:
    """Every order of all items that is possible in some whole ranking."""
    return frozenset(order for ranking in completions(search, kind) for order in oracle.orderings(ranking))


def bounds(name: str, search: Search, kind: str, cutoff: int | None) -> tuple[Fraction, Fraction]:
    """The smallest and the largest value of a measure over all these orders."""
    relevant = tuple(grade for grade in (*search.grades, *search.missing) if grade > 0)
    context = oracle.Context(relevant, cutoff)
    values = [oracle.DEFINITIONS[name](order, context) for order in strict(search, kind)]
    return min(values), max(values)


def behind(name: str, search: Search, cutoff: int | None) -> oracle.Estimates:
    """The estimates if all unseen items form one tie behind the list."""
    ranking = [[*tie] for tie in search.ranking] + ([[*search.unseen]] if search.unseen else [])
    return oracle.enumerate_orderings(oracle.DEFINITIONS[name], ranking, cutoff=cutoff)
