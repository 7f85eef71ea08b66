"""The batches of a run, with random names and in random order, drawn from the organiser's seed for each run.

The same seed gives the same batches; without the seed, names and order reveal nothing. They depend neither on labels
nor on the order in which the organiser keeps the items.
"""

import hmac
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from math import isqrt
from typing import NamedTuple

LETTERS = 16
"""The number of characters of a name, which are 64 bits."""

FEWEST = 2
"""The fewest items of a batch of repeated items, even if other batches have a single item."""


class Batch(NamedTuple):
    """The items and questions that a system is given at once.

    items : the item of each name, sorted by name
    questions : the names of each question: one for an embedding, two for a distance
    """

    items: dict[str, int]
    questions: tuple[tuple[str, ...], ...]

    @property
    def asked(self) -> list[tuple[int, ...]]:
        """The items of each question."""
        return [tuple(self.items[name] for name in names) for names in self.questions]


class Dealer:
    """Draws names and orders from the seed, for one run of one system.

    >>> Dealer(b"a secret of the organiser", "ours", 1).order("items", 4)
    [2, 1, 0, 3]
    """

    def __init__(self, seed: bytes, *what: object) -> None:
        self.key = drawn(seed, what)

    def order(self, what: str, count: int) -> list[int]:
        """The numbers below `count` in an order that cannot be guessed without the seed."""
        return sorted(range(count), key=lambda number: drawn(self.key, (what, number)))

    def named(self, what: str, items: Sequence[int]) -> dict[str, int]:
        """A name for each item, sorted by name; an item that occurs twice has two names."""
        names = [drawn(self.key, (what, place)).hex()[:LETTERS] for place in range(len(items))]
        return dict(sorted(zip(names, items, strict=True)))


def drawn(key: bytes, what: tuple[object, ...]) -> bytes:
    """A keyed digest of some values, which reveals nothing about them without the key."""
    return hmac.digest(key, "\0".join(map(str, what)).encode(), "sha256")


def deal_items(dealer: Dealer, count: int, batch: int, repeats: int) -> list[Batch]:
    """Batches with every item once, and some items again in batches of another size, all in random order."""
    order, again = dealer.order("items", count), dealer.order("repeats", count)[:repeats]
    parts = [*split(order, batch), *split(again, max(FEWEST, batch // 3))]
    batches = [
        Batch(items, tuple((name,) for name in items))
        for number, part in enumerate(parts)
        for items in [dealer.named(f"batch {number}", part)]
    ]
    return [batches[number] for number in dealer.order("batches", len(batches))]


class Sides(NamedTuple):
    """The items that are queries and those that are the gallery; an item never queries itself.

    symmetric : whether each pair is asked in only one direction; queries and gallery are then the same
    """

    queries: Sequence[int]
    gallery: Sequence[int]
    symmetric: bool


def deal_pairs(dealer: Dealer, sides: Sides, batch: int, repeats: int) -> Iterator[Batch]:
    """Batches with every query and every other item, in blocks of at most `batch` pairs, and some pairs again."""
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
    """At most `repeats` random pairs, each with another query."""
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
    """The batch of some pairs, sorted by names; each item has one name in a batch."""
    items = dealer.named(f"block {number}", sorted({item for pair in pairs for item in pair}))
    name_of = {item: name for name, item in items.items()}
    return Batch(items, tuple(sorted((name_of[x], name_of[y]) for x, y in pairs)))


def split(items: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    """Consecutive parts of a given size; the last part may be smaller.

    >>> list(split([1, 2, 3], 2))
    [[1, 2], [3]]
    """
    for start in range(0, len(items), size):
        yield items[start : start + size]
