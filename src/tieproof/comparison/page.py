"""The page of a comparison: `templates/comparison.html` with its numbers."""

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tieproof.comparison.result import Comparison
from tieproof.comparison.verdicts import RULES, Difference, QueryDifference
from tieproof.show.pages.page import Axis, isolated, write_page
from tieproof.show.pages.query_table import Choice, QueryTable, query_table
from tieproof.show.parts import count

HEADS = {
    "lower": "the smallest difference over all orderings of tied items",
    "expected": "the mean difference over all orderings of tied items",
    "upper": "the largest difference over all orderings of tied items",
}
"""The columns of a difference, with their meaning."""

DECIDING = 5
"""The number of queries that are listed for each pair because they decide between the two systems."""


class DifferenceRow(NamedTuple):
    """The difference of two systems in a measure."""

    a: str
    b: str
    found: Difference


class MeasureTable(NamedTuple):
    """All pairs in one measure, on one axis."""

    measure: str
    axis: Axis
    rows: list[DifferenceRow]


def report(comparison: Comparison, path: str | os.PathLike[str]) -> None:
    """Write the page of a comparison; see `Comparison.report`."""
    write_page(comparison, path, contents)


def contents(comparison: Comparison) -> tuple[str, dict[str, Any]]:
    """The template of the page, and the values that it shows."""
    tables = [table_of(comparison, measure) for measure in comparison.measures]
    systems = ", ".join(comparison.systems)
    return "comparison.html", {
        "title": f"{systems}: {count(comparison.queries, 'query')}",
        "comparison": comparison,
        "tables": tables,
        "rules": RULES,
        "deciding": list(deciding(comparison)),
        "queries": queries_of(comparison),
        "setting": setting(comparison),
    }


def table_of(comparison: Comparison, measure: str) -> MeasureTable:
    """The differences of all pairs in a measure."""
    rows = [DifferenceRow(a, b, comparison[a, b, measure]) for a, b in comparison.pairs]
    ends = [0.0]
    for row in rows:
        ends += [row.found.lower, row.found.upper, *row.found.interval]
    return MeasureTable(measure, Axis.around(ends), rows)


def deciding(comparison: Comparison) -> Iterator[tuple[str, str, tuple[QueryDifference, ...]]]:
    """The queries with the largest differences by the first measure, for each pair."""
    for a, b in comparison.pairs:
        yield a, b, comparison.deciding(a, b, comparison.measures[0], DECIDING)


def queries_of(comparison: Comparison) -> QueryTable:
    """The table of every query, starting with the largest differences of the first pair."""
    choices = []
    for measure in comparison.measures:
        for a, b in comparison.pairs:
            values = comparison.per_query(a, b, measure)
            choices.append(
                Choice(f"{measure}: {isolated(a)} - {isolated(b)}", (values.lower, values.expected, values.upper))
            )
    expected = choices[0].columns[1]
    assert expected is not None
    order = np.argsort(-np.nan_to_num(np.abs(expected)), kind="stable")
    return query_table(comparison.query_ids, order, None, choices, {}, HEADS)


def setting(comparison: Comparison) -> list[tuple[str, str]]:
    """How the systems were compared, as pairs of a name and a value."""
    against = f"each with {comparison.baseline}" if comparison.baseline else "all pairs"
    return [
        ("Systems", ", ".join(comparison.systems)),
        ("Compared", against),
        ("Queries", f"{comparison.queries:,}"),
        ("Test", comparison.test),
        ("Correction", comparison.correction or "none"),
        ("Confidence", f"{100 * comparison.confidence:g} %"),
        *((f"Fingerprint of {name}", result.fingerprint or "none") for name, result in comparison.results.items()),
    ]
