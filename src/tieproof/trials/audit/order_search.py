"""The order of the data for which an evaluator prints the best number, while all embeddings are equal.

In any order, the data is the same data, and documents keep their names. If the evaluator refuses equal embeddings,
they are different and equally far from each other. Classes are sorted, in both directions, take turns, or are
shuffled; where ties follow the order of the data, sorted ones give nearly the best number. The best of many orders is
better than most by luck alone. So the search shows that a number depends on the order, and never that a blind system
gains.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from tieproof.kit import IntArray
from tieproof.trials.attacks import Finding, Verdict, told
from tieproof.trials.audit.cases import LAYOUTS, Case, by_class
from tieproof.trials.audit.examination import AGAIN, Attack, Board, Examination
from tieproof.trials.audit.outcomes import Outcome
from tieproof.trials.audit.systems import filled

NAME = "order search"
SHUFFLES = 4


def _search(attack: Attack, examination: Examination) -> Iterator[Finding]:
    random = examination.random(NAME)
    labels = by_class(examination.options.items)
    places = np.arange(len(labels))
    in_turns = np.argsort(places - np.searchsorted(labels, labels), kind="stable")
    orders = [places, places[::-1].copy(), in_turns, *(random.permutation(places) for _ in range(SHUFFLES))]
    score, same = _scoring(examination, places)
    outcomes = [(order, score(order)) for order in orders]
    failed = [outcome for _, outcome in outcomes if outcome.problem]
    if failed:
        yield from examination.failed(NAME, failed[0], f"On {same}")
        return
    for name, value in outcomes[0][1].values.items():
        numbers = [outcome.value(name) for _, outcome in outcomes]
        if not any(examination.differ(name, value, number) for number in numbers):
            detail = f"{len(orders)} orders of {same} all give {value:.4f}."
            yield Finding(NAME, name, Verdict.HELD, value, detail=detail)
            continue
        place = int(np.nanargmax(examination.sign * np.array(numbers)))
        spread = f"{len(orders)} orders of {same} give {np.nanmin(numbers):.4f} to {np.nanmax(numbers):.4f}."
        yield from _judged(examination, name, numbers[place], score(orders[place]).value(name), same, spread)


Scoring = Callable[[IntArray], Outcome]


def _scoring(examination: Examination, places: IntArray) -> tuple[Scoring, str]:
    """A function that scores equal items in an order, and what these items are, in words."""
    case = _equal_items(examination)
    if examination.convention.kind == "scores":
        return lambda order: examination.score(case.take_items(order)), "equal scores"
    if examination.score(case).problem != "refused":
        return lambda order: examination.score(case.take_items(order)), "zeros"
    asked = 0 if case.queries is None else len(case.queries)
    vectors = np.eye(len(places) + asked, dtype=np.float32)
    items, queries = vectors[: len(places)], vectors[len(places) :]
    other = replace(case, items=items, queries=None if case.queries is None else queries)
    return lambda order: examination.score(other.take_items(order)), "equidistant vectors"


def _equal_items(examination: Examination) -> Case:
    """A case of equal items, sorted by class."""
    kind, options, random = examination.convention.kind, examination.options, examination.random(NAME)
    asked = None if kind == "leave-one-out" else by_class(options.queries)
    value = 0.5 if kind == "scores" else 0.0  # a score of zero some evaluators read as "no score"
    case = examination.blind_case(Board((NAME,), by_class(options.items), asked), filled(value), random)
    return case.with_groups(examination.random(NAME, "groups")) if examination.convention.grouped else case


def _judged(
    examination: Examination, measure: str, best: float, again: float, same: str, spread: str
) -> Iterator[Finding]:
    """The findings on the best number, which was scored again, compared with random embeddings."""
    if examination.differ(measure, best, again):
        detail = f"The same {same} in the same order give {best:.4f}, then {again:.4f}."
        yield Finding(AGAIN, measure, Verdict.CHANGES, again, detail=detail)
        yield Finding(NAME, measure, Verdict.HELD, again, detail=f"{spread} {detail}")
        return
    baseline = examination.baseline(LAYOUTS["shuffled"])
    luck = baseline.get(measure) if isinstance(baseline, dict) else None
    if luck is None:
        yield Finding(NAME, measure, Verdict.DEPENDS_ON_ORDER, again, detail=spread)
        return
    detail = f"{spread} The best order gives {again:.4f}; random embeddings score {luck.mean:.4f} ± {luck.std:.4f}."
    above = luck.deviations(again, examination.sign)
    yield Finding(NAME, measure, Verdict.DEPENDS_ON_ORDER, again, luck.mean, luck.std, above, detail)


ATTACKS = [Attack(NAME, "order", _search, **told(NAME))]
"""The search for the best order of the data."""
