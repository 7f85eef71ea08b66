"""The nearest gallery items of queries, in exact order, with their ties and with distances rounded to float32."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import tieproof
from tieproof.compat.oml.dataset import Split
from tieproof.kit import IntArray, as_array


class ShownNeighbors(NamedTuple):
    """The nearest items of one query.

    items : (c,) positions in the gallery, nearest first; tied items are in the order of the gallery
    distances : (c,) rounded to float32, and equal where items are tied
    first, size : (c,) for each item, the position in this list where its tie begins, and how many items the tie
        holds, including items that are not listed
    """

    items: IntArray
    distances: npt.NDArray[np.float32]
    first: IntArray
    size: IntArray


def nearest(split: Split, count: int) -> Iterator[ShownNeighbors]:
    """The `count` nearest items of each query, or all items that it ranks if there are fewer."""
    k, excluded = min(count, len(split.items)), split.pairs["exclude"]
    found = tieproof.nearest(split.queries, split.gallery, k, distance="euclidean", exclude=excluded)
    with np.errstate(over="ignore", under="ignore"):
        distances = found.distances.astype(np.float32)
    for query, nearer in enumerate(found.nearer):
        first = nearer[nearer >= 0]
        size = np.bincount(first)[first]
        size[first == found.tie_starts[query]] = len(found.tie(query))
        yield ShownNeighbors(found.ids[query, : len(first)], distances[query, : len(first)], first, size)


def with_equal_ones(distances: Any, ids: Any) -> ShownNeighbors:
    """A list whose equal distances are ties."""
    values, items = as_array(distances, "distances"), as_array(ids, "retrieved_ids")
    _, first, inverse, size = np.unique(values, return_index=True, return_inverse=True, return_counts=True)
    return ShownNeighbors(items, values, first[inverse], size[inverse])
