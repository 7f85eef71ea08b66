"""The page of a result: what `templates/result.html` shows."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tieproof.distances import DISTANCES
from tieproof.errors import InputError
from tieproof.evaluation.measured import Measured, averaged
from tieproof.evaluation.nearest import Nearest, nearest
from tieproof.evaluation.text import about_run, about_ties, curves_of, evaluated
from tieproof.show.pages.contents import Contents, EmbeddedImages
from tieproof.show.pages.page import Axis, spread
from tieproof.show.pages.query_table import MeasureChoice, QueryTable, query_table
from tieproof.show.parts import count, distance_meant, first_of
from tieproof.show.printable import printable
from tieproof.ties import Estimate, FloatArray, IntArray

CONFIDENCE = 0.95  # the confidence of intervals over queries, unless `with_ci` has set another one
WORST, OPENED = 20, 5  # how many worst queries are shown, and how many of these with their items, without a click
COSTLY = 10  # the number of queries that are listed because their ties cost most
FEW, EACH = 20, 10  # if there are more categories, so many of the worst and of the best are shown

HEADS = {
    "lower": "the smallest value over all orderings of tied items",
    "expected": "the mean over all orderings of tied items",
    "upper": "the largest value over all orderings of tied items",
}
"""The columns of a measure, with their meaning."""

AMBIGUOUS = "ambiguous ties"  # the column by which queries without ambiguous ties can be hidden

MEANT = {
    "skip": "left out (skip)",
    "nan": "kept without a value (nan)",
    "zero": "counted as 0 (zero)",
    "one": "counted as 1 (one)",
    "error": "refused (error)",
}
"""How queries without relevant items are treated, in words."""


def contents(
    result: Measured,
    items: Any = None,
    gallery_items: Any = None,
    data: Mapping[str, Any] | None = None,
    folders: Sequence[Path | None] = (None, None),  # of both kinds of items; texts name no images elsewhere
) -> tuple[str, dict[str, Any]]:
    """The template of the page, and the values that it shows, with the evaluated `data` by its arguments' names."""
    try:
        intervals, no_interval = result.intervals(result.ci or CONFIDENCE), ""
    except InputError as error:
        intervals, no_interval = {}, str(error)
    rows = [
        {"name": name, "estimate": result[name], "interval": intervals.get(name)}  # None: too few queries
        for name in averaged(result)
    ]
    measure = averaged(result)[0]
    ends = [result[measure].lower, result[measure].upper]
    ends += [intervals[measure].low, intervals[measure].high] if intervals else []
    per_query = {name: result.per_query(name) for name in averaged(result)}
    budget = EmbeddedImages()
    sides = _sides(result, (items, gallery_items), folders, budget)
    worst = _worst_queries(result, per_query[measure], *sides, data or {})
    return "result.html", {
        "title": f"{measure} {result[measure].expected:.4f} over {count(result.ties.queries, 'query')}",
        "subject": evaluated(result),
        "headline": rows[0],
        "no_interval": no_interval,
        "percent": f"{100 * (result.ci or CONFIDENCE):g} %",
        "axis": Axis.around(ends),
        "said": [*about_run(result), *about_ties(result)],
        "rows": rows,
        "spreads": [spread(name, values) for name, values in per_query.items() if not np.isnan(values.lower).all()],
        "categories": _categories(result, measure) if result.categories else None,
        "worst": worst,
        "opened": OPENED,
        "with_nearest": any(row["nearest"] is not None for row in worst),
        "look": _look(worst),
        "anchors": {row["name"]: row["anchor"] for row in worst},
        "by_score": result.setting.distance == "scores",
        "costly": _costly(result, per_query[measure]),
        "areas": [(f"1 − {name}", curve.area) for name, curve in curves_of(result).items()],
        "queries": _table_of_queries(result, per_query),
        "setting": _setting(result),
        "left_out": [*_left_out(result), *_not_shown(budget)],
    }


def _categories(result: Measured, measure: str) -> dict[str, Any]:
    """The categories, the worst first, or the worst and the best of them if there are many."""
    rows: list[dict[str, Any]] = []
    for name in result.categories:
        part = result.category(name)
        rows.append({"name": str(name), "estimate": part[measure], "queries": part.ties.queries})
    rows.sort(key=lambda row: (row["estimate"].lower, row["estimate"].expected, row["estimate"].upper, row["name"]))
    if len(rows) <= FEW:
        return {"count": len(rows), "worst": rows, "between": 0, "best": []}
    return {"count": len(rows), "worst": rows[:EACH], "between": len(rows) - 2 * EACH, "best": rows[-EACH:]}


def _query(result: Measured, values: Estimate[FloatArray], at: int) -> dict[str, Any]:
    ties = result.ties_per_query
    return {
        "name": printable(result.query_ids[at]),
        "estimate": Estimate(*(float(getattr(values, name)[at]) for name in (*HEADS, "std"))),
        "ambiguous_ties": int(ties["ambiguous_ties"][at]),
        "largest_tie": int(ties["largest_tie"][at]),
    }


def _costly(result: Measured, values: Estimate[FloatArray]) -> dict[str, Any] | None:
    width = np.nan_to_num(values.upper - values.lower)
    order = np.argsort(-width, kind="stable")[:COSTLY]
    order = order[width[order] > 0]
    if not len(order):
        return None
    rows = [{**_query(result, values, at), "width": float(width[at])} for at in order.tolist()]
    return {"rows": rows, "share": float(width[order].sum() / width.sum()), "touched": int((width > 0).sum())}


def _worst_first(values: Estimate[FloatArray]) -> IntArray:
    """The positions of the queries, the worst first; equal queries keep their order."""
    return np.lexsort((values.upper, values.expected, values.lower))


def _sides(
    result: Measured, items: Sequence[Any], folders: Sequence[Path | None], budget: EmbeddedImages
) -> tuple[Contents, Contents]:
    setting, ids = result.setting, result.query_ids
    # In a run, and in the result of one category, the ids of queries are not their positions in the data.
    by_position = ids.dtype.kind in "iu" and bool(result.fingerprint) and int(ids.max()) < setting.queries
    queries = Contents(items[0], setting.queries if by_position else None, "items", budget, folders[0])
    if setting.leave_one_out and items[1] is not None:
        raise InputError(
            "gallery_items was passed, but in leave-one-out the queries are the gallery. Pass only items.",
            "gallery_items",
        )
    gallery = Contents(items[1], setting.gallery if by_position else None, "gallery_items", budget, folders[1])
    return queries, queries if setting.leave_one_out else gallery


def _worst_queries(
    result: Measured, values: Estimate[FloatArray], queries: Contents, gallery: Contents, data: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The worst queries with their contents, and with their nearest items if the evaluated data was passed."""
    ids = result.query_ids
    worst = _worst_first(values)
    worst = worst[~np.isnan(values.lower[worst])][:WORST]
    near: Sequence[Nearest | None] = nearest(result, worst, data) if data else [None] * len(worst)
    categories = result.category_of_query
    rows = []
    for at, items_of_query in zip(worst.tolist(), near, strict=True):
        row = _query(result, values, at) | {
            "anchor": f"query-{at}",
            "content": queries.of(ids[at].item(), "query"),
            "category": None if categories is None else str(categories[at]),
            "nearest": None if items_of_query is None else _nearest_of(items_of_query, gallery),
        }
        rows.append(row)
    return rows


def _nearest_of(found: Nearest, gallery: Contents) -> dict[str, Any]:
    ties = [
        {
            "first": tie.rank,
            "value": f"{tie.value:.6g}",
            "size": tie.size,
            "relevant": tie.relevant,
            "ambiguous": tie.ambiguous,
            "more": tie.size - len(tie.items),
            "shown": [(gallery.of(item, "item"), relevant) for item, relevant in tie.items],
        }
        for tie in found.ties
    ]
    return {"relevant": found.relevant, "listed": sum(len(tie.items) for tie in found.ties), "ties": ties}


def _look(worst: Sequence[Mapping[str, Any]]) -> str:
    ties = [tie for row in worst if row["nearest"] for tie in row["nearest"]["ties"]]
    items = [content for tie in ties for content, _ in tie["shown"]]
    return "pictures" if any(item.image for item in items) else "texts" if any(item.text for item in items) else "ids"


def _table_of_queries(result: Measured, per_query: Mapping[str, Estimate[FloatArray]]) -> QueryTable:
    """The table of every query, the worst first; a column that equals the one before it has no room of its own."""
    choices = []
    for name, values in per_query.items():
        expected = None if np.array_equal(values.expected, values.lower, equal_nan=True) else values.expected
        upper = None if np.array_equal(values.upper, values.expected, equal_nan=True) else values.upper
        choices.append(MeasureChoice(name, (values.lower, expected, upper)))
    ties = result.ties_per_query
    counts = {AMBIGUOUS: ties["ambiguous_ties"], "largest tie": ties["largest_tie"]}
    order = _worst_first(next(iter(per_query.values())))
    return query_table(result.query_ids, order, result.category_of_query, choices, counts, HEADS, AMBIGUOUS)


def _setting(result: Measured) -> list[tuple[str, str]]:
    setting, ties = result.setting, result.ties
    rounded = f" rounded to {setting.precision}" if setting.precision else ""
    if setting.dimensions is None:
        pairs = [
            ("Queries", f"{setting.queries:,}"),
            ("Gallery", f"up to {setting.gallery:,} for each query"),
            ("Ranked by", f"the given {setting.distance}{rounded}"),
        ]
    else:
        known = DISTANCES.get(setting.distance)
        pairs = [
            ("Queries", f"{setting.queries:,}"),
            ("Gallery", "the other queries (leave-one-out)" if setting.leave_one_out else f"{setting.gallery:,}"),
            ("Ranked by", distance_meant(setting.distance)),
            ("Bits" if known and known.bits else "Dimensions", f"{setting.dimensions:,}"),
            ("Precision of distances", setting.precision or "exact, as real numbers"),
        ]
    return [
        *pairs,
        ("Mean", "over the queries" if setting.average == "micro" else "over the means of the categories"),
        ("Queries without relevant items", MEANT[setting.empty]),
        ("Ties that hold a relevant item", f"{ties.ties:,}, of which {ties.ambiguous_ties:,} ambiguous"),
        ("Largest tie", count(ties.largest_tie, "item") if ties.largest_tie else "none"),
        ("Fingerprint of the data", result.fingerprint or "none: one category of a result"),
    ]


def _left_out(result: Measured) -> Iterator[str]:
    for reason, ids in result.skipped.items():
        yield f"{count(len(ids), 'query')} with {reason}: {first_of(ids.tolist(), 12)}."
    if result.categories_left_out:
        names = first_of(result.categories_left_out, 12)
        yield f"{count(len(result.categories_left_out), 'category')} without any query that counts: {names}."


def _not_shown(budget: EmbeddedImages) -> Iterator[str]:
    if budget.missing:
        items = count(len(budget.missing), "item")
        looks, files = ("looks like the name of an image, but no such file exists", "it as a text")
        if len(budget.missing) > 1:
            looks, files = ("look like names of images, but no such files exist", "them as texts")
        yield f"{items} {looks}: {first_of([*map(printable, budget.missing)], 1)}. The page shows {files}."
    if budget.elsewhere:
        items = count(len(budget.elsewhere), "text")
        verb, them = ("names an image", "it") if len(budget.elsewhere) == 1 else ("name images", "them")
        yield (
            f"{items} {verb} among other texts, or outside of the folder of the items: "
            f"{first_of([*map(printable, budget.elsewhere)], 1)}. The page shows {them} as text; a pathlib.Path "
            "is always shown as an image."
        )
    if budget.unreadable:
        files = count(budget.unreadable, "file")
        yield f"{files} could not be embedded as images; the page shows names instead."
    if budget.no_room:
        images = count(budget.no_room, "image")
        yield f"{images} had no room on the page; it shows names instead."
