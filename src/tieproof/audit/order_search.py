"""The search for the order of the data for which an evaluator prints the best number, while all embeddings are equal.

In any order, the data is the same data. The search tries the layouts, then climbs: it moves a run of consecutive
items to another position and keeps the new order if its number is no worse. The search reads scores, which no blind
system does, and the best of many orders is better than most by luck alone. So it shows that a number depends on the
order, and never that a blind system gains.
"""

from collections.abc import Iterator

import numpy as np

from tieproof.attacks import Finding, Verdict
from tieproof.audit.cases import CLASSES, DIMENSIONS, LAYOUTS, Case, by_class
from tieproof.audit.examination import PAPER, Attack, Examination
from tieproof.audit.luck import differ
from tieproof.audit.outcomes import Outcome
from tieproof.ties import IntArray

NAME = "order search"
SHUFFLES = 4
STEPS = 60
"""The number of moves that are tried, for all measures together."""

FEWEST_STEPS = 20


def _search(examination: Examination) -> Iterator[Finding]:
    random = examination.random(NAME)
    labels = by_class(examination.options.items)
    shuffled = [random.permutation(labels) for _ in range(SHUFFLES)]
    starts = [labels, labels[::-1].copy(), np.arange(len(labels)) % CLASSES, *shuffled]
    outcomes = [(order, examination.score(_case_of(examination, order))) for order in starts]
    failed = [outcome for _, outcome in outcomes if outcome.problem]
    if failed:
        yield from examination.failed(NAME, failed[0], f"On {_same(examination)}")
        return
    values = outcomes[0][1].values
    moving = [
        name for name, value in values.items() if any(differ(value, outcome.value(name)) for _, outcome in outcomes)
    ]
    for name, value in values.items():
        if name not in moving:
            detail = f"{len(outcomes)} orders of {_same(examination)} all give {value:.4f}."
            yield Finding(NAME, name, Verdict.HELD, value, detail=detail)
    for name in moving:
        yield _climb(examination, name, outcomes, max(STEPS // len(moving), FEWEST_STEPS), random)


def _same(examination: Examination) -> str:
    return "equal scores" if examination.convention.kind == "scores" else "zeros"


def _case_of(examination: Examination, labels: IntArray) -> Case:
    """A case of equal items in this order of labels; the order of queries does not change."""
    kind, items, queries = examination.convention.kind, len(labels), examination.options.queries
    if kind == "leave-one-out":
        case = Case(np.zeros((items, DIMENSIONS), dtype=np.float32), labels)
    elif kind == "scores":  # not zero, which some evaluators read as "no score"
        case = Case(np.full((items, queries), 0.5, dtype=np.float32), labels, query_labels=by_class(queries))
    else:
        zeros = np.zeros((items + queries, DIMENSIONS), dtype=np.float32)
        case = Case(zeros[:items], labels, zeros[items:], by_class(queries))
    return case.with_groups(examination.random(NAME, "groups")) if examination.convention.grouped else case


def _climb(
    examination: Examination,
    measure: str,
    outcomes: list[tuple[IntArray, Outcome]],
    steps: int,
    random: np.random.Generator,
) -> Finding:
    """The finding on the best order for one measure."""
    sign = examination.sign
    tried = [(sign * outcome.values.get(measure, -np.inf), labels) for labels, outcome in outcomes]
    best, order = max(tried, key=lambda pair: pair[0])
    least = min(value for value, _ in tried)
    for _ in range(steps):
        start, end = np.sort(random.integers(len(order) + 1, size=2))
        rest = np.delete(order, slice(start, end))
        candidate = np.insert(rest, random.integers(len(rest) + 1), order[start:end])
        value = sign * examination.score(_case_of(examination, candidate)).values.get(measure, -np.inf)
        least = min(least, value)
        if value >= best:
            best, order = value, candidate
    spread = f"{len(tried) + steps} orders of {_same(examination)} give {min(least * sign, best * sign):.4f} to "
    spread += f"{max(least * sign, best * sign):.4f}."
    return _judged(examination, measure, order, best * sign, spread)


def _judged(examination: Examination, measure: str, order: IntArray, score: float, spread: str) -> Finding:
    """The finding after the best order has been scored again and compared with random embeddings."""
    again = examination.score(_case_of(examination, order)).value(measure)
    if differ(score, again):
        detail = f"The same {_same(examination)} in the same order give {score:.4f}, then {again:.4f}."
        return Finding(NAME, measure, Verdict.CHANGES, again, detail=detail)
    baseline = examination.baseline(LAYOUTS["shuffled"])
    luck = baseline.get(measure) if isinstance(baseline, dict) else None
    if luck is None:
        return Finding(NAME, measure, Verdict.DEPENDS_ON_ORDER, again, detail=spread)
    detail = f"{spread} The best order gives {again:.4f}; random embeddings score {luck.mean:.4f} ± {luck.std:.4f}."
    above = luck.deviations(again, examination.sign)
    return Finding(NAME, measure, Verdict.DEPENDS_ON_ORDER, again, luck.mean, luck.std, above, detail)


ATTACKS = [
    Attack(
        NAME,
        "order",
        "zeros (scores of 0.5), in the order of the data for which the evaluator prints the best number",
        "Data in another order is the same data.",
        f"{PAPER}, section 5.2 and figure 5",
        _search,
    ),
]
"""The search for the best order of the data."""
