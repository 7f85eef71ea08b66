"""The line of Python that reproduces a finding in another process."""

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
from tieproof.trials.audit.conventions import EvaluatorFunction
from tieproof.trials.audit.examination import Options
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
