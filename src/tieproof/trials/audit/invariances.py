"""Attacks by what must not matter: changes of the data, of its order or of its format that keep every ranking.

The evaluator's numbers before and after a change of changes.py are compared, on tied, random and real data; the
finding reports the largest difference.
"""

import math
from collections.abc import Callable, Iterator, Mapping

from tieproof.trials.attacks import Finding, Verdict, rank_of, told
from tieproof.trials.audit.cases import DATA, Case
from tieproof.trials.audit.changes import CHANGES, OTHER_SIZES, REPEATS, SPLITTING, Variants, in_pairs
from tieproof.trials.audit.examination import AGAIN, Attack, Examination, data_case
from tieproof.trials.audit.luck import LEVEL, Luck, rounding, tail
from tieproof.trials.audit.outcomes import Outcome
from tieproof.trials.audit.truth import claimed

Sets = Callable[[Examination], Mapping[str, Case]]
"""A function that makes cases by the name of their data set."""


def usual_sets(examination: Examination) -> dict[str, Case]:
    """The data sets of the usual size."""
    return {name: data_case(examination, name) for name in DATA}


def sets_in_pairs(examination: Examination) -> dict[str, Case]:
    """The data sets of the usual size, with an even number of queries of each class, in pairs."""
    return {name: case.take_queries(in_pairs(case)) for name, case in usual_sets(examination).items()}


SIZES = ((257, 60), (1601, 60), (100, 257), (100, 1601))
MORE_SIZES = ((1025, 60), (100, 1025))
"""Numbers of items and queries, which leave one over in batches of 2 to 256, and of 100, 200, 400 and 800; in a
thorough audit also of 512 and 1,024."""


def sets_of_other_sizes(examination: Examination) -> dict[str, Case]:
    """Random data of other sizes, if the evaluator accepts any; in leave-one-out without separate queries."""
    if not examination.takes_other_sizes:
        return usual_sets(examination)
    more = MORE_SIZES if examination.options.thorough else ()
    if examination.convention.kind == "leave-one-out":
        sizes = {f"{items} random items as": (items, 0) for items, _ in (*SIZES[:2], *more[:1])}
    else:
        sizes = {
            f"{items} random items and {queries} queries as": (items, queries) for items, queries in (*SIZES, *more)
        }
    return {name: data_case(examination, "random", both) for name, both in sizes.items()}


def invariance(
    name: str,
    variants: Variants,
    does: str,
    why: str,
    only: str = "everywhere",
    verdict: str = Verdict.CHANGES,
    source: str = "",
    sets: Sets = usual_sets,
    lasting: bool = False,
) -> Attack:
    """An attack by a change that must not matter.

    verdict : the verdict if it does matter
    sets : makes the data sets
    lasting : whether the change may last, so that the number before it must be confirmed before
    """

    def run(examination: Examination) -> Iterator[Finding]:
        """The worst finding on each measure; among equal verdicts, the one with the largest change."""
        findings: dict[tuple[str, str], list[tuple[Finding, float]]] = {}
        for data, case in sets(examination).items():
            if lasting and not examination.same(*(examination.score(case) for _ in range(2))):
                detail = f"On {data} data, equal calls differ."
                for measure in examination.measures:
                    held = Finding(name, measure, Verdict.HELD, detail=detail)
                    findings.setdefault((name, measure), []).append((held, 0.0))
                continue
            for finding, change in _on_data(name, variants, Verdict(verdict), case, examination, data, lasting):
                findings.setdefault((finding.attack, finding.measure), []).append((finding, change))
        for each in findings.values():
            yield max(each, key=lambda pair: (rank_of(pair[0].verdict), pair[1]))[0]

    return Attack(name, "must not matter", does, why, run, source, only)


def _on_data(
    name: str,
    variants: Variants,
    verdict: Verdict,
    case: Case,
    examination: Examination,
    data: str,
    lasting: bool = False,
) -> Iterator[tuple[Finding, float]]:
    """The findings of each variant on each measure, for one data set, each with the change of the number."""
    where = f"On {data} data"
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
                if not lasting:
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


CALLS = 9
"""How often equal calls are repeated if two of them differ; minus one, the number is even, as `tail` requires."""


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


SETS = {OTHER_SIZES: sets_of_other_sizes, SPLITTING: sets_in_pairs}
"""The data sets of the attacks that need other ones than usual."""

ATTACKS = [
    invariance(name, variants, sets=SETS.get(name, usual_sets), **told(name)) for name, variants in CHANGES.items()
]
"""The attacks by what must not matter, in the order in which they run."""
