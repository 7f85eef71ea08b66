"""Relevance by judgments: pairs of a query and an item with their grades."""

from collections.abc import Set
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from tieproof.errors import InputError, about, warn
from tieproof.inputs.arrays import INEXACT_GRADE, as_array, first_true, is_rounded, type_name
from tieproof.inputs.identities import exact_below, not_whole, stored_type
from tieproof.inputs.relevance import NOTHING, Excluded, Relevance, places_among, pointers, ranges
from tieproof.ties import Array, FloatArray, IntArray


class Triples(NamedTuple):
    """Different pairs of a query and an item with their grades; `checked_triples` makes them."""

    query: IntArray
    item: IntArray
    grade: FloatArray


@dataclass(frozen=True, eq=False)
class Judgments(Relevance):
    """Relevance by triples: query q has those from pointer[q] to pointer[q+1]-1; `binary`: all grades are 0 or 1."""

    pointer: IntArray
    item: IntArray
    grade: FloatArray
    binary: bool

    @classmethod
    def of(
        cls, triples: Triples, n_queries: int, n_items: int, leave_one_out: bool, excluded: Excluded = NOTHING
    ) -> "Judgments":
        """Relevance by triples in any order."""
        query, item, grade = triples
        order = np.argsort(query * n_items + item, kind="stable")
        binary = bool(np.isin(grade, (0.0, 1.0)).all())
        return cls(
            n_queries=n_queries,
            n_items=n_items,
            leave_one_out=leave_one_out,
            graded=not binary,
            excluded=excluded,
            pointer=pointers(query[order], n_queries),
            item=item[order],
            grade=grade[order],
            binary=binary,
        )

    def negative(self) -> int:
        """The number of triples with a negative grade."""
        return int((self.grade < 0).sum())

    def at_least(self, grade: float) -> "Judgments":
        """Return the relevance in which only items of at least this grade are relevant; none more are excluded."""
        grades = np.where(self.grade < 0, self.grade, (self.grade >= grade).astype(np.float64))
        return replace(self, graded=False, grade=grades, binary=bool((grades >= 0).all()))

    def _of_queries(self, queries: IntArray) -> tuple[IntArray, IntArray]:
        """Return for each triple of these queries the position of its query here, and its own position."""
        return ranges(self.pointer[queries], np.diff(self.pointer)[queries])

    def at_most(self) -> IntArray:
        """The number of triples."""
        return np.diff(self.pointer)

    def related(self, queries: IntArray) -> IntArray:
        """Return the items of the triples with a grade above 0."""
        _, index = self._of_queries(queries)
        return np.unique(self.item[index[self.grade[index] > 0]])

    def among(self, queries: IntArray, items: IntArray) -> "Judgments":
        """Return the triples of these queries and items; grades are kept even if all of these are 1."""
        position, index = self._of_queries(queries)
        inside, place = places_among(items, self.item[index])
        triples = Triples(position[inside], place, self.grade[index[inside]])
        excluded = self.excluded_among(queries, items)
        among = Judgments.of(triples, len(queries), len(items), self.leave_one_out, excluded)
        return replace(among, graded=self.graded, binary=self.binary)

    def pairs(self, queries: IntArray) -> tuple[IntArray, IntArray, FloatArray | None]:
        """The triples of the queries."""
        position, index = self._of_queries(queries)
        if self.binary:
            relevant = self.grade[index] > 0
            return position[relevant], self.item[index[relevant]], None
        return position, self.item[index], self.grade[index]


def _pairs_of_positives(positives: Any, n_queries: int, n_items: int) -> IntArray | None:
    """Return the pairs (query, item) of a list of the relevant items of each query; None: it is no such list.

    Arrays and sets are such lists, and so are lists of which one is longer than another.

    >>> _pairs_of_positives([[0, 3], [], [5]], 3, 9).tolist(), _pairs_of_positives([[0, 3], [1, 5]], 2, 9)
    ([[0, 0], [0, 3], [2, 5]], None)
    """
    if isinstance(positives, np.ndarray) and positives.dtype == object and positives.ndim == 1:
        positives = list(positives)
    if not isinstance(positives, list | tuple):
        return None
    lists = [len(items) for items in positives if isinstance(items, list)]
    if len(lists) == len(positives) and len(set(lists)) < 2:
        return None
    if not all(isinstance(items, list | Set) or getattr(items, "ndim", 0) == 1 for items in positives):
        return None
    if len(positives) != n_queries:
        raise InputError(
            f"The relevance has lists of the items of {len(positives)} queries, but there are {n_queries}. Pass one "
            "list for each query, empty where nothing is relevant."
        )
    rows = [as_array([*items] if isinstance(items, Set) else items, "relevance") for items in positives]
    for query, items in enumerate(rows):
        if len(items) and not (
            items.ndim == 1 and items.dtype.kind in "iu" and 0 <= items.min() <= items.max() < n_items
        ):
            raise InputError(
                f"The items that are relevant to query {query} must be whole numbers from 0 to {n_items - 1}, but "
                f"are {items.tolist()[:3]!r}. Pass the positions of the items in the gallery."
            )
    of_query = np.repeat(np.arange(n_queries), list(map(len, rows)))
    return np.column_stack([of_query, np.concatenate(rows).astype(np.int64)])


def checked_triples(triples: Any, n_queries: int, n_items: int, leave_one_out: bool) -> Triples:
    """Return checked triples; warn of an array that may be a matrix (a list of tuples is one of triples)."""
    named = _pairs_of_positives(triples, n_queries, n_items)
    if named is not None:
        return _checked_triples(named, named, n_queries, n_items, leave_one_out)
    array = as_array(triples, "relevance")
    is_list = isinstance(triples, list | tuple) and all(isinstance(row, tuple) for row in triples)
    if is_list or array.shape != (n_queries, n_items):
        return _checked_triples(triples, array, n_queries, n_items, leave_one_out)
    matrix = "If it is a matrix (queries, items), pass numpy.argwhere(relevance), its pairs that are not 0."
    if array.dtype.kind in "iuf" and not np.isin(array, (0, 1)).all():
        matrix = "If it is a matrix m (queries, items), pass numpy.column_stack([numpy.argwhere(m), m[m != 0]])."
    try:
        checked = _checked_triples(triples, array, n_queries, n_items, leave_one_out)
    except InputError as error:
        raise InputError(f"{error} {matrix}", error.argument) from None
    form = "query, item, grade" if array.shape[1] == 3 else "query, item"
    warn(
        f"The relevance has the shape {array.shape} and is read as rows ({form}), as a list of tuples always is. "
        f"{matrix}"
    )
    return checked


def _checked_triples(triples: Any, array: Array, n_queries: int, n_items: int, leave_one_out: bool) -> Triples:
    if array.ndim != 2 or array.shape[1] not in (2, 3) or array.dtype.kind not in "iuf":
        raise InputError(
            f"The relevance must be rows (query, item) or (query, item, grade) of numbers, but has the shape "
            f"{array.shape} and type {type_name(array.dtype)}."
        )
    grade = np.ones(len(array))
    if array.shape[1] == 3:
        if is_rounded(array[:, 2]):
            raise InputError(INEXACT_GRADE)
        grade = array[:, 2].astype(np.float64)
    if (row := first_true(~np.isfinite(grade))) is not None:
        raise InputError(
            f"The relevance must have finite grades, but row {row} has the grade {grade[row]}. Leave the row out."
        )
    query, item = checked_pairs(array[:, :2], n_queries, n_items, "relevance", stored_type(triples, array))
    if leave_one_out and (row := first_true(query == item)) is not None:
        raise InputError(
            f"Row {row} of the relevance names item {item[row]} for the query {item[row]} itself. In leave-one-out "
            "the query itself is never ranked; leave such rows out."
        )
    code = query * n_items + item
    if len(np.unique(code)) < len(code):
        _, index, counts = np.unique(code, return_index=True, return_counts=True)
        row = int(index[np.argmax(counts > 1)])
        raise InputError(
            f"The relevance names item {item[row]} twice for query {query[row]}. Keep one row for each pair."
        )
    return Triples(query, item, grade)


def checked_pairs(pairs: Any, n_queries: int, n_items: int, name: str, stored: str = "") -> tuple[IntArray, IntArray]:
    """Return the indices of (query, item) pairs in range; `stored` is their original type, if it is another one."""
    array = as_array(pairs, name)
    if array.size == 0:
        array = np.zeros((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iuf":
        raise InputError(
            f"The {name} must be rows (query, item) of whole numbers, not of the shape {array.shape} and type "
            f"{type_name(array.dtype)}."
        )
    if array.dtype.kind == "f":
        stored = stored or stored_type(pairs, array)
        limit = exact_below(stored)
        wrong = not_whole(array, limit)
        if wrong.any():
            row, column = np.argwhere(wrong)[0].tolist()
            raise InputError(
                f"The {name} must be rows (query, item) of whole numbers (in {stored} below {limit}, because larger "
                f"ones may have been rounded), but row {row} contains {array[row, column]}. Pass integers."
            )
    for column, count, what in ((0, n_queries, "query"), (1, n_items, "item")):
        row = first_true((array[:, column] < 0) | (array[:, column] >= count))
        if row is not None:
            raise InputError(
                f"Row {row} of the {name} names {what} {array[row, column]:.0f}, but there are only {count}: pass "
                f"indices from 0 to {count - 1}."
            )
    return array[:, 0].astype(np.int64), array[:, 1].astype(np.int64)


def excluded_pairs(exclude: Any, n_queries: int, n_items: int) -> IntArray | None:
    """Return query * n_items + item of all excluded pairs, ascending, from such rows or from bools of all."""
    if exclude is None:
        return None
    with about("exclude"):
        given = as_array(exclude, "exclude pairs")
        if given.dtype.kind == "b":
            if given.shape != (n_queries, n_items):
                raise InputError(
                    f"exclude has bools of the shape {given.shape}, not {(n_queries, n_items)}. Pass one for each "
                    "query and item, or rows (query, item)."
                )
            return np.flatnonzero(given)
        query, item = checked_pairs(exclude, n_queries, n_items, "exclude pairs")
    return np.unique(query * n_items + item)
