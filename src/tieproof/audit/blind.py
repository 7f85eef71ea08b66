"""Blind attacks: systems that never look at their input, tried on every layout of the labels.

The record of an attack makes the rows of numbers that a system hands in, one row for each item, without the labels.
Rows that differ are assigned to items at random; otherwise the order of the items would reveal their classes.
Other blind systems differ in the documents that a run lists, or in the calls before them.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from tieproof.attacks import Finding
from tieproof.audit.cases import LAYOUTS, Case
from tieproof.audit.conventions import Convention
from tieproof.audit.examination import PAPER, Attack, BlindSystem, Board, Dice, Examination, filled
from tieproof.audit.judgment import Trial, examine
from tieproof.audit.luck import LOOKS
from tieproof.audit.outcomes import Outcome
from tieproof.ties import Array, IntArray

FLOAT32 = np.finfo(np.float32)
CONSTANT = np.float32(0.3)

MANY = 2.5
"""The factor of the usual number of items and queries for attacks with much data."""

FEW_DRAWS = 4
"""The number of random embeddings that the first score on much data is compared with."""


def blind(
    name: str,
    rows: BlindSystem,
    does: str,
    why: str,
    source: str = "",
    fixed: bool = False,
    times: float = 1,
    beside: BlindSystem | None = None,
) -> Attack:
    """A blind attack.

    fixed : whether its rows contain no random numbers
    times : the factor of the usual number of items and queries
    beside : random rows that gain as much if only the size of the numbers matters
    """

    def run(examination: Examination) -> Iterator[Finding]:
        """Hand in the rows on every layout, or, with much data, on the two layouts whose order gains most."""

        def dealing(rows: BlindSystem, *key: str) -> Callable[[Board], Case]:
            return lambda board: examination.blind_case(board, rows, examination.random(name, *key, *board.key))

        trial = Trial(name, dealing(rows), examination.score, fixed, beside=beside and dealing(beside, "beside"))
        if times == 1:
            return examine(examination, trial, LAYOUTS.values())
        trial = trial._replace(times=times, draws=FEW_DRAWS, looks=LOOKS[:2])
        return examine(examination, trial, [LAYOUTS["largest first"], LAYOUTS["smallest first"]])

    return Attack(name, "blind", does, why, source, run, rows=rows, fixed=fixed)


def _scaled(factor: float, dtype: type[np.floating] = np.float64) -> BlindSystem:
    return lambda dice, count, width: (dice.random.normal(size=(count, width)) * factor).astype(dtype)


def _larger(dice: Dice, count: int, width: int) -> Array:
    """Random rows times a power of two whose squares fit into all types; scores, which differ less, times more."""
    return dice.plain(count, width) * np.float32(1024 if dice.kind == "scores" else 16)


def _some(value: float) -> BlindSystem:
    """Random rows, of which a tenth are filled with a value."""

    def rows(dice: Dice, count: int, width: int) -> Array:
        replaced = dice.random.permutation(count) < count // 10
        return np.where(replaced[:, None], value, dice.plain(count, width)).astype(np.float32)

    return rows


def _dealt(distinct: int) -> BlindSystem:
    return lambda dice, count, width: dice.plain(distinct, width)[dice.random.integers(distinct, size=count)]


def _in_groups(size: int) -> BlindSystem:
    """Random rows, each shared by `size` items at random."""
    return lambda dice, count, width: dice.plain(-(-count // size), width)[dice.random.permutation(count) // size]


def _isolated_pairs(dice: Dice, count: int, width: int) -> Array:
    """Random pairs of items with equal vectors; different vectors are all equally far from each other.

    Among scores, each query has one best item, and all other items are tied after it.
    """
    if dice.kind == "scores":
        rows = np.full((count, width), 0.75 if dice.ascending else 0.25)
        rows[dice.random.integers(count, size=width), np.arange(width)] = 0.5
        return rows
    return np.eye((count + 1) // 2, dtype=np.float32)[dice.random.permutation(count) // 2]


def _one_ulp(dice: Dice, count: int, width: int) -> Array:
    return np.where(dice.random.random((count, width)) < 0.5, CONSTANT, np.nextafter(CONSTANT, np.float32(1)))


def _either_infinity(dice: Dice, count: int, width: int) -> Array:
    return np.where(dice.random.random((count, width)) < 0.5, np.inf, -np.inf).astype(np.float32)


def _subnormal(dice: Dice, count: int, width: int) -> Array:
    """Small multiples of the smallest positive float32."""
    return (dice.random.integers(1, 4, size=(count, width)) * float(FLOAT32.smallest_subnormal)).astype(np.float32)


Listing = Callable[[np.random.Generator, int, int], IntArray]
"""A function that returns how often each item is listed for each query, (count, asked)."""

REPEATS = 200
ANSWERED = 10
"""One in this many queries is answered."""


def listing(
    name: str,
    listed: Listing,
    does: str,
    why: str,
    applies: Callable[[Convention], bool] = lambda convention: convention.written,
    empty: bool = False,
) -> Attack:
    """An attack by what a run lists; `empty` if queries without documents have an empty list."""

    def run(examination: Examination) -> Iterator[Finding]:
        """Hand in random scores for the listed documents, on every layout."""

        def case(board: Board) -> Case:
            random = examination.random(name, *board.key)
            full = examination.blind_case(board, Dice.plain, random)
            counts = listed(random, len(board.labels), board.asked)
            return replace(full, listed=counts, writing=full.writing._replace(empty=empty))

        return examine(examination, Trial(name, case, examination.score, fixed=False), LAYOUTS.values())

    return Attack(name, "blind", does, why, "", run, lambda convention, options: applies(convention))


def _documents(length: int) -> Listing:
    def listed(random: np.random.Generator, count: int, asked: int) -> IntArray:
        places = np.argsort(random.random((count, asked)), axis=0)
        return np.where(places < length, 1, 0)

    return listed


def _first_queries(random: np.random.Generator, count: int, asked: int) -> IntArray:
    """All documents for the first queries, and none for the others."""
    counts = np.zeros((count, asked), dtype=np.int64)
    counts[:, : -(-asked // ANSWERED)] = 1
    return counts


AFTER, ANEW = "zeros after a good system", "zeros in a new process"


def _zeros(name: str, examination: Examination, board: Board) -> Case:
    return examination.blind_case(board, filled(0.0), examination.random(name, *board.key))


def _in_a_new_process(examination: Examination) -> Iterator[Finding]:
    """Findings on zeros scored in processes that have scored nothing before."""
    assert examination.anew is not None
    anew = examination.anew
    trial = Trial(ANEW, partial(_zeros, ANEW, examination), lambda case: anew(case, {}), True, looks=LOOKS[:1])
    return examine(examination, trial, [LAYOUTS["sorted"], LAYOUTS["smallest first"]])


def _after_a_good_system(examination: Examination) -> Iterator[Finding]:
    """Findings on zeros scored right after a system that knows the labels, on labels not met before."""

    def score(case: Case) -> Outcome:
        examination.score(examination.perfect_case(case))
        return examination.score(case)

    trial = Trial(AFTER, partial(_zeros, AFTER, examination), score, False, looks=LOOKS[:1], own=True)
    return examine(examination, trial, [LAYOUTS["shuffled"]])


TIED = "All items are equally near, so that only the breaking of ties decides."
FEW = "Vectors are assigned at random; items with equal vectors are tied."
RANDOM = "The vectors are random; numbers too large or too small for a type add no knowledge."
UNORDERED = "NaN is neither larger nor smaller than any number, so that no ranking follows from it."
NOT_LISTED = "A document that is not listed was not found; a short list must not gain."
MISSING = "A query without an answer scores zero; leaving out hard queries must not gain."
EARLIER_CALLS = "A score must not depend on earlier calls."

ATTACKS = [
    blind("zeros", filled(0.0), "all zeros", TIED, f"{PAPER}, section 5.2", fixed=True),
    blind(
        "constant",
        filled(float(CONSTANT)),
        "0.3 everywhere",
        TIED,
        "mteb issue 5092; scikit-learn issue 6377",
        fixed=True,
    ),
    blind("nan", filled(np.nan), "NaN everywhere", UNORDERED, "mteb issue 1389", fixed=True),
    blind("some nan", _some(np.nan), "random vectors, a tenth of them NaN", UNORDERED),
    blind("infinity", filled(np.inf), "infinity everywhere", "Differences of infinities are NaN.", fixed=True),
    blind(
        "negative infinity",
        filled(-np.inf),
        "minus infinity everywhere",
        "Differences of infinities are NaN.",
        fixed=True,
    ),
    blind("either infinity", _either_infinity, "infinity of random sign", "Differences of infinities are NaN."),
    blind(
        "some infinity",
        _some(np.inf),
        "random vectors, a tenth of them infinite",
        "Infinite vectors have no direction.",
    ),
    blind(
        "overflow", _scaled(1e300), "random float64 numbers about 1e300, infinite in float32", RANDOM, beside=_larger
    ),
    blind("underflow", _scaled(1e-200), "random float64 numbers about 1e-200, zero in float32", RANDOM),
    blind(
        "huge norms",
        _scaled(1e30, np.float32),
        "random float32 numbers about 1e30, whose squares are infinite",
        RANDOM,
        beside=_larger,
    ),
    blind("denormals", _subnormal, "1 to 3 times the smallest float32, whose squares are zero", RANDOM),
    blind(
        "one ulp", _one_ulp, "0.3 or the next larger float32, at random", "Only rounding makes or breaks its ties."
    ),
    blind("two vectors", _dealt(2), "two random vectors, assigned at random", FEW),
    blind("ten vectors", _dealt(10), "ten random vectors, assigned at random", FEW),
    blind(
        "duplicates",
        _in_groups(2),
        "random vectors, each for two random items",
        "The two items of a pair are tied for all other items.",
        "TorchDR issue 295",
    ),
    blind("groups of four", _in_groups(4), "random vectors, each for four random items", FEW),
    blind("groups of eight", _in_groups(8), "random vectors, each for eight random items", FEW),
    blind(
        "isolated pairs",
        _isolated_pairs,
        "random pairs of items with equal vectors, where different vectors are equally far from each other",
        "Only the breaking of ties decides on all items but one.",
    ),
    blind(
        "empty",
        lambda dice, count, width: np.zeros((count, 0), dtype=np.float32),
        "vectors without any dimension; an empty matrix or run",
        "An empty input ranks nothing.",
        fixed=True,
    ),
    blind(
        "zeros of much data",
        filled(0.0),
        f"all zeros, with {MANY} times as many items and queries as usual",
        "An evaluator may treat much data differently, for example by another sorting algorithm.",
        fixed=True,
        times=MANY,
    ),
    listing("one document", _documents(1), "one random document for each query", NOT_LISTED),
    listing("ten documents", _documents(10), "ten random documents for each query", NOT_LISTED),
    listing(
        "first queries",
        _first_queries,
        "random scores for the first tenth of the queries, no lines for the others",
        MISSING,
    ),
    listing(
        "empty lists",
        lambda random, count, asked: _first_queries(random, count, asked)[:, ::-1].copy(),
        "random scores for the last tenth of the queries, empty lists for the others",
        MISSING,
        empty=True,
    ),
    listing(
        "repeated documents",
        lambda random, count, asked: REPEATS * _documents(1)(random, count, asked),
        f"one random document for each query, on {REPEATS} lines",
        "A document can be found only once.",
        lambda convention: convention.files,
    ),
    Attack(
        ANEW,
        "blind",
        "all zeros, in the first call of a process",
        EARLIER_CALLS,
        "",
        _in_a_new_process,
        lambda convention, options: options.isolate,
    ),
    Attack(
        AFTER,
        "blind",
        "all zeros, right after a system that knows the labels",
        EARLIER_CALLS,
        "",
        _after_a_good_system,
    ),
]
"""The attacks by blind systems, in the order in which they run."""
