"""Reads and checks the documents and values of judgments (qrels) or of a run, whatever they came as.

Both come as a file, a dictionary, a data frame, a table of Arrow or an object of ranx.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from tieproof.errors import InputError, warn
from tieproof.inputs.arrays import as_numbers
from tieproof.inputs.documents import Documents, DocumentTable, documents_called, documents_in_columns
from tieproof.inputs.frames import as_frame, column_called, column_for
from tieproof.inputs.lists import in_float64
from tieproof.inputs.ranks import contradiction
from tieproof.inputs.readers import predictions, trec
from tieproof.inputs.readers.lines import line_at
from tieproof.inputs.readers.location import File, Piped, split
from tieproof.inputs.readers.trec import Numbers, TrecLayout
from tieproof.inputs.readers.trec_told import layout_of_file
from tieproof.inputs.responses import of_responses
from tieproof.ties import FloatArray, IntArray


class Role(NamedTuple):
    """The role of an input, qrels or run: its name in messages, the layout of its file, and its kind of values."""

    name: str
    verb: str
    layout: TrecLayout
    value: Literal["grade", "score", "distance"]


LIBRARIES = ("ir_datasets:", "mteb:")
"""What names judgments that a library loads, before the name of the data set or the task."""

QRELS = Role("The qrels", "are", trec.QRELS, "grade")
RUN = Role("The run", "is", trec.RUN, "score")


class Source(NamedTuple):
    """The documents and values of a file, a dictionary or a data frame.

    name : the name of the source in messages
    place : returns the position of given rows in words, such as ", on line 3"
    ids : the ids of the documents; None for a file, where they are bytes
    rank : the ranks of a run, if it has ranks that may contradict its scores
    without_own : whether judgments are of a task that leaves a document with the id of its query out of its list
    """

    documents: Documents
    value: FloatArray
    name: str
    place: Callable[[Sequence[int]], str]
    ids: list[str] | None = None
    rank: FloatArray | None = None
    without_own: bool = False


def checked(values: Any, role: Role, queries: Numbers) -> tuple[Source, DocumentTable]:
    """Read and check a source, and make the table of its documents."""
    values = of_responses(as_frame(values)) if role.value == "score" else as_frame(values)
    if role is QRELS and isinstance(values, str) and values.startswith(LIBRARIES):
        library = import_module(f"tieproof.inputs.readers.{values.partition(':')[0]}")
        lists, without_own = library.read(values)
        source = _from_dictionary(lists, role, queries, values, without_own)
    elif isinstance(values, str | os.PathLike):
        path, entry = (values, None) if isinstance(values, Piped) else split(values)
        if role.value == "score" and os.fsdecode(values).lower().endswith(predictions.EXTENSIONS):
            source = _from_predictions(values, queries)
        elif path.name.lower().endswith(predictions.DICTIONARIES) or (
            isinstance(values, Piped) and predictions.is_dictionary(values)
        ):
            source = _from_json(path, entry, role, queries)
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
        source = _from_ranx(values, role, queries)
    else:
        raise InputError(
            f"{role.name} must be the path of a TREC file, a dictionary {{query: {{document: {role.value}}}}}, a "
            f"data frame or a table of Arrow, not {type(values).__name__}."
        )

    finite = np.isfinite(source.value)
    if not finite.all():
        row = int(np.argmin(finite))
        raise InputError(
            f"{_named(source, role, queries, row)} is {source.value[row]}{source.place([row])}. Every {role.value} "
            f"must be a finite number; leave out documents without a {role.value}."
        )
    table = DocumentTable(source.documents, len(queries))
    if table.twice is not None:
        query, document = _names_of(source, queries, table.twice[0])
        raise InputError(
            f"{source.name}: document '{document}' occurs twice for query '{query}'{source.place(table.twice)}. Keep "
            "one of them."
        )
    return source, table


def contradicting_ranks(source: Source, queries: Numbers) -> str | None:
    """Return a sentence on the lists whose ranks contradict their scores; None unless these are most lists."""
    found = None if source.rank is None else contradiction(source.documents.query, source.rank, source.value)
    if found is None:
        return None
    wrong, lists, query = found
    name = list(queries)[query].decode(errors="replace")
    return (
        f"{source.name}: the ranks contradict the scores in {wrong:,} of {lists:,} lists; the first is "
        f"that of query '{name}'. Documents are ranked by their scores, where larger is nearer."
    )


def warn_of_ranks(source: Source, queries: Numbers) -> None:
    """Warn if ranks contradict the scores in most lists."""
    said = contradicting_ranks(source, queries)
    if said is not None:
        warn(f"{said} {BY_RANKS}")


BY_RANKS = "If the scores are distances, change their signs; to rank by the ranks, pass them negative as the scores."


def _names_of(source: Source, queries: Numbers, row: int) -> tuple[str, str]:
    """Return the ids of a row's query and document, as text."""
    query, document = list(queries)[source.documents.query[row]], source.documents.id(row)
    return query.decode(errors="replace"), document.decode(errors="replace")


def _named(source: Source, role: Role, queries: Numbers, row: int) -> str:
    """Return the name of a row's value, for messages."""
    query, document = _names_of(source, queries, row)
    return f"{source.name}: the {role.value} of document '{document}' for query '{query}'"


def _from_trec(location: str | os.PathLike[str] | Piped, role: Role, queries: Numbers) -> Source:
    try:
        documents, value, rank = trec.read(location, role.layout, queries)
    except InputError as error:
        path = location if isinstance(location, Piped) else Path(location)
        other = layout_of_file(path) if isinstance(path, Piped) or path.is_file() else None
        if other is None or other is role.layout:
            raise
        raise InputError(
            f"{path} contains {other.kind}, not {role.layout.kind}. Pass the qrels first, then the run."
        ) from error

    def place(rows: Sequence[int]) -> str:
        return _located("line", [line_at(documents.text, documents.at[row]) for row in rows])

    return Source(documents, value, os.fsdecode(location), place, rank=rank)


def _from_predictions(location: str | os.PathLike[str] | Piped, queries: Numbers) -> Source:
    lines = predictions.read(location)
    query = numbered(lines.query, queries, RUN)

    def place(rows: Sequence[int]) -> str:
        return _located("line", sorted({lines.line[row] for row in rows}))

    documents = documents_called(lines.document, query)
    return Source(documents, np.array(lines.score), os.fsdecode(location), place, lines.document)


def _from_dictionary(
    values: Mapping[Any, Any], role: Role, queries: Numbers, called: str = "", without_own: bool = False
) -> Source:
    for name, inner in values.items():
        if not isinstance(inner, Mapping):
            raise InputError(
                f"{role.name} must be {{query: {{document: {role.value}}}}}, but the value of query {name!r} is "
                f"{type(inner).__name__}. Pass a dictionary for each query."
            )
    lengths = [len(inner) for inner in values.values()]
    query = np.repeat(numbered(list(values), queries, role), lengths)
    names = as_ids([name for inner in values.values() for name in inner], role, "document")
    given = [value for inner in values.values() for value in inner.values()]
    source = Source(
        documents_called(names, query), np.zeros(0), called or role.name, lambda rows: "", names, None, without_own
    )
    return source._replace(value=_as_values(given, role, source, queries))


def _from_json(path: File | Piped, entry: str | None, role: Role, queries: Numbers) -> Source:
    from tieproof.inputs.readers import mteb

    read = predictions.read_dictionary(path, role.value)
    if entry is None and not mteb.has_splits(read):
        return _from_dictionary(read, role, queries, str(path))
    lists, without_own = mteb.of_split(read, str(path), entry, role.value)
    called = str(path) if entry is None else f"{path}:{entry}"
    return _from_dictionary(lists, role, queries, called, without_own)


def _from_frame(frame: Any, role: Role, queries: Numbers) -> Source:
    query = numbered(column_for(frame, "query", role.name).tolist(), queries, role)
    names = as_ids(column_for(frame, "document", role.name).tolist(), role, "document")
    lines = getattr(frame, "lines", None)

    def place(rows: Sequence[int]) -> str:
        return _located("line", [lines[row] for row in rows]) if lines else _located("row", rows)

    source = Source(documents_called(names, query), np.zeros(0), role.name, place, names)
    value = _as_values(column_for(frame, role.value, role.name), role, source, queries)
    return source._replace(value=value, rank=_ranks_in(frame) if role.value == "score" else None)


def _ranks_in(frame: Any) -> FloatArray | None:
    """Return the column of ranks; None without one, or if it has anything but finite numbers."""
    if "rank" not in frame.columns:
        return None
    rank = column_called(frame, "rank", "The run")
    is_number = rank.dtype.kind in "iuf" and np.isfinite(rank).all()
    return rank.astype(np.float64) if is_number else None


def _from_ranx(values: Any, role: Role, queries: Numbers) -> Source:
    from tieproof.inputs.readers import ranx

    lists = ranx.read(values)
    query = np.repeat(numbered(lists.queries, queries, role), lists.lengths)
    source = Source(documents_in_columns(lists.names, query), np.zeros(0), role.name, lambda rows: "")
    return source._replace(value=_as_values(lists.values, role, source, queries))


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
            is_whole = isinstance(wrong, float | np.floating) and (np.isnan(wrong) or wrong == np.rint(wrong))
            how = (
                ".astype(int), as pandas makes floats of integers beside missing ones" if is_whole else ".astype(str)"
            )
            raise InputError(
                f"{role.name} must name every {what} by a string or an integer, but one name is {wrong!r}. Leave out "
                f"rows without a name, and convert the names with {how}."
            )
    return names if kinds == {str} else list(map(str, names))


def _as_values(values: Any, role: Role, source: Source, queries: Numbers) -> FloatArray:
    """Convert scores or grades to float64 without changing the order of integers; `source` has their documents."""
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
