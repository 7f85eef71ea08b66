"""`Distance`: the record of a distance, by which everything else reaches what its file holds."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.arrays import Embeddings, as_embeddings
from tieproof.ties import IntArray

if TYPE_CHECKING:
    from tieproof.distances.gauge import SpaceGauge
    from tieproof.distances.space import Resources, Space
    from tieproof.exact.rows import Rows


def numbers(values: Any, name: str, bits: int | None) -> Embeddings:
    """Embeddings of any numbers, which have no number of bits."""
    return as_embeddings(values, name)


@dataclass(frozen=True)
class Distance:
    """What is known of a distance.

    meaning : for people
    space : ranks the items of one query
    gauge : compares pairs of all queries, rounds distances and takes their differences
    other_names : other usual names of exactly this distance, in lower case with "_" between words
    up_to_factor : rows that are positive multiples of each other are the same
    bits : the embeddings are codes of bits, whose number may be given
    takes : the embeddings as people pass them, their name and `bits`, checked, in the form that the space ranks
    """

    meaning: str
    space: "type[Space]"
    gauge: "type[SpaceGauge]"
    other_names: tuple[str, ...] = ()
    up_to_factor: bool = False
    bits: bool = False
    takes: Callable[[Any, str, int | None], Embeddings] = numbers


def make_space(
    distance: Distance,
    queries: Embeddings,
    gallery: Embeddings | None,
    orders: tuple[IntArray, IntArray],
    resources: "Resources",
) -> "Space":
    """The space of distinct rows in which the distance is ranked exactly."""
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
    return distance.space(query_rows, item_rows, resources)
