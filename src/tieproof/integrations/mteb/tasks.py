"""Tasks of MTEB: a mixin for their scores, and what is relevant in them."""

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
    """A mixin for tasks of retrieval and of reranking, whose scores then hold what ties leave open.

    For each measure that MTEB prints at the task's `k_values` there are `ndcg_at_10_lower`, `_expected` and `_upper`
    over all orderings of documents with equal scores, and over all ways in which the last tie of a list that was cut
    off may go on; likewise of map, recall, precision, mrr and hit_rate. Where no scores are equal, the three are the
    number that MTEB prints, which it rounds to five decimals (mrr: not at all). Of nAUC there are none.

    Write it before the class of the task: `class MyTask(TieIntervals, AbsTaskRetrieval)`; `with_intervals` does so
    for a task that is there already. Scores that a task adds by itself stay.

    Raises InputError where a score is NaN or infinite.
    """

    def task_specific_scores(
        self,
        scores: dict[str, dict[str, float]],
        qrels: Judgments,
        results: Lists,
        hf_split: str,
        hf_subset: str,
    ) -> dict[str, float]:
        """The scores that the task adds by itself, and the interval of each measure."""
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
        """How lists of this split are treated, from which MTEB has taken identical ids already."""
        data = self.dataset[hf_split] if hf_subset not in self.dataset else self.dataset[hf_subset][hf_split]
        ranked = data["top_ranked"]
        candidates = len(data["corpus"]) if ranked is None else max(map(len, ranked.values()), default=0)
        longest = self._top_k - self.ignore_identical_ids if candidates > self._top_k else None
        return Conventions(longest, skip_first_result=self.skip_first_result)


def with_intervals(task: Any) -> Any:
    """The same task, with its data if it has been loaded, whose scores hold the intervals of `TieIntervals`, too.

    task : of retrieval or reranking; stays as it is

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
    """Refuse what is no task, and tasks that rank nothing."""
    if not isinstance(task, AbsTaskRetrieval):
        raise InputError(
            f"A task of retrieval or reranking of MTEB is needed, and a {type(task).__name__} arrived. Pass what "
            "mteb.get_task gives; other tasks rank nothing, and go to mteb.evaluate as they are.",
            "task",
        )


def write_qrels(task: Any, folder: str | os.PathLike[str]) -> Path:
    """Write what is relevant in a task, for `tieproof mteb predictions/ --qrels folder/`: folder/{Task}_qrels.json.

    task : of retrieval or reranking; its data is loaded where it has not been
    folder : must be there

    Raises InputError for other tasks, and where the file cannot be written; what was there stays as it was.

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
    """Load the data of a task where it has not been, in today's form."""
    if not task.data_loaded:
        task.load_data()
    task.convert_v1_dataset_format_to_v2(None)


def conventions_of(task: Any) -> Conventions:
    """How a task treats the lists that its predictions hold."""
    return Conventions(max(task.k_values), task.ignore_identical_ids, task.skip_first_result)


class TaskOfLibrary:
    """What MTEB knows of one of its tasks; its data comes from where the library keeps it."""

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
        """The judgments of a split; None where the task or its data is not there."""
        if self.conventions is None:
            return None
        task = mteb.get_task(self.name, eval_splits=[split], hf_subsets=[subset])
        try:
            load(task)
            found: Judgments = task.dataset[subset][split]["relevant_docs"]
        except Exception as error:  # whatever the libraries raise that look for the data
            reason = str(error).partition("\n")[0]
            self.absent = f"the data of {self.name} could not be loaded ({type(error).__name__}: {reason})"
            return None
        return found
