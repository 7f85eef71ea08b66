"""What `audit` does: check the options, attack, and keep the worst finding of each attack.

evaluator ──► targets.py: found by name ──► conventions.py: how it is called ──► outcomes.py, or isolation.py
attacks.py: blind.py, order_search.py, invariances.py, truth.py ──► findings ──► report.py
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import fields, replace
from itertools import chain, repeat
from numbers import Real
from typing import Any

from tieproof.audit import all_attacks  # noqa: F401 (to choose from)
from tieproof.audit.attacks import Attack, chosen
from tieproof.audit.cases import LAYOUTS, Case
from tieproof.audit.conventions import CONVENTIONS, Convention, Evaluator, convention_of
from tieproof.audit.examination import Call, Examination, Options
from tieproof.audit.judgment import BASELINE
from tieproof.audit.outcomes import Outcome, attempt
from tieproof.audit.process_trees import ending_in_order
from tieproof.audit.report import AuditReport
from tieproof.audit.targets import Command, load, name_of
from tieproof.audit.verdicts import Finding, worst
from tieproof.calls.progress import progress_bar
from tieproof.distances import our_name
from tieproof.errors import InputError
from tieproof.inputs.options import check_whole
from tieproof.measures import Measure, parse

DEFAULTS = Options()

LONGEST_LIMIT = 10**6
"""Seconds: clocks of the system end somewhere, and NaN is never over."""

WARM_UP = 10
"""How many times the limit the first call may take."""


def examined(evaluator: Evaluator | str, options: Options, progress: bool) -> AuditReport:
    """The report of an audit: what the function `tieproof.audit` returns."""
    check(options)
    with calling(evaluator, options) as (convention, call):
        wanted = chosen(options.attacks, convention, options)
        examination = Examination(convention, options, call)
        bar = progress_bar(len(wanted) + 1, "attacks", 1) if progress else nullcontext(lambda _: None)
        with bar as advance:
            findings = list(run(examination, wanted, advance))
    line = reproducing(evaluator, options)
    return AuditReport(
        evaluator=title(evaluator),
        takes=convention.takes,
        seed=options.seed,
        findings=[replace(finding, reproduce=line(finding)) for finding in findings],
    )


def check(options: Options) -> None:
    """Refuse what cannot be meant, before anything runs."""
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
        raise InputError(f"limits must be (least, largest), not {options.limits!r}.")
    check_whole("seed", options.seed, least=0)


@contextmanager
def calling(evaluator: Evaluator | str, options: Options) -> Iterator[tuple[Convention, Call]]:
    """How the evaluator is called, and what calls it: here, or in a process of its own."""
    limits = first_longer(options.time_limit)
    with ending_in_order() if options.isolate or isinstance(evaluator, Command) else nullcontext():
        if options.isolate:
            from tieproof.audit.isolation import Isolated

            isolated = Isolated(importable(evaluator), options.takes, limits)
            try:
                yield CONVENTIONS[isolated.convention()], isolated
            finally:
                isolated.close()
            return
        function = load(evaluator) if isinstance(evaluator, str) else evaluator
        files = isinstance(function, Command)
        convention = CONVENTIONS["files"] if files else convention_of(function, options.takes)

        def call(case: Case, settings: Mapping[str, Any]) -> Outcome:
            return attempt(function, convention, case, settings, next(limits))

        yield convention, call


def importable(evaluator: Evaluator | str) -> str:
    """The name by which another process finds the evaluator."""
    name = evaluator if isinstance(evaluator, str) else name_of(evaluator)
    if name is None:
        raise InputError(
            "A process of its own finds the evaluator by its name, and this one has none that can be imported. Put "
            "it into a module, at the top level; a Command has a process of its own anyway."
        )
    return name


def first_longer(seconds: float) -> Iterator[float]:
    """The limits of one call after the other: the first one may compile, or load a model."""
    return chain([WARM_UP * seconds], repeat(seconds))


def run(examination: Examination, attacks: Sequence[Attack], advance: Callable[[int], None]) -> Iterator[Finding]:
    """The worst finding of each attack on each measure."""
    first = examination.baseline(LAYOUTS["shuffled"])
    if isinstance(first, Outcome) and first.problem == "refused":
        raise InputError(
            f"The evaluator refuses random embeddings ({first.message}). It was called with "
            f"{examination.convention.takes}; takes says otherwise."
        )
    advance(1)
    if isinstance(first, Outcome):
        yield from examination.failed(BASELINE, first, "shuffled labels")
        return
    found: dict[tuple[str, str], list[Finding]] = {}
    for attack in attacks:
        for finding in attack.run(examination):
            found.setdefault((finding.attack, finding.measure), []).append(finding)
        advance(1)
    yield from map(worst, found.values())


def title(evaluator: Evaluator | str) -> str:
    """What to call the evaluator in a report."""
    if isinstance(evaluator, str):
        return evaluator
    if isinstance(evaluator, Command):
        return evaluator.template
    return name_of(evaluator) or str(getattr(evaluator, "__qualname__", type(evaluator).__name__))


def reproducing(evaluator: Evaluator | str, options: Options) -> Callable[[Finding], str]:
    """What makes a line of Python for a finding.

    An evaluator without a name that can be imported is called by the name that it has where it is.
    """
    imports = "import tieproof as tp"
    if isinstance(evaluator, Command):
        imports += "; from tieproof.audit import Command"
        spelled = f"Command({evaluator.template!r})"
    else:
        name = evaluator if isinstance(evaluator, str) else name_of(evaluator)
        here = getattr(evaluator, "__name__", "evaluator")
        spelled = repr(name) if name else here if here.isidentifier() else "evaluator"
    said = {field.name: getattr(options, field.name) for field in fields(options) if field.name != "attacks"}
    given = "".join(
        f", {key}={str(value) if isinstance(value, Measure) else value!r}"
        for key, value in said.items()
        if value != getattr(DEFAULTS, key)
    )

    def line(finding: Finding) -> str:
        attacks = "" if finding.attack == BASELINE else f", attacks=[{finding.attack!r}]"
        what = "detail" if finding.score is None else "score"
        report = f"tp.audit({spelled}{attacks}{given})"
        return f"{imports}; print({report}.finding({finding.attack!r}, {finding.measure!r}).{what})"

    return line
