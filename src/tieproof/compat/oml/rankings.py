"""`Rankings`: the rankings that the retrieval metrics are computed from, made of lists or of embeddings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple
from typing import Any, NamedTuple

import numpy as np

from tieproof import Estimate, Result, evaluate_distances
from tieproof.errors import InputError
from tieproof.inputs.identities import as_int64
from tieproof.inputs.options import as_shares
from tieproof.kit import BoolArray, FloatArray, IntArray, as_array, of_queries

# The measures of tieproof by the library's names; all of them take a cutoff.
_PATTERNS = {"cmc": "Success", "precision": "RelP", "map": "AP(norm=hits)"}


class Rankings(NamedTuple):
    """The rankings of Q queries, each as long as its list."""

    lengths: IntArray  # (Q,) the number of listed items
    n_relevant: IntArray  # (Q,) the number of relevant items in the gallery, listed or not
    evaluate: Callable[[list[str]], Result]  # measures by name; a query with nothing relevant scores 0


def of_lists(
    correct: Sequence[BoolArray], n_relevant: Sequence[int], distances: Sequence[FloatArray] | None = None
) -> Rankings:
    """Rankings of lists with the given relevant items; without distances the order of a list is taken as given.

    Items that are not listed rank behind the listed ones.
    """
    if not len(correct):
        raise InputError("There is no query. Pass the list of at least one query.")
    for query, (row, relevant) in enumerate(zip(correct, n_relevant, strict=True)):
        if relevant < (listed := int(row.sum())):
            raise InputError(
                f"Query {query} has {relevant} relevant items, but its list contains {listed}. Count all relevant "
                "items, in the list or not."
            )
    lengths, known = np.array([len(row) for row in correct]), np.array(n_relevant)
    order = [np.arange(length) for length in lengths] if distances is None else distances

    def evaluate(measures: list[str]) -> Result:
        options: dict[str, Any] = {"n_relevant": known, "complete": True, "measures": measures, "empty": "zero"}
        return evaluate_distances(order, correct, **options)

    return Rankings(lengths, known, evaluate)


def check_queries(given: Sequence[Any], name: str, others: Sequence[Any], name_of_others: str) -> None:
    """Refuse two arguments that are not of equally many queries."""
    if len(given) != len(others):
        raise InputError(
            f"The number of queries is {len(given)} for {name}, but {len(others)} for {name_of_others}: pass both "
            "for each query."
        )


def check_cutoffs(wanted: Mapping[str, Sequence[int]]) -> None:
    """Refuse cutoffs that are not whole numbers above 0."""
    for name, top_k in wanted.items():
        for k in top_k:
            if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
                raise InputError(f"The cutoffs of {name} must be whole numbers of at least 1, but contain {k!r}.")


def shares_of(values: Any, name: str) -> tuple[float, ...]:
    """The shares in the argument of that name; a number outside [0, 1] is refused."""
    return as_shares(values, f"A number in {name}", f"{name}=(0.5,)")


def evaluate_at(
    rankings: Rankings, wanted: Mapping[str, Sequence[int]]
) -> dict[str, dict[int, Estimate[FloatArray]]]:
    """Each metric of every query at each cutoff, or at the end of a list that is shorter than the cutoff.

    A metric without cutoffs is left out. An empty list scores 1 if nothing is relevant, else 0.
    """
    check_cutoffs(wanted)
    lengths = rankings.lengths
    measures = [
        f"{_PATTERNS[name]}@{cutoff}"
        for name, top_k in wanted.items()
        for cutoff in np.unique([np.minimum(k, lengths) for k in top_k])
        if cutoff
    ]
    result = rankings.evaluate(measures) if measures else None

    def values(name: str, k: int) -> Estimate[FloatArray]:
        at_k = np.zeros((4, len(lengths)))
        at_k[:3, (lengths == 0) & (rankings.n_relevant == 0)] = 1.0
        for cutoff in np.unique(np.minimum(k, lengths)):
            if cutoff and result is not None:
                at = np.minimum(k, lengths) == cutoff
                estimate = result.per_query(f"{_PATTERNS[name]}@{cutoff}")
                at_k[:, at] = astuple(of_queries(estimate, at))
        return Estimate(*at_k)

    return {name: {k: values(name, k) for k in top_k} for name, top_k in wanted.items() if top_k}


def correct_of(retrieved_ids: Sequence[Any], gt_ids: Sequence[Any]) -> tuple[list[BoolArray], list[int]]:
    """Which listed items are relevant, and how many relevant items each query has."""
    relevant, listed = as_ids(gt_ids, "gt_ids"), as_ids(retrieved_ids, "retrieved_ids")
    return [np.isin(row, own) for row, own in zip(listed, relevant, strict=True)], [len(own) for own in relevant]


def as_ids(values: Sequence[Any], name: str) -> list[IntArray]:
    """The ids in the list of each query; a repeated id is refused."""
    rows = []
    for query, value in enumerate(values):
        row = as_array(value, name)
        if row.size == 0:
            row = np.zeros(0, dtype=np.int64)
        if row.ndim != 1 or row.dtype.kind not in "iu":
            raise InputError(
                f"The {name} of query {query} must be a one-dimensional array of integers, not of shape {row.shape} "
                f"and dtype {row.dtype.name}."
            )
        if len(np.unique(row)) < len(row):
            raise InputError(f"The {name} of query {query} name an item twice. Keep each item once.")
        rows.append(as_int64(row, f"{name} of query {query}"))
    return rows
