"""What a system is asked, in which order and under which names: drawn from the organiser's seed, anew for each run.

Whoever has the seed deals the same again; without it names and order say nothing. Nothing here depends on labels, and
nothing on the order in which the organiser keeps the items.
"""

import hmac
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from math import isqrt
from typing import NamedTuple

LETTERS = 16
"""Of a name, 64 bits."""

FEWEST = 2
"""Items of a batch of those that are asked twice, where the others come in batches of a single one."""


class Batch(NamedTuple):
    """What a system is given at a time.

    items : which item each name stands for, by names in their order
    questions : the names that it is asked about: one for an embedding, two for a distance
    """

    items: dict[str, int]
    questions: tuple[tuple[str, ...], ...]

    @property
    def asked(self) -> list[tuple[int, ...]]:
        """The items of each question."""
        return [tuple(self.items[name] for name in names) for names in self.questions]


class Dealer:
    """Draws from the seed, for one run of one system.

    >>> Dealer(b"a secret of the organiser", "ours", 1).order("items", 4)
    [2, 1, 0, 3]
    """

    def __init__(self, seed: bytes, *what: object) -> None:
        self.key = drawn(seed, what)

    def order(self, what: str, count: int) -> list[int]:
        """The numbers below `count` in an order that nobody can guess."""
        return sorted(range(count), key=lambda number: drawn(self.key, (what, number)))

    def named(self, what: str, items: Sequence[int]) -> dict[str, int]:
        """A name for each item, in the order of the names; an item that stands there twice has two."""
        names = [drawn(self.key, (what, place)).hex()[:LETTERS] for place in range(len(items))]
        return dict(sorted(zip(names, items, strict=True)))


def drawn(key: bytes, what: tuple[object, ...]) -> bytes:
    """What the key makes of something: the same for the same, and no more to be learnt from it."""
    return hmac.digest(key, "\0".join(map(str, what)).encode(), "sha256")


def deal_items(dealer: Dealer, count: int, batch: int, repeats: int) -> list[Batch]:
    """Every item once, and some once more in a batch of another size, which comes at any place among the others."""
    order, again = dealer.order("items", count), dealer.order("repeats", count)[:repeats]
    parts = [*split(order, batch), *split(again, max(FEWEST, batch // 3))]
    batches = [
        Batch(items, tuple((name,) for name in items))
        for number, part in enumerate(parts)
        for items in [dealer.named(f"batch {number}", part)]
    ]
    return [batches[number] for number in dealer.order("batches", len(batches))]


class Sides(NamedTuple):
    """Which items query which others; an item never queries itself.

    symmetric : a pair is asked in one direction, and queries and gallery are the same
    """

    queries: Sequence[int]
    gallery: Sequence[int]
    symmetric: bool


def deal_pairs(dealer: Dealer, sides: Sides, batch: int, repeats: int) -> Iterator[Batch]:
    """Every query with every other item, in blocks of at most `batch` pairs, and some pairs once more."""
    side = max(1, isqrt(batch))
    rows = list(split([sides.queries[at] for at in dealer.order("queries", len(sides.queries))], side))
    columns = list(split([sides.gallery[at] for at in dealer.order("gallery", len(sides.gallery))], side))
    if sides.symmetric:
        columns = rows
    blocks = [(a, b) for a, b in product(range(len(rows)), range(len(columns))) if not sides.symmetric or a <= b]
    for number in dealer.order("batches", len(blocks) + 1):
        if number == len(blocks):
            pairs = repeated_pairs(dealer, sides, repeats)
        else:
            a, b = blocks[number]
            once = sides.symmetric and a == b
            pairs = [*(combinations(rows[a], 2) if once else product(rows[a], columns[b]))]
        pairs = [(x, y) for x, y in pairs if x != y]
        if pairs:
            yield paired(dealer, number, pairs)


def repeated_pairs(dealer: Dealer, sides: Sides, repeats: int) -> list[tuple[int, int]]:
    """At most so many pairs, no query twice."""
    firsts, seconds = (
        dealer.order("first again", len(sides.queries)),
        dealer.order("second again", len(sides.gallery)),
    )
    pairs = [
        (sides.queries[first], sides.gallery[seconds[place % len(seconds)]])
        for place, first in enumerate(firsts[:repeats])
    ]
    return list({frozenset(pair) if sides.symmetric else pair: pair for pair in pairs}.values())


def paired(dealer: Dealer, number: int, pairs: Sequence[tuple[int, int]]) -> Batch:
    """The batch of these pairs, in the order of their names; an item has one name in it."""
    items = dealer.named(f"block {number}", sorted({item for pair in pairs for item in pair}))
    name_of = {item: name for name, item in items.items()}
    return Batch(items, tuple(sorted((name_of[x], name_of[y]) for x, y in pairs)))


def split(items: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    """Parts of so many, the last one of what is left.

    >>> list(split([1, 2, 3], 2))
    [[1, 2], [3]]
    """
    for start in range(0, len(items), size):
        yield items[start : start + size]
