"""Reads and checks judgments and the run of a system, and looks up the scores of judged documents.

A document is looked up by its id: in a table of all documents, or in the dictionary of the run.
"""

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from itertools import pairwise, repeat
from typing import Any, NamedTuple

import numpy as np

from tieproof.inputs.documents import Documents, DocumentTable
from tieproof.inputs.readers.trec import Numbers
from tieproof.inputs.relevance import pointers
from tieproof.inputs.run_sources import QRELS, RUN, Source, checked, numbered
from tieproof.ties import BoolArray, FloatArray, IntArray


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
        return [as_text(self.documents.id(row)) for row in rows]


MOST_COMPARED = 1000
"""The most ids of a query among which the one most similar to the id of a judged document is looked for."""


class Unlike(NamedTuple):
    """A document of a query as the qrels call it, and the document of the run with the most similar id.

    name : the name of the run in messages
    """

    name: str
    query: str
    judged: str
    ranked: str


class RankedDocuments(NamedTuple):
    """The scores of a run, and the scores of the judged documents.

    query, length : (s,) the query and the length of each sequence of documents of one query; none is empty, and a
        query may have several
    score : (n,) the scores, sequence after sequence
    of_judged : the score of each judged document; NaN if the run lacks the document or if it was not looked up
    unlike : an example of the ids in both, if the run has a query of the qrels, but no judged document of any query
    """

    query: IntArray
    length: IntArray
    score: FloatArray
    of_judged: FloatArray
    unlike: Unlike | None = None


def read_qrels(values: Any, queries: Numbers, others: bool = False) -> JudgedDocuments:
    """Read and check the judgments; ids of queries get their numbers from `queries`.

    others : whether documents that were judged not relevant are looked up, too
    """
    source, _ = checked(values, QRELS, queries)
    sought = source.value >= 0 if others else source.value > 0
    return JudgedDocuments(source.documents, source.value, source.ids, sought)


def read_run(values: Any, judged: JudgedDocuments, queries: Numbers) -> RankedDocuments:
    """Read and check the run; ids of queries get their numbers from `queries`."""
    found = from_plain_dictionary(values, judged, queries) if isinstance(values, Mapping) else None
    if found is not None:
        return found
    source, table = checked(values, RUN, queries)
    ranked = ranked_of(source, table, judged)
    if np.isnan(ranked.of_judged).all() and (table.find(judged.documents) < 0).all():
        return ranked._replace(unlike=unlike(source, judged, queries))
    return ranked


def ranked_of(source: Source, table: DocumentTable, judged: JudgedDocuments) -> RankedDocuments:
    """Look up the judged documents in a run, by the table of its documents."""
    row, query = table.find(judged.documents), source.documents.query
    first = np.flatnonzero(np.diff(query, prepend=-1))
    of_judged = np.where((row < 0) | ~judged.sought, np.nan, source.value[row])
    return RankedDocuments(query[first], np.diff(first, append=len(query)), source.value, of_judged)


def from_plain_dictionary(
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
    rows, ends = sought_rows(judged, len(queries))
    names: list[Any] = judged.names(rows.tolist())
    if kind is int:
        names = list(map(as_integer, names))
    spans = list(pairwise(ends.tolist()))
    ends = np.cumsum([0, *map(len, inner)])
    score, found, kinds, none = np.empty(ends[-1]), [np.nan] * len(rows), {kind}, repeat(np.nan)
    for query, scores, (start, stop) in zip(of_query.tolist(), inner, pairwise(ends.tolist()), strict=True):
        kinds.update(map(type, scores))
        of_values = set(map(type, scores.values()))
        if len(kinds) > 1 or not of_values <= {float}:
            return None
        score[start:stop] = np.fromiter(scores.values(), np.float64, stop - start)
        wanted = slice(*spans[query])
        found[wanted] = map(scores.get, names[wanted], none)
    if not np.isfinite(score).all() or np.isnan(found).all():
        return None
    of_judged = np.full(len(judged.grade), np.nan)
    of_judged[rows] = found
    length = np.diff(ends)
    return RankedDocuments(of_query[length > 0], length[length > 0], score, of_judged)


def unlike(source: Source, judged: JudgedDocuments, queries: Numbers) -> Unlike | None:
    """Return an example of the ids of the first query in both; None if no query is in both."""
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
    return Unlike(source.name, names[query].decode(errors="replace"), of_judged, nearest)


def sought_rows(judged: JudgedDocuments, n_queries: int) -> tuple[IntArray, IntArray]:
    """Return the rows of the documents to look up, query after query, and where those of each query begin and end."""
    rows = np.flatnonzero(judged.sought)
    query = judged.documents.query[rows]
    return rows[np.argsort(query, kind="stable")], pointers(query, n_queries)


def as_text(name: bytes) -> str | None:
    """Return the string that has this id; None if there is none."""
    try:
        return name.decode(errors="surrogatepass")
    except UnicodeDecodeError:
        return None


def as_integer(name: str | None) -> int | None:
    """Return the integer that has this id; None if there is none.

    >>> as_integer("7"), as_integer("07")
    (7, None)
    """
    try:
        number = int(name or "")
    except ValueError:
        return None
    return number if str(number) == name else None
