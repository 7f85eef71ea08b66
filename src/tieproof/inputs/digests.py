"""Digests that say whether two data sets are the same, whatever their order.

A row of numbers has two words, by its numbers as float64 has them, whatever type they came in; zeros of either sign
are the same number. What belongs to a query (relevant items, excluded ones, the scores of a run) is added up, which
knows no order. All keys are known to everybody: digests find differences, and stop nobody who makes two data sets
with the same digest on purpose.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.inputs.arrays import BLOCK_BYTES, Embeddings
from tieproof.inputs.documents import Documents
from tieproof.native.calls import native
from tieproof.native.threads import for_each
from tieproof.ties import Array, FloatArray, IntArray

Words = npt.NDArray[np.uint64]

SALT = np.uint64(0x452821E638D01377)
"""More digits of pi: so that 5, which is a label, and "5", which is one, and 5 as bytes have other words."""

MOST_KEPT = 2**16
"""Digests that a result keeps: a megabyte."""

DIGESTED = ("float64", "float32", "int64", "uint64", "int32", "int8")
"""Types that the kernel reads."""


@native
def fill_keys(keys: Words) -> None:
    """The numbers that rows are digested with, always the same."""


@native
def digest_rows(rows: Array, keys: Words, labels: Words, digests: Words) -> None:
    """Two words for each row of numbers, with the word that belongs to it; keys are even and more than a row's."""


@native
def digest_strings(letters: npt.NDArray[np.uint32], words: Words) -> None:
    """A word for each string; zeros at the end of a row are none of its letters."""


@native
def digest_ids(documents: Documents, words: Words) -> None:
    """A word for the id of each document, whatever its query."""


@native
def digest_scores(query: IntArray, length: IntArray, score: FloatArray, sums: Words) -> None:
    """Add the scores of each stretch (s,), in any order within it, to sums[query] (…, 2)."""


@native
def digest_ties(
    place: IntArray,
    query: IntArray,
    k: IntArray,
    n: IntArray,
    l: IntArray,  # noqa: E741
    m: IntArray,
    sums: Words,
) -> None:
    """Add ties, in the letters of `Ties`, in any order to sums[place[query]] (…, 2)."""


@native
def add_digests(place: IntArray, words: Words, sums: Words) -> None:
    """Add the digest of each row of words (n, w) to sums[place] (…, 2)."""


@lru_cache(maxsize=16)
def keys_of(width: int) -> Words:
    """Keys for rows of so many numbers."""
    keys = np.empty(width + 2 - width % 2, dtype=np.uint64)
    fill_keys(keys)
    return keys


def words_of(labels: Array) -> Words:
    """A word for each label (n,), or for each row of columns (n, c)."""
    if labels.ndim == 2:
        return np.ascontiguousarray(rows_digests(labels, np.zeros(len(labels), dtype=np.uint64))[:, 0])
    if labels.dtype.kind not in "US":
        whole = np.ascontiguousarray(labels, dtype=np.uint64 if labels.dtype.kind == "u" else np.int64)
        return whole.view(np.uint64)
    letters, words = letters_of(labels), np.empty(len(labels), dtype=np.uint64)
    digest_strings(letters, words)
    return words ^ (SALT if labels.dtype.kind == "U" else ~SALT)


def letters_of(strings: Array) -> npt.NDArray[np.uint32]:
    """The letters of strings, or of bytes, a row for each."""
    own = np.ascontiguousarray(strings.astype(strings.dtype.newbyteorder("="), copy=False))
    size = 4 if own.dtype.kind == "U" else 1
    width = own.dtype.itemsize // size
    if not width:
        return np.zeros((len(own), 1), dtype=np.uint32)
    return own.view(f"u{size}").reshape(len(own), width).astype(np.uint32, copy=False)


def rows_digests(rows: Embeddings, labels: Words, threads: int = 1) -> Words:
    """The digests (n, 2) of rows (n, d) with the words that belong to them (n,)."""
    count, width = rows.shape
    keys, digests = keys_of(width), np.empty((count, 2), dtype=np.uint64)
    size = max(1, BLOCK_BYTES // (4 * max(1, width)))

    def digest(start: int) -> None:
        span = slice(start, start + size)
        digest_rows(as_digested(rows[span]), keys, labels[span], digests[span])

    for_each(digest, range(0, count, size), threads)
    return digests


def as_digested(rows: Embeddings) -> Embeddings:
    """Rows in a type that the kernel reads and that holds their numbers, without gaps between these."""
    kind, size = rows.dtype.kind, rows.dtype.itemsize
    if rows.dtype.name not in DIGESTED:
        rows = rows.astype(np.float32 if kind == "f" else np.int32 if size < 4 else np.int64)
    usual = rows.flags.aligned and rows.strides[1] == rows.itemsize and rows.strides[0] % rows.itemsize == 0
    return rows if usual and rows.strides[0] > 0 else np.ascontiguousarray(rows)


def in_any_order(digests: Words) -> bytes:
    """Digests (n, 2) as bytes, the same for any order of them."""
    ordered = digests[np.argsort(digests[:, 0])]
    first, second = ordered[:, 0], ordered[:, 1]
    if ((first[1:] == first[:-1]) & (second[1:] != second[:-1])).any():
        ordered = digests[np.lexsort((digests[:, 1], digests[:, 0]))]
    return ordered.astype("<u8", copy=False).tobytes()


class Digests(NamedTuple):
    """Those of each side of a data set, (n, 2) each, its kind, and what else there is to say.

    >>> one = np.array([[1, 2], [3, 4]], dtype=np.uint64)
    >>> prints = [Digests("toy", (rows,)).fingerprint() for rows in (one, one[::-1], one[:1])]
    >>> prints[0] == prints[1] != prints[2], len(prints[0])
    (True, 64)
    """

    kind: str
    sides: tuple[Words, ...]
    facts: tuple[Any, ...] = ()

    def fingerprint(self) -> str:
        """SHA-256, in 64 digits, of all that, whatever the order within a side."""
        import hashlib  # which takes a tenth of the time of a first evaluation, and nobody may ask for this

        said = f"tieproof fingerprint 1, {self.kind}, {self.facts}, {[len(side) for side in self.sides]}"
        found = hashlib.sha256(said.encode())
        for side in self.sides:
            found.update(in_any_order(side))
        return found.hexdigest()

    def kept(self) -> "Digests | str":
        """These, to make the fingerprint when somebody asks for it; many are not kept, but made one at once."""
        return self if sum(map(len, self.sides)) <= MOST_KEPT else self.fingerprint()
