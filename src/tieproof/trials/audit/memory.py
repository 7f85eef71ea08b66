"""Attacks on the memory of an evaluator: the same data has one score, whatever was scored before.

Blind systems are scored right after a system that knows the labels, or in the first call of a process. One attack is
not blind: an array that differs from that of a good system only in its middle, which its `repr` does not show. The
changes of invariances.py score the same data again after other systems.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from tieproof.kit import Array
from tieproof.trials.attacks import Finding, Verdict, told
from tieproof.trials.audit.cases import LAYOUTS, Case
from tieproof.trials.audit.examination import Attack, Board, Examination
from tieproof.trials.audit.judgment import BlindTrial, examine
from tieproof.trials.audit.luck import LOOKS
from tieproof.trials.audit.outcomes import Outcome
from tieproof.trials.audit.systems import BlindSystem, Dice, filled

AFTER, ANEW = "zeros after a good system", "zeros in a new process"
RANDOM_AFTER, MIDDLE = "random vectors after a good system", "zeros in the middle of a good system"

EDGE = 3
"""The number of rows and columns at each end of a large array that its `repr` shows."""


def _in_a_new_process(examination: Examination) -> Iterator[Finding]:
    """Findings on zeros scored in processes that have scored nothing before."""
    assert examination.anew is not None
    anew = examination.anew

    def zeros(board: Board) -> Case:
        return examination.dealt(board, filled(0.0), ANEW)

    trial = BlindTrial(ANEW, zeros, lambda case: anew(case, {}), True, looks=LOOKS[:2])
    return examine(examination, trial, [LAYOUTS["sorted"], LAYOUTS["smallest first"]])


def _after_a_good_system(name: str, system: BlindSystem, examination: Examination) -> Iterator[Finding]:
    """Findings on a blind system scored right after one that knows the labels, on labels not met before.

    It must gain over the same system without the other before it, too, or it would gain in any case.
    """

    def score(case: Case) -> Outcome:
        examination.score(examination.perfect_case(case))
        return examination.score(case)

    def make(board: Board) -> Case:
        return examination.dealt(board, system, name)

    trial = BlindTrial(
        name, make, score, False, looks=LOOKS[:2], own=True, beside=lambda board: examination.score(make(board))
    )
    return examine(examination, trial, [LAYOUTS["shuffled"]])


def _with_zeros_inside(case: Case) -> Case:
    """A case whose arrays are zero except near their edges."""

    def emptied(rows: Array) -> Array:
        found = rows.copy()
        found[EDGE:-EDGE, EDGE:-EDGE] = 0
        return found

    return replace(case, items=emptied(case.items), queries=None if case.queries is None else emptied(case.queries))


def _in_the_middle(examination: Examination) -> Iterator[Finding]:
    """Findings on a good system whose middle is then zeroed: the number of the good one must not come again.

    The same data in another order looks different at its edges, so its number shows that the first was remembered.
    """
    board = examination.board(LAYOUTS["shuffled"], 0, one_more=True)
    good = examination.perfect_case(examination.dealt(board, Dice.plain, MIDDLE))
    emptied = _with_zeros_inside(good)
    order = examination.random(MIDDLE, "order").permutation(len(board.labels))
    known, after, permuted = map(examination.score, (good, emptied, emptied.take_items(order)))
    if problem := next((each for each in (known, after, permuted) if each.problem), None):
        yield from examination.failed(MIDDLE, problem, "On a good system with zeros in its middle")
        return
    for measure, value in after.values.items():
        numbers = known.value(measure), value, permuted.value(measure)
        remembered = not examination.differ(measure, numbers[0], value) and examination.differ(measure, *numbers[1:])
        detail = (
            f"A good system scores {numbers[0]:.4f}, then {value:.4f} with zeros in its middle, and "
            f"{numbers[2]:.4f} with the same items in another order."
        )
        yield Finding(MIDDLE, measure, Verdict.CHANGES if remembered else Verdict.HELD, value, detail=detail)


ATTACKS = [
    Attack(ANEW, "blind", run=_in_a_new_process, **told(ANEW)),
    Attack(AFTER, "blind", run=partial(_after_a_good_system, AFTER, filled(0.0)), **told(AFTER)),
    Attack(RANDOM_AFTER, "blind", run=partial(_after_a_good_system, RANDOM_AFTER, Dice.plain), **told(RANDOM_AFTER)),
    Attack(MIDDLE, "must not matter", run=_in_the_middle, **told(MIDDLE)),
]
"""The attacks on memory, in the order in which they run."""
