"""What an evaluator is given: items with their labels, queries with theirs, and how they are written down.

In a case for an evaluator of embeddings the rows of `items` and `queries` are vectors. In a case for an evaluator of
scores there are no query vectors, and the row of an item holds its scores for all queries. So the items are rows in
both, and whoever permutes, duplicates or rescales them need not know which it is.
"""

from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np

from tieproof.ties import Array, IntArray

CLASSES, ITEMS, QUERIES, DIMENSIONS = 10, 200, 60, 16


class Writing(NamedTuple):
    """How a run is written down: none of it may matter.

    names : seed by which documents get other names; 0 numbers them as they come
    lines : seed by which the lines of each file are shuffled; 0 leaves them, query by query
    ranks : whether the rank column counts down instead of up
    """

    names: int = 0
    lines: int = 0
    ranks: bool = False


AS_IT_COMES = Writing()


@dataclass(frozen=True)
class Case:
    """Items (n, d) and labels (n,); queries (q, d) and query_labels (q,).

    Without query_labels every item queries all the others. With query_labels and no queries, items (n, q) are
    scores.
    """

    items: Array
    labels: IntArray
    queries: Array | None = None
    query_labels: IntArray | None = None
    writing: Writing = AS_IT_COMES

    def pack(self) -> bytes:
        """The case as bytes that hold arrays and nothing that could be executed."""
        arrays = {"items": self.items, "labels": self.labels, "writing": np.array(self.writing, dtype=np.int64)}
        for name in ("queries", "query_labels"):
            if getattr(self, name) is not None:
                arrays[name] = getattr(self, name)
        packed = BytesIO()
        np.savez(packed, allow_pickle=False, **arrays)
        return packed.getvalue()

    @classmethod
    def unpack(cls, packed: bytes) -> "Case":
        """The case that `pack` gave as bytes.

        >>> Case.unpack(Case(np.eye(2), np.array([7, 7])).pack()).labels
        array([7, 7])
        """
        with np.load(BytesIO(packed), allow_pickle=False) as arrays:
            fields: dict[str, Any] = dict(arrays)
        names, lines, ranks = fields.pop("writing").tolist()
        return cls(**fields, writing=Writing(names, lines, bool(ranks)))


class Layout(NamedTuple):
    """An order of the classes in the data: `labels` takes a count and a generator."""

    name: str
    labels: Callable[[int, np.random.Generator], IntArray]
    redrawn: bool = False


def by_class(count: int) -> IntArray:
    """Classes of equal size, one after the other.

    >>> by_class(20)[:6]
    array([0, 0, 1, 1, 2, 2])
    """
    return np.arange(count) * CLASSES // count


def of_unequal_size(count: int) -> IntArray:
    """Class c has 2c + 1 of every CLASSES² items; the largest comes first.

    >>> np.bincount(of_unequal_size(200))
    array([ 2,  6, 10, 14, 18, 22, 26, 30, 34, 38])
    """
    ends = np.arange(1, CLASSES) ** 2 * count
    return np.searchsorted(ends, np.arange(count)[::-1] * CLASSES**2, side="right")


LAYOUTS = {
    layout.name: layout
    for layout in (
        Layout("sorted", lambda count, _: by_class(count)),
        Layout("interleaved", lambda count, _: np.arange(count) % CLASSES),
        Layout("reversed", lambda count, _: by_class(count)[::-1].copy()),
        Layout("shuffled", lambda count, random: random.permutation(by_class(count)), redrawn=True),
        Layout("unequal", lambda count, _: of_unequal_size(count)),
    )
}
"""The orders of the classes that every blind attack is tried on."""
