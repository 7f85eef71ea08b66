"""Attacks by a system that knows the labels: it must not score less than random embeddings, and less if it is silent.

A number that is the same for all random embeddings says nothing about a ranking; it is not judged.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from tieproof.kit import Array
from tieproof.trials.audit.cases import SHUFFLED, Case
from tieproof.trials.audit.examination import Attack, Examination
from tieproof.trials.audit.luck import EXPLOIT, Luck, rounding
from tieproof.trials.audit.outcomes import Outcome
from tieproof.trials.findings import Finding, Verdict, told

ANSWERED = 0  # the class whose queries are answered: a tenth of all
# The share of its gain over random embeddings that a system may keep which answers a tenth of the queries.
MOST_KEPT = 0.5

# Whether the best number of a measure is wrong, beside those of random embeddings.
Wrong = Callable[[str, Luck, float], bool]


def _judged(
    attack: Attack, examination: Examination, cases: Sequence[Case], what: str, is_wrong: Wrong, together: bool
) -> Iterator[Finding]:
    """The findings on the best number of some cases, but for those that are refused if others are not.

    together : whether one number of several is wrong only if all are
    """
    baseline = examination.baseline(SHUFFLED)
    assert not isinstance(baseline, Outcome), "no attack runs without it"
    outcomes = [examination.score(case) for case in cases]
    known = [outcome for outcome in outcomes if not outcome.problem]
    if outcomes[0].problem not in (None, "refused") or not known:
        yield from examination.failed(attack.name, outcomes[0], f"On the layout '{SHUFFLED.name}'")
        return
    found = []
    for measure, luck in baseline.items():
        numbers = [number for outcome in known if not math.isnan(number := outcome.value(measure))]
        best = max(numbers, key=lambda number: examination.sign * number, default=luck.mean)
        found.append((measure, luck, best, not luck.is_constant and is_wrong(measure, luck, best)))
    every = all(wrong or luck.is_constant for _, luck, _, wrong in found)
    for measure, luck, best, wrong in found:
        verdict = Verdict.MISJUDGES if wrong and (every or not together) else Verdict.HELD
        above = luck.deviations(best, examination.sign)
        detail = f"{what} scores {best:.4f}; random embeddings score {luck.mean:.4f} ± {luck.std:.4f}."
        yield Finding(attack.name, measure, verdict, best, luck.mean, luck.std, above, detail)


def _is_above(examination: Examination, measure: str, luck: Luck, number: float, other: float) -> bool:
    """Whether one number is better than another by more than luck and rounding explain."""
    slack = EXPLOIT * luck.std + rounding(luck.mean) + examination.step(measure)
    return examination.sign * (number - other) > slack


def _perfect(examination: Examination) -> list[Case]:
    """Equal vectors for all items of a class; the same with a little noise, so that no two vectors are equal."""
    random = examination.random("a good system")
    case = examination.perfect_case(examination.random_case(examination.board(SHUFFLED)))
    return [case, case.changed(lambda rows: (rows + 0.01 * random.normal(size=rows.shape)).astype(rows.dtype))]


def _knows_the_labels(attack: Attack, examination: Examination) -> Iterator[Finding]:
    """Findings on a system that knows the labels, by the better number of equal vectors and of different ones."""

    def is_wrong(measure: str, luck: Luck, best: float) -> bool:
        return _is_above(examination, measure, luck, luck.mean, best)

    # beside a mean there may be a number that is smaller for good systems, such as the spread of the queries
    return _judged(attack, examination, _perfect(examination), "A system that knows the labels", is_wrong, True)


def _answers_a_tenth(attack: Attack, examination: Examination) -> Iterator[Finding]:
    """Findings on a good system without answers to the queries of all classes but one."""
    whole, _ = _perfect(examination)
    answered = (whole.labels if whole.query_labels is None else whole.query_labels) == ANSWERED
    parts = [_silent(whole, answered, value) for value in (0.0, np.nan)]
    if examination.convention.written:
        listed = np.tile(answered.astype(np.int64), (len(whole.labels), 1))
        writings = (whole.writing._replace(empty=empty) for empty in (False, True))
        parts = [replace(whole, listed=listed, writing=writing) for writing in writings]
    full = examination.score(whole)

    def is_wrong(measure: str, luck: Luck, best: float) -> bool:
        number = full.value(measure)
        kept = luck.mean + MOST_KEPT * (number - luck.mean)
        pairs = (number, luck.mean), (best, kept)
        return all(_is_above(examination, measure, luck, *pair) for pair in pairs)

    return _judged(attack, examination, parts, "A good system that answers a tenth of the queries", is_wrong, False)


def _silent(case: Case, answered: Array, value: float) -> Case:
    """A case in which only some queries have numbers, and all numbers of the others are the same."""
    if case.query_labels is None:
        return replace(case, items=np.where(answered[:, None], case.items, np.float32(value)))
    if case.queries is None:
        return replace(case, items=np.where(answered, case.items, value))
    return replace(case, queries=np.where(answered[:, None], case.queries, np.float32(value)))


ATTACKS = [
    Attack(name, "good system", run, **told(name))
    for name, run in (("a good system", _knows_the_labels), ("a tenth of the answers", _answers_a_tenth))
]
