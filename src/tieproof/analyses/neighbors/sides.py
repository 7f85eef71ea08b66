"""`Sides`: the queries and the gallery of a search, their digests, and how many items are equal to earlier ones."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from tieproof.engine.problem import Budget, Search, Sharded
from tieproof.errors import about, calling
from tieproof.evaluation import problems
from tieproof.evaluation.cluster.evaluation import Runner, survey_rows
from tieproof.evaluation.cluster.layout import Span
from tieproof.evaluation.cluster.tasks import Local, Survey, rows_in
from tieproof.evaluation.evaluated import hash_of
from tieproof.inputs.arrays import BLOCK_BYTES, as_finite_embeddings, is_source
from tieproof.inputs.identities import Words
from tieproof.inputs.judgments import excluded_pairs
from tieproof.inputs.multi_vectors import different
from tieproof.inputs.relevance import NOTHING, Excluded, Unjudged
from tieproof.inputs.shards.source import ArraySource, RankedRows, RowSource
from tieproof.inputs.sparse_forms import alignments, as_sparse, is_sparse
from tieproof.inputs.sparse_rows import SparseRows

ORDER = "The queries come first, and then the gallery."  # what to say if both sides are probably swapped


class Sides(NamedTuple):
    """Both sides of a search as they were passed, which digests and files contain."""

    queries: RowSource
    gallery: RowSource

    @classmethod
    def of(cls, queries: Any, gallery: Any) -> "Sides":
        """Check both sides, which are arrays of finite numbers, sparse rows or shards."""
        given = [_as_source(gallery, "gallery"), _as_source(queries, "queries")][::-1]
        with calling({"embeddings": "queries"}):
            align = alignments([side.array if type(side) is ArraySource else side for side in given])
        if align:
            given = [_aligned(side, convert) for side, convert in zip(given, align, strict=True)]
        return cls(*given)

    def search(
        self, distance: Any, bits: int | None, budget: Budget, excluded: Excluded = NOTHING
    ) -> Sharded[Search]:
        """The search of all queries among all items but the excluded ones."""
        with calling({"embeddings": "queries"}):
            rows, items = (problems.ArgumentSide(side.array if type(side) is ArraySource else side) for side in self)
            among = partial(Unjudged.of, excluded=excluded)
            search = problems.make_search(rows, items, distance, budget, bits=bits, among=among, kinds=(SparseRows,))
            problems.warn_of_copies(search)
            return problems.as_sharded(search)

    def excluded(self, exclude: Any) -> Excluded:
        """The pairs that are left out, checked."""
        return Excluded(None, excluded_pairs(exclude, self.queries.shape[0], self.gallery.shape[0]))

    def check_self_matches(self, search: Sharded[Search], digests: tuple[Words, Words]) -> None:
        """Warn if a gallery in files probably contains the queries; of arrays, this was checked already."""
        if not all(type(side) is ArraySource for side in self):
            problems.check_self_matches(search.whole, digests)

    def digests(self, runner: Runner, threads: int) -> tuple[Words, Words]:
        """The digests (n, 2) of the rows of the queries, and of those of the gallery."""
        return digests_of(self.queries, runner, threads), digests_of(self.gallery, runner, threads)


def _as_source(values: Any, name: str) -> RowSource:
    """The rows of the gallery or of the queries, called so in errors."""
    if not isinstance(values, np.ndarray) and is_source(values):
        rows: RowSource = getattr(values, "rows", values)
        return rows
    with about(name), calling({"embeddings": name}):
        of_arrays = as_sparse if is_sparse(values) else as_finite_embeddings
        return ArraySource.of(of_arrays(values, name))


def _aligned(side: RowSource, convert: Callable[[Any], Any]) -> RowSource:
    """Sparse rows with the dimensions of both sides."""
    return ArraySource.of(convert(side.array)) if type(side) is ArraySource else RankedRows.of(side, convert)


def spans_of(source: RowSource) -> list[Span]:
    """Spans of rows that are read at a time, of some megabytes."""
    return spans_between(source.shape[0], rows_in(BLOCK_BYTES, source))


def digests_of(source: RowSource, runner: Runner, threads: int) -> Words:
    """The digests (n, 2) of all rows."""
    runner = Local() if isinstance(source, ArraySource) else runner  # sending rows takes longer than digesting them
    return survey_rows(Survey(source, threads), np.zeros(source.shape[0], dtype=np.uint64), runner).digests


def spans_between(count: int, size: int) -> list[Span]:
    """Spans of at most `size` rows, of so many."""
    return list(pairwise([*range(0, count, size), count]))


def digest_of_pairs(excluded: Excluded) -> str | None:
    """The digest of excluded pairs, which does not depend on how they were passed; None if there are none."""
    pairs = excluded.pairs
    return None if pairs is None or not len(pairs) else hash_of(pairs.view(np.uint64))


def duplicates_of(source: RowSource, digests: Words) -> int:
    """How many rows are equal to an earlier one. Rows of equal digests are read, and compared number by number."""
    order = np.lexsort((digests[:, 1], digests[:, 0]))
    ranked = digests[order]
    group = np.cumsum(np.append(True, (ranked[1:] != ranked[:-1]).any(axis=1)))
    duplicates = 0
    while len(order):
        first = np.append(True, group[1:] != group[:-1])
        leader = order[np.flatnonzero(first)[np.cumsum(first) - 1]]
        order, group, leader = order[~first], group[~first], leader[~first]
        equal = np.zeros(len(order), dtype=np.bool_)
        for start, stop in spans_between(len(order), rows_in(BLOCK_BYTES, source)):
            rows, leaders = source.take(order[start:stop]), source.take(leader[start:stop])
            equal[start:stop] = ~different(rows, leaders)
        duplicates += int(equal.sum())
        # What is left has the digest of another row by chance; of each digest, the first one leads now.
        order, group = order[~equal], group[~equal]
    return duplicates
