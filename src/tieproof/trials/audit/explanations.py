"""What may give a blind system a gain although ties are treated rightly: fixed thresholds, or another average.

Whether a number is a mean over queries is tested with two thirds easy queries and one third hard ones. If all queries
had the same score, a median would pass for a mean, too.
"""

from dataclasses import replace

import numpy as np

from tieproof.trials.audit.cases import DIMENSIONS, Case
from tieproof.trials.audit.changes import permute_all
from tieproof.trials.audit.examination import Board, Examination
from tieproof.trials.audit.luck import Luck, rounding
from tieproof.trials.audit.systems import BlindSystem, Dice, filled

# The largest gain that another average may explain, as a share of a perfect system's gain over random embeddings.
EXPLAINED = 0.5
SHUFFLES = 16  # the number of other orders of the data, among which chance may give a score
# How many standard deviations of the scores of shuffled data a gain must exceed that is seen at nearly one size.
LUCKY = 8.0
HUGE = 1e6

ONE_SIDED: tuple[BlindSystem, ...] = (
    *map(filled, (0.0, 0.5, HUGE, -HUGE)),
    lambda dice, count, width: dice.plain(count, width) * HUGE,
)
"""Blind systems whose distances or scores are all on one side of any threshold."""


def may_be_a_threshold(examination: Examination, measure: str, score: float, board: Board) -> bool:
    """Whether a score is only what accepting all items, or no items, by declared thresholds gives."""
    if not examination.options.thresholds:
        return False
    random = examination.random("thresholds")
    outcomes = [examination.score(examination.blind_case(board, system, random)) for system in ONE_SIDED]
    known = [examination.sign * outcome.values.get(measure, -np.inf) for outcome in outcomes]
    return examination.sign * score <= max(known) + rounding(score)


def may_be_one_order_of_ties(examination: Examination, measure: str, case: Case, gain: float) -> bool:
    """Whether a gain at nearly one size may be the luck of one order of ties, which hardly differs between draws."""
    random = examination.random("orders of ties")
    scores = [examination.score(permute_all(case, random)).value(measure) for _ in range(SHUFFLES)]
    return gain <= LUCKY * Luck.of(scores).std


def may_be_the_average(examination: Examination, measure: str, case: Case, luck: Luck) -> bool:
    """Whether an honest evaluator whose number is not a mean over queries may give this case its score."""
    average = examination.options.average
    if average in ("mean", "macro") or (average is None and _is_mean(examination, measure)):
        return False
    sign, random = examination.sign, examination.random("averages")
    score = examination.score(case).value(measure)
    shuffled = [sign * examination.score(permute_all(case, random)).value(measure) for _ in range(SHUFFLES)]
    if sign * score > np.fmax.reduce(shuffled) + rounding(score) + examination.step(measure):
        return False  # it gains by the order of the data, not by an order of ties that chance may give
    perfect = examination.score(examination.perfect_case(case)).value(measure)
    return bool(sign * (score - luck.mean) <= EXPLAINED * sign * (perfect - luck.mean))


def _is_mean(examination: Examination, measure: str) -> bool:
    if not examination.parts:
        parts = _two_galleries if examination.convention.kind == "leave-one-out" else _two_parts
        examination.parts = [examination.score(case) for case in parts(examination)]
    easy, hard, both = (outcome.value(measure) for outcome in examination.parts)
    return not examination.differ(measure, (2 * easy + hard) / 3, both)


EASY, HARD = 6, 3  # the number of easy classes and of hard ones


def _two_parts(examination: Examination) -> tuple[Case, Case, Case]:
    """Three cases on one gallery: queries of the classes that the system knows, of the other classes, and of all."""
    random, options = examination.random("two parts"), examination.options
    classes = EASY + HARD
    labels = random.permutation(np.arange(options.items) % classes)
    query_labels = np.arange(options.queries // classes * classes) % classes
    blank = examination.blind_case(Board(("two parts",), labels, query_labels), Dice.plain, random)
    if examination.convention.grouped:
        blank = blank.with_groups(random)
    known, easy = examination.perfect_case(blank), query_labels < EASY
    if blank.queries is None or known.queries is None:
        both = replace(blank, items=np.where(easy, known.items, blank.items))
    else:
        both = replace(known, queries=np.where(easy[:, None], known.queries, blank.queries))
    return both.take_queries(np.flatnonzero(easy)), both.take_queries(np.flatnonzero(~easy)), both


def _two_galleries(examination: Examination) -> tuple[Case, Case, Case]:
    """Three cases: items of the classes that the system knows, items of the other classes, and both sets together.

    Each item is nearer to every item of its own set than to any of the other: all vectors have length 1, are positive
    in the dimensions of their own set and zero in the dimensions of the other set.
    """
    random = examination.random("two galleries")
    size = examination.options.items // (EASY + HARD)
    parts: list[Case] = []
    for first, classes in ((0, EASY), (EASY, HARD)):
        labels = random.permutation(np.arange(size * classes) % classes)
        vectors = np.zeros((len(labels), 2 * DIMENSIONS))
        own = vectors[:, :DIMENSIONS] if not first else vectors[:, DIMENSIONS:]
        own[:] = np.abs(random.normal(size=own.shape)) + 0.01
        if not first:
            own += 100 * np.eye(DIMENSIONS)[labels]
        own /= np.linalg.norm(own, axis=1, keepdims=True)
        case = Case(vectors.astype(np.float32), labels + first)
        parts.append(case.with_groups(random) if examination.convention.grouped else case)
    easy, hard = parts
    groups = None if easy.groups is None or hard.groups is None else np.concatenate([easy.groups, hard.groups])
    both = Case(np.concatenate([easy.items, hard.items]), np.concatenate([easy.labels, hard.labels]), groups=groups)
    return easy, hard, both
