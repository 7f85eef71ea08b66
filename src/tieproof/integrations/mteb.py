"""MTEB: the interval of every measure that it prints, beside the number that it prints (extra `mteb`).

task = with_intervals(mteb.get_task("SciFact"))
result = mteb.evaluate(model, task)  # its scores have ndcg_at_10_lower, ndcg_at_10_expected, ndcg_at_10_upper, …
"""

import copy
from typing import Any

from tieproof.errors import InputError, MissingExtraError
from tieproof.integrations.mteb_lists import Conventions, Judgments, Lists, ListScores, names_at
from tieproof.measures import parse

try:
    from mteb.abstasks import AbsTaskRetrieval
except ImportError:
    raise MissingExtraError("tieproof.integrations.mteb", "mteb") from None

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
    kind = type(task)
    if not isinstance(task, AbsTaskRetrieval):
        raise InputError(
            f"with_intervals takes a task of retrieval or reranking of MTEB, not {kind.__name__}. Pass other tasks "
            "to mteb.evaluate as they are.",
            "task",
        )
    if isinstance(task, TieIntervals):
        return task
    made = copy.copy(task)
    attributes = {"__module__": kind.__module__, "__doc__": kind.__doc__}
    made.__class__ = type(kind.__name__, (TieIntervals, kind), attributes)
    return made
