"""What people hand in as qrels or as a run: a TREC file, a dictionary, a data frame or an object of ranx, checked."""

import os
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.arrays import as_numbers
from tieproof.inputs.documents import Documents, Table, documents_of
from tieproof.inputs.list_rows import in_float64
from tieproof.inputs.readers import trec
from tieproof.inputs.readers.trec import Numbers, TrecLayout
from tieproof.ties import FloatArray, IntArray

COLUMNS = {
    "query": ("query_id", "qid", "q_id", "query-id"),
    "document": ("doc_id", "docno", "docid", "corpus-id"),
    "grade": ("relevance", "label", "grade", "rel", "score"),
    "score": ("score",),
}
"""Columns of data frames as tieproof, ir_measures, ranx, PyTerrier, pytrec_eval and BEIR call them; the first that is
there is read."""


class Role(NamedTuple):
    """What the qrels are, or the run: how messages call them, their file's layout, what their values are."""

    name: str
    verb: str
    layout: TrecLayout
    value: Literal["grade", "score"]


QRELS = Role("The qrels", "are", trec.QRELS, "grade")
RUN = Role("The run", "is", trec.RUN, "score")


class Source(NamedTuple):
    """Documents and values of a file, a dictionary or a frame.

    name : what messages call it
    place : says where the given rows stand, such as ", on line 3"
    """

    documents: Documents
    value: FloatArray
    name: str
    place: Callable[[Sequence[int]], str]


class Judged(NamedTuple):
    """The documents that the qrels name, and the grade of each."""

    documents: Documents
    grade: FloatArray


class Ranked(NamedTuple):
    """The scores of a run, and which of them are those of judged documents.

    query, score : (n,) of each document of the run
    of_judged : the score of each judged document; NaN where the run lacks it
    """

    query: IntArray
    score: FloatArray
    of_judged: FloatArray


def read_qrels(values: Any, queries: Numbers) -> Judged:
    """The judgments, checked; ids of queries get their numbers from `queries`."""
    source, _ = checked(values, QRELS, queries)
    return Judged(source.documents, source.value)


def read_run(values: Any, judged: Judged, queries: Numbers) -> Ranked:
    """The run, checked; ids of queries get their numbers from `queries`."""
    found = from_plain_dictionary(values, judged, queries) if isinstance(values, Mapping) else None
    if found is not None:
        return found
    source, table = checked(values, RUN, queries)
    row = table.find(judged.documents)
    return Ranked(source.documents.query, source.value, np.where(row < 0, np.nan, source.value[row]))


def checked(values: Any, role: Role, queries: Numbers) -> tuple[Source, Table]:
    """What is handed in, with a table of its documents."""
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
    table = Table(source.documents, len(queries))
    check_distinct(source, table, queries)
    return source, table


def from_plain_dictionary(values: Mapping[Any, Any], judged: Judged, queries: Numbers) -> Ranked | None:
    """A run whose queries are dictionaries with names of one type and finite floats; None where it is another.

    Its documents are not looked at but for their types, for a dictionary finds those that are judged.
    """
    inner = list(values.values())
    if not inner or not all(type(scores) is dict for scores in inner):
        return None
    names, kinds = (
        set(map(type, chain.from_iterable(inner))),
        set(map(type, chain.from_iterable(map(dict.values, inner)))),
    )
    if names not in ({str}, {int}) or kinds != {float}:
        return None
    score = np.fromiter(chain.from_iterable(map(dict.values, inner)), np.float64, sum(map(len, inner)))
    if not np.isfinite(score).all():
        return None
    of_query = numbered(list(values), queries, RUN)
    if len(np.unique(of_query)) < len(of_query):  # 7 and "7"
        return None
    by_number = dict(zip(of_query.tolist(), inner, strict=True))
    name_of = as_text if names == {str} else as_integer
    _, at, length, query = judged.documents
    text, nothing = judged.documents.text.tobytes(), dict[Any, float]()
    of_judged = (
        by_number.get(number, nothing).get(name_of(text[start:stop]), np.nan)
        for number, start, stop in zip(query.tolist(), at.tolist(), (at + length).tolist(), strict=True)
    )
    return Ranked(
        np.repeat(of_query, list(map(len, inner))), score, np.fromiter(of_judged, np.float64, len(judged.grade))
    )


def as_text(name: bytes) -> str | None:
    """The string that has this id; None where there is none."""
    try:
        return name.decode(errors="surrogatepass")
    except UnicodeDecodeError:
        return None


def as_integer(name: bytes) -> int | None:
    """The integer that has this id; None where there is none.

    >>> as_integer(b"7"), as_integer(b"07")
    (7, None)
    """
    try:
        number = int(name)
    except ValueError:
        return None
    return number if str(number).encode() == name else None


def from_file(path: Any, role: Role, queries: Numbers) -> Source:
    """A TREC file."""
    documents, value = trec.read(path, role.layout, queries)

    def place(rows: Sequence[int]) -> str:
        return located("line", [trec.line_at(documents.text, documents.at[row]) for row in rows])

    return Source(documents, value, os.fsdecode(path), place)


def from_dictionary(values: Mapping[Any, Any], role: Role, queries: Numbers) -> Source:
    """A dictionary of dictionaries."""
    for name, inner in values.items():
        if not isinstance(inner, Mapping):
            raise InputError(
                f"{role.name} must be {{query: {{document: {role.value}}}}}, and query {name!r} holds "
                f"{type(inner).__name__}, not a dictionary."
            )
    lengths = [len(inner) for inner in values.values()]
    query = np.repeat(numbered(list(values), queries, role), lengths)
    documents = documents_of(ids([name for inner in values.values() for name in inner], role, "document"), query)
    value = as_values([value for inner in values.values() for value in inner.values()], role)
    return Source(documents, value, role.name, lambda rows: "")


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
    documents = documents_of(ids(column("document").tolist(), role, "document"), query)
    return Source(documents, as_values(column(role.value), role), role.name, lambda rows: located("row", rows))


def from_ranx(values: Any, role: Role, queries: Numbers) -> Source:
    """`Qrels` or `Run` of ranx, which is not imported."""
    given, expected = type(values).__name__, role.name.removeprefix("The ").capitalize()
    if given != expected:
        raise InputError(
            f"{role.name} {role.verb} a {given} of ranx, where its {expected} is expected. Pass the qrels first, "
            "then the run."
        )
    return from_dictionary(values.to_dict(), role, queries)


def values_of_column(frame: Any, name: str, owner: str) -> Any:
    """The column of a frame that has this name, as an array; refused where there are several."""
    count = list(frame.columns).count(name)
    if count > 1:
        raise InputError(f"{owner}: {count} columns are called '{name}'. Keep one of them, or rename the others.")
    return np.asarray(frame[name].to_numpy())


SOURCES: tuple[tuple[Callable[[Any], bool], Callable[[Any, Role, Numbers], Source]], ...] = (
    (lambda values: isinstance(values, str | os.PathLike), from_file),
    (lambda values: isinstance(values, Mapping), from_dictionary),
    (lambda values: hasattr(values, "columns"), from_frame),
    (lambda values: type(values).__module__.partition(".")[0] == "ranx", from_ranx),
)
"""How to recognise each form, and how to read it."""


def numbered(names: list[Any], queries: Numbers, role: Role) -> IntArray:
    """The numbers of queries."""
    return np.fromiter(map(queries.__getitem__, ids(names, role, "query")), np.int64, len(names))


def ids(names: list[Any], role: Role, what: str) -> list[bytes]:
    """Names, which are strings or integers, as files have them; 7 and "7" are the same."""
    for kind in set(map(type, names)) - {str, int}:
        wrong = next(name for name in names if type(name) is kind)
        if isinstance(wrong, bool) or not isinstance(wrong, str | int | np.integer):
            raise InputError(
                f"{role.name} must name every {what} by a string or an integer, and one is {wrong!r}. Convert them "
                "with .astype(str), and leave out rows without a name."
            )
    return [str(name).encode(errors="surrogatepass") for name in names]


def as_values(values: Any, role: Role) -> FloatArray:
    """Scores or grades in float64, the order of integers unchanged."""
    if len(values) == 0:
        raise InputError(f"{role.name} {role.verb} empty. At least one {role.value} is needed.")
    numbers = as_numbers(values, f"{role.value}s")
    whole = numbers.dtype.kind in "iu"
    return in_float64(numbers, "relevance" if role is QRELS else "scores", 0) if whole else numbers.astype(np.float64)


def located(what: str, numbers: Sequence[int]) -> str:
    """Words for where rows stand."""
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
            f"{source.value[row]}{source.place([row])}. Every {role.value} must be a finite number; leave the "
            "document out where there is none."
        )


def check_distinct(source: Source, table: Table, queries: Numbers) -> None:
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
            f"The query '{name.decode(errors='replace')}' is not written in UTF-8. Convert the file to UTF-8."
        ) from None
