"""Who is relevant in rankings given as numbers, where labels say it: of the rows and of the columns of a matrix."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tieproof.errors import InputError, about
from tieproof.inputs.arrays import as_labels
from tieproof.inputs.embeddings import by_labels, checked_labels
from tieproof.inputs.relevance import Relevance, RelevantBlock, pointers
from tieproof.ties import FloatArray, IntArray

Row = npt.NDArray[Any]


class LabelledRows:
    """The relevance of every item to every query by their labels, made for some queries at a time.

    It reads as a matrix (queries, items) of 1 relevant, 0 not, -1 excluded: in leave-one-out the diagonal.
    """

    def __init__(self, relevance: Relevance) -> None:
        self.relevance = relevance

    def __len__(self) -> int:
        return self.relevance.n_queries

    def __getitem__(self, rows: slice) -> Row:
        queries = np.arange(len(self))[rows]
        block = self.relevance.block(queries)
        matrix = np.zeros((len(queries), self.relevance.n_items), dtype=np.int8)
        for pointer, items, value in ((block.pointer, block.items, 1), (block.excluded_pointer, block.excluded, -1)):
            matrix[np.repeat(np.arange(len(queries)), np.diff(pointer)), items] = value
        return matrix


def relevance_by_labels(
    labels: Any, gallery_labels: Any, rows: Row | Sequence[Row], limits: Sequence[Any], name: str
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


def block_of_matrix(relevance: IntArray | FloatArray) -> RelevantBlock:
    """A relevance matrix (q, n) as a block: above 0 relevant, 0 not, below 0 excluded."""
    position, items = np.nonzero(relevance > 0)
    grades = relevance[position, items].astype(np.float64)
    excluded_position, excluded = np.nonzero(relevance < 0)
    return RelevantBlock(
        pointers(position, len(relevance)),
        items,
        None if (grades == 1).all() else grades,
        pointers(excluded_position, len(relevance)),
        excluded,
    )
