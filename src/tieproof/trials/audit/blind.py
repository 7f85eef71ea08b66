"""Blind attacks: systems that never look at their input, tried on every layout of the labels, and the order search.

The record of an attack makes the rows of numbers that a system hands in, one row for each item, without the labels.
Rows that differ are assigned to items at random; otherwise the order of the items would reveal their classes.
Other blind systems differ in the documents that a run lists; those of memory.py in the calls before them. The order
search keeps all embeddings equal, and tries orders of the data.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from tieproof.trials.audit.cases import LAYOUTS, SHUFFLED, Case, ClassLayout, by_class
from tieproof.trials.audit.draws import BlindTrial
from tieproof.trials.audit.examination import AGAIN, Attack, Board, Examination
from tieproof.trials.audit.judgment import examine
from tieproof.trials.audit.luck import LOOKS
from tieproof.trials.audit.outcomes import Outcome
from tieproof.trials.audit.systems import BESIDE, LISTINGS, SYSTEMS, Dice, Listing, filled, of_the_same_width
from tieproof.trials.findings import Finding, Verdict, told

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

MOST_TIMES_OF_RUNS = 2.5  # the largest factor of the usual numbers of items and queries for runs: these take long
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


ORDER_SEARCH = "order search"
SHUFFLES = 4
# Items that are equally near, by what they are called; a score of zero some evaluators read as "no score".
VECTORS = {name: SYSTEMS[name] for name in ("zeros", "equidistant vectors")}
SCORES = {"equal scores": filled(0.5)}


def _equal_items(examination: Examination) -> tuple[str, Case]:
    """What the items are, and their case, sorted by class: the first that is not refused, or the last."""
    kind, options = examination.convention.kind, examination.options
    asked = None if kind == "leave-one-out" else by_class(options.queries)
    board = Board((ORDER_SEARCH,), by_class(options.items), asked)
    found = []
    for what, system in (SCORES if kind == "scores" else VECTORS).items():
        case = examination.dealt(board, system)
        if examination.convention.grouped:
            case = case.with_groups(examination.random(ORDER_SEARCH, "groups"))
        found.append((what, case))
        if examination.score(case).problem != "refused":
            break
    return found[-1]


def _search(attack: Attack, examination: Examination) -> Iterator[Finding]:
    """Findings on the order of the data with the best number, while all embeddings are equal.

    In any order, the data is the same data, and documents keep their names. Classes are sorted, in both directions,
    take turns, or are shuffled; where ties follow the order of the data, sorted ones give nearly the best number. The
    best of many orders is better than most by luck alone. So the search shows that a number depends on the order, and
    never that a blind system gains.
    """
    same, case = _equal_items(examination)
    random, places = examination.random(ORDER_SEARCH), np.arange(len(case.labels))
    in_turns = np.argsort(places - np.searchsorted(case.labels, case.labels), kind="stable")
    orders = [places, places[::-1].copy(), in_turns, *(random.permutation(places) for _ in range(SHUFFLES))]
    outcomes = [examination.score(case.take_items(order)) for order in orders]
    if failed := next((outcome for outcome in outcomes if outcome.problem), None):
        yield from examination.failed(ORDER_SEARCH, failed, f"On {same}")
        return
    baseline = examination.baseline(SHUFFLED)
    for name, value in outcomes[0].values.items():
        numbers = [outcome.value(name) for outcome in outcomes]
        if not any(examination.differ(name, value, number) for number in numbers):
            detail = f"{len(orders)} orders of {same} all give {value:.4f}."
            yield Finding(ORDER_SEARCH, name, Verdict.HELD, value, detail=detail)
            continue
        place = int(np.nanargmax(examination.sign * np.array(numbers)))
        best, again = numbers[place], examination.score(case.take_items(orders[place])).value(name)
        spread = f"{len(orders)} orders of {same} give {np.nanmin(numbers):.4f} to {np.nanmax(numbers):.4f}."
        luck = baseline.get(name) if isinstance(baseline, dict) else None
        if examination.differ(name, best, again):
            detail = f"The same {same} in the same order give {best:.4f}, then {again:.4f}."
            yield Finding(AGAIN, name, Verdict.CHANGES, again, detail=detail)
            yield Finding(ORDER_SEARCH, name, Verdict.HELD, again, detail=f"{spread} {detail}")
        elif luck is None:
            yield Finding(ORDER_SEARCH, name, Verdict.DEPENDS_ON_ORDER, again, detail=spread)
        else:
            beside = f"The best order gives {again:.4f}; random embeddings score {luck.mean:.4f} ± {luck.std:.4f}."
            above = luck.deviations(again, examination.sign)
            said = f"{spread} {beside}"
            yield Finding(ORDER_SEARCH, name, Verdict.DEPENDS_ON_ORDER, again, luck.mean, luck.std, above, said)


ATTACKS = [
    *(Attack(name, "blind", hand_in_rows, rows=rows, **told(name)) for name, rows in SYSTEMS.items()),
    *(Attack(name, "blind", partial(_hand_in_lists, listed), **told(name)) for name, listed in LISTINGS.items()),
    Attack(ORDER_SEARCH, "order", _search, **told(ORDER_SEARCH)),
]
