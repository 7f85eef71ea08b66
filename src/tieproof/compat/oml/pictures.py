"""Figures of queries and their retrieved items, drawn with the images or texts of a data set."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tieproof.compat.oml.retrieval_results import Neighbours, with_equal_ones
from tieproof.errors import InputError
from tieproof.inputs.arrays import as_array
from tieproof.show import style
from tieproof.show.nearest_items import Item, Row, Tie, nearest_items

QUERY, RIGHT, WRONG, UNKNOWN = (0, 0, 255), (0, 255, 0), (255, 0, 0), (0, 0, 0)
"""The colours, as (red, green, blue), that are passed to the `visualize` of a data set."""


def figure_of_queries(rr: Any, dataset: Any, query_ids: Sequence[int], n_instances: int) -> Any:
    """A figure with a row for each query.

    rr : retrieval results
    dataset : the data set that the results were computed from
    query_ids : positions among the queries
    n_instances : how many items to show for each query
    """
    count = len(rr.retrieved_ids)
    wrong = [query for query in query_ids if not 0 <= query < count]
    if wrong or not len(query_ids):
        arrived = f"contains {wrong[0]}" if wrong else "is empty"
        raise InputError(
            f"query_ids must be positions among the {count} queries, from 0 to {count - 1}, but it {arrived}."
        )
    rows = [row_of(rr, dataset, int(query), n_instances) for query in query_ids]
    columns = 1 + max(len(row.items) for row in rows)
    drawn, ax = style.figure("A picture of queries", max(4.5, 1.25 * columns), 0.5 + 2.05 * len(rows))
    nearest_items(rows, ax)
    return drawn


def row_of(rr: Any, dataset: Any, query: int, n_instances: int) -> Row:
    """A query and its nearest retrieved items."""
    ids, gallery_ids = (as_array(of(), "ids") for of in (dataset.get_query_ids, dataset.get_gallery_ids))
    found = neighbours_of(rr, query)
    relevant = None if rr.gt_ids is None else np.isin(found.items, as_array(rr.gt_ids[query], "gt_ids"))
    items = []
    for place, (item, distance) in enumerate(zip(found.items[:n_instances], found.distances, strict=False)):
        right = None if relevant is None else bool(relevant[place])
        color = UNKNOWN if right is None else RIGHT if right else WRONG
        items.append(Item(shown(dataset, int(gallery_ids[item]), color), f"{item}: {distance:.4g}", right))
    starts = np.unique(found.first[: len(items)])
    ties = [
        Tie(int(first), min(int(first + found.size[first]), len(items)), int(found.size[first])) for first in starts
    ]
    caption = f"query {query}"
    return Row(shown(dataset, int(ids[query]), QUERY), caption, items, [tie for tie in ties if tie.size > 1])


def neighbours_of(rr: Any, query: int) -> Neighbours:
    """The listed items of a query with their ties, which are found by equal distances in a user's lists."""
    neighbours = getattr(rr, "neighbours", None)
    return with_equal_ones(rr.distances[query], rr.retrieved_ids[query]) if neighbours is None else neighbours[query]


def shown(dataset: Any, item: int, color: tuple[int, int, int]) -> Any:
    """The image or the text of an item, or its id if the data set has no `visualize`."""
    if not hasattr(dataset, "visualize"):
        return str(item)
    content = dataset.visualize(item, color)
    return content if isinstance(content, str) else as_array(content, "image")
