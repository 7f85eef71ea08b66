"""Who is relevant in rankings given as numbers: by labels of the rows and columns of a matrix, or by numbers too."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tieproof.errors import InputError, about
from tieproof.inputs.labels import as_labels, checked_labels
from tieproof.inputs.relevance import Relevance, RelevantBlock, by_labels
from tieproof.native.calls import Output, native
from tieproof.ties import Array, IntArray


class LabelledRows:
    """The relevance of every item to every query by their labels, made for some queries at a time.

    It reads as a matrix (queries, items) of 1 relevant, 0 not, -1 excluded: in leave-one-out the diagonal.
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
    """Relevance by the labels of the queries and of the gallery, or of both at once in leave-one-out.

    limits : n_relevant and n_items, which have no place beside labels
    """
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise InputError(
            f"The {name} have rows of {min(widths)} to {max(widths)} items: labels belong to the columns of a "
            "matrix. Pass relevance for each list."
        )
    if any(limit is not None for limit in limits):
        raise InputError(
            "n_relevant and n_items are for lists that were cut off, and labels are for whole rankings. Pass "
            "relevance with the lists, or leave n_relevant and n_items out."
        )
    (width,) = widths
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
    """Whether any grade is above 0 and not 1, and whether float64 holds any not; and how many lists are done."""

    graded: bool
    wrong: bool
    done: int


class JudgedLists(NamedTuple):
    """Who is relevant and who is excluded by numbers, with all grades; whether any is not 1, and any none at all."""

    block: RelevantBlock
    graded: bool
    wrong: bool

    @classmethod
    def of(cls, numbers: Array, start: IntArray) -> "JudgedLists":
        """Above 0 relevant, 0 not, below 0 excluded; the list of query q is start[q] … start[q+1]-1."""
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
    """Grades of a type that kernels read; what float64 does not hold exactly stays beyond what it holds."""
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

    The list of query q is start[q] … start[q+1]-1. It goes on from a list, and as long as there is room for one more
    than all items of a list.
    """
