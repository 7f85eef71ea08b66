"""Documents of queries, found again by their ids, without numbering or sorting them."""

from collections.abc import Sequence, Sized
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.native.calls import native
from tieproof.ties import IntArray, SmallIntArray

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]

EMPTY = np.iinfo(np.uint64).max
AT_A_TIME = 2**20
"""Documents that are put into a table before an interruption is heard: a tenth of a second."""


class Documents(NamedTuple):
    """A row for each document of a query; made from files, dictionaries and frames, and read by `Table`.

    text : bytes that hold the ids
    at, length : (n,) where each document's id is in them
    query : (n,) the number of its query
    """

    text: Bytes
    at: IntArray
    length: SmallIntArray
    query: IntArray

    def id(self, row: int) -> bytes:
        """The id of a row's document."""
        return self.text[self.at[row] : self.at[row] + self.length[row]].tobytes()


def documents_of(ids: Sequence[bytes], query: IntArray) -> Documents:
    """Documents from their ids."""
    return documents_in(b"".join(ids), ids, query)


def documents_called(ids: Sequence[str], query: IntArray) -> Documents:
    """Documents from their ids, in UTF-8."""
    text = "".join(ids)
    if text.isascii():
        return documents_in(text.encode(), ids, query)
    return documents_of([name.encode(errors="surrogatepass") for name in ids], query)


def documents_in(text: bytes, ids: Sequence[Sized], query: IntArray) -> Documents:
    """Documents whose ids, of which the lengths count, follow each other in a text."""
    length = np.fromiter(map(len, ids), np.int32, len(ids))
    ends = np.cumsum(length, dtype=np.int64)
    return Documents(np.frombuffer(text, np.uint8), ends - length, length, query)


class Table:
    """Where to find each of some documents; eight bytes for each of at least twice as many places.

    twice : two rows with one document, the second of them the first that repeats any; None where all are distinct.
        Then documents behind them are not found.

    >>> table = Table(documents_of([b"a", b"b", b"a"], np.array([0, 0, 1])))
    >>> table.twice, table.find(documents_of([b"a", b"b", b"c"], np.array([1, 0, 0]))).tolist()
    (None, [2, 1, -1])
    >>> Table(documents_of([b"a", b"b", b"b"], np.array([0, 0, 0]))).twice
    (1, 2)
    """

    def __init__(self, documents: Documents) -> None:
        count = len(documents.at)
        self.documents = documents
        self.places = np.full(1 << (2 * count).bit_length(), EMPTY, dtype=np.uint64)
        self.twice: tuple[int, int] | None = None
        earlier = np.empty(1, dtype=np.int64)
        for start in range(0, count, AT_A_TIME):
            again = put_documents(documents, start, min(start + AT_A_TIME, count), self.places, earlier)
            if again >= 0:
                self.twice = int(earlier[0]), again
                break

    def find(self, documents: Documents) -> IntArray:
        """The row of each document, or -1."""
        found = np.empty(len(documents.at), dtype=np.int64)
        find_documents(documents, self.documents, self.places, found)
        return found


@native
def put_documents(documents: Documents, start: int, stop: int, table: Words, earlier: IntArray) -> int:
    """Put rows start … stop-1 into the table; the first that is there already, which `earlier` then names, or -1."""


@native
def find_documents(documents: Documents, known: Documents, table: Words, found: IntArray) -> None:
    """Find the row of each document among the known ones of a table, or -1."""
