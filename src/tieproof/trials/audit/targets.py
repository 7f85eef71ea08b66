"""The evaluators that can be audited: a function, the name of one, or a command that reads TREC files.

Evaluators of other libraries are known by name, each called as its library documents; known.toml lists them. A name
is looked up before anything is imported, because a separate process may be the only one that imports it.
"""

import importlib
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.kit import Array, is_number
from tieproof.trials.audit.conventions import CONVENTIONS, Convention, Dicts, EvaluatorFunction, convention_of
from tieproof.trials.audit.outcomes import DEADLINE, MOST_LETTERS, described, timed_out, too_much_printed
from tieproof.trials.sandbox import limits
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
                status, exceeded = limits.run_program(
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
            if exceeded == limits.TOO_MUCH:
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


TABLE: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("known.toml").read_text("utf-8"))
OURS = "tieproof.compat."  # where the drop-ins are, which are named as what they stand for
# The name of the row for the measures of ir_measures, which are objects with names of their own.
MEASURE = "any measure"


class Known(NamedTuple):
    """What is known of an evaluator."""

    takes: str  # the convention of its wrapper
    says: str  # how the wrapper calls it, in words
    wrapper: EvaluatorFunction  # takes the evaluator and the arguments of the convention
    options: Mapping[str, Any]  # the parameters of the audit that are other than usual


def known_of(evaluator: EvaluatorFunction | str, takes: str | None = None) -> Known | None:
    """What is known of an evaluator or its name, unless it is to be called by another convention.

    >>> known_of("sklearn.metrics:average_precision_score").says
    "average_precision_score(relevance, scores), average='samples'"
    """
    if isinstance(evaluator, str):
        module, _, name = evaluator.partition(":")
    else:
        there: Any = evaluator if hasattr(evaluator, "__qualname__") else type(evaluator)
        module, name = str(there.__module__), there.__qualname__
    rows = TABLE["known"].get(module.partition(".")[0], {})
    if module.startswith(OURS):
        rows = {name: row for each in TABLE["known"].values() for name, row in each.items()}
    row = rows.get(name, rows.get(MEASURE))
    if row is None or takes not in (None, TABLE["calls"][row["call"]]["takes"]):
        return None
    call, given = TABLE["calls"][row["call"]], row.get("given", {})
    says = ", ".join([call["says"].format(name), *(f"{key}={value!r}" for key, value in given.items())])
    options = {key: call[key] for key in ("queries",) if key in call} | row.get("options", {})
    return Known(call["takes"], says, partial(CALLS[row["call"]], given), options)


def prepared(evaluator: EvaluatorFunction | str, takes: str | None) -> tuple[EvaluatorFunction, Convention]:
    """The function to call and its convention: a known evaluator in its wrapper, any other one with its tensors."""
    known = known_of(evaluator, takes)
    function = load(evaluator) if isinstance(evaluator, str) else evaluator
    if known:
        return partial(known.wrapper, function), CONVENTIONS[known.takes]
    convention = convention_of(function, takes)
    return (function if convention.written else WithTensors(function)), convention


class WithTensors:
    """A function that is called with arrays or, if only that works the first time, with tensors of torch."""

    def __init__(self, function: EvaluatorFunction) -> None:
        self.function = function
        self.tensors: bool | None = None

    def __call__(self, *given: Any, **settings: Any) -> Any:
        """What the function returns."""
        if self.tensors is None:
            try:
                answer, self.tensors = self.function(*given, **settings), False
            except Exception as error:
                with suppress(Exception):
                    answer, self.tensors = self.function(*map(_as_tensor, given), **settings), True
                if not self.tensors:
                    raise error from None
            return answer
        return self.function(*(map(_as_tensor, given) if self.tensors else given), **settings)


def _as_tensor(argument: Any) -> Any:
    """A tensor that shares the memory of an array; anything else as it is."""
    import torch

    return torch.from_numpy(argument) if isinstance(argument, np.ndarray) else argument


Given = Mapping[str, Any]


def _of_each_query(given: Given, function: Any, scores: Array, relevance: Array) -> Any:
    import torch

    rows = zip(torch.from_numpy(scores), torch.from_numpy(relevance), strict=True)
    return np.mean([float(function(*row, **given)) for row in rows])


def _of_all_pairs(given: Given, metric: Any, scores: Array, relevance: Array) -> Any:
    import torch

    made = metric(**given) if isinstance(metric, type) else metric
    made.reset()
    queries = torch.arange(len(scores)).repeat_interleave(scores.shape[1])
    made.update(torch.from_numpy(scores).flatten(), torch.from_numpy(relevance).flatten(), queries)
    return made.compute()


def _of_embeddings(given: Given, calculator: Any, embeddings: Array, labels: Array) -> Any:
    made = calculator(**given) if isinstance(calculator, type) else calculator
    with np.errstate(over="ignore"):  # what does not fit into float32 becomes infinite
        return made.get_accuracy(embeddings.astype(np.float32), labels)


def _of_ranx(given: Given, evaluate: Any, qrels: Dicts, run: Dicts) -> Any:
    import ranx

    relevant = {query: {name: 1 for name, grade in judged.items() if grade} for query, judged in qrels.items()}
    return evaluate(ranx.Qrels(relevant), ranx.Run(run), **given)


def _of_pytrec_eval(given: Given, evaluator: Any, qrels: Dicts, run: Dicts) -> Any:
    names = ("map", "ndcg", "recip_rank")
    values = evaluator(qrels, {*names}).evaluate(run).values()
    return {name: np.mean([each[name] for each in values]) for name in names}


def _of_beir(given: Given, evaluator: Any, qrels: Dicts, run: Dicts) -> Any:
    return {name: value for each in evaluator.evaluate(qrels, run, [10, 100]) for name, value in each.items()}


def _of_measures(given: Given, aggregate: Any, qrels: Dicts, run: Dicts) -> Any:
    from ir_measures import AP, RR, nDCG

    return aggregate([AP, nDCG, RR], qrels, run)


CALLS: dict[str, EvaluatorFunction] = {
    "of_samples": lambda given, function, scores, relevance: function(relevance, scores, **given),
    "of_each_query": _of_each_query,
    "of_all_pairs": _of_all_pairs,
    "of_embeddings": _of_embeddings,
    "of_ranx": _of_ranx,
    "of_pytrec_eval": _of_pytrec_eval,
    "of_beir": _of_beir,
    "of_measures": _of_measures,
    "of_measure": lambda given, measure, qrels, run: measure.calc_aggregate(qrels, run),
}
"""The wrappers; each takes the keyword arguments of a row, what it wraps, and the arguments of its convention."""
