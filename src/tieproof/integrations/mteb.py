"""Tasks of MTEB whose scores include the interval of every measure, next to MTEB's own number (extra `mteb`).

The scores of `mteb.evaluate(model, with_intervals(task))` include `ndcg_at_10_lower` and so on; `TieIntervals` is the
mixin for tasks of your own. `write_qrels` saves the judgments for `tieproof mteb predictions/`.
"""

from importlib.util import find_spec

from tieproof.errors import InputError, MissingExtraError

if find_spec("mteb") is None:
    raise MissingExtraError("tieproof.integrations.mteb", "mteb")

import copy
import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FunctionType
from typing import Any, get_args

import mteb
import numpy as np
from mteb._evaluators.retrieval_metrics import evaluate_abstention
from mteb.abstasks import AbsTaskRetrieval

from tieproof.evaluation.intervals import Bound
from tieproof.integrations.mteb_lists.files import CONVENTIONS, Conventions, Judgments, Lists, file_of
from tieproof.integrations.mteb_lists.scores import ListScores, name_of, names_at
from tieproof.measures import parse
from tieproof.whole_files import atomic_write

__all__ = ["TieIntervals", "with_intervals", "write_qrels"]


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
        self,
        scores: dict[str, dict[str, float]],
        qrels: Judgments,
        results: Lists,
        hf_split: str,
        hf_subset: str,
    ) -> dict[str, float]:
        """Return what the task adds by itself, the interval of each measure, and each nAUC of expected values."""
        conventions = self.conventions_of(hf_split, hf_subset)

        def of_instructions(
            qrels: Judgments, results: Lists, changed: Mapping[str, Sequence[str]], k_values: Sequence[int]
        ) -> dict[str, Any]:
            """The scores of `evaluate_p_mrr_change`, to which a task passes the changed documents, with intervals."""
            found: dict[str, Any] = theirs(qrels, results, changed, k_values)
            for name in ("og", "changed"):
                part = {query: each for query, each in results.items() if query.endswith("-og") is (name == "og")}
                found[name] |= _intervals(_scored(part, qrels, k_values, conventions))
            return {**found, **_p_mrr(results, changed)}

        of_task: Any = super().task_specific_scores
        if (theirs := of_task.__func__.__globals__.get("evaluate_p_mrr_change")) is not None:
            of_task = _with_global(of_task, "evaluate_p_mrr_change", of_instructions)
        own = of_task(scores, qrels, results, hf_split=hf_split, hf_subset=hf_subset)
        scored = _scored(results, qrels, self.k_values, conventions)
        return {**own, **_intervals(scored), **_abstention(scored, results, self.skip_first_result)}

    def conventions_of(self, hf_split: str, hf_subset: str) -> Conventions:
        """How the lists of this split are treated; MTEB has already removed identical ids from them."""
        data = self.dataset[hf_split] if hf_subset not in self.dataset else self.dataset[hf_subset][hf_split]
        ranked = data["top_ranked"]
        candidates = len(data["corpus"]) if ranked is None else max(map(len, ranked.values()), default=0)
        longest = self._top_k - self.ignore_identical_ids if candidates > self._top_k else None
        return Conventions(longest, skip_first_result=self.skip_first_result)


def _scored(results: Lists, qrels: Judgments, k_values: Sequence[int], conventions: Conventions) -> ListScores:
    """The lists, scored by all measures that MTEB prints."""
    scored = ListScores([parse(name) for name in names_at(k_values).values()], conventions)
    scored.add(results, qrels)
    return scored


def _intervals(scored: ListScores) -> dict[str, float]:
    """The interval of each measure, by MTEB's names of measures with the bounds' names behind them."""
    return {
        f"{name_of(parse(ours))}_{bound}": getattr(estimate, bound)
        for ours, estimate in scored.estimates().items()
        for bound in get_args(Bound)
    }


def _abstention(scored: ListScores, results: Lists, skip_first_result: bool) -> dict[str, float]:
    """MTEB's nAUC of the expected values; sorted, so that its floating-point sums are in one order."""
    queries = sorted(scored.queries)
    scores = {query: dict(enumerate(sorted(results[query].values(), reverse=True))) for query in queries}
    if skip_first_result:
        scores = {query: {rank: each[rank] for rank in each if rank} for query, each in scores.items()}
    values = {
        name_of(parse(ours)): [found[query] for query in queries]
        for ours, found in scored.expected().items()
        if not ours.startswith("Success")  # as in MTEB
    }
    found = evaluate_abstention(scores, values)
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


def write_qrels(task: Any, folder: str | os.PathLike[str]) -> Path:
    """Write the judgments of a task to folder/{Task}_qrels.json, for `tieproof mteb predictions/ --qrels folder/`.

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
    _load(task)
    content = {CONVENTIONS: _conventions_of(task)._asdict()} | {
        subset: {split: data["relevant_docs"] for split, data in splits.items()}
        for subset, splits in task.dataset.items()
    }
    path = file_of(Path(folder), task.metadata.name)
    with atomic_write(path) as unfinished:
        unfinished.write_text(json.dumps(content), encoding="utf-8")
    return path


def _load(task: Any) -> None:
    """Load the data of a task unless it is loaded, and convert it to the current format."""
    if not task.data_loaded:
        task.load_data()
    task.convert_v1_dataset_format_to_v2(None)


def _conventions_of(task: Any) -> Conventions:
    """How a task treats the lists in its predictions."""
    return Conventions(max(task.k_values), task.ignore_identical_ids, task.skip_first_result)


def library_conventions(name: str) -> Conventions | None:
    """How the task of MTEB with this name treats the lists in its predictions; None if there is none that ranks."""
    try:
        task = mteb.get_task(name)
    except KeyError:
        return None
    return _conventions_of(task) if isinstance(task, AbsTaskRetrieval) else None


def library_judgments(name: str, subset: str, split: str) -> Judgments:
    """The judgments of a split of the task of MTEB with this name; any error of the libraries that load its data."""
    task = mteb.get_task(name, eval_splits=[split], hf_subsets=[subset])
    _load(task)
    grades: Judgments = task.dataset[subset][split]["relevant_docs"]
    return grades
