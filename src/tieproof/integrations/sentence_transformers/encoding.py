"""The texts that models are evaluated on, and what they return for them.

The texts are queries, a corpus and relevant documents, or sentences with labels. Models return dense rows, also in
fewer bits, sparse rows, or several vectors for each text.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np
from sentence_transformers import CrossEncoder, quantize_embeddings
from tqdm import trange

from tieproof import Result, evaluate
from tieproof.errors import InputError, about
from tieproof.kit import as_label_array, as_labels, as_rows, joined

Encoded = tuple[Any, Any]
"""The rows of the queries and of the corpus; the corpus is None if the queries are searched for one another."""

Precision = Literal["float32", "int8", "uint8", "binary", "ubinary"]
BINARY = ("binary", "ubinary")


class Kind(NamedTuple):
    """A kind of model: what it returns, its own options of evaluators, and what its methods are asked to return."""

    returns: str
    options: tuple[str, ...]
    asked: dict[str, bool]


DENSE = Kind("dense vectors", ("truncate_dim", "precision"), {"convert_to_numpy": True})
SPARSE = Kind("sparse vectors", ("max_active_dims",), {"save_to_cpu": True})
LATE = Kind("several vectors", (), {"convert_to_numpy": True})
_KINDS = {"SparseEncoder": SPARSE, "MultiVectorEncoder": LATE}
"""The kinds by the names of the classes of models, of which older versions of the library lack the second."""


def kind_of(model: Any) -> Kind:
    """The kind of a model; other classes are taken for models of dense vectors."""
    return next((_KINDS[each.__name__] for each in type(model).__mro__ if each.__name__ in _KINDS), DENSE)


def check_model(model: Any, methods: Iterable[str], **options: Any) -> None:
    """Refuse a model that lacks one of these methods or returns no vectors, and options that another kind has."""
    name, kind = type(model).__name__, kind_of(model)
    if isinstance(model, CrossEncoder):
        raise InputError(
            f"{name} scores pairs of texts, but vectors of a SentenceTransformer are expected. Pass the scores that "
            "its predict returns to tieproof.evaluate_scores, a row for the candidates of each query.",
            "model",
        )
    missing = [method for method in methods if not hasattr(model, method)]
    if missing:
        raise InputError(f"model is of type {name}, which has no {missing[0]}. Pass a SentenceTransformer.", "model")
    for option, value in options.items():
        if value is not None and option not in kind.options:
            raise InputError(f"{option} does not apply to the {kind.returns} of a {name}. Leave it out.", option)


def encoded(
    model: Any, method: str, texts: Sequence[Any], at_a_time: int, precision: str | None = None, **options: Any
) -> Any:
    """Encode texts chunk by chunk, and return dense rows or binary codes, sparse rows, or items of several vectors.

    options : of the method; those that are None are left out
    """
    options = {name: value for name, value in options.items() if value is not None} | kind_of(model).asked
    embeddings, parts = np.empty(0), []
    hidden = not options["show_progress_bar"] or len(texts) <= at_a_time
    for at in trange(0, len(texts), at_a_time, desc="Corpus Chunks", disable=hidden):
        chunk = getattr(model, method)(texts[at : at + at_a_time], **options)
        rows = packed(as_rows(chunk, "embeddings", sparse=True), precision)
        if not isinstance(rows, np.ndarray):
            parts.append(rows)
            continue
        if not at:  # dense rows get one place from the start, since they may fill half of the memory
            embeddings = np.empty((len(texts), rows.shape[1]), rows.dtype)
        embeddings[at : at + len(rows)] = rows
    return joined(parts) if parts else embeddings


def packed(embeddings: Any, precision: str | None) -> Any:
    """The signs of embeddings as packed bits if the precision is binary; otherwise the embeddings unchanged.

    The codes of "binary" are the codes of "ubinary" minus 128 in each byte, which does not change any distance.
    """
    if precision not in BINARY:
        return embeddings
    return np.packbits(embeddings > 0, axis=-1)


def calibrated(embeddings: Encoded, precision: str | None) -> Encoded:
    """The embeddings in this precision; 8-bit values are scaled to the range of the corpus, or of the sentences."""
    if precision is None or precision in BINARY:
        return embeddings
    queries, corpus = embeddings
    items = queries if corpus is None else corpus
    ranges = np.array([items.min(axis=0), items.max(axis=0)])
    stored = quantize_embeddings(items, precision, ranges)
    if corpus is None:
        return stored, None
    return quantize_embeddings(queries, precision, ranges), stored


SPARSITY = ("query_active_dims", "query_sparsity_ratio", "corpus_active_dims", "corpus_sparsity_ratio", "avg_flops")
"""What evaluators of a SparseEncoder add to the metrics; the last one is not of rerankings."""


def sparsity(embeddings: Encoded) -> dict[str, float]:
    """Of both sides, the mean number of terms of a row and the share of the others; the mean products of two rows."""
    queries, corpus = embeddings[0], embeddings[0] if embeddings[1] is None else embeddings[1]
    means = [rows.size / len(rows) for rows in (queries, corpus)]
    of_query, of_document = (np.bincount(rows.terms, minlength=rows.shape[1]) for rows in (queries, corpus))
    products = int(of_query @ of_document) / (len(queries) * len(corpus))
    shares = [1 - mean / queries.shape[1] for mean in means]
    return dict(zip(SPARSITY, (means[0], shares[0], means[1], shares[1], products), strict=True))


class TextTask(NamedTuple):
    """What a model is evaluated on; `labeled` and `retrieval` make it."""

    queries: list[Any]
    corpus: list[Any] | None  # None if the queries are sentences, which are searched for one another
    judged: dict[str, Any]  # what is relevant, as an argument of `evaluate`
    query_ids: Any = None

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of texts that are encoded."""
        return ("sentence",) if self.corpus is None else ("query", "document")

    def encoded(self, encode: Callable[[Sequence[Any], str], Any]) -> Encoded:
        """The embeddings of the queries and of the corpus."""
        if self.corpus is None:
            return encode(self.queries, "sentence"), None
        return encode(self.queries, "query"), encode(self.corpus, "document")

    def evaluate(self, embeddings: Encoded, **options: Any) -> Result:
        """The result of searching the corpus, or the other sentences, for the queries, with the queries' ids."""
        queries, corpus = embeddings
        result = evaluate(queries, gallery=corpus, **self.judged, **options)
        return result if self.query_ids is None else result.named(self.query_ids)


def labeled(sentences: Any, labels: Any) -> TextTask:
    """Sentences with labels: each is a query for the others that have its label."""
    if labels is None or sentences is None:
        given, missing = ("sentences", "labels") if labels is None else ("labels", "sentences")
        raise InputError(f"{given} were passed without {missing}. Pass {missing}= with one entry for each.", missing)
    if isinstance(sentences, str | bytes | Mapping) or not isinstance(sentences, Iterable):
        raise InputError(f"sentences must be a list of texts, not {type(sentences).__name__}.", "sentences")
    queries = list(sentences)
    if not queries:
        raise InputError("sentences is empty. Pass at least two sentences with the same label.", "sentences")
    with about("labels", "sentences"):
        known = as_labels(labels, len(queries), "labels", "sentences")
    counts = known.sum(axis=0) if known.ndim == 2 else np.unique(known, return_counts=True)[1]  # columns of 0 and 1
    if not (counts > 1).any():
        raise InputError(
            f"No two of {len(queries)} sentences share a label, so none is a query for another. Check that labels "
            "and sentences belong together.",
            ("labels", "sentences"),
        )
    return TextTask(queries, None, {"labels": known})


def retrieval(queries: Any, corpus: Any, relevant_docs: Any) -> TextTask:
    """Queries, a corpus, and the documents that are relevant to each query.

    Queries without relevant documents are left out, as in `InformationRetrievalEvaluator`.
    """
    for name, value in (("queries", queries), ("corpus", corpus), ("relevant_docs", relevant_docs)):
        if not isinstance(value, Mapping):
            raise InputError(
                f"{name} must be a dictionary from ids to "
                f"{'sets of ids or to grades' if name == 'relevant_docs' else 'texts'}, not {type(value).__name__}.",
                name,
            )
    judged = {query: _grades(query, relevant_docs[query]) for query in queries if query in relevant_docs}
    evaluated = [query for query, grades in judged.items() if any(grade > 0 for grade in grades.values())]
    if not evaluated:
        raise InputError(
            f"None of {len(queries)} queries has a relevant document in relevant_docs. Check that their ids belong "
            f"together: queries have {_some_ids(queries)}, relevant_docs has {_some_ids(relevant_docs)}.",
            ("queries", "relevant_docs"),
        )
    with about("queries"):
        query_ids = as_label_array(evaluated, "ids of the queries")
    relevance = _relevance_of([judged[query] for query in evaluated], evaluated, list(corpus))
    return TextTask(
        [queries[query] for query in evaluated], list(corpus.values()), {"relevance": relevance}, query_ids
    )


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
