"""The worst queries of a result, with their contents, and with their nearest items if these are known."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.errors import InputError
from tieproof.evaluation.nearest import Nearest, nearest
from tieproof.evaluation.result import Result
from tieproof.show.pages.contents import Budget, Content, Contents
from tieproof.show.printable import printable
from tieproof.ties import Estimate

WORST = 20
"""The number of worst queries that are shown."""


class QueryRow(NamedTuple):
    """A query with its content and its value; its nearest items are None if they are unknown."""

    name: str
    anchor: str
    content: Content
    category: str | None
    estimate: Estimate[float]
    ambiguous_ties: int
    largest_tie: int
    nearest: "NearestRows | None"


class NearestRows(NamedTuple):
    """The nearest items of a query, tie by tie."""

    relevant: int
    listed: int
    ties: Sequence["TieRow"]


class TieRow(NamedTuple):
    """Tied items, which may be in any order; `more` of them are not listed."""

    first: int
    value: str
    size: int
    relevant: int
    ambiguous: bool
    more: int
    items: Sequence[tuple[Content, bool]]


def worst_first(result: Result, measure: str) -> npt.NDArray[np.int64]:
    """The indices of the queries, the worst first; equal queries keep their order."""
    values = result.per_query(measure)
    return np.lexsort((values.upper, values.expected, values.lower))


def worst_queries(
    result: Result,
    measure: str,
    items: Any,
    gallery_items: Any,
    evaluated: Mapping[str, Any],
    budget: Budget,
) -> list[QueryRow]:
    """The worst queries, with their nearest items if the evaluated data was passed."""
    setting, in_order = result.setting, are_places(result)
    queries = Contents(items, setting.queries if in_order else None, "items", budget)
    if setting.leave_one_out and gallery_items is not None:
        raise InputError(
            "gallery_items was passed, but in leave-one-out the queries are the gallery. Pass only items.",
            "gallery_items",
        )
    gallery = Contents(gallery_items, setting.gallery if in_order else None, "gallery_items", budget)
    gallery = queries if setting.leave_one_out else gallery
    values = result.per_query(measure)
    chosen = worst_first(result, measure)
    chosen = chosen[~np.isnan(values.lower[chosen])][:WORST]
    found: Sequence[Nearest | None] = [None] * len(chosen)
    if evaluated:
        found = nearest(result, chosen, evaluated)
    kinds = result.category_of_query
    ties = result.ties_per_query
    return [
        QueryRow(
            name=printable(result.query_ids[at]),
            anchor=f"query-{at}",
            content=queries.of(result.query_ids[at].item(), "query"),
            category=None if kinds is None else str(kinds[at]),
            estimate=Estimate(*(float(getattr(values, name)[at]) for name in ("lower", "expected", "upper", "std"))),
            ambiguous_ties=int(ties["ambiguous_ties"][at]),
            largest_tie=int(ties["largest_tie"][at]),
            nearest=None if near is None else rows_of(near, gallery),
        )
        for at, near in zip(chosen.tolist(), found, strict=True)
    ]


def are_places(result: Result) -> bool:
    """Whether the ids of the queries are their indices in the data: not in a run, and not in a category's result."""
    ids = result.query_ids
    return ids.dtype.kind in "iu" and bool(result.fingerprint) and int(ids.max()) < result.setting.queries


def look(rows: Sequence[QueryRow]) -> str:
    """How the nearest items are shown: as images, as texts, or only by their names."""
    found = [one for row in rows if row.nearest for tie in row.nearest.ties for one, _ in tie.items]
    return "pictures" if any(one.image for one in found) else "texts" if any(one.text for one in found) else "ids"


def rows_of(found: Nearest, gallery: Contents) -> NearestRows:
    """The nearest items of a query, with their contents."""
    ties = [
        TieRow(
            first=tie.rank,
            value=f"{tie.value:.6g}",
            size=tie.size,
            relevant=tie.relevant,
            ambiguous=tie.ambiguous,
            more=tie.size - len(tie.items),
            items=[(gallery.of(item, "item"), relevant) for item, relevant in tie.items],
        )
        for tie in found.ties
    ]
    return NearestRows(found.relevant, sum(len(tie.items) for tie in ties), ties)
