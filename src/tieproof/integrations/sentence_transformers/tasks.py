"""The data that a model is evaluated on: queries, a corpus and relevant documents, or sentences with labels."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from tieproof import Result, evaluate
from tieproof.errors import InputError, about
from tieproof.kit import as_label_array, as_labels

Encoded = tuple[Any, Any]
"""The rows of the queries and of the corpus; the corpus is None if the queries are searched for one another."""


class Labeled:
    """Sentences with labels: each is a query for the others that have its label."""

    kinds: tuple[str, ...] = ("sentence",)

    def __init__(self, sentences: Any, labels: Any) -> None:
        if labels is None or sentences is None:
            given, missing = ("sentences", "labels") if labels is None else ("labels", "sentences")
            raise InputError(
                f"{given} were passed without {missing}. Pass {missing}= with one entry for each.", missing
            )
        if isinstance(sentences, str | bytes | Mapping) or not isinstance(sentences, Iterable):
            raise InputError(f"sentences must be a list of texts, not {type(sentences).__name__}.", "sentences")
        self.queries = self.corpus = list(sentences)
        if not self.queries:
            raise InputError("sentences is empty. Pass at least two sentences with the same label.", "sentences")
        with about("labels", "sentences"):
            self.labels = as_labels(labels, len(self.queries), "labels", "sentences")
        columns = self.labels.ndim == 2  # of 0 and 1
        counts = self.labels.sum(axis=0) if columns else np.unique(self.labels, return_counts=True)[1]
        if not (counts > 1).any():
            raise InputError(
                f"No two of {len(self.queries)} sentences share a label, so none is a query for another. Check "
                "that labels and sentences belong together.",
                ("labels", "sentences"),
            )

    def encoded(self, encode: Callable[[Sequence[Any], str], Any]) -> Encoded:
        """The embeddings of the sentences."""
        return encode(self.queries, "sentence"), None

    def evaluate(self, embeddings: Encoded, **options: Any) -> Result:
        """Leave-one-out by labels."""
        return evaluate(embeddings[0], self.labels, **options)


class Retrieval:
    """Queries, a corpus, and the documents that are relevant to each query.

    Queries without relevant documents are left out, as in `InformationRetrievalEvaluator`.
    """

    kinds: tuple[str, ...] = ("query", "document")

    def __init__(self, queries: Any, corpus: Any, relevant_docs: Any) -> None:
        for name, value in (("queries", queries), ("corpus", corpus), ("relevant_docs", relevant_docs)):
            if not isinstance(value, Mapping):
                raise InputError(
                    f"{name} must be a dictionary from ids to "
                    f"{'sets of ids or to grades' if name == 'relevant_docs' else 'texts'}, not "
                    f"{type(value).__name__}.",
                    name,
                )
        judged = {query: _grades(query, relevant_docs[query]) for query in queries if query in relevant_docs}
        evaluated = [query for query, grades in judged.items() if any(grade > 0 for grade in grades.values())]
        if not evaluated:
            raise InputError(
                f"None of {len(queries)} queries has a relevant document in relevant_docs. Check that their ids "
                f"belong together: queries have {_some_ids(queries)}, relevant_docs has {_some_ids(relevant_docs)}.",
                ("queries", "relevant_docs"),
            )
        with about("queries"):
            self.query_ids = as_label_array(evaluated, "ids of the queries")
        self.queries = [queries[query] for query in evaluated]
        self.corpus = list(corpus.values())
        self.relevance = _relevance_of([judged[query] for query in evaluated], evaluated, list(corpus))

    def encoded(self, encode: Callable[[Sequence[Any], str], Any]) -> Encoded:
        """The embeddings of the queries and of the corpus."""
        return encode(self.queries, "query"), encode(self.corpus, "document")

    def evaluate(self, embeddings: Encoded, **options: Any) -> Result:
        """The result of searching the corpus for the queries, with the queries' ids."""
        queries, corpus = embeddings
        return evaluate(queries, gallery=corpus, relevance=self.relevance, **options).named(self.query_ids)


def _grades(query: Hashable, documents: Any) -> Mapping[Hashable, float]:
    """The grade of each document; 1 where only ids are given."""
    if isinstance(documents, str) or not isinstance(documents, Iterable):
        raise InputError(
            "relevant_docs must have a set of ids for each query, or a dictionary from ids to grades, but for query "
            f"{query!r} it has {type(documents).__name__}.",
            "relevant_docs",
        )
    if not isinstance(documents, Mapping):
        return dict.fromkeys(documents, 1.0)
    for document, grade in documents.items():
        if not isinstance(grade, int | float | np.integer | np.floating) or not np.isfinite(grade) or grade < 0:
            raise InputError(
                f"relevant_docs has {grade!r} as the grade of document {document!r} for query {query!r}. A grade is "
                "a finite number of at least 0.",
                "relevant_docs",
            )
    return documents


def _relevance_of(
    judged: Sequence[Mapping[Hashable, float]], query_ids: Sequence[Hashable], corpus_ids: Sequence[Hashable]
) -> Sequence[tuple[float, ...]]:
    """The relevant pairs as tuples (position of the query, position of the document, grade)."""
    place = {document: at for at, document in enumerate(corpus_ids)}
    for query, documents in zip(query_ids, judged, strict=True):
        missing = next(
            (document for document, grade in documents.items() if grade > 0 and document not in place), None
        )
        if missing is not None:
            other = int(missing) if isinstance(missing, str) and missing.isdecimal() else str(missing)
            remedy = "Add the document to the corpus, or remove it from relevant_docs."
            if other in place:
                remedy = (
                    f"It has {other!r}, but integers and strings differ: write the ids in the same way on both sides."
                )
            raise InputError(
                f"relevant_docs names document {missing!r} for query {query!r}, but the corpus has no document with "
                f"this id, so no model can find it. {remedy}",
                ("relevant_docs", "corpus"),
            )
    rows = [
        (at, place[document], grade)
        for at, documents in enumerate(judged)
        for document, grade in documents.items()
        if grade > 0
    ]
    graded = any(grade != 1 for _, _, grade in rows)
    return rows if graded else [row[:2] for row in rows]


def _some_ids(ids: Iterable[Hashable]) -> str:
    first = list(islice(ids, 4))
    return ", ".join([*map(repr, first[:3]), *("…" for _ in first[3:])]) or "none"
