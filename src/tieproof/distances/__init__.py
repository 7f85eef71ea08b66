"""The distances by name, and what each takes."""

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tieproof.errors import InputError
from tieproof.inputs.arrays import (
    Embeddings,
    as_array,
    as_embeddings,
    type_name,
)

if TYPE_CHECKING:
    from tieproof.distances.space import Resources, Space
    from tieproof.exact.rows import Rows

DistanceFunction = Callable[[Any, Any], Any]
"""A block of queries (q, d) and a block of gallery items (n, d) to their distances (q, n)."""

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Distance:
    """A distance: the module of its exact order (in `tieproof.exact`), its class there, and its meaning."""

    module: str
    name: str
    meaning: str
    up_to_factor: bool = False
    bits: bool = False


DISTANCES = {
    "cosine": Distance("cosine", "Cosine", "x.y / (|x| |y|), larger is nearer", up_to_factor=True),
    "euclidean": Distance("euclidean", "Euclidean", "sqrt(sum (x - y)^2)"),
    "sqeuclidean": Distance("euclidean", "Euclidean", "sum (x - y)^2, the same order as euclidean"),
    "cityblock": Distance("cityblock", "CityBlock", "sum |x - y|"),
    "dot": Distance("dot", "Dot", "x.y, larger is nearer"),
    "hamming": Distance("hamming", "Hamming", "the number of bits that differ", bits=True),
}


SYNONYMS = {
    "cos": "cosine",
    "cosine_distance": "cosine",
    "cosine_similarity": "cosine",
    "l2": "euclidean",
    "euclid": "euclidean",
    "l2sq": "sqeuclidean",
    "squared_l2": "sqeuclidean",
    "squared_euclidean": "sqeuclidean",
    "l1": "cityblock",
    "manhattan": "cityblock",
    "taxicab": "cityblock",
    "ip": "dot",
    "inner_product": "dot",
    "dot_product": "dot",
}
"""Other usual names of exactly these distances."""

NEAR = 0.75
"""How similar a misspelt name is to the one that was meant, by `difflib`."""


def our_name(name: str) -> str:
    """The name by which we know a distance, whatever the letter case and the separators.

    >>> our_name("L2"), our_name("inner product"), our_name("hamming")
    ('euclidean', 'dot', 'hamming')
    """
    spelling = re.sub(r"[\s_-]+", "_", name.strip()).casefold()
    if spelling in DISTANCES:
        return spelling
    if spelling in SYNONYMS:
        return SYNONYMS[spelling]
    near = difflib.get_close_matches(spelling, [*DISTANCES, *SYNONYMS], n=1, cutoff=NEAR)
    nearest = f" Nearest: {SYNONYMS.get(near[0], near[0])}." if near else ""
    raise InputError(
        f"Unknown distance {name!r}.{nearest} Known distances: {', '.join(DISTANCES)}; or pass a function."
    )


def find_distance(name: str) -> Distance:
    """The distance of that name."""
    return DISTANCES[our_name(name)]


def reported(distance: str | DistanceFunction) -> str:
    """What results call a distance: our name for it, or that of a function, said to be one.

    >>> reported("manhattan"), reported(len)
    ('cityblock', 'function len')
    """
    if isinstance(distance, str):
        return our_name(distance)
    return f"function {getattr(distance, '__name__', type(distance).__name__)}"


def as_vectors(values: Any, name: str, distance: Distance, bits: int | None) -> Embeddings:
    """The embeddings in the form that the distance ranks."""
    return as_codes(values, name, bits) if distance.bits else as_embeddings(values, name)


def as_codes(values: Any, name: str, bits: int | None) -> Embeddings:
    """Bool arrays (n, bits), or packed uint8 (n, ceil(bits / 8)) with `bits`, as packed half words."""
    from tieproof.distances.hamming import packed_halves

    array = as_array(values, name)
    if array.dtype == np.bool_:
        codes = as_embeddings(array, name)
        if bits is not None and bits != codes.shape[1]:
            raise InputError(f"The {name} have {codes.shape[1]} bits, and bits={bits}. Leave bits= out for bools.")
        return packed_halves(np.packbits(codes, axis=1))
    if array.dtype != np.uint8 or bits is None:
        raise InputError(
            f"Hamming distance takes bool arrays, or packed uint8 arrays with bits=, and the {name} are "
            f"{type_name(array.dtype)}{'' if bits is None else f' with bits={bits}'}. Convert them first, "
            "for example with x > 0."
        )
    packed = as_embeddings(array, name)
    if not 0 < bits <= 8 * packed.shape[1] or bits <= 8 * (packed.shape[1] - 1):
        raise InputError(
            f"The {name} have {packed.shape[1]} bytes a row, which is {8 * packed.shape[1] - 7} to "
            f"{8 * packed.shape[1]} bits, and bits={bits}."
        )
    spare = 8 * packed.shape[1] - bits
    if spare and (packed[:, -1] & np.uint8(2**spare - 1)).any():
        raise InputError(
            f"The {name} have bits set beyond bits={bits}. numpy.packbits fills the last byte with zeros; "
            "clear those bits."
        )
    return packed_halves(packed)


def make_space(
    distance: Distance,
    queries: Embeddings,
    gallery: Embeddings | None,
    orders: tuple[IntArray, IntArray],
    resources: "Resources",
) -> "Space":
    """The space of distinct rows in which the distance is ranked exactly."""
    from importlib import import_module

    from tieproof.exact.rows import distinct_rows

    def rows(array: Embeddings, name: str, order: IntArray) -> "Rows":
        if array.dtype == np.float16 and 4 * array.size <= resources.keep_bytes:
            array = array.astype(np.float32)  # exact, and read many times faster
        return distinct_rows(array, name, distance.up_to_factor, order, resources.threads)

    query_rows = rows(queries, "embeddings" if gallery is None else "queries", orders[0])
    item_rows = query_rows if gallery is None else rows(gallery, "gallery", orders[1])
    if queries.dtype != item_rows.embeddings.dtype and not (
        query_rows.exact_in_float64 and item_rows.exact_in_float64
    ):
        raise InputError(
            f"The queries are {queries.dtype.name} and the gallery is {item_rows.embeddings.dtype.name}, with "
            "integers beyond 2^53, which no common type holds. Convert both to the same type."
        )
    kind = getattr(import_module(f"tieproof.distances.{distance.module}"), distance.name)
    space: Space = kind(query_rows, item_rows, resources)
    return space
