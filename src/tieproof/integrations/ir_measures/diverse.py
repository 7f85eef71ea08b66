"""Measures of diversity with a bound, whose judgments name a subtopic as the iteration of each of their lines."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ir_measures.measures.base import ParamInfo

from tieproof import evaluate_diversity
from tieproof.errors import InputError, warn
from tieproof.integrations.ir_measures.bounded import BOUND, JUDGED_ONLY, REL, ByQuery, View, WithBound, only

OfSubtopics = dict[Any, dict[Any, dict[Any, Any]]]  # the grade of each document for each subtopic of each query


class DiversityView(NamedTuple):
    """How a measure of diversity reads the judgments and weighs subtopics that were seen before."""

    alpha: float
    rel: int
    judged_only: bool


class DiversityMeasure(WithBound):
    """A measure of `evaluate_diversity` as a measure of ir_measures, with alpha where ir_measures has it."""

    def __init__(self, name: str, **params: Any) -> None:
        supported = {
            "bound": BOUND,
            "cutoff": ParamInfo(dtype=int, required=True, desc="ranking cutoff threshold, up to 100"),
            "rel": REL,
            "judged_only": JUDGED_ONLY,
        }
        if name.startswith("alpha"):
            supported["alpha"] = ParamInfo(dtype=float, default=0.5, desc="what a repetition loses")
        super().__init__(name, name, "gains of subtopics that earlier documents lack", supported, params)

    def validate_params(self) -> None:
        """Refuse parameters for which the measure is not defined."""
        super().validate_params()
        cutoff, alpha = self.params.get("cutoff"), self.params.get("alpha", 0.5)
        if isinstance(cutoff, bool) or not isinstance(cutoff, int) or not 1 <= cutoff <= 100:
            raise InputError(f"'{self}' needs a cutoff from 1 to 100; write for example {self @ 20}.")
        if isinstance(alpha, bool) or not isinstance(alpha, int | float) or not 0 <= alpha < 1:
            raise InputError(f"'{self}': alpha must be a number of at least 0 and below 1, such as 0.5.")

    def view(self) -> DiversityView:
        """Return how the measure reads the judgments."""
        params = self.params
        return DiversityView(params.get("alpha", 0.5), params.get("rel", 1), params.get("judged_only", False))


def by_subtopic(judgments: Iterable[Any]) -> OfSubtopics:
    """The grades of each subtopic, from the judgments of ir_measures, whose iteration is the subtopic."""
    found: OfSubtopics = defaultdict(lambda: defaultdict(dict))
    for row in judgments:
        documents = found[row.query_id][getattr(row, "iteration", "0")]
        if row.doc_id in documents:
            raise InputError(
                f"The qrels have two grades for document '{row.doc_id}' and subtopic "
                f"'{getattr(row, 'iteration', '0')}' of query '{row.query_id}'. Keep one of them."
            )
        documents[row.doc_id] = row.relevance
    if found and all(len(subtopics) < 2 for subtopics in found.values()):
        warn(
            "No query of the qrels has more than one subtopic, so nothing can be diverse. Pass a data frame with a "
            "column iteration, or ir_measures.Qrel with an iteration, which names the subtopic of each judgment."
        )
    return found


def scores(
    measures: Mapping[Any, DiversityMeasure], view: DiversityView, qrels: OfSubtopics, run: ByQuery
) -> Iterator[tuple[str, Any, float]]:
    """Yield the query, the requested measure and the value of every query with a relevant document."""
    graded = View(view.rel, (), False)
    read = {
        query: {
            subtopic: {document: max(grade, 0) for document, grade in documents.items()}
            for subtopic, documents in graded.of_qrels(subtopics).items()
        }
        for query, subtopics in qrels.items()
    }
    if view.judged_only:
        judged = {str(query): {str(d) for of in subtopics.values() for d in of} for query, subtopics in qrels.items()}
        run = only(run, judged)
    relevant = {
        str(query)
        for query, subtopics in read.items()
        if any(any(documents.values()) for documents in subtopics.values())
    }
    if not any(of and str(query) in relevant for query, of in run.items()):
        return
    names = {asked: f"{measure.__name__}@{measure.params['cutoff']}" for asked, measure in measures.items()}
    found = evaluate_diversity(read, run, measures=list(names.values()), alpha=view.alpha)
    for query, of_query in found.queries.items():
        for asked, measure in measures.items():
            yield query, asked, getattr(of_query[names[asked]], measure.params["bound"])


DIVERSITY = {name: DiversityMeasure(name) for name in ("ERR_IA", "alpha_DCG", "alpha_nDCG", "nERR_IA")}
"""All measures of diversity with a bound, by their names in ir_measures."""
