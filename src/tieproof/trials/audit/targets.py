"""The evaluators that can be audited: a function, the name of one, or a command that reads TREC files."""

import importlib
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from typing import Any

from tieproof.errors import InputError
from tieproof.kit import is_number
from tieproof.trials.audit.conventions import EvaluatorFunction
from tieproof.trials.audit.outcomes import DEADLINE, MOST_LETTERS, described, timed_out, too_much_printed
from tieproof.trials.sandbox import runs
from tieproof.trials.sandbox.folders import size_by
from tieproof.trials.sandbox.processes import how

MEAN = "all"  # the name that trec_eval prints for the mean over all queries


def load(name: str) -> EvaluatorFunction:
    """Import the function named `package.module:function`; importing runs the code of its module.

    The current folder is added to the search path, so that modules in it are found now and later.

    >>> load("math:hypot")(3, 4)
    5.0
    """
    module_name, colon, path = name.partition(":")
    if not (module_name and colon and path):
        raise InputError(f"'{name}' does not name an evaluator: write package.module:function.")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        function: Any = importlib.import_module(module_name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise InputError(f"{module_name} cannot be imported: {described(error)}.") from error
    for part in path.split("."):
        if not hasattr(function, part):
            raise InputError(f"{module_name} has no '{path}': write package.module:function.")
        function = getattr(function, part)
    if not callable(function):
        raise InputError(f"'{name}' is of type {type(function).__name__}, but must be a function.")
    return function  # type: ignore[no-any-return]


def name_of(evaluator: EvaluatorFunction) -> str | None:
    """The name by which another process can import the same function; None if it has no such name.

    >>> import math
    >>> name_of(math.hypot), name_of(lambda x: x)
    ('math:hypot', None)
    """
    module, path = getattr(evaluator, "__module__", None), getattr(evaluator, "__qualname__", None)
    there: Any = sys.modules.get(module or "")
    if there is None or path is None or module == "__main__":
        return None
    for part in path.split("."):
        there = getattr(there, part, None)
    return f"{module}:{path}" if there is evaluator else None


class Command:
    """An evaluator that is a program: it reads a qrels file and a run file, and prints numbers.

    template : such as `trec_eval -m map {qrels} {run}`. No shell interprets it, and paths are inserted unquoted. If
        you need a shell, pass the paths as the arguments "$1" and "$2" of its script: `sh -c '…' sh {qrels} {run}`

    The program's numbers are read from lines `measure all number`, as trec_eval prints them; without such lines, its
    number is the last one that it prints.
    """

    def __init__(self, template: str) -> None:
        for field in ("{qrels}", "{run}"):
            if field not in template:
                raise InputError(f"The command has no {field}; put it where the path of that file goes: {template}")
        try:
            self.words = shlex.split(template)
        except ValueError as error:
            raise InputError(f"The command cannot be split into words ({error}): {template}") from error
        self.template = template

    def __call__(self, qrels: str, run: str) -> float | dict[str, float]:
        """Run the program on two files; ValueError with the end of its output if it fails.

        All processes that the program started are ended with it. In an audit the time limit of a call applies.
        """
        paths = {"qrels": qrels, "run": run}
        words = [re.sub(r"\{(qrels|run)\}", lambda field: paths[field[1]], word) for word in self.words]
        deadline = DEADLINE.get()
        seconds = math.inf if deadline is None else deadline.moment - time.monotonic()
        with tempfile.TemporaryFile() as printed:
            try:
                status, exceeded = runs.run(
                    words,
                    os.environ,
                    None,
                    seconds,
                    lambda _: size_by(os.fstat(printed.fileno())) > MOST_LETTERS,
                    stdout=printed,
                    stderr=subprocess.STDOUT,
                )
            except OSError as error:
                raise InputError(f"The command cannot be run: {words[0]}: {error.strerror}.") from error
            if exceeded == runs.TOO_MUCH:
                raise too_much_printed()
            if deadline is not None and exceeded:
                raise timed_out(deadline.seconds)
            printed.seek(0)
            text = printed.read().decode(errors="replace")
        if status is None or status < 0:
            raise ChildProcessError(f"the command ended {how(status)}")
        if status:
            raise ValueError(f"the command exited with status {status}: {text.strip()[-200:]}")
        return _numbers_of(text)


def _numbers_of(text: str) -> float | dict[str, float]:
    r"""The numbers that a command prints.

    >>> _numbers_of("map\tall\t0.25\nP_10\tall\t0.1\n"), _numbers_of("the mean is 0.5")
    ({'map': 0.25, 'P_10': 0.1}, 0.5)
    """
    rows = [line.split() for line in text.splitlines()]
    means = {row[0]: float(row[2]) for row in rows if len(row) == 3 and row[1] == MEAN and is_number(row[2])}
    if means:
        return means
    numbers = [word for word in text.split() if is_number(word)]
    if not numbers:
        raise ValueError(f"the command printed no number: {text.strip()[-200:]!r}")
    return float(numbers[-1])
