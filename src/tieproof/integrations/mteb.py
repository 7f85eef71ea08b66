"""Tasks of MTEB whose scores include the interval of every measure, next to MTEB's own number (extra `mteb`).

The scores of `mteb.evaluate(model, with_intervals(task))` include `ndcg_at_10_lower` and so on; `TieIntervals` is the
mixin for tasks of your own. `SavedPredictions` is a model that returns the lists which another one found, and
`write_qrels` saves the judgments of a task for `tieproof run`.

For each query, MTEB keeps the `max(k_values)` documents with the largest scores and passes these lists to
pytrec_eval, which sorts equal scores by the name of the document. Its means are over the queries with a list; a query
without any document scores 0, and so does a query whose judgments are all 0.
"""

from importlib.util import find_spec

from tieproof.errors import InputError, MissingExtraError

if find_spec("mteb") is None:
    raise MissingExtraError("tieproof.integrations.mteb", "mteb")

import copy
import json
import math
import os
import warnings
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import FunctionType
from typing import Any, get_args

import numpy as np
from mteb._evaluators.retrieval_metrics import evaluate_abstention
from mteb.abstasks import AbsTaskRetrieval
from mteb.models import ModelMeta

from tieproof import evaluate_run
from tieproof.errors import InputWarning
from tieproof.evaluation.evaluated import mean
from tieproof.inputs.readers.json_lists import read_dictionary
from tieproof.inputs.readers.mteb import MODEL, contents, of_split
from tieproof.kit import Bound, FloatArray, atomic_write

__all__ = ["SavedPredictions", "TieIntervals", "with_intervals", "write_qrels"]

NAMES = {"ndcg": "nDCG", "map": "AP", "recall": "R", "precision": "P", "mrr": "RR", "hit_rate": "Success"}
"""The measures that MTEB prints at each of its `k_values`: MTEB's names and tieproof's names."""

Documents = Mapping[str, float]
Lists = Mapping[str, Documents]  # the score of each listed document, by query: `results` of MTEB

Judgments = Mapping[str, Mapping[str, int]]
"""The grade of each judged document, by query: `qrels` or `relevant_docs` of MTEB."""


class TieIntervals(AbsTaskRetrieval):  # type: ignore[misc]
    """A mixin for tasks of retrieval and reranking that adds the interval of each measure to their scores.

    For each measure that MTEB prints at the task's `k_values` it adds a lower, an expected and an upper value, such
    as `ndcg_at_10_lower`, `_expected` and `_upper`. They are over all orderings of documents with equal scores, and
    over all continuations of the last tie of a truncated list. The measures are ndcg, map, recall, precision, mrr and
    hit_rate. If no scores are equal, the three values are the number that MTEB prints, which MTEB rounds to five
    decimals (except mrr).

    For each nAUC (how well the scores of a query tell how good its list is; arXiv 2402.12997), such as
    `nauc_ndcg_at_10_max`, it adds `nauc_ndcg_at_10_max_of_expected`: the nAUC of the queries' expected values, which
    no order of tied documents changes. An nAUC is a ratio in which values of all queries are sorted, so that no
    interval over orderings is known.

    Tasks that follow instructions (arXiv 2403.15246) also get the interval of `p-MRR`, and in their `og` and
    `changed` those of each measure. The bounds of `p-MRR` treat every document whose relevance changed on its own: if
    several of them are tied with each other, all orderings are inside, but perhaps none reaches a bound.

    Name the mixin before the base class of the task: `class MyTask(TieIntervals, AbsTaskRetrieval)`. For an existing
    task use `with_intervals`. Scores that a task adds by itself are kept.

    Raises InputError if a score is NaN or infinite.
    """

    def task_specific_scores(
        self, scores: dict[str, dict[str, float]], qrels: Judgments, results: Lists, hf_split: str, hf_subset: str
    ) -> dict[str, float]:
        """Return what the task adds by itself, the interval of each measure, and each nAUC of expected values."""
        longest, skips = self._longest(hf_split, hf_subset), self.skip_first_result

        def of_instructions(
            qrels: Judgments, results: Lists, changed: Mapping[str, Sequence[str]], k_values: Sequence[int]
        ) -> dict[str, Any]:
            """The scores of `evaluate_p_mrr_change`, to which a task passes the changed documents, with intervals."""
            found: dict[str, Any] = theirs(qrels, results, changed, k_values)
            for name in ("og", "changed"):
                part = {query: each for query, each in results.items() if query.endswith("-og") is (name == "og")}
                found[name] |= _intervals(_scored(part, qrels, k_values, longest, skips)[1])
            return {**found, **_p_mrr(results, changed)}

        of_task: Any = super().task_specific_scores
        if (theirs := of_task.__func__.__globals__.get("evaluate_p_mrr_change")) is not None:
            of_task = _with_global(of_task, "evaluate_p_mrr_change", of_instructions)
        own = of_task(scores, qrels, results, hf_split=hf_split, hf_subset=hf_subset)
        queries, values = _scored(results, qrels, self.k_values, longest, skips)
        return {**own, **_intervals(values), **_abstention(queries, values, results, skips)}

    def _longest(self, hf_split: str, hf_subset: str) -> int:
        """The number of documents from which on a list of this split was cut off, without identical ids; 0: none was.

        MTEB has already removed identical ids from the lists.
        """
        data = self.dataset[hf_split] if hf_subset not in self.dataset else self.dataset[hf_subset][hf_split]
        ranked = data["top_ranked"]
        candidates = len(data["corpus"]) if ranked is None else max(map(len, ranked.values()), default=0)
        return max(self._top_k - self.ignore_identical_ids, 1) if candidates > self._top_k else 0


def _scored(
    results: Lists, qrels: Judgments, k_values: Sequence[int], longest: int, skips_first: bool
) -> tuple[list[str], dict[str, FloatArray]]:
    """The queries with a list and judgments, and the estimates of all measures that MTEB prints, (4, Q) by its name.

    longest : the number of documents from which on a list was cut off; 0: none was
    skips_first : whether the first document of every list is left out, over all orders of those tied at the top
    """
    names = {f"{theirs}_at_{k}": f"{ours}@{k}" for theirs, ours in NAMES.items() for k in k_values}
    queries = sorted(query for query in results if qrels.get(query))
    choices = [_firsts(results[query], qrels[query]) if skips_first else [(None, 1.0)] for query in queries]
    most = max(map(len, choices), default=0)
    weights = np.zeros((most, len(queries)))
    values = np.zeros((most, len(names), 4, len(queries)))
    for which in range(most):
        lists = {}
        for place, (query, choice) in enumerate(zip(queries, choices, strict=True)):
            first, weights[which, place] = choice[which] if which < len(choice) else (choice[0][0], 0.0)
            lists[query] = {name: score for name, score in results[query].items() if name != first}
        if any(lists.values()):
            options: dict[str, Any] = {"measures": [*names.values()], "missing": "zero", "empty": "zero"}
            options["truncated"] = max(longest - skips_first, 1) if longest else False
            with warnings.catch_warnings():  # about whole runs, of which the task knows what was cut off
                warnings.simplefilter("ignore", InputWarning)
                result = evaluate_run({query: qrels[query] for query in queries}, lists, **options)
            values[which] = [*result.evaluated.per_query.values()]
    return queries, dict(zip(names, _mixed(values, weights), strict=True)) if most else {}


def _firsts(documents: Documents, grades: Mapping[str, int]) -> list[tuple[str | None, float]]:
    """The possible first documents of a list: for each grade among those tied at the top, one document and its share.

    >>> _firsts({"a": 0.5, "b": 0.5, "c": 0.5, "d": 0.1}, {"a": 1})
    [('b', 0.6666666666666666), ('a', 0.3333333333333333)]
    >>> _firsts({}, {"a": 1})
    [(None, 1.0)]
    """
    top = max(documents.values(), default=math.nan)
    tied = [name for name, score in documents.items() if score == top]
    if not tied:  # or NaN is the largest, which the evaluation refuses
        return [(None, 1.0)]
    by_grade: dict[int, list[str]] = {}
    for name in tied:
        by_grade.setdefault(max(grades.get(name, 0), 0), []).append(name)
    return [(names[0], len(names) / len(tied)) for _, names in sorted(by_grade.items())]


def _mixed(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Mix the estimates of P alternatives (P, M, 4, Q) with probabilities (P, Q) into one array (M, 4, Q).

    An alternative with probability 0 repeats another one.
    """
    lower, expected, upper, variance = np.moveaxis(values, 2, 0)
    shares = weights[:, None, :]
    lowest, highest = lower.min(axis=0), upper.max(axis=0)
    middle = np.clip((shares * expected).sum(axis=0), lowest, highest)  # rounding could exceed the bounds
    spread = (shares * (variance + (expected - middle) ** 2)).sum(axis=0)
    return np.stack([lowest, middle, highest, spread], axis=1)


def _intervals(values: Mapping[str, FloatArray]) -> dict[str, float]:
    """The interval of each measure, by MTEB's names of measures with the bounds' names behind them."""
    means = {name: mean(each) for name, each in values.items()}
    return {f"{name}_{bound}": getattr(each, bound) for name, each in means.items() for bound in get_args(Bound)}


def _abstention(
    queries: Sequence[str], values: Mapping[str, FloatArray], results: Lists, skips_first: bool
) -> dict[str, float]:
    """MTEB's nAUC of the expected values; sorted, so that its floating-point sums are in one order.

    As in MTEB, there is none of the hit rate.
    """
    scores = {query: dict(enumerate(sorted(results[query].values(), reverse=True))) for query in queries}
    if skips_first:
        scores = {query: {rank: each[rank] for rank in each if rank} for query, each in scores.items()}
    without = {
        name: each[1].tolist() for name, each in values.items() if not name.startswith("hit_rate")
    }  # as in MTEB
    found = evaluate_abstention(scores, without)
    return {f"{name.replace('nAUC', 'nauc')}_of_expected": float(value) for name, value in found.items()}


def _p_mrr(results: Lists, changed: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Bounds and mean of p-MRR over the orders of tied documents; the two lists of a query are ordered independently.

    changed : for each query, the documents whose relevance its changed instruction changed
    """
    values = []
    for query, documents in changed.items():
        before, after = results.get(f"{query}-og"), results.get(f"{query}-changed")
        if before is None or after is None:  # MTEB warns, and leaves the query out
            continue
        each = [_change(_ranks(before, name), _ranks(after, name)) for name in documents]
        values.append([math.fsum(bound) / len(each) for bound in zip(*each, strict=True)])
    means = [math.fsum(sorted(bound)) / len(values) for bound in zip(*values, strict=True)]
    return {f"p-MRR_{bound}": value for bound, value in zip(("lower", "expected", "upper"), means, strict=True)}


def _ranks(documents: Mapping[str, float], name: str) -> range:
    """The ranks that a document may have; behind the end of the list if it is not in it, as in MTEB.

    >>> _ranks({"a": 0.9, "b": 0.5, "c": 0.5}, "c"), _ranks({"a": 0.9}, "c")
    (range(2, 4), range(2, 3))
    """
    if (score := documents.get(name)) is None:
        return range(len(documents) + 1, len(documents) + 2)
    above = sum(other > score for other in documents.values())
    return range(above + 1, above + 1 + sum(other == score for other in documents.values()))


def _change(before: range, after: range) -> tuple[float, float, float]:
    """Lowest, mean and highest change of a reciprocal rank: new / old - 1 if the rank improves, else 1 - old / new.

    >>> _change(range(2, 3), range(1, 2)), _change(range(2, 3), range(4, 5))
    ((-0.5, -0.5, -0.5), (0.5, 0.5, 0.5))
    """
    old, new = np.array(before, dtype=np.float64)[:, None], np.array(after, dtype=np.float64)
    values = np.where(new <= old, new / old - 1, 1 - old / new)
    return float(values[-1, 0]), math.fsum(values.ravel().tolist()) / values.size, float(values[0, -1])


def _with_global(method: Any, name: str, value: Any) -> Any:
    """A copy of a bound method for which a global variable of its module has another value."""
    function = method.__func__
    copied = FunctionType(
        function.__code__,
        {**function.__globals__, name: value},
        argdefs=function.__defaults__,
        closure=function.__closure__,
    )
    copied.__kwdefaults__ = function.__kwdefaults__
    return copied.__get__(method.__self__)


def with_intervals(task: Any) -> Any:
    """Return a copy of a task whose scores include the intervals of `TieIntervals`; loaded data is kept.

    task : a task of retrieval or reranking; it is not changed

    Raises InputError for other tasks, which rank nothing.

    >>> import mteb
    >>> task = with_intervals(mteb.get_task("SciFact"))
    >>> task.metadata.name, isinstance(task, TieIntervals)
    ('SciFact', True)
    """
    _check_ranks(task)
    if isinstance(task, TieIntervals):
        return task
    made, kind = copy.copy(task), type(task)
    attributes = {"__module__": kind.__module__, "__doc__": kind.__doc__}
    made.__class__ = type(kind.__name__, (TieIntervals, kind), attributes)
    return made


def _check_ranks(task: Any) -> None:
    if not isinstance(task, AbsTaskRetrieval):
        raise InputError(
            f"task must be a task of retrieval or reranking of MTEB, not a {type(task).__name__}. Pass a task from "
            "mteb.get_task; other tasks rank nothing and can be passed to mteb.evaluate as they are.",
            "task",
        )


class SavedPredictions:
    """A model whose lists are those of saved predictions: to score them anew, without encoding anything.

    `mteb.evaluate(SavedPredictions("predictions"), with_intervals(task), cache=None)` returns the numbers of MTEB and
    the interval of each, as if they had been computed with the predictions. It has the name of the model that made
    the predictions: without `cache=None`, MTEB would return the results of that model that are in its cache.

    folder : the `prediction_folder` of `mteb.evaluate`, with files {Task}_predictions.json of one model

    Raises InputError if the folder has no such file, or a file does not contain lists of documents.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        paths = sorted(self.folder.glob("*_predictions.json"))
        if not paths:
            raise InputError(
                f"{folder} has no file that ends in _predictions.json. Pass prediction_folder= to mteb.evaluate, "
                "which writes them.",
                "folder",
            )
        model = _read(paths[0]).get(MODEL, {})
        known = {"name": model.get("model_name"), "revision": model.get("revision")}
        self.mteb_model_meta = ModelMeta.create_empty(overwrites={key: each for key, each in known.items() if each})

    def index(self, corpus: Any, **options: Any) -> None:
        """Do nothing: the lists are saved."""

    def search(self, queries: Any, *, task_metadata: Any, hf_split: str, hf_subset: str, **options: Any) -> Lists:
        """Return the saved lists of a split."""
        path = self.folder / f"{task_metadata.name}_predictions.json"
        return of_split(_read(path), str(path), f"{hf_subset}/{hf_split}", "score")[0]


@lru_cache(maxsize=1)
def _read(path: Path) -> dict[str, Any]:
    """The lists of all splits of a task."""
    return read_dictionary(path)


def write_qrels(task: Any, folder: str | os.PathLike[str]) -> Path:
    """Write the judgments of a task to folder/{Task}_qrels.json, for `tieproof run`.

    task : a task of retrieval or reranking; its data is loaded if necessary
    folder : an existing folder

    Raises InputError for other tasks, and if the file cannot be written; an existing file is then left unchanged.

    >>> import tempfile
    >>> from mteb.mocks.mock_tasks import MockRetrievalTask
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_qrels(MockRetrievalTask(), folder).name
    'MockRetrievalTask_qrels.json'
    """
    _check_ranks(task)
    path = Path(folder) / f"{task.metadata.name}_qrels.json"
    with atomic_write(path) as unfinished:
        unfinished.write_text(json.dumps(contents(task)), encoding="utf-8")
    return path
