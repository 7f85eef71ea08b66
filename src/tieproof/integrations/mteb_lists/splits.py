"""Read the scores that MTEB printed, from files {Task}.json next to the predictions or in MTEB's cache."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from tieproof.errors import InputError
from tieproof.integrations.mteb_lists.judgments import TaskSource
from tieproof.integrations.mteb_lists.predictions import MODEL, ListedQuery, Predictions
from tieproof.integrations.mteb_lists.scores import Conventions, ListScores, name_of
from tieproof.measures import Measure
from tieproof.ties import Estimate

Printed = Mapping[tuple[str, str], Mapping[str, Any]]
"""The scores of each subset and split."""


def read_printed(task: str, model: Mapping[str, Any], folder: Path) -> Printed:
    """The scores of a task in a folder; empty if it has none.

    The scores are in `{Task}.json`, or in `{model}/{revision}/{Task}.json` as in the cache of MTEB.

    Raises InputError if the file does not contain results of MTEB.
    """
    name, revision = (str(model.get(key, "")) for key in ("model_name", "revision"))
    within = Path(name.replace("/", "__").replace(" ", "_"), revision)
    places = (Path(), within, Path("results", within)) if name and revision else (Path(),)
    paths = [folder / place / f"{task}.json" for place in places]
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        return {}
    try:
        splits = json.loads(path.read_text(encoding="utf-8"))["scores"]
        return {(scores["hf_subset"], split): scores for split, several in splits.items() for scores in several}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path} does not contain results of MTEB ({type(error).__name__}: {error}). Write it again, or put it "
            "elsewhere: the table then has no column with the scores of MTEB."
        ) from error


def largest_k(scores: Mapping[str, Any]) -> int | None:
    """The largest of the `k_values` in a split's scores; None if the split has no score at a cutoff.

    >>> largest_k({"ndcg_at_10": 0.5, "ndcg_at_1000": 0.5})
    1000
    """
    found = (re.fullmatch(r"ndcg_at_(\d+)", name) for name in scores)
    return max((int(match[1]) for match in found if match), default=None)


NONE_JUDGED = "none of these queries has a judgment"

AT_A_TIME = 2**19
"""The number of listed documents that are in memory at once."""


@dataclass(frozen=True)
class SplitTies:
    """The ties in the lists of a split, and the intervals that they cause.

    lists : the number of lists, one for each query
    lists_with_ties : the number of lists in which documents have equal scores
    lists_cut_off : the number of lists that were cut off at their end
    lists_cut_off_in_a_tie : the number of lists that were cut off and whose last documents have equal scores
    longest : the largest number of documents in a list
    judged : the number of queries with judgments
    ambiguous : the number of judged queries with a tie that mixes relevant and other documents
    open_ends : the number of judged queries whose list was cut off where a relevant document may be tied with the
        last
    estimates : the mean of each measure over the judged queries; empty without judgments
    printed : the scores that MTEB printed for these measures, if they are known
    why : why there are no judgments: where they were looked for; "" if there are judgments
    """

    task: str
    model: str
    subset: str
    split: str
    lists: int
    lists_with_ties: int
    lists_cut_off: int
    lists_cut_off_in_a_tie: int
    longest: int | None
    judged: int
    ambiguous: int
    open_ends: int
    estimates: Mapping[str, Estimate[float]]
    printed: Mapping[str, float]
    why: str

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and dictionaries, for JSON."""
        whole = asdict(self)
        estimates, printed = whole.pop("estimates"), whole.pop("printed")
        whole["measures"] = {
            name: {"mteb": printed.get(name)} | estimates.get(name, {}) for name in {**estimates, **printed}
        }
        return whole


class TieTally:
    """Counts lists with ties, which needs no judgments."""

    def __init__(self, conventions: Conventions) -> None:
        self.conventions = conventions
        self.lists = self.with_ties = self.cut_off = self.cut_off_in_a_tie = 0

    def add(self, documents: Mapping[str, float]) -> None:
        """Count a list."""
        scores = [*documents.values()]
        self.lists += 1
        self.with_ties += len(set(scores)) < len(scores)
        if self.conventions.is_cut_off(documents):
            self.cut_off += 1
            self.cut_off_in_a_tie += scores.count(min(scores)) > 1


def split_ties(
    predictions: Predictions,
    sources: Sequence[TaskSource],
    measures: Sequence[Measure],
    results: Path,
    longest: int | None = None,
) -> Iterator[SplitTies]:
    """Find the ties in the lists of each split in a file, and evaluate the lists.

    sources : sources of judgments and conventions; the first one that has them is used
    results : a folder that may have the scores of MTEB
    longest : the largest number of documents in a list; None takes the largest cutoff of MTEB's scores, the task's,
        or 1,000

    Raises InputError with the file's name if the file is damaged.
    """
    printed: Printed | None = None
    for (subset, split), queries in groupby(predictions, key=lambda each: (each.subset, each.split)):
        model = predictions.about.get(MODEL, {})  # in the file it is before the subsets
        if printed is None:
            printed = read_printed(predictions.task, model, results)
        scores = printed.get((subset, split), {})
        judgments = next(filter(None, (source.judgments(subset, split) for source in sources)), None)
        rules = next(filter(None, (source.conventions for source in sources)), Conventions())
        rules = rules._replace(longest=longest or largest_k(scores) or rules.longest)
        tally, found = TieTally(rules), ListScores(measures, rules)
        for batch in batches(queries):
            for each in batch:
                tally.add(each.documents)
            if judgments is not None:
                found.add({each.query: each.documents for each in batch}, judgments)
        ties = found.ties()
        yield SplitTies(
            task=predictions.task,
            model=str(model.get("model_name", "")),
            subset=subset,
            split=split,
            lists=tally.lists,
            lists_with_ties=tally.with_ties,
            lists_cut_off=tally.cut_off,
            lists_cut_off_in_a_tie=tally.cut_off_in_a_tie,
            longest=rules.longest,
            judged=ties.queries,
            ambiguous=ties.queries_with_ambiguous_ties,
            open_ends=ties.queries_with_open_last_tie,
            estimates=found.estimates(),
            printed={
                str(each): score
                for each in measures
                if (score := number(scores.get(name_of(each) or ""))) is not None
            },
            why="" if ties.queries else NONE_JUDGED if judgments else "; ".join(source.absent for source in sources),
        )


def number(score: Any) -> float | None:
    """A score that MTEB printed, if it is a number."""
    return float(score) if isinstance(score, int | float) and math.isfinite(score) else None


def batches(queries: Iterable[ListedQuery]) -> Iterator[list[ListedQuery]]:
    """Group queries into batches of about `AT_A_TIME` documents."""
    rest = iter(queries)
    for first in rest:
        batch, count = [first], len(first.documents)
        while count < AT_A_TIME and (following := next(rest, None)) is not None:
            batch.append(following)
            count += len(following.documents)
        yield batch
