"""Whether a gain may be due to the kind of average, and not to ties.

Ties that are broken by chance, or averaged, leave a query's mean value as it is, but not its spread. A median or a
geometric mean of values without spread is larger than that of values with the same mean that are skewed. So an
evaluator may be honest with each query, and blind systems still gain a little: where its number is no mean over
queries, does not depend on the order of tied items, and stays far below that of a perfect system.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from tieproof.audit.cases import CLASSES, DIMENSIONS, Case
from tieproof.audit.changes import permute_items, permute_queries, take_queries
from tieproof.audit.data import data_case, with_groups
from tieproof.audit.examination import Board, Dice, Examination, Rows
from tieproof.audit.luck import Luck, differ, rounding
from tieproof.ties import Array, IntArray

SHARE = 0.5
"""The part of the way from random embeddings to a perfect system that another average may explain."""


FAR = 1e6


def alike(value: float, dice: Dice, count: int, width: int) -> Array:
    """Rows in which every number is `value`."""
    return np.full((count, width), value, dtype=np.float32)


ONE_SIDED: tuple[Rows, ...] = (
    *(partial(alike, value) for value in (0.0, 0.5, FAR, -FAR)),
    lambda dice, count, width: dice.plain(count, width) * FAR,
)
"""Systems whose items all lie on one side of any threshold."""


def may_be_a_threshold(examination: Examination, measure: str, score: float, board: Board) -> bool:
    """Whether a score is none but that of accepting all items, or none, by thresholds that were declared."""
    if not examination.options.thresholds:
        return False
    random = examination.random("thresholds")
    outcomes = [examination.score(examination.blind_case(board, rows, random)) for rows in ONE_SIDED]
    known = [examination.sign * outcome.values.get(measure, -np.inf) for outcome in outcomes]
    return examination.sign * score <= max(known) + rounding(score)


def may_be_the_average(examination: Examination, measure: str, case: Case, luck: Luck) -> bool:
    """Whether the score of a case may be that of an honest evaluator whose number is no mean over queries."""
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
    """Whether a number is the mean of those of two halves of the queries."""
    if examination.convention.kind == "leave-one-out":
        parts = two_galleries(examination)
    else:
        parts = two_halves(data_case(examination, "random"))
    first, second, whole = (examination.score(part).values.get(measure, np.nan) for part in parts)
    return not differ((first + second) / 2, whole)


def two_halves(case: Case) -> tuple[Case, Case, Case]:
    """Two halves of the queries, with as many of each class in the one as in the other, and both together."""
    pairs = in_pairs(case)
    return take_queries(case, pairs[::2]), take_queries(case, pairs[1::2]), take_queries(case, pairs)


def in_pairs(case: Case) -> IntArray:
    """Queries of the same class two by two; of an odd number the last one is left out.

    >>> in_pairs(Case(np.eye(2), np.arange(2), query_labels=np.array([5, 7, 5, 5, 7])))
    array([0, 2, 1, 4])
    """
    assert case.query_labels is not None
    places = [np.flatnonzero(case.query_labels == label) for label in np.unique(case.query_labels)]
    return np.concatenate([each[: len(each) // 2 * 2] for each in places])


def two_galleries(examination: Examination) -> tuple[Case, Case, Case]:
    """Two sets of items of other classes, and both together, where every item is nearer to all of its own set.

    All vectors are of length 1, and positive in the dimensions of their set, zero in those of the other one.
    """
    random = examination.random("two galleries")
    size = examination.options.items // (2 * CLASSES) * CLASSES
    sets = []
    for number in range(2):
        vectors = np.zeros((size, 2 * DIMENSIONS))
        own = vectors[:, number * DIMENSIONS : (number + 1) * DIMENSIONS]
        own[:] = np.abs(random.normal(size=own.shape)) + 0.01
        own /= np.linalg.norm(own, axis=1, keepdims=True)
        labels = random.permutation(np.arange(size) % (CLASSES // 2)) + number * (CLASSES // 2)
        case = Case(vectors.astype(np.float32), labels)
        sets.append(with_groups(case, random) if examination.convention.grouped else case)
    first, second = sets
    grouped = first.groups is not None and second.groups is not None
    both = Case(
        np.concatenate([first.items, second.items]),
        np.concatenate([first.labels, second.labels]),
        groups=np.concatenate([first.groups, second.groups]) if grouped else None,
    )
    return first, second, both


def perfect_case(examination: Examination, case: Case) -> Case:
    """The same labels, from a system that knows them."""
    known = np.eye(CLASSES, DIMENSIONS, dtype=np.float32)
    if case.query_labels is None:
        return replace(case, items=known[case.labels])
    if case.queries is not None:
        return replace(case, items=known[case.labels], queries=known[case.query_labels])
    same = (case.labels[:, None] == case.query_labels).astype(np.float64)
    return replace(case, items=1 - same if examination.convention.ascending else same, listed=None)
