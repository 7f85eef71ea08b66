"""The scores of the lists of MTEB, by its conventions, with the intervals due to ties and truncation.

For each query, MTEB keeps the `max(k_values)` documents with the largest scores and passes these lists to
pytrec_eval, which sorts equal scores by the name of the document. Its means are over the queries with a list; a query
without any document scores 0, and so does a query whose judgments are all 0.
"""

import math
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from tieproof.errors import InputWarning
from tieproof.evaluation.evaluated import TieSummary, mean, summarize
from tieproof.evaluation.runs import evaluate_run
from tieproof.integrations.mteb_lists.files import (
    MODEL,
    Conventions,
    Documents,
    FolderOfQrels,
    Judgments,
    LibraryTask,
    ListedQuery,
    Lists,
    Predictions,
    read_printed,
)
from tieproof.measures import Measure
from tieproof.ties import Estimate, FloatArray, IntArray

NAMES = {"ndcg": "nDCG", "map": "AP", "recall": "R", "precision": "P", "mrr": "RR", "hit_rate": "Success"}
"""The measures that MTEB prints at each of its `k_values`: MTEB's names and tieproof's names."""


def names_at(k_values: Sequence[int]) -> dict[str, str]:
    """The measures of tieproof by the names of the scores that MTEB prints.

    >>> names_at([10])["map_at_10"]
    'AP@10'
    """
    return {f"{theirs}_at_{k}": f"{ours}@{k}" for theirs, ours in NAMES.items() for k in k_values}


def name_of(measure: Measure) -> str | None:
    """The name of a measure in MTEB; None if MTEB does not print it.

    >>> from tieproof.measures import parse
    >>> name_of(parse("nDCG@10")), name_of(parse("AP"))
    ('ndcg_at_10', None)
    """
    name, _, cutoff = str(measure).partition("@")
    theirs = {ours: name for name, ours in NAMES.items()}.get(name)
    return f"{theirs}_at_{cutoff}" if theirs and cutoff else None


class ListScores:
    """Scores lists that are added in batches: each query once, in any order.

    >>> from tieproof.measures import parse
    >>> found = ListScores([parse("RR@10")], Conventions())
    >>> found.add({"q": {"a": 0.5, "b": 0.5}}, {"q": {"a": 1}})
    >>> found.estimates()["RR@10"].lower
    0.5
    """

    def __init__(self, measures: Sequence[Measure], conventions: Conventions) -> None:
        self.measures = list(measures)
        self.conventions = conventions
        self.queries: list[str] = []
        self.values: list[FloatArray] = []
        self.tie_counts: list[IntArray] = []

    def add(self, lists: Lists, judgments: Judgments) -> None:
        """Score the lists of some queries; queries without judgments are left out."""
        judged = {query: documents for query, documents in lists.items() if judgments.get(query)}
        for cut_off in (False, True):
            part = {
                query: self._ranked(query, documents)
                for query, documents in judged.items()
                if self.conventions.is_cut_off(documents) is cut_off
            }
            if part:
                of_part = {query: judgments[query] for query in part}
                score = self._score_without_first if self.conventions.skip_first_result else self._score
                values, counts = score(part, of_part, cut_off)
                self.queries += sorted(part)
                self.values.append(values)
                self.tie_counts.append(counts)

    def _ranked(self, query: str, documents: Documents) -> Documents:
        """The list of a query, without the query itself if the task leaves it out."""
        if not self.conventions.ignore_identical_ids or query not in documents:
            return documents
        return {document: score for document, score in documents.items() if document != query}

    def _score(self, lists: Lists, judgments: Judgments, cut_off: bool) -> tuple[FloatArray, IntArray]:
        """Lower, expected, upper value and variance (M, 4, Q), and the counts of ties (4, Q), with sorted queries."""
        if not any(lists.values()):
            return np.zeros((len(self.measures), 4, len(lists))), np.zeros((4, len(lists)), dtype=np.int64)
        with warnings.catch_warnings():  # about whole runs: these are parts, and the task knows what was cut off
            warnings.simplefilter("ignore", InputWarning)
            evaluated = evaluate_run(
                judgments, lists, measures=self.measures, missing="zero", empty="zero", truncated=cut_off
            ).evaluated
        return np.array([evaluated.per_query[measure] for measure in self.measures]), evaluated.tie_counts

    def _score_without_first(self, lists: Lists, judgments: Judgments, cut_off: bool) -> tuple[FloatArray, IntArray]:
        """As `score`, for lists without their first document, over all orders of the documents tied at the top."""
        queries = sorted(lists)
        choices = [_firsts(lists[query], judgments[query]) for query in queries]
        most = max(map(len, choices))
        weights = np.zeros((most, len(queries)))
        scored = []
        for which in range(most):
            rest = {}
            for place, (query, choice) in enumerate(zip(queries, choices, strict=True)):
                first, weights[which, place] = choice[which] if which < len(choice) else (choice[0][0], 0.0)
                rest[query] = {name: score for name, score in lists[query].items() if name != first}
            scored.append(self._score(rest, judgments, cut_off))
        values, counts = (np.array(arrays) for arrays in zip(*scored, strict=True))
        counts = counts.max(axis=0)
        counts[1] = np.maximum(counts[1], [len(choice) > 1 for choice in choices])
        return _mixed(values, weights), counts

    def estimates(self) -> dict[str, Estimate[float]]:
        """The mean of every measure over all added queries, by the measure's name; empty without queries."""
        if not self.values:
            return {}
        values = np.concatenate(self.values, axis=-1)
        return {str(measure): mean(each) for measure, each in zip(self.measures, values, strict=True)}

    def expected(self) -> dict[str, dict[str, float]]:
        """The expected value of each added query, by the measure's name and the query."""
        values = np.concatenate(self.values, axis=-1)[:, 1]
        return {
            str(measure): dict(zip(self.queries, each.tolist(), strict=True))
            for measure, each in zip(self.measures, values, strict=True)
        }

    def ties(self) -> TieSummary:
        """The ties of the added queries."""
        return summarize(np.concatenate([np.zeros((4, 0), dtype=np.int64), *self.tie_counts], axis=-1), 0)


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


_NONE_JUDGED = "none of these queries has a judgment"

_AT_A_TIME = 2**19
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


def split_ties(
    predictions: Predictions,
    sources: Sequence[FolderOfQrels | LibraryTask],
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
    printed: Mapping[tuple[str, str], Mapping[str, Any]] | None = None
    for (subset, split), queries in groupby(predictions, key=lambda each: (each.subset, each.split)):
        model = predictions.about.get(MODEL, {})  # in the file it is before the subsets
        if printed is None:
            printed = read_printed(predictions.task, model, results)
        scores = printed.get((subset, split), {})
        judgments = next(filter(None, (source.judgments(subset, split) for source in sources)), None)
        rules = next(filter(None, (source.conventions for source in sources)), Conventions())
        cutoffs = (re.fullmatch(r"ndcg_at_(\d+)", name) for name in scores)
        largest_k = max((int(match[1]) for match in cutoffs if match), default=None)
        rules = rules._replace(longest=longest or largest_k or rules.longest)
        judged = ListScores(measures, rules)
        lists = with_ties = cut_off = cut_off_in_a_tie = 0
        for batch in _batches(queries):
            for each in batch:
                values = [*each.documents.values()]
                lists += 1
                with_ties += len(set(values)) < len(values)
                if rules.is_cut_off(each.documents):
                    cut_off += 1
                    cut_off_in_a_tie += values.count(min(values)) > 1
            if judgments is not None:
                judged.add({each.query: each.documents for each in batch}, judgments)
        ties = judged.ties()
        yield SplitTies(
            task=predictions.task,
            model=str(model.get("model_name", "")),
            subset=subset,
            split=split,
            lists=lists,
            lists_with_ties=with_ties,
            lists_cut_off=cut_off,
            lists_cut_off_in_a_tie=cut_off_in_a_tie,
            longest=rules.longest,
            judged=ties.queries,
            ambiguous=ties.queries_with_ambiguous_ties,
            open_ends=ties.queries_with_open_last_tie,
            estimates=judged.estimates(),
            printed={
                str(each): float(score)
                for each in measures
                if isinstance(score := scores.get(name_of(each) or ""), int | float) and math.isfinite(score)
            },
            why="" if ties.queries else _NONE_JUDGED if judgments else "; ".join(source.absent for source in sources),
        )


def _batches(queries: Iterable[ListedQuery]) -> Iterator[list[ListedQuery]]:
    """Group queries into batches of about `_AT_A_TIME` documents."""
    rest = iter(queries)
    for first in rest:
        batch, count = [first], len(first.documents)
        while count < _AT_A_TIME and (following := next(rest, None)) is not None:
            batch.append(following)
            count += len(following.documents)
        yield batch
