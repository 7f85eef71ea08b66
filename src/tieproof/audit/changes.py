"""Changes of a case that keep every ranking, each a function of the case and a random generator."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tieproof.audit.cases import Case
from tieproof.ties import IntArray

Random = np.random.Generator
Change = Callable[[Case, Random], Case]


def permute_items(case: Case, random: Random) -> Case:
    """The items in another order: the gallery or, in leave-one-out, all items."""
    order = random.permutation(len(case.labels))
    return replace(case, **taken(case, ("items", "labels", "groups", "listed"), order))


def take_queries(case: Case, chosen: IntArray) -> Case:
    """The case with only the chosen queries, in this order."""
    found = taken(case, ("queries", "query_labels", "query_groups"), chosen)
    if case.queries is None:
        listed = None if case.listed is None else case.listed[:, chosen]
        found |= {"items": case.items[:, chosen], "listed": listed}
    return replace(case, **found)


def taken(case: Case, names: Sequence[str], chosen: IntArray) -> dict[str, Any]:
    """The chosen rows, in this order, of the named arrays of a case; None for arrays that it does not have."""
    arrays = {name: getattr(case, name) for name in names}
    return {name: None if array is None else array[chosen] for name, array in arrays.items()}


def permute_queries(case: Case, random: Random) -> Case:
    """The queries in another order."""
    assert case.query_labels is not None
    return take_queries(case, random.permutation(len(case.query_labels)))


def rescale(case: Case, random: Random) -> Case:
    """All numbers times a power of two, which is exact."""
    factor = case.items.dtype.type(2.0 ** random.choice([-6, -3, 4, 7]))
    queries = None if case.queries is None else case.queries * factor
    return replace(case, items=case.items * factor, queries=queries)


def add_zero_columns(case: Case, random: Random) -> Case:
    """Three more dimensions, at random positions, in which every vector is zero."""
    width = case.items.shape[1]
    places = np.sort(random.integers(width + 1, size=3))
    queries = None if case.queries is None else np.insert(case.queries, places, 0, axis=1)
    return replace(case, items=np.insert(case.items, places, 0, axis=1), queries=queries)


def relabel(case: Case, names: IntArray) -> Case:
    """Other numbers for the classes: class c is called names[c]."""
    return replace(
        case,
        labels=names[case.labels],
        query_labels=None if case.query_labels is None else names[case.query_labels],
    )


def rewrite(**writing: Any) -> Change:
    """A change of how the case is written; None is replaced by a random seed."""

    def change(case: Case, random: Random) -> Case:
        drawn: dict[str, Any] = {
            name: int(random.integers(1, 2**31)) if value is None else value for name, value in writing.items()
        }
        return replace(case, writing=case.writing._replace(**drawn))

    return change
