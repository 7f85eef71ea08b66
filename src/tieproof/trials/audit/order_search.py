"""The order of the data for which an evaluator prints the best number, while all embeddings are equal.

In any order, the data is the same data, and documents keep their names. If the evaluator refuses equal embeddings,
they are different and equally far from each other. Classes are sorted, in both directions, take turns, or are
shuffled; where ties follow the order of the data, sorted ones give nearly the best number. The best of many orders is
better than most by luck alone. So the search shows that a number depends on the order, and never that a blind system
gains.
"""

from collections.abc import Iterator

import numpy as np

from tieproof.trials.audit.cases import LAYOUTS, Case, by_class
from tieproof.trials.audit.examination import AGAIN, Attack, Board, Examination
from tieproof.trials.audit.systems import equidistant, filled
from tieproof.trials.findings import Finding, Verdict, told

NAME = "order search"
SHUFFLES = 4

VECTORS = {"zeros": filled(0.0), "equidistant vectors": equidistant}
SCORES = {"equal scores": filled(0.5)}
"""Items that are equally near, by what they are called; a score of zero some evaluators read as "no score"."""


def _equal_items(examination: Examination) -> tuple[str, Case]:
    """What the items are, and their case, sorted by class: the first that is not refused, or the last."""
    kind, options = examination.convention.kind, examination.options
    asked = None if kind == "leave-one-out" else by_class(options.queries)
    board = Board((NAME,), by_class(options.items), asked)
    found = []
    for what, system in (SCORES if kind == "scores" else VECTORS).items():
        case = examination.dealt(board, system)
        if examination.convention.grouped:
            case = case.with_groups(examination.random(NAME, "groups"))
        found.append((what, case))
        if examination.score(case).problem != "refused":
            break
    return found[-1]


def _search(attack: Attack, examination: Examination) -> Iterator[Finding]:
    same, case = _equal_items(examination)
    random, places = examination.random(NAME), np.arange(len(case.labels))
    in_turns = np.argsort(places - np.searchsorted(case.labels, case.labels), kind="stable")
    orders = [places, places[::-1].copy(), in_turns, *(random.permutation(places) for _ in range(SHUFFLES))]
    outcomes = [examination.score(case.take_items(order)) for order in orders]
    if failed := next((outcome for outcome in outcomes if outcome.problem), None):
        yield from examination.failed(NAME, failed, f"On {same}")
        return
    baseline = examination.baseline(LAYOUTS["shuffled"])
    for name, value in outcomes[0].values.items():
        numbers = [outcome.value(name) for outcome in outcomes]
        if not any(examination.differ(name, value, number) for number in numbers):
            detail = f"{len(orders)} orders of {same} all give {value:.4f}."
            yield Finding(NAME, name, Verdict.HELD, value, detail=detail)
            continue
        place = int(np.nanargmax(examination.sign * np.array(numbers)))
        best, again = numbers[place], examination.score(case.take_items(orders[place])).value(name)
        spread = f"{len(orders)} orders of {same} give {np.nanmin(numbers):.4f} to {np.nanmax(numbers):.4f}."
        luck = baseline.get(name) if isinstance(baseline, dict) else None
        if examination.differ(name, best, again):
            detail = f"The same {same} in the same order give {best:.4f}, then {again:.4f}."
            yield Finding(AGAIN, name, Verdict.CHANGES, again, detail=detail)
            yield Finding(NAME, name, Verdict.HELD, again, detail=f"{spread} {detail}")
        elif luck is None:
            yield Finding(NAME, name, Verdict.DEPENDS_ON_ORDER, again, detail=spread)
        else:
            beside = f"The best order gives {again:.4f}; random embeddings score {luck.mean:.4f} ± {luck.std:.4f}."
            above = luck.deviations(again, examination.sign)
            said = f"{spread} {beside}"
            yield Finding(NAME, name, Verdict.DEPENDS_ON_ORDER, again, luck.mean, luck.std, above, said)


ATTACKS = [Attack(NAME, "order", _search, **told(NAME))]
"""The search for the best order of the data."""
