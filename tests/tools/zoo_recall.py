"""Evaluators of recall, called with (found, distances, truth): some are right, each of the others has one defect."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

import tieproof as tp

Array = npt.NDArray[Any]
Truth = tuple[Array, Array]
Recall = Callable[[Array, Array, Truth], float]

CALLS = itertools.count()


def mean_of(share: Callable[[list[int], Array, list[int], Array], float]) -> Recall:
    """The mean over queries of a share, which is computed from the lists of one query."""

    def recall(found: Array, distances: Array, truth: Truth) -> float:
        lists = zip(found.tolist(), distances, truth[0].tolist(), truth[1], strict=True)
        return float(np.mean([share(*each) for each in lists]))

    return recall


# The right ones


def lower(found: Array, distances: Array, truth: Truth) -> float:
    k = found.shape[1]
    return tp.neighbor_recall(found, truth, distances=distances, k=k)[k].lower


def expected(found: Array, distances: Array, truth: Truth) -> float:
    k = found.shape[1]
    return tp.neighbor_recall(found, truth, distances=distances, k=k)[k].expected


def upper(found: Array, distances: Array, truth: Truth) -> float:
    """The upper bound; a truth that ends within a tie is refused."""
    k = found.shape[1]
    at = tp.neighbor_recall(found, truth, distances=distances, k=k).at(k)
    if at.cut_off.any():
        raise ValueError("The truth ends within a tie.")
    return at.recall.upper


def _by_definition(found: list[int], distances: Array, true: list[int], far: Array) -> float:
    """Nearer items count, and of the tie at the k-th distance as many as belong to the nearest."""
    k, last = len(found), far[len(found) - 1]
    nearer = {item for item, distance in zip(true, far, strict=True) if distance < last}
    tied = {item for item, distance in zip(true, far, strict=True) if distance == last} - {-1}
    return (len(nearer & set(found)) + min(k - len(nearer), len(tied & set(found)))) / k


by_definition = mean_of(_by_definition)


def percent(found: Array, distances: Array, truth: Truth) -> float:
    return 100 * lower(found, distances, truth)


def error(found: Array, distances: Array, truth: Truth) -> float:
    """The share of neighbors that were not found, of which smaller is better."""
    return 1 - lower(found, distances, truth)


def rounded(found: Array, distances: Array, truth: Truth) -> float:
    return round(lower(found, distances, truth), 4)


def several(found: Array, distances: Array, truth: Truth) -> dict[str, float]:
    return {"lower": lower(found, distances, truth), "by ids": by_ids(found, distances, truth)}


# The wrong ones

by_ids = mean_of(lambda found, distances, true, far: len(set(found) & set(true[: len(found)]) - {-1}) / len(found))
"""Which items of a tie the truth lists first decides."""

without_the_nearest = mean_of(
    lambda found, distances, true, far: len(set(found) & set(true[1 : len(found) + 1])) / len(found)
)
"""The list of true neighbors begins one rank too late, as if it contained the query itself."""

jaccard = mean_of(
    lambda found, distances, true, far: (
        len(set(found) & set(true[: len(found)])) / len(set(found) | set(true[: len(found)]))
    )
)
"""The share of the items in either list that are in both."""

all_that_is_listed = mean_of(lambda found, distances, true, far: len(set(found) & set(true)) / len(found))
"""Every item of the truth counts, though it lists more than k."""

as_often_as_found = mean_of(
    lambda found, distances, true, far: sum(item in true[: len(found)] for item in found) / len(found)
)
"""An item counts as often as it is found."""


def in_32_bits(found: Array, distances: Array, truth: Truth) -> float:
    return by_definition(found.astype(np.int32), distances, truth)


def by_distances(found: Array, distances: Array, truth: Truth) -> float:
    """Only the distances that an index returns count."""
    k = found.shape[1]
    return float((distances <= truth[1][:, k - 1 : k]).mean())


def unless_farther(found: Array, distances: Array, truth: Truth) -> float:
    """A listed item counts unless its distance is larger than the k-th, which NaN never is."""
    k = found.shape[1]
    listed = np.array([np.isin(row, true) for row, true in zip(found, truth[0][:, :k], strict=True)])
    return float((listed | ~(distances > truth[1][:, k - 1 : k])).mean())


def _within(relative: float, absolute: float) -> Recall:
    def share(found: list[int], distances: Array, true: list[int], far: Array) -> float:
        k = len(found)
        limit = float(far[k - 1]) * (1 + relative) + absolute
        near = {item for item, distance in zip(true, far.tolist(), strict=True) if distance <= limit}
        return min(k, len(near & set(found))) / k

    return mean_of(share)


within_a_percent, within_a_millionth, whole_tie = _within(0.01, 0.0), _within(0.0, 1e-6), _within(0.0, 0.0)
"""Listed items count that are a little farther than the k-th, or in the first two that are exactly as near."""


def cut_truth(found: Array, distances: Array, truth: Truth) -> float:
    """The upper bound over all galleries that begin as the truth does, though it ends within a tie."""
    k = found.shape[1]
    return tp.neighbor_recall(found, truth, distances=distances, k=k)[k].upper


def _of_the_returned(found: list[int], distances: Array, true: list[int], far: Array) -> float:
    returned = [item for item in found if item >= 0]
    return len(set(returned) & set(true[: len(found)])) / len(returned) if returned else 0.0


of_the_returned = mean_of(_of_the_returned)
"""The denominator is the number of items that were returned."""


def of_answered_queries(found: Array, distances: Array, truth: Truth) -> float:
    """Queries without any answer are left out."""
    answered = (found >= 0).any(axis=1)
    if not answered.any():
        return 0.0
    return by_ids(found[answered], distances[answered], (truth[0][answered], truth[1][answered]))


def noisy(found: Array, distances: Array, truth: Truth) -> float:
    return lower(found, distances, truth) + 1e-5 * (next(CALLS) % 2)


def rank_by_rank(found: Array, distances: Array, truth: Truth) -> float:
    """An item counts only at its own rank."""
    return float((found == truth[0][:, : found.shape[1]]).mean())


def first_queries(found: Array, distances: Array, truth: Truth) -> float:
    """Only the first half of the queries is read."""
    half = len(found) // 2
    return lower(found[:half], distances[:half], (truth[0][:half], truth[1][:half]))


def without_item_zero(found: Array, distances: Array, truth: Truth) -> float:
    """The id 0 is taken for nothing."""
    return lower(np.where(found == 0, -1, found), distances, truth)


def crashes_on_padding(found: Array, distances: Array, truth: Truth) -> float:
    """A table of ranks, in which no id below 0 can be looked up."""
    if found.min() < 0:
        raise IndexError("index -1 is out of bounds")
    return lower(found, distances, truth)


def refuses_everything(found: Array, distances: Array, truth: Truth) -> float:
    raise ValueError("These lists are not sorted.")


def returns_a_pair(found: Array, distances: Array, truth: Truth) -> tuple[float, float]:
    return 1.0, 0.0


def nan_for_all(found: Array, distances: Array, truth: Truth) -> float:
    return float("nan")


def within_a_share(found: Array, distances: Array, truth: Truth) -> float:
    """Counts true neighbors that are no farther than the last one by a share of its distance."""
    ids, known = truth
    values = []
    for row, true_ids, true_distances in zip(found, ids, known, strict=True):
        own = dict(zip(true_ids.tolist(), true_distances.tolist(), strict=True))
        last = true_distances[9] * (1 + 1e-3)
        values.append(min(len([item for item in set(row.tolist()) if own.get(item, np.inf) <= last]), 10) / 10)
    return float(np.mean(values))


def ids_in_float32(found: Array, distances: Array, truth: Truth) -> float:
    """Compares ids in single precision."""
    near = truth[0][:, :10].astype(np.float32)
    rows = zip(found.astype(np.float32), near, strict=True)
    return float(np.mean([len(np.intersect1d(*row)) / 10 for row in rows]))


def of_digits(digits: int) -> Recall:
    """The recall of the first ten true neighbors, rounded."""

    def evaluator(found: Array, distances: Array, truth: Truth) -> float:
        return round(by_definition(found, distances, truth), digits)

    return evaluator
