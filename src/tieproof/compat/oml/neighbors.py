"""The nearest gallery items of queries, in exact order, with their ties and with distances rounded to float32."""

from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from tieproof.compat.oml.dataset import Split
from tieproof.distances import DISTANCES, make_space
from tieproof.distances.euclidean import Euclidean, EuclideanGauge
from tieproof.distances.exact.bounds import SAFETY, check_products
from tieproof.distances.gauge import resources_of_gauge
from tieproof.engine import nearest_of
from tieproof.inputs.arrays import as_array
from tieproof.ties import IntArray

_BLOCK_ENTRIES = 2**22
"""The largest number of keys, and of entries of difference vectors, that are held in memory at once."""

_UNIT_ROUNDOFF = 2.0**-53


class Neighbors(NamedTuple):
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


def nearest(split: Split, count: int, memory: int = 2**30) -> Iterator[Neighbors]:
    """The `count` nearest items of each query, or all items that it ranks if there are fewer."""
    orders = np.arange(len(split.queries)), np.arange(len(split.items))
    resources = resources_of_gauge(memory // 4)
    space = make_space(DISTANCES["euclidean"], split.queries, split.gallery, orders, resources)
    gauge = EuclideanGauge(cast(Euclidean, space))
    check_products()
    step = max(1, _BLOCK_ENTRIES // len(split.items))
    count = min(count, len(split.items))
    for start in range(0, len(split.queries), step):
        span = np.arange(start, min(start + step, len(split.queries)))
        query, item, tie = nearest_of(gauge.space, span, [split.excluded_items[place] for place in span], count)
        begins = np.searchsorted(query, np.arange(len(span)))
        size = np.bincount(tie)
        first = (np.cumsum(size) - size)[tie] - begins[query]
        listed = np.arange(len(query)) - begins[query] < count
        distances = _rounded_distances(gauge, split, span[query[listed]], item[listed])
        cuts = np.cumsum(np.bincount(query[listed], minlength=len(span)))[:-1]
        columns = (item[listed], distances, first[listed], size[tie[listed]])
        for parts in zip(*(np.split(column, cuts) for column in columns), strict=True):
            yield Neighbors(*parts)


def _rounded_distances(
    gauge: EuclideanGauge, split: Split, queries: IntArray, items: IntArray
) -> npt.NDArray[np.float32]:
    """The distances of pairs, rounded to float64 and then to float32.

    The square root of a sum of d squares, computed in float64, has a relative error below (d + 8) u. If two float32
    are possible within that error, the exact distance is computed. Squares that underflow or overflow belong to
    distances that float32 rounds to 0 or infinity.
    """
    distances = np.empty(len(queries), dtype=np.float32)
    dimensions = split.queries.shape[1]
    step = max(1, _BLOCK_ENTRIES // dimensions)
    error = (dimensions + 8) * _UNIT_ROUNDOFF * SAFETY
    certain = gauge.space.queries.exact_in_float64 and gauge.space.items.exact_in_float64
    for start in range(0, len(queries), step):
        span = slice(start, start + step)
        with np.errstate(over="ignore", under="ignore"):
            difference = split.queries[queries[span]].astype(np.float64) - split.items[items[span]]
            about = np.sqrt(np.einsum("ij,ij->i", difference, difference))
            low, high = ((about * (1 + sign * error)).astype(np.float32) for sign in (-1, 1))
        unsure = np.flatnonzero((low != high) | (not certain))
        distances[span] = low
        rows = gauge.space.queries.identity[queries[span][unsure]]
        columns = gauge.space.items.identity[items[span][unsure]]
        exact = gauge.exact(np.zeros(len(rows)), rows, columns)
        distances[start + unsure] = [np.float32(gauge.distance(key * gauge.unit)) for key in exact]
    return distances


def with_equal_ones(distances: Any, ids: Any) -> Neighbors:
    """A list whose equal distances are ties."""
    values, items = as_array(distances, "distances"), as_array(ids, "retrieved_ids")
    _, first, inverse, size = np.unique(values, return_index=True, return_inverse=True, return_counts=True)
    return Neighbors(items, values, first[inverse], size[inverse])
