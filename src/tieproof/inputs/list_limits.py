"""Checks n_relevant and n_items: the numbers of relevant and of all items of lists that were cut off."""

from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.arrays import as_numbers
from tieproof.inputs.identities import exact_below, not_whole, stored_type
from tieproof.ties import IntArray


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
