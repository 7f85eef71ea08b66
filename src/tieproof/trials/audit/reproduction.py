"""The line of Python that reproduces a finding in another process, if the evaluator gives the same numbers again."""

import ast
import os
import site
import sysconfig
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tieproof.measures import Measure
from tieproof.trials.audit.cases import LAYOUTS, SHUFFLED
from tieproof.trials.audit.changes import data_case
from tieproof.trials.audit.conventions import EvaluatorFunction
from tieproof.trials.audit.examination import Examination, Options
from tieproof.trials.audit.luck import LOOKS, Luck, rounding
from tieproof.trials.audit.outcomes import Outcome
from tieproof.trials.audit.systems import filled
from tieproof.trials.audit.targets import Command, name_of
from tieproof.trials.findings import BASELINE, Finding

ON_ALL_LAYOUTS = "zeros"  # an attack that scores random embeddings on every layout


def reproducing(evaluator: EvaluatorFunction | str, options: Options) -> Callable[[Finding], str]:
    """A function that makes the line of Python for a finding; the line is empty if none would reproduce it."""
    spelled, imports = _called(evaluator)
    defaults = _as_plain_values(Options())
    changed = {name: value for name, value in _as_plain_values(options).items() if value != defaults[name]}
    if spelled is None or not all(map(_can_be_written, changed.values())):
        return lambda finding: ""
    given = "".join(f", {name}={value!r}" for name, value in changed.items())

    def line(finding: Finding) -> str:
        attack = ON_ALL_LAYOUTS if finding.attack == BASELINE else finding.attack
        what = "detail" if finding.score is None else "score"
        report = f"tp.audit({spelled}, attacks=[{attack!r}]{given})"
        return (
            f"import tieproof as tp; {imports}print({report}.finding({finding.attack!r}, {finding.measure!r}).{what})"
        )

    return line


def _called(evaluator: EvaluatorFunction | str) -> tuple[str | None, str]:
    """The expression for the evaluator in a call of the audit, None if there is none, and the imports before it."""
    if isinstance(evaluator, Command):
        return f"Command({evaluator.template!r})", "from tieproof.trials.audit import Command; "
    name = evaluator if isinstance(evaluator, str) else name_of(evaluator)
    if name is None:
        return None, ""
    folder = _folder_to_add(name.partition(".")[0].partition(":")[0])
    return repr(name), f"import sys; sys.path.insert(0, {folder!r}); " if folder else ""


def _folder_to_add(package: str) -> str | None:
    """The folder of a package that another process, started in the same folder, would not find; None if it would."""
    with suppress(ImportError, ValueError):
        spec = find_spec(package)
        places = [] if spec is None else list(spec.submodule_search_locations or [spec.origin or ""])
        folder = Path(places[0]).resolve().parent if places and places[0] not in ("", "built-in", "frozen") else None
        if folder is not None and not _is_searched(folder):
            return str(folder)
    return None


def _is_searched(folder: Path) -> bool:
    """Whether any process that is started in the current folder searches a folder for imports."""
    own = [Path.cwd(), *map(Path, filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)))]
    installed = [Path(path).resolve() for path in (*sysconfig.get_paths().values(), site.getusersitepackages())]
    return folder in [path.resolve() for path in own] or folder in installed


def _as_plain_values(options: Options) -> dict[str, Any]:
    """The options without the choice of attacks, and with measures by their names."""
    values = {field.name: getattr(options, field.name) for field in fields(options)}
    del values["attacks"], values["skip"]
    if isinstance(values["measure"], Mapping):
        values["measure"] = {name: str(measure) for name, measure in values["measure"].items()}
    elif isinstance(values["measure"], Measure):
        values["measure"] = str(values["measure"])
    return values


def _can_be_written(value: Any) -> bool:
    """Whether reading the `repr` of a value gives an equal value.

    >>> _can_be_written({"batch_size": [1, 64]}), _can_be_written({"sort": [sorted]})
    (True, False)
    """
    try:
        return bool(ast.literal_eval(repr(value)) == value)
    except (ValueError, SyntaxError):
        return False


UNSEEN = 1000  # the number of a board that no attack uses
# How many standard deviations above random embeddings on other labels a system that knows the labels must score.
MUCH = 5.0


def begin(examination: Examination) -> None:
    """Score random data, tied data and zeros, which must score the same at the end of the audit."""
    board, in_order = examination.board(SHUFFLED, 1), examination.board(LAYOUTS["largest first"])
    zeros = examination.blind_case(in_order, filled(0.0), examination.random("steadiness"))
    examination.begun.append((examination.random_case(board), examination.at_random(board)))
    examination.begun += [(case, examination.score(case)) for case in (data_case(examination, "tied"), zeros)]


def is_steady(examination: Examination) -> bool:
    """Whether all cases score what they scored at first, and again, and the evaluator remembers nothing."""
    again = (_same(examination, outcome, examination.score(case)) for case, outcome in 2 * examination.begun)
    return examination.is_steady and all(again) and not _remembers(examination)


def _same(examination: Examination, one: Outcome, other: Outcome) -> bool:
    return one.problem == other.problem and examination.same(one, other)


def _remembers(examination: Examination) -> bool:
    """Whether the evaluator remembers scores by their labels.

    A system that knows the labels is scored on new labels, then random embeddings on the same labels. Whoever
    remembers gives both the same number. So does an evaluator that looks only at the labels, but its number is
    then not much larger than on other labels.
    """
    if examination.convention.kind == "recall":  # which has no labels
        return False
    case = examination.random_case(examination.board(SHUFFLED, UNSEEN))
    known = examination.score(examination.perfect_case(case))
    if not _same(examination, known, examination.score(case)):
        return False
    outcomes = [examination.at_random(examination.board(SHUFFLED, number)) for number in range(1, LOOKS[0] + 1)]
    for name, value in known.values.items():
        luck = Luck.of([outcome.value(name) for outcome in outcomes])
        if abs(value - luck.mean) > MUCH * luck.std + rounding(luck.mean):
            return True
    return False
