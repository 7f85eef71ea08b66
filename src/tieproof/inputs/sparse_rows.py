"""`SparseRows`: rows of which only the entries that are not zero are kept, as learned sparse models return them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tieproof.inputs.relevance import ranges
from tieproof.native.calls import Output, native
from tieproof.ties import Array, BoolArray, IntArray, SmallIntArray

AT_ONCE = 2**16  # about how many entries are looked at or sorted at a time, which fit into a cache


class Terms(NamedTuple):
    """Sparse rows, as kernels read them: row r has the entries starts[r] … starts[r + 1]-1, with ascending terms."""

    starts: IntArray
    term: SmallIntArray
    value: Array

    @property
    def nbytes(self) -> int:
        """The bytes of all entries."""
        return self.term.nbytes + self.value.nbytes


class Meeting(NamedTuple):
    """Working memory to find the terms that two rows have in common."""

    slots: SmallIntArray  # a table for the places of one row's entries, empty at first
    x: SmallIntArray  # x, y: for the places of common terms in both rows
    y: SmallIntArray


class SparseRows:
    """Rows in the compressed form (CSR): ascending terms without repetition, and no zeros.

    starts : (n + 1,) where the entries of each row begin
    terms, values : (entries,) the dimension and the number of each entry; numbers are float32 or float64
    shape : the numbers of rows and of dimensions
    longest : at least the number of entries of each row, and 1
    vocabulary : the terms of dictionaries in ascending order, of which each dimension is one; None: of other rows,
        and of rows that `alignments` gave the dimensions of both sides
    """

    def __init__(
        self,
        starts: IntArray,
        terms: SmallIntArray,
        values: Array,
        width: int,
        longest: int | None = None,
        vocabulary: list[Any] | None = None,
    ) -> None:
        self.starts, self.terms, self.values, self.vocabulary = starts, terms, values, vocabulary
        self.shape = len(starts) - 1, width
        self.longest = longest or max(1, int(np.diff(starts).max(initial=0)))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers."""
        return self.values.dtype

    @property
    def size(self) -> int:
        """The number of entries."""
        return self.values.size

    @property
    def nbytes(self) -> int:
        """The bytes of all entries."""
        return self.entries.nbytes

    @property
    def usual(self) -> int:
        """How many entries a row has on average, rounded up, and at least one."""
        return max(1, -(-self.size // max(1, len(self))))

    @property
    def entries(self) -> Terms:
        """The entries of all rows."""
        return Terms(self.starts, self.terms, self.values)

    def __len__(self) -> int:
        """The number of rows."""
        return self.shape[0]

    def __getitem__(self, rows: "slice | IntArray") -> "SparseRows":
        """Some rows."""
        chosen = np.arange(len(self))[rows]
        length, entries = self.entries_of(chosen)
        starts, parts = np.append(0, np.cumsum(length)), (self.terms[entries], self.values[entries])
        return SparseRows(starts, *parts, self.shape[1], self.longest, self.vocabulary)

    def any(self, axis: int) -> BoolArray:
        """Whether each row has an entry, as a method of arrays tells by the axis 1."""
        return np.asarray(np.diff(self.starts) > 0)

    def entries_of(self, rows: IntArray) -> tuple[IntArray, slice | IntArray]:
        """Return the numbers of entries of some rows, and which entries these are."""
        start, stop = self.starts[rows], self.starts[rows + 1]
        if len(rows) and (start[1:] == stop[:-1]).all():
            return stop - start, slice(int(start[0]), int(stop[-1]))
        return stop - start, ranges(start, stop - start)[1]

    def first_values(self) -> Array:
        """The value of the first entry of each row, (n, 1); 0 for a row without entries."""
        out = np.zeros((len(self), 1), dtype=self.dtype)
        some = np.diff(self.starts) > 0
        out[some, 0] = self.values[self.starts[:-1][some]]
        return out

    def packed(self, rows: "slice | IntArray") -> tuple[Array, Array]:
        """The values and the terms of some rows, each row filled up with zeros; for what depends on no dimension."""
        length, entries = self.entries_of(np.arange(len(self))[rows])
        held = np.arange(max(1, int(length.max(initial=0)))) < length[:, None]
        values, terms = np.zeros(held.shape, dtype=self.dtype), np.zeros(held.shape, dtype=np.uint64)
        values[held], terms[held] = self.values[entries], self.terms[entries]
        return values, terms

    def meeting(self, others: "SparseRows") -> Meeting:
        """Working memory for pairs of one of these rows and one of others."""
        most = max(2 * self.longest, min(8 * self.longest, AT_ONCE))  # few slots are taken, if they fit into a cache
        slots = np.full(1 << most.bit_length(), -1, dtype=np.int32)
        return Meeting(slots, *np.empty((2, others.longest), dtype=np.int32))

    def aligned(self, rows: IntArray, others: "SparseRows", columns: IntArray) -> tuple[Array, Array]:
        """Pairs of one of these rows and one of others, as arrays in which entries of one term have one place."""
        length = self.starts[rows + 1] - self.starts[rows] + others.starts[columns + 1] - others.starts[columns]
        x, y = np.zeros((2, len(rows), int(length.max(initial=1))), dtype=self.dtype)
        align_terms(self.entries, others.entries, rows, columns, x, y)
        return x, y

    def transposed(self) -> "SparseRows":
        """The columns as rows."""
        order = np.argsort(self.terms, kind="stable")
        row = np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.starts))
        starts = np.append(0, np.cumsum(np.bincount(self.terms, minlength=self.shape[1])))
        return SparseRows(starts, row[order], self.values[order], len(self))

    def followed_by(self, others: "Sequence[SparseRows]") -> "SparseRows":
        """Return a copy of these rows and others of the same dimensions, one after the other."""
        parts = [self, *others]
        starts = np.append(0, np.cumsum(np.concatenate([np.diff(part.starts) for part in parts])))
        terms, values = (np.concatenate([getattr(part, name) for part in parts]) for name in ("terms", "values"))
        longest = max(part.longest for part in parts)
        return SparseRows(starts, terms, values, self.shape[1], longest, self.vocabulary)

    def same_as(self, other: "SparseRows") -> bool:
        """Whether both have the same rows in the same order."""
        return all(
            np.array_equal(getattr(self, each), getattr(other, each)) for each in ("starts", "terms", "values")
        )

    def differ(self, others: "SparseRows") -> BoolArray:
        """Whether each row differs from the other one in its place."""
        differ = np.asarray(np.diff(self.starts) != np.diff(others.starts))
        same = np.flatnonzero(~differ)
        (length, one), (_, other) = self.entries_of(same), others.entries_of(same)
        row = np.repeat(same, length)
        wrong = (self.terms[one] != others.terms[other]) | (self.values[one] != others.values[other])
        differ[row[wrong]] = True
        return differ

    def __repr__(self) -> str:
        """The numbers of rows, dimensions and entries."""
        return f"SparseRows({len(self):,} of {self.shape[1]:,} dimensions, {self.size:,} entries)"


@native
def align_terms(x: Terms, y: Terms, rows: IntArray, items: IntArray, a: Output[Array], b: Output[Array]) -> None:
    """Write the values of x[rows[p]] and y[items[p]] to a[p] and b[p], which are 0 before: each term to one place."""
