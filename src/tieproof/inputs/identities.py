"""Rows that are equal, and digests of rows that do not depend on their order."""

import re
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.errors import InputError
from tieproof.inputs.arrays import BLOCK_BYTES, Embeddings
from tieproof.inputs.documents import Documents
from tieproof.inputs.multi_vectors import MultiVectors
from tieproof.inputs.sparse_rows import SparseRows, Terms
from tieproof.native.calls import native
from tieproof.native.threads import for_each, stripes
from tieproof.ties import Array, BoolArray, FloatArray, IntArray

ROWS_AT_ONCE = 4096  # the number of sparse rows that a thread digests at a time
MOST_DIGITS = 53  # the binary digits of a float64, to which longer floats are converted


def stored_type(values: Any, array: Array) -> str:
    """Return the name of the original type of numbers; the type of `array`, made from them, may be larger."""
    name = str(getattr(values, "dtype", "")).removeprefix("torch.")
    return name if name.startswith(("bfloat", "float8")) else array.dtype.name


def exact_below(stored: str) -> int:
    """Return the number below which floats of a type represent every integer; this number may be a rounded one.

    >>> exact_below("float16"), exact_below("bfloat16"), exact_below("float8_e4m3fn")
    (2048, 256, 16)
    """
    if stored == "bfloat16":
        return 256
    named = re.search(r"_e\d+m(\d+)", stored)  # the names of 8-bit floats give the digits after the first one
    digits = int(named[1]) if named else int(np.finfo(np.dtype(stored)).nmant)
    return 1 << min(digits + 1, MOST_DIGITS)


def not_whole(array: Array, limit: int | Array) -> BoolArray:
    """Return which floats are not whole, or may have been rounded because their size is at least `limit`."""
    return np.asarray(~(np.isfinite(array) & (array == np.trunc(array)) & (np.abs(array) < limit)))


def as_int64(integers: Array, name: str) -> IntArray:
    """Convert integers of any type to int64, and refuse those of 2^63 or more."""
    if integers.dtype.kind == "u" and integers.max(initial=0) >= 2**63:
        raise InputError(
            f"The {name} contain {integers.max()}, but must be below 2^63. Pass positions in the data set."
        )
    return integers.astype(np.int64)


def as_item_numbers(ids: Array, name: str) -> IntArray:
    """Convert integers that an index returned to int64, with -1 for the largest unsigned number: nothing found.

    The largest number of 8 and 16 bits is treated as an item.

    >>> as_item_numbers(np.array([7, 2**32 - 1], dtype=np.uint32), "ids").tolist()
    [7, -1]
    """
    if ids.dtype.kind != "u" or ids.dtype.itemsize < 4:
        return ids.astype(np.int64)
    absent = ids == np.iinfo(ids.dtype).max
    items = as_int64(np.where(absent, 0, ids), name)
    items[absent] = -1
    return items


def is_column_of_classes(labels: Array) -> bool:
    """Whether labels have the shape (n, 1) and are all 0 or 1: one column of a single class."""
    return bool(labels.shape[1:] == (1,) and labels.dtype.kind in "biuf" and np.isin(labels, (0, 1)).all())


Words = npt.NDArray[np.uint64]

SALT = np.uint64(0x452821E638D01377)  # more digits of pi, so that the labels 5, "5" and b"5" have different words
MOST_KEPT = 2**16  # the most digests that a result keeps, which take a megabyte
DIGESTED = ("float64", "float32", "int64", "uint64", "int32", "int8")  # the types of numbers that the kernel reads


@native
def fill_keys(keys: Words) -> None:
    """Write the keys that rows are digested with, which are always the same."""


@native
def digest_rows(rows: Array, keys: Words, labels: Words, digests: Words) -> None:
    """Write two words for each row of numbers and its label; there is an even number of keys, more than numbers."""


@native
def digest_strings(letters: npt.NDArray[np.uint32], words: Words) -> None:
    """Write a word for each string; zeros at the end of a row are padding."""


@native
def digest_ids(documents: Documents, words: Words) -> None:
    """Write a word for the id of each document, independent of its query."""


@native
def digest_scores(query: IntArray, length: IntArray, score: FloatArray, sums: Words) -> None:
    """Add the scores of each of s consecutive lists, in any order within a list, to sums[query] (…, 2)."""


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
    """Add ties, given in any order by the letters of `Ties`, to sums[place[query]] (…, 2)."""


@native
def add_digests(place: IntArray, words: Words, sums: Words) -> None:
    """Add the digest of each row of words (n, w) to sums[place] (…, 2)."""


@lru_cache(maxsize=16)
def keys_of(width: int) -> Words:
    """Return keys for rows of so many numbers."""
    keys = np.empty(width + 2 - width % 2, dtype=np.uint64)
    fill_keys(keys)
    return keys


def words_of(labels: Array) -> Words:
    """Return a word for each label (n,), or for each row of columns (n, c)."""
    if labels.ndim == 2:
        return np.ascontiguousarray(rows_digests(labels, np.zeros(len(labels), dtype=np.uint64))[:, 0])
    if labels.dtype.kind not in "US":
        whole = np.ascontiguousarray(labels, dtype=np.uint64 if labels.dtype.kind == "u" else np.int64)
        return whole.view(np.uint64)
    own = np.ascontiguousarray(labels.astype(labels.dtype.newbyteorder("="), copy=False))
    size, salt = (4, SALT) if own.dtype.kind == "U" else (1, ~SALT)
    letters = np.zeros((len(own), 1), dtype=np.uint32)
    if own.dtype.itemsize:
        letters = own.view(f"u{size}").reshape(len(own), own.dtype.itemsize // size).astype(np.uint32, copy=False)
    words = np.empty(len(labels), dtype=np.uint64)
    digest_strings(letters, words)
    return words ^ salt


@native
def digest_terms(rows: Terms, first: int, stop: int, sums: Words) -> None:
    """Write the sums of the digests of the entries, each a term and a number, of the rows first … stop-1, (n, 2)."""


def rows_digests(rows: Embeddings, labels: Words, threads: int = 1) -> Words:
    """Return the digests (n, 2) of rows and their labels' words; those of vectors or entries of a row are added."""
    if isinstance(rows, SparseRows):
        entries, sums = rows.entries, np.empty((len(rows), 2), dtype=np.uint64)
        some = stripes(0, len(rows), ROWS_AT_ONCE)
        for_each(lambda part: digest_terms(entries, part.start, part.stop, sums), some, threads)
        rows = sums
    elif isinstance(rows, MultiVectors):
        sums = np.zeros((len(rows), 2), dtype=np.uint64)
        none = np.zeros(len(rows.vectors), dtype=np.uint64)
        add_digests(np.repeat(np.arange(len(rows)), rows.lengths), rows_digests(rows.vectors, none, threads), sums)
        rows = sums
    count, width = rows.shape
    keys, digests = keys_of(width), np.empty((count, 2), dtype=np.uint64)
    size = max(1, BLOCK_BYTES // (4 * max(1, width)))

    def digest(start: int) -> None:
        span = slice(start, start + size)
        digest_rows(_as_digested(rows[span]), keys, labels[span], digests[span])

    for_each(digest, range(0, count, size), threads)
    return digests


def _as_digested(rows: Embeddings) -> Embeddings:
    """Convert rows exactly to a type that the kernel reads, with the numbers of a row adjacent in memory."""
    kind, size = rows.dtype.kind, rows.dtype.itemsize
    if rows.dtype.name not in DIGESTED:
        rows = rows.astype(np.float32 if kind == "f" else np.int32 if size < 4 else np.int64)
    usual = rows.strides[1] == rows.itemsize and rows.strides[0] % rows.itemsize == 0
    return rows if usual and rows.strides[0] > 0 else np.ascontiguousarray(rows)


class Digests(NamedTuple):
    """The digests (n, 2) of each side of a data set, with its kind and further facts."""

    kind: str
    sides: tuple[Words, ...]
    facts: tuple[Any, ...] = ()

    def hashed(self) -> "Hashed":
        """Return the SHA-256 of the kind, the facts and all digests, whatever their order within a side."""
        import hashlib  # imported here, since the import takes a tenth of a first evaluation and is rarely needed

        said = f"tieproof fingerprint 1, {self.kind}, {self.facts}, {[len(side) for side in self.sides]}"
        fingerprint, key = (hashlib.sha256(f"{purpose}{said}".encode()) for purpose in ("", "key of a record, "))
        for side in self.sides:
            ascending = side[np.lexsort((side[:, 1], side[:, 0]))].astype("<u8", copy=False)
            fingerprint.update(ascending.data)
            key.update(ascending.data)
        return Hashed(fingerprint.hexdigest(), key.digest())

    def kept(self) -> "Digests | Hashed":
        """Return the digests, which are hashed when needed; if there are many, the hashes."""
        return self if sum(map(len, self.sides)) <= MOST_KEPT else self.hashed()


class Hashed(NamedTuple):
    """What is computed of all digests of a data set."""

    fingerprint: str  # 64 digits, which may be published
    key: bytes = b""  # of the queries' digests in a record; empty if the data is not at hand

    def hashed(self) -> "Hashed":
        """Return the hashes, which `Digests.hashed` has computed."""
        return self


def keyed(rows: Words, key: bytes, *labels: Array) -> Words:
    """Return a word for each row of digests (n, 2); without the key, the words say nothing about the rows.

    Equal rows are numbered in the order of their labels, so that they have different words.
    """
    import hashlib

    order = np.lexsort((*labels, rows[:, 1], rows[:, 0]))
    ordered = rows[order]
    is_first = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))[: len(rows)]
    places = np.arange(len(rows))
    number = places - np.maximum.accumulate(places * is_first)
    told = np.column_stack([ordered, number]).astype("<u8").tobytes()
    hashed = [hashlib.blake2b(told[at : at + 24], digest_size=8, key=key).digest() for at in range(0, len(told), 24)]
    words = np.empty(len(rows), dtype=np.uint64)
    words[order] = np.frombuffer(b"".join(hashed), dtype="<u8")
    return words
