"""What blind systems hand in: rows of numbers, or lists of documents, made without looking at any input.

A function of rows makes one row for each item. Rows that differ are assigned to items at random; otherwise the order
of the items would reveal their classes.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tieproof.kit import Array, IntArray
from tieproof.trials.audit.conventions import Kind

FLOAT32 = np.finfo(np.float32)
CONSTANT = np.float32(0.3)
FAR_APART = 256  # the fewest dimensions in which random vectors are nearly as far from each other as orthogonal ones


class Dice(NamedTuple):
    """The source of a blind system's numbers."""

    random: np.random.Generator  # a generator of random numbers
    kind: Kind  # the kind of the evaluator's convention
    items: int  # the number of items, whose rows come before those of queries
    ascending: bool = False  # whether smaller scores are nearer

    def plain(self, count: int, width: int) -> Array:
        """The numbers that blind systems are compared with: normal vectors, or scores in [0, 1), (count, width)."""
        if self.kind == "scores":
            return self.random.random((count, width))
        return self.random.normal(size=(count, width)).astype(np.float32)


# A function that returns numbers (count, width) made without any input: item vectors, or scores for all queries.
BlindSystem = Callable[[Dice, int, int], Array]


def filled(value: float) -> BlindSystem:
    """A blind system all of whose numbers are `value`."""
    return lambda dice, count, width: np.full((count, width), value, dtype=np.float32)


def scaled(factor: float, dtype: type[np.floating] = np.float64) -> BlindSystem:
    """Random rows times a factor."""
    return lambda dice, count, width: (dice.random.normal(size=(count, width)) * factor).astype(dtype)


def larger(dice: Dice, count: int, width: int) -> Array:
    """Random rows times a power of two whose squares fit into all types; scores, which differ less, times more."""
    return dice.plain(count, width) * np.float32(1024 if dice.kind == "scores" else 16)


def some(value: float, share: float = 0.1) -> BlindSystem:
    """Random rows, of which a share are filled with a value."""

    def rows(dice: Dice, count: int, width: int) -> Array:
        replaced = dice.random.permutation(count) < int(count * share)
        return np.where(replaced[:, None], value, dice.plain(count, width)).astype(np.float32)

    return rows


def dealt(distinct: int) -> BlindSystem:
    """So many different random rows, assigned to the items at random."""
    return lambda dice, count, width: dice.plain(distinct, width)[dice.random.integers(distinct, size=count)]


def in_groups(size: int) -> BlindSystem:
    """Random rows, each shared by `size` items at random."""
    return lambda dice, count, width: dice.plain(-(-count // size), width)[dice.random.permutation(count) // size]


def isolated_pairs(dice: Dice, count: int, width: int) -> Array:
    """Random pairs of items with equal vectors; different vectors are all equally far from each other.

    Among scores, each query has one best item, and all other items are tied after it.
    """
    if dice.kind == "scores":
        rows = np.full((count, width), 0.75 if dice.ascending else 0.25)
        rows[dice.random.integers(count, size=width), np.arange(width)] = 0.5
        return rows
    return np.eye((count + 1) // 2, dtype=np.float32)[dice.random.permutation(count) // 2]


def either(one: np.float32, other: np.float32) -> BlindSystem:
    """One of two numbers, at random."""
    return lambda dice, count, width: np.where(dice.random.random((count, width)) < 0.5, one, other)


def subnormal(dice: Dice, count: int, width: int) -> Array:
    """Small multiples of the smallest positive float32."""
    return (dice.random.integers(1, 4, size=(count, width)) * float(FLOAT32.smallest_subnormal)).astype(np.float32)


def _shuffled(rows: Array, dice: Dice) -> Array:
    """The rows in random order: rounding may depend on their places, and these must not reveal the classes."""
    return dice.random.permutation(rows).astype(np.float32)


def equidistant(dice: Dice, count: int, width: int) -> Array:
    """Different vectors, each as far from every other: each has a dimension of its own."""
    return _shuffled(np.eye(count), dice)


def opposed(dice: Dice, count: int, width: int) -> Array:
    """Vectors with negative similarities to each other, nearly the corners of a simplex; or negative scores."""
    if dice.kind == "scores":
        return dice.plain(count, width) - 1
    return _shuffled(count * np.eye(count) - 1, dice) + 0.01 * dice.plain(count, count)


def hubs(number: int) -> BlindSystem:
    """So many items that are nearest to all, one after the other; all other items are equally far from each other."""

    def rows(dice: Dice, count: int, width: int) -> Array:
        chosen = dice.random.permutation(dice.items)[:number]
        if dice.kind == "scores":
            found = np.full((count, width), 0.1)
            found[chosen] = 0.9 - np.arange(number)[:, None] / 100
            return 1 - found if dice.ascending else found
        vectors = count * np.eye(count)
        vectors[chosen] = 1 + np.eye(count)[chosen] * np.arange(number)[:, None]
        return vectors.astype(np.float32)

    return rows


def on_top(number: int) -> BlindSystem:
    """So many items that are tied as the nearest of all; the other items are not tied."""

    def rows(dice: Dice, count: int, width: int) -> Array:
        if dice.kind == "scores":
            return _raised(dice.plain(count, width) / 2, number, dice)
        others = dice.plain(count, max(count, FAR_APART))
        return _near_all(others / np.linalg.norm(others, axis=1, keepdims=True), number, dice)

    return rows


def two_levels(part: int) -> BlindSystem:
    """One item of so many is nearer than all others; both these and the others are tied."""

    def rows(dice: Dice, count: int, width: int) -> Array:
        if dice.kind == "scores":
            return _raised(np.full((count, width), 0.1), max(count // part, 1), dice)
        return _near_all(np.eye(count), max(dice.items // part, 1), dice)

    return rows


def _raised(scores: Array, number: int, dice: Dice) -> Array:
    """Scores below 0.5, with 0.75 for so many random items of each query; or what is left of 1."""
    chosen = np.argsort(dice.random.random(scores.shape), axis=0)[:number]
    np.put_along_axis(scores, chosen, 0.75, axis=0)
    return 1 - scores if dice.ascending else scores


def _near_all(units: Array, number: int, dice: Dice) -> Array:
    """Vectors of length 1 that are nearly orthogonal, moved by 1 in a new dimension, where so many items have 1.4."""
    vectors = np.concatenate([np.ones((len(units), 1)), units], axis=1)
    vectors[dice.random.permutation(dice.items)[:number]] = 1.4 * np.eye(vectors.shape[1])[0]
    return vectors.astype(np.float32)


def one_farthest(dice: Dice, count: int, width: int) -> Array:
    """Equal vectors but for one, which is opposite; or equal scores but for one of each query, which is the worst."""
    rows = np.tile(dice.plain(1, width), (count, 1))
    if dice.kind != "scores":
        rows[dice.random.integers(dice.items)] *= -1
        return rows
    rows[:] = 0.25 if dice.ascending else 0.75
    rows[dice.random.integers(count, size=width), np.arange(width)] = 0.5
    return rows


def one_ranking(dice: Dice, count: int, width: int) -> Array:
    """Items that all queries rank in the same order, by products as by angles and distances."""
    nearness = dice.random.permutation(np.linspace(0.1, 0.9, count))[:, None]
    if dice.kind == "scores":
        return np.tile(nearness, (1, width))
    return np.concatenate([nearness, np.sqrt(1 - nearness**2) * np.eye(count)], axis=1).astype(np.float32)


def of_the_same_width(rows: BlindSystem) -> BlindSystem:
    """Random rows that are as wide as those of another system: in more dimensions, rounding makes fewer ties."""
    return lambda dice, count, width: dice.plain(count, rows(dice, count, width).shape[1])


def mostly_equal(dice: Dice, count: int, width: int) -> Array:
    """Equal vectors or scores, but for a few at random."""
    few = dice.random.permutation(count) < max(12, count // 20)
    return np.where(few[:, None], dice.plain(count, width), dice.plain(1, width)).astype(np.float32)


def half_in_a_cluster(dice: Dice, count: int, width: int) -> Array:
    """Half of the vectors or scores, at random, nearly equal; the others at random."""
    near = dice.random.permutation(count) < count // 2
    cluster = dice.plain(1, width) + 1e-4 * dice.plain(count, width)
    return np.where(near[:, None], cluster, dice.plain(count, width)).astype(np.float32)


# A function that returns how often each item is listed for each query, (count, asked).
Listing = Callable[[np.random.Generator, int, int], IntArray]

REPEATS = 200
ANSWERED = 10  # one in this many queries is answered


def documents(length: int) -> Listing:
    """So many random documents for each query."""

    def listed(random: np.random.Generator, count: int, asked: int) -> IntArray:
        places = np.argsort(random.random((count, asked)), axis=0)
        return np.where(places < length, 1, 0)

    return listed


def first_queries(random: np.random.Generator, count: int, asked: int) -> IntArray:
    """All documents for the first queries, and none for the others."""
    return np.tile(np.where(np.arange(asked) < -(-asked // ANSWERED), 1, 0), (count, 1))


def the_same_documents(random: np.random.Generator, count: int, asked: int) -> IntArray:
    """The same documents, one more than ten, for all queries."""
    counts = np.zeros((count, asked), dtype=np.int64)
    counts[random.permutation(count)[:11]] = 1
    return counts


# How many items are tied on top: k - 1, k, k + 1 and 2k - 1 of the usual cut-offs k.
TOPS = (2, 4, 5, 6, 9, 10, 11, 19, 20, 21, 39)
IN_WORDS = ["two", "four", "five", "six", "nine", "ten", "eleven", "nineteen", "twenty", "twenty-one", "thirty-nine"]

# The share of items that are nearer than all others, which are tied: less than twice 1, 5 and 10 %.
LEVELS = {60: "a sixtieth", 12: "a twelfth", 6: "a sixth"}

SYSTEMS: dict[str, BlindSystem] = {
    "zeros": filled(0.0),
    "constant": filled(float(CONSTANT)),
    "nan": filled(np.nan),
    "some nan": some(np.nan),
    "mostly nan": some(np.nan, 0.95),
    "infinity": filled(np.inf),
    "negative infinity": filled(-np.inf),
    "either infinity": either(np.float32(np.inf), np.float32(-np.inf)),
    "some infinity": some(np.inf),
    "overflow": scaled(1e300),
    "underflow": scaled(1e-200),
    "huge norms": scaled(1e30, np.float32),
    "denormals": subnormal,
    "one ulp": either(CONSTANT, np.nextafter(CONSTANT, np.float32(1))),
    "two vectors": dealt(2),
    "three vectors": dealt(3),
    "four vectors": dealt(4),
    "six vectors": dealt(6),
    "ten vectors": dealt(10),
    "duplicates": in_groups(2),
    "groups of four": in_groups(4),
    "groups of eight": in_groups(8),
    "isolated pairs": isolated_pairs,
    "equidistant vectors": equidistant,
    "negative similarities": opposed,
    "one hub": hubs(1),
    "eleven hubs": hubs(11),
    "one ranking": one_ranking,
    "one farthest": one_farthest,
    **{f"{words} on top": on_top(number) for number, words in zip(TOPS, IN_WORDS, strict=True)},
    **{f"{words} above a tie": two_levels(part) for part, words in LEVELS.items()},
    "mostly equal": mostly_equal,
    "half in a cluster": half_in_a_cluster,
    "empty": lambda dice, count, width: np.zeros((count, 0), dtype=np.float32),
    "zeros of more data": filled(0.0),
    "zeros of much data": filled(0.0),
}
"""The rows of the blind systems of all attacks, by the names of the attacks."""

# Random rows that gain as much as those of an attack if only the size of the numbers matters.
BESIDE: dict[str, BlindSystem] = {"overflow": larger, "huge norms": larger}

LISTINGS: dict[str, Listing] = {
    "one document": documents(1),
    "ten documents": documents(10),
    "the same documents": the_same_documents,
    "first queries": first_queries,
    "empty lists": lambda random, count, asked: first_queries(random, count, asked)[:, ::-1].copy(),
    "repeated documents": lambda random, count, asked: REPEATS * documents(1)(random, count, asked),
}
"""The documents that are listed in the attacks by lists."""
