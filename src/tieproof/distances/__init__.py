"""The distances: the record of each, and the registry that tells which module contains it."""

import re
from collections import UserDict
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.arrays import Embeddings, as_embeddings
from tieproof.ties import IntArray

if TYPE_CHECKING:
    from tieproof.distances.gauge import SpaceGauge
    from tieproof.distances.space import Resources, Space

DistanceName = Literal["cosine", "euclidean", "sqeuclidean", "cityblock", "dot", "hamming", "maxsim", "meanmaxsim"]
"""The names that an editor completes; others, of other libraries or registered, are texts."""

DistanceFunction = Callable[[Any, Any], Any]
"""Returns the distances (q, n) of a block of queries (q, d) and a block of gallery items (n, d)."""


@dataclass(frozen=True)
class Distance:
    """The record of a distance."""

    meaning: str  # the formula, for documentation
    space: "type[Space]"  # ranks the items of one query
    gauge: "type[SpaceGauge]"  # compares pairs of all queries, rounds distances and takes their differences
    # Other common names of exactly this distance, in lower case with "_" between words.
    other_names: tuple[str, ...] = ()
    up_to_factor: bool = False  # whether rows that are positive multiples of each other are equal
    bits: bool = False  # whether the embeddings are codes of bits, whose number may be given
    several: bool = False  # whether an item has several vectors, of which the space ranks sets
    sparse: bool = False  # whether the space ranks sparse rows, too
    # A bound of the absolute distances of rows, given the bounds of both sides' entries and their dimensions; by
    # default that of the sum of |x - y|.
    extent: Callable[[float, float, int], float] = lambda first, second, dimensions: dimensions * (first + second)
    # Checks embeddings, given their name and `bits`, and converts them to the form that the space ranks.
    takes: Callable[[Any, str, int | None], Any] = lambda values, name, bits: as_embeddings(values, name)


class DistanceRegistry(UserDict[str, Any]):
    """Distances by name; a record given as "module:NAME" is imported when it is first used, not for its name."""

    def __getitem__(self, name: str) -> Distance:
        if isinstance(self.data[name], str):
            module, _, constant = self.data[name].partition(":")
            self.data[name] = getattr(import_module(module), constant)
        record: Distance = self.data[name]
        return record


DISTANCES = DistanceRegistry(
    {
        "cosine": "tieproof.distances.cosine:COSINE",
        "euclidean": "tieproof.distances.euclidean:EUCLIDEAN",
        "sqeuclidean": "tieproof.distances.euclidean:SQEUCLIDEAN",
        "cityblock": "tieproof.distances.cityblock:CITYBLOCK",
        "dot": "tieproof.distances.dot:DOT",
        "hamming": "tieproof.distances.hamming:HAMMING",
        "maxsim": "tieproof.distances.maxsim:MAXSIM",
        "meanmaxsim": "tieproof.distances.maxsim:MEANMAXSIM",
    }
)

# Distances that are functions of ours, and rank alike, but have other values.
SAME_ORDER = {"angular": "cosine", "angle": "cosine", "arccos": "cosine"}
SPELLED_ALIKE = 0.75  # the least similarity, by `difflib`, of a misspelled name to the suggested one
OF_SEVERAL = ("maxsim", "meanmaxsim")  # the distances of items of several vectors, which not all calls take


def our_name(name: str) -> str:
    """Return tieproof's name of a distance; letter case and separators do not matter.

    >>> our_name("L2"), our_name("inner product"), our_name("hamming")
    ('euclidean', 'dot', 'hamming')
    """
    if name in DISTANCES:
        return name
    spelling = re.sub(r"[\s_-]+", "_", name.strip()).casefold()
    if spelling in DISTANCES:
        return spelling
    others = {other: ours for ours, distance in DISTANCES.items() for other in distance.other_names}
    if spelling in others:
        return others[spelling]
    from difflib import get_close_matches

    near = get_close_matches(spelling, [*DISTANCES, *others], n=1, cutoff=SPELLED_ALIKE)
    nearest = f" Nearest: {others.get(near[0], near[0])}." if near else ""
    if spelling in SAME_ORDER:
        nearest = f" Pass {SAME_ORDER[spelling]}, which ranks all items in the same order, and has the same ties."
    raise InputError(
        f"Unknown distance {name!r}.{nearest} Known distances: {', '.join(DISTANCES)}; or pass a function."
    )


def find_distance(name: str) -> Distance:
    """Return the distance of that name."""
    return DISTANCES[our_name(name)]


def reported(distance: str | DistanceFunction) -> str:
    """Return the name of a distance in results: tieproof's name, or "function" and the name of a function.

    >>> reported("manhattan"), reported(len)
    ('cityblock', 'function len')
    """
    if isinstance(distance, str):
        return our_name(distance)
    return f"function {getattr(distance, '__name__', type(distance).__name__)}"


def make_space(
    distance: Distance,
    queries: Embeddings,
    gallery: Embeddings | None,
    orders: tuple[IntArray, IntArray],
    resources: "Resources",
    ends: tuple[int, ...] = (),
) -> "Space":
    """The space of distinct rows, which ranks exactly; items of different parts, by `ends`, differ."""
    from tieproof.distances.exact.rows import distinct_rows

    def rows(array: Any, name: str, order: IntArray, ends: tuple[int, ...], of_queries: bool = False) -> Any:
        if array.dtype == np.float16 and 4 * array.size <= resources.keep_bytes:
            array = array.astype(np.float32)  # exact, and read many times faster
        if distance.several:
            from tieproof.distances.exact.sets import distinct_sets

            return distinct_sets(array, name, of_queries, order, resources.threads)
        return distinct_rows(array, name, distance.up_to_factor, order, resources.threads, ends)

    if gallery is None:
        query_rows = item_rows = rows(queries, "embeddings", orders[0], ends)
        if distance.several:  # of which queries may have some twice
            query_rows = rows(item_rows.embeddings, "embeddings", orders[0], ends, True)
    else:
        query_rows = rows(queries, "queries", orders[0], (), True)
        item_rows = rows(gallery, "gallery", orders[1], ends)
    if queries.dtype != item_rows.embeddings.dtype and not (
        query_rows.exact_in_float64 and item_rows.exact_in_float64
    ):
        common = np.result_type(queries, item_rows.embeddings)
        if common.kind in "iu" and gallery is not None:
            return make_space(distance, queries.astype(common), gallery.astype(common), orders, resources, ends)
        raise InputError(
            f"The queries are {queries.dtype.name}, but the gallery is {item_rows.embeddings.dtype.name}, with "
            "integers beyond 2^53, and no type holds all numbers of both. Convert both to int64, or to uint64, if it "
            "holds the numbers that they have; fractions need smaller integers beside them."
        )
    return distance.space(query_rows, item_rows, resources)
