"""Who is relevant to whom, and who is excluded; handed to the engine one block of queries at a time."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.errors import InputError
from tieproof.inputs.arrays import as_array, type_name
from tieproof.inputs.identities import exact_below, not_whole, stored_type
from tieproof.inputs.rounded_integers import is_rounded
from tieproof.ties import FloatArray, IntArray


class RelevantBlock(NamedTuple):
    """The relevant and the excluded items of some queries; no item is both, none is named twice.

    Query i of the block has the items pointer[i] … pointer[i+1]-1, and likewise the excluded ones.
    """

    pointer: IntArray
    items: IntArray
    grades: FloatArray | None  # None: every grade is 1
    excluded_pointer: IntArray
    excluded: IntArray


class Relevance(ABC):
    """Relevance of a whole evaluation.

    leave_one_out: the queries are the gallery, and each is excluded from its own ranking, by index.
    """

    n_queries: int
    n_items: int
    leave_one_out: bool
    graded = False  # whether grades may differ from 1

    @abstractmethod
    def at_most(self) -> IntArray:
        """An upper bound on the number of relevant items of each query, (n_queries,)."""

    @abstractmethod
    def pairs(self, queries: IntArray) -> tuple[IntArray, IntArray, FloatArray | None]:
        """(position in `queries`, item, grade) of all that labels or triples say, positions ascending.

        A grade below zero excludes; no grades: all are 1.
        """

    groups: tuple[npt.NDArray[Any], npt.NDArray[Any]] | None = None
    excluded_pairs: IntArray | None = None  # sorted query * n_items + item

    def shared(
        self, queries: IntArray, usable: npt.NDArray[np.bool_], at_least: int
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Queries that share their relevant items, but for leaving out themselves: (positions in `queries`, items).

        Only where all of at least so many items are `usable` (n_items,), and where nothing but the query itself is
        excluded. Mostly nobody shares.
        """
        return iter(())

    def order(self) -> tuple[IntArray, IntArray]:
        """Orders of the queries and of the items that keep those with common relevant items together."""
        return np.arange(self.n_queries), np.arange(self.n_items)

    def block(self, queries: IntArray) -> RelevantBlock:
        """Relevant and excluded items of `queries`."""
        position, item, grade = self.pairs(queries)
        out = np.zeros(len(item), dtype=np.bool_)
        if self.leave_one_out:
            out |= item == queries[position]
        if self.groups is not None:
            out |= self.groups[0][queries[position]] == self.groups[1][item]
        if grade is not None:
            out |= grade < 0
        excluded = [(position[out], item[out])]
        if self.leave_one_out:
            excluded.append((np.arange(len(queries)), queries))
        if self.excluded_pairs is not None:
            excluded.append(self.listed(queries))
            out |= sorted_contains(self.excluded_pairs, queries[position] * self.n_items + item)
        keep = ~out if grade is None else ~out & (grade > 0)
        where = np.concatenate([pair[0] for pair in excluded])
        what = np.concatenate([pair[1] for pair in excluded])
        code = np.unique(where * self.n_items + what)
        return RelevantBlock(
            pointers(position[keep], len(queries)),
            item[keep],
            None if grade is None else grade[keep],
            pointers(code // self.n_items, len(queries)),
            code % self.n_items,
        )

    def listed(self, queries: IntArray) -> tuple[IntArray, IntArray]:
        """The pairs of `exclude` that belong to `queries`, as (position, item)."""
        assert self.excluded_pairs is not None
        start = np.searchsorted(self.excluded_pairs, queries * self.n_items)
        stop = np.searchsorted(self.excluded_pairs, (queries + 1) * self.n_items)
        position, index = ranges(start, stop - start)
        return position, self.excluded_pairs[index] % self.n_items


class Labels(Relevance):
    """Relevant: the same label."""

    def __init__(self, query_labels: npt.NDArray[Any], item_labels: npt.NDArray[Any] | None) -> None:
        self.leave_one_out = item_labels is None
        items = query_labels if item_labels is None else item_labels
        self.members = stable_order(items)
        ordered = items[self.members]
        starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        known, sizes = ordered[starts], np.diff(np.append(starts, len(items)))
        self.item_class = np.empty(len(items), dtype=np.int64)
        self.item_class[self.members] = np.repeat(np.arange(len(known)), sizes)
        place = np.minimum(np.searchsorted(known, query_labels), len(known) - 1)
        # A query whose label no item has gets the class past the last, which is empty.
        self.query_class = np.where(known[place] == query_labels, place, len(known))
        self.n_queries, self.n_items = len(query_labels), len(items)
        self.size = np.append(sizes, 0)
        self.start = np.append(starts, len(items))

    @property
    def plain(self) -> bool:
        """Whether nothing but the query itself is excluded."""
        return self.groups is None and self.excluded_pairs is None

    def at_most(self) -> IntArray:
        """Sizes of classes, less the query itself."""
        return self.size[self.query_class] - int(self.leave_one_out)

    def shared(
        self, queries: IntArray, usable: npt.NDArray[np.bool_], at_least: int
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """The members of each class."""
        if not self.plain:
            return
        good = self.size >= at_least
        good &= np.bincount(self.item_class, ~usable, len(self.size)) == 0
        of_query = self.query_class[queries]
        places = np.flatnonzero(good[of_query])
        starts = np.flatnonzero(np.diff(of_query[places], prepend=-1) != 0)
        for start, stop in zip(starts, np.append(starts, len(places))[1:], strict=True):
            members = places[start:stop]
            known = of_query[members[0]]
            yield members, self.members[self.start[known] : self.start[known] + self.size[known]]

    def order(self) -> tuple[IntArray, IntArray]:
        """The queries and the items, each sorted by their class."""
        return np.argsort(self.query_class, kind="stable"), self.members

    def pairs(self, queries: IntArray) -> tuple[IntArray, IntArray, FloatArray | None]:
        """Every member of the query's class."""
        of_query = self.query_class[queries]
        position, index = ranges(self.start[of_query], self.size[of_query])
        return position, self.members[index], None


def stable_order(labels: npt.NDArray[Any]) -> IntArray:
    """Indices that sort the labels and keep equal ones in their order; fast where they are small integers."""
    if labels.dtype.kind == "i":
        low = labels.min()
        if int(labels.max()) - int(low) < 2**16:
            return np.argsort((labels - low).astype(np.uint16), kind="stable")
    return np.argsort(labels, kind="stable")


class MultiLabels(Relevance):
    """Relevant: at least one label shared; labels are 0/1 columns."""

    def __init__(self, query_labels: npt.NDArray[Any], item_labels: npt.NDArray[Any] | None) -> None:
        self.leave_one_out = item_labels is None
        self.query_labels = query_labels.astype(np.float32)
        self.item_labels = self.query_labels if item_labels is None else item_labels.astype(np.float32)
        self.n_queries, self.n_items = len(self.query_labels), len(self.item_labels)

    def at_most(self) -> IntArray:
        """The sum of the sizes of a query's classes."""
        sizes = self.item_labels.sum(axis=0, dtype=np.float64)
        return np.asarray(np.minimum(self.query_labels @ sizes, self.n_items).astype(np.int64))

    def pairs(self, queries: IntArray) -> tuple[IntArray, IntArray, FloatArray | None]:
        """Items whose labels have a positive product with the query's."""
        size = max(1, 2**22 // self.n_items)
        found = []
        for start in range(0, len(queries), size):
            shared = self.query_labels[queries[start : start + size]] @ self.item_labels.T
            position, item = np.nonzero(shared > 0)
            found.append((position + start, item))
        position = np.concatenate([part[0] for part in found])
        return position, np.concatenate([part[1] for part in found]), None


class Judgments(Relevance):
    """Relevant: what (query, item[, grade]) triples say; a grade of 0 is not relevant, a negative one excludes."""

    def __init__(self, triples: Any, n_queries: int, n_items: int, leave_one_out: bool) -> None:
        self.n_queries, self.n_items, self.leave_one_out = n_queries, n_items, leave_one_out
        query, item, grade = checked_triples(triples, n_queries, n_items, leave_one_out)
        order = np.argsort(query * n_items + item, kind="stable")
        self.pointer = pointers(query[order], n_queries)
        self.item, self.grade = item[order], grade[order]
        self.binary = bool(np.isin(grade, (0.0, 1.0)).all())
        self.graded = not self.binary

    def at_most(self) -> IntArray:
        """The number of triples."""
        return np.diff(self.pointer)

    def pairs(self, queries: IntArray) -> tuple[IntArray, IntArray, FloatArray | None]:
        """The triples of the queries."""
        position, index = ranges(self.pointer[queries], np.diff(self.pointer)[queries])
        if self.binary:
            relevant = self.grade[index] > 0
            return position[relevant], self.item[index[relevant]], None
        return position, self.item[index], self.grade[index]


def checked_triples(
    triples: Any, n_queries: int, n_items: int, leave_one_out: bool
) -> tuple[IntArray, IntArray, FloatArray]:
    """Query, item and grade of each triple; refused by the first that is wrong."""
    array = as_array(triples, "relevance")
    if array.ndim != 2 or array.shape[1] not in (2, 3) or array.dtype.kind not in "iuf":
        raise InputError(
            f"The relevance must be rows (query, item) or (query, item, grade) of numbers, and arrived with the "
            f"shape {array.shape} and type {type_name(array.dtype)}."
        )
    grade = as_grades(array[:, 2]) if array.shape[1] == 3 else np.ones(len(array))
    if not np.isfinite(grade).all():
        row = int(np.argmin(np.isfinite(grade)))
        raise InputError(f"The relevance must have finite grades, and row {row} holds {grade[row]}.")
    query, item = checked_pairs(array[:, :2], n_queries, n_items, "relevance", stored_type(triples, array))
    if leave_one_out and (query == item).any():
        row = int(np.argmax(query == item))
        raise InputError(
            f"The relevance row {row} names item {item[row]} for itself. In leave-one-out the query itself is "
            "never ranked; leave such rows out."
        )
    code = query * n_items + item
    if len(np.unique(code)) < len(code):
        _, index, counts = np.unique(code, return_index=True, return_counts=True)
        row = int(index[np.argmax(counts > 1)])
        raise InputError(
            f"The relevance names item {item[row]} twice for query {query[row]}. Keep one row for each pair."
        )
    return query, item, grade


def as_grades(grades: npt.NDArray[Any]) -> FloatArray:
    """Grades in float64, which must hold them."""
    if is_rounded(grades):
        raise InputError("The relevance holds a grade beyond 2^53, which float64 does not hold exactly.")
    return grades.astype(np.float64)


def checked_pairs(pairs: Any, n_queries: int, n_items: int, name: str, stored: str = "") -> tuple[IntArray, IntArray]:
    """(query, item) indices within range.

    stored : the type in which they arrived, if it is not that of `pairs`
    """
    array = as_array(pairs, name)
    if array.size == 0:
        array = np.zeros((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iuf":
        raise InputError(
            f"The {name} must be rows (query, item) of whole numbers, and they arrived with the shape {array.shape} "
            f"and type {type_name(array.dtype)}."
        )
    if array.dtype.kind == "f":
        check_whole(array, stored or stored_type(pairs, array), name)
    for column, limit, what in ((0, n_queries, "query"), (1, n_items, "item")):
        wrong = (array[:, column] < 0) | (array[:, column] >= limit)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise InputError(
                f"The {name} row {row} names {what} {array[row, column]:.0f}, and there are {limit}: "
                f"indices go from 0 to {limit - 1}."
            )
    return array[:, 0].astype(np.int64), array[:, 1].astype(np.int64)


def check_whole(array: npt.NDArray[Any], stored: str, name: str) -> None:
    """Refuse floats as indices that are no whole numbers, or may have been rounded to one."""
    limit = exact_below(stored)
    wrong = not_whole(array, limit)
    if wrong.any():
        row, column = np.argwhere(wrong)[0].tolist()
        raise InputError(
            f"The {name} must be rows (query, item) of whole numbers, in {stored} below {limit} since larger ones "
            f"may have been rounded, and row {row} holds {array[row, column]}. Pass integers."
        )


def pointers(position: IntArray, count: int) -> IntArray:
    """Where each of `count` runs of an ascending `position` starts, and the end."""
    return np.concatenate([[0], np.cumsum(np.bincount(position, minlength=count))]).astype(np.int64)


def ranges(start: IntArray, length: IntArray) -> tuple[IntArray, IntArray]:
    """(i, start[i] + j) for every i and every j below length[i]."""
    position = np.repeat(np.arange(len(start)), length)
    ends = np.cumsum(length)
    return position, np.arange(len(position)) + (start - ends + length)[position]


def sorted_contains(sorted_values: IntArray, values: IntArray) -> npt.NDArray[np.bool_]:
    """Whether each value is among `sorted_values`."""
    if not len(sorted_values):
        return np.zeros(len(values), dtype=np.bool_)
    place = np.minimum(np.searchsorted(sorted_values, values), len(sorted_values) - 1)
    found: npt.NDArray[np.bool_] = sorted_values[place] == values
    return found
