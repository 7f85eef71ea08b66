"""The data that a model is evaluated on: queries, a corpus and relevant documents, or sentences with labels."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from tieproof.errors import InputError, about
from tieproof.evaluation.embeddings import evaluate
from tieproof.evaluation.result import Result
from tieproof.inputs.labels import as_label_array, as_labels
from tieproof.ties import Array, IntArray


class Encoded(NamedTuple):
    """Embeddings of the queries and of the corpus; the corpus is None if the queries are searched for one another."""

    queries: Array
    corpus: Array | None


class Task(ABC):
    """Texts and their relevance; `TieproofEvaluator` creates it.

    kinds : the kinds of its texts: "query", "document" or "sentence"
    """

    kinds: tuple[str, ...]

    @abstractmethod
    def encoded(self, encode: Callable[[Sequence[Any], str], Array]) -> Encoded:
        """The embeddings of all texts, by a function of the texts and their kind."""

    @abstractmethod
    def evaluate(self, embeddings: Encoded, **options: Any) -> Result:
        """The result, with these options of `tieproof.evaluate`."""


class Labelled(Task):
    """Sentences with labels: each is a query for the others that have its label."""

    kinds = ("sentence",)

    def __init__(self, sentences: Any, labels: Any) -> None:
        if labels is None or sentences is None:
            given, missing = ("sentences", "labels") if labels is None else ("labels", "sentences")
            raise InputError(
                f"{given} were passed without {missing}. Pass {missing}= with one entry for each.", missing
            )
        if isinstance(sentences, str | bytes | Mapping) or not isinstance(sentences, Iterable):
            raise InputError(f"sentences must be a list of texts, not {type(sentences).__name__}.", "sentences")
        self.sentences = list(sentences)
        if not self.sentences:
            raise InputError("sentences is empty. Pass at least two sentences with the same label.", "sentences")
        with about("labels", "sentences"):
            self.labels = as_labels(labels, len(self.sentences), "labels", "sentences")
        if not shared(self.labels):
            raise InputError(
                f"No two of {len(self.sentences)} sentences share a label, so none is a query for another. Check "
                "that labels and sentences belong together.",
                ("labels", "sentences"),
            )

    def encoded(self, encode: Callable[[Sequence[Any], str], Array]) -> Encoded:
        """The embeddings of the sentences."""
        return Encoded(encode(self.sentences, "sentence"), None)

    def evaluate(self, embeddings: Encoded, **options: Any) -> Result:
        """Leave-one-out by labels."""
        return evaluate(embeddings.queries, self.labels, **options)


def shared(labels: Array) -> bool:
    """Whether any two items share a label; labels are (n,), or (n, c) columns of 0 and 1.

    >>> shared(np.array([3, 5, 3])), shared(np.array([3, 5])), shared(np.array([[0, 1], [1, 1]]))
    (True, False, True)
    """
    if labels.ndim == 2:
        return bool((labels.sum(axis=0) > 1).any())
    return len(np.unique(labels)) < len(labels)


class Retrieval(Task):
    """Queries, a corpus, and the documents that are relevant to each query.

    Queries without relevant documents are left out, as in `InformationRetrievalEvaluator`.
    """

    kinds = ("query", "document")

    def __init__(self, queries: Any, corpus: Any, relevant_docs: Any) -> None:
        for name, value in (("queries", queries), ("corpus", corpus), ("relevant_docs", relevant_docs)):
            if not isinstance(value, Mapping):
                raise InputError(
                    f"{name} must be a dictionary from ids to "
                    f"{'sets of ids' if name == 'relevant_docs' else 'texts'}, not {type(value).__name__}.",
                    name,
                )
        judged = {query: relevant_ids(query, relevant_docs[query]) for query in queries if query in relevant_docs}
        evaluated = [query for query, documents in judged.items() if documents]
        if not evaluated:
            raise InputError(
                f"None of {len(queries)} queries has a relevant document in relevant_docs. Check that their ids "
                f"belong together: queries have {some_ids(queries)}, relevant_docs has {some_ids(relevant_docs)}.",
                ("queries", "relevant_docs"),
            )
        with about("queries"):
            self.query_ids = as_label_array(evaluated, "ids of the queries")
        self.queries = [queries[query] for query in evaluated]
        self.corpus = list(corpus.values())
        self.relevance = relevance_of([judged[query] for query in evaluated], evaluated, list(corpus))

    def encoded(self, encode: Callable[[Sequence[Any], str], Array]) -> Encoded:
        """The embeddings of the queries and of the corpus."""
        return Encoded(encode(self.queries, "query"), encode(self.corpus, "document"))

    def evaluate(self, embeddings: Encoded, **options: Any) -> Result:
        """The result of searching the corpus for the queries, with the queries' ids."""
        found = evaluate(embeddings.queries, gallery=embeddings.corpus, relevance=self.relevance, **options)
        return found.named(self.query_ids)


def relevant_ids(query: Hashable, documents: Any) -> list[Hashable]:
    """The documents relevant to a query, each once."""
    if isinstance(documents, str | Mapping) or not isinstance(documents, Iterable):
        grades = " Grades are not supported, as in InformationRetrievalEvaluator: pass the ids of relevant documents."
        raise InputError(
            f"relevant_docs must have a set of ids for each query, but for query {query!r} it has "
            f"{type(documents).__name__}.{grades if isinstance(documents, Mapping) else ''}",
            "relevant_docs",
        )
    return list(dict.fromkeys(documents))


def relevance_of(
    judged: Sequence[Sequence[Hashable]], query_ids: Sequence[Hashable], corpus_ids: Sequence[Hashable]
) -> IntArray:
    """The relevant pairs as rows (position of the query, position of the document)."""
    place = {document: at for at, document in enumerate(corpus_ids)}
    for query, documents in zip(query_ids, judged, strict=True):
        missing = next((document for document in documents if document not in place), None)
        if missing is not None:
            raise InputError(
                f"relevant_docs names document {missing!r} for query {query!r}, but the corpus has no document with "
                f"this id, so no model can find it. {remedy(missing, place)}",
                ("relevant_docs", "corpus"),
            )
    rows = [(at, place[document]) for at, documents in enumerate(judged) for document in documents]
    return np.array(rows, dtype=np.int64)


def some_ids(ids: Iterable[Hashable]) -> str:
    """The first three ids as text for a message.

    >>> some_ids({1: "a", 2: "b", 3: "c", 4: "d"}), some_ids(["7"]), some_ids([])
    ('1, 2, 3, …', "'7'", 'none')
    """
    first = list(islice(ids, 4))
    return ", ".join([*map(repr, first[:3]), *("…" for _ in first[3:])]) or "none"


def remedy(missing: Hashable, ids: Collection[Hashable]) -> str:
    """The advice for an id that the corpus does not have.

    >>> remedy(7, ["7", "8"])
    "It has '7', but integers and strings differ: write the ids in the same way on both sides."
    """
    other = int(missing) if isinstance(missing, str) and missing.isdecimal() else str(missing)
    if other in ids:
        return f"It has {other!r}, but integers and strings differ: write the ids in the same way on both sides."
    return "Add the document to the corpus, or remove it from relevant_docs."
