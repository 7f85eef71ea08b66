"""Ranked lists as users pass them: their rows, their direction, where they end, and which items are relevant."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from tieproof.errors import InputError, about
from tieproof.inputs.arrays import as_numbers
from tieproof.inputs.identities import exact_below, not_whole, stored_type
from tieproof.inputs.labels import as_labels, checked_labels
from tieproof.inputs.relevance import Relevance, RelevantBlock, by_labels
from tieproof.native.calls import Output, native
from tieproof.ties import Array, FloatArray, IntArray


class LabelledRows:
    """The relevance of every item to every query by their labels, computed for some queries at a time.

    It can be sliced like a matrix (queries, items): 1 is relevant, 0 is not, -1 is excluded (in leave-one-out the
    diagonal).
    """

    def __init__(self, relevance: Relevance) -> None:
        self.relevance = relevance

    def __len__(self) -> int:
        return self.relevance.n_queries

    def __getitem__(self, rows: slice) -> Array:
        queries = np.arange(len(self))[rows]
        block = self.relevance.block(queries)
        matrix = np.zeros((len(queries), self.relevance.n_items), dtype=np.int8)
        for pointer, items, value in ((block.pointer, block.items, 1), (block.excluded_pointer, block.excluded, -1)):
            matrix[np.repeat(np.arange(len(queries)), np.diff(pointer)), items] = value
        return matrix


def relevance_by_labels(
    labels: Any, gallery_labels: Any, rows: Array | Sequence[Array], limits: Sequence[Any], name: str
) -> LabelledRows:
    """Return the relevance by the labels of the queries and of the gallery; without gallery labels: leave-one-out.

    limits : n_relevant and n_items, which cannot be combined with labels
    """
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise InputError(
            f"The {name} have rows of {min(widths)} to {max(widths)} items, but labels need a matrix, with one label "
            "for each column. Pass relevance for each list."
        )
    if any(limit is not None for limit in limits):
        raise InputError(
            "n_relevant and n_items are for lists that were cut off, but labels are for whole rankings. Pass "
            "relevance with the lists, or leave n_relevant and n_items out."
        )
    (width,) = widths
    if not width:
        raise InputError(f"The {name} have no columns, so that nothing is ranked. Pass a column for each item.", name)
    if gallery_labels is None and width != len(rows):
        raise InputError(
            f"The {name} have the shape ({len(rows)}, {width}), which is not square: labels alone are for "
            "leave-one-out, where the queries are the items. Pass gallery_labels= for the columns, too."
        )
    with about("labels", name):
        own = as_labels(labels, len(rows), "labels", "queries")
    n_items = None if gallery_labels is None else width
    return LabelledRows(by_labels(*checked_labels(own, gallery_labels, len(rows), n_items, (name, name))))


class JudgedGrades(NamedTuple):
    """Whether any grade is above 0 and not 1, whether any is not exact in float64, and how many lists are done."""

    graded: bool
    wrong: bool
    done: int


class JudgedLists(NamedTuple):
    """The relevant and excluded items, with all grades; whether any grade is not 1, and whether any is invalid."""

    block: RelevantBlock
    graded: bool
    wrong: bool

    @classmethod
    def of(cls, numbers: Array, start: IntArray) -> "JudgedLists":
        """Judge numbers: above 0 is relevant, 0 is not, below 0 is excluded.

        The list of query q is numbers[start[q]:start[q+1]].
        """
        pointer, excluded_pointer = np.zeros((2, len(start)), dtype=np.int64)
        room = 1 + max(int(np.diff(start).max()), int(start[-1] - start[0]) // 16)
        items, excluded = np.empty((2, room), dtype=np.int64)
        grades = np.empty(room)
        graded, wrong, done = False, False, 0
        while True:
            block = RelevantBlock(pointer, items, grades, excluded_pointer, excluded)
            found = list_judged(numbers, start, done, block)
            graded, wrong, done = graded or found.graded, wrong or found.wrong, found.done
            if done == len(start) - 1:
                return cls(block, graded, wrong)
            items, excluded = (np.append(each, np.empty_like(each)) for each in (items, excluded))
            grades = np.append(grades, np.empty_like(grades))


JUDGED = frozenset(map(np.dtype, ("float64", "float32", "int64", "int32", "int8")))
"""The types of grades that kernels read."""


def as_judged_type(values: Array) -> Array:
    """Convert grades to a type that kernels read; grades that float64 cannot represent stay recognisable as such."""
    if values.dtype in JUDGED:
        return values
    if values.dtype.kind == "b":
        return values.view(np.int8)
    if values.dtype.name == "uint64":
        return np.minimum(values, np.uint64(2**53 + 1)).astype(np.int64)
    return values.astype(np.float64)


@native
def list_judged(relevance: Array, start: IntArray, first_list: int, found: Output[RelevantBlock]) -> JudgedGrades:
    """List the relevant and the excluded items of each list, their grades, and where those of each list begin.

    The list of query q is relevance[start[q]:start[q+1]]. The kernel continues from `first_list`, and stops when
    there may not be room for all items of the next list and one more.
    """


BLOCK_ENTRIES = 2**22
"""The number of entries of lists that are checked or ranked at a time."""


def as_rows(values: Any, name: str) -> Array | list[Array]:
    """Return a matrix as it is, anything else as a list of one-dimensional arrays."""
    if isinstance(values, list | tuple):
        rows = [as_numbers(row, name) for row in values]
        wrong = [row.shape for row in rows if row.ndim != 1]
        shape: tuple[int, ...] | None = None
        if wrong:
            shape = wrong[0] if any(wrong) or len(wrong) < len(rows) else (len(rows),)
    else:
        matrix = as_numbers(values, name)
        shape = None if matrix.ndim == 2 else matrix.shape
        if shape is None and len(matrix):
            return matrix
        rows = []
    if shape is not None:
        alone = f" For a single query, pass a matrix of one row, [{name}]." if len(shape) == 1 else ""
        raise InputError(
            f"The {name} must be a matrix (queries, items) or a list of one-dimensional arrays, one for each "
            f"query, not of the shape {shape}.{alone}"
        )
    if not rows:
        raise InputError(f"The {name} must contain a list for at least one query, but are empty.")
    return rows


def check_shapes(rows: Array | list[Array], judged: Array | list[Array], name: str) -> None:
    """Refuse relevance that does not have one value for each item."""
    if isinstance(rows, np.ndarray) and isinstance(judged, np.ndarray) and rows.shape == judged.shape:
        return
    if len(rows) != len(judged):
        raise InputError(
            f"The number of queries is {len(rows)} for the {name}, but {len(judged)} for the relevance. Pass both "
            "for every query."
        )
    for query, (row, relevant) in enumerate(zip(rows, judged, strict=True)):
        if len(row) != len(relevant):
            raise InputError(
                f"The number of {name} of query {query} is {len(row)}, but the number of its relevance values is "
                f"{len(relevant)}. Pass one of each for every item."
            )


def in_float64(block: Array, name: str, first_query: int) -> FloatArray:
    """Convert numbers to float64 without changing their order; numbers that are not finite are refused."""
    if block.dtype.kind in "iu" and block.size and max(abs(int(block.min())), int(block.max())) > 2**53:
        if name == "relevance":
            raise InputError(
                "The relevance contains a grade beyond 2^53, which float64 cannot represent exactly. Pass smaller "
                "grades."
            )
        # float64 would make different integers equal, so ranks, which have the same order, take their place.
        return np.unique(block, return_inverse=True)[1].reshape(block.shape).astype(np.float64)
    finite = np.isfinite(block)
    if not finite.all():
        query, item = np.argwhere(~finite)[0]
        raise InputError(
            f"The {name} must contain only finite numbers, but query {first_query + query} has {block[query, item]} "
            f"at item {item}. Leave the item out, or give it a negative relevance and a finite number."
        )
    return block.astype(np.float64)


def blocks(rows: Array | list[Array], judged: Array | list[Array] | LabelledRows) -> Iterator[tuple[Array, Array]]:
    """Yield matrices of numbers and relevance, each of consecutive lists of equal length."""
    start = 0
    while start < len(rows):
        width = len(rows[start])
        stop = start + 1
        while (
            stop < len(rows)
            and len(rows[stop]) == width
            and rows[stop].dtype == rows[start].dtype
            and (stop - start) * width < BLOCK_ENTRIES
        ):
            stop += 1
        yield np.asarray(rows[start:stop]), np.asarray([np.asarray(row) for row in judged[start:stop]])
        start = stop


def as_limits(n_relevant: Any, n_items: Any, n_queries: int) -> tuple[IntArray, IntArray | None] | None:
    """Return the numbers of relevant and of all items of each query, (q,) each, for lists that were cut off."""
    if n_relevant is None:
        if n_items is not None:
            raise InputError("n_items applies only to lists that were cut off. Pass n_relevant, too.")
        return None
    relevant = as_counts(n_relevant, "n_relevant", "relevant items", n_queries)
    return relevant, None if n_items is None else as_counts(n_items, "n_items", "items", n_queries)


def as_counts(values: Any, name: str, what: str, n_queries: int) -> IntArray:
    """Return a whole number for each query."""
    counts = as_numbers(values, name)
    if counts.shape not in ((), (n_queries,)):
        raise InputError(
            f"{name} has the shape {counts.shape}, but there are {n_queries} queries. Pass one number for each, or "
            "one for all."
        )
    stored = stored_type(values, counts) if counts.dtype.kind == "f" else ""
    limit = exact_below(stored) if stored else 2**53 + 1
    counts = np.broadcast_to(counts, (n_queries,))
    wrong = (counts < 0) | not_whole(counts, limit)
    if wrong.any():
        query = int(np.argmax(wrong))
        bound = f" and below {limit}, where {stored or 'float64'} begins to round" if counts[query] >= limit else ""
        raise InputError(
            f"{name} is {counts[query]} for query {query}. It must be a whole number of at least 0{bound}: count all "
            f"{what} of the query, in its list or not."
        )
    return counts.astype(np.int64)
