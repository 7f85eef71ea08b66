"""Audits of evaluators of recall, from lists of found items to findings.

Each attack (recall_attacks.py) hands in lists together with the interval in which their recall lies, whichever of
several tied items are called neighbors. A number above the interval means that an index can gain without finding more
neighbors; a number below it means that an index is not credited with what it found.

Vectors are not needed. A `WholeRanking` makes lists up, so that it is known exactly which items are tied and how many
neighbors a list contains. All distances are small multiples of powers of two, so that float32 represents them.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, cast

import numpy as np

from tieproof import neighbor_recall
from tieproof.errors import InputError
from tieproof.kit import Array, FloatArray, IntArray
from tieproof.trials.audit.cases import RecallLists
from tieproof.trials.audit.changes import MOST_QUERIES
from tieproof.trials.audit.examination import Attack, AttackKind, Examination
from tieproof.trials.audit.luck import differ, step_of
from tieproof.trials.audit.outcomes import Outcome, check_limits, no_answer
from tieproof.trials.findings import Finding, Verdict

RECALL: AttackKind = "recall"  # the kind of the convention, and of the attacks that apply to it
TOLERANCE = 1e-4  # how far outside its interval rounding in a type may put a recall; a decimal step comes on top
K = 10  # how many neighbors of each query are sought
# The most true neighbors of each query that an evaluator is handed, as in the files of public benchmarks.
MOST_LISTED = 100
NOTHING = -1  # the id where an index found nothing
LARGEST_GAP = 4  # the largest distance between two items that follow each other in a ranking
FIRST = np.arange(K)  # the places of the nearest items


class WholeRanking(NamedTuple):
    """All items of a gallery for each query, from the nearest to the farthest."""

    ids: IntArray  # (q, n)
    distances: Array  # (q, n) float32, which never decrease along a row

    @classmethod
    def drawn(
        cls, random: np.random.Generator, queries: int, items: int, tie: tuple[int, int] = (0, 1)
    ) -> "WholeRanking":
        """A random ranking in which only the items at the places from tie[0] up to tie[1] are tied.

        >>> WholeRanking.drawn(np.random.default_rng(0), 1, 6, (2, 4)).distances
        array([[ 4.,  7., 10., 10., 12., 13.]], dtype=float32)
        """
        gaps = random.integers(1, LARGEST_GAP, size=(queries, items), endpoint=True)
        gaps[:, tie[0] + 1 : tie[1]] = 0
        ids = np.argsort(random.random((queries, items)), axis=1)
        return cls(ids, np.cumsum(gaps, axis=1).astype(np.float32))

    @property
    def listed(self) -> int:
        """How many neighbors the truth lists for each query."""
        return min(MOST_LISTED, len(self.ids[0]) // 2)

    def at(self, places: Any) -> RecallLists:
        """The lists of an index that found the items at some places, (K,) or (q, K), and reports their distances."""
        there = np.broadcast_to(places, (len(self.ids), K))
        found, distances = (np.take_along_axis(each, there, axis=1) for each in self)
        return RecallLists(found, distances, *(each[:, : self.listed].copy() for each in self))

    def recall(self, found: IntArray) -> tuple[float, float]:
        """The smallest and the largest mean recall of found items over all choices of tied neighbors.

        Ids of no item count as nothing.
        """
        items = len(self.ids[0])
        known = np.where((found >= 0) & (found < items), found, NOTHING)
        estimate = neighbor_recall(known, tuple(self), k=K, n_items=items)[K]
        return estimate.lower, estimate.upper

    def scaled(self, factor: float) -> "WholeRanking":
        """The ranking with all distances multiplied by a power of two."""
        return self._replace(distances=self.distances * np.float32(factor))


def almost_as_near(
    random: np.random.Generator, queries: int, items: int, distance: float, gap: float
) -> WholeRanking:
    """A ranking with K items up to a distance, K items farther by a share of it, and the others much farther.

    >>> almost_as_near(np.random.default_rng(0), 1, 40, 1.0, 2.0**-23).distances[0, K - 1 : K + 1] - 1
    array([0.0000000e+00, 1.1920929e-07], dtype=float32)
    """
    shares: FloatArray = np.repeat([0.0, 1.0 + gap, 4.0], [K, K, items - 2 * K])
    shares[:K] = np.arange(K + 6, 2 * K + 6) / (2 * K + 5)
    ids = np.argsort(random.random((queries, items)), axis=1)
    return WholeRanking(ids, np.tile((shares * distance).astype(np.float32), (queries, 1)))


class Deck(NamedTuple):
    """What the lists of an attack are made from: random numbers, for as many queries and items as usual."""

    random: np.random.Generator
    queries: int
    items: int

    def ranking(self, tie: tuple[int, int] = (0, 1)) -> WholeRanking:
        """A random ranking, with a tie from one place up to another."""
        return WholeRanking.drawn(self.random, self.queries, self.items, tie)

    def far(self) -> IntArray:
        """The places of the farthest items, which no truth lists."""
        return np.arange(self.items - K, self.items)

    def some(self) -> IntArray:
        """For each query, the places of K of the 2 K nearest items, at random."""
        order = np.argsort(self.random.random((self.queries, 2 * K)), axis=1)
        return np.sort(order[:, :K], axis=1)


class RecallTrial(NamedTuple):
    """Lists that are handed in, and the interval in which their recall lies."""

    what: str  # the lists, in words
    lists: RecallLists
    least: float
    most: float
    above: Verdict = Verdict.EXPLOITABLE  # the verdict on a number above the interval

    @classmethod
    def of(cls, what: str, ranking: WholeRanking, lists: RecallLists) -> "RecallTrial":
        """A trial of lists whose recall follows from the whole ranking."""
        return cls(what, lists, *ranking.recall(lists.found))


def ask(examination: Examination, lists: RecallLists) -> Outcome:
    """Call the evaluator with lists."""
    return examination.score(cast(Any, lists))


def deck(examination: Examination, attack: str) -> Deck:
    """What the lists of an attack are made from."""
    options = examination.options
    return Deck(examination.random("recall", attack), min(options.queries, MOST_QUERIES), options.items)


def begin(examination: Examination, title: str) -> None:
    """InputError if the evaluator gives no number for the true neighbors, or one outside the limits."""
    options, nearest = examination.options, deck(examination, "true neighbors").ranking().at(FIRST)
    outcome = ask(examination, nearest)
    given = [name for name in ("measure", "average", "pooled", "thresholds", "vary") if getattr(options, name)]
    if given:
        raise InputError(
            f"{given[0]} says nothing of an evaluator of recall. Leave it out with takes='recall'.", given[0]
        )
    if options.limits is None:
        raise InputError(
            "limits is None, but for an evaluator of recall they are the numbers for no and for all true neighbors. "
            "Pass both, such as limits=(0, 100) for percent.",
            "limits",
        )
    if outcome.problem:
        raise no_answer(outcome, "the true neighbors", nearest, examination.convention, title)
    advice = (
        "Pass the numbers for no and for all true neighbors, such as limits=(0, 100) (--limits 0,100) for percent."
    )
    for name, value in outcome.values.items():
        check_limits(value, name, "the true neighbors", options.limits, TOLERANCE, advice)
    examination.begun.append((cast(Any, nearest), outcome))


GRADES = 24  # the number of lists of different recall that show to which step an evaluator rounds


def _step(examination: Examination, measure: str) -> float:
    """The step to which the evaluator rounds a number, from lists all of which have another recall."""
    keys = [("grades", grade) for grade in range(1, GRADES + 1)]
    if keys[0] not in examination.beside:
        cards = deck(examination, "grades")
        ranking = cards.ranking()
        for _, grade in keys:
            near = cards.random.random((cards.queries, K)) < grade / (GRADES + 1)
            examination.beside["grades", grade] = ask(examination, ranking.at(np.where(near, FIRST, cards.far())))
    return step_of([examination.beside[key].value(measure) for key in keys])


def _judged(examination: Examination, attack: str, trial: RecallTrial) -> Iterator[Finding]:
    """The findings on a trial, one for each number of the evaluator."""
    outcome = ask(examination, trial.lists)
    if outcome.problem:
        yield from examination.failed(attack, outcome, f"For {trial.what}")
        return
    assert examination.options.limits is not None
    none, all_ = examination.options.limits[:: examination.sign]
    interval = none + trial.least * (all_ - none), none + trial.most * (all_ - none)
    for name, value in outcome.values.items():
        recall, slack = (value - none) / (all_ - none), TOLERANCE + _step(examination, name) / abs(all_ - none)
        verdict = Verdict.HELD
        if math.isnan(value):
            verdict = Verdict.NOT_A_NUMBER
        elif recall > trial.most + slack:
            verdict = trial.above
        elif recall < trial.least - slack:
            verdict = Verdict.OUTSIDE
        least, most = (f"{bound:.4f}" for bound in interval)
        allowed = least if least == most else f"from {least} to {most}"
        detail = f"For {trial.what}, the score is {value:.4f}; their recall is {allowed}."
        yield Finding(attack, name, verdict, value, detail=detail, interval=(min(interval), max(interval)))


Trials = Callable[[Deck], Iterator[RecallTrial]]  # a function that yields lists whose recall is known
# A function that yields pairs of lists that must have the same score, with the change in words.
Pairs = Callable[[Deck], Iterator[tuple[str, RecallLists, RecallLists]]]


def hand_in(trials: Trials, attack: Attack, examination: Examination) -> Iterator[Finding]:
    """The findings on all trials."""
    for trial in trials(deck(examination, attack.name)):
        yield from _judged(examination, attack.name, trial)


def compare(pairs: Pairs, attack: Attack, examination: Examination) -> Iterator[Finding]:
    """The findings on all pairs."""
    for what, one, other in pairs(deck(examination, attack.name)):
        before, after = ask(examination, one), ask(examination, other)
        if before.problem or after.problem:
            yield from examination.failed(attack.name, before if before.problem else after, f"With {what}")
            continue
        for measure, value in before.values.items():
            changed = after.value(measure)
            detail = f"With {what}, {value:.6f} becomes {changed:.6f}."
            reached = Verdict(attack.verdict) if differ(value, changed, _step(examination, measure)) else Verdict.HELD
            yield Finding(attack.name, measure, reached, changed, detail=detail)
