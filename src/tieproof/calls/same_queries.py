"""Whether results are of the same queries, labels, measures and policies; and where each query stands in each."""

from collections.abc import Mapping, Sequence

import numpy as np

from tieproof.calls.scoring import parse_measures
from tieproof.errors import InputError
from tieproof.measures import Measure
from tieproof.results.results import Result
from tieproof.ties import IntArray

MOST_NAMED = 3
"""Queries that a message names."""


def aligned(results: Mapping[str, Result]) -> dict[str, IntArray]:
    """Where each query of the first result stands in each result; refused by what differs."""
    (first, one), *others = results.items()
    places = {first: np.arange(len(one.query_ids))}
    for name, other in others:
        for check in (check_policies, check_queries, check_judgments):
            check(first, one, name, other)
        order = np.argsort(other.query_ids)
        places[name] = order[np.argsort(np.argsort(one.query_ids))]
        check_categories(first, one, name, other, places[name])
    return places


def refuse(first: str, name: str, what: str, one: object, other: object, advice: str) -> None:
    """Say what differs."""
    raise InputError(f"'{first}' and '{name}' have different {what}: {one} and {other}. {advice}", "results")


def check_policies(first: str, one: Result, name: str, other: Result) -> None:
    """The ways in which the evaluations were asked to go about it."""
    for field in ("leave_one_out", "average", "empty"):
        values = [getattr(result.setting, field) for result in (one, other)]
        if values[0] != values[1]:
            refuse(first, name, f"{field}=", repr(values[0]), repr(values[1]), "Evaluate both alike.")


def check_queries(first: str, one: Result, name: str, other: Result) -> None:
    """Their ids."""
    for here, there, mine, theirs in ((first, name, one, other), (name, first, other, one)):
        alone = mine.query_ids[~np.isin(mine.query_ids, theirs.query_ids)]
        if len(alone):
            named = ", ".join(map(str, alone[:MOST_NAMED].tolist()))
            more = f" and {len(alone) - MOST_NAMED:,} more" if len(alone) > MOST_NAMED else ""
            raise InputError(
                f"'{here}' has {len(alone):,} of {len(mine.query_ids):,} queries that '{there}' has not: {named}"
                f"{more}. Systems are compared on the same queries: evaluate both with the same ones.",
                "results",
            )


def check_judgments(first: str, one: Result, name: str, other: Result) -> None:
    """What the results know of what is relevant."""
    if not np.array_equal(np.sort(one.empty_ids), np.sort(other.empty_ids)):
        mine, theirs = (f"{len(result.empty_ids):,} queries with nothing relevant" for result in (one, other))
        refuse(first, name, "labels", mine, theirs, "Evaluate both with the same labels or judgments.")


def check_categories(first: str, one: Result, name: str, other: Result, place: IntArray) -> None:
    """The category of each query, where the mean is over categories."""
    mine, theirs = one.category_of_query, other.category_of_query
    if one.setting.average == "micro":
        return
    assert mine is not None
    assert theirs is not None
    if not np.array_equal(mine, theirs[place]):
        at = int(np.argmin(mine == theirs[place]))
        query = one.query_ids[at]
        refuse(
            first,
            name,
            "categories",
            f"query {query} is in {mine[at]!r}",
            f"in {theirs[place][at]!r}",
            "Evaluate both with the same categories.",
        )


def common_measures(results: Mapping[str, Result], wanted: Sequence[str | Measure] | None) -> list[str]:
    """The measures asked for, or those that all results have; refused where one lacks any."""
    (first, one), *others = results.items()
    if wanted is not None:
        names = [str(measure) for measure in parse_measures(wanted)]
        for result in results.values():
            for name in names:
                result[name]
        return names
    for name, other in others:
        if set(one.measures) != set(other.measures):
            refuse(
                first,
                name,
                "measures",
                ", ".join(one.measures),
                ", ".join(other.measures),
                "Evaluate both with the same ones, or name in measures= those to compare.",
            )
    return list(one.measures)
