"""Categories of queries: their names, and the queries of each category."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from tieproof.errors import InputError, about
from tieproof.inputs.frames import as_frame, column_for
from tieproof.inputs.labels import as_labels, check_code_points
from tieproof.inputs.options import check_choice
from tieproof.inputs.readers import text
from tieproof.inputs.readers.columns import listing
from tieproof.ties import Array, BoolArray, IntArray

Average = Literal["micro", "macro"]
AVERAGES = ("micro", "macro")  # micro: the mean over all queries; macro: the mean of the means of the categories


@dataclass(frozen=True)
class Categories:
    """The categories of a result's queries."""

    names: Array  # (C,) sorted
    of_query: IntArray  # (Q,) for each evaluated query the position of its category in `names`
    of_empty: IntArray  # the same for each query with nothing relevant
    counted: BoolArray  # (C,) whether a category has a query that the means include

    @classmethod
    def of(cls, of_query: Array, of_empty: Array, counted: BoolArray) -> "Categories":
        """Make the categories from that of each query; `counted` (Q,) tells which queries the means include."""
        names, place = np.unique(np.concatenate([of_query, of_empty]), return_inverse=True)
        own = place[: len(of_query)]
        return cls(names, own, place[len(of_query) :], np.bincount(own[counted], minlength=len(names)) > 0)

    @cached_property
    def members(self) -> dict[Any, IntArray]:
        """The positions of the evaluated queries of each category that the means include."""
        order = np.argsort(self.of_query, kind="stable")
        ends = np.cumsum(np.bincount(self.of_query, minlength=len(self.names)))
        named = zip(self.names.tolist(), np.split(order, ends[:-1]), self.counted.tolist(), strict=True)
        return {name: positions for name, positions, counted in named if counted}

    @property
    def left_out(self) -> tuple[Any, ...]:
        """The categories that no mean includes because their queries have nothing relevant."""
        return tuple(self.names[~self.counted].tolist())

    def find(self, name: Any) -> tuple[IntArray, IntArray]:
        """Return the positions of a category's evaluated queries, and of its queries with nothing relevant."""
        if name in self.members:
            return self.members[name], np.flatnonzero(self.names[self.of_empty] == name)
        if name in self.left_out:
            raise InputError(
                f"No query of the category {name!r} has a relevant item, so that there is nothing to average."
            )
        known = listing(list(map(repr, self.members)))
        raise InputError(f"This result has no category {name!r}; it has {known}.")


def as_categories(values: Any, count: int, average: str, labels: Any = None) -> Array | None:
    """Return the category of each query, (count,), by default its label if `average` is "macro"; None without any."""
    check_choice("average", average, AVERAGES)
    if values is not None:
        name, own = "categories", as_labels(values, count, "categories", "queries", columns=False)
    elif average == "micro":
        return None
    elif labels is None:
        raise InputError(
            "average='macro' is the mean over categories of queries. Pass categories, one for each query."
        )
    else:
        name = "labels"
        with about("labels"):
            own = as_labels(labels, count, "labels", "queries")
        if own.ndim == 2:
            raise InputError(
                "average='macro' is the mean over categories, but labels in columns can put a query into several. "
                "Pass categories, one for each query."
            )
    if own.dtype.kind == "U":
        check_code_points(own, f"The {name}")
    return own


def categories_of(values: Any, queries: Sequence[str], average: str) -> Array | None:
    """Return the category of each query; None without categories."""
    if values is None:
        return as_categories(None, len(queries), average)
    known = _by_query(values)
    lacking = [query for query in queries if query not in known]
    if lacking:
        raise InputError(
            f"The categories lack {len(lacking)} of {len(queries)} queries of the qrels; the first is "
            f"'{lacking[0]}'. Give every query a category."
        )
    for query in queries:
        if known[query] is None or known[query] != known[query]:
            raise InputError(f"The category of query '{query}' is {known[query]}. Give every query a category.")
    return as_labels([known[query] for query in queries], len(queries), "categories", "queries", columns=False)


def _by_query(values: Any) -> dict[str, Any]:
    """Return the category of each query by its name; the names 7 and "7" are the same."""
    values = as_frame(values)
    if isinstance(values, str | os.PathLike):
        return dict(text.read(values, "query", "category"))
    if isinstance(values, Mapping):
        pairs = list(values.items())
    elif hasattr(values, "columns"):
        columns = (column_for(values, what, "The categories").tolist() for what in ("query", "category"))
        pairs = list(zip(*columns, strict=True))
    else:
        raise InputError(
            "The categories of a run must be the path of a file, a dictionary {query: category} or a data frame, not "
            f"{type(values).__name__}, because the queries of a run have names but no order."
        )
    categories: dict[str, Any] = {}
    for query, category in pairs:
        known = categories.setdefault(str(query), category)
        if known is not category and known != category:
            raise InputError(
                f"The categories name query '{query}' twice, as {known!r} and as {category!r}. Keep one of them."
            )
    return categories
