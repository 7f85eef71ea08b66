"""Whether an evaluator gives the same numbers again, so that a line of code reproduces them in another process."""

from tieproof.trials.audit.cases import LAYOUTS
from tieproof.trials.audit.data_sets import data_case
from tieproof.trials.audit.examination import Examination
from tieproof.trials.audit.luck import LOOKS, Luck, rounding
from tieproof.trials.audit.outcomes import Outcome
from tieproof.trials.audit.systems import filled

FIRST = LAYOUTS["shuffled"]

UNSEEN = 1000  # the number of a board that no attack uses

MUCH = 5.0
"""How many standard deviations above random embeddings on other labels a system that knows the labels must score."""


def begin(examination: Examination) -> None:
    """Score random data, tied data and zeros, which must score the same at the end of the audit."""
    board, sorted_board = examination.board(FIRST, 1), examination.board(LAYOUTS["largest first"])
    zeros = examination.blind_case(sorted_board, filled(0.0), examination.random("steadiness"))
    examination.begun.append((examination.random_case(board), examination.at_random(board)))
    examination.begun += [(case, examination.score(case)) for case in (data_case(examination, "tied"), zeros)]


def is_steady(examination: Examination) -> bool:
    """Whether all cases score what they scored at first, and again, and the evaluator remembers nothing."""
    again = (_same(examination, outcome, examination.score(case)) for case, outcome in 2 * examination.begun)
    return examination.is_steady and all(again) and not _remembers(examination)


def _same(examination: Examination, one: Outcome, other: Outcome) -> bool:
    return one.problem == other.problem and examination.same(one, other)


def _remembers(examination: Examination) -> bool:
    """Whether the evaluator remembers scores by their labels.

    A system that knows the labels is scored on new labels, then random embeddings on the same labels. Whoever
    remembers gives both the same number. So does an evaluator that looks only at the labels, but its number is
    then not much larger than on other labels.
    """
    if examination.convention.kind == "recall":  # which has no labels
        return False
    case = examination.random_case(examination.board(FIRST, UNSEEN))
    known = examination.score(examination.perfect_case(case))
    if not _same(examination, known, examination.score(case)):
        return False
    outcomes = [examination.at_random(examination.board(FIRST, number)) for number in range(1, LOOKS[0] + 1)]
    for name, value in known.values.items():
        luck = Luck.of([outcome.value(name) for outcome in outcomes])
        if abs(value - luck.mean) > MUCH * luck.std + rounding(luck.mean):
            return True
    return False
