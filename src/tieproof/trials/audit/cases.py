"""The input of an evaluator: items and queries with their labels, and how they are written to files.

In a case for an evaluator of embeddings, the rows of `items` and `queries` are vectors. In a case for an evaluator of
scores there are no query vectors, and the row of an item holds its scores for all queries. The items are rows in
both, so that functions which permute, duplicate or rescale items need not distinguish the two. An evaluator of recall
sees no vectors, only lists.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from io import BytesIO
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from tieproof.kit import Array, IntArray

CLASSES, DIMENSIONS, GROUPS = 10, 16, 3


class Writing(NamedTuple):
    """How a case is handed to the evaluator; none of these choices may matter."""

    names: int = 0  # seed of random document names; with 0, documents are named by their numbers
    lines: int = 0  # seed by which the lines of each file are shuffled; with 0, they are in order, query by query
    ranks: bool = False  # whether the rank column counts down instead of up
    empty: bool = False  # whether a query without listed documents is included, with an empty list
    memory: int = 0  # how arrays lie in memory, one of `MEMORY` by its place
    watched: bool = False  # whether the arguments are compared before and after the call


AS_IT_COMES = Writing()
# The ways in which arrays may lie in memory.
MEMORY = ("row by row", "column by column", "as every other row and column of a larger array")


@dataclass(frozen=True)
class Packable:
    """What an evaluator is called with: arrays, and how they are written."""

    def pack(self) -> bytes:
        """The fields as bytes, which contain only arrays and nothing that could be executed."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        arrays: dict[str, Any] = {name: np.asarray(value) for name, value in given.items() if value is not None}
        packed = BytesIO()
        np.savez(packed, **arrays)
        return packed.getvalue()

    @classmethod
    def unpack(cls, packed: bytes) -> Self:
        """What was packed, from the bytes that `pack` returned.

        >>> Case.unpack(Case(np.eye(2), np.array([7, 7])).pack()).labels
        array([7, 7])
        """
        with np.load(BytesIO(packed), allow_pickle=False) as arrays:
            given: dict[str, Any] = dict(arrays)
        return cls(**given | {"writing": Writing(*given["writing"].tolist())} if "writing" in given else given)


@dataclass(frozen=True)
class Case(Packable):
    """Items (n, d) and labels (n,); queries (q, d) and query_labels (q,); groups (n,) and query_groups (q,).

    Without query_labels every item queries all the others. With query_labels and no queries, items (n, q) are
    scores. `listed` (n, q) says how often a run lists an item; without it, every item is listed once. `numbers` (n,)
    and `query_numbers` (q,) are the numbers by which a run names documents and queries, which move with the items and
    queries; without them, both are numbered in order.
    """

    items: Array
    labels: IntArray
    queries: Array | None = None
    query_labels: IntArray | None = None
    groups: IntArray | None = None
    query_groups: IntArray | None = None
    listed: IntArray | None = None
    numbers: IntArray | None = None
    query_numbers: IntArray | None = None
    writing: Writing = AS_IT_COMES

    def take_items(self, chosen: IntArray) -> "Case":
        """The case with only the chosen items, in this order."""
        taken = self._taken(("items", "labels", "groups", "listed", "numbers"), chosen)
        return replace(self, **{"numbers": chosen} | taken)

    def take_queries(self, chosen: IntArray) -> "Case":
        """The case with only the chosen queries, in this order."""
        taken = self._taken(("queries", "query_labels", "query_groups", "query_numbers"), chosen)
        taken = {"query_numbers": chosen} | taken
        if self.queries is None:
            listed = None if self.listed is None else self.listed[:, chosen]
            taken |= {"items": self.items[:, chosen], "listed": listed}
        return replace(self, **taken)

    def _taken(self, names: Sequence[str], chosen: IntArray) -> dict[str, Any]:
        arrays = {name: getattr(self, name) for name in names}
        return {name: array[chosen] for name, array in arrays.items() if array is not None}

    def changed(self, change: Callable[[Array], Array]) -> "Case":
        """The case with the rows of its items changed and, if these are vectors, those of its queries."""
        queries = None if self.queries is None else change(self.queries)
        return replace(self, items=change(self.items), queries=queries)

    def with_groups(self, random: np.random.Generator) -> "Case":
        """The case with groups that tell nothing about the labels."""
        asked = None if self.query_labels is None else groups_of(self.query_labels, random)
        return replace(self, groups=groups_of(self.labels, random), query_groups=asked)


@dataclass(frozen=True)
class RecallLists(Packable):
    """The arguments of an evaluator of recall."""

    writing: ClassVar[Writing] = AS_IT_COMES  # as every case has it
    found: IntArray  # found, distances: (q, K) the items that an index found and their distances, as it returned them
    distances: Array
    true_ids: IntArray  # true_ids, true_distances: (q, m) the nearest items, nearest first; m is larger than K
    true_distances: Array

    def arguments(self) -> tuple[Array, Array, tuple[Array, Array]]:
        """Found items, distances and the truth, as copies, so that no evaluator can change the input of others."""
        return self.found.copy(), self.distances.copy(), (self.true_ids.copy(), self.true_distances.copy())

    def take(self, queries: IntArray) -> "RecallLists":
        """The lists of some queries, in this order."""
        return RecallLists(*(getattr(self, field.name)[queries] for field in fields(self)))


class ClassLayout(NamedTuple):
    """An order of the classes in the data."""

    name: str
    labels: Callable[[int, np.random.Generator], IntArray]  # makes labels from a count and a generator
    redrawn: bool = False  # whether each call of `labels` gives another order
    # Makes other labels of the same size and in a similar order from labels and a generator.
    others: Callable[[IntArray, np.random.Generator], IntArray] = lambda labels, random: np.roll(
        labels, random.integers(len(labels))
    )


def _in_other_turns(labels: IntArray, random: np.random.Generator) -> IntArray:
    """Labels that take turns, in a new order in each turn."""
    turns = np.arange(len(labels)) // CLASSES
    return labels[np.lexsort((random.random(len(labels)), turns))]


def by_class(count: int) -> IntArray:
    """Classes of equal size, one after the other.

    >>> by_class(20)[:6]
    array([0, 0, 1, 1, 2, 2])
    """
    return np.arange(count) * CLASSES // count


def of_unequal_size(count: int) -> IntArray:
    """Labels of classes of unequal size, the smallest class first.

    Each class has two items, and class c has 2c + 1 of every CLASSES² of the remaining items.

    >>> np.bincount(of_unequal_size(220))
    array([ 4,  8, 12, 16, 20, 24, 28, 32, 36, 40])
    """
    ends = np.arange(CLASSES + 1) ** 2 * (count - 2 * CLASSES) // CLASSES**2
    return np.repeat(np.arange(CLASSES), 2 + np.diff(ends))


def _two_classes(count: int, random: np.random.Generator) -> IntArray:
    return random.permutation((np.arange(count) % 4 == 0).astype(np.int64))


def groups_of(labels: IntArray, random: np.random.Generator) -> IntArray:
    """Groups, such as cameras, that tell nothing about the class: each class has the same share of every group.

    >>> groups_of(np.array([7, 7, 7, 8, 8, 8]), np.random.default_rng(0)).reshape(2, 3).sum(axis=1)
    array([3, 3])
    """
    groups = np.empty(len(labels), dtype=np.int64)
    for label in np.unique(labels):
        places = np.flatnonzero(labels == label)
        groups[random.permutation(places)] = np.arange(len(places)) % GROUPS
    return groups


LAYOUTS = {
    layout.name: layout
    for layout in (
        ClassLayout("shuffled", lambda count, random: random.permutation(by_class(count)), redrawn=True),
        ClassLayout("largest first", lambda count, _: CLASSES - 1 - of_unequal_size(count)[::-1]),
        ClassLayout("smallest first", lambda count, _: of_unequal_size(count)),
        ClassLayout("interleaved", lambda count, _: np.arange(count) % CLASSES, others=_in_other_turns),
        ClassLayout("two classes", _two_classes, redrawn=True),
    )
}
"""The orders of the classes that blind attacks are tried on.

Shuffled and interleaved classes have equal size. Class 0 is the largest where the largest is first, class 9 where the
smallest is first, and one item of four is in class 1 of two classes.
"""
SHUFFLED = LAYOUTS["shuffled"]  # the layout on which the evaluator must give random embeddings a number
