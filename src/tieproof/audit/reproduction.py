"""Lines of Python that reproduce a finding in another process."""

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

from tieproof.audit.conventions import Evaluator
from tieproof.audit.examination import Options
from tieproof.audit.report import BASELINE
from tieproof.audit.targets import Command, name_of
from tieproof.audit.verdicts import Finding
from tieproof.measures import Measure

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
