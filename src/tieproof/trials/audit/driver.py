"""An audit from its options to its report.

_check ──► _calling: how the evaluator is called ──► _run: random embeddings, then each attack ──► AuditReport
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from numbers import Real
from typing import Any

from tieproof.errors import InputError
from tieproof.kit import check_choice, check_whole, our_name, progress_bar
from tieproof.measures import parse
from tieproof.trials.audit import blind, good, invariances, memory, recall, recall_attacks, reproduction, truth
from tieproof.trials.audit.cases import CLASSES, LAYOUTS, SHUFFLED, Case
from tieproof.trials.audit.conventions import CONVENTIONS, Convention, EvaluatorFunction
from tieproof.trials.audit.examination import AVERAGES, WHERE, Attack, Call, Examination, Options
from tieproof.trials.audit.isolation import Isolated
from tieproof.trials.audit.luck import Luck, differ, power
from tieproof.trials.audit.outcomes import Outcome, attempt, check_limits, no_answer
from tieproof.trials.audit.report import AuditReport
from tieproof.trials.audit.targets import Command, known_of, name_of, prepared
from tieproof.trials.findings import BASELINE, Finding, Verdict, check_attacks, worst
from tieproof.trials.sandbox.processes import ending_by_signals

ATTACKS: dict[str, Attack] = {
    attack.name: attack
    for attack in (
        *blind.ATTACKS,
        *truth.ATTACKS,
        *memory.ATTACKS,  # after other blind systems: whoever remembers a good system may remember it until the end
        *invariances.ATTACKS,
        *good.ATTACKS,
        *recall_attacks.ATTACKS,
    )
}
"""All attacks by name, in the order in which they run; help texts and documentation are generated from here."""

# The longest time limit in seconds: the clocks of the system overflow somewhere, and a limit of NaN never passes.
LONGEST_LIMIT = 10**6
FEWEST_ITEMS = 4 * CLASSES  # the fewest items and queries, so that each class has at least two in every draw

RANGE = (
    "Pass the range of its numbers, such as limits=(0, 100) (--limits 0,100) for percent, or limits=None "
    "(--limits none) if they have no range."
)


def examined(evaluator: EvaluatorFunction | str, options: Options, progress: bool) -> AuditReport:
    """Audit an evaluator; `tieproof.audit` returns this report."""
    _check(options)
    items, queries, seed = map(int, (options.items, options.queries, options.seed))  # of Python, for JSON
    options = replace(options, items=items, queries=queries, seed=seed)
    if isinstance(evaluator, str):
        evaluator = re.sub(r"^([\w.]+)\.(\w+)$", r"\1:\2", evaluator)  # as Python spells it
    known = known_of(evaluator, options.takes)
    for name, value in known.options.items() if known else ():
        if getattr(options, name) == getattr(Options(), name):
            options = replace(options, **{name: value})
    with _calling(evaluator, options) as (convention, call, anew):
        wanted = _chosen(options, convention)
        examination = Examination(convention, options, call, anew)
        examination.trials = sum(each.kind == "blind" for each in ATTACKS.values()) * (len(LAYOUTS) + 1)
        bar = progress_bar(len(wanted) + 1, "attacks", 1) if progress else nullcontext(lambda _: None)
        with bar as advance:
            findings = list(_run(examination, wanted, advance, _title(evaluator)))
        steady = all(each.verdict.harmless for each in findings) or reproduction.is_steady(examination)
    line = reproduction.reproducing(evaluator, options) if steady else lambda _: ""
    return AuditReport(
        evaluator=_title(evaluator),
        takes=f"{convention.takes}, as {known.says}" if known else convention.takes,
        seed=options.seed,
        findings=[replace(finding, reproduce=line(finding)) for finding in findings],
        items=options.items,
        queries=options.items if convention.kind == "leave-one-out" else options.queries,
        power=_powers(examination),
    )


def _check(options: Options) -> None:
    our_name(options.distance)
    named = options.measure
    for measure in named.values() if isinstance(named, Mapping) else [] if named is None else [named]:
        parse(measure)
    if not isinstance(options.time_limit, Real) or not 0 < options.time_limit <= LONGEST_LIMIT:
        raise InputError(
            f"time_limit must be a number of seconds above 0 and at most {LONGEST_LIMIT:,}, "
            f"not {options.time_limit!r}."
        )
    if options.limits is not None and not options.limits[0] < options.limits[1]:
        raise InputError(f"limits must be (least, largest) with least < largest, not {options.limits!r}.")
    if options.average is not None:
        check_choice("average", options.average, AVERAGES)
    check_whole("seed", options.seed, least=0)
    check_whole("items", options.items, least=FEWEST_ITEMS)
    check_whole("queries", options.queries, least=FEWEST_ITEMS)


def _applies(attack: Attack, convention: Convention, options: Options) -> bool:
    """Whether an attack applies; only the attacks on recalls apply to evaluators of recall."""
    alike = (attack.kind == recall.RECALL) == (convention.kind == recall.RECALL)
    return alike and WHERE[attack.only](convention, options)


def _chosen(options: Options, convention: Convention) -> list[Attack]:
    """The attacks that were requested, or all that apply, without those to skip.

    An attack that was requested by name but does not apply is an error.
    """
    check_attacks([*(options.attacks or ()), *options.skip], ATTACKS)
    for name in options.attacks or ():
        if not _applies(ATTACKS[name], convention, options):
            raise InputError(
                f"The attack '{name}' does not apply to an evaluator that takes {convention.takes} with these "
                "options; leave it out."
            )
    applying = [attack for attack in ATTACKS.values() if _applies(attack, convention, options)]
    usual = [attack.name for attack in applying if options.thorough or not attack.thorough]
    names = usual if options.attacks is None else dict.fromkeys(options.attacks)
    left = [ATTACKS[name] for name in names if name not in options.skip]
    if not left:
        raise InputError("No attack is left to run: skip names all attacks that were requested or apply. Skip fewer.")
    return left


WARM_UP = 10  # the factor of the limit for the first call, which may compile code or load a model
AGAIN = 3  # the factor of the limit for repeating a call that took too long
IN_VAIN = 2  # after this many calls that took too long even when repeated, calls are no longer repeated


def _patient(call: Callable[[Case, Mapping[str, Any], float], Outcome], seconds: float) -> Call:
    """A function that calls with a limit in seconds, and once more with a longer limit if the call takes too long.

    >>> limits = []
    >>> def slow(case, settings, limit):
    ...     limits.append(limit)
    ...     return Outcome({}, "timed out")
    >>> ask = _patient(slow, 30.0)
    >>> answers = [ask(None, {}) for _ in range(4)]
    >>> limits
    [300.0, 90.0, 30.0, 90.0, 30.0, 30.0]
    """
    calls = in_vain = 0

    def ask(case: Case, settings: Mapping[str, Any]) -> Outcome:
        nonlocal calls, in_vain
        calls += 1
        outcome = call(case, settings, seconds * (WARM_UP if calls == 1 else 1))
        if outcome.problem == "timed out" and in_vain < IN_VAIN:
            outcome = call(case, settings, seconds * AGAIN)
            in_vain += outcome.problem == "timed out"
        return outcome

    return ask


@contextmanager
def _calling(evaluator: EvaluatorFunction | str, options: Options) -> Iterator[tuple[Convention, Call, Call | None]]:
    """The convention of the evaluator, and functions that call it: as always, and (or None) in a new process."""
    seconds = options.time_limit
    with ending_by_signals(again=True) if options.isolate or isinstance(evaluator, Command) else nullcontext():
        if options.isolate:
            name = evaluator if isinstance(evaluator, str) else name_of(evaluator)
            if name is None:
                raise InputError(
                    "The evaluator has no name by which a separate process could import it. Define it at the top "
                    "level of a module, or leave out isolate; a Command runs in a separate process anyway."
                )
            isolated = Isolated(name, options.takes)
            try:
                convention = CONVENTIONS[isolated.convention()]
                yield convention, _patient(isolated, seconds), _patient(isolated.anew, seconds)
            finally:
                isolated.close()
            return
        takes = "files" if isinstance(evaluator, Command) else options.takes
        function, convention = prepared(evaluator, takes)

        def call(case: Case, settings: Mapping[str, Any], seconds: float) -> Outcome:
            return attempt(function, convention, case, settings, seconds)

        yield convention, _patient(call, seconds), None


def _run(
    examination: Examination, attacks: Sequence[Attack], advance: Callable[[int], None], title: str
) -> Iterator[Finding]:
    """The findings on random embeddings themselves, then the worst finding of each attack on each measure."""
    if examination.convention.kind == recall.RECALL:
        recall.begin(examination, title)
    else:
        begun, goes_on = _begun(examination, title)
        yield from begun
        if not goes_on:
            return
    advance(1)
    findings: dict[tuple[str, str], list[Finding]] = {}
    for attack in attacks:
        shown = [worst(found) for (name, _), found in findings.items() if name == attack.unless]
        if shown and not any(finding.verdict.harmless for finding in shown):
            advance(1)
            continue
        for finding in attack.run(attack, examination):
            findings.setdefault((finding.attack, finding.measure), []).append(finding)
        advance(1)
    yield from map(worst, findings.values())


def _begun(examination: Examination, title: str) -> tuple[list[Finding], bool]:
    """The findings on random embeddings themselves, and whether the evaluator can be attacked."""
    first = examination.baseline(SHUFFLED)
    if isinstance(first, Outcome):
        case = examination.random_case(examination.board(SHUFFLED))
        raise no_answer(first, "random embeddings", case, examination.convention, title)
    for name, luck in first.items():
        if limits := examination.options.limits:
            check_limits(luck.mean, name, "random embeddings", limits, 1e-6, RANGE)
    examination.takes_other_sizes = not examination.at_random(examination.board(SHUFFLED, 1)).problem
    reproduction.begin(examination)
    return list(_of_random_embeddings(examination, first)), not all(math.isnan(luck.mean) for luck in first.values())


def _of_random_embeddings(examination: Examination, first: Mapping[str, Luck]) -> Iterator[Finding]:
    """Findings on the scores of random embeddings: they are NaN, or all the same.

    That is no fault of a number that the labels or the size of the data decide, such as the precision among all items
    or a fact beside other numbers. But if it is the same for other labels, too, and another one at another size, then
    the evaluator remembers what it gave for the first data of this size.
    """
    relabelled, resized = (
        examination.at_random(board)
        for board in (examination.board(LAYOUTS["largest first"]), examination.board(SHUFFLED, 1))
    )
    varies = any(not luck.is_constant or differ(luck.mean, relabelled.value(name)) for name, luck in first.items())
    for name, luck in first.items():
        those, other = f"{luck.size} random embeddings", resized.value(name)
        if math.isnan(luck.mean):
            yield Finding(BASELINE, name, Verdict.NOT_A_NUMBER, luck.mean, detail=f"{those} score NaN.")
        elif luck.is_constant:
            remembers = not varies and differ(luck.mean, other)
            verdict = Verdict.CHANGES if remembers else Verdict.ALWAYS_THE_SAME
            detail = f"{those} all score {luck.mean:.4f}{f', and {other:.4f} at another size' if remembers else ''}."
            yield Finding(BASELINE, name, verdict, luck.mean, luck.mean, 0.0, 0.0, detail)


def _powers(examination: Examination) -> dict[str, float]:
    """For each measure, the gain that would hardly have been missed, on whatever layout."""
    gains: dict[str, float] = {}
    for (_, times), lucks in examination.baselines.items():
        for name, luck in lucks.items() if times == 1 and isinstance(lucks, dict) else ():
            if not math.isnan(luck.mean):
                gains[name] = max(gains.get(name, 0.0), power(luck))
    return gains


def _title(evaluator: EvaluatorFunction | str) -> str:
    if isinstance(evaluator, str):
        return evaluator
    if isinstance(evaluator, Command):
        return evaluator.template
    return name_of(evaluator) or str(getattr(evaluator, "__qualname__", type(evaluator).__name__))
