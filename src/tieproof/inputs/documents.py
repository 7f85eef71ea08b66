"""Documents of queries, looked up by their ids without numbering or sorting them."""

from collections.abc import Sequence, Sized
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.native.calls import Output, native
from tieproof.ties import IntArray, SmallIntArray, WordArray

Bytes = npt.NDArray[np.uint8]

EMPTY = np.iinfo(np.uint64).max
AT_A_TIME = 2**20  # the documents that are put into a table between checks for an interruption: a tenth of a second


class Documents(NamedTuple):
    """A row for each document of a query; made from files, dictionaries and frames, and read by `DocumentTable`."""

    text: Bytes  # the bytes of all ids
    at: IntArray  # (n,) the start of each document's id in `text`
    length: SmallIntArray  # (n,) the length of the id
    query: IntArray  # (n,) the number of the document's query

    def id(self, row: int) -> bytes:
        """Return the id of the document of a row."""
        return self.text[self.at[row] : self.at[row] + self.length[row]].tobytes()


def documents_of(ids: Sequence[bytes], query: IntArray) -> Documents:
    """Make documents from their ids."""
    return _documents_in(b"".join(ids), ids, query)


def documents_called(ids: Sequence[str], query: IntArray) -> Documents:
    """Make documents from their ids, encoded in UTF-8."""
    text = "".join(ids)
    if text.isascii():
        return _documents_in(text.encode(), ids, query)
    return documents_of([name.encode(errors="surrogatepass") for name in ids], query)


def documents_in_columns(names: npt.NDArray[np.str_], query: IntArray) -> Documents:
    """Make documents from their ids in an array of NumPy's strings."""
    letters = names.view(np.uint32)
    if letters.max(initial=0) > 127:  # not ASCII
        return documents_called(names.tolist(), query)
    width = letters.size // max(len(names), 1)
    length = np.strings.str_len(names).astype(np.int32)
    return Documents(letters.astype(np.uint8), np.arange(len(names)) * width, length, query)


def _documents_in(text: bytes, ids: Sequence[Sized], query: IntArray) -> Documents:
    """Make documents whose ids follow each other in `text`; only the lengths of `ids` are used."""
    length = np.fromiter(map(len, ids), np.int32, len(ids))
    ends = np.cumsum(length, dtype=np.int64)
    return Documents(np.frombuffer(text, np.uint8), ends - length, length, query)


class DocumentTable:
    """A hash table of documents: eight bytes for each slot, with at least twice as many slots as documents.

    queries : the number of queries, of the table and of the documents that are looked up
    twice : the rows of the first document that occurs twice; None if all are distinct. Documents after the second of
        these rows are not in the table.
    """

    def __init__(self, documents: Documents, queries: int) -> None:
        count = len(documents.at)
        self.documents = documents
        self.first = places_of_queries(documents.query, queries)
        self.places = np.full(self.first[-1], EMPTY, dtype=np.uint64)
        self.twice: tuple[int, int] | None = None
        earlier = np.empty(1, dtype=np.int64)
        for start in range(0, count, AT_A_TIME):
            again = put_documents(documents, start, min(start + AT_A_TIME, count), self.places, self.first, earlier)
            if again >= 0:
                self.twice = int(earlier[0]), again
                break

    def find(self, documents: Documents) -> IntArray:
        """Return the row of each document, or -1."""
        rows = np.empty(len(documents.at), dtype=np.int64)
        find_documents(documents, self.documents, self.places, self.first, rows)
        return rows


def places_of_queries(query: IntArray, queries: int) -> IntArray:
    """Return where the slots of each query begin, and the end; each has a power of two, above twice its documents."""
    twice = 2 * np.bincount(query, minlength=queries)
    return np.append(0, np.cumsum(1 << np.frexp(twice)[1].astype(np.int64)))


@native
def put_documents(
    documents: Documents, start: int, stop: int, table: Output[WordArray], first: IntArray, earlier: Output[IntArray]
) -> int:
    """Put rows into the table; return the first whose document is there already, with its row in `earlier`, or -1."""


@native
def find_documents(
    documents: Documents, known: Documents, table: WordArray, first: IntArray, rows: Output[IntArray]
) -> None:
    """Find the row of each document among the known documents of a table, or -1."""
