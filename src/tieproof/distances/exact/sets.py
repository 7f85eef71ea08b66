"""`Sets`: the distinct items of several vectors each, of one side."""

from dataclasses import dataclass

import numpy as np

from tieproof.distances.exact.equal import first_equal, numbered, scan
from tieproof.distances.exact.rows import Rows, describe
from tieproof.inputs.multi_vectors import MultiVectors
from tieproof.inputs.relevance import ranges
from tieproof.ties import IntArray


@dataclass
class Sets:
    """The distinct items of one side, which are ranked in place of `Rows`."""

    embeddings: MultiVectors  # n items, as passed
    identity: IntArray  # identity, first, weight: (n,), (u,) and (u,), as those of `Rows`
    first: IntArray
    weight: IntArray
    vectors: Rows  # the vectors of the distinct items, item after item, as rows of a space of their own
    ends: IntArray  # (u,) where the vectors of each distinct item end
    zero_vectors: int  # the number of items that have only zeros, as they were passed

    def __post_init__(self) -> None:
        """Compute in advance what many threads will read."""
        self.dimensions = self.vectors.dimensions
        self.starts = np.append(0, self.ends[:-1])
        self.lengths = self.ends - self.starts

    def __len__(self) -> int:
        """The number of distinct items."""
        return len(self.first)

    @property
    def exact_in_float64(self) -> bool:
        """Whether every number is exact in float64."""
        return self.vectors.exact_in_float64

    def vectors_of(self, items: slice | IntArray) -> tuple[IntArray, slice | IntArray]:
        """Return the numbers of vectors of some distinct items, and which rows of `vectors` they are."""
        if isinstance(items, slice):
            start, stop, _ = items.indices(len(self))
            return self.lengths[items], slice(int(self.starts[start]), int(self.ends[stop - 1]))
        return self.lengths[items], ranges(self.starts[items], self.lengths[items])[1]


def distinct_sets(given: MultiVectors, name: str, repeats: bool, order: IntArray, threads: int = 1) -> Sets:
    """Number the distinct items by their first appearance in `order`.

    repeats : whether items differ that have a vector in different numbers, as queries do; otherwise each vector of an
        item is kept once
    """
    array, item = given.vectors, np.repeat(np.arange(len(given)), given.lengths)
    statistics = scan(array, name, False, threads)
    vector = first_equal(array, statistics.checksum, False)
    place = np.lexsort((vector, item))
    if not repeats:
        place = place[(np.diff(item[place], prepend=-1) != 0) | (np.diff(vector[place], prepend=-1) != 0)]
    length = np.bincount(item[place], minlength=len(given))
    starts = np.cumsum(length) - length
    seen: dict[bytes, int] = {}  # the first item with these vectors
    sets = enumerate(np.split(vector[place], starts[1:]))
    identity, first = numbered(np.array([seen.setdefault(own.tobytes(), item) for item, own in sets]), order)
    kept = place[ranges(starts[first], length[first])[1]]
    number = np.empty(len(array), dtype=np.int64)
    number[vector[kept]] = np.arange(len(kept))
    return Sets(
        embeddings=given,
        identity=identity,
        first=first,
        weight=np.bincount(identity),
        vectors=describe(array, number[vector], kept, statistics),
        ends=np.cumsum(length[first]),
        zero_vectors=int((np.maximum.reduceat(statistics.largest, given.offsets[:-1]) == 0).sum()),
    )
