"""What ties and the cut leave open in the saved lists of a task, split after split."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from tieproof.integrations.mteb_lists.judgments import TaskSource
from tieproof.integrations.mteb_lists.predictions import MODEL, ListedQuery, Predictions
from tieproof.integrations.mteb_lists.printed import Printed, largest_k, read_printed
from tieproof.integrations.mteb_lists.scores import Conventions, ListScores, name_of
from tieproof.measures import Measure
from tieproof.ties import Estimate

NONE_JUDGED = "none of these queries has a judgment"

AT_A_TIME = 2**19
"""Documents of lists that are in memory together."""


@dataclass(frozen=True)
class SplitTies:
    """What a split's lists leave open.

    lists : how many there are, one for each query
    lists_with_ties : those in which documents have equal scores
    lists_cut_off : those that were cut off at their end
    lists_cut_off_in_a_tie : those of them whose last documents have equal scores
    longest : documents that a list holds at most
    judged : queries with judgments
    ambiguous, open_ends : those of them with a tie that mixes relevant and other documents, and those whose list was
        cut off where a relevant document may be tied with the last one
    estimates : the mean of each measure over the judged queries; none without judgments
    printed : what MTEB printed of these measures, as far as it is known
    why : where judgments were looked for that there are not; "" where they are there
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
    """How many lists have ties at all, without judgments."""

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
    """What the lists of each split in a file leave open.

    sources : of judgments and conventions; the first one that has them counts
    results : a folder that may have what MTEB printed
    longest : documents that a list holds at most; None: as MTEB printed measures at most, or the task says, or 1,000

    Raises InputError for a damaged file, with its name.
    """
    printed: Printed | None = None
    for (subset, split), queries in groupby(predictions, key=lambda each: (each.subset, each.split)):
        model = predictions.about.get(MODEL, {})  # which stands before the subsets
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
    """Some queries at a time, with so many documents together."""
    rest = iter(queries)
    for first in rest:
        batch, count = [first], len(first.documents)
        while count < AT_A_TIME and (following := next(rest, None)) is not None:
            batch.append(following)
            count += len(following.documents)
        yield batch
