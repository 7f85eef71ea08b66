"""The page of a result: `templates/result.html` with its numbers."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tieproof.distances import DISTANCES
from tieproof.errors import InputError
from tieproof.evaluation.intervals import Interval
from tieproof.evaluation.result import Result
from tieproof.evaluation.text import about_run, about_ties, about_zeros
from tieproof.evaluation.text import evaluated as evaluated_in_words
from tieproof.evaluation.worst_queries import look, worst_first, worst_queries
from tieproof.show.pages.contents import Budget
from tieproof.show.pages.page import Axis, Spread, spread, write_page
from tieproof.show.pages.query_table import Choice, QueryTable, query_table
from tieproof.show.parts import count, distance_meant
from tieproof.show.printable import printable
from tieproof.ties import Estimate

CONFIDENCE = 0.95
"""The confidence of intervals over queries, unless `with_ci` has set another one."""

OPENED = 5
"""The number of worst queries whose items are shown at once; the others are opened by a click, or in print."""

COSTLY = 10
"""The number of queries that are listed because their ties cost most."""

FEW, EACH = 20, 10
"""If there are more categories than the first number, the second number of the worst and of the best are shown."""

HEADS = {
    "lower": "the smallest value over all orderings of tied items",
    "expected": "the mean over all orderings of tied items",
    "upper": "the largest value over all orderings of tied items",
}
"""The columns of a measure, with their meaning."""

AMBIGUOUS, LARGEST = "ambiguous ties", "largest tie"


class MeasureRow(NamedTuple):
    """A measure with both its uncertainties; the interval is None if there are too few queries for one."""

    name: str
    estimate: Estimate[float]
    interval: Interval | None


class CategoryRow(NamedTuple):
    """A category, its estimate, and the number of its queries that count."""

    name: str
    estimate: Estimate[float]
    queries: int


def report(
    result: Result, path: str | os.PathLike[str], items: Any, gallery_items: Any, evaluated: Mapping[str, Any]
) -> None:
    """Write the page of a result; see `Result.report`."""
    write_page(result, path, lambda shown: contents(shown, items, gallery_items, evaluated))


def contents(
    result: Result, items: Any = None, gallery_items: Any = None, evaluated: Mapping[str, Any] | None = None
) -> tuple[str, dict[str, Any]]:
    """The template of the page, and the values that it shows."""
    measure = result.measures[0]
    intervals, no_interval = over_queries(result)
    rows = [MeasureRow(name, result[name], intervals.get(name)) for name in result.measures]
    headline = rows[0]
    ends = [headline.estimate.lower, headline.estimate.upper]
    ends += [] if headline.interval is None else [headline.interval.low, headline.interval.high]
    budget = Budget()
    worst = worst_queries(result, measure, items, gallery_items, evaluated or {}, budget)
    return "result.html", {
        "title": f"{measure} {headline.estimate.lower:.4f} over {count(result.ties.queries, 'query')}",
        "subject": evaluated_in_words(result),
        "headline": headline,
        "no_interval": no_interval,
        "percent": f"{100 * (result.ci or CONFIDENCE):g} %",
        "axis": Axis.around(ends),
        "said": [
            *about_run(result),
            *about_ties(result),
            *([about_zeros(result)] if result.ties.zero_vectors else []),
        ],
        "rows": rows,
        "spreads": [one for name in result.measures if (one := spread_of(result, name)) is not None],
        "categories": categories(result, measure),
        "worst": worst,
        "opened": OPENED,
        "with_nearest": any(row.nearest is not None for row in worst),
        "look": look(worst),
        "anchors": {row.name: row.anchor for row in worst},
        "by_score": result.setting.distance == "scores",
        "costly": costly(result, measure),
        "areas": areas(result),
        "queries": queries_of(result),
        "setting": setting(result),
        "left_out": [*left_out(result), *not_shown(budget)],
    }


def over_queries(result: Result) -> tuple[dict[str, Interval], str]:
    """The confidence interval of each measure over the queries, or none, and the reason."""
    try:
        return result.intervals(result.ci or CONFIDENCE), ""
    except InputError as error:
        return {}, str(error)


def spread_of(result: Result, measure: str) -> Spread | None:
    """The distribution of a measure over the queries; None if no query has a value."""
    estimate = result.per_query(measure)
    return None if np.isnan(estimate.lower).all() else spread(measure, estimate)


def categories(result: Result, measure: str) -> dict[str, Any] | None:
    """The categories, the worst first, or the worst and the best of them if there are many."""
    if not result.categories:
        return None
    parts = ((name, result.category(name)) for name in result.categories)
    rows = [CategoryRow(str(name), part[measure], part.ties.queries) for name, part in parts]
    rows.sort(key=lambda row: (row.estimate.lower, row.estimate.expected, row.estimate.upper, row.name))
    if len(rows) <= FEW:
        return {"count": len(rows), "worst": rows, "between": 0, "best": []}
    return {"count": len(rows), "worst": rows[:EACH], "between": len(rows) - 2 * EACH, "best": rows[-EACH:]}


def costly(result: Result, measure: str) -> dict[str, Any] | None:
    """The queries whose ties leave a measure open the most."""
    values = result.per_query(measure)
    width = np.nan_to_num(values.upper - values.lower)
    order = np.argsort(-width, kind="stable")[:COSTLY]
    order = order[width[order] > 0]
    if not len(order):
        return None
    ties = result.ties_per_query
    rows = [
        {
            "name": result.query_ids[at].item(),
            "width": float(width[at]),
            "estimate": Estimate(*(float(getattr(values, name)[at]) for name in (*HEADS, "std"))),
            "ambiguous_ties": int(ties["ambiguous_ties"][at]),
            "largest_tie": int(ties["largest_tie"][at]),
        }
        for at in order.tolist()
    ]
    return {"rows": rows, "share": float(width[order].sum() / width.sum()), "touched": int((width > 0).sum())}


def areas(result: Result) -> list[tuple[str, Estimate[float]]]:
    """The areas under the error-versus-reject curves, if the queries have confidences."""
    if not result.has_confidence:
        return []
    return [(f"1 − {name}", result.error_reject(name).area) for name in result.measures]


def queries_of(result: Result) -> QueryTable:
    """The table of every query."""
    choices = []
    for name in result.measures:
        values = result.per_query(name)
        expected = None if np.array_equal(values.expected, values.lower, equal_nan=True) else values.expected
        upper = None if np.array_equal(values.upper, values.expected, equal_nan=True) else values.upper
        choices.append(Choice(name, (values.lower, expected, upper)))
    ties = result.ties_per_query
    counts = {AMBIGUOUS: ties["ambiguous_ties"], LARGEST: ties["largest_tie"]}
    order = worst_first(result, result.measures[0])
    return query_table(result.query_ids, order, result.category_of_query, choices, counts, HEADS, AMBIGUOUS)


def setting(result: Result) -> list[tuple[str, str]]:
    """What was evaluated, as pairs of a name and a value."""
    found = result.setting
    items = "the other queries (leave-one-out)" if found.leave_one_out else f"{found.gallery:,}"
    given = found.dimensions is None
    pairs = [
        ("Queries", f"{found.queries:,}"),
        ("Gallery", items if not given else f"up to {found.gallery:,} for each query"),
        ("Ranked by", f"the given {found.distance}" if given else distance_meant(found.distance)),
    ]
    if not given:
        known = DISTANCES.get(found.distance)
        pairs.append(("Bits" if known and known.bits else "Dimensions", f"{found.dimensions:,}"))
        pairs.append(("Precision of distances", found.precision or "exact, as real numbers"))
    return [
        *pairs,
        ("Mean", "over the queries" if found.average == "micro" else "over the means of the categories"),
        ("Queries without relevant items", MEANT[found.empty]),
        (
            "Ties that hold a relevant item",
            f"{result.ties.ties:,}, of which {result.ties.ambiguous_ties:,} ambiguous",
        ),
        ("Largest tie", count(result.ties.largest_tie, "item") if result.ties.largest_tie else "none"),
        ("Fingerprint of the data", result.fingerprint or "none: one category of a result"),
    ]


MEANT = {
    "skip": "left out (skip)",
    "nan": "kept without a value (nan)",
    "zero": "counted as 0 (zero)",
    "one": "counted as 1 (one)",
    "error": "refused (error)",
}
"""How queries without relevant items are treated, in words."""


def left_out(result: Result) -> Iterator[str]:
    """Sentences on the queries and categories that no mean includes, with the first names."""
    for reason, ids in result.skipped.items():
        yield f"{count(len(ids), 'query')} with {reason}: {named(ids.tolist())}."
    if result.categories_left_out:
        names = named(list(result.categories_left_out))
        yield f"{count(len(result.categories_left_out), 'category')} without any query that counts: {names}."


def named(names: Sequence[Any], most: int = 12) -> str:
    """The first names, and how many more there are."""
    shown = ", ".join(map(str, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"


def not_shown(budget: Budget) -> Iterator[str]:
    """Sentences on images that the page does not show."""
    if budget.missing:
        items = count(len(budget.missing), "item")
        looks, files = ("looks like the name of an image, but no such file exists", "it as a text")
        if len(budget.missing) > 1:
            looks, files = ("look like names of images, but no such files exist", "them as texts")
        names = named([*map(printable, budget.missing)], 1)
        yield f"{items} {looks}: {names}. The page shows {files}."
    if budget.unreadable:
        files = count(budget.unreadable, "file")
        yield f"{files} could not be embedded as images; the page shows names instead."
    if budget.no_room:
        images = count(budget.no_room, "image")
        yield f"{images} had no room on the page; it shows names instead."
