"""Tasks of MTEB: a mixin that adds intervals to their scores, and the judgments of tasks."""

import copy
import json
import os
from pathlib import Path
from typing import Any

import mteb
from mteb.abstasks import AbsTaskRetrieval

from tieproof.errors import InputError
from tieproof.integrations.mteb_lists.judgments import file_of
from tieproof.integrations.mteb_lists.predictions import CONVENTIONS
from tieproof.integrations.mteb_lists.scores import Conventions, Judgments, Lists, ListScores, names_at
from tieproof.measures import parse
from tieproof.whole_files import atomic_write

BOUNDS = ("lower", "expected", "upper")


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
        found = ListScores([*map(parse, names.values())], self.conventions_of(hf_split, hf_subset))
        found.add(results, qrels)
        estimates = found.estimates()
        intervals = {
            f"{theirs}_{bound}": getattr(estimates[ours], bound) for theirs, ours in names.items() for bound in BOUNDS
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
    check_ranks(task)
    if isinstance(task, TieIntervals):
        return task
    made, kind = copy.copy(task), type(task)
    attributes = {"__module__": kind.__module__, "__doc__": kind.__doc__}
    made.__class__ = type(kind.__name__, (TieIntervals, kind), attributes)
    return made


def check_ranks(task: Any) -> None:
    """Refuse anything but a task that ranks documents."""
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
    check_ranks(task)
    load(task)
    content = {CONVENTIONS: conventions_of(task)._asdict()} | {
        subset: {split: data["relevant_docs"] for split, data in splits.items()}
        for subset, splits in task.dataset.items()
    }
    path = file_of(Path(folder), task.metadata.name)
    with atomic_write(path) as unfinished:
        unfinished.write_text(json.dumps(content), encoding="utf-8")
    return path


def load(task: Any) -> None:
    """Load the data of a task unless it is loaded, and convert it to the current format."""
    if not task.data_loaded:
        task.load_data()
    task.convert_v1_dataset_format_to_v2(None)


def conventions_of(task: Any) -> Conventions:
    """How a task treats the lists in its predictions."""
    return Conventions(max(task.k_values), task.ignore_identical_ids, task.skip_first_result)


class TaskOfLibrary:
    """A task of MTEB by its name, with its conventions and judgments; its data is loaded by MTEB."""

    def __init__(self, name: str) -> None:
        self.name, self.absent = name, f"mteb {mteb.__version__} has no task {name} that ranks anything"
        self.conventions: Conventions | None = None
        try:
            task = mteb.get_task(name)
        except KeyError:
            return
        if isinstance(task, AbsTaskRetrieval):
            self.conventions = conventions_of(task)

    def judgments(self, subset: str, split: str) -> Judgments | None:
        """The judgments of a split; None if MTEB does not have the task, or its data cannot be loaded."""
        if self.conventions is None:
            return None
        task = mteb.get_task(self.name, eval_splits=[split], hf_subsets=[subset])
        try:
            load(task)
            found: Judgments = task.dataset[subset][split]["relevant_docs"]
        except Exception as error:  # any error of the libraries that load the data
            reason = str(error).partition("\n")[0]
            self.absent = f"the data of {self.name} could not be loaded ({type(error).__name__}: {reason})"
            return None
        return found
