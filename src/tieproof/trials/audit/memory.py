"""Attacks on the memory of an evaluator: the same data has one score, whatever was scored before.

Blind systems are scored right after a system that knows the labels, or in the first call of a process. Two
attacks are not blind: an array that differs from that of a good system only in its middle, which its `repr` does not
show, or only after its first rows. The changes of invariances.py score the same data again after other systems.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from tieproof.kit import Array
from tieproof.trials.audit.cases import LAYOUTS, SHUFFLED, Case
from tieproof.trials.audit.draws import BlindTrial
from tieproof.trials.audit.examination import Attack, Board, Examination
from tieproof.trials.audit.judgment import examine
from tieproof.trials.audit.luck import LOOKS
from tieproof.trials.audit.outcomes import Outcome
from tieproof.trials.audit.systems import BlindSystem, Dice, filled
from tieproof.trials.findings import Finding, Verdict, told

EDGE = 3  # the number of rows and columns at each end of a large array that its `repr` shows


def _in_a_new_process(attack: Attack, examination: Examination) -> Iterator[Finding]:
    """Findings on zeros scored in processes that have scored nothing before."""
    assert examination.anew is not None
    anew = examination.anew

    def zeros(board: Board) -> Case:
        return examination.dealt(board, filled(0.0), attack.name)

    trial = BlindTrial(attack.name, zeros, lambda case: anew(case, {}), True, looks=LOOKS[:2])
    return examine(examination, trial, [LAYOUTS["largest first"], LAYOUTS["smallest first"]])


def _after_a_good_system(system: BlindSystem, attack: Attack, examination: Examination) -> Iterator[Finding]:
    """Findings on the rows of a blind system, right after a system that knows the labels."""
    return _after(lambda board: examination.dealt(board, system, attack.name), attack, examination)


def _after(
    make: Callable[[Board], Case],
    attack: Attack,
    examination: Examination,
    beside: Callable[[Board], Case] | None = None,
) -> Iterator[Finding]:
    """Findings on a blind system scored right after one that knows the labels, on labels not met before.

    It must gain over the same system without the other before it, too, or it would gain in any case; `beside` makes
    that one, if it differs.
    """

    def score(case: Case) -> Outcome:
        examination.score(examination.perfect_case(case))
        return examination.score(case)

    trial = BlindTrial(attack.name, make, score, False, looks=LOOKS[:2], own=True)
    trial = trial._replace(beside=lambda board: examination.score((beside or make)(board)))
    return examine(examination, trial, [SHUFFLED])


def _good_rows(attack: Attack, examination: Examination) -> Iterator[Finding]:
    """Findings on the rows of a system that knows the labels, right after it, dealt to the items at random."""

    def dealt(board: Board, factor: float = 1) -> Case:
        random = examination.random(attack.name, "deal", *board.key)
        good = examination.perfect_case(examination.dealt(board, Dice.plain, attack.name))
        return good.changed(lambda rows: random.permutation(rows * rows.dtype.type(factor)))

    # the same rows without the calls before them are twice as large, so that they have other checksums
    return _after(dealt, attack, examination, lambda board: dealt(board, 2))


def _with_zeros_inside(rows: Array) -> Array:
    """Rows that are zero except near their edges."""
    found = rows.copy()
    found[EDGE:-EDGE, EDGE:-EDGE] = 0
    return found


def _with_other_rows_behind(rows: Array) -> Array:
    """Rows of which the second half is in reverse order."""
    middle = len(rows) // 2
    return np.concatenate([rows[:middle], rows[middle:][::-1]])


def _spoiled(spoil: Callable[[Array], Array], attack: Attack, examination: Examination) -> Iterator[Finding]:
    """Findings on a good system a part of which is then spoiled: the number of the good one must not come again.

    The same data in another order looks different at its edges, so its number shows that the first was remembered.
    """
    board = examination.board(SHUFFLED, 0, own=True)
    good = examination.perfect_case(examination.dealt(board, Dice.plain, attack.name))
    turned = examination.convention.kind == "scores"  # evaluators get a row of scores for each query
    spoiled = good.changed(lambda rows: spoil(rows.T).T if turned else spoil(rows))
    order = examination.random(attack.name, "order").permutation(len(board.labels))
    known, after, permuted = map(examination.score, (good, spoiled, spoiled.take_items(order)))
    if problem := next((each for each in (known, after, permuted) if each.problem), None):
        yield from examination.failed(attack.name, problem, "On a good system with other rows")
        return
    for measure, value in after.values.items():
        numbers = known.value(measure), value, permuted.value(measure)
        remembered = not examination.differ(measure, numbers[0], value) and examination.differ(measure, *numbers[1:])
        detail = (
            f"A good system scores {numbers[0]:.4f}, then {value:.4f} when a part of it is spoiled, and "
            f"{numbers[2]:.4f} with the same items in another order."
        )
        yield Finding(attack.name, measure, Verdict.CHANGES if remembered else Verdict.HELD, value, detail=detail)


BLIND: dict[str, Callable[[Attack, Examination], Iterator[Finding]]] = {
    "zeros in a new process": _in_a_new_process,
    "zeros after a good system": partial(_after_a_good_system, filled(0.0)),
    "random vectors after a good system": partial(_after_a_good_system, Dice.plain),
    "a good system's rows after it": _good_rows,
}
PARTS = {
    "zeros in the middle of a good system": _with_zeros_inside,
    "only the first rows of a good system": _with_other_rows_behind,
}

ATTACKS = [
    *(Attack(name, "blind", run, **told(name)) for name, run in BLIND.items()),
    *(Attack(name, "must not matter", partial(_spoiled, spoil), **told(name)) for name, spoil in PARTS.items()),
]
