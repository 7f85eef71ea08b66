"""Attacks by earlier calls, on which a score must not depend."""

from collections.abc import Iterator

from tieproof.audit.attacks import Attack, register
from tieproof.audit.averages import perfect_case
from tieproof.audit.blind import filled
from tieproof.audit.cases import LAYOUTS, Case
from tieproof.audit.examination import Board, Examination
from tieproof.audit.judgment import Trial, examine
from tieproof.audit.luck import LOOKS
from tieproof.audit.outcomes import Outcome
from tieproof.audit.report import Finding

AFTER, ANEW = "zeros after a good system", "zeros in a new process"
ZEROS = filled(0.0)


def zeros(examination: Examination, name: str, board: Board) -> Case:
    """The case of all zeros on a board."""
    return examination.blind_case(board, ZEROS, examination.random(name, *board.key))


def after_a_good_system(examination: Examination) -> Iterator[Finding]:
    """Findings on zeros scored right after a system that knows the labels, on labels not seen before."""

    def score(case: Case) -> Outcome:
        examination.score(perfect_case(examination, case))
        return examination.score(case)

    trial = Trial(AFTER, lambda board: zeros(examination, AFTER, board), score, False, looks=LOOKS[:1], own=True)
    return examine(examination, trial, [LAYOUTS["shuffled"]])


def in_a_new_process(examination: Examination) -> Iterator[Finding]:
    """Findings on zeros scored in processes that have scored nothing before."""
    assert examination.anew is not None
    anew = examination.anew
    trial = Trial(
        ANEW, lambda board: zeros(examination, ANEW, board), lambda case: anew(case, {}), True, looks=LOOKS[:1]
    )
    return examine(examination, trial, [LAYOUTS["sorted"], LAYOUTS["smallest first"]])


register(
    Attack(
        ANEW,
        "blind",
        "all zeros, in the first call of a process",
        "A score must not depend on earlier calls.",
        "",
        in_a_new_process,
        lambda convention, options: options.isolate,
    )
)
register(
    Attack(
        AFTER,
        "blind",
        "all zeros, right after a system that knows the labels",
        "A score must not depend on earlier calls.",
        "",
        after_a_good_system,
    )
)
