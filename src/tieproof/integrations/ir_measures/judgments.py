"""Convert judgments and runs from any form of ir_measures to dictionaries, and apply a measure's options to them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any, NamedTuple

from tieproof.errors import InputError

ByQuery = dict[Any, dict[Any, Any]]
"""A grade or a score for each document of each query."""


class View(NamedTuple):
    """How a measure reads the judgments.

    rel : the lowest grade that is relevant; None for measures that read grades
    gains : (grade, gain) for each grade that is replaced by another number
    judged_only : whether documents without a judgment, or with a negative one, are removed from the ranking
    """

    rel: int | None
    gains: tuple[tuple[int, int], ...]
    judged_only: bool

    def of_qrels(self, qrels: ByQuery) -> ByQuery:
        """Return the judgments as the measure reads them."""
        gains = dict(self.gains)

        def seen(grade: Any) -> Any:
            is_number: bool = isinstance(grade, Real)
            if not is_number:
                raise InputError(f"The grades in the qrels must be numbers, not {type(grade).__name__}: {grade!r}.")
            return gains.get(grade, grade) if self.rel is None else 1 if grade >= self.rel else min(grade, 0)

        return {
            query: {document: seen(grade) for document, grade in documents.items()}
            for query, documents in qrels.items()
        }

    def of_run(self, run: ByQuery, qrels: ByQuery) -> ByQuery:
        """Return the documents that are ranked."""
        if not self.judged_only:
            return run
        gains: Mapping[Any, Any] = dict(self.gains)

        def is_judged(grade: Any) -> bool:
            gain: Any = gains.get(grade, grade)
            return bool(gain >= 0)

        judged = {
            str(query): {str(document) for document, grade in documents.items() if is_judged(grade)}
            for query, documents in qrels.items()
        }
        nothing: set[str] = set()
        return {
            query: {
                document: score
                for document, score in scores.items()
                if str(document) in judged.get(str(query), nothing)
            }
            for query, scores in run.items()
        }


def by_query(converter: Any, what: str, value: str) -> ByQuery:
    """The judgments, or the scores, of each query.

    A repeated document is refused, while ir_measures keeps the last one.

    converter : the converter of ir_measures for the given data
    what : "qrels" or "run"
    value : "relevance" or "score"
    """
    kind, _ = converter.predict_type()
    given = getattr(converter, what)
    if kind == "dict_of_dict":
        for query, documents in given.items():
            if not isinstance(documents, Mapping):
                raise InputError(
                    f"The {what} must be {{query: {{document: {value}}}}}, but the value of query {query!r} is "
                    f"{type(documents).__name__}, not a dictionary."
                )
        return dict(given)
    if kind == "pd_dataframe":
        rows: Iterable[tuple[Any, ...]] = zip(
            *(given[name].tolist() for name in ("query_id", "doc_id", value)), strict=True
        )
    else:
        rows = ((row.query_id, row.doc_id, getattr(row, value)) for row in converter.as_namedtuple_iter())
    found: ByQuery = defaultdict(dict)
    for query, document, number in rows:
        documents = found[query]
        if document in documents:
            raise InputError(f"The {what}: document '{document}' occurs twice for query '{query}'. Keep one of them.")
        documents[document] = number
    return dict(found)
