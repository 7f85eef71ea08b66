"""What models return: dense rows, also in fewer bits, sparse rows, or several vectors for each text."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from sentence_transformers import CrossEncoder, quantize_embeddings
from tqdm import trange

from tieproof.errors import InputError
from tieproof.integrations.sentence_transformers.tasks import Encoded
from tieproof.kit import as_rows, joined

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
