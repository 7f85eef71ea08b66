"""Reads judgments (qrels) and the run of a system, and looks up the scores of judged documents."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise, repeat
from typing import Any, NamedTuple

import numpy as np

from tieproof.inputs.documents import Documents, DocumentTable, documents_of
from tieproof.inputs.ids import as_text, numbered, refuse_encodings, written_otherwise
from tieproof.inputs.list_rules import DEFAULT, ListRules, documents_of_qrels, documents_of_run, own_rows, without
from tieproof.inputs.mistakes import FEWEST_ALIKE, ITSELF
from tieproof.inputs.options import rounded
from tieproof.inputs.readers.trec import Numbers
from tieproof.inputs.relevance import pointers
from tieproof.inputs.sources import BY_RANKS, RUN, Source, contradicting_ranks
from tieproof.ties import BoolArray, FloatArray, IntArray


class JudgedDocuments(NamedTuple):
    """The documents of the qrels, and the grade of each."""

    documents: Documents
    grade: FloatArray
    ids: Sequence[str] | None  # of the documents; None if they were read from a file, as bytes
    sought: BoolArray  # which documents are looked up in the run
    rules: ListRules = DEFAULT  # what counts in the lists of the run

    def without_own(self, queries: Numbers) -> "JudgedDocuments":
        """The judgments if a document with the id of its query is neither relevant nor judged not relevant."""
        own = own_rows(DocumentTable(self.documents, len(queries)), queries)
        grade, sought = self.grade.copy(), self.sought.copy()
        grade[own], sought[own] = -1, False
        return self._replace(grade=grade, sought=sought)


ASCII = 128

MOST_COMPARED = 1000  # ids of a query among which the one most similar to that of a judged document is looked for


class RankedDocuments(NamedTuple):
    """The scores of a run, in sequences of documents of one query, and the scores of the judged documents."""

    query: IntArray  # (s,) of each sequence; a query may have several
    length: IntArray  # (s,) of each sequence; none is empty
    score: FloatArray  # (n,) sequence after sequence
    of_judged: FloatArray  # of each judged document; NaN if the run lacks it or if it was not looked up
    unlike: str | None = None  # a warning, if the run has a query of the qrels, but no judged document of any
    others: "tuple[Otherwise, ...]" = ()  # the run as it may have been meant instead
    said: tuple[str, ...] = ()  # sentences on how the run was read, for the result
    given: tuple[IntArray, FloatArray] | None = None  # lengths and smallest scores before documents were left out
    ordered: bool = False  # whether the scores are the ranks of integers that float64 does not tell apart

    def rounded(self, precision: str | None) -> "RankedDocuments":
        """The documents with their scores rounded to a precision."""
        given = None if self.given is None else (self.given[0], rounded(self.given[1], precision))
        return self._replace(
            score=rounded(self.score, precision), of_judged=rounded(self.of_judged, precision), given=given
        )


class Otherwise(NamedTuple):
    """A run as it may have been meant."""

    said: str  # what looks like it
    how: str  # what is different about it, before its score
    advice: str  # what to do if it was meant
    always: bool  # whether this is said even if no score is different
    judged: JudgedDocuments
    ranked: RankedDocuments


@dataclass
class ReadOnce:
    """Judgments for the runs of several systems: `read_qrels` reads them, and the numbers of queries, only once."""

    values: Any
    read: tuple[JudgedDocuments, dict[bytes, int]] | None = None


def read_qrels(
    values: Any, queries: Numbers, with_not_relevant: bool = False, rules: ListRules = DEFAULT
) -> JudgedDocuments:
    """Read and check the judgments; ids of queries get their numbers from `queries`.

    with_not_relevant : whether documents that were judged not relevant are looked up, too
    """
    if isinstance(values, ReadOnce):
        if values.read is None:
            values.read = read_qrels(values.values, queries, with_not_relevant, rules), dict(queries)
        queries.update(values.read[1])
        return values.read[0]
    source = documents_of_qrels(values, rules, queries)
    sought = source.value >= 0 if with_not_relevant else source.value > 0
    judged = JudgedDocuments(source.documents, source.value, source.ids, sought, rules)
    if rules.own == "drop":
        return judged.without_own(queries)
    return judged._replace(rules=rules._replace(own="drop")) if source.without_own else judged


def read_run(values: Any, judged: JudgedDocuments, queries: Numbers) -> RankedDocuments:
    """Read and check the run; ids of queries get their numbers from `queries`."""
    of_qrels = len(queries)
    ranked_by_dictionary = None
    if isinstance(values, Mapping) and judged.rules._replace(duplicates="error") == DEFAULT:
        ranked_by_dictionary = _from_plain_dictionary(values, judged, queries)
    if ranked_by_dictionary is not None:
        _check_queries(judged, ranked_by_dictionary.query, queries, of_qrels)
        return ranked_by_dictionary
    source, table = documents_of_run(values, judged.rules, queries)
    ranked = ranked_of(source, table, judged)
    _check_queries(judged, ranked.query, queries, of_qrels)
    _check_documents(table, judged, queries)
    others: list[Otherwise] = []
    said = contradicting_ranks(source, queries)
    if said is not None and source.rank is not None:
        by_ranks = ranked_of(source._replace(value=-source.rank), table, judged)
        others.append(Otherwise(said, "by the ranks it is", BY_RANKS, True, judged, by_ranks))
    own = own_rows(table, queries)
    first, answered = _own_first(source, own, judged, queries), len(np.unique(ranked.query))
    if judged.rules.own == "keep" and find_themselves(first, answered):
        said = f"{first} of {answered} queries find the document that has their own id first."
        rest = ranked_of(*without(source, own, len(queries)), judged)
        how = "without these documents it is"
        others.append(Otherwise(said, how, DROP_OWN, False, judged.without_own(queries), rest))
    ranked = ranked._replace(others=tuple(others))
    if np.isnan(ranked.of_judged).all() and (table.find(judged.documents) < 0).all():
        return ranked._replace(unlike=_unlike(source, judged, queries))
    return ranked


DROP_OWN = "If these are the queries themselves, as in ArguAna of BEIR, pass own='drop' (--own drop)."


def find_themselves(first: int, answered: int) -> bool:
    """Whether so many queries find themselves first that this is probably no chance."""
    return first >= max(FEWEST_ALIKE, ITSELF * answered)


def _own_first(source: Source, own: IntArray, judged: JudgedDocuments, queries: Numbers) -> int:
    """Return how many queries have a document with their own id first, which is not all that is relevant to them."""
    if not find_themselves(len(own), 0):
        return 0
    highest = np.full(len(queries), -np.inf)
    np.maximum.at(highest, source.documents.query, source.value)
    first = source.documents.query[own[source.value[own] == highest[source.documents.query[own]]]]
    relevant = np.bincount(judged.documents.query[judged.grade > 0], minlength=len(queries))
    without = judged.without_own(queries)
    others = np.bincount(without.documents.query[without.grade > 0], minlength=len(queries))
    return int(((others[first] > 0) | (relevant[first] == 0)).sum())


def ranked_of(source: Source, table: DocumentTable, judged: JudgedDocuments) -> RankedDocuments:
    """Look up the judged documents in a run, by the table of its documents."""
    row, query = table.find(judged.documents), source.documents.query
    first = np.flatnonzero(np.diff(query, prepend=-1))
    of_judged = np.where((row < 0) | ~judged.sought, np.nan, source.value[row])
    given = None
    if source.before is not None:
        listed, value = source.before
        smallest = np.full(len(table.first) - 1, np.inf)
        np.minimum.at(smallest, listed, value)
        given = np.bincount(listed, minlength=len(smallest)), smallest
    length = np.diff(first, append=len(query))
    return RankedDocuments(
        query[first], length, source.value, of_judged, said=source.said, given=given, ordered=source.ordered
    )


def _from_plain_dictionary(
    values: Mapping[Any, Any], judged: JudgedDocuments, queries: Numbers
) -> RankedDocuments | None:
    """Return a run whose queries are dictionaries from strings to finite floats; None for any other run.

    None, too, if no document that is looked up is in the run, or if most queries find their own id first. The
    dictionaries look up the judged documents themselves, query by query, while its names are in a fast cache.
    """
    inner = list(values.values())
    if not all(type(scores) is dict for scores in inner):
        return None
    of_query = numbered(list(values), queries, RUN.name)
    if len(np.unique(of_query)) < len(of_query):  # 7 and "7"
        return None
    rows = np.flatnonzero(judged.sought)
    query_of_row = judged.documents.query[rows]
    rows = rows[np.argsort(query_of_row, kind="stable")]
    ids, documents = judged.ids, judged.documents
    names: list[Any] = [as_text(documents.id(row)) if ids is None else ids[row] for row in rows.tolist()]
    called = [as_text(name) for name in queries]
    if None in names:  # bytes that are not UTF-8
        return None
    spans = list(pairwise(pointers(query_of_row, len(queries)).tolist()))
    ends = np.cumsum([0, *map(len, inner)])
    score, looked_up, none = np.empty(ends[-1]), [np.nan] * len(rows), repeat(np.nan)
    first = 0
    for query, scores, (start, stop) in zip(of_query.tolist(), inner, pairwise(ends.tolist()), strict=True):
        if not set(map(type, scores)) <= {str} or not set(map(type, scores.values())) <= {float}:
            return None
        score[start:stop] = np.fromiter(scores.values(), np.float64, stop - start)
        wanted = slice(*spans[query])
        looked_up[wanted] = map(scores.get, names[wanted], none)
        own = scores.get(called[query])
        first += own is not None and own == max(scores.values())
    if find_themselves(first, len(inner)):  # what their number depends on is looked up in a table
        return None
    if not np.isfinite(score).all() or np.isnan(looked_up).all():
        return None
    of_judged = np.full(len(judged.grade), np.nan)
    of_judged[rows] = looked_up
    of_name = dict(zip(of_query.tolist(), inner, strict=True))
    for row in _not_ascii(judged, rows[np.isnan(looked_up)]):
        scores = of_name.get(int(judged.documents.query[row]), {})
        if any(as_text(other) in scores for other in written_otherwise(judged.documents.id(row))):
            return None  # `_check_documents` refuses it
    length = np.diff(ends)
    return RankedDocuments(of_query[length > 0], length[length > 0], score, of_judged)


def _check_queries(judged: JudgedDocuments, of_run: IntArray, queries: Numbers, of_qrels: int) -> None:
    """Refuse a run that has one of the first `of_qrels` queries only in another encoding or form of Unicode."""
    if all(map(bytes.isascii, queries)):
        return
    names, new = list(queries), {number for number in of_run.tolist() if number >= of_qrels}
    for query in np.setdiff1d(judged.documents.query, of_run).tolist() if new else ():
        for other in () if names[query].isascii() else written_otherwise(names[query]):
            if queries.get(other) in new:
                refuse_encodings("a query", names[query], other)


def _check_documents(table: DocumentTable, judged: JudgedDocuments, queries: Numbers) -> None:
    """Refuse a run that has judged documents only in another encoding, or in another form of Unicode."""
    odd = _not_ascii(judged, np.flatnonzero(judged.sought & (table.find(judged.documents) < 0)))
    written = [(row, other) for row in odd for other in written_otherwise(judged.documents.id(row))]
    if not written:
        return
    others = [other for _, other in written]
    found = table.find(documents_of(others, judged.documents.query[[row for row, _ in written]]))
    for (row, other), place in zip(written, found, strict=True):
        if place >= 0:
            name = list(queries)[judged.documents.query[row]].decode(errors="replace")
            refuse_encodings(f"for query '{name}', a document", judged.documents.id(row), other)


def _not_ascii(judged: JudgedDocuments, rows: IntArray) -> list[int]:
    """Return some of the rows, those of ids that may be written otherwise."""
    if judged.documents.text.max(initial=0) < ASCII:
        return []
    return [row for row in rows.tolist() if not judged.documents.id(row).isascii()][:MOST_COMPARED]


def _unlike(source: Source, judged: JudgedDocuments, queries: Numbers) -> str | None:
    """Return a warning with a judged document of the first query in both, and the most similar one of the run."""
    names, of_run = list(queries), source.documents.query
    shared = np.intersect1d(judged.documents.query, of_run)
    if not len(shared):
        return None
    query = min(shared.tolist(), key=names.__getitem__)

    def ids(documents: Documents, queries: Any = (query,), most: int = MOST_COMPARED) -> list[str]:
        rows = np.flatnonzero(np.isin(documents.query, queries))[:most]
        return sorted(documents.id(row).decode(errors="replace") for row in rows.tolist())

    of_judged = ids(judged.documents)[0]

    def likeness(ranked: str) -> float:
        return SequenceMatcher(None, of_judged.casefold(), ranked.casefold()).ratio()

    nearest = max(ids(source.documents), key=likeness)
    advice = "If the ids differ in letter case, prefixes or padding, make them equal."
    known = set(ids(judged.documents, shared, MOST_COMPARED**2))
    for part in ids(source.documents, shared):
        wholes = [part[: mark.start()] for mark in re.finditer(r"\W|_", part) if part[: mark.start()] in known]
        if wholes:
            advice = (
                f"{part!r} may be a part of {wholes[-1]!r}: if so, pass documents= (--documents), which tells the "
                "document of each part."
            )
            break
    return (
        f"{source.name}: no document is judged for its query, so that nothing relevant was retrieved. For query "
        f"{names[query].decode(errors='replace')!r} the qrels have {of_judged!r}, and the run has {nearest!r}. "
        f"{advice}"
    )
