"""The search for the order of the data for which an evaluator prints the best number, while all embeddings are equal.

In any order, the data is the same data. The search tries the layouts, then climbs: it moves a run of consecutive
items to another position and keeps the new order if its number is no worse. The search reads scores, which no blind
system does, and the best of many orders is better than most by luck alone. So it shows that a number depends on the
order, and never that a blind system gains.
"""

from collections.abc import Iterator

import numpy as np

from tieproof.audit.attacks import PAPER, Attack, register
from tieproof.audit.cases import CLASSES, DIMENSIONS, LAYOUTS, Case, by_class
from tieproof.audit.data import with_groups
from tieproof.audit.examination import Examination
from tieproof.audit.luck import differ
from tieproof.audit.outcomes import Outcome
from tieproof.audit.report import Finding, Verdict
from tieproof.ties import IntArray

NAME = "order search"
SHUFFLES = 4
STEPS = 60
"""The number of moves that are tried, for all measures together."""

FEWEST_STEPS = 20


def search(examination: Examination) -> Iterator[Finding]:
    """The findings on the order of tied items, one for each measure."""
    random = examination.random(NAME)
    outcomes = [(labels, examination.score(case_of(examination, labels))) for labels in starts(examination, random)]
    failed = [outcome for _, outcome in outcomes if outcome.problem]
    if failed:
        yield from examination.failed(NAME, failed[0], f"On {same(examination)}")
        return
    moving = [name for name, value in outcomes[0][1].values.items() if varies(name, value, outcomes)]
    for name, value in outcomes[0][1].values.items():
        if name not in moving:
            detail = f"{len(outcomes)} orders of {same(examination)} all give {value:.4f}."
            yield Finding(NAME, name, Verdict.HELD, value, detail=detail)
    for name in moving:
        yield climb(examination, name, outcomes, max(STEPS // len(moving), FEWEST_STEPS), random)


def varies(name: str, value: float, outcomes: list[tuple[IntArray, Outcome]]) -> bool:
    """Whether a number differs between orders."""
    return any(differ(value, outcome.values.get(name, np.nan)) for _, outcome in outcomes)


def starts(examination: Examination, random: np.random.Generator) -> list[IntArray]:
    """The orders that the search starts from: sorted, reversed, interleaved and shuffled classes."""
    labels = by_class(examination.options.items)
    shuffled = [random.permutation(labels) for _ in range(SHUFFLES)]
    return [labels, labels[::-1].copy(), np.arange(len(labels)) % CLASSES, *shuffled]


def same(examination: Examination) -> str:
    """What the items have in common, in words."""
    return "equal scores" if examination.convention.kind == "scores" else "zeros"


def case_of(examination: Examination, labels: IntArray) -> Case:
    """A case of equal items in this order of labels; the order of queries does not change."""
    kind, items, queries = examination.convention.kind, len(labels), examination.options.queries
    if kind == "leave-one-out":
        case = Case(np.zeros((items, DIMENSIONS), dtype=np.float32), labels)
    elif kind == "scores":  # not zero, which some evaluators read as "no score"
        case = Case(np.full((items, queries), 0.5, dtype=np.float32), labels, query_labels=by_class(queries))
    else:
        zeros = np.zeros((items + queries, DIMENSIONS), dtype=np.float32)
        case = Case(zeros[:items], labels, zeros[items:], by_class(queries))
    return with_groups(case, examination.random(NAME, "groups")) if examination.convention.grouped else case


def moved(labels: IntArray, random: np.random.Generator) -> IntArray:
    """The labels after a run of consecutive ones has been moved to another position."""
    start, end = np.sort(random.integers(len(labels) + 1, size=2))
    rest = np.delete(labels, slice(start, end))
    return np.insert(rest, random.integers(len(rest) + 1), labels[start:end])


def climb(
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
        candidate = moved(order, random)
        value = sign * examination.score(case_of(examination, candidate)).values.get(measure, -np.inf)
        least = min(least, value)
        if value >= best:
            best, order = value, candidate
    seen = f"{len(tried) + steps} orders of {same(examination)} give {min(least * sign, best * sign):.4f} to "
    seen += f"{max(least * sign, best * sign):.4f}."
    return judged(examination, measure, order, best * sign, seen)


def judged(examination: Examination, measure: str, order: IntArray, score: float, seen: str) -> Finding:
    """The finding after the best order has been scored again and compared with random embeddings."""
    again = examination.score(case_of(examination, order)).values.get(measure, np.nan)
    if differ(score, again):
        detail = f"The same {same(examination)} in the same order give {score:.4f}, then {again:.4f}."
        return Finding(NAME, measure, Verdict.CHANGES, again, detail=detail)
    baseline = examination.baseline(LAYOUTS["shuffled"])
    luck = baseline.get(measure) if isinstance(baseline, dict) else None
    if luck is None:
        return Finding(NAME, measure, Verdict.DEPENDS_ON_ORDER, again, detail=seen)
    detail = f"{seen} The best order gives {again:.4f}; random embeddings score {luck.mean:.4f} ± {luck.std:.4f}."
    above = luck.deviations(again, examination.sign)
    return Finding(NAME, measure, Verdict.DEPENDS_ON_ORDER, again, luck.mean, luck.std, above, detail)


register(
    Attack(
        NAME,
        "order",
        "zeros (scores of 0.5), in the order of the data for which the evaluator prints the best number",
        "Data in another order is the same data.",
        f"{PAPER}, section 5.2 and figure 5",
        search,
    )
)
