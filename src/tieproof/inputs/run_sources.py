"""Reads and checks qrels or a run: a file, a dictionary, a data frame or an object of ranx."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.arrays import as_numbers
from tieproof.inputs.categories import as_categories
from tieproof.inputs.documents import Documents, DocumentTable, documents_called
from tieproof.inputs.labels import as_labels
from tieproof.inputs.lists import in_float64
from tieproof.inputs.readers import predictions, text, trec
from tieproof.inputs.readers.trec import Numbers, TrecLayout
from tieproof.ties import Array, FloatArray, IntArray

COLUMNS = {
    "query": ("query_id", "qid", "q_id", "query-id"),
    "document": ("doc_id", "docno", "docid", "corpus-id"),
    "grade": ("relevance", "label", "grade", "rel", "score"),
    "score": ("score",),
}
"""The names of columns in tieproof, ir_measures, ranx, PyTerrier, pytrec_eval and BEIR; the first one found is
read."""


class Role(NamedTuple):
    """The role of an input, qrels or run: its name in messages, the layout of its file, and its kind of values."""

    name: str
    verb: str
    layout: TrecLayout
    value: Literal["grade", "score"]


QRELS = Role("The qrels", "are", trec.QRELS, "grade")
RUN = Role("The run", "is", trec.RUN, "score")


class Source(NamedTuple):
    """The documents and values of a file, a dictionary or a data frame.

    name : the name of the source in messages
    place : returns the position of given rows in words, such as ", on line 3"
    ids : the ids of the documents; None for a file, where they are bytes
    """

    documents: Documents
    value: FloatArray
    name: str
    place: Callable[[Sequence[int]], str]
    ids: list[str] | None = None


def checked(values: Any, role: Role, queries: Numbers) -> tuple[Source, DocumentTable]:
    """Read and check a source, and make the table of its documents."""
    for kind, source_of in SOURCES:
        if kind(values):
            source = source_of(values, role, queries)
            break
    else:
        raise InputError(
            f"{role.name} must be the path of a TREC file, a dictionary {{query: {{document: {role.value}}}}} or a "
            f"data frame, not {type(values).__name__}."
        )
    check_finite(source, role, queries)
    table = DocumentTable(source.documents, len(queries))
    check_distinct(source, table, queries)
    return source, table


def from_file(path: Any, role: Role, queries: Numbers) -> Source:
    """A TREC file, or a run that sentence-transformers wrote."""
    if role is RUN and predictions.is_called_so(path):
        return from_predictions(path, queries)
    documents, value = trec.read(path, role.layout, queries)

    def place(rows: Sequence[int]) -> str:
        return located("line", [trec.line_at(documents.text, documents.at[row]) for row in rows])

    return Source(documents, value, os.fsdecode(path), place)


def from_predictions(path: Any, queries: Numbers) -> Source:
    """A run as sentence-transformers writes it."""
    rows = predictions.read(path)
    query = numbered(rows.query, queries, RUN)
    name = os.fsdecode(path)

    def place(found: Sequence[int]) -> str:
        return located("line", sorted({rows.line[row] for row in found}))

    return Source(documents_called(rows.document, query), np.array(rows.score), name, place, rows.document)


def from_dictionary(values: Mapping[Any, Any], role: Role, queries: Numbers) -> Source:
    """A dictionary of dictionaries."""
    for name, inner in values.items():
        if not isinstance(inner, Mapping):
            raise InputError(
                f"{role.name} must be {{query: {{document: {role.value}}}}}, but the value of query {name!r} is "
                f"{type(inner).__name__}. Pass a dictionary for each query."
            )
    lengths = [len(inner) for inner in values.values()]
    query = np.repeat(numbered(list(values), queries, role), lengths)
    names = as_ids([name for inner in values.values() for name in inner], role, "document")
    value = as_values([value for inner in values.values() for value in inner.values()], role)
    return Source(documents_called(names, query), value, role.name, lambda rows: "", names)


def from_frame(frame: Any, role: Role, queries: Numbers) -> Source:
    """A data frame of pandas, or of any library whose columns have `to_numpy`."""

    def column(what: str) -> Any:
        for name in COLUMNS[what]:
            if name in frame.columns:
                return values_of_column(frame, name, role.name)
        raise InputError(
            f"{role.name} must have a column for the {what}, called {' or '.join(COLUMNS[what])}. The "
            f"columns are {', '.join(map(str, frame.columns)) or 'none'}; rename one."
        )

    query = numbered(column("query").tolist(), queries, role)
    names = as_ids(column("document").tolist(), role, "document")
    values = as_values(column(role.value), role)
    return Source(documents_called(names, query), values, role.name, lambda rows: located("row", rows), names)


def from_ranx(values: Any, role: Role, queries: Numbers) -> Source:
    """`Qrels` or `Run` of ranx, which is not imported."""
    given, expected = type(values).__name__, role.name.removeprefix("The ").capitalize()
    if given != expected:
        raise InputError(
            f"{role.name} {role.verb} a {given} of ranx, but a {expected} of ranx is expected. Pass the qrels first, "
            "then the run."
        )
    return from_dictionary(values.to_dict(), role, queries)


def values_of_column(frame: Any, name: str, owner: str) -> Any:
    """Return the column of this name as an array; several columns of one name are refused."""
    count = list(frame.columns).count(name)
    if count > 1:
        raise InputError(
            f"{owner} must have only one column with the name '{name}', not {count}. Keep one of them, or rename "
            "the others."
        )
    return np.asarray(frame[name].to_numpy())


SOURCES: tuple[tuple[Callable[[Any], bool], Callable[[Any, Role, Numbers], Source]], ...] = (
    (lambda values: isinstance(values, str | os.PathLike), from_file),
    (lambda values: isinstance(values, Mapping), from_dictionary),
    (lambda values: hasattr(values, "columns"), from_frame),
    (lambda values: type(values).__module__.partition(".")[0] == "ranx", from_ranx),
)
"""How to recognise each form, and how to read it."""


def numbered(names: list[Any], queries: Numbers, role: Role) -> IntArray:
    """Return the numbers of queries, which are assigned in the order of first use."""
    ids = (name.encode(errors="surrogatepass") for name in as_ids(names, role, "query"))
    return np.fromiter(map(queries.__getitem__, ids), np.int64, len(names))


def as_ids(names: list[Any], role: Role, what: str) -> list[str]:
    """Return names, which are strings or integers, as strings; 7 and "7" are the same."""
    kinds = set(map(type, names))
    for kind in kinds - {str, int}:
        wrong = next(name for name in names if type(name) is kind)
        if isinstance(wrong, bool) or not isinstance(wrong, str | int | np.integer):
            raise InputError(
                f"{role.name} must name every {what} by a string or an integer, but one name is {wrong!r}. Convert "
                "the names with .astype(str), and leave out rows without a name."
            )
    return names if kinds == {str} else list(map(str, names))


def as_values(values: Any, role: Role) -> FloatArray:
    """Convert scores or grades to float64 without changing the order of integers."""
    if len(values) == 0:
        raise InputError(f"{role.name} {role.verb} empty. Pass at least one {role.value}.")
    numbers = as_numbers(values, f"{role.value}s")
    whole = numbers.dtype.kind in "iu"
    return in_float64(numbers, "relevance" if role is QRELS else "scores", 0) if whole else numbers.astype(np.float64)


def located(what: str, numbers: Sequence[int]) -> str:
    """Return the positions of rows in words, such as ", on lines 3 and 7"."""
    preposition = "on" if what == "line" else "in"
    return f", {preposition} {what}{'s' if len(numbers) > 1 else ''} {' and '.join(map(str, numbers))}"


def check_finite(source: Source, role: Role, queries: Numbers) -> None:
    """Refuse NaN and infinity."""
    finite = np.isfinite(source.value)
    if not finite.all():
        row = int(np.argmin(finite))
        query, document = names_of(source, row, queries)
        raise InputError(
            f"{source.name}: the {role.value} of document '{document}' for query '{query}' is "
            f"{source.value[row]}{source.place([row])}. Every {role.value} must be a finite number; leave out "
            f"documents without a {role.value}."
        )


def check_distinct(source: Source, table: DocumentTable, queries: Numbers) -> None:
    """Refuse a document that is named twice for one query."""
    if table.twice is not None:
        query, document = names_of(source, table.twice[0], queries)
        raise InputError(
            f"{source.name}: document '{document}' occurs twice for query '{query}'{source.place(table.twice)}. Keep "
            "one of them."
        )


def names_of(source: Source, row: int, queries: Numbers) -> tuple[str, str]:
    """The ids of a row's query and document, as text."""
    query, document = list(queries)[source.documents.query[row]], source.documents.id(row)
    return query.decode(errors="replace"), document.decode(errors="replace")


def decoded(name: bytes) -> str:
    """A query's id as text."""
    if name.endswith(b"\0"):
        raise InputError(
            f"The query {name.decode(errors='replace')!r} ends in a NUL character, which NumPy drops. Rename it."
        )
    try:
        return name.decode()
    except UnicodeDecodeError:
        raise InputError(
            f"The query '{name.decode(errors='replace')}' is not encoded in UTF-8. Convert the file to UTF-8."
        ) from None


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
        return dict(text.read_categories(values))
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
