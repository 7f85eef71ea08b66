"""Figures of queries with their nearest items."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tieproof.compat.oml.nearest_items import Row, ShownItem, ShownTie, nearest_items
from tieproof.compat.oml.neighbors import ShownNeighbors, with_equal_ones
from tieproof.errors import InputError
from tieproof.kit import as_array, style

Contents = Callable[[int, tuple[int, int, int]], Any]
"""The image or the text at a position among the queries or in the gallery; the color tells what it is."""

_QUERY, _RIGHT, _WRONG, _UNKNOWN = (0, 0, 255), (0, 255, 0), (255, 0, 0), (0, 0, 0)
"""The colors, as (red, green, blue), that are passed to the `visualize` of a data set."""


def contents_of(dataset: Any, ids: Any = None) -> Contents:
    """The contents of some items of a data set, by default of all items; their ids if it has no `visualize`."""
    places = range(len(dataset)) if ids is None else as_array(ids, "ids")

    def shown(position: int, color: tuple[int, int, int]) -> Any:
        item = int(places[position])
        return dataset.visualize(item, color) if hasattr(dataset, "visualize") else str(item)

    return shown


def contents_of_split(dataset: Any) -> tuple[Contents, Contents]:
    """The contents of the queries and of the gallery of a data set."""
    return contents_of(dataset, dataset.get_query_ids()), contents_of(dataset, dataset.get_gallery_ids())


def figure_of_queries(
    rr: Any, query_ids: Sequence[int], n_instances: int, contents: tuple[Contents, Contents]
) -> Any:
    """A figure with a row for each query.

    rr : retrieval results
    query_ids : positions among the queries
    n_instances : how many items to show for each query
    contents : of the queries and of the gallery
    """
    count = len(rr.retrieved_ids)
    wrong = [query for query in query_ids if not 0 <= query < count]
    if wrong or not len(query_ids):
        arrived = f"contains {wrong[0]}" if wrong else "is empty"
        raise InputError(
            f"query_ids must be positions among the {count} queries, from 0 to {count - 1}, but it {arrived}."
        )
    rows = [_row_of(rr, int(query), n_instances, *contents) for query in query_ids]
    columns = 1 + max(len(row.items) for row in rows)
    drawn, ax = style.figure("A picture of queries", max(4.5, 1.25 * columns), 0.5 + 2.05 * len(rows))
    nearest_items(rows, ax)
    return drawn


def _row_of(rr: Any, query: int, n_instances: int, of_queries: Contents, of_gallery: Contents) -> Row:
    if hasattr(rr, "neighbours"):
        neighbors: ShownNeighbors = rr.neighbours[query]
    else:  # lists of the user
        neighbors = with_equal_ones(rr.distances[query], rr.retrieved_ids[query])
    relevant = None if rr.gt_ids is None else np.isin(neighbors.items, as_array(rr.gt_ids[query], "gt_ids"))
    items = []
    for place, (item, distance) in enumerate(zip(neighbors.items[:n_instances], neighbors.distances, strict=False)):
        right = None if relevant is None else bool(relevant[place])
        color = _UNKNOWN if right is None else _RIGHT if right else _WRONG
        items.append(ShownItem(_drawable(of_gallery(int(item), color)), f"{item}: {distance:.4g}", right))
    starts = np.unique(neighbors.first[: len(items)])
    ties = [
        ShownTie(int(first), min(int(first + neighbors.size[first]), len(items)), int(neighbors.size[first]))
        for first in starts
    ]
    shown = _drawable(of_queries(query, _QUERY))
    return Row(shown, f"query {query}", items, [tie for tie in ties if tie.size > 1])


def _drawable(content: Any) -> Any:
    return content if isinstance(content, str) else as_array(content, "image")
