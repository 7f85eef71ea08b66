"""The page of collisions: `templates/collisions.html` with their numbers."""

import os
from typing import Any

import numpy as np

from tieproof.distances import DISTANCES
from tieproof.results.collisions import Collisions
from tieproof.views.pages.figures import Stack, stack
from tieproof.views.pages.page import write_page
from tieproof.views.pages.query_table import Choice, QueryTable, query_table
from tieproof.views.text.collisions import EXACTLY, ranks, sentences
from tieproof.views.text.parts import count, distance_meant

PAIRS = {"pairs": "pairs of neighbours in the ranking that collide"}


def report(found: Collisions, path: str | os.PathLike[str]) -> None:
    """Write the page of collisions; see `Collisions.report`."""
    write_page(found, path, contents)


def contents(found: Collisions) -> tuple[str, dict[str, Any]]:
    """The template of the page, and the values that it shows."""
    said = list(sentences(found))
    touched = int((found.per_query["ambiguous_ties"] > 0).sum())
    widest = max((each.ap_width for each in found.by_range), default=0.0)
    return "collisions.html", {
        "title": f"Collisions of {count(len(found.query_ids), 'query')}",
        "found": found,
        "said": said,
        "touched": touched,
        "largest": int(found.per_query["largest_tie"].max()),
        "ranges": [(ranks(each), each) for each in found.by_range],
        "widest_range": widest or 1.0,
        "stack": by_rank(found),
        "queries": queries_of(found),
        "setting": setting(found),
    }


def by_rank(found: Collisions) -> Stack:
    """The share of queries whose item collides, at each rank."""
    size = len(found.query_ids)
    relevant, others = found.by_rank["relevant"] / size, found.by_rank["others"] / size
    return stack(relevant, others, found.setting.ranks)


def queries_of(found: Collisions) -> QueryTable:
    """The table of every query, starting with those whose ties cost most."""
    values = found.per_query
    columns = {"ties": values["ties"], "largest tie": values["largest_tie"]}
    if found.setting.labelled:
        columns = {
            "ties": values["ties"],
            "ambiguous ties": values["ambiguous_ties"],
            "largest tie": values["largest_tie"],
            "width of AP": values["ap_width"],
        }
    order = np.lexsort((-values["ties"], -values["ap_width"]))
    flag = "ambiguous ties" if found.setting.labelled else None
    return query_table(found.query_ids, order, None, [Choice("pairs", (values["pairs"],))], columns, PAIRS, flag)


def setting(found: Collisions) -> list[tuple[str, str]]:
    """The data and the distance, as pairs of a name and a value."""
    known = found.setting
    kind = DISTANCES.get(known.distance)
    return [
        ("Queries", f"{known.queries:,}"),
        ("Gallery", "the other queries (leave-one-out)" if known.leave_one_out else f"{known.gallery:,}"),
        ("Ranked by", distance_meant(known.distance)),
        ("Bits" if kind and kind.bits else "Dimensions", f"{known.dimensions:,}"),
        (
            "Neighbours collide if",
            f"their distances differ by less than {known.epsilon:g}" if known.epsilon else EXACTLY,
        ),
        (
            "Left out",
            f"{count(len(found.skipped), 'query')} with no relevant item" if len(found.skipped) else "nothing",
        ),
    ]
