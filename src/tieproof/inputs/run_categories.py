"""Reads the categories of the queries of a run, by their names, from a file, a dictionary or a data frame."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from tieproof.errors import InputError
from tieproof.inputs.categories import as_categories
from tieproof.inputs.labels import as_labels
from tieproof.inputs.readers import query_categories
from tieproof.inputs.run_sources import COLUMNS, values_of_column
from tieproof.ties import Array


def categories_of(values: Any, queries: Sequence[str], average: str) -> Array | None:
    """Return the category of each query; None without categories.

    >>> categories_of({"q1": "dogs", "q2": "cats"}, ["q2"], "micro").tolist()
    ['cats']
    """
    if values is None:
        return as_categories(None, len(queries), average)
    known = by_query(values)
    lacking = [query for query in queries if query not in known]
    if lacking:
        raise InputError(
            f"The categories lack {len(lacking)} of {len(queries)} queries of the qrels; the first is "
            f"'{lacking[0]}'. Give every query a category."
        )
    for query in queries:
        if known[query] is None or known[query] != known[query]:
            raise InputError(f"The category of query '{query}' is {known[query]}. Give every query a category.")
    return as_labels([known[query] for query in queries], len(queries), "categories", "queries", columns=False)


def by_query(values: Any) -> dict[str, Any]:
    """Return the category of each query by its name; the names 7 and "7" are the same."""
    if isinstance(values, str | os.PathLike):
        return dict(query_categories.read(values))
    if isinstance(values, Mapping):
        pairs = list(values.items())
    elif hasattr(values, "columns"):
        pairs = rows_of(values)
    else:
        raise InputError(
            "The categories of a run must be the path of a file, a dictionary {query: category} or a data frame, not "
            f"{type(values).__name__}, because the queries of a run have names but no order."
        )
    found: dict[str, Any] = {}
    for query, category in pairs:
        if found.setdefault(str(query), category) is not category and found[str(query)] != category:
            raise InputError(
                f"The categories name query '{query}' twice, as {found[str(query)]!r} and as {category!r}. Keep one "
                "of them."
            )
    return found


def rows_of(frame: Any) -> list[tuple[Any, Any]]:
    """The queries of a data frame and their categories."""
    names = [name for name in COLUMNS["query"] if name in frame.columns]
    if not names or "category" not in frame.columns:
        raise InputError(
            f"The categories must have the columns {' or '.join(COLUMNS['query'])}, and category. The columns are "
            f"{', '.join(map(str, frame.columns)) or 'none'}; rename them."
        )
    columns = (values_of_column(frame, name, "The categories").tolist() for name in (names[0], "category"))
    return list(zip(*columns, strict=True))
