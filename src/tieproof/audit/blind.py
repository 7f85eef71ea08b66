"""Blind attacks: systems that never look at their input, tried on every layout of the labels.

The record of an attack makes the rows of numbers that a system hands in, one row for each item, without the labels.
Rows that differ are assigned to items at random; otherwise the order of the items would reveal their classes.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from tieproof.audit.attacks import PAPER, Attack, register
from tieproof.audit.averages import alike
from tieproof.audit.cases import LAYOUTS, Case
from tieproof.audit.examination import Board, Dice, Examination, Rows
from tieproof.audit.judgment import Trial, examine
from tieproof.audit.luck import LOOKS
from tieproof.audit.report import Finding
from tieproof.ties import Array

FLOAT32 = np.finfo(np.float32)
CONSTANT = np.float32(0.3)

MANY = 2.5
"""The factor of the usual number of items and queries for attacks with much data."""

FEW_DRAWS = 4
"""The number of random embeddings that the first score on much data is compared with."""


def blind(
    name: str,
    rows: Rows,
    does: str,
    why: str,
    source: str = "",
    fixed: bool = False,
    times: float = 1,
    beside: Rows | None = None,
) -> Attack:
    """Register a blind attack.

    fixed : whether its rows contain no random numbers
    times : the factor of the usual number of items and queries
    beside : random rows that gain as much if only the size of the numbers matters
    """
    run = partial(attempt_blindly, name, rows, fixed, times, beside)
    return register(Attack(name, "blind", does, why, source, run, rows=rows, fixed=fixed))


def attempt_blindly(
    name: str, rows: Rows, fixed: bool, times: float, beside: Rows | None, examination: Examination
) -> Iterator[Finding]:
    """Hand in the rows on every layout, or, with much data, on the two layouts whose order gains most."""

    def dealing(rows: Rows, *key: str) -> Callable[[Board], Case]:
        return lambda board: examination.blind_case(board, rows, examination.random(name, *key, *board.key))

    trial = Trial(name, dealing(rows), examination.score, fixed, beside=beside and dealing(beside, "beside"))
    if times == 1:
        return examine(examination, trial, LAYOUTS.values())
    trial = trial._replace(times=times, draws=FEW_DRAWS, looks=LOOKS[:2])
    return examine(examination, trial, [LAYOUTS["largest first"], LAYOUTS["smallest first"]])


def filled(value: float) -> Rows:
    """Rows in which every number is `value`."""
    return partial(alike, value)


def scaled(factor: float, dtype: type[np.floating] = np.float64) -> Rows:
    """Rows of normal numbers times a factor."""
    return lambda dice, count, width: (dice.random.normal(size=(count, width)) * factor).astype(dtype)


def larger(dice: Dice, count: int, width: int) -> Array:
    """Random rows times a power of two whose squares fit into all types; scores, which differ less, times more."""
    return dice.plain(count, width) * np.float32(1024 if dice.kind == "scores" else 16)


def some(value: float) -> Rows:
    """Random rows, of which a tenth are filled with a value."""

    def rows(dice: Dice, count: int, width: int) -> Array:
        replaced = dice.random.permutation(count) < count // 10
        return np.where(replaced[:, None], value, dice.plain(count, width)).astype(np.float32)

    return rows


def dealt(distinct: int) -> Rows:
    """A few distinct random rows, assigned to items at random."""
    return lambda dice, count, width: dice.plain(distinct, width)[dice.random.integers(distinct, size=count)]


def in_groups(size: int) -> Rows:
    """Random rows, each shared by `size` items at random."""

    def rows(dice: Dice, count: int, width: int) -> Array:
        different = dice.plain(-(-count // size), width)
        return different[dice.random.permutation(count) // size]

    return rows


def isolated_pairs(dice: Dice, count: int, width: int) -> Array:
    """Random pairs of items with equal vectors; different vectors are all equally far from each other.

    Among scores, each query has one best item, and all other items are tied after it.
    """
    if dice.kind == "scores":
        rows = np.full((count, width), 0.75 if dice.ascending else 0.25)
        rows[dice.random.integers(count, size=width), np.arange(width)] = 0.5
        return rows
    return np.eye((count + 1) // 2, dtype=np.float32)[dice.random.permutation(count) // 2]


def one_ulp(dice: Dice, count: int, width: int) -> Array:
    """A constant or the next larger float32, at random."""
    return np.where(dice.random.random((count, width)) < 0.5, CONSTANT, np.nextafter(CONSTANT, np.float32(1)))


def either_infinity(dice: Dice, count: int, width: int) -> Array:
    """Infinities of random sign."""
    return np.where(dice.random.random((count, width)) < 0.5, np.inf, -np.inf).astype(np.float32)


def subnormal(dice: Dice, count: int, width: int) -> Array:
    """Small multiples of the smallest positive float32."""
    return (dice.random.integers(1, 4, size=(count, width)) * float(FLOAT32.smallest_subnormal)).astype(np.float32)


def nothing(dice: Dice, count: int, width: int) -> Array:
    """Rows without any numbers."""
    return np.zeros((count, 0), dtype=np.float32)


TIED = "All items are equally near, so that only the breaking of ties decides."
FEW = "Vectors are assigned at random; items with equal vectors are tied."
RANDOM = "The vectors are random; numbers too large or too small for a type add no knowledge."
UNORDERED = "NaN is neither larger nor smaller than any number, so that no ranking follows from it."

blind("zeros", filled(0.0), "all zeros", TIED, f"{PAPER}, section 5.2", fixed=True)
blind(
    "constant",
    filled(float(CONSTANT)),
    "0.3 everywhere",
    TIED,
    "mteb issue 5092; scikit-learn issue 6377",
    fixed=True,
)
blind("nan", filled(np.nan), "NaN everywhere", UNORDERED, "mteb issue 1389", fixed=True)
blind("some nan", some(np.nan), "random vectors, a tenth of them NaN", UNORDERED)
blind("infinity", filled(np.inf), "infinity everywhere", "Differences of infinities are NaN.", fixed=True)
blind(
    "negative infinity",
    filled(-np.inf),
    "minus infinity everywhere",
    "Differences of infinities are NaN.",
    fixed=True,
)
blind("either infinity", either_infinity, "infinity of random sign", "Differences of infinities are NaN.")
blind(
    "some infinity", some(np.inf), "random vectors, a tenth of them infinite", "Infinite vectors have no direction."
)
blind("overflow", scaled(1e300), "random float64 numbers about 1e300, infinite in float32", RANDOM, beside=larger)
blind("underflow", scaled(1e-200), "random float64 numbers about 1e-200, zero in float32", RANDOM)
blind(
    "huge norms",
    scaled(1e30, np.float32),
    "random float32 numbers about 1e30, whose squares are infinite",
    RANDOM,
    beside=larger,
)
blind("denormals", subnormal, "1 to 3 times the smallest float32, whose squares are zero", RANDOM)
blind("one ulp", one_ulp, "0.3 or the next larger float32, at random", "Only rounding makes or breaks its ties.")
blind("two vectors", dealt(2), "two random vectors, assigned at random", FEW)
blind("ten vectors", dealt(10), "ten random vectors, assigned at random", FEW)
blind(
    "duplicates",
    in_groups(2),
    "random vectors, each for two random items",
    "The two items of a pair are tied for all other items.",
    "TorchDR issue 295",
)
blind("groups of four", in_groups(4), "random vectors, each for four random items", FEW)
blind("groups of eight", in_groups(8), "random vectors, each for eight random items", FEW)
blind(
    "isolated pairs",
    isolated_pairs,
    "random pairs of items with equal vectors, where different vectors are equally far from each other",
    "Only the breaking of ties decides on all items but one.",
)
blind(
    "empty",
    nothing,
    "vectors without any dimension; an empty matrix or run",
    "An empty input ranks nothing.",
    fixed=True,
)
blind(
    "zeros of much data",
    filled(0.0),
    f"all zeros, with {MANY} times as many items and queries as usual",
    "An evaluator may treat much data differently, for example by another sorting algorithm.",
    fixed=True,
    times=MANY,
)
