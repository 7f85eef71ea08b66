"""Tables that people hand in: data frames, tables of Arrow and lazy frames, read by the names of their columns."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from tieproof.errors import InputError, import_extra
from tieproof.ties import Array

COLUMNS = {
    "query": ("query_id", "qid", "q_id", "query-id", "query", "topic_id", "topic", "user_id", "user", "indexes"),
    "document": (
        *("doc_id", "docno", "docid", "corpus-id", "corpus_id", "pid", "document_id", "passage_id", "item_id"),
        *("doc", "document", "item", "_id", "node_id", "id", "uuid", "chunk_id"),
    ),
    "subtopic": ("subtopic_id", "subtopic", "iteration"),
    "grade": ("relevance", "label", "grade", "rel", "relevant", "is_relevant", "target", "y_true", "rating", "score"),
    "score": (
        *("score", "_score", "relevance_score", "rerank_score", "similarity", "y_score", "pred", "prediction"),
        *("sim", "prob", "probability", "logit", "y_prob", "y_pred"),
    ),
    "category": ("category",),
    "distance": ("distance", "_distance", "dist", "score"),
}
"""The names of columns, and of the keys and attributes of hits, in tieproof, ir_measures, ranx, PyTerrier,
pytrec_eval, BEIR, ir_datasets, scikit-learn, torchmetrics, libraries of recommenders, search engines, stores of
vectors and rerankers; the first one found is read. Letter case, signs between words and an s at the end do not matter
in columns."""

TEXTS = frozenset({"query", "topic", "user", "doc", "document", "item"})  # which hits have for texts, too
MOST_NAMED = 4  # the most of these names that a message shows


@cache
def names_in_hits(what: str) -> tuple[str, ...]:
    """The names of the query, the document, the score or the grade in hits."""
    return tuple(name for name in COLUMNS[what] if name not in TEXTS)


@dataclass(frozen=True)
class Columns:
    """Columns by their names, as a data frame has them, and the line of a file on which each row ends, if any."""

    columns: Sequence[str]
    values: Sequence[Any]
    lines: Sequence[int] = ()

    def __getitem__(self, name: Any) -> Any:
        return self.values[self.columns.index(name)]


def as_frame(values: Any) -> Any:
    """Return a stream of Arrow (of pyarrow, DuckDB, …) or a lazy frame of polars as a frame; others unchanged."""
    if type(values).__name__ == "LazyFrame":
        values = values.collect()
    of_arrow = hasattr(values, "__arrow_c_stream__") and not hasattr(
        values, "to_numpy"
    )  # pandas and polars have both
    if not of_arrow:
        return values
    pyarrow = import_extra("pyarrow", f"a table of type {type(values).__name__}", "parquet")
    table = pyarrow.table(values)
    return Columns(table.column_names, table.columns)


def column_for(frame: Any, what: str, owner: str) -> Array:
    """Return the column with the queries, documents, … of a frame of any library whose columns have `to_numpy`."""
    name = name_of_column(frame, what)
    if name is None:
        raise InputError(
            f"{owner} must have a column for the {what}, called {usual_names(what)}. The "
            f"columns are {', '.join(map(str, frame.columns)) or 'none'}; rename one."
        )
    return column_called(frame, name, owner)


def usual_names(what: str) -> str:
    """The first names of a column, for messages."""
    return " or ".join(COLUMNS[what][:MOST_NAMED])


def name_of_column(frame: Any, what: str, besides: Any = None) -> Any:
    """Return the name of the column with the queries, documents, … of a frame, other than one; None without one."""
    names = [name for name in frame.columns if name != besides]
    return next((name for known in COLUMNS[what] for name in names if plain(name) == plain(known)), None)


def plain(name: Any) -> str:
    """Return a name without letter case, signs between words, and an s at the end.

    >>> plain("Query-ID"), plain("query_ids")
    ('queryid', 'queryid')
    """
    return re.sub(r"[\s_-]", "", str(name)).lower().removesuffix("s")


def column_called(frame: Any, name: str, owner: str) -> Array:
    """Return the column of this name as an array; several columns of one name are refused."""
    count = list(frame.columns).count(name)
    if count > 1:
        raise InputError(
            f"{owner} must have only one column with the name '{name}', not {count}. Keep one of them, or rename "
            "the others."
        )
    column = frame[name]
    return np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
