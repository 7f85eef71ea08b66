"""The search for the order of the data for which an evaluator prints the best number, while all embeddings are equal.

In any order, the data is the same data, and documents keep their names. If the evaluator refuses equal embeddings,
they are different and equally far from each other. The search tries the layouts, then climbs: it moves a run of
consecutive items to another position and keeps the new order if its number is no worse. The search reads scores,
which no blind system does, and the best of many orders is better than most by luck alone. So it shows that a number
depends on the order, and never that a blind system gains.
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
STEPS = 30
"""The number of moves that are tried, for all measures together."""

FEWEST_STEPS = 10


def _search(attack: Attack, examination: Examination) -> Iterator[Finding]:
    random = examination.random(NAME)
    labels = by_class(examination.options.items)
    places = np.arange(len(labels))
    in_turns = np.argsort(places - np.searchsorted(labels, labels), kind="stable")
    starts = [places, places[::-1].copy(), in_turns, *(random.permutation(places) for _ in range(SHUFFLES))]
    score, same = _scoring(examination, places)
    outcomes = [(order, score(order)) for order in starts]
    failed = [outcome for _, outcome in outcomes if outcome.problem]
    if failed:
        yield from examination.failed(NAME, failed[0], f"On {same}")
        return
    values = outcomes[0][1].values
    moving = [
        name
        for name, value in values.items()
        if any(examination.differ(name, value, outcome.value(name)) for _, outcome in outcomes)
    ]
    for name, value in values.items():
        if name not in moving:
            detail = f"{len(outcomes)} orders of {same} all give {value:.4f}."
            yield Finding(NAME, name, Verdict.HELD, value, detail=detail)
    for name in moving:
        steps = max(STEPS // len(moving), FEWEST_STEPS)
        best, order, gives = _climb(examination, name, outcomes, steps, random, score)
        again = score(order).value(name)
        yield from _judged(examination, name, best, again, same, f"{len(outcomes) + steps} orders of {same} {gives}.")


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


def _climb(
    examination: Examination,
    measure: str,
    outcomes: list[tuple[IntArray, Outcome]],
    steps: int,
    random: np.random.Generator,
    score: Scoring,
) -> tuple[float, IntArray, str]:
    """The best number of a measure, its order, and which numbers all orders give, in words."""
    sign = examination.sign
    tried = [(sign * outcome.values.get(measure, -np.inf), order) for order, outcome in outcomes]
    best, order = max(tried, key=lambda pair: pair[0])
    least = min(value for value, _ in tried)
    for _ in range(steps):
        start, end = np.sort(random.integers(len(order) + 1, size=2))
        rest = np.delete(order, slice(start, end))
        candidate = np.insert(rest, random.integers(len(rest) + 1), order[start:end])
        value = sign * score(candidate).values.get(measure, -np.inf)
        least = min(least, value)
        if value >= best:
            best, order = value, candidate
    low, high = sorted((least * sign, best * sign))
    return best * sign, order, f"give {low:.4f} to {high:.4f}"


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
