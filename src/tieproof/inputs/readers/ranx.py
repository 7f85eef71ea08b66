"""Objects of ranx: dictionaries of Numba, which Python reads item by item, and compiled code in one pass.

Numba keeps the compiled code beside this file, or in its folder of the user, so that it compiles only once.
"""

from typing import Any, NamedTuple

import numba
import numpy as np

from tieproof.ties import Array, IntArray


class RanxLists(NamedTuple):
    """The documents of a Run or of Qrels, query after query."""

    queries: list[str]
    lengths: IntArray  # how many documents each query has
    names: Array  # (n,) of the documents, as NumPy's strings of fixed width
    values: Array  # (n,) their scores or grades


def read(given: Any) -> RanxLists:
    """Read a Run or Qrels."""
    of_queries = given.run if hasattr(given, "run") else given.qrels
    lengths, longest = _sizes(of_queries)
    names = np.empty(lengths.sum(), f"<U{max(longest, 1)}")
    values = np.empty(len(names), np.float64 if hasattr(given, "run") else np.int64)
    if len(names):
        _fill(of_queries, names, values)
    return RanxLists(list(of_queries), lengths, names, values)


def _sizes_of(of_queries: Any) -> Any:
    """The number of documents of each query, and the length of the longest name."""
    lengths = np.empty(len(of_queries), np.int64)
    longest = 0
    for query, of_documents in enumerate(of_queries.values()):
        lengths[query] = len(of_documents)
        for name in of_documents:
            longest = max(longest, len(name))
    return lengths, longest


def _write(of_queries: Any, names: Any, values: Any) -> None:
    row = 0
    for of_documents in of_queries.values():
        for name, value in of_documents.items():
            names[row] = name
            values[row] = value
            row += 1


_sizes, _fill = numba.njit(cache=True)(_sizes_of), numba.njit(cache=True)(_write)
