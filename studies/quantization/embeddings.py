"""The ways in which the study stores the same embeddings, from float32 down to 32 bits for each item."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class Form(NamedTuple):
    """A way to store embeddings.

    name : what the tables call it
    bits : for each item
    distance : that it is compared by
    store : makes it of float32 embeddings, shape (n, 384)
    precision : that distances are rounded to, for a system that keeps them so; otherwise they are compared exactly
    """

    name: str
    bits: int
    distance: str
    store: Callable[[Array], Array]
    precision: str | None = None


def as_bfloat16(embeddings: Array) -> Array:
    """The nearest bfloat16 of each float32, ties to even, kept as float32: the same numbers in the type NumPy has.

    >>> as_bfloat16(np.array([1.0, 1.00390625, 1.01171875], dtype=np.float32))
    array([1.      , 1.      , 1.015625], dtype=float32)
    """
    bits = embeddings.view(np.uint32)
    even = (bits >> 16) & np.uint32(1)
    return ((bits + np.uint32(0x7FFF) + even) & np.uint32(0xFFFF0000)).view(np.float32)


def as_int8(embeddings: Array) -> Array:
    """All numbers times 127 over the largest magnitude, rounded: one scale for the whole collection.

    >>> as_int8(np.array([[0.5, -0.25], [0.1, 0.0]], dtype=np.float32)).tolist()
    [[127, -64], [25, 0]]
    """
    scaled = embeddings.astype(np.float64) * (127 / float(np.abs(embeddings).max()))
    return np.rint(scaled).astype(np.int8)


def signs(bits: int) -> Callable[[Array], Array]:
    """A bit for each of the first dimensions: whether the number is above 0.

    >>> signs(2)(np.array([[0.5, -0.25, 1.0]])).tolist()
    [[True, False]]
    """
    return lambda embeddings: embeddings[:, :bits] > 0


FORMS = (
    Form("float32", 384 * 32, "cosine", np.asarray),
    Form("distances in float16", 384 * 32, "cosine", np.asarray, "float16"),
    Form("distances in bfloat16", 384 * 32, "cosine", np.asarray, "bfloat16"),
    Form("float16", 384 * 16, "cosine", lambda embeddings: embeddings.astype(np.float16)),
    Form("bfloat16", 384 * 16, "cosine", as_bfloat16),
    Form("int8", 384 * 8, "cosine", as_int8),
    Form("384 signs", 384, "hamming", signs(384)),
    Form("64 signs", 64, "hamming", signs(64)),
    Form("32 signs", 32, "hamming", signs(32)),
)
"""The forms that the study compares.

A sign is what the binary quantization of sentence-transformers takes: whether a number is above 0
(https://sbert.net/examples/applications/embedding-quantization).
"""


def above_medians(embeddings: Array) -> Array:
    """Bits that half of the items have: whether each of the first 64 numbers is above its median."""
    return np.asarray(embeddings[:, :64] > np.median(embeddings[:, :64], axis=0))


def random_hyperplanes(embeddings: Array) -> Array:
    """The side of 64 random hyperplanes on which an item lies (Charikar 2002)."""
    normals = np.random.default_rng(0).standard_normal((embeddings.shape[1], 64))
    return np.asarray(embeddings @ normals > 0)


def principal_components(embeddings: Array) -> Array:
    """The first 64 principal components of each item."""
    centered = embeddings - embeddings.mean(axis=0, dtype=np.float64)
    return np.asarray(centered @ np.linalg.svd(centered, full_matrices=False)[2][:64].T)


def rotated_components(embeddings: Array) -> Array:
    """Signs of the components after the rotation that brings them closest to ±1 (ITQ, Gong and Lazebnik 2011)."""
    components = principal_components(embeddings)
    size = components.shape[1]
    rotation = np.linalg.qr(np.random.default_rng(0).standard_normal((size, size)))[0]
    for _ in range(50):
        left, _, right = np.linalg.svd(np.sign(components @ rotation).T @ components)
        rotation = (left @ right).T
    return np.asarray(components @ rotation > 0)


METHODS = (
    Form("signs", 64, "hamming", signs(64)),
    Form("above the medians", 64, "hamming", above_medians),
    Form("random hyperplanes", 64, "hamming", random_hyperplanes),
    Form("principal components", 64, "hamming", lambda embeddings: principal_components(embeddings) > 0),
    Form("rotated components", 64, "hamming", rotated_components),
)
"""Ways to make 64 bits of the same embeddings."""
