"""The scores of the lists of an MTEB task, by MTEB's conventions, with the intervals due to ties and truncation.

For each query, MTEB keeps the `max(k_values)` documents with the largest scores and passes these lists to
pytrec_eval, which sorts equal scores by the name of the document. Its means are over the queries with a list; a query
without any document scores 0, and so does a query whose judgments are all 0.
"""

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tieproof.errors import InputWarning
from tieproof.evaluation.evaluated import TieSummary, mean, summarize
from tieproof.evaluation.runs import evaluate_run
from tieproof.measures import Measure
from tieproof.ties import Estimate, FloatArray, IntArray

Documents = Mapping[str, float]
Lists = Mapping[str, Documents]
"""The score of each listed document, by query: `results` of MTEB."""

Judgments = Mapping[str, Mapping[str, int]]
"""The grade of each judged document, by query: `qrels` or `relevant_docs` of MTEB."""

NAMES = {"ndcg": "nDCG", "map": "AP", "recall": "R", "precision": "P", "mrr": "RR", "hit_rate": "Success"}
"""The measures that MTEB prints at each of its `k_values`: MTEB's names and tieproof's names."""

LONGEST = 1000
"""The largest number of documents in a list of MTEB, unless a task has other `k_values`."""


class Conventions(NamedTuple):
    """How a task treats the lists of its queries.

    longest : a list with this many documents was cut off, a shorter list is complete; None if all lists are complete
    ignore_identical_ids : whether a document with the query's name is left out of the list
    skip_first_result : whether the first document of every list is left out, which may be any document that is tied
        at the top
    """

    longest: int | None = LONGEST
    ignore_identical_ids: bool = False
    skip_first_result: bool = False

    def is_cut_off(self, documents: Documents) -> bool:
        """Whether a list was cut off."""
        return self.longest is not None and len(documents) >= self.longest


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
        self.values: list[FloatArray] = []
        self.tie_counts: list[IntArray] = []

    def add(self, lists: Lists, judgments: Judgments) -> None:
        """Score the lists of some queries; queries without judgments are left out."""
        judged = {query: documents for query, documents in lists.items() if judgments.get(query)}
        for cut_off in (False, True):
            part = {
                query: self.ranked(query, documents)
                for query, documents in judged.items()
                if self.conventions.is_cut_off(documents) is cut_off
            }
            if part:
                of_part = {query: judgments[query] for query in part}
                score = self.score_without_first if self.conventions.skip_first_result else self.score
                values, counts = score(part, of_part, cut_off)
                self.values.append(values)
                self.tie_counts.append(counts)

    def ranked(self, query: str, documents: Documents) -> Documents:
        """The list of a query, without the query itself if the task leaves it out."""
        if not self.conventions.ignore_identical_ids or query not in documents:
            return documents
        return {document: score for document, score in documents.items() if document != query}

    def score(self, lists: Lists, judgments: Judgments, cut_off: bool) -> tuple[FloatArray, IntArray]:
        """Lower, expected, upper value and variance (M, 4, Q), and the counts of ties (4, Q), with sorted queries."""
        if not any(lists.values()):
            return np.zeros((len(self.measures), 4, len(lists))), np.zeros((4, len(lists)), dtype=np.int64)
        with warnings.catch_warnings():  # about whole runs: these are parts, and the task knows what was cut off
            warnings.simplefilter("ignore", InputWarning)
            found = evaluate_run(
                judgments, lists, measures=self.measures, missing="zero", empty="zero", truncated=cut_off
            ).evaluated
        return np.array([found.per_query[measure] for measure in self.measures]), found.tie_counts

    def score_without_first(self, lists: Lists, judgments: Judgments, cut_off: bool) -> tuple[FloatArray, IntArray]:
        """As `score`, for lists without their first document, over all orders of the documents tied at the top."""
        queries = sorted(lists)
        choices = [firsts(lists[query], judgments[query]) for query in queries]
        most = max(map(len, choices))
        weights = np.zeros((most, len(queries)))
        scored = []
        for which in range(most):
            rest = {}
            for place, (query, choice) in enumerate(zip(queries, choices, strict=True)):
                first, weights[which, place] = choice[which] if which < len(choice) else (choice[0][0], 0.0)
                rest[query] = {name: score for name, score in lists[query].items() if name != first}
            scored.append(self.score(rest, judgments, cut_off))
        values, counts = (np.array(arrays) for arrays in zip(*scored, strict=True))
        counts = counts.max(axis=0)
        counts[1] = np.maximum(counts[1], [len(choice) > 1 for choice in choices])
        return mixed(values, weights), counts

    def estimates(self) -> dict[str, Estimate[float]]:
        """The mean of every measure over all added queries, by the measure's name; empty without queries."""
        if not self.values:
            return {}
        values = np.concatenate(self.values, axis=-1)
        return {str(measure): mean(each) for measure, each in zip(self.measures, values, strict=True)}

    def ties(self) -> TieSummary:
        """The ties of the added queries."""
        return summarize(np.concatenate([np.zeros((4, 0), dtype=np.int64), *self.tie_counts], axis=-1), 0)


def firsts(documents: Documents, grades: Mapping[str, int]) -> list[tuple[str | None, float]]:
    """The possible first documents of a list: for each grade among those tied at the top, one document and its share.

    >>> firsts({"a": 0.5, "b": 0.5, "c": 0.5, "d": 0.1}, {"a": 1})
    [('b', 0.6666666666666666), ('a', 0.3333333333333333)]
    >>> firsts({}, {"a": 1})
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


def mixed(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Mix the estimates of P alternatives (P, M, 4, Q) with probabilities (P, Q) into one array (M, 4, Q).

    An alternative with probability 0 repeats another one.
    """
    lower, expected, upper, variance = np.moveaxis(values, 2, 0)
    shares = weights[:, None, :]
    lowest, highest = lower.min(axis=0), upper.max(axis=0)
    middle = np.clip((shares * expected).sum(axis=0), lowest, highest)  # rounding could exceed the bounds
    spread = (shares * (variance + (expected - middle) ** 2)).sum(axis=0)
    return np.stack([lowest, middle, highest, spread], axis=1)
