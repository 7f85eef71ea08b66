"""Queries, gallery and distance as people pass them, checked against each other."""

from typing import Any

import numpy as np

from tieproof.distances import Distance, DistanceFunction, as_vectors, find_distance
from tieproof.errors import InputError, about
from tieproof.inputs.arrays import Embeddings, as_array, as_embeddings, blocks, not_finite
from tieproof.inputs.lookalikes import warn_of_similarities


def as_inputs(
    embeddings: Any, gallery: Any, distance: str | DistanceFunction, bits: int | None
) -> tuple[Embeddings, Embeddings | None, Distance | DistanceFunction, int]:
    """Checked queries, gallery and distance, and the number of dimensions (for codes: of bits)."""
    kind = find_distance(distance) if isinstance(distance, str) else distance
    if not isinstance(kind, Distance) and not callable(kind):
        raise InputError(f"The distance must be a name or a function, not {type(kind).__name__}.")
    if bits is not None and not (isinstance(kind, Distance) and kind.bits):
        raise InputError(f"bits={bits} belongs to distance='hamming' with packed codes.")
    name = "embeddings" if gallery is None else "queries"
    with about("embeddings"):
        queries = as_array(embeddings, name)
    with about("gallery"):
        items = None if gallery is None else as_array(gallery, "gallery")
    if items is not None and items.ndim == queries.ndim == 2 and items.shape[1] != queries.shape[1]:
        raise InputError(
            f"The queries have {queries.shape[1]} dimensions and the gallery has {items.shape[1]}. Both must come "
            "from the same model.",
            ("embeddings", "gallery"),
        )

    def checked(array: Embeddings, name: str) -> Embeddings:
        if isinstance(kind, Distance):
            return as_vectors(array, name, kind, bits)
        vectors = as_embeddings(array, name)
        check_finite(vectors, name)
        return vectors

    with about("embeddings"):
        vectors = checked(queries, name)
    with about("gallery"):
        gallery_vectors = None if items is None else checked(items, "gallery")
    if not (isinstance(kind, Distance) and kind.bits):
        warn_of_similarities(vectors, name)
    return vectors, gallery_vectors, kind, bits or queries.shape[1]


def check_finite(array: Embeddings, name: str) -> None:
    """Refuse NaN and infinity by the first row that holds one."""
    for start, block in blocks(array):
        finite = np.isfinite(block).all(axis=1)
        if not finite.all():
            row = int(np.argmin(finite))
            raise not_finite(name, start + row, block[row])
