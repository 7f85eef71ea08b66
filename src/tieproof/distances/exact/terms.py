"""Products of sparse rows, in tiles and of pairs.

A product of two rows has at most as many summands that are not zero as a row has entries. This number takes the place
of the dimensions in all error bounds.
"""

from typing import Any, NamedTuple

import numpy as np

from tieproof.distances.exact import bounds
from tieproof.distances.exact.rows import Rows
from tieproof.inputs.sparse_rows import Meeting, Terms
from tieproof.native.calls import Output, native
from tieproof.native.threads import cut
from tieproof.ties import Array, FloatArray, IntArray, SmallIntArray

IN_CACHE = 2**16  # about the number of entries that are divided at a time
ITEMS_AT_ONCE = 16  # the number of items whose products a kernel computes before it writes them


class Postings(NamedTuple):
    """The entries of some rows, term by term: those of term t are at[t] … at[t + 1]-1."""

    at: IntArray
    row: SmallIntArray
    value: Array


@native
def invert_terms(rows: Terms, postings: Output[Postings]) -> None:
    """Write the postings of some rows; `at` has zeros before."""


@native
def products_of_terms(
    rows: Postings, items: Terms, number: SmallIntArray, dense: Output[Array], sums: Output[Array], out: Output[Array]
) -> None:
    """Write the product of each row with each item to out[row, item]; -0.0 if they share no term.

    number : for each term that many rows have, its place in `dense`; -1 for other terms
    dense : (such terms, rows) of -0.0, for the entries of these terms
    sums : working memory
    """


@native
def products_of_term_pairs(
    x: Terms,
    y: Terms,
    rows: IntArray,
    items: IntArray,
    of_rows: FloatArray,  # the divisors of the rows and of the items of pairs
    of_items: FloatArray,
    at: Output[Meeting],
    out: Output[FloatArray],
) -> None:
    """out[p] = the product of x[rows[p]] and y[items[p]], divided, in float64; -0.0 if they share no term."""


@native
def divide_terms(
    given: Terms,
    chosen: IntArray,
    divisor: FloatArray,
    norm: FloatArray,
    term: Output[SmallIntArray],
    value: Output[FloatArray],
) -> None:
    """Write the terms and the numbers of the chosen rows, each divided by its divisor and then by its norm."""


FREQUENT = 16  # a term that more than one in so many rows have is added for all rows, which reads no list of rows
MOST_COUNTED = 2**20  # the most dimensions that are counted one by one for each tile; of more, only those that occur


def terms_of(rows: Rows, some: IntArray, dtype: Any, norm: FloatArray | None = None) -> Terms:
    """The divided entries of some distinct rows; `norm` divides them, too."""
    given, own = rows.embeddings, rows.first[some]
    starts = np.append(0, np.cumsum(given.starts[own + 1] - given.starts[own]))
    term, value = np.empty(starts[-1], dtype=np.int32), np.empty(starts[-1], dtype=dtype)
    divisor, lengths = rows.divisor[some], np.ones(len(some)) if norm is None else norm[some]
    for part in cut(np.diff(starts), IN_CACHE):
        span = slice(starts[part.start], starts[part.stop])
        quotients = np.empty(span.stop - span.start)
        divide_terms(given.entries, own[part], divisor[part], lengths[part], term[span], quotients)
        value[span] = quotients
    return Terms(starts, term, value)


def inverted(x: Terms, y: Terms, width: int) -> tuple[Postings, Terms]:
    """The postings of rows x, and rows y, both of so many dimensions, or of few if many cannot be counted."""
    if width > MOST_COUNTED:
        used, own = np.unique(x.term, return_inverse=True)
        place = np.searchsorted(used, y.term)
        place[place == len(used)] = 0
        place = np.where(used[place] == y.term, place, len(used)) if len(used) else np.zeros_like(place)
        x, y, width = x._replace(term=own.astype(np.int32)), y._replace(term=place.astype(np.int32)), len(used) + 1
    postings = Postings(np.zeros(width + 1, np.int64), np.empty_like(x.term), np.empty_like(x.value))
    invert_terms(x, postings)
    return postings, y


def products(x: Terms, y: Terms, width: int) -> Array:
    """The products of all rows x with all rows y, of so many dimensions, added in the type of the values."""
    postings, y = inverted(x, y, width)
    kind, height = x.value.dtype, len(x.starts) - 1
    having = np.diff(postings.at)
    frequent = np.flatnonzero(FREQUENT * having > height)
    number = np.full(len(having), -1, dtype=np.int32)
    number[frequent] = np.arange(len(frequent))
    dense, out = np.full((len(frequent), height), -0.0, kind), np.empty((height, len(y.starts) - 1), kind)
    products_of_terms(postings, y, number, dense, np.empty((ITEMS_AT_ONCE, height), kind), out)
    return out


def inner_products(queries: Rows, items: Rows, rows: IntArray, columns: IntArray) -> FloatArray:
    """The products of pairs of divided rows, sparse or dense, in float64."""
    if not items.sparse:
        return bounds.inner_products(queries, items, rows, columns)
    out, x, y = np.empty(len(rows)), queries.embeddings, items.embeddings
    divisors = queries.divisor[rows], items.divisor[columns]
    places = queries.first[rows], items.first[columns]
    products_of_term_pairs(x.entries, y.entries, *places, *divisors, x.meeting(y), out)
    return out


class PreparedTerms:
    """Sparse rows prepared for tiles, as `Prepared` has dense ones: divided, and rounded to the tile's type."""

    def __init__(self, rows: Rows, dtype: np.dtype[Any], normalize: bool, keep_bytes: int) -> None:
        self.rows, self.dtype = rows, dtype
        self.norm = np.where(rows.norm > 0, rows.norm, 1.0) if normalize else None
        self.keeps = rows.embeddings.size * (dtype.itemsize + 4) <= keep_bytes
        self.kept: Terms | None = None

    def keep(self) -> None:
        """Prepare all rows, once."""
        if self.kept is None and self.keeps:
            self.kept = terms_of(self.rows, np.arange(len(self.rows)), self.dtype, self.norm)

    def __getitem__(self, some: slice | IntArray) -> Terms:
        """The rows of `some`."""
        if self.kept is None or not isinstance(some, slice):
            return terms_of(self.rows, np.arange(len(self.rows))[some], self.dtype, self.norm)
        start, stop, _ = some.indices(len(self.rows))
        starts = self.kept.starts[start : stop + 1]
        entries = slice(int(starts[0]), int(starts[-1]))
        return Terms(starts - starts[0], self.kept.term[entries], self.kept.value[entries])
