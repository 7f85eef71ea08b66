"""Reads judgments (qrels) and the run of a system, and looks up the scores of judged documents.

A document is looked up by its id: in a table of all documents, or in the dictionary of the run.
"""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise, repeat
from typing import Any, NamedTuple, NoReturn, TypeVar

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.documents import Documents, DocumentTable, documents_of
from tieproof.inputs.options import rounded
from tieproof.inputs.readers.trec import Numbers
from tieproof.inputs.relevance import pointers
from tieproof.inputs.responses import of_responses
from tieproof.inputs.sources import QRELS, RUN, Source, checked, contradicting_ranks, numbered
from tieproof.ties import BoolArray, FloatArray, IntArray


class JudgedDocuments(NamedTuple):
    """The documents of the qrels, and the grade of each.

    ids : the ids of the documents; None if they were read from a file, as bytes
    sought : which documents are looked up in the run
    without_own : whether a document with the id of its query is left out of the run
    """

    documents: Documents
    grade: FloatArray
    ids: Sequence[str] | None
    sought: BoolArray
    without_own: bool = False

    def names(self, rows: Sequence[int]) -> list[str | None]:
        """Return the ids of the documents of some rows as strings; None for bytes that are not UTF-8."""
        if self.ids is not None:
            return [self.ids[row] for row in rows]
        return [_as_text(self.documents.id(row)) for row in rows]


MOST_COMPARED = 1000
"""The most ids of a query among which the one most similar to the id of a judged document is looked for."""


Text = TypeVar("Text", str, bytes)

ASCII = 128
ENCODINGS = "utf-8", "latin-1", "cp1252"
"""The encodings in which files of text usually are."""


class RankedDocuments(NamedTuple):
    """The scores of a run, and the scores of the judged documents.

    query, length : (s,) the query and the length of each sequence of documents of one query; none is empty, and a
        query may have several
    score : (n,) the scores, sequence after sequence
    of_judged : the score of each judged document; NaN if the run lacks the document or if it was not looked up
    unlike : a warning with an example of the ids in both, if the run has a query of the qrels, but no judged document
        of any query
    by_ranks : a sentence on ranks that contradict the scores in most lists, and the run as the ranks have it
    """

    query: IntArray
    length: IntArray
    score: FloatArray
    of_judged: FloatArray
    unlike: str | None = None
    by_ranks: "tuple[str, RankedDocuments] | None" = None

    def rounded(self, precision: str | None) -> "RankedDocuments":
        """The documents with their scores rounded to a precision."""
        return self._replace(score=rounded(self.score, precision), of_judged=rounded(self.of_judged, precision))


@dataclass
class ReadOnce:
    """Judgments for the runs of several systems: `read_qrels` reads them, and the numbers of queries, only once."""

    values: Any
    read: tuple[JudgedDocuments, dict[bytes, int]] | None = None


def read_qrels(values: Any, queries: Numbers, with_not_relevant: bool = False) -> JudgedDocuments:
    """Read and check the judgments; ids of queries get their numbers from `queries`.

    with_not_relevant : whether documents that were judged not relevant are looked up, too
    """
    if isinstance(values, ReadOnce):
        if values.read is None:
            values.read = read_qrels(values.values, queries, with_not_relevant), dict(queries)
        queries.update(values.read[1])
        return values.read[0]
    source, _ = checked(values, QRELS, queries)
    sought = source.value >= 0 if with_not_relevant else source.value > 0
    return JudgedDocuments(source.documents, source.value, source.ids, sought, source.without_own)


def read_run(values: Any, judged: JudgedDocuments, queries: Numbers) -> RankedDocuments:
    """Read and check the run; ids of queries get their numbers from `queries`."""
    values, of_qrels = of_responses(values), len(queries)
    ranked_by_dictionary = None
    if isinstance(values, Mapping) and not judged.without_own:
        ranked_by_dictionary = _from_plain_dictionary(values, judged, queries)
    if ranked_by_dictionary is not None:
        _check_queries(judged, ranked_by_dictionary.query, queries, of_qrels)
        return ranked_by_dictionary
    source, table = documents_of_run(values, judged, queries)
    ranked = ranked_of(source, table, judged)
    _check_queries(judged, ranked.query, queries, of_qrels)
    _check_documents(table, judged, queries)
    said = contradicting_ranks(source, queries)
    if said is not None and source.rank is not None:
        by_ranks = ranked_of(source._replace(value=-source.rank), table, judged)
        ranked = ranked._replace(by_ranks=(said, by_ranks))
    if np.isnan(ranked.of_judged).all() and (table.find(judged.documents) < 0).all():
        return ranked._replace(unlike=_unlike(source, judged, queries))
    return ranked


def documents_of_run(values: Any, judged: JudgedDocuments, queries: Numbers) -> tuple[Source, DocumentTable]:
    """Read and check the documents of a run, without those that have the id of their query if the task says so."""
    source, table = checked(values, RUN, queries)
    if not judged.without_own:
        return source, table
    kept = np.ones(len(source.value), dtype=np.bool_)
    own = table.find(documents_of(list(queries), np.arange(len(queries))))
    kept[own[own >= 0]] = False
    text, at, length, query = source.documents
    documents = Documents(text, at[kept], length[kept], query[kept])
    rank = None if source.rank is None else source.rank[kept]
    rest = source._replace(documents=documents, value=source.value[kept], ids=None, rank=rank)
    return rest, DocumentTable(documents, len(queries))


def ranked_of(source: Source, table: DocumentTable, judged: JudgedDocuments) -> RankedDocuments:
    """Look up the judged documents in a run, by the table of its documents."""
    row, query = table.find(judged.documents), source.documents.query
    first = np.flatnonzero(np.diff(query, prepend=-1))
    of_judged = np.where((row < 0) | ~judged.sought, np.nan, source.value[row])
    return RankedDocuments(query[first], np.diff(first, append=len(query)), source.value, of_judged)


def _from_plain_dictionary(
    values: Mapping[Any, Any], judged: JudgedDocuments, queries: Numbers
) -> RankedDocuments | None:
    """Return a run whose queries are dictionaries from strings to finite floats; None for any other run.

    It is also None if no document that is looked up is in the run.

    Only the types of its documents are checked, because the dictionaries themselves look up the judged documents.
    This is done query by query, while the names of a query are in a fast cache.
    """
    inner = list(values.values())
    if not all(type(scores) is dict for scores in inner):
        return None
    of_query = numbered(list(values), queries, RUN)
    if len(np.unique(of_query)) < len(of_query):  # 7 and "7"
        return None
    rows = np.flatnonzero(judged.sought)
    query_of_row = judged.documents.query[rows]
    rows = rows[np.argsort(query_of_row, kind="stable")]
    names: list[Any] = judged.names(rows.tolist())
    if None in names:  # bytes that are not UTF-8
        return None
    spans = list(pairwise(pointers(query_of_row, len(queries)).tolist()))
    ends = np.cumsum([0, *map(len, inner)])
    score, looked_up, none = np.empty(ends[-1]), [np.nan] * len(rows), repeat(np.nan)
    for query, scores, (start, stop) in zip(of_query.tolist(), inner, pairwise(ends.tolist()), strict=True):
        if not set(map(type, scores)) <= {str} or not set(map(type, scores.values())) <= {float}:
            return None
        score[start:stop] = np.fromiter(scores.values(), np.float64, stop - start)
        wanted = slice(*spans[query])
        looked_up[wanted] = map(scores.get, names[wanted], none)
    if not np.isfinite(score).all() or np.isnan(looked_up).all():
        return None
    of_judged = np.full(len(judged.grade), np.nan)
    of_judged[rows] = looked_up
    of_name = dict(zip(of_query.tolist(), inner, strict=True))
    for row in _not_ascii(judged, rows[np.isnan(looked_up)]):
        scores = of_name.get(int(judged.documents.query[row]), {})
        if any(_as_text(other) in scores for other in _written_otherwise(judged.documents.id(row))):
            return None  # `_check_documents` refuses it
    length = np.diff(ends)
    return RankedDocuments(of_query[length > 0], length[length > 0], score, of_judged)


def _check_queries(judged: JudgedDocuments, of_run: IntArray, queries: Numbers, of_qrels: int) -> None:
    """Refuse a run that has a query of the qrels only in another encoding, or in another form of Unicode.

    of_qrels : the number of names that were known before the run was read
    """
    if all(map(bytes.isascii, queries)):
        return
    names, new = list(queries), {number for number in of_run.tolist() if number >= of_qrels}
    for query in np.setdiff1d(judged.documents.query, of_run).tolist() if new else ():
        for other in () if names[query].isascii() else _written_otherwise(names[query]):
            if queries.get(other) in new:
                _refuse_encodings("a query", names[query], other)


def _check_documents(table: DocumentTable, judged: JudgedDocuments, queries: Numbers) -> None:
    """Refuse a run that has judged documents only in another encoding, or in another form of Unicode."""
    odd = _not_ascii(judged, np.flatnonzero(judged.sought & (table.find(judged.documents) < 0)))
    written = [(row, other) for row in odd for other in _written_otherwise(judged.documents.id(row))]
    if not written:
        return
    others = [other for _, other in written]
    found = table.find(documents_of(others, judged.documents.query[[row for row, _ in written]]))
    for (row, other), place in zip(written, found, strict=True):
        if place >= 0:
            name = list(queries)[judged.documents.query[row]].decode(errors="replace")
            _refuse_encodings(f"for query '{name}', a document", judged.documents.id(row), other)


def _not_ascii(judged: JudgedDocuments, rows: IntArray) -> list[int]:
    """Return some of the rows, those of ids that may be written otherwise."""
    if judged.documents.text.max(initial=0) < ASCII:
        return []
    return [row for row in rows.tolist() if not judged.documents.id(row).isascii()][:MOST_COMPARED]


def _refuse_encodings(what: str, of_qrels: bytes, of_run: bytes) -> NoReturn:
    raise InputError(
        f"The qrels and the run are in different encodings: {what} is {of_qrels!r} in the qrels and {of_run!r} in "
        "the run. Convert both to UTF-8, and to one form of Unicode, by unicodedata.normalize('NFC', …).",
        ("qrels", "run"),
    )


def _written_otherwise(name: bytes) -> set[bytes]:
    """Return an id in other encodings and in the other forms of Unicode."""
    texts = _in_encodings(name.decode)
    texts |= {unicodedata.normalize(form, text) for form in ("NFC", "NFD") for text in texts}
    return set().union(*(_in_encodings(text.encode) for text in texts)) - {name}


def _in_encodings(convert: Callable[[str], Text]) -> set[Text]:
    """Return the conversions by all encodings that have every letter."""
    found: set[Text] = set()
    for encoding in ENCODINGS:
        with suppress(UnicodeError):
            found.add(convert(encoding))
    return found


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
