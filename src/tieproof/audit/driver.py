"""`audit`: check the options, attack, and keep the worst finding of each attack.

evaluator ──► targets.py: found by name ──► conventions.py: how it is called ──► outcomes.py, or isolation.py
attacks.py: blind.py, order_search.py, invariances.py, truth.py ──► findings ──► report.py
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import fields, replace
from itertools import chain, repeat
from numbers import Real
from typing import Any

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
from tieproof.inputs.checks import check_whole
from tieproof.measures import Measure, parse

DEFAULTS = Options()

LONGEST_LIMIT = 10**6
"""Seconds: clocks of the system end somewhere, and NaN is never over."""

WARM_UP = 10
"""How many times the limit the first call may take."""


def audit(
    evaluator: Evaluator | str,
    *,
    takes: str | None = None,
    larger_is_better: bool = True,
    limits: tuple[float, float] | None = (0.0, 1.0),
    measure: str | Measure | Mapping[str, str | Measure] | None = None,
    distance: str = "cosine",
    vary: Mapping[str, Sequence[Any]] | None = None,
    attacks: Sequence[str] | None = None,
    seed: int = 0,
    time_limit: float = 30.0,
    isolate: bool = False,
    progress: bool = False,
) -> AuditReport:
    """Attack an evaluator: whether a blind system gains from it, and whether it depends on what must not matter.

    Parameters
    ----------
    evaluator : a function, "package.module:function", or `Command`
        It returns a number, or a dict of numbers by their names. It is a black box: it is only ever called.
    takes : "embeddings", "gallery", "distances", "scores", "relevance", "run" or "files"
        How it is called: (embeddings, labels), leave-one-out; (queries, query_labels, gallery, gallery_labels); a
        matrix (q, n) of distances or of scores with query_labels and gallery_labels; (scores, relevance) of shape
        (q, n) each; (qrels, run) as dicts of dicts, or as paths of TREC files. Default: "embeddings" for a function
        of two parameters, "gallery" for one of four, "files" for a `Command`.
    larger_is_better : bool
        False for error rates and the like.
    limits : (least, largest) or None
        What the evaluator's numbers cannot leave.
    measure : such as "AP@R", or {name of a number: measure}
        What the evaluator computes, if it is one of `tieproof.measures`; `distance` is that of its embeddings. Its
        values are then compared with the interval that ties leave.
    vary : {keyword: values}
        Keyword arguments of the evaluator that must not matter, such as {"batch_size": [1, 64]}.
    attacks : names of `ATTACKS` (`from tieproof.audit import ATTACKS`)
        Default: all that apply.
    seed : int
        Of all random numbers. The same seed gives the same report, if the evaluator gives the same numbers.
    time_limit : seconds
        What one call of the evaluator may take, the very first one ten times as much. Without `isolate`
        only Python code in the main thread can be stopped.
    isolate : bool
        Import and call the evaluator in a process of its own, by its name, so that a crash or a hang in native code
        is a finding, too, and all that it starts is ended.
    progress : bool
        Show a bar on standard error where it takes longer than two seconds.

    Returns
    -------
    AuditReport
        `exploitable`, `held`, and `findings`, one for every attack and number of the evaluator.

    Raises
    ------
    InputError
        Unknown names, an evaluator that cannot be imported, or that refuses even random embeddings.

    Notes
    -----
    The attack by zeros and the comparison with random embeddings are those of Nicolaou et al. 2018 (section 5);
    luck.py in `src/tieproof/audit/` says when a difference counts.

    Examples
    --------
    >>> import tieproof as tp
    >>> def upper_bound(embeddings, labels):
    ...     return tp.evaluate(embeddings, labels, measures=["AP"])["AP"].upper
    >>> report = tp.audit(upper_bound, attacks=["zeros", "nan"])
    >>> report.exploitable, [str(finding.verdict) for finding in report.findings]
    (True, ['exploitable', 'refused'])
    >>> report.finding("zeros").score
    1.0

    """
    options = Options(takes, larger_is_better, limits, measure, distance, vary, attacks, seed, time_limit, isolate)
    check(options)
    with calling(evaluator, options) as (convention, call):
        wanted = chosen(attacks, convention, options)
        examination = Examination(convention, options, call)
        with progress_bar(len(wanted) + 1, progress, "attacks", 1) as advance:
            findings = list(run(examination, wanted, advance))
    line = reproducing(evaluator, options)
    return AuditReport(
        evaluator=title(evaluator),
        takes=convention.takes,
        seed=seed,
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
