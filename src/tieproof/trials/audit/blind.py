"""Blind attacks: systems that never look at their input, tried on every layout of the labels.

The record of an attack makes the rows of numbers that a system hands in, one row for each item, without the labels.
Rows that differ are assigned to items at random; otherwise the order of the items would reveal their classes.
Other blind systems differ in the documents that a run lists; those of memory.py in the calls before them.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from tieproof.trials.attacks import Finding
from tieproof.trials.audit.cases import LAYOUTS, Case
from tieproof.trials.audit.conventions import Convention
from tieproof.trials.audit.examination import PAPER, Attack, BlindSystem, Board, Dice, Examination, Options, filled
from tieproof.trials.audit.judgment import BlindTrial, examine
from tieproof.trials.audit.luck import LOOKS
from tieproof.trials.audit.outcomes import Outcome
from tieproof.trials.audit.systems import (
    CONSTANT,
    REPEATS,
    Listing,
    dealt,
    documents,
    either_infinity,
    equidistant,
    first_queries,
    half_in_a_cluster,
    hubs,
    in_groups,
    isolated_pairs,
    larger,
    listed_last,
    mostly_equal,
    one_ulp,
    opposed,
    scaled,
    some,
    subnormal,
    the_same_documents,
)

MUCH_DATA = 2.5
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
    applies: Callable[[Convention], bool] = lambda convention: True,
    thorough: bool = False,
    wide: bool = False,
) -> Attack:
    """A blind attack.

    fixed : whether its rows contain no random numbers
    times : the factor of the usual number of items and queries
    beside : random rows that gain as much if only the size of the numbers matters
    thorough : whether only thorough audits make the attack
    wide : whether its vectors have as many dimensions as there are items
    """

    def run(examination: Examination) -> Iterator[Finding]:
        """Hand in the rows on every layout, or, with much data, on the two layouts whose order gains most."""

        def dealing(rows: BlindSystem, *key: str) -> Callable[[Board], Case]:
            return lambda board: examination.blind_case(board, rows, examination.random(name, *key, *board.key))

        def other(board: Board) -> Outcome:
            assert beside is not None
            return examination.score(dealing(beside, "beside")(board))

        trial = BlindTrial(name, dealing(rows), examination.score, fixed, beside=other if beside else None)
        if times == 1:
            return examine(examination, trial, LAYOUTS.values())
        trial = trial._replace(times=times, draws=FEW_DRAWS, looks=LOOKS[:2])
        return examine(examination, trial, [LAYOUTS["largest first"], LAYOUTS["smallest first"]])

    def possible(convention: Convention, options: Options) -> bool:
        return applies(convention)

    return Attack(name, "blind", does, why, source, run, possible, None if wide else rows, fixed, thorough)


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

        return examine(examination, BlindTrial(name, case, examination.score, fixed=False), LAYOUTS.values())

    return Attack(name, "blind", does, why, "", run, lambda convention, options: applies(convention))


TIED = "All items are equally near, so that only the breaking of ties decides."
FEW_VECTORS = "Vectors are assigned at random; items with equal vectors are tied."
RANDOM = "The vectors are random; numbers too large or too small for a type add no knowledge."
UNORDERED = "NaN is neither larger nor smaller than any number, so that no ranking follows from it."
NOT_LISTED = "A document that is not listed was not found; a short list must not gain."
MISSING = "A query without an answer scores zero; leaving out hard queries must not gain."

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
    blind("some nan", some(np.nan), "random vectors, a tenth of them NaN", UNORDERED),
    blind(
        "mostly nan",
        some(np.nan, 0.95),
        "random vectors, 95 % of them NaN",
        "Leaving out what fails must not gain.",
    ),
    blind("infinity", filled(np.inf), "infinity everywhere", "Differences of infinities are NaN.", fixed=True),
    blind(
        "negative infinity",
        filled(-np.inf),
        "minus infinity everywhere",
        "Differences of infinities are NaN.",
        fixed=True,
    ),
    blind("either infinity", either_infinity, "infinity of random sign", "Differences of infinities are NaN."),
    blind(
        "some infinity",
        some(np.inf),
        "random vectors, a tenth of them infinite",
        "Infinite vectors have no direction.",
    ),
    blind(
        "overflow", scaled(1e300), "random float64 numbers about 1e300, infinite in float32", RANDOM, beside=larger
    ),
    blind("underflow", scaled(1e-200), "random float64 numbers about 1e-200, zero in float32", RANDOM),
    blind(
        "huge norms",
        scaled(1e30, np.float32),
        "random float32 numbers about 1e30, whose squares are infinite",
        RANDOM,
        beside=larger,
    ),
    blind("denormals", subnormal, "1 to 3 times the smallest float32, whose squares are zero", RANDOM),
    blind("one ulp", one_ulp, "0.3 or the next larger float32, at random", "Only rounding makes or breaks its ties."),
    blind("two vectors", dealt(2), "two random vectors, assigned at random", FEW_VECTORS),
    blind("three vectors", dealt(3), "three random vectors, assigned at random", FEW_VECTORS, thorough=True),
    blind("four vectors", dealt(4), "four random vectors, assigned at random", FEW_VECTORS),
    blind("six vectors", dealt(6), "six random vectors, assigned at random", FEW_VECTORS, thorough=True),
    blind("ten vectors", dealt(10), "ten random vectors, assigned at random", FEW_VECTORS),
    blind(
        "duplicates",
        in_groups(2),
        "random vectors, each for two random items",
        "The two items of a pair are tied for all other items.",
        "TorchDR issue 295",
    ),
    blind("groups of four", in_groups(4), "random vectors, each for four random items", FEW_VECTORS),
    blind("groups of eight", in_groups(8), "random vectors, each for eight random items", FEW_VECTORS),
    blind(
        "isolated pairs",
        isolated_pairs,
        "random pairs of items with equal vectors, where different vectors are equally far from each other",
        "Only the breaking of ties decides on all items but one.",
    ),
    blind(
        "equidistant vectors",
        equidistant,
        "different vectors, each in a dimension of its own",
        "They are equally far from each other, so that only the breaking of ties decides.",
        applies=lambda convention: convention.kind != "scores",
        wide=True,
    ),
    blind(
        "negative similarities",
        opposed,
        "vectors or scores all of whose similarities are negative, nearly the corners of a simplex",
        "What is missing or excluded is not nearer than an item that is far.",
        wide=True,
    ),
    blind(
        "one hub",
        hubs(1),
        "equidistant vectors, and one that is nearest to all",
        "Leaving out the queries or classes without success must not gain.",
        wide=True,
    ),
    blind(
        "eleven hubs",
        hubs(11),
        "equidistant vectors, and eleven that are nearest to all, in the same order",
        "Leaving out the queries or classes without success must not gain.",
        wide=True,
    ),
    blind(
        "mostly equal",
        mostly_equal,
        "one vector for all items but a twentieth, which are random",
        "An item that equals the query is another item; leaving out queries must not gain.",
    ),
    blind(
        "half in a cluster",
        half_in_a_cluster,
        "nearly equal vectors for half of the items, and random ones for the others",
        "What is excluded is not the farthest item.",
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
        f"all zeros, with {MUCH_DATA} times as many items and queries as usual",
        "An evaluator may treat much data differently, for example by another sorting algorithm.",
        fixed=True,
        times=MUCH_DATA,
    ),
    listing("one document", documents(1), "one random document for each query", NOT_LISTED),
    listing("ten documents", documents(10), "ten random documents for each query", NOT_LISTED),
    listing(
        "the same documents",
        the_same_documents(11),
        "the same eleven random documents for all queries",
        NOT_LISTED,
    ),
    listing(
        "first queries",
        first_queries,
        "random scores for the first tenth of the queries, no lines for the others",
        MISSING,
    ),
    listing(
        "empty lists",
        listed_last,
        "random scores for the last tenth of the queries, empty lists for the others",
        MISSING,
        empty=True,
    ),
    listing(
        "repeated documents",
        lambda random, count, asked: REPEATS * documents(1)(random, count, asked),
        f"one random document for each query, on {REPEATS} lines",
        "A document can be found only once.",
        lambda convention: convention.files,
    ),
]
"""The attacks by blind systems, in the order in which they run."""
