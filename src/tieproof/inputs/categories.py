"""Categories of queries: their names, and the queries of each category."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from tieproof.errors import InputError, about
from tieproof.inputs.labels import as_labels, check_code_points
from tieproof.inputs.options import check_choice
from tieproof.ties import Array, BoolArray, IntArray

Average = Literal["micro", "macro"]
AVERAGES = ("micro", "macro")
"""micro: the mean over all queries; macro: the mean of the means of the categories."""

MOST_NAMED = 10
"""The number of categories that a message lists."""


@dataclass(frozen=True)
class Categories:
    """The categories of a result's queries.

    names : (C,) the names, sorted
    of_query : (Q,) for each evaluated query the position of its category in `names`
    of_empty : the same for each query with nothing relevant
    counted : (C,) whether a category has a query that the means include
    """

    names: Array
    of_query: IntArray
    of_empty: IntArray
    counted: BoolArray

    @classmethod
    def of(cls, of_query: Array, of_empty: Array, counted: BoolArray) -> "Categories":
        """Make the categories from that of each query; `counted` (Q,) tells which queries the means include.

        >>> Categories.of(np.array(["dog", "cat", "dog"]), np.array(["owl"]), np.array([True, True, False])).members
        {'cat': array([1]), 'dog': array([0, 2])}
        """
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
        """Return the positions of a category's evaluated queries, and of its queries with nothing relevant.

        Raises InputError for an unknown category; the message lists the known ones.
        """
        if name in self.members:
            return self.members[name], np.flatnonzero(self.names[self.of_empty] == name)
        if name in self.left_out:
            raise InputError(
                f"No query of the category {name!r} has a relevant item, so that there is nothing to average."
            )
        known = list(map(repr, self.members))
        more = f" and {len(known) - MOST_NAMED} more" if len(known) > MOST_NAMED else ""
        raise InputError(f"This result has no category {name!r}; it has {', '.join(known[:MOST_NAMED])}{more}.")


def check_average(average: str) -> None:
    """Refuse an unknown kind of mean."""
    check_choice("average", average, AVERAGES)


def as_categories(values: Any, count: int, average: str, labels: Any = None) -> Array | None:
    """Return the category of each of `count` queries, integers or strings of shape (count,); None without categories.

    labels : used as categories if `average` is "macro" and `values` is None
    """
    check_average(average)
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
