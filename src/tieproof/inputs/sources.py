"""Reads and checks the documents and values of judgments (qrels) or of a run, whatever they came as."""

import os
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from itertools import chain
from typing import Any, Literal, NamedTuple, NoReturn

import numpy as np

from tieproof.errors import InputError, warn
from tieproof.inputs.arrays import as_numbers, first_true
from tieproof.inputs.documents import Documents, DocumentTable, documents_called, documents_in_columns
from tieproof.inputs.frames import as_frame, column_called, column_for, name_of_column
from tieproof.inputs.ids import as_ids, numbered
from tieproof.inputs.lists import in_float64
from tieproof.inputs.mapped import FileChangedError
from tieproof.inputs.readers import json_lists, trec
from tieproof.inputs.readers.lines import line_at, unpacked
from tieproof.inputs.readers.location import Piped, split
from tieproof.inputs.readers.trec import Numbers, TrecLayout
from tieproof.inputs.readers.trec_told import refuse_rankings
from tieproof.inputs.responses import Listed, check_order, entries_of, is_answer, listed
from tieproof.ties import FloatArray, IntArray


class Role(NamedTuple):
    """The role of an input, qrels or run: its name in messages, the layout of its file, and its kind of values."""

    name: str
    verb: str
    layout: TrecLayout
    value: Literal["grade", "score", "distance"]


LIBRARIES = ("ir_datasets:", "mteb:")  # before the name of a data set or a task whose judgments a library loads

QRELS = Role("The qrels", "are", trec.QRELS, "grade")
RUN = Role("The run", "is", trec.RUN, "score")


class Source(NamedTuple):
    """The documents and values of a file, a dictionary or a data frame."""

    documents: Documents
    value: FloatArray
    name: str  # in messages
    place: Callable[[Sequence[int]], str]  # the position of given rows in words, such as ", on line 3"
    ids: list[str] | None = None  # of the documents; None for a file, where they are bytes
    rank: FloatArray | None = None  # of a run, if it has ranks that may contradict its scores
    without_own: bool = False  # whether a task leaves documents with the id of their query out
    said: tuple[str, ...] = ()  # sentences about how it was read, for the result
    before: tuple[IntArray, FloatArray] | None = None  # queries and values of all rows, if some are left out
    ordered: bool = False  # whether the values are the ranks of integers that float64 does not tell apart

    def among(self, rows: Sequence[int] | IntArray) -> "Source":
        """The source with only these rows; their places are not known."""
        text, at, length, query = self.documents
        documents = Documents(text, at[rows], length[rows], query[rows])
        rank = None if self.rank is None else self.rank[rows]
        before = self.before or (query, self.value)
        return self._replace(documents=documents, value=self.value[rows], ids=None, rank=rank, before=before)


def checked(values: Any, role: Role, queries: Numbers) -> tuple[Source, DocumentTable]:
    """Read and check a source, and make the table of its documents, of which none may occur twice for a query."""
    source = read(values, role, queries)
    table = DocumentTable(source.documents, len(queries))
    if table.twice is not None:
        refuse_twice(source, queries, table.twice, "Keep one of them.")
    return source, table


def refuse_twice(source: Source, queries: Numbers, rows: Sequence[int], advice: str) -> NoReturn:
    """Refuse a document that is on both of these rows."""
    query, document = names_on(source, queries, rows[0])
    place = source.place(rows)
    raise InputError(f"{source.name}: document '{document}' occurs twice for query '{query}'{place}. {advice}")


def read(values: Any, role: Role, queries: Numbers) -> Source:
    """Read a source, and refuse values that are not finite."""
    values = as_frame(values)
    source = _reader_of(values, role)(values, role, queries)
    row = first_true(~np.isfinite(source.value))
    if row is not None:
        raise InputError(
            f"{_named(source, role, queries, row)} is {source.value[row]}{source.place([row])}. Every {role.value} "
            f"must be a finite number; leave out documents without a {role.value}."
        )
    return source


def _reader_of(values: Any, role: Role) -> Callable[[Any, Role, Numbers], Source]:
    if role is QRELS and isinstance(values, str) and values.startswith(LIBRARIES):
        return _from_library
    if isinstance(values, str | os.PathLike):
        name = values.name if isinstance(values, Piped) else split(values).path.name
        is_json = name.lower().endswith(json_lists.EXTENSIONS)
        return (
            _from_json
            if is_json or (isinstance(values, Piped) and json_lists.is_json(unpacked(values)[1].tobytes()))
            else _from_trec
        )
    if hasattr(values, "columns"):
        return _from_frame
    if type(values).__module__.partition(".")[0] == "ranx":
        return _from_ranx
    if isinstance(values, Mapping | list | tuple):
        return _from_lists
    raise InputError(
        f"{role.name} must be the path of a TREC file, a dictionary {{query: {{document: {role.value}}}}}, a data "
        f"frame or a table of Arrow, not {type(values).__name__}."
    )


def contradicting_ranks(source: Source, queries: Numbers) -> str | None:
    """Return a sentence on the lists whose ranks contradict their scores; None unless these are most lists."""
    if source.rank is None:
        return None
    order = np.lexsort((-source.value, source.rank, source.documents.query))
    query, rank, score = source.documents.query[order], source.rank[order], source.value[order]
    later = (query[1:] == query[:-1]) & (rank[1:] > rank[:-1])
    wrong = np.unique(query[1:][later & (score[1:] > score[:-1])])
    lists = len(np.unique(query[1:][later]))
    if 2 * len(wrong) <= lists:
        return None
    name = list(queries)[wrong[0]].decode(errors="replace")
    return (
        f"{source.name}: the ranks contradict the scores in {len(wrong):,} of {lists:,} lists; the first is "
        f"that of query '{name}'. Documents are ranked by their scores, where larger is nearer."
    )


def warn_of_ranks(source: Source, queries: Numbers) -> None:
    """Warn if ranks contradict the scores in most lists."""
    said = contradicting_ranks(source, queries)
    if said is not None:
        warn(f"{said} {BY_RANKS}")


BY_RANKS = "If the scores are distances, change their signs; to rank by the ranks, pass them negative as the scores."


def names_on(source: Source, queries: Numbers, row: int) -> tuple[str, str]:
    """Return the ids of a row's query and document, as text."""
    query, document = list(queries)[source.documents.query[row]], source.documents.id(row)
    return query.decode(errors="replace"), document.decode(errors="replace")


def _named(source: Source, role: Role, queries: Numbers, row: int) -> str:
    query, document = names_on(source, queries, row)
    return f"{source.name}: the {role.value} of document '{document}' for query '{query}'"


def _from_trec(location: str | os.PathLike[str] | Piped, role: Role, queries: Numbers) -> Source:
    try:
        documents, value, rank, by_rank = trec.read(location, role.layout, queries)
    except InputError as error:
        if not isinstance(error, FileChangedError):
            refuse_rankings(location, role.layout.kind)
        raise

    def place(rows: Sequence[int]) -> str:
        return _located("line", [line_at(documents.text, documents.at[row]) for row in rows])

    said = (BY_PLACE,) if by_rank else ()
    return Source(documents, value, os.fsdecode(location), place, rank=rank, said=said)


def _from_library(location: str, role: Role, queries: Numbers) -> Source:
    library, _, name = location.partition(":")
    lists, without_own = import_module(f"tieproof.inputs.readers.{library}").read(name)
    return _from_lists(lists, role, queries, location)._replace(without_own=without_own)


def _from_lists(values: Any, role: Role, queries: Numbers, called: str = "", lines: Sequence[int] = ()) -> Source:
    """Return the documents of lists; `called` is their file, and `lines` are the lines of it that they are on."""
    lists: list[Listed] = []
    entries = entries_of(values, role.name, role.value)
    for at, (query, given) in enumerate(entries):
        try:
            lists.append(listed(query, given, role.name, role.value))
        except InputError as error:
            where = f"{called}{_located('line', [lines[at]]) if lines else ''}"
            raise InputError(f"{where}: {error}" if called else str(error), error.argument) from None
    number = numbered([query for query, _ in entries], queries, role.name)
    lengths = [len(each.names) for each in lists]
    query = np.repeat(number, lengths)
    names = as_ids([name for each in lists for name in each.names], role.name, "document")
    if role.value == "score" and not lines:
        hits = [each for each in lists if each.kind == "hits" and len(set(each.names)) == len(each.names)]
        check_order([each.values for each in hits if each.values])

    def place(rows: Sequence[int]) -> str:
        at = np.repeat(np.arange(len(lists)), lengths)[[*rows]]
        if lines:
            return _located("line", sorted({lines[each] for each in at.tolist()}))
        first = np.cumsum(lengths) - lengths
        are_lists = all(not isinstance(entries[each][1], Mapping) for each in at.tolist())
        return _located("place", ([*rows] - first[at] + 1).tolist()) if are_lists else ""

    source = Source(documents_called(names, query), np.zeros(0), called or role.name, place, names)
    given, ranked = _with_ranks(lists, number.tolist(), role)
    source = _with_values(source, given, role, queries)
    return source._replace(said=(BY_PLACE,)) if ranked else source


def _with_ranks(lists: Sequence[Listed], number: Sequence[int], role: Role) -> tuple[list[Any], bool]:
    """Return all values, and whether some are minus the places of documents in the list of their query."""
    if role.value == "grade":
        values = [[1] * len(each.names) if each.values is None else each.values for each in lists]
        return list(chain.from_iterable(values)), False
    before: dict[int, int] = defaultdict(int)
    given: list[Any] = []
    for query, each in zip(number, lists, strict=True):
        start, length = before[query], len(each.names)
        given += range(-start - 1, -start - length - 1, -1) if each.values is None else each.values
        before[query] += length
    by_rank, by_score = (
        {query for query, each in zip(number, lists, strict=True) if each.names and (each.kind == "ranks") is ranks}
        for ranks in (True, False)
    )
    if by_rank & by_score:
        raise InputError("The run has scores of some documents of a query, and only the order of others. Pass one.")
    return given, bool(by_rank)


BY_PLACE = "Documents without scores are ranked in the order given, or by their ranks, of which the smallest is best."


def _from_json(location: str | os.PathLike[str] | Piped, role: Role, queries: Numbers) -> Source:
    from tieproof.inputs.readers import mteb

    path, entry = (location, None) if isinstance(location, Piped) else split(location)
    read, lines = json_lists.read(path) if entry is None else (json_lists.read_dictionary(path), [])
    called = str(path) if entry is None else f"{path}:{entry}"
    is_mteb = isinstance(read, dict) and not any(map(is_answer, read.values())) and mteb.has_splits(read)
    if entry is not None or is_mteb:
        lists, without_own = mteb.of_split(read, str(path), entry, role.value)
        return _from_lists(lists, role, queries, called)._replace(without_own=without_own)
    try:
        return _from_lists(read, role, queries, called, lines)
    except InputError as error:
        said = str(error) if called in str(error) else f"{called}: {error}"
        raise InputError(said, error.argument) from None


def _from_frame(frame: Any, role: Role, queries: Numbers) -> Source:
    query = numbered(column_for(frame, "query", role.name).tolist(), queries, role.name)
    names = as_ids(column_for(frame, "document", role.name).tolist(), role.name, "document")
    lines = getattr(frame, "lines", ())

    def place(rows: Sequence[int]) -> str:
        return _located("line", [lines[row] for row in rows]) if lines else _located("row", rows)

    source = Source(documents_called(names, query), np.zeros(0), role.name, place, names)
    rank = None
    if role.value == "score" and "rank" in frame.columns:
        column = column_called(frame, "rank", "The run")
        if column.dtype.kind in "iuf" and np.isfinite(column).all():
            rank = column.astype(np.float64)
    if rank is not None and rank.min(initial=0) >= 0 and name_of_column(frame, "score") is None:
        return source._replace(value=-rank, said=(BY_PLACE,))
    return _with_values(source, column_for(frame, role.value, role.name), role, queries)._replace(rank=rank)


def _from_ranx(values: Any, role: Role, queries: Numbers) -> Source:
    given, expected = type(values).__name__, "Run" if role.value == "score" else "Qrels"
    if given != expected:
        raise InputError(
            f"{role.name} {role.verb} a {given} of ranx, but a {expected} of ranx is expected. Pass the qrels first, "
            "then the run."
        )
    from tieproof.inputs.readers import ranx

    lists = ranx.read(values)
    query = np.repeat(numbered(lists.queries, queries, role.name), lists.lengths)
    source = Source(documents_in_columns(lists.names, query), np.zeros(0), role.name, lambda rows: "")
    return _with_values(source, lists.values, role, queries)


def _with_values(source: Source, values: Any, role: Role, queries: Numbers) -> Source:
    """Convert the scores or grades of a source to float64 without changing the order of integers."""
    if len(values) == 0:
        raise InputError(f"{role.name} {role.verb} empty. Pass at least one {role.value}.")
    try:
        numbers = as_numbers(values, f"{role.value}s")
    except InputError as error:
        row = next((row for row, value in enumerate(values) if value is None or isinstance(value, str | bytes)), -1)
        if row < 0:
            raise
        raise InputError(
            f"{_named(source, role, queries, row)} is {values[row]!r}{source.place([row])}. Every {role.value} must "
            f"be a finite number; convert texts to numbers, and leave out documents without a {role.value}."
        ) from error
    if numbers.dtype.kind not in "iu":
        return source._replace(value=numbers.astype(np.float64))
    value = in_float64(numbers, "relevance" if role.value == "grade" else "scores", 0)
    return source._replace(value=value, ordered=bool((value != numbers).any()))


def _located(what: str, numbers: Sequence[int]) -> str:
    """Return the positions of rows in words, such as ", on lines 3 and 7"."""
    preposition = {"line": "on", "place": "at"}.get(what, "in")
    return f", {preposition} {what}{'s' if len(numbers) > 1 else ''} {' and '.join(map(str, numbers))}"
