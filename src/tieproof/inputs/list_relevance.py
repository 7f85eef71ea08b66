"""The relevance of items in rankings given as numbers: from labels of rows and columns, or from given numbers."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tieproof.errors import InputError, about
from tieproof.inputs.labels import as_labels, checked_labels
from tieproof.inputs.relevance import Relevance, RelevantBlock, by_labels
from tieproof.native.calls import Output, native
from tieproof.ties import Array, IntArray


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
