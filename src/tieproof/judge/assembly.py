"""From the answers to all batches of a run to embeddings or distances, with refused and changed answers."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tieproof.judge.dealing import Batch
from tieproof.judge.judgment import Repeats
from tieproof.judge.protocol import REFUSALS, WRONG_SHAPE, Answers, unlike_most
from tieproof.ties import Array, FloatArray

FARTHEST = float(np.finfo(np.float64).max)
"""The distance of a pair whose answer was refused: the largest finite number, or its negative."""

Asked = tuple[int, ...]
"""The items of a question: one or two."""


class Assembled(NamedTuple):
    """All answers of a run.

    answers : the numbers of each answer that counts
    refused : the refused questions, by reason
    repeats : a summary of the questions that were asked twice
    unknown : the number of answers under names that were not asked about
    """

    answers: dict[Asked, FloatArray]
    refused: dict[str, list[Asked]]
    repeats: Repeats
    unknown: int


def assembled(batches: Iterable[tuple[Batch, Answers]], symmetric: bool) -> Assembled:
    """Assemble the answers of all batches; the first of two answers to the same question counts.

    symmetric : whether a pair is the same question in either order
    """
    first: dict[Asked, tuple[FloatArray, str]] = {}
    pairs: list[tuple[Asked, FloatArray, str]] = []
    unknown = 0
    for batch, (vectors, reasons, strangers) in batches:
        unknown += strangers
        for asked, vector, reason in zip(batch.asked, vectors, reasons, strict=True):
            asked = tuple(sorted(asked)) if symmetric else asked
            if asked in first:
                pairs.append((asked, vector, reason))
            else:
                first[asked] = (vector, reason)
    answers = {asked: vector for asked, (vector, reason) in first.items() if not reason}
    refused: dict[str, list[Asked]] = {reason: [] for reason in REFUSALS}
    for asked, (_, reason) in first.items():
        if reason:
            refused[reason].append(asked)
    for asked in unlike_most(answers):
        del answers[asked]
        refused[WRONG_SHAPE].append(asked)
    both = [(answers[asked], vector) for asked, vector, reason in pairs if asked in answers and not reason]
    return Assembled(
        dict(sorted(answers.items())),
        {reason: sorted(items) for reason, items in refused.items() if items},
        repeats_of(both),
        unknown,
    )


def repeats_of(pairs: list[tuple[FloatArray, FloatArray]]) -> Repeats:
    """A summary of how far second answers are from first answers.

    >>> repeats_of([(np.array([1.0, 0.0]), np.array([1.0, 0.5])), (np.ones(2), np.ones(2))])
    Repeats(asked=2, differ=1, largest=0.5)
    """
    differing = [(one, other) for one, other in pairs if not np.array_equal(one, other)]
    return Repeats(len(pairs), len(differing), max((apart(one, other) for one, other in differing), default=0.0))


def apart(one: FloatArray, other: FloatArray) -> float:
    """The length of the difference of two answers, divided by the length of the first, at most the largest float.

    It is 1 if the answers have different numbers of numbers, or the first is zero.

    >>> apart(np.array([3.0, 4.0]), np.array([3.0, 4.0, 0.0])), apart(np.zeros(2), np.ones(2))
    (1.0, 1.0)
    >>> apart(np.array([5e-324]), np.array([1e308])) == FARTHEST
    True
    """
    if len(one) != len(other) or not one.any():
        return 1.0
    own, scale = float(np.abs(one).max()), max(float(np.abs(one).max()), float(np.abs(other).max()))
    difference = float(np.linalg.norm(one / scale - other / scale)) / float(np.linalg.norm(one / own))
    with np.errstate(over="ignore"):
        return min(float(np.float64(difference) * (np.float64(scale) / own)), FARTHEST)


def embeddings_of(answers: dict[Asked, FloatArray], count: int) -> FloatArray:
    """An embedding for each item; NaN if it has no answer."""
    width = len(next(iter(answers.values()))) if answers else 1
    rows = np.full((count, width), np.nan)
    for (item,), vector in answers.items():
        rows[item] = vector
    return rows


def distances_of(
    answers: dict[Asked, FloatArray], labels: Array, gallery_labels: Array | None, symmetric: bool, worst: bool
) -> FloatArray:
    """A distance for each query (row) and item (column).

    worst : whether an item is nearer than all others to a query for which it has no answer and is not relevant;
        otherwise every item without an answer is farther than all others
    """
    queries, gallery = len(labels), gallery_labels
    relevant = labels[:, None] == (labels if gallery is None else gallery)
    matrix = np.where(relevant | (not worst), FARTHEST, -FARTHEST)
    if gallery is None:
        np.fill_diagonal(matrix, 0.0)
    for (query, item), vector in answers.items():
        matrix[query, item if gallery is None else item - queries] = vector[0]
        if symmetric:
            matrix[item, query] = vector[0]
    return matrix
