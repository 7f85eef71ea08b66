"""Attacks by the documents that a run lists: blind systems that list few documents, or one document many times."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from tieproof.audit.attacks import Attack, register
from tieproof.audit.cases import LAYOUTS, Case
from tieproof.audit.conventions import Convention
from tieproof.audit.examination import Board, Dice, Examination
from tieproof.audit.judgment import Trial, examine
from tieproof.audit.report import Finding
from tieproof.ties import IntArray

Listing = Callable[[np.random.Generator, int, int], IntArray]
"""A function that returns how often each item is listed for each query, (count, asked)."""

REPEATS = 200
FEW = 10
"""One in this many queries is answered."""


def listing(
    name: str,
    listed: Listing,
    does: str,
    why: str,
    applies: Callable[[Convention], bool] = lambda convention: convention.written,
    empty: bool = False,
) -> Attack:
    """Register an attack by what a run lists; `empty` if queries without documents have an empty list."""
    run = partial(attempt, name, listed, empty)
    return register(Attack(name, "blind", does, why, "", run, lambda convention, options: applies(convention)))


def attempt(name: str, listed: Listing, empty: bool, examination: Examination) -> Iterator[Finding]:
    """Hand in random scores for the listed documents, on every layout."""

    def case(board: Board) -> Case:
        random = examination.random(name, *board.key)
        full = examination.blind_case(board, Dice.plain, random)
        counts = listed(random, len(board.labels), board.asked)
        return replace(full, listed=counts, writing=full.writing._replace(empty=empty))

    return examine(examination, Trial(name, case, examination.score, fixed=False), LAYOUTS.values())


def documents(length: int) -> Listing:
    """A listing of `length` random documents for each query."""

    def listed(random: np.random.Generator, count: int, asked: int) -> IntArray:
        places = np.argsort(random.random((count, asked)), axis=0)
        return np.where(places < length, 1, 0)

    return listed


def first_queries(random: np.random.Generator, count: int, asked: int) -> IntArray:
    """All documents for the first queries, and none for the others."""
    counts = np.zeros((count, asked), dtype=np.int64)
    counts[:, : -(-asked // FEW)] = 1
    return counts


def last_queries(random: np.random.Generator, count: int, asked: int) -> IntArray:
    """All documents for the last queries, and none for the others."""
    return first_queries(random, count, asked)[:, ::-1].copy()


NOT_LISTED = "A document that is not listed was not found; a short list must not gain."
MISSING = "A query without an answer scores zero; leaving out hard queries must not gain."

listing(
    "one document",
    documents(1),
    "one random document for each query",
    NOT_LISTED,
)
listing("ten documents", documents(10), "ten random documents for each query", NOT_LISTED)
listing(
    "first queries",
    first_queries,
    "random scores for the first tenth of the queries, no lines for the others",
    MISSING,
)
listing(
    "empty lists",
    last_queries,
    "random scores for the last tenth of the queries, empty lists for the others",
    MISSING,
    empty=True,
)
listing(
    "repeated documents",
    lambda random, count, asked: REPEATS * documents(1)(random, count, asked),
    f"one random document for each query, on {REPEATS} lines",
    "A document can be found only once.",
    lambda convention: convention.files,
)
