"""The weights of ranks: harmonic numbers, logarithmic discounts, and powers of a persistence.

A measure that is a sum over ranks of weight × gain needs two numbers for a run of ranks: the sum of the weights, and
the sum of their squared distances to their mean. Both are computed from tables of running sums (`numbers.Pair`) that
grow on demand; an entry has the same bits however large the table is.

Between evaluations a process keeps at most `KEPT` entries of each table, 4 MiB: in total 84 MiB for the five tables
of harmonic numbers and logarithms, and the tables of the last eight persistences. During an evaluation the tables are
as long as the longest ranking.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, TypeAlias
from weakref import WeakSet

import numpy as np

from tieproof.measures.numbers import Pair, atanh, blockwise, groups_of, running_sums, total
from tieproof.ties import FloatArray, IntArray

KEPT = 1 << 18  # the number of entries of a table that are kept between evaluations
LONG = 32  # sums of precisions over more ranks may have variances in closed form, which needs sums of 1/r²
SUMMED = 64  # the spread of the weights of runs up to this length is summed by terms; longer ones use tables

_lock = threading.RLock()
_users = 0
_tables: "WeakSet[RunningSums]" = WeakSet()


@contextmanager
def growing_tables() -> Iterator[None]:
    """Let tables grow within the block; when no block is active any more, they are shortened."""
    global _users
    with _lock:
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users:
                for table in _tables:
                    table.shorten()


@dataclass(eq=False)
class RunningSums:
    """The table of term(1) + … + term(i), i = 0, 1, …, which grows on demand."""

    term: Callable[[IntArray], Pair]
    _table: FloatArray = field(default_factory=lambda: np.zeros((2, 1)))

    def __post_init__(self) -> None:
        """Register the table, so that it is shortened after an evaluation."""
        with _lock:
            _tables.add(self)

    def up_to(self, last: int) -> FloatArray:
        """Return the table of the entries 0 to at least `last`, as hi and lo, shape (2, entries)."""
        table = self._table
        if table.shape[1] > last:
            return table
        with growing_tables(), _lock:  # one thread computes the table while others wait
            if self._table.shape[1] <= last:
                size = 1 << max(8, int(last).bit_length())
                table = np.zeros((2, size))
                table[:, 1:] = running_sums(self.term, size - 1)
                self._table = table  # one assignment: another thread sees the old table or the new one
            return self._table

    def shorten(self) -> None:
        """Drop all entries beyond those that are kept."""
        if self._table.shape[1] > KEPT:
            self._table = self._table[:, :KEPT].copy()

    def at(self, index: IntArray) -> Pair:
        """Return the sums of the first `index` terms."""
        return Pair(*self.up_to(int(index.max(initial=0))))[index]

    def between(self, start: IntArray, stop: IntArray) -> Pair:
        """Return term(start + 1) + … + term(stop)."""
        return self.at(stop) - self.at(start)


def _log2_step(i: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return log2((i + 1) / i) = atanh(1 / (2i + 1)) / atanh(1 / 3), the terms of log2(i + 1)."""
    z = 1.0 / Pair.of(2 * i + 1)
    near = np.flatnonzero(i < 256)  # for larger i, six terms leave an error of less than 2^-108 of the value
    result = atanh(z, terms=6)
    exact = atanh(z[near], terms=34)
    result.hi[near], result.lo[near] = exact.hi, exact.lo
    step = result / atanh(Pair.of(1.0) / 3.0, terms=34)
    return step.hi, step.lo


_LOG2_OF_NEXT = RunningSums(lambda i: Pair(*blockwise(_log2_step, i)))


def _square(pair: Pair) -> Pair:
    return pair * pair


class WeightTables(NamedTuple):
    """The tables of the weights of ranks; `Weights` make them, and kernels read them."""

    # sums, squares: (2, ranks + 1) running sums of the weights and of their squares, hi and lo; without sums
    # every rank weighs 1, and squares are read for runs longer than LONG alone.
    sums: FloatArray | None
    squares: FloatArray | None
    persistence: float  # p > 0 where a run that begins after `start` ranks weighs p^start times the first weights


class Uniform:
    """The weight 1 for every rank; as all weights, it has tables for kernels, and sums of the first weights."""

    def tables(self, ranks: int, longest: int) -> WeightTables:
        """Return the tables for runs down to this rank, none longer than `longest`: none are needed here."""
        return WeightTables(None, None, 0.0)

    def first(self, count: IntArray) -> FloatArray:
        """Return the sums of the first `count` weights: the numbers themselves."""
        return count.astype(np.float64)


@dataclass(frozen=True)
class Tabled:
    """Weights that do not increase, given by the running sums of the weights and of their squares."""

    sums: RunningSums
    squares: RunningSums

    def tables(self, ranks: int, longest: int) -> WeightTables:
        """Return the tables; the table of squares is only needed for long runs."""
        return WeightTables(self.sums.up_to(ranks), self.squares.up_to(ranks if longest > LONG else 0), 0.0)

    def first(self, count: IntArray) -> FloatArray:
        """Return entries of the table."""
        return np.asarray(self.sums.up_to(int(count.max(initial=0)))[0, count])

    def sum(self, start: IntArray, stop: IntArray) -> Pair:
        """Return the sum over each run, as a difference of two entries."""
        return self.sums.between(start, stop)

    def spread(self, start: IntArray, stop: IntArray) -> FloatArray:
        """Return the spread over each run."""
        # sum w² - (sum w)² / length cancels by about (start / length)², and the table's last digits count for start /
        # length more: long runs can afford that in pairs, short ones are summed around their mean.
        length = stop - start
        result = np.zeros(len(start))
        long = np.flatnonzero(length > SUMMED)
        if long.size:
            (result[long],) = blockwise(self._long_spread, start[long], stop[long])
        short = np.flatnonzero((length > 1) & (length <= SUMMED))
        for size, group in groups_of(length[short]):
            rows = short[group]
            ranks = start[rows] + np.arange(1, size + 1)[:, None]
            fall = (self.sums.between(ranks - 1, ranks) - self.sum(start[rows], start[rows] + 1)).hi
            distance = fall - total(fall) / size
            result[rows] = total(distance * distance)
        return result

    def _long_spread(self, start: IntArray, stop: IntArray) -> tuple[FloatArray]:
        squared_sum = _square(self.sums.between(start, stop))
        return ((self.squares.between(start, stop) - squared_sum / (stop - start)).hi,)


# The weight 1/r of rank r.
HARMONIC = Tabled(RunningSums(lambda i: 1.0 / Pair.of(i)), RunningSums(lambda i: _square(1.0 / Pair.of(i))))
LOGARITHMIC = Tabled(
    RunningSums(lambda i: 1.0 / _LOG2_OF_NEXT.at(i)), RunningSums(lambda i: _square(1.0 / _LOG2_OF_NEXT.at(i)))
)
"""Weights 1/log2(r + 1), the discounts of nDCG."""

UNIFORM = Uniform()  # the weight 1 of every rank


@dataclass(frozen=True)
class Geometric:
    """Weights (1 - p) p^(r-1), the chance that a reader who goes on with probability p stops at rank r.

    A run of them is p^start times the first weights: no difference of running sums, which far down would hold
    nothing but rounding.
    """

    p: float

    def tables(self, ranks: int, longest: int) -> WeightTables:
        """Return the tables of the first weights, as many as the longest run has."""
        tables = _geometric_tables(self.p).tables(min(ranks, longest), longest)
        return tables._replace(persistence=self.p)

    def first(self, count: IntArray) -> FloatArray:
        """Return 1 - p^count."""
        return _geometric_tables(self.p).first(count)

    def sum(self, start: IntArray, stop: IntArray) -> Pair:
        """Return the sum over each run."""
        return self.power(start) * _geometric_tables(self.p).sums.at(stop - start)

    def spread(self, start: IntArray, stop: IntArray) -> FloatArray:
        """Return the spread over each run."""
        power = self.power(start).hi
        return power * (power * _geometric_tables(self.p).spread(np.zeros_like(start), stop - start))

    def power(self, exponent: IntArray) -> Pair:
        """Return p^exponent, by repeated squaring."""
        result = Pair.of(np.ones(len(exponent)))
        power = Pair.of(self.p)
        for bit in range(int(exponent.max(initial=0)).bit_length()):
            chosen = (exponent >> bit) & 1 == 1
            product = result * power
            result = Pair(np.where(chosen, product.hi, result.hi), np.where(chosen, product.lo, result.lo))
            power = power * power
        return result


Weights: TypeAlias = Uniform | Tabled | Geometric


@lru_cache(maxsize=8)
def _geometric_tables(p: float) -> Tabled:
    weights = Geometric(p)

    def term(i: IntArray) -> Pair:
        return weights.power(i - 1) * (1.0 - Pair.of(p))

    return Tabled(RunningSums(term), RunningSums(lambda i: _square(term(i))))


def spread_in_tie(weights: Tabled | Geometric, k: IntArray, l: IntArray, end: IntArray) -> FloatArray:
    """Return the sum of squared distances of a tie's l weights to their mean; beyond rank `end` they are 0."""
    s = end - k
    share = weights.sum(k, end).hi
    missing: FloatArray = (l - s) / (s * l.astype(np.float64))
    return weights.spread(k, end) + share * share * missing
