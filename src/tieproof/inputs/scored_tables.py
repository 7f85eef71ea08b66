"""Tables with a score and the relevance of each document: read by the names of columns, and split into lists."""

import os
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from tieproof.errors import InputError, warn
from tieproof.inputs.categories import Average, categories_of
from tieproof.inputs.frames import Columns, as_frame, column_called, name_of_column, plain, usual_names
from tieproof.inputs.ids import decoded
from tieproof.inputs.readers import tables, trec
from tieproof.inputs.readers.columns import NO_DIMENSIONS
from tieproof.inputs.readers.trec_told import refuse_rankings
from tieproof.inputs.sources import QRELS, Role, checked, warn_of_ranks
from tieproof.ties import Array, FloatArray

Number = Literal["score", "distance"]  # the column of the numbers that rank


def lists_in(
    name: str, given: Any, judged_by: Sequence[Any], grouped_by: tuple[Any, Average]
) -> tuple[Any, Sequence[Any], tuple[Any, Average], Array | None]:
    """Return lists, what tells their relevance, their categories and average, and the names of a table's queries.

    Whatever is no table is returned as it is, without names: a table is a file or a frame without relevance.
    """
    if not is_table(given) or any(each is not None for each in judged_by[:2]):
        return given, judged_by, grouped_by, None
    numbers, grades, queries = _read(given, "score" if name == "scores" else "distance")
    categories, average = grouped_by
    groups = categories_of(categories, queries.tolist(), average)
    return numbers, (grades, *judged_by[1:]), (groups, average), queries


def is_table(given: Any) -> bool:
    """Whether this is a file or a frame."""
    return isinstance(given, str | os.PathLike) or hasattr(as_frame(given), "columns")


def _read(values: Any, what: Number) -> tuple[list[Array], list[FloatArray], Array]:
    """Return the lists of a table, with their numbers and grades, and the names of their queries, sorted."""
    is_file = isinstance(values, str | os.PathLike)
    frame, name, number, grade = _named_columns(values, what)
    query, document = name_of_column(frame, "query"), name_of_column(frame, "document")
    others = [str(column) for column in frame.columns if plain(column) not in NO_DIMENSIONS]
    if query is None and others:
        raise InputError(
            f"{name} has no column for the query, called {usual_names('query')}, but columns that may "
            f"be it: {', '.join(others)}. Rename the one that is; if all rows are one list, leave these columns out."
        )
    count = len(column_called(frame, number, name))
    columns = {
        "query_id": [0] * count if query is None else column_called(frame, query, name).tolist(),
        "doc_id": range(count) if document is None else column_called(frame, document, name).tolist(),
    }
    ranks = [("rank", "rank")] if "rank" in frame.columns else []
    for known, column in ((what, number), ("relevance", grade), *ranks):
        columns[known] = tables.numbers(column_called(frame, column, name))
    values = [*map(tables.as_column, columns.values())]
    lists = Columns([*columns], values, getattr(frame, "lines", ()))
    queries = trec.numbering()
    source, _ = checked(lists, Role(name, "is", trec.RUN, what), queries)
    judged, _ = checked(lists, QRELS._replace(name=name, verb="is"), queries)
    if query is None and document is None and set(judged.value.tolist()) <= {0, 1} and is_file:
        warn(
            f"{name} has neither queries nor documents, and is ranked as one list. If each row is a pair that a "
            f"system accepts or rejects, use tieproof det {name}, or pass the path to tp.det_curve_of_pairs."
        )
    warn_of_ranks(source, queries)
    ids = np.array([decoded(each) for each in queries])
    order = np.argsort(ids)
    place = np.argsort(order)[source.documents.query]
    rows, ends = np.argsort(place, kind="stable"), np.cumsum(np.bincount(place))[:-1]
    value = lists[what] if source.ordered else source.value  # lists may have integers of any size
    return np.split(value[rows], ends), np.split(judged.value[rows], ends), ids[order]


def labels_and_scores(table: Any) -> tuple[Array, Array, bool]:
    """Return the labels and scores of pairs in a table, and whether these are distances, for lack of scores."""
    frame, name, *columns = _named_columns(table, "score", or_distance=True)
    score, label = (tables.as_column(tables.numbers(column_called(frame, column, name))) for column in columns)
    return label, score, name_of_column(frame, "score") is None


def _named_columns(values: Any, what: Number, or_distance: bool = False) -> tuple[Any, str, Any, Any]:
    """Return the frame of a table, its name, and the names of the columns of its numbers and of their relevance."""
    is_file = isinstance(values, str | os.PathLike)
    if is_file:
        refuse_rankings(values, "a table with a header")
    frame, name = (tables.read(values), os.fsdecode(values)) if is_file else (as_frame(values), "The table")
    number = name_of_column(frame, what)
    far = name_of_column(frame, "distance") if number is None else None
    if far is not None and or_distance:
        number = far
    elif far is not None:
        raise InputError(
            f"{name} has distances, in column '{far}', where smaller is nearer, and no scores. Pass it to "
            "tp.evaluate_distances; on the command line, add --distances."
        )
    grade = name_of_column(frame, "grade", besides=number)
    for known, said, column in ((what, what, number), ("grade", "relevance", grade)):
        if column is None:
            raise InputError(
                f"{name} must have a column for the {said}, called {usual_names(known)}. The columns are "
                f"{', '.join(map(str, frame.columns)) or 'none'}; rename one, or pass the judgments and the run to "
                "tp.evaluate_run (tieproof run)."
            )
    return frame, name, number, grade
