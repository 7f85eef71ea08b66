"""Reads and checks judgments (qrels) and the run of a system, and looks up the scores of judged documents.

Both come as a file, a dictionary, a data frame, a table of Arrow or an object of ranx. A document is looked up by its
id: in a table of all documents, or in the dictionary of the run.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import pairwise, repeat
from typing import Any, Literal, NamedTuple

import numpy as np

from tieproof.errors import InputError, MissingExtraError
from tieproof.inputs.arrays import as_numbers
from tieproof.inputs.categories import as_categories
from tieproof.inputs.documents import Documents, DocumentTable, documents_called
from tieproof.inputs.labels import as_labels
from tieproof.inputs.lists import in_float64
from tieproof.inputs.readers import ir_datasets, predictions, text, trec
from tieproof.inputs.readers.location import Piped
from tieproof.inputs.readers.trec import Numbers, TrecLayout
from tieproof.inputs.relevance import pointers
from tieproof.inputs.responses import of_responses
from tieproof.ties import Array, BoolArray, FloatArray, IntArray

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
    values = of_responses(as_frame(values)) if role.value == "score" else as_frame(values)
    if role is QRELS and isinstance(values, str) and values.startswith(ir_datasets.PREFIX):
        source = _from_dictionary(ir_datasets.read(values), role, queries)._replace(name=values)
    elif isinstance(values, str | os.PathLike):
        name = os.fsdecode(values).lower()
        if role.value == "score" and name.endswith(predictions.EXTENSIONS):
            source = _from_predictions(values, queries)
        elif name.endswith(predictions.DICTIONARIES) or (
            isinstance(values, Piped) and predictions.is_dictionary(values)
        ):
            read = predictions.read_dictionary(values, role.value)
            source = _from_dictionary(read, role, queries)._replace(name=os.fsdecode(values))
        else:
            source = _from_trec(values, role, queries)
    elif isinstance(values, Mapping):
        source = _from_dictionary(values, role, queries)
    elif hasattr(values, "columns"):
        source = _from_frame(values, role, queries)
    elif type(values).__module__.partition(".")[0] == "ranx":
        given, expected = type(values).__name__, "Run" if role.value == "score" else "Qrels"
        if given != expected:
            raise InputError(
                f"{role.name} {role.verb} a {given} of ranx, but a {expected} of ranx is expected. Pass the qrels "
                "first, then the run."
            )
        source = _from_dictionary(values.to_dict(), role, queries)
    else:
        raise InputError(
            f"{role.name} must be the path of a TREC file, a dictionary {{query: {{document: {role.value}}}}}, a "
            f"data frame or a table of Arrow, not {type(values).__name__}."
        )

    def names_of(row: int) -> tuple[str, str]:
        """Return the ids of a row's query and document, as text."""
        query, document = list(queries)[source.documents.query[row]], source.documents.id(row)
        return query.decode(errors="replace"), document.decode(errors="replace")

    finite = np.isfinite(source.value)
    if not finite.all():
        row = int(np.argmin(finite))
        query, document = names_of(row)
        raise InputError(
            f"{source.name}: the {role.value} of document '{document}' for query '{query}' is "
            f"{source.value[row]}{source.place([row])}. Every {role.value} must be a finite number; leave out "
            f"documents without a {role.value}."
        )
    table = DocumentTable(source.documents, len(queries))
    if table.twice is not None:
        query, document = names_of(table.twice[0])
        raise InputError(
            f"{source.name}: document '{document}' occurs twice for query '{query}'{source.place(table.twice)}. Keep "
            "one of them."
        )
    return source, table


def _from_trec(location: str | os.PathLike[str] | Piped, role: Role, queries: Numbers) -> Source:
    documents, value = trec.read(location, role.layout, queries)

    def place(rows: Sequence[int]) -> str:
        return _located("line", [trec.line_at(documents.text, documents.at[row]) for row in rows])

    return Source(documents, value, os.fsdecode(location), place)


def _from_predictions(location: str | os.PathLike[str] | Piped, queries: Numbers) -> Source:
    lines = predictions.read(location)
    query = numbered(lines.query, queries, RUN)

    def place(rows: Sequence[int]) -> str:
        return _located("line", sorted({lines.line[row] for row in rows}))

    documents = documents_called(lines.document, query)
    return Source(documents, np.array(lines.score), os.fsdecode(location), place, lines.document)


def _from_dictionary(values: Mapping[Any, Any], role: Role, queries: Numbers) -> Source:
    for name, inner in values.items():
        if not isinstance(inner, Mapping):
            raise InputError(
                f"{role.name} must be {{query: {{document: {role.value}}}}}, but the value of query {name!r} is "
                f"{type(inner).__name__}. Pass a dictionary for each query."
            )
    lengths = [len(inner) for inner in values.values()]
    query = np.repeat(numbered(list(values), queries, role), lengths)
    names = _as_ids([name for inner in values.values() for name in inner], role, "document")
    value = _as_values([value for inner in values.values() for value in inner.values()], role)
    return Source(documents_called(names, query), value, role.name, lambda rows: "", names)


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
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError(f"a table of type {type(values).__name__}", "parquet") from None
    return _ArrowColumns(pyarrow.table(values))


def _from_frame(frame: Any, role: Role, queries: Numbers) -> Source:
    """Read a data frame of pandas, or of any library whose columns have `to_numpy`."""

    def column(what: str) -> Any:
        for name in COLUMNS[what]:
            if name in frame.columns:
                return _values_of_column(frame, name, role.name)
        raise InputError(
            f"{role.name} must have a column for the {what}, called {' or '.join(COLUMNS[what])}. The "
            f"columns are {', '.join(map(str, frame.columns)) or 'none'}; rename one."
        )

    query = numbered(column("query").tolist(), queries, role)
    names = _as_ids(column("document").tolist(), role, "document")
    values = _as_values(column(role.value), role)
    return Source(documents_called(names, query), values, role.name, lambda rows: _located("row", rows), names)


def _values_of_column(frame: Any, name: str, owner: str) -> Any:
    """Return the column of this name as an array; several columns of one name are refused."""
    count = list(frame.columns).count(name)
    if count > 1:
        raise InputError(
            f"{owner} must have only one column with the name '{name}', not {count}. Keep one of them, or rename "
            "the others."
        )
    return np.asarray(frame[name].to_numpy())


def numbered(names: list[Any], queries: Numbers, role: Role) -> IntArray:
    """Return the numbers of queries, which are assigned in the order of first use."""
    ids = (name.encode(errors="surrogatepass") for name in _as_ids(names, role, "query"))
    return np.fromiter(map(queries.__getitem__, ids), np.int64, len(names))


def _as_ids(names: list[Any], role: Role, what: str) -> list[str]:
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


def _as_values(values: Any, role: Role) -> FloatArray:
    """Convert scores or grades to float64 without changing the order of integers."""
    if len(values) == 0:
        raise InputError(f"{role.name} {role.verb} empty. Pass at least one {role.value}.")
    numbers = as_numbers(values, f"{role.value}s")
    whole = numbers.dtype.kind in "iu"
    return in_float64(numbers, "relevance" if role is QRELS else "scores", 0) if whole else numbers.astype(np.float64)


def _located(what: str, numbers: Sequence[int]) -> str:
    """Return the positions of rows in words, such as ", on lines 3 and 7"."""
    preposition = "on" if what == "line" else "in"
    return f", {preposition} {what}{'s' if len(numbers) > 1 else ''} {' and '.join(map(str, numbers))}"


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
    known = _by_query(values)
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


def _by_query(values: Any) -> dict[str, Any]:
    """Return the category of each query by its name; the names 7 and "7" are the same."""
    values = as_frame(values)
    if isinstance(values, str | os.PathLike):
        return dict(text.read(values, "query", "category"))
    if isinstance(values, Mapping):
        pairs = list(values.items())
    elif hasattr(values, "columns"):
        names = [name for name in COLUMNS["query"] if name in values.columns]
        if not names or "category" not in values.columns:
            raise InputError(
                f"The categories must have the columns {' or '.join(COLUMNS['query'])}, and category. The columns "
                f"are {', '.join(map(str, values.columns)) or 'none'}; rename them."
            )
        columns = (_values_of_column(values, name, "The categories").tolist() for name in (names[0], "category"))
        pairs = list(zip(*columns, strict=True))
    else:
        raise InputError(
            "The categories of a run must be the path of a file, a dictionary {query: category} or a data frame, not "
            f"{type(values).__name__}, because the queries of a run have names but no order."
        )
    categories: dict[str, Any] = {}
    for query, category in pairs:
        known = categories.setdefault(str(query), category)
        if known is not category and known != category:
            raise InputError(
                f"The categories name query '{query}' twice, as {known!r} and as {category!r}. Keep one of them."
            )
    return categories


class JudgedDocuments(NamedTuple):
    """The documents of the qrels, and the grade of each.

    ids : the ids of the documents; None if they were read from a file, as bytes
    sought : which documents are looked up in the run
    """

    documents: Documents
    grade: FloatArray
    ids: Sequence[str] | None
    sought: BoolArray

    def names(self, rows: Sequence[int]) -> list[str | None]:
        """Return the ids of the documents of some rows as strings; None for bytes that are not UTF-8."""
        if self.ids is not None:
            return [self.ids[row] for row in rows]
        return [_as_text(self.documents.id(row)) for row in rows]


MOST_COMPARED = 1000
"""The most ids of a query among which the one most similar to the id of a judged document is looked for."""


class RankedDocuments(NamedTuple):
    """The scores of a run, and the scores of the judged documents.

    query, length : (s,) the query and the length of each sequence of documents of one query; none is empty, and a
        query may have several
    score : (n,) the scores, sequence after sequence
    of_judged : the score of each judged document; NaN if the run lacks the document or if it was not looked up
    unlike : a warning with an example of the ids in both, if the run has a query of the qrels, but no judged document
        of any query
    """

    query: IntArray
    length: IntArray
    score: FloatArray
    of_judged: FloatArray
    unlike: str | None = None


def read_qrels(values: Any, queries: Numbers, with_not_relevant: bool = False) -> JudgedDocuments:
    """Read and check the judgments; ids of queries get their numbers from `queries`.

    with_not_relevant : whether documents that were judged not relevant are looked up, too
    """
    source, _ = checked(values, QRELS, queries)
    sought = source.value >= 0 if with_not_relevant else source.value > 0
    return JudgedDocuments(source.documents, source.value, source.ids, sought)


def read_run(values: Any, judged: JudgedDocuments, queries: Numbers) -> RankedDocuments:
    """Read and check the run; ids of queries get their numbers from `queries`."""
    values = of_responses(values)
    ranked_by_dictionary = _from_plain_dictionary(values, judged, queries) if isinstance(values, Mapping) else None
    if ranked_by_dictionary is not None:
        return ranked_by_dictionary
    source, table = checked(values, RUN, queries)
    ranked = ranked_of(source, table, judged)
    if np.isnan(ranked.of_judged).all() and (table.find(judged.documents) < 0).all():
        return ranked._replace(unlike=_unlike(source, judged, queries))
    return ranked


def ranked_of(source: Source, table: DocumentTable, judged: JudgedDocuments) -> RankedDocuments:
    """Look up the judged documents in a run, by the table of its documents."""
    row, query = table.find(judged.documents), source.documents.query
    first = np.flatnonzero(np.diff(query, prepend=-1))
    of_judged = np.where((row < 0) | ~judged.sought, np.nan, source.value[row])
    return RankedDocuments(query[first], np.diff(first, append=len(query)), source.value, of_judged)


def _from_plain_dictionary(
    values: Mapping[Any, Any], judged: JudgedDocuments, queries: Numbers
) -> RankedDocuments | None:
    """Return a run whose queries are dictionaries from names of one type to finite floats; None for any other run.

    It is also None if no document that is looked up is in the run.

    Only the types of its documents are checked, because the dictionaries themselves look up the judged documents.
    This is done query by query, while the names of a query are in a fast cache.
    """
    inner = list(values.values())
    kind = next((type(name) for scores in inner if type(scores) is dict for name in scores), None)
    if kind not in (str, int) or not all(type(scores) is dict for scores in inner):
        return None
    of_query = numbered(list(values), queries, RUN)
    if len(np.unique(of_query)) < len(of_query):  # 7 and "7"
        return None
    rows = np.flatnonzero(judged.sought)
    query_of_row = judged.documents.query[rows]
    rows = rows[np.argsort(query_of_row, kind="stable")]
    names: list[Any] = judged.names(rows.tolist())
    if kind is int:
        names = list(map(_as_integer, names))
    spans = list(pairwise(pointers(query_of_row, len(queries)).tolist()))
    ends = np.cumsum([0, *map(len, inner)])
    score, looked_up, kinds, none = np.empty(ends[-1]), [np.nan] * len(rows), {kind}, repeat(np.nan)
    for query, scores, (start, stop) in zip(of_query.tolist(), inner, pairwise(ends.tolist()), strict=True):
        kinds.update(map(type, scores))
        of_values = set(map(type, scores.values()))
        if len(kinds) > 1 or not of_values <= {float}:
            return None
        score[start:stop] = np.fromiter(scores.values(), np.float64, stop - start)
        wanted = slice(*spans[query])
        looked_up[wanted] = map(scores.get, names[wanted], none)
    if not np.isfinite(score).all() or np.isnan(looked_up).all():
        return None
    of_judged = np.full(len(judged.grade), np.nan)
    of_judged[rows] = looked_up
    length = np.diff(ends)
    return RankedDocuments(of_query[length > 0], length[length > 0], score, of_judged)


def _unlike(source: Source, judged: JudgedDocuments, queries: Numbers) -> str | None:
    """Return a warning with an example of the ids of the first query in both; None if no query is in both.

    The example is a document as the qrels call it, and the document of the run with the most similar id.
    """
    names, of_run = list(queries), source.documents.query
    shared = np.intersect1d(judged.documents.query, of_run)
    if not len(shared):
        return None
    query = min(shared.tolist(), key=names.__getitem__)

    def ids(documents: Documents) -> list[str]:
        rows = np.flatnonzero(documents.query == query)[:MOST_COMPARED]
        return sorted(documents.id(row).decode(errors="replace") for row in rows.tolist())

    of_judged = ids(judged.documents)[0]

    def likeness(ranked: str) -> float:
        return SequenceMatcher(None, of_judged.casefold(), ranked.casefold()).ratio()

    nearest = max(ids(source.documents), key=likeness)
    return (
        f"{source.name}: no document is judged for its query, so that nothing relevant was retrieved. For query "
        f"{names[query].decode(errors='replace')!r} the qrels have {of_judged!r}, and the run has {nearest!r}. If "
        "the ids differ in letter case, prefixes or padding, make them equal."
    )


def _as_text(name: bytes) -> str | None:
    """Return the string that has this id; None if there is none."""
    try:
        return name.decode(errors="surrogatepass")
    except UnicodeDecodeError:
        return None


def _as_integer(name: str | None) -> int | None:
    """Return the integer that has this id; None if there is none.

    >>> _as_integer("7"), _as_integer("07")
    (7, None)
    """
    try:
        number = int(name or "")
    except ValueError:
        return None
    return number if str(number) == name else None
