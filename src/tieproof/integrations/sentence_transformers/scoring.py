"""How embeddings are compared: the distances of score functions, and quantized embeddings."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, get_args

import numpy as np
import torch
from sentence_transformers import SparseEncoder
from sentence_transformers.util import SimilarityFunction, quantize_embeddings

from tieproof.distances import DistanceFunction
from tieproof.errors import InputError
from tieproof.inputs.options import check_choice
from tieproof.integrations.sentence_transformers.tasks import Encoded
from tieproof.ties import Array

Precision = Literal["float32", "int8", "uint8", "binary", "ubinary"]
ScoreFunction = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

DISTANCES = {"cosine": "cosine", "dot": "dot", "euclidean": "euclidean", "manhattan": "cityblock"}
"""The distance of tieproof with the same ranking as each similarity of single vectors."""

BINARY = ("binary", "ubinary")
HAMMING = "hamming"
"""The name of the score function of binary codes, whose distance is the number of bits that differ."""


def check_precision(precision: str | None, score_functions: Mapping[str, ScoreFunction] | None) -> None:
    """Refuse an unknown precision, score functions for binary codes, and empty score functions."""
    if score_functions is not None:
        check_functions(score_functions)
    if precision is not None:
        check_choice("precision", precision, get_args(Precision))
    if precision in BINARY and score_functions is not None:
        raise InputError(
            f"score_functions cannot be used with precision='{precision}', whose codes are compared by Hamming "
            "distance. Leave score_functions out.",
            "score_functions",
        )


def check_functions(score_functions: Any) -> None:
    """Refuse anything but a non-empty dictionary of functions by their names."""
    if not isinstance(score_functions, Mapping):
        raise InputError(
            'score_functions must be a dictionary such as {"cosine": cos_sim}, not '
            f"{type(score_functions).__name__}.",
            "score_functions",
        )
    if not score_functions:
        raise InputError(
            "score_functions is empty. Pass at least one function, or leave it out to use the similarity of the "
            "model.",
            "score_functions",
        )
    for name, function in score_functions.items():
        if not isinstance(name, str) or not callable(function):
            raise InputError(
                f"score_functions must map names to functions of two tensors, but contains {name!r}: {function!r}.",
                "score_functions",
            )


def check_model(model: Any, methods: Iterable[str]) -> None:
    """Refuse a model that lacks one of these methods, or that does not return dense vectors."""
    name = type(model).__name__
    if isinstance(model, SparseEncoder):
        raise InputError(
            f"{name} returns sparse vectors, but dense vectors of a SentenceTransformer are expected. Let "
            "SparseInformationRetrievalEvaluator write its predictions with write_predictions=True, and pass the "
            "file to tieproof.evaluate_run.",
            "model",
        )
    missing = [method for method in methods if not hasattr(model, method)]
    if missing:
        raise InputError(f"model is of type {name}, which has no {missing[0]}. Pass a SentenceTransformer.", "model")


def distances_for(
    model: Any, score_functions: Mapping[str, ScoreFunction] | None, precision: str | None
) -> dict[str, str | DistanceFunction]:
    """The distances by the names of the score functions, sorted."""
    if precision in BINARY:
        return {HAMMING: HAMMING}
    if score_functions is not None:
        return {name: distance_of(score_functions[name]) for name in sorted(score_functions)}
    name = model.similarity_fn_name
    if name not in DISTANCES:
        raise InputError(
            f"The similarity of the model is '{name}', which is not one of {', '.join(DISTANCES)}. Choose one of "
            "them, or pass score_functions."
        )
    return {name: DISTANCES[name]}


def distance_of(function: ScoreFunction) -> str | DistanceFunction:
    """The distance that ranks as a score function does: exact for the library's functions, else by its floats."""
    for name, distance in DISTANCES.items():
        if function is SimilarityFunction.to_similarity_fn(name):
            return distance

    def negative(queries: Array, items: Array) -> Array:
        scores = torch.as_tensor(function(as_tensor(queries), as_tensor(items))).detach().cpu()
        found: Array = scores.double().neg().numpy()
        return found

    negative.__name__ = getattr(function, "__name__", type(function).__name__)
    return negative


def as_tensor(embeddings: Array) -> torch.Tensor:
    """Embeddings as floats, because score functions divide and square them."""
    floats = embeddings if embeddings.dtype.kind == "f" else embeddings.astype(np.float32)
    return torch.tensor(floats)


def packed(embeddings: Array, precision: str | None) -> Array:
    """The signs of embeddings as packed bits if the precision is binary; otherwise the embeddings unchanged.

    The codes of "binary" are the codes of "ubinary" minus 128 in each byte, which does not change any distance.
    """
    if precision not in BINARY:
        return embeddings
    codes: Array = quantize_embeddings(embeddings, "ubinary")
    return codes


def calibrated(embeddings: Encoded, precision: str | None) -> Encoded:
    """The embeddings in this precision; 8-bit values are scaled to the range of the corpus, or of the sentences."""
    if precision is None or precision in BINARY:
        return embeddings
    queries, corpus = embeddings
    items = queries if corpus is None else corpus
    ranges = np.array([items.min(axis=0), items.max(axis=0)])
    stored = quantize_embeddings(items, precision, ranges)
    if corpus is None:
        return Encoded(stored, None)
    return Encoded(quantize_embeddings(queries, precision, ranges), stored)
