"""Tables that people hand in: data frames, tables of Arrow and lazy frames, read by the names of their columns."""

from functools import cache
from typing import Any

import numpy as np

from tieproof.errors import InputError, library
from tieproof.ties import Array

COLUMNS = {
    "query": ("query_id", "qid", "q_id", "query-id"),
    "document": ("doc_id", "docno", "docid", "corpus-id"),
    "subtopic": ("subtopic_id", "subtopic", "iteration"),
    "grade": ("relevance", "label", "grade", "rel", "score"),
    "score": ("score",),
    "category": ("category",),
}
"""The names of columns in tieproof, ir_measures, ranx, PyTerrier, pytrec_eval, BEIR and
ir_datasets; the first one found is read."""

OF_HITS = {
    "document": ("corpus_id", "pid", "_id", "node_id", "id", "uuid", "document_id", "passage_id", "chunk_id"),
    "score": ("_score", "relevance_score", "rerank_score", "similarity"),
}
"""Further names, which search engines, stores of vectors and rerankers give the same."""


@cache
def names_of(what: str) -> tuple[str, ...]:
    """All names of the query, the document, the score or the grade, in columns and in hits."""
    return (*COLUMNS[what], *OF_HITS.get(what, ()))


class _ArrowColumns:
    """The columns of a table of Arrow by their names, as a data frame has them."""

    def __init__(self, table: Any) -> None:
        self.columns, self._table = table.column_names, table

    def __getitem__(self, name: str) -> Any:
        return self._table[name]


def as_frame(values: Any) -> Any:
    """Return a table of pyarrow, a relation of DuckDB or another stream of Arrow as a frame; others unchanged.

    A lazy frame of polars is collected.
    """
    if type(values).__name__ == "LazyFrame":
        values = values.collect()
    of_arrow = hasattr(values, "__arrow_c_stream__") and not hasattr(
        values, "to_numpy"
    )  # pandas and polars have both
    if not of_arrow:
        return values
    pyarrow = library("pyarrow", f"a table of type {type(values).__name__}", "parquet")
    return _ArrowColumns(pyarrow.table(values))


def column_for(frame: Any, what: str, owner: str) -> Array:
    """Return the column with the queries, documents, … of a frame of any library whose columns have `to_numpy`."""
    for name in names_of(what):
        if name in frame.columns:
            return column_called(frame, name, owner)
    raise InputError(
        f"{owner} must have a column for the {what}, called {' or '.join(COLUMNS[what])}. The "
        f"columns are {', '.join(map(str, frame.columns)) or 'none'}; rename one."
    )


def column_called(frame: Any, name: str, owner: str) -> Array:
    """Return the column of this name as an array; several columns of one name are refused."""
    count = list(frame.columns).count(name)
    if count > 1:
        raise InputError(
            f"{owner} must have only one column with the name '{name}', not {count}. Keep one of them, or rename "
            "the others."
        )
    return np.asarray(frame[name].to_numpy())
