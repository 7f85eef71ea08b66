"""Categories of queries: what they are, and which queries each one holds."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from tieproof.errors import InputError, about
from tieproof.inputs.labels import as_labels
from tieproof.inputs.options import check_choice
from tieproof.inputs.strings import check_code_points
from tieproof.ties import Array, BoolArray, IntArray

Average = Literal["micro", "macro"]
AVERAGES = ("micro", "macro")
"""The mean over all queries alike; the mean over the categories of the means over their queries."""

MOST_NAMED = 10
"""Categories that a message lists."""


@dataclass(frozen=True)
class Categories:
    """The categories of a result's queries.

    names : (C,) sorted
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
        """From the category of each query; `counted` (Q,) says which queries the means include.

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
        """The categories that no mean includes, since nothing is relevant to their queries."""
        return tuple(self.names[~self.counted].tolist())

    def find(self, name: Any) -> tuple[IntArray, IntArray]:
        """The positions of a category's evaluated queries, and of those with nothing relevant.

        Raises InputError with the categories there are.
        """
        if name in self.members:
            return self.members[name], np.flatnonzero(self.names[self.of_empty] == name)
        if name in self.left_out:
            raise InputError(
                f"No query of the category {name!r} has anything relevant, so that there is nothing to average."
            )
        known = list(map(repr, self.members))
        more = f" and {len(known) - MOST_NAMED} more" if len(known) > MOST_NAMED else ""
        raise InputError(f"This result has no category {name!r}; it has {', '.join(known[:MOST_NAMED])}{more}.")


def check_average(average: str) -> None:
    """Refuse an unknown kind of mean."""
    check_choice("average", average, AVERAGES)


def as_categories(values: Any, count: int, average: str, labels: Any = None) -> Array | None:
    """The category of each of `count` queries: integers or strings, shape (count,); None where there are none.

    labels : what takes the place of categories where the mean over them is asked for
    """
    check_average(average)
    if values is not None:
        return with_names(as_labels(values, count, "categories", "queries", columns=False), "categories")
    if average == "micro":
        return None
    if labels is None:
        raise InputError(
            "average='macro' is the mean over categories of queries. Pass categories, one for each query."
        )
    with about("labels"):
        own = as_labels(labels, count, "labels", "queries")
    if own.ndim == 2:
        raise InputError(
            "average='macro' is the mean over categories, and labels in columns put a query into several. Pass "
            "categories, one for each query."
        )
    return with_names(own, "labels")


def with_names(values: Array, name: str) -> Array:
    """The categories, refused if they are strings that cannot be shown."""
    if values.dtype.kind == "U":
        check_code_points(values, f"The {name}")
    return values
