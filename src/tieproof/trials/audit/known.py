"""Evaluators of other libraries that are known by name, each called as its library documents; known.toml lists them.

A name is looked up before anything is imported, because a separate process may be the only one that imports it.
"""

import tomllib
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tieproof.kit import Array
from tieproof.trials.audit.conventions import CONVENTIONS, Convention, Dicts, EvaluatorFunction, convention_of
from tieproof.trials.audit.targets import load

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


def _of_samples(given: Given, function: Any, scores: Array, relevance: Array) -> Any:
    return function(relevance, scores, **given)


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
    "of_samples": _of_samples,
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
