"""Evaluators of recall: honest ones, and guilty ones by which an index gains without finding more neighbors.

Each is called with found ids, their distances and the truth, as two arrays (q, m). An honest one uses only the ids
that were found, and looks up in the truth how near they are.
"""

from collections.abc import Callable, Iterator

import numpy as np

from studies.audit_rates.families import Evaluator, Family, register
from studies.audit_rates.rankings import Array

TOLERANCE = 1e-3
"""How much farther an item may be that counts as a neighbor, where that is the fault."""

Truth = tuple[Array, Array]
Neighbors = Callable[[Array, Array, Array, Array], float]
"""From the ids and distances that one list has, and its truth, to how many neighbors it is credited with."""


def distances_of(found: Array, true_ids: Array, true_distances: Array) -> Array:
    """The distance of each found item that the truth lists, once each."""
    listed = np.isin(true_ids, found) & (true_ids >= 0)
    return true_distances[listed]


def neighbors(found: Array, distances: Array, true_ids: Array, true_distances: Array) -> float:
    """Found items that are nearer than the last neighbor, and of those tied with it as many as are left."""
    k = len(found)
    last = true_distances[k - 1]
    there = distances_of(found, true_ids, true_distances)
    return float((there < last).sum() + min((there == last).sum(), (true_distances[:k] == last).sum()))


def least(found: Array, distances: Array, true_ids: Array, true_distances: Array) -> float:
    """The least credit over all choices of tied neighbors: the items that were not found are chosen first."""
    k = len(found)
    last = true_distances[k - 1]
    there = distances_of(found, true_ids, true_distances)
    tied, chosen = (true_distances == last).sum(), (true_distances[:k] == last).sum()
    return float((there < last).sum() + max(0, chosen - (tied - (there == last).sum())))


def chosen_by_chance(seed: int) -> Neighbors:
    """Which of the tied items are neighbors is drawn from a generator that knows only their number and the seed."""

    def count(found: Array, distances: Array, true_ids: Array, true_distances: Array) -> float:
        k = len(found)
        last = true_distances[k - 1]
        there = distances_of(found, true_ids, true_distances)
        tied, chosen = (true_distances == last).sum(), (true_distances[:k] == last).sum()
        hits = (there == last).sum()
        random = np.random.default_rng([31, seed, int(hits)])
        return float((there < last).sum() + random.hypergeometric(hits, tied - hits, chosen))

    return count


def mean(count: Neighbors) -> Evaluator:
    """The mean of the shares of neighbors that were found."""

    def evaluator(found: Array, distances: Array, truth: Truth) -> float:
        lists = zip(found, distances, *truth, strict=True)
        return float(np.mean([count(*each) / found.shape[1] for each in lists]))

    return evaluator


def rounded(count: Neighbors) -> Evaluator:
    """The mean with four digits."""
    return lambda *arguments: round(mean(count)(*arguments), 4)


def every_seed(evaluator: Evaluator) -> Callable[[int, int], Evaluator]:
    """An evaluator without a seed: the seeds differ by the lists that audits draw."""
    return lambda strength, seed: evaluator


for _name, _does, _make in (
    ("of neighbors", "credit for as many items of a tie as belong to the neighbors", every_seed(mean(neighbors))),
    ("least", "the least over all choices of tied neighbors", every_seed(mean(least))),
    ("by chance", "tied neighbors chosen by chance", lambda strength, seed: mean(chosen_by_chance(seed))),
    ("four digits", "rounded to four digits", every_seed(rounded(neighbors))),
):
    register(Family(f"recall, {_name}", "honest", _does, "recall", _make))


# Faults, each of a list on its own


def repeated(found: Array, distances: Array, true_ids: Array, true_distances: Array) -> float:
    """Every entry of the list counts, also one that repeats an item."""
    return float(np.isin(found, true_ids[: len(found)]).sum())


def modulo(found: Array, distances: Array, true_ids: Array, true_distances: Array) -> float:
    """Ids are kept in 32 bits, so that an id of no item becomes one that exists."""
    return neighbors(found % 2**32, distances, true_ids, true_distances)


def claimed(found: Array, distances: Array, true_ids: Array, true_distances: Array) -> float:
    """The distances that the index reports are taken for true."""
    return float((distances <= true_distances[len(found) - 1]).sum())


def tolerant(found: Array, distances: Array, true_ids: Array, true_distances: Array) -> float:
    """Items count that are a little farther than the last neighbor."""
    last = true_distances[len(found) - 1]
    there = distances_of(found, true_ids, true_distances)
    return float(min(len(found), (there <= last * (1 + TOLERANCE)).sum()))


def whole_tie(found: Array, distances: Array, true_ids: Array, true_distances: Array) -> float:
    """Every item of a tie at the cut counts."""
    return float((distances_of(found, true_ids, true_distances) <= true_distances[len(found) - 1]).sum())


def beyond(found: Array, distances: Array, true_ids: Array, true_distances: Array) -> float:
    """Every item counts that the truth lists, which is more than k."""
    return float(np.isin(true_ids, found).sum())


def filling(found: Array, distances: Array, true_ids: Array, true_distances: Array) -> float:
    """The id -1 in the list matches the id -1 in the truth."""
    ids = true_ids[: len(found)]
    return float(sum(min((found == each).sum(), (ids == each).sum()) for each in np.unique(ids)))


def of_answers(found: Array, distances: Array, true_ids: Array, true_distances: Array) -> float:
    """The share among the answers that there are, not among the neighbors."""
    answers = int((found >= 0).sum())
    return neighbors(found, distances, true_ids, true_distances) * len(found) / max(answers, 1)


FAULTS = (repeated, modulo, claimed, tolerant, whole_tie, beyond, filling, of_answers)


def of_some_lists(fault: Neighbors) -> Callable[[int, int], Evaluator]:
    """The fault shows for so many percent of the lists, by chance; each other list is judged honestly."""

    def make(strength: int, seed: int) -> Evaluator:
        def evaluator(found: Array, distances: Array, truth: Truth) -> float:
            guilty = np.random.default_rng([32, seed]).random(len(found)) < strength / 100
            return float(np.mean([*_shares(guilty, fault, found, distances, truth)]))

        return evaluator

    return make


def _shares(guilty: Array, fault: Neighbors, found: Array, distances: Array, truth: Truth) -> Iterator[float]:
    for wrong, *each in zip(guilty, found, distances, *truth, strict=True):
        yield (fault if wrong else neighbors)(*each) / found.shape[1]


for _fault in FAULTS:
    _does = (_fault.__doc__ or "").rstrip(".")
    _does = _does[0].lower() + _does[1:]
    _name = f"recall, {_fault.__name__.replace('_', ' ')}"
    register(Family(_name, "guilty", _does, "recall", of_some_lists(_fault), (100, 30, 10)))


def answered(found: Array, distances: Array, truth: Truth) -> float:
    """The mean over the lists that hold an answer."""
    there = (found >= 0).any(axis=1)
    if not there.any():
        return 0.0
    return float(mean(neighbors)(found[there], distances[there], tuple(each[there] for each in truth)))


register(
    Family(
        "recall, answered", "guilty", "the mean over the lists that hold an answer", "recall", every_seed(answered)
    )
)
