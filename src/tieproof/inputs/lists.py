"""Ranked lists as users pass them: their rows, where they end, and which items are relevant."""

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Literal, NamedTuple

import numpy as np

from tieproof.errors import InputError, about
from tieproof.inputs.arrays import INEXACT_GRADE, as_numbers, first_true
from tieproof.inputs.identities import exact_below, not_whole, stored_type
from tieproof.inputs.labels import as_labels, checked_labels
from tieproof.inputs.options import rounded
from tieproof.inputs.relevance import Relevance, RelevantBlock, by_labels
from tieproof.native.calls import Output, native
from tieproof.ties import Array, FloatArray, IntArray, SmallIntArray

BLOCK_ENTRIES = 2**22  # the number of entries of lists that are checked or ranked at a time

Rows = Array | list[Array]  # a matrix of lists, or a list of one-dimensional arrays

Duplicates = Literal["error", "first"]
DUPLICATES = ("error", "first")

HOW = "Keep one of them, or pass duplicates='first' (--duplicates first), so that it counts at its first place."
"""What to do about an id that occurs twice in a run or in a list of neighbors."""


def as_rows(values: Any, name: str) -> Rows:
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


def rounded_rows(values: Any, name: str, precision: str | None) -> Rows:
    """Return the rows, with their numbers rounded to a precision if there is one."""
    rows = as_rows(values, name)
    return rounded(rows, precision) if isinstance(rows, np.ndarray) else [rounded(row, precision) for row in rows]


def first_places(code: IntArray, number: Array, small_is_near: bool) -> IntArray:
    """Return the rows of the nearest copy of each item, ascending; of equally near ones that of the first.

    code : a number for each item of each list

    >>> first_places(np.array([7, 8, 7, 7]), np.array([0.5, 0.1, 0.9, 0.9]), small_is_near=False).tolist()
    [1, 2]
    """
    _, place = np.unique(number, return_inverse=True)
    order = np.lexsort((place if small_is_near else -place, code))
    ordered = code[order]
    return np.sort(order[np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))])


def left_out(copies: int) -> tuple[str, ...]:
    """The sentence on ids that occurred before."""
    if not copies:
        return ()
    ids, are = ("id", "is") if copies == 1 else ("ids", "are")
    return (f"{copies:,} repeated {ids} {are} left out: an item counts at its first place.",)


def check_shapes(
    rows: Rows,
    values: Rows,
    names: tuple[str, str],
    counted: str,
    advice: str,
    arguments: tuple[str, ...] | None = None,
) -> None:
    """Refuse values, such as relevance, that are not one for each item of the lists.

    names, counted : what `rows` and `values` contain, and what an error counts in `values`
    """
    if isinstance(rows, np.ndarray) and isinstance(values, np.ndarray) and rows.shape == values.shape:
        return
    name, other = names
    if len(rows) != len(values):
        raise InputError(
            f"The number of queries is {len(rows)} for the {name}, but {len(values)} for the {other}. Pass both for "
            "every query.",
            arguments,
        )
    for query, (row, own) in enumerate(zip(rows, values, strict=True)):
        if len(row) != len(own):
            raise InputError(
                f"The number of {name} of query {query} is {len(row)}, but the number of its {counted} is "
                f"{len(own)}. {advice}",
                arguments,
            )


def joined(rows: Rows) -> tuple[Array, IntArray]:
    """Return the numbers of lists, list after list, and where each list begins and the last one ends."""
    if not isinstance(rows, list):
        return np.require(rows, requirements=["C", "A"]).reshape(-1), np.arange(len(rows) + 1) * int(rows.shape[1])
    start = np.fromiter(accumulate(map(len, rows), initial=0), np.int64, len(rows) + 1)
    if (start[1:] == start[:-1]).any():
        rows = [row for row in rows if len(row)]  # an empty list may have any type
    return np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64), start


def spans_of(sizes: IntArray) -> Iterator[slice]:
    """Yield spans of consecutive lists with so many entries each, which are checked or ranked together."""
    ends = np.cumsum(sizes)
    start = 0
    while start < len(sizes):
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + BLOCK_ENTRIES, side="right")))
        yield slice(start, stop)
        start = stop


def in_float64(block: Array, name: str, first_query: int) -> FloatArray:
    """Convert numbers to float64 without changing their order; numbers that are not finite are refused."""
    if block.dtype.kind in "iu" and block.size and max(abs(int(block.min())), int(block.max())) > 2**53:
        if name == "relevance":
            raise InputError(INEXACT_GRADE)
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


class Limits(NamedTuple):
    """The numbers (q,) of relevant and of all items of each query; `complete`: only listed items are ranked."""

    n_relevant: IntArray
    n_items: IntArray | None
    complete: bool = False


def as_limits(n_relevant: Any, n_items: Any, complete: Any, n_queries: int) -> Limits | None:
    """Return the numbers of items for lists that lack some, checked."""
    if not isinstance(complete, bool | np.bool_):
        raise InputError(f"complete must be True or False, not {complete!r}.", "complete")
    if complete and (n_relevant is None or n_items is not None):
        raise InputError(
            "complete=True says that the relevant items which a list lacks were never found. Pass n_relevant=, the "
            "number of all relevant items of each query, and no n_items.",
            "complete",
        )
    if n_relevant is None:
        if n_items is not None:
            raise InputError("n_items applies only to lists that were cut off. Pass n_relevant, too.")
        return None
    relevant = _as_counts(n_relevant, "n_relevant", "relevant items", n_queries)
    items = None if n_items is None else _as_counts(n_items, "n_items", "items", n_queries)
    return Limits(relevant, items, bool(complete))


def _as_counts(values: Any, name: str, what: str, n_queries: int) -> IntArray:
    counts = as_numbers(values, name)
    if counts.shape not in ((), (n_queries,)):
        raise InputError(
            f"{name} has the shape {counts.shape}, but there are {n_queries} queries. Pass one number for each, or "
            "one for all."
        )
    stored = stored_type(values, counts) if counts.dtype.kind == "f" else ""
    limit = exact_below(stored) if stored else 2**53 + 1
    counts = np.broadcast_to(counts, (n_queries,))
    query = first_true((counts < 0) | not_whole(counts, limit))
    if query is not None:
        bound = f" and below {limit}, where {stored or 'float64'} begins to round" if counts[query] >= limit else ""
        raise InputError(
            f"{name} is {counts[query]} for query {query}. It must be a whole number of at least 0{bound}: count all "
            f"{what} of the query, in its list or not."
        )
    return counts.astype(np.int64)


class LabeledRows:
    """Relevance by labels as slices of a matrix (queries, items): 1 is relevant, 0 is not, -1 is excluded."""

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

    def relevant_to(self, queries: IntArray) -> Callable[[slice], RelevantBlock]:
        """Return a function that lists the relevant and the excluded items of some of these queries."""
        return lambda some: self.relevance.block(queries[some])


def relevance_by_labels(
    labels: Any, gallery_labels: Any, rows: Array | Sequence[Array], limits: Sequence[Any], name: str
) -> LabeledRows:
    """Return the relevance by labels, which no `limits` may accompany; without gallery labels: leave-one-out."""
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
    return LabeledRows(by_labels(*checked_labels(own, gallery_labels, len(rows), n_items, (name, name))))


def blocks(rows: Rows, judged: Rows | LabeledRows) -> Iterator[tuple[Array, Array]]:
    """Yield matrices of numbers and relevance, each of some consecutive lists; all lists have one length."""
    size = -(-BLOCK_ENTRIES // len(rows[0]))
    for start in range(0, len(rows), size):
        yield np.asarray(rows[start : start + size]), np.asarray(judged[start : start + size])


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
        """Judge the numbers of lists, which begin at `start`: above 0 is relevant, 0 is not, below 0 is excluded."""
        pointer, excluded_pointer = np.zeros((2, len(start)), dtype=np.int64)
        room = 1 + int(start[-1] - start[0])  # what is not written takes no memory
        items, excluded = np.empty((2, room), dtype=np.int64)
        block = RelevantBlock(pointer, items, np.empty(room), excluded_pointer, excluded)
        judged = list_judged(numbers, start, 0, block)
        return cls(block, judged.graded, judged.wrong)


JUDGED = frozenset(map(np.dtype, ("float64", "float32", "int64", "int32", "int8")))  # that kernels read


def as_judged_type(values: Array) -> Array:
    """Convert grades to a type that kernels read; grades that float64 cannot represent stay recognizable as such."""
    if values.dtype in JUDGED:
        return values
    if values.dtype.kind == "b":
        return values.view(np.int8)
    if values.dtype.name == "uint64":
        return np.minimum(values, np.uint64(2**53 + 1)).astype(np.int64)
    return values.astype(np.float64)


@native
def list_judged(relevance: Array, start: IntArray, first_list: int, block: Output[RelevantBlock]) -> JudgedGrades:
    """List the relevant and the excluded items of each list, their grades, and where those of each list begin.

    The list of query q is relevance[start[q]:start[q+1]]. The kernel continues from `first_list`, and stops when
    there may not be room for all items of the next list and one more.
    """


class CountRoom(NamedTuple):
    """The memory in which kernels count the numbers of one list after the other among thresholds."""

    table: SmallIntArray
    slots: IntArray

    @classmethod
    def of(cls, most: int) -> "CountRoom":
        """Allocate room for lists of at most so many thresholds."""
        return cls(np.empty(8 * most + 256, dtype=np.int32), np.empty(4 * (most + 1), dtype=np.int64))
