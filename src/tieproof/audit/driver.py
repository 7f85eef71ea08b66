"""Time limits of calls: the first call may take longer, and a call that takes too long is repeated once."""

import ast
import math
import os
import site
import sysconfig
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import fields, replace
from importlib.util import find_spec
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

from tieproof.audit import all_attacks  # noqa: F401 (to choose from)
from tieproof.audit.attacks import ATTACKS, Attack, chosen
from tieproof.audit.averages import perfect_case
from tieproof.audit.cases import CLASSES, LAYOUTS, Case
from tieproof.audit.conventions import CONVENTIONS, Convention, Evaluator, convention_of
from tieproof.audit.data import data_case
from tieproof.audit.examination import AVERAGES, Call, Examination, Options
from tieproof.audit.luck import LOOKS, Luck, differ, power, rounding
from tieproof.audit.outcomes import RETURNED, Outcome, attempt
from tieproof.audit.report import BASELINE, AuditReport, Finding, Verdict, worst
from tieproof.audit.targets import Command, load, name_of
from tieproof.distances import our_name
from tieproof.errors import InputError
from tieproof.evaluation.progress import progress_bar
from tieproof.inputs.options import check_choice, check_whole
from tieproof.measures import Measure, parse
from tieproof.sandbox.processes import ending_by_signals

WARM_UP = 10
"""The factor of the limit for the first call, which may compile code or load a model."""

AGAIN = 3
"""The factor of the limit for repeating a call that took too long."""

IN_VAIN = 2
"""After this many calls that took too long even when repeated, calls are no longer repeated."""


def patient(call: Callable[[Case, Mapping[str, Any], float], Outcome], seconds: float) -> Call:
    """A function that calls with a limit in seconds, and once more with a longer limit if the call takes too long.

    >>> limits = []
    >>> def slow(case, settings, limit):
    ...     limits.append(limit)
    ...     return Outcome({}, "timed out")
    >>> ask = patient(slow, 30.0)
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


DEFAULTS = Options()
CHOSEN = ("attacks", "skip")
ON_ALL_LAYOUTS = "zeros"
"""An attack that scores random embeddings on every layout."""


def reproducing(evaluator: Evaluator | str, options: Options) -> Callable[[Finding], str]:
    """A function that makes the line of Python for a finding; the line is empty if none would reproduce it."""
    spelled, imports = called(evaluator)
    said = {name: value for name, value in in_words(options).items() if value != in_words(DEFAULTS)[name]}
    if spelled is None or not all(map(can_be_written, said.values())):
        return lambda finding: ""
    given = "".join(f", {name}={value!r}" for name, value in said.items())

    def line(finding: Finding) -> str:
        attack = ON_ALL_LAYOUTS if finding.attack == BASELINE else finding.attack
        what = "detail" if finding.score is None else "score"
        report = f"tp.audit({spelled}, attacks=[{attack!r}]{given})"
        return (
            f"import tieproof as tp; {imports}print({report}.finding({finding.attack!r}, {finding.measure!r}).{what})"
        )

    return line


def called(evaluator: Evaluator | str) -> tuple[str | None, str]:
    """The expression for the evaluator in a call of the audit, None if there is none, and the imports before it."""
    if isinstance(evaluator, Command):
        return f"Command({evaluator.template!r})", "from tieproof.audit import Command; "
    name = evaluator if isinstance(evaluator, str) else name_of(evaluator)
    if name is None:
        return None, ""
    folder = folder_to_add(name.partition(".")[0].partition(":")[0])
    return repr(name), f"import sys; sys.path.insert(0, {folder!r}); " if folder else ""


def folder_to_add(package: str) -> str | None:
    """The folder of a package that another process, started in the same folder, would not find; None if it would."""
    with suppress(ImportError, ValueError):
        spec = find_spec(package)
        places = [] if spec is None else list(spec.submodule_search_locations or [spec.origin or ""])
        folder = Path(places[0]).resolve().parent if places and places[0] not in ("", "built-in", "frozen") else None
        if folder is not None and not is_searched(folder):
            return str(folder)
    return None


def is_searched(folder: Path) -> bool:
    """Whether any process that is started in the current folder searches a folder for imports."""
    own = [Path.cwd(), *map(Path, filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)))]
    installed = [Path(path).resolve() for path in (*sysconfig.get_paths().values(), site.getusersitepackages())]
    return folder in [path.resolve() for path in own] or folder in installed


def in_words(options: Options) -> dict[str, Any]:
    """The options without the choice of attacks, and with measures by their names."""
    found = {each.name: getattr(options, each.name) for each in fields(options) if each.name not in CHOSEN}
    if isinstance(found["measure"], Mapping):
        found["measure"] = {name: str(measure) for name, measure in found["measure"].items()}
    elif isinstance(found["measure"], Measure):
        found["measure"] = str(found["measure"])
    return found


def can_be_written(value: Any) -> bool:
    """Whether reading the `repr` of a value gives an equal value.

    >>> can_be_written({"batch_size": [1, 64]}), can_be_written({"sort": [sorted]})
    (True, False)
    """
    try:
        return bool(ast.literal_eval(repr(value)) == value)
    except (ValueError, SyntaxError):
        return False


LONGEST_LIMIT = 10**6
"""The longest time limit in seconds: the clocks of the system overflow somewhere, and a limit of NaN never passes."""

FEWEST = 4 * CLASSES
"""The fewest items and queries, so that each class has at least two in every draw."""

FIRST = LAYOUTS["shuffled"]
"""The layout on which the evaluator must give random embeddings a number."""

UNSEEN = 1000
"""The number of a board that no attack uses."""

MUCH = 5.0
"""How many standard deviations above random embeddings on other labels a system that knows the labels must score."""


def examined(evaluator: Evaluator | str, options: Options, progress: bool) -> AuditReport:
    """Audit an evaluator; `tieproof.audit` returns this report."""
    check(options)
    with calling(evaluator, options) as calls:
        wanted = chosen(options, calls.convention)
        examination = Examination(calls.convention, options, calls.call, calls.anew)
        examination.trials = sum(each.kind == "blind" for each in ATTACKS.values()) * (len(LAYOUTS) + 1)
        bar = progress_bar(len(wanted) + 1, "attacks", 1) if progress else nullcontext(lambda _: None)
        with bar as advance:
            findings = list(run(examination, wanted, advance))
        steady = not findings or all(each.verdict.harmless for each in findings) or is_steady(examination)
    line = reproducing(evaluator, options) if steady else lambda _: ""
    return AuditReport(
        evaluator=title(evaluator),
        takes=calls.convention.takes,
        seed=options.seed,
        findings=[replace(finding, reproduce=line(finding)) for finding in findings],
        items=options.items,
        queries=options.items if calls.convention.kind == "leave-one-out" else options.queries,
        power=powers(examination),
    )


def check(options: Options) -> None:
    """Raise InputError for options out of range, before the evaluator is called."""
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
    check_whole("items", options.items, least=FEWEST)
    check_whole("queries", options.queries, least=FEWEST)


class Calls(NamedTuple):
    """The convention of an evaluator, a function that calls it, and one that calls it in a new process (or None)."""

    convention: Convention
    call: Call
    anew: Call | None = None


@contextmanager
def calling(evaluator: Evaluator | str, options: Options) -> Iterator[Calls]:
    """The functions that call the evaluator, in this process or in a separate one."""
    seconds = options.time_limit
    with ending_by_signals(again=True) if options.isolate or isinstance(evaluator, Command) else nullcontext():
        if options.isolate:
            from tieproof.audit.isolation import Isolated

            isolated = Isolated(importable(evaluator), options.takes)
            try:
                convention = CONVENTIONS[isolated.convention()]
                yield Calls(convention, patient(isolated, seconds), patient(isolated.anew, seconds))
            finally:
                isolated.close()
            return
        function = load(evaluator) if isinstance(evaluator, str) else evaluator
        files = isinstance(function, Command)
        convention = CONVENTIONS["files"] if files else convention_of(function, options.takes)

        def call(case: Case, settings: Mapping[str, Any], seconds: float) -> Outcome:
            return attempt(function, convention, case, settings, seconds)

        yield Calls(convention, patient(call, seconds))


def importable(evaluator: Evaluator | str) -> str:
    """The name by which another process imports the evaluator."""
    name = evaluator if isinstance(evaluator, str) else name_of(evaluator)
    if name is None:
        raise InputError(
            "The evaluator has no name by which a separate process could import it. Define it at the top level of a "
            "module, or leave out isolate; a Command runs in a separate process anyway."
        )
    return name


def run(examination: Examination, attacks: Sequence[Attack], advance: Callable[[int], None]) -> Iterator[Finding]:
    """The findings on random embeddings themselves, then the worst finding of each attack on each measure."""
    first = examination.baseline(FIRST)
    if isinstance(first, Outcome):
        check_answer(examination, first)
        advance(1)
        yield from examination.failed(BASELINE, first, "On the layout 'shuffled'")
        return
    check_limits(first, examination.options.limits)
    examination.takes_other_sizes = not examination.at_random(examination.board(FIRST, 1)).problem
    yield from of_random_embeddings(first)
    advance(1)
    if all(math.isnan(luck.mean) for luck in first.values()):
        return
    found: dict[tuple[str, str], list[Finding]] = {}
    for attack in attacks:
        for finding in attack.run(examination):
            found.setdefault((finding.attack, finding.measure), []).append(finding)
        advance(1)
    yield from map(worst, found.values())


def check_answer(examination: Examination, first: Outcome) -> None:
    """Raise InputError if the evaluator refuses random embeddings or returns no number for them."""
    if first.problem == "refused":
        raise InputError(
            f"The evaluator refuses random embeddings ({first.message}). It was called with "
            f"{examination.convention.takes}; pass takes if it expects other arguments."
        )
    if first.message.startswith(RETURNED):
        raise InputError(
            f"The evaluator cannot be audited: for random embeddings {first.message}. Pass a function that extracts "
            "the number, such as lambda *given: evaluator(*given)[0]."
        )


def check_limits(first: Mapping[str, Luck], limits: tuple[float, float] | None) -> None:
    """Raise InputError if even random embeddings score outside the limits."""
    for name, luck in first.items():
        if limits and not math.isnan(luck.mean) and not limits[0] - 1e-6 <= luck.mean <= limits[1] + 1e-6:
            raise InputError(
                f"The evaluator gives {luck.mean:.6g} ({name}) for random embeddings, outside the limits "
                f"{limits[0]:g} and {limits[1]:g}. Pass the range of its numbers, such as limits=(0, 100) "
                "(--limits 0,100) for percent, or limits=None (--limits none) if they have no range.",
                "limits",
            )


def of_random_embeddings(first: Mapping[str, Luck]) -> Iterator[Finding]:
    """Findings on the scores of random embeddings: they are NaN, or all the same."""
    for name, luck in first.items():
        seen = f"{luck.size} random embeddings"
        if math.isnan(luck.mean):
            yield Finding(BASELINE, name, Verdict.NOT_A_NUMBER, luck.mean, detail=f"{seen} score NaN.")
        elif not luck.std:
            detail = f"{seen} all score {luck.mean:.4f}."
            yield Finding(BASELINE, name, Verdict.ALWAYS_THE_SAME, luck.mean, luck.mean, 0.0, 0.0, detail)


def is_steady(examination: Examination) -> bool:
    """Whether random and tied data score the same when called again, and the evaluator remembers nothing."""
    board = examination.board(FIRST, 1)
    before, again = examination.at_random(board), examination.score(examination.random_case(board))
    tied_case = data_case(examination, "tied")
    tied = examination.score(tied_case)
    return same(before, again) and same(tied, examination.score(tied_case)) and not remembers(examination)


def remembers(examination: Examination) -> bool:
    """Whether the evaluator remembers scores by their labels.

    A system that knows the labels is scored on new labels, then random embeddings on the same labels. An evaluator
    that remembers gives both the same number. So does one that looks only at the labels, but its number is then not
    much larger than on other labels.
    """
    case = examination.random_case(examination.board(FIRST, UNSEEN))
    known = examination.score(perfect_case(examination, case))
    if not same(known, examination.score(case)):
        return False
    others = [examination.at_random(examination.board(FIRST, number)) for number in range(1, LOOKS[0] + 1)]
    for name, value in known.values.items():
        luck = Luck.of([other.values.get(name, math.nan) for other in others])
        if abs(value - luck.mean) > MUCH * luck.std + rounding(luck.mean):
            return True
    return False


def same(one: Outcome, other: Outcome) -> bool:
    """Whether two outcomes have the same numbers."""
    return not any(differ(value, other.values.get(name, math.nan)) for name, value in one.values.items())


def powers(examination: Examination) -> dict[str, float]:
    """For each measure, the gain that would hardly have been missed, on whatever layout."""
    found: dict[str, float] = {}
    for (_, times), lucks in examination.baselines.items():
        for name, luck in lucks.items() if times == 1 and isinstance(lucks, dict) else ():
            if not math.isnan(luck.mean):
                found[name] = max(found.get(name, 0.0), power(luck))
    return found


def title(evaluator: Evaluator | str) -> str:
    """The name of the evaluator in the report."""
    if isinstance(evaluator, str):
        return evaluator
    if isinstance(evaluator, Command):
        return evaluator.template
    return name_of(evaluator) or str(getattr(evaluator, "__qualname__", type(evaluator).__name__))
