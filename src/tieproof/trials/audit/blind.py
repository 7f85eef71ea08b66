"""Blind attacks: systems that never look at their input, tried on every layout of the labels.

The record of an attack makes the rows of numbers that a system hands in, one row for each item, without the labels.
Rows that differ are assigned to items at random; otherwise the order of the items would reveal their classes.
Other blind systems differ in the documents that a run lists; those of memory.py in the calls before them.
"""

from collections.abc import Iterator
from dataclasses import replace

from tieproof.trials.attacks import Finding, told
from tieproof.trials.audit.cases import LAYOUTS, Case
from tieproof.trials.audit.examination import Attack, Board, Examination
from tieproof.trials.audit.judgment import BlindTrial, examine
from tieproof.trials.audit.luck import LOOKS
from tieproof.trials.audit.outcomes import Outcome
from tieproof.trials.audit.systems import BESIDE, LISTINGS, SYSTEMS, BlindSystem, Dice, Listing

FEW_DRAWS = 4
"""The number of random embeddings that the first score on much data is compared with."""


def blind(
    name: str,
    rows: BlindSystem,
    does: str,
    why: str,
    source: str = "",
    fixed: bool = False,
    times: float = 1,
    beside: BlindSystem | None = None,
    only: str = "everywhere",
    thorough: bool = False,
    wide: bool = False,
) -> Attack:
    """A blind attack.

    fixed : whether its rows contain no random numbers
    times : the factor of the usual number of items and queries
    beside : random rows that gain as much if only the size of the numbers matters
    thorough : whether only thorough audits make the attack
    wide : whether its vectors have as many dimensions as there are items
    """

    def run(examination: Examination) -> Iterator[Finding]:
        """Hand in the rows on every layout, or, with much data, on the two layouts whose order gains most."""

        def case(board: Board) -> Case:
            return examination.dealt(board, rows, name)

        def other(board: Board) -> Outcome:
            assert beside is not None
            return examination.score(examination.dealt(board, beside, name, "beside"))

        trial = BlindTrial(name, case, examination.score, fixed, beside=other if beside else None)
        if times == 1:
            return examine(examination, trial, LAYOUTS.values())
        trial = trial._replace(times=times, draws=FEW_DRAWS, looks=LOOKS[:2])
        return examine(examination, trial, [LAYOUTS["largest first"], LAYOUTS["smallest first"]])

    return Attack(name, "blind", does, why, run, source, only, None if wide else rows, fixed, thorough)


def listing(name: str, listed: Listing, does: str, why: str, only: str = "written", empty: bool = False) -> Attack:
    """An attack by what a run lists; `empty` if queries without documents have an empty list."""

    def run(examination: Examination) -> Iterator[Finding]:
        """Hand in random scores for the listed documents, on every layout."""

        def case(board: Board) -> Case:
            random = examination.random(name, *board.key)
            full = examination.blind_case(board, Dice.plain, random)
            counts = listed(random, len(board.labels), board.asked)
            return replace(full, listed=counts, writing=full.writing._replace(empty=empty))

        return examine(examination, BlindTrial(name, case, examination.score, fixed=False), LAYOUTS.values())

    return Attack(name, "blind", does, why, run, only=only)


ATTACKS = [
    *(blind(name, rows, beside=BESIDE.get(name), **told(name)) for name, rows in SYSTEMS.items()),
    *(listing(name, listed, **told(name)) for name, listed in LISTINGS.items()),
]
"""The attacks by blind systems, in the order in which they run."""
