"""Changes of a case that keep every ranking, each a function of the case and a random generator."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tieproof.audit.cases import CLASSES, DIMENSIONS, Case
from tieproof.audit.data import with_groups
from tieproof.audit.examination import Board, Dice, Examination, Rows
from tieproof.audit.luck import Luck, differ, rounding
from tieproof.ties import Array, IntArray

Random = np.random.Generator
Change = Callable[[Case, Random], Case]


def permute_items(case: Case, random: Random) -> Case:
    """The items in another order: the gallery or, in leave-one-out, all items."""
    order = random.permutation(len(case.labels))
    return replace(case, **taken(case, ("items", "labels", "groups", "listed"), order))


def take_queries(case: Case, chosen: IntArray) -> Case:
    """The case with only the chosen queries, in this order."""
    found = taken(case, ("queries", "query_labels", "query_groups"), chosen)
    if case.queries is None:
        listed = None if case.listed is None else case.listed[:, chosen]
        found |= {"items": case.items[:, chosen], "listed": listed}
    return replace(case, **found)


def taken(case: Case, names: Sequence[str], chosen: IntArray) -> dict[str, Any]:
    """The chosen rows, in this order, of the named arrays of a case; None for arrays that it does not have."""
    arrays = {name: getattr(case, name) for name in names}
    return {name: None if array is None else array[chosen] for name, array in arrays.items()}


def permute_queries(case: Case, random: Random) -> Case:
    """The queries in another order."""
    assert case.query_labels is not None
    return take_queries(case, random.permutation(len(case.query_labels)))


def rescale(case: Case, random: Random) -> Case:
    """All numbers times a power of two, which is exact."""
    factor = case.items.dtype.type(2.0 ** random.choice([-6, -3, 4, 7]))
    queries = None if case.queries is None else case.queries * factor
    return replace(case, items=case.items * factor, queries=queries)


def add_zero_columns(case: Case, random: Random) -> Case:
    """Three more dimensions, at random positions, in which every vector is zero."""
    width = case.items.shape[1]
    places = np.sort(random.integers(width + 1, size=3))
    queries = None if case.queries is None else np.insert(case.queries, places, 0, axis=1)
    return replace(case, items=np.insert(case.items, places, 0, axis=1), queries=queries)


def relabel(case: Case, names: IntArray) -> Case:
    """Other numbers for the classes: class c is called names[c]."""
    return replace(
        case,
        labels=names[case.labels],
        query_labels=None if case.query_labels is None else names[case.query_labels],
    )


def rewrite(**writing: Any) -> Change:
    """A change of how the case is written; None is replaced by a random seed."""

    def change(case: Case, random: Random) -> Case:
        drawn: dict[str, Any] = {
            name: int(random.integers(1, 2**31)) if value is None else value for name, value in writing.items()
        }
        return replace(case, writing=case.writing._replace(**drawn))

    return change


SHARE = 0.5
"""The largest gain that another average may explain, as a share of a perfect system's gain over random embeddings."""


FAR = 1e6


def alike(value: float, dice: Dice, count: int, width: int) -> Array:
    """Rows in which every number is `value`."""
    return np.full((count, width), value, dtype=np.float32)


ONE_SIDED: tuple[Rows, ...] = (
    *(partial(alike, value) for value in (0.0, 0.5, FAR, -FAR)),
    lambda dice, count, width: dice.plain(count, width) * FAR,
)
"""Blind systems whose distances or scores are all on one side of any threshold."""


def may_be_a_threshold(examination: Examination, measure: str, score: float, board: Board) -> bool:
    """Whether a score is only what accepting all items, or no items, by declared thresholds gives."""
    if not examination.options.thresholds:
        return False
    random = examination.random("thresholds")
    outcomes = [examination.score(examination.blind_case(board, rows, random)) for rows in ONE_SIDED]
    known = [examination.sign * outcome.values.get(measure, -np.inf) for outcome in outcomes]
    return examination.sign * score <= max(known) + rounding(score)


def may_be_the_average(examination: Examination, measure: str, case: Case, luck: Luck) -> bool:
    """Whether an honest evaluator whose number is not a mean over queries may give this case its score."""
    score = examination.score(case).values.get(measure, np.nan)
    average = examination.options.average
    if average in ("mean", "macro") or (average is None and is_mean(examination, measure)):
        return False
    random = examination.random("averages")
    permuted = permute_items(case, random)
    if case.query_labels is not None:
        permuted = permute_queries(permuted, random)
    if differ(score, examination.score(permuted).values.get(measure, np.nan)):
        return False
    perfect = examination.score(perfect_case(examination, case)).values.get(measure, np.nan)
    return bool(examination.sign * (score - luck.mean) <= SHARE * examination.sign * (perfect - luck.mean))


def is_mean(examination: Examination, measure: str) -> bool:
    """Whether a number is the mean over queries, tested with two thirds easy queries and one third hard ones.

    If all queries had the same score, a median would pass for a mean, too; hence easy and hard queries.
    """
    parts = two_galleries if examination.convention.kind == "leave-one-out" else two_parts
    values = [examination.score(case).values.get(measure, np.nan) for case in parts(examination)]
    return not differ((2 * values[0] + values[1]) / 3, values[2])


SIZES = (6, 3)
"""The number of easy classes and of hard ones."""


def two_parts(examination: Examination) -> tuple[Case, Case, Case]:
    """Three cases on one gallery: queries of the classes that the system knows, of the other classes, and of all."""
    random, options = examination.random("two parts"), examination.options
    classes = sum(SIZES)
    labels = random.permutation(np.arange(options.items) % classes)
    query_labels = np.arange(options.queries // classes * classes) % classes
    dice = Dice(random, examination.convention.kind, examination.convention.ascending)
    if dice.kind == "scores":
        blank = Case(dice.plain(len(labels), len(query_labels)), labels, query_labels=query_labels)
    else:
        vectors = dice.plain(len(labels) + len(query_labels), DIMENSIONS)
        blank = Case(vectors[: len(labels)], labels, vectors[len(labels) :], query_labels)
    if examination.convention.grouped:
        blank = with_groups(blank, random)
    known, easy = perfect_case(examination, blank), query_labels < SIZES[0]
    if blank.queries is None or known.queries is None:
        both = replace(blank, items=np.where(easy, known.items, blank.items))
    else:
        both = replace(known, queries=np.where(easy[:, None], known.queries, blank.queries))
    return take_queries(both, np.flatnonzero(easy)), take_queries(both, np.flatnonzero(~easy)), both


def two_galleries(examination: Examination) -> tuple[Case, Case, Case]:
    """Three cases: items of the classes that the system knows, items of the other classes, and both sets together.

    Each item is nearer to every item of its own set than to any of the other: all vectors have length 1, are positive
    in the dimensions of their own set and zero in the dimensions of the other set.
    """
    random = examination.random("two galleries")
    size = examination.options.items // sum(SIZES)
    parts: list[Case] = []
    for first, classes in zip((0, SIZES[0]), SIZES, strict=True):
        labels = random.permutation(np.arange(size * classes) % classes)
        vectors = np.zeros((len(labels), 2 * DIMENSIONS))
        own = vectors[:, :DIMENSIONS] if not first else vectors[:, DIMENSIONS:]
        own[:] = np.abs(random.normal(size=own.shape)) + 0.01
        if not first:
            own += 100 * np.eye(DIMENSIONS)[labels]
        own /= np.linalg.norm(own, axis=1, keepdims=True)
        case = Case(vectors.astype(np.float32), labels + first)
        parts.append(with_groups(case, random) if examination.convention.grouped else case)
    easy, hard = parts
    groups = None if easy.groups is None or hard.groups is None else np.concatenate([easy.groups, hard.groups])
    both = Case(np.concatenate([easy.items, hard.items]), np.concatenate([easy.labels, hard.labels]), groups=groups)
    return easy, hard, both


def two_halves(case: Case) -> tuple[Case, Case]:
    """The queries in two halves that have the same number of queries of each class."""
    pairs = in_pairs(case)
    return take_queries(case, pairs[::2]), take_queries(case, pairs[1::2])


def in_pairs(case: Case) -> IntArray:
    """The indices of queries in pairs of the same class; the last query of a class with an odd number is left out.

    >>> in_pairs(Case(np.eye(2), np.arange(2), query_labels=np.array([5, 7, 5, 5, 7])))
    array([0, 2, 1, 4])
    """
    assert case.query_labels is not None
    places = [np.flatnonzero(case.query_labels == label) for label in np.unique(case.query_labels)]
    return np.concatenate([each[: len(each) // 2 * 2] for each in places])


def perfect_case(examination: Examination, case: Case) -> Case:
    """A case with the same labels, from a system that knows them."""
    known = np.eye(CLASSES, DIMENSIONS, dtype=np.float32)
    if case.query_labels is None:
        return replace(case, items=known[case.labels])
    if case.queries is not None:
        return replace(case, items=known[case.labels], queries=known[case.query_labels])
    same = (case.labels[:, None] == case.query_labels).astype(np.float64)
    return replace(case, items=1 - same if examination.convention.ascending else same, listed=None)
