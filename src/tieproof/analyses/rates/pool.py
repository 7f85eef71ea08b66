"""`Pool`: all pairs of queries and items, in stripes of distinct query rows, which are computed and never stored."""

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from tieproof.distances.gauge import LARGEST_STRIPE, Gauge
from tieproof.engine.problem import Budget
from tieproof.inputs.judgments import Judgments
from tieproof.inputs.relevance import Relevance, pointers
from tieproof.native.threads import cut, in_order, stripes
from tieproof.ties import FloatArray, IntArray

BYTES_PER_ENTRY = 96  # the largest memory for an entry of a stripe: its value, and the data that a table is made from
BYTES_PER_PAIR = 128  # the memory for a relevant or excluded pair while it is listed

Counted = TypeVar("Counted")

ListedPairs = tuple[IntArray, IntArray]  # the row within a stripe, and the distinct item row
Stripe = slice
Table = Counter[Any]  # exact keys, each with its number of pairs


class Pool:
    """The (query, item) pairs of an evaluation, in blocks of values.

    n_relevant, n_others : the numbers of pairs that are relevant, and that are neither relevant nor excluded
    mirrored : whether (q, i) and (i, q) have the same distance and the same relevance, so that only one of them is
        computed and counts twice
    """

    def __init__(self, gauge: Gauge, relevance: Relevance, budget: Budget) -> None:
        self.gauge, self.relevance = gauge, relevance
        self.threads = 1 if gauge.stripe_rows else budget.threads  # a function need not be safe in threads
        self.height, self.width = (len(weight) for weight in gauge.weight)
        self.mirrored = gauge.symmetric and not isinstance(relevance, Judgments) and relevance.excluded.pairs is None
        identity = gauge.identity[0]
        self.members = np.argsort(identity, kind="stable")
        self.first_member = pointers(identity[self.members], self.height)
        self.listed_at_most = relevance.at_most()
        self.memory = budget.memory
        share = budget.memory // 4 // self.threads
        self.pairs_at_a_time = max(1, share // BYTES_PER_PAIR)
        rows = min(LARGEST_STRIPE, max(1, share // BYTES_PER_ENTRY // self.width), -(-self.height // self.threads))
        self.rows = gauge.stripe_rows or rows
        self.n_relevant, self.n_others = self._totals()

    def stripes(self) -> Iterator[Stripe]:
        """Yield stripes of all distinct query rows."""
        return stripes(0, self.height, self.rows)

    @property
    def entries(self) -> int:
        """The approximate number of pairs of distinct rows in a pass."""
        return self.height * self.width // (2 if self.mirrored else 1)

    def _totals(self) -> tuple[int, int]:
        n_relevant = n_excluded = 0
        for stripe in self.stripes():
            for relevant, excluded in self.listed(stripe):
                n_relevant += len(relevant[0])
                n_excluded += len(excluded[0])
        return n_relevant, self.relevance.n_queries * self.relevance.n_items - n_relevant - n_excluded

    def each(self, work: Callable[[Stripe], Counted]) -> Generator[Counted, None, None]:
        """Yield the result of `work` for every stripe, computed in threads; an interruption starts no new one."""
        return in_order(work, self.stripes(), self.threads)

    def columns(self, stripe: Stripe) -> slice:
        """The item rows that are computed for a stripe."""
        return slice(stripe.start if self.mirrored else 0, self.width)

    def weights(self, stripe: Stripe) -> tuple[IntArray, IntArray]:
        """The weights of the stripe's rows and columns; their product is how often a pair counts."""
        columns = np.arange(self.columns(stripe).start, self.width)
        return self.gauge.weight[0][stripe], self.gauge.weight[1][columns] * self._multiplicity(stripe, columns)

    def _multiplicity(self, stripe: Stripe, columns: IntArray) -> IntArray:
        return np.where(self.mirrored & (columns >= stripe.stop), 2, 1)

    def listed(self, stripe: Stripe) -> Iterator[tuple[ListedPairs, ListedPairs]]:
        """Yield the relevant and the excluded pairs of a stripe, in batches of queries."""
        queries = self.members[self.first_member[stripe.start] : self.first_member[stripe.stop]]
        for part in cut(self.listed_at_most[queries], self.pairs_at_a_time):
            some = queries[part]
            block = self.relevance.block(some)
            rows = self.gauge.identity[0][some] - stripe.start
            yield (
                (np.repeat(rows, np.diff(block.pointer)), self.gauge.identity[1][block.items]),
                (np.repeat(rows, np.diff(block.excluded_pointer)), self.gauge.identity[1][block.excluded]),
            )

    def not_others(
        self, stripe: Stripe, relevant_only: bool = False
    ) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
        """Yield the listed pairs within the stripe's columns: rows, columns from its first one, and weights."""
        first = self.columns(stripe).start
        for pairs in self.listed(stripe):
            rows, columns = map(np.concatenate, zip(*pairs[: 1 if relevant_only else 2], strict=True))
            here = columns >= first
            yield rows[here], columns[here] - first, self._multiplicity(stripe, columns[here])

    def relevant_values(self, stripe: Stripe) -> Iterator[tuple[IntArray, IntArray, IntArray, FloatArray]]:
        """Yield rows, columns, weights and values of relevant pairs; only columns between them are computed."""
        for rows, columns, weights in self.not_others(stripe, relevant_only=True):
            if len(rows):
                first, stop = int(columns.min()), int(columns.max()) + 1
                begin = self.columns(stripe).start
                block = self.gauge.wide_values(stripe, slice(begin + first, begin + stop))
                yield rows, columns + begin, weights, block[rows, columns - first]

    def relevant_inside(self, windows: Sequence[tuple[float, float]]) -> list[tuple[int, Table]]:
        """For each window, the number of relevant pairs below it, and a table of the exact keys of those inside."""

        def count(stripe: Stripe) -> tuple[list[int], list[Table]]:
            below, tables = [0] * len(windows), [Table() for _ in windows]
            for rows, columns, weights, values in self.relevant_values(stripe):
                for at, (low, high) in enumerate(windows):
                    below[at] += int(weights[values < low].sum())
                    here = np.flatnonzero((low <= values) & (values <= high))
                    pairs = rows[here] * self.width + columns[here]
                    _, place, pair = np.unique(pairs, return_index=True, return_inverse=True)
                    total = np.bincount(pair, weights[here], len(place)).astype(np.int64)
                    here = here[place]
                    tables[at].update(self.table(values[here], rows[here] + stripe.start, columns[here], total))
            return below, tables

        total = [0] * len(windows), [Table() for _ in windows]
        for below, tables in self.each(count):
            for at, (nearer, table) in enumerate(zip(below, tables, strict=True)):
                total[0][at] += nearer
                total[1][at].update(table)
        return list(zip(*total, strict=True))

    def table(self, values: FloatArray, rows: IntArray, columns: IntArray, weights: IntArray) -> Table:
        """Count pairs by their exact keys, of which those with equal values without an error need only one."""
        table: Table = Counter()
        known = np.full(len(values), self.gauge.certain) | ((values == 0) & (self.gauge.absolute == 0))
        if known.any():
            distinct, place, inverse = np.unique(values[known], return_index=True, return_inverse=True)
            total = np.zeros(len(distinct), dtype=np.int64)
            np.add.at(total, inverse, weights[known])
            self._add(table, distinct, rows[known][place], columns[known][place], total)
        if not known.all():
            self._add(table, values[~known], rows[~known], columns[~known], weights[~known])
        return table

    def _add(self, table: Table, values: FloatArray, rows: IntArray, columns: IntArray, weights: IntArray) -> None:
        for some, keys in self.gauge.exact_by_part(values, rows, columns):
            for key, weight in zip(keys, weights[some].tolist(), strict=True):
                table[key] += weight
