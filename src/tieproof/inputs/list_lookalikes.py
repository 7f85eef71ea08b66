"""Warnings for matrices of scores or distances that can be evaluated but are probably not what was meant.

They may be similarities that were passed as distances, or the reverse; or each query may find itself.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from tieproof.errors import warn
from tieproof.inputs.list_relevance import LabelledRows
from tieproof.inputs.lookalikes import some_of
from tieproof.ties import Array

MEANT = {"distances": ("similarities", "evaluate_scores"), "scores": ("distances", "evaluate_distances")}
"""For each name: what was probably passed instead, and the function that takes it."""


SYMMETRIC = 2.0**-8
"""Entries of a symmetric matrix may differ by this share of the largest one, because they may have been rounded."""

FEWEST = 10
"""The fewest rows if the diagonal is relevant: with fewer rows it may be the farthest item by chance."""


def check_direction(rows: Array | Sequence[Array], blocks: Iterable[tuple[Array, Array]], name: str) -> None:
    """Warn if every item of a square matrix is farthest from itself, and relevant items are farther than others.

    The first condition alone may hold because somebody filled the diagonal to take it out of the ranking. So relevant
    items outside the diagonal must be farther than the other items on average, too.

    blocks : the rows, some at a time, and their relevance
    """
    if not farthest_on_diagonal(rows, name) or not farther_on_average(blocks, name):
        return
    meant, function = MEANT[name]
    warn(
        f"The {name} rank every item of a square matrix farthest from itself, and relevant items farther than others "
        f"on average: they are probably {meant}. Pass {meant} to {function}."
    )


def farthest_on_diagonal(rows: Array | Sequence[Array], name: str) -> bool:
    """Whether the rows form a square matrix in which the diagonal is the farthest item of each row, but not alone."""
    for place, row in enumerate(rows):
        if len(row) != len(rows):
            return False
        low, itself, high = row.min(), row[place], row.max()
        if not (low < itself == high if name == "distances" else low == itself < high):
            return False
    return True


def farther_on_average(blocks: Iterable[tuple[Array, Array]], name: str) -> bool:
    """Whether relevant items are farther than others on average, without the diagonal.

    The answer is no unless the diagonal is excluded as a whole or relevant as a whole.
    """
    start = 0
    sums, counts = np.zeros(2), np.zeros(2)
    excluded = relevant_to_itself = True
    for block, relevance in blocks:
        index = np.arange(len(block))
        diagonal = relevance[index, start + index]
        excluded &= bool((diagonal < 0).all())
        relevant_to_itself &= bool((diagonal > 0).all())
        if not excluded and not relevant_to_itself:
            return False
        values = block.astype(np.float64)
        others = start + index[:, None] != np.arange(block.shape[1])
        with np.errstate(all="ignore"):  # numbers that are not finite are refused later
            for kind, chosen in enumerate((others & (relevance > 0), others & (relevance == 0))):
                sums[kind] += values[chosen].sum()
                counts[kind] += chosen.sum()
        start += len(block)
    if not counts.all() or (relevant_to_itself and start < FEWEST):
        return False
    relevant, others_mean = (sums / counts).tolist()
    return bool(relevant > others_mean if name == "distances" else relevant < others_mean)


def check_self_matches(
    rows: Array | Sequence[Array], judged: Array | Sequence[Array] | LabelledRows, name: str
) -> None:
    """Warn if query i finds itself as item i: a symmetric matrix whose diagonal is relevant and nearest.

    The scores of queries and items of two kinds, such as texts and pictures, are not symmetric. There may be more
    items than queries.
    """
    count = len(rows)
    if count < FEWEST or any(len(row) < count for row in rows):
        return
    some = some_of(count)
    if not all(np.asarray(judged[query : query + 1])[0][query] > 0 for query in some.tolist()):
        return
    block = np.array([rows[query][some] for query in some.tolist()], dtype=np.float64)
    others = block[~np.eye(len(some), dtype=np.bool_)]
    with np.errstate(all="ignore"):  # numbers that are not finite are refused later
        symmetric = (np.abs(block - block.T) <= SYMMETRIC * np.abs(block).max()).all()
    if not symmetric or len(np.unique(others)) < 3:
        return
    best = np.min if name == "distances" else np.max
    first = sum(bool(row[place] == best(row)) for place, row in enumerate(rows))
    if 2 * first >= count:
        warn(
            f"{first} of {count} queries probably find themselves, however bad the embeddings are: item i is "
            f"relevant to query i and nearest, and the {name} are symmetric. To leave it out, pass labels without "
            "gallery_labels, or give it a negative relevance."
        )
