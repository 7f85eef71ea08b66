"""How embeddings are compared: score functions as distances, and embeddings of few bits."""

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
"""Our distance for each similarity of single vectors: both rank alike."""

BINARY = ("binary", "ubinary")
HAMMING = "hamming"
"""What scores of codes are called, whose distance is the number of bits that differ."""


def check_precision(precision: str | None, score_functions: Mapping[str, ScoreFunction] | None) -> None:
    """Refuse an unknown precision, score functions of codes, and none at all."""
    if score_functions is not None:
        check_functions(score_functions)
    if precision is not None:
        check_choice("precision", precision, get_args(Precision))
    if precision in BINARY and score_functions is not None:
        raise InputError(
            f"precision='{precision}' makes codes, which are compared by their Hamming distance, and score_functions "
            "were passed. Leave them out.",
            "score_functions",
        )


def check_functions(score_functions: Any) -> None:
    """Refuse what is no dictionary of functions by their names, and an empty one."""
    if not isinstance(score_functions, Mapping):
        raise InputError(
            'score_functions must be a dictionary such as {"cosine": cos_sim}, not '
            f"{type(score_functions).__name__}.",
            "score_functions",
        )
    if not score_functions:
        raise InputError(
            "score_functions is empty. Name at least one function, or leave it out: then the similarity of the model "
            "is taken.",
            "score_functions",
        )
    for name, function in score_functions.items():
        if not isinstance(name, str) or not callable(function):
            raise InputError(
                "score_functions must hold functions of two tensors by their names, and holds "
                f"{name!r}: {function!r}.",
                "score_functions",
            )


def check_model(model: Any, methods: Iterable[str]) -> None:
    """Refuse what gives no vector of fixed length for each text, by methods of these names."""
    name = type(model).__name__
    if isinstance(model, SparseEncoder):
        raise InputError(
            f"{name} gives sparse vectors, and those of a SentenceTransformer are expected. Let "
            "SparseInformationRetrievalEvaluator write its predictions, write_predictions=True, and pass their "
            "file to tieproof.evaluate_run.",
            "model",
        )
    missing = [method for method in methods if not hasattr(model, method)]
    if missing:
        raise InputError(f"The model is of type {name} and has no {missing[0]}. Pass a SentenceTransformer.", "model")


def distances_for(
    model: Any, score_functions: Mapping[str, ScoreFunction] | None, precision: str | None
) -> dict[str, str | DistanceFunction]:
    """The distance of each score function, by the names of these, sorted."""
    if precision in BINARY:
        return {HAMMING: HAMMING}
    if score_functions is not None:
        return {name: distance_of(score_functions[name]) for name in sorted(score_functions)}
    name = model.similarity_fn_name
    if name not in DISTANCES:
        raise InputError(
            f"The similarity of the model is '{name}', and those of single vectors are known: "
            f"{', '.join(DISTANCES)}. Choose one of them, or pass score_functions."
        )
    return {name: DISTANCES[name]}


def distance_of(function: ScoreFunction) -> str | DistanceFunction:
    """The distance that ranks as a score function does: exact for those of the library, else its own floats."""
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
    """Embeddings as score functions take them, which divide and square them: floats."""
    floats = embeddings if embeddings.dtype.kind == "f" else embeddings.astype(np.float32)
    return torch.tensor(floats)


def packed(embeddings: Array, precision: str | None) -> Array:
    """The signs of embeddings as packed bits, where such codes are asked for; else the embeddings as they are.

    Codes of "binary" are those of "ubinary" with 128 subtracted from each byte, which changes no distance.
    """
    if precision not in BINARY:
        return embeddings
    codes: Array = quantize_embeddings(embeddings, "ubinary")
    return codes


def calibrated(embeddings: Encoded, precision: str | None) -> Encoded:
    """The embeddings in this precision; the ranges of 8 bits are those of the corpus, or of the sentences."""
    if precision is None or precision in BINARY:
        return embeddings
    queries, corpus = embeddings
    items = queries if corpus is None else corpus
    ranges = np.array([items.min(axis=0), items.max(axis=0)])
    stored = quantize_embeddings(items, precision, ranges)
    if corpus is None:
        return Encoded(stored, None)
    return Encoded(quantize_embeddings(queries, precision, ranges), stored)
