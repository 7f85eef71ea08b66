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
import os
from pathlib import Path
from typing import Any, get_args

import mteb
from mteb.abstasks import AbsTaskRetrieval

from tieproof.evaluation.intervals import Bound
from tieproof.integrations.mteb_lists.files import CONVENTIONS, Conventions, Judgments, Lists, file_of
from tieproof.integrations.mteb_lists.scores import ListScores, names_at
from tieproof.measures import parse
from tieproof.whole_files import atomic_write

__all__ = ["TieIntervals", "with_intervals", "write_qrels"]


class TieIntervals(AbsTaskRetrieval):  # type: ignore[misc]
    """A mixin for tasks of retrieval and reranking that adds the interval of each measure to their scores.

    For each measure that MTEB prints at the task's `k_values` it adds a lower, an expected and an upper value, such
    as `ndcg_at_10_lower`, `_expected` and `_upper`. They are over all orderings of documents with equal scores, and
    over all continuations of the last tie of a truncated list. The measures are ndcg, map, recall, precision, mrr and
    hit_rate, but not nAUC. If no scores are equal, the three values are the number that MTEB prints, which MTEB
    rounds to five decimals (except mrr).

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
        """Return the scores that the task adds by itself, and the interval of each measure."""
        own = super().task_specific_scores(scores, qrels, results, hf_split=hf_split, hf_subset=hf_subset)
        names = names_at(self.k_values)
        scored = ListScores([*map(parse, names.values())], self.conventions_of(hf_split, hf_subset))
        scored.add(results, qrels)
        estimates = scored.estimates()
        intervals = {
            f"{theirs}_{bound}": getattr(estimates[ours], bound)
            for theirs, ours in names.items()
            for bound in get_args(Bound)
        }
        return {**own, **intervals}

    def conventions_of(self, hf_split: str, hf_subset: str) -> Conventions:
        """How the lists of this split are treated; MTEB has already removed identical ids from them."""
        data = self.dataset[hf_split] if hf_subset not in self.dataset else self.dataset[hf_subset][hf_split]
        ranked = data["top_ranked"]
        candidates = len(data["corpus"]) if ranked is None else max(map(len, ranked.values()), default=0)
        longest = self._top_k - self.ignore_identical_ids if candidates > self._top_k else None
        return Conventions(longest, skip_first_result=self.skip_first_result)


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
