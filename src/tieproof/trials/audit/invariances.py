"""Attacks by what must not matter: changes of the data, of its order or of its format that keep every ranking.

The evaluator's numbers before and after a change of changes.py are compared, on tied, random and real data; the
finding reports the largest difference.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from tieproof.trials.audit.cases import Case
from tieproof.trials.audit.changes import CHANGES, DATA, REPEATS, WHOLE, Variants, data_case, in_pairs
from tieproof.trials.audit.examination import AGAIN, Attack, Examination
from tieproof.trials.audit.luck import LEVEL, Luck, rounding, tail
from tieproof.trials.audit.outcomes import Outcome
from tieproof.trials.audit.truth import claimed
from tieproof.trials.findings import Finding, Verdict, rank_of, told

Sets = Callable[[Examination], dict[str, Case]]  # a function that makes data sets by name


def sets_of(names: Iterable[str]) -> Sets:
    """A function that makes these data sets, of the usual size."""
    return lambda examination: {name: data_case(examination, name) for name in names}


usual_sets = sets_of(DATA)

# Numbers of items or queries that leave one over in batches of 2 to 256, and of 100 to 1,000. More leave one over in
# batches of up to 4,096: for vectors or scores of a few queries or items, and in thorough audits.
SIZES = (257, 1001)
MORE_SIZES = (4097,)
FEW = 60  # the number of queries to so many items, and of items for so many queries


def sets_of_other_sizes(examination: Examination) -> dict[str, Case]:
    """Tied data of other sizes, if the evaluator accepts any; in leave-one-out without separate queries.

    The smallest sizes have random data, for evaluators that refuse ties.
    """
    if not examination.takes_other_sizes:
        return usual_sets(examination)
    convention, alone = examination.convention, examination.convention.kind == "leave-one-out"
    more = MORE_SIZES if examination.options.thorough or not (alone or convention.written) else ()
    sets = {}
    for size in (*SIZES, *more):
        data = "random" if size == SIZES[0] else "tied"
        for items, queries in [(size, 0)] if alone else [(size, FEW), (FEW, size)]:
            asked = "" if alone else f" and {queries:,} queries"
            sets[f"{items:,} items{asked} of {data}"] = data_case(examination, data, (items, queries))
    return sets


def compare(variants: Variants, attack: Attack, examination: Examination) -> Iterator[Finding]:
    """The worst finding on each measure; among equal verdicts, the one with the largest change."""
    findings: dict[tuple[str, str], list[tuple[Finding, float]]] = {}
    for data, case in SETS[attack.data](examination).items():
        if attack.lasting and not examination.same(*(examination.score(case) for _ in range(2))):
            for measure in examination.measures:
                held = Finding(attack.name, measure, Verdict.HELD, detail=f"On {data} data, equal calls differ.")
                findings.setdefault((attack.name, measure), []).append((held, 0.0))
            continue
        for finding, change in _on_data(attack, variants, case, examination, data):
            findings.setdefault((finding.attack, finding.measure), []).append((finding, change))
    for each in findings.values():
        yield max(each, key=lambda pair: (rank_of(pair[0].verdict), pair[1]))[0]


def _on_data(
    attack: Attack, variants: Variants, case: Case, examination: Examination, data: str
) -> Iterator[tuple[Finding, float]]:
    """The findings of each variant on each measure, for one data set, each with the change of the number."""
    name, verdict, where = attack.name, Verdict(attack.verdict), f"On {data} data"
    before = examination.score(case)
    if before.problem:
        yield from ((finding, 0.0) for finding in examination.failed(name, before, where))
        return
    for what, ask in variants(examination, case, examination.random(name, data)):
        after = ask()
        if after.problem:
            yield from ((finding, 0.0) for finding in examination.failed(name, after, f"{where}, {what}"))
            continue
        for measure, value in before.values.items():
            changed = after.value(measure)
            reached, spread = Verdict.HELD, ""
            if examination.differ(measure, value, changed):
                reached = verdict
                if not attack.lasting:
                    reached, spread = _confirmed(examination, measure, (before, after), (case, ask), verdict)
            if name == AGAIN and spread:
                reached = verdict
            if reached is Verdict.NOT_A_MEAN and (
                examination.options.average == "mean" or claimed(examination, measure) is not None
            ):
                reached = Verdict.CHANGES  # it was declared to be a mean, as all measures of tieproof are
            change = abs(changed - value)
            detail = f"{where}, {value:.6f} becomes {changed:.6f} {what}, a change of {change:.2g}{spread}."
            finding = Finding(name, measure, reached, changed, detail=detail)
            yield finding, 0.0 if reached is Verdict.HELD else math.inf if math.isnan(change) else change
            if spread and name != AGAIN:  # say it once, of the attack that it is about
                detail = f"{where}, {value:.6f} becomes {changed:.6f} {what}{spread}."
                yield Finding(AGAIN, measure, Verdict.CHANGES, changed, detail=detail), change


# How often equal calls are repeated if two of them differ; minus one, the number is even, as `tail` requires.
CALLS = 9


def _confirmed(
    examination: Examination,
    measure: str,
    outcomes: tuple[Outcome, Outcome],
    asked: tuple[Case, Callable[[], Outcome]],
    verdict: Verdict,
) -> tuple[Verdict, str]:
    """The verdict on a change, and the spread of equal calls in words, if equal calls differ.

    Both calls are repeated. If they give the same numbers again, the change is real. If not, it must be larger
    than the spread of equal calls explains, by Student's t at the level of one of all such tests.
    """
    case, ask = asked
    again = examination.score(case), ask()
    if all(map(examination.same, outcomes, again)):
        return verdict, ""
    examination.is_steady = False
    numbers = [outcomes[0].value(measure), again[0].value(measure)]
    numbers += [examination.score(case).value(measure) for _ in range(CALLS - 2)]
    spread = Luck.of(numbers)
    said = (
        f"; then {again[1].value(measure):.6f}, and the data as it was gives {min(numbers):.6f} to {max(numbers):.6f}"
    )
    change = abs(again[1].value(measure) - spread.mean)
    error = spread.std * math.sqrt(1 + 1 / CALLS)
    tests = 2 * len(ATTACKS) * len(DATA) * REPEATS * len(examination.measures)
    if not math.isfinite(spread.mean):
        return Verdict.HELD, said
    explained = change <= rounding(spread.mean) if not error else tail(change / error, CALLS - 1) >= LEVEL / tests
    return Verdict.HELD if explained else verdict, said


# The data sets of attacks, by the names that attacks.toml has for them.
SETS: dict[str, Sets] = {
    "usual": usual_sets,
    "other sizes": sets_of_other_sizes,
    "pairs": lambda examination: {
        name: case.take_queries(in_pairs(case)) for name, case in usual_sets(examination).items()
    },
    "random": sets_of(["random"]),
    "whole numbers": sets_of(WHOLE),
}

ATTACKS = [
    Attack(name, "must not matter", partial(compare, variants), **told(name)) for name, variants in CHANGES.items()
]
