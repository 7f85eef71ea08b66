"""Blind attacks: systems that never look at their input, tried on every layout of the labels.

The record of an attack makes the rows of numbers that a system hands in, one row for each item, without the labels.
Rows that differ are assigned to items at random; otherwise the order of the items would reveal their classes.
Other blind systems differ in the documents that a run lists; those of memory.py in the calls before them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from tieproof.trials.audit.cases import LAYOUTS, Case, ClassLayout
from tieproof.trials.audit.draws import BlindTrial
from tieproof.trials.audit.examination import Attack, Board, Examination
from tieproof.trials.audit.judgment import examine
from tieproof.trials.audit.luck import LOOKS
from tieproof.trials.audit.outcomes import Outcome
from tieproof.trials.audit.systems import BESIDE, LISTINGS, SYSTEMS, Dice, Listing, of_the_same_width
from tieproof.trials.findings import Finding, told

LAYOUTS_OF: dict[str, Sequence[str]] = {
    "all": [*LAYOUTS],
    "order": ["shuffled", "largest first", "smallest first"],
    "shape": ["shuffled"],
    "one": ["largest first"],
}
"""The layouts that systems are tried on, by the name that attacks.toml has for them: all; those that show ties in the
order of the data; those for ties of a special shape, whose order does not matter; or only one, for much data. Systems
that give all queries the same answer are never tried where one class has more than half of the items: a vote of
neighbors would gain in most draws, and lose much in few, which no test of a few draws sees."""

MOST_TIMES_OF_RUNS = 2.5
"""The largest factor of the usual numbers of items and queries for runs, which take long to read."""

FEW_DRAWS = 4  # the number of random embeddings that the first score on much data is compared with


def hand_in_rows(attack: Attack, examination: Examination) -> Iterator[Finding]:
    """Hand in the rows on the layouts of the attack."""
    rows = attack.rows
    assert rows is not None
    vectors = examination.convention.kind != "scores"
    beside = of_the_same_width(rows) if attack.wide and vectors else BESIDE.get(attack.name)

    def case(board: Board) -> Case:
        return examination.dealt(board, rows, attack.name)

    def other(board: Board) -> Outcome:
        assert beside is not None
        return examination.score(examination.dealt(board, beside, attack.name, "beside"))

    trial = BlindTrial(attack.name, case, examination.score, attack.fixed, beside=other if beside else None)
    if attack.times > 1:
        times = min(attack.times, MOST_TIMES_OF_RUNS) if examination.convention.written else attack.times
        trial = trial._replace(times=times, draws=FEW_DRAWS, looks=LOOKS[:2])
    return examine(examination, trial, _layouts(attack))


def _layouts(attack: Attack) -> list[ClassLayout]:
    return [LAYOUTS[name] for name in LAYOUTS_OF[attack.layouts]]


def _hand_in_lists(listed: Listing, attack: Attack, examination: Examination) -> Iterator[Finding]:
    """Hand in random scores for the listed documents, on the layouts of the attack."""

    def case(board: Board) -> Case:
        random = examination.random(attack.name, *board.key)
        full = examination.blind_case(board, Dice.plain, random)
        counts = listed(random, len(board.labels), board.asked)
        return replace(full, listed=counts, writing=full.writing._replace(empty=attack.empty))

    return examine(examination, BlindTrial(attack.name, case, examination.score, fixed=False), _layouts(attack))


ATTACKS = [
    *(Attack(name, "blind", hand_in_rows, rows=rows, **told(name)) for name, rows in SYSTEMS.items()),
    *(Attack(name, "blind", partial(_hand_in_lists, listed), **told(name)) for name, listed in LISTINGS.items()),
]
"""The attacks by blind systems, in the order in which they run."""
