"""What counts in the list of a query: its own document, a document that occurs twice, and chunks of documents."""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.arrays import first_true
from tieproof.inputs.documents import DocumentTable, documents_called, documents_of
from tieproof.inputs.ids import as_ids
from tieproof.inputs.lists import DUPLICATES, HOW, Duplicates, first_places, left_out
from tieproof.inputs.options import check_choice
from tieproof.inputs.readers import text
from tieproof.inputs.readers.trec import Numbers
from tieproof.inputs.sources import QRELS, RUN, Source, checked, names_on, read, refuse_twice
from tieproof.ties import IntArray

Own = Literal["keep", "drop"]
OWN = ("keep", "drop")


class ListRules(NamedTuple):
    """The rules, as the arguments of `evaluate_run` have them."""

    own: str
    duplicates: str
    documents: Mapping[str, str] | Callable[[str], Any] | None

    @classmethod
    def of(cls, own: Own, duplicates: Duplicates, documents: Any) -> "ListRules":
        """Check the arguments."""
        check_choice("own", own, OWN)
        check_choice("duplicates", duplicates, DUPLICATES)
        if isinstance(documents, str | os.PathLike):
            documents = text.read(documents, "chunk", "document")
        if isinstance(documents, Mapping):
            documents = dict(zip(_ids(documents.keys()), _ids(documents.values()), strict=True))
        elif documents is not None and not callable(documents):
            raise InputError(
                "documents must be {chunk: document}, a function from the id of a chunk to that of its document, or "
                f"the path of a file with both on each line, not {type(documents).__name__}.",
                "documents",
            )
        return cls(own, duplicates, documents)

    def recorded(self) -> dict[str, str]:
        """The rules that are not the default, by which a record can be verified."""
        rules = {"own": (self.own, DEFAULT.own), "duplicates": (self.duplicates, DEFAULT.duplicates)}
        return {name: rule for name, (rule, default) in rules.items() if rule != default}


DEFAULT = ListRules("keep", "error", None)


def documents_of_qrels(values: Any, rules: ListRules, queries: Numbers) -> Source:
    """Read and check the documents of qrels; one that occurs twice must have one grade."""
    if rules.duplicates == "error":
        return checked(values, QRELS, queries)[0]
    return _once(read(values, QRELS, queries), queries, same=True)


def documents_of_run(values: Any, rules: ListRules, queries: Numbers) -> tuple[Source, DocumentTable]:
    """Read and check the documents of a run, as the rules count them."""
    source = read(values, RUN, queries)
    table = DocumentTable(source.documents, len(queries))
    if table.twice is not None:
        if rules.duplicates == "error":
            refuse_twice(source, queries, table.twice, HOW)
        rest = _once(source, queries)
        source = rest._replace(said=(*left_out(len(source.value) - len(rest.value)), *source.said))
    if rules.documents is not None:
        source = _of_chunks(source, rules.documents, queries)
    table = DocumentTable(source.documents, len(queries))
    own = own_rows(table, queries) if rules.own == "drop" else np.zeros(0, np.int64)
    if len(own) == len(source.value):
        raise InputError("The run has only documents with the id of their query, which are left out. Use own='keep'.")
    if len(own):
        are = "document with the id of its query is" if len(own) == 1 else "documents with the id of their query are"
        source, table = without(source, own, len(queries))
        source = source._replace(said=(f"{len(own):,} {are} left out of the run.", *source.said))
    return source, table


def own_rows(table: DocumentTable, queries: Numbers) -> IntArray:
    """Return the rows of documents with the id of their query."""
    rows = table.find(documents_of(list(queries), np.arange(len(queries))))
    return rows[rows >= 0]


def without(source: Source, rows: IntArray, n_queries: int) -> tuple[Source, DocumentTable]:
    """Leave some documents out."""
    rest = source.among(np.setdiff1d(np.arange(len(source.value)), rows))
    return rest, DocumentTable(rest.documents, n_queries)


def _ids(names: Iterable[Any]) -> list[str]:
    return as_ids(list(names), "documents", "chunk and every document")


def _once(source: Source, queries: Numbers, same: bool = False) -> Source:
    """Return each document of a query once, with its largest value; if `same`, other values of it are refused."""
    numbers: dict[tuple[int, bytes], int] = {}
    rows = enumerate(source.documents.query.tolist())
    code = np.array([numbers.setdefault((query, source.documents.id(row)), len(numbers)) for row, query in rows])
    kept = first_places(code, source.value, small_is_near=False)
    best = source.value[kept][np.argsort(code[kept])]
    if same and (row := first_true(source.value != best[code])) is not None:
        query, document = names_on(source, queries, row)
        raise InputError(f"{source.name}: document '{document}' has several grades for query '{query}'. Keep one.")
    return source if len(kept) == len(code) else source.among(kept)


def _of_chunks(source: Source, documents: Mapping[str, str] | Callable[[str], Any], queries: Numbers) -> Source:
    """Return the documents of chunks, each with the score of its best chunk (MaxP)."""
    chunks = [source.documents.id(row).decode(errors="surrogatepass") for row in range(len(source.value))]
    if isinstance(documents, Mapping):
        lacking = next((chunk for chunk in chunks if chunk not in documents), None)
        if lacking is not None:
            raise InputError(
                f"The run has {lacking!r}, of which documents does not tell the document. Name the document of every "
                "chunk of the run; for one that is a whole document, name itself.",
                "documents",
            )
        documents = documents.__getitem__
    names = as_ids(list(map(documents, chunks)), "documents", "document")
    rest = _once(source._replace(documents=documents_called(names, source.documents.query)), queries)
    counts = f"{len(chunks):,} chunks count as {len(rest.value):,} documents, each by its best chunk."
    return rest._replace(said=(counts, *source.said))
