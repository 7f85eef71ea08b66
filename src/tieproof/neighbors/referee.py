"""`verify_truth` and `examine_truth`: certified neighbors are computed again, and those of others are examined."""

import math
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tieproof.errors import CountError, InputError
from tieproof.inputs.arrays import as_array, type_name, unchanged_files
from tieproof.inputs.identities import as_item_numbers
from tieproof.inputs.options import as_shares, check_whole, parse_threads
from tieproof.neighbors.certificate import RowsMeant, digests_of, fingerprint_of, read_truth
from tieproof.neighbors.nearest import nearest
from tieproof.neighbors.result import Neighbors
from tieproof.neighbors.truth import as_side
from tieproof.show.parts import NARROWEST, WIDTH, count, distance_meant, paragraph
from tieproof.show.shown import AsFrame, AsJson, Shown, Table
from tieproof.ties import Array, BoolArray, IntArray

SHARES = (0.01, 0.001)
"""Shares of wrong queries for which the probability to escape a sample is told."""

EXAMPLES = 3
"""The number of queries that show each fault as examples."""


@dataclass(frozen=True)
class TruthVerification(AsJson):
    """The findings of `tp.verify_truth`.

    agrees : the data is that of the certificate, and every bit of the checked neighbors was found again
    queries, checked : the number of queries, and of those that were computed again
    differences : what differs, in whole sentences; empty if everything agrees

    >>> round(TruthVerification(True, 10_000, 300, ()).escapes(0.01), 4)
    0.0468
    """

    agrees: bool
    queries: int
    checked: int
    differences: tuple[str, ...]

    def __bool__(self) -> bool:
        """Whether everything agrees."""
        return self.agrees

    def escapes(self, share: float) -> float:
        """The probability that no wrong query is among the checked ones if this share of all queries is wrong."""
        (chosen,) = as_shares(share, "A share", "0.01")
        wrong = math.ceil(Fraction(str(chosen)) * self.queries)
        return math.comb(self.queries - wrong, self.checked) / math.comb(self.queries, self.checked)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain numbers, strings, lists and dictionaries."""
        escapes = {str(share): self.escapes(share) for share in SHARES}
        return {**asdict(self), "differences": list(self.differences), "escapes": escapes}

    def to_text(self, width: int | None = None, color: bool = False) -> str:
        """The answer, then the differences, as the command line shows them; `color` changes nothing."""
        width = max(width or WIDTH, NARROWEST)
        return "\n".join(paragraph(sentence, width) for sentence in self._sentences())

    def __str__(self) -> str:
        """The sentences that the command line shows, in 80 columns."""
        return self.to_text()

    def _sentences(self) -> Iterator[str]:
        yield "Every bit agrees." if self.agrees else "The truth does not agree with what was computed again."
        yield from self.differences
        if self.checked == self.queries:
            yield f"All {count(self.queries, 'query')} were computed again."
        elif self.checked:
            chances = (f"{self.escapes(share):.2g} if {share:.1%} of all queries are wrong" for share in SHARES)
            yield (
                f"{self.checked:,} of {count(self.queries, 'query')}, chosen at random, were computed again. The "
                f"probability that no wrong query is among them is {', and '.join(chances)}."
            )


@unchanged_files
def verify_truth(
    truth: str | os.PathLike[str],
    gallery: Any,
    queries: Any,
    *,
    sample: int | None = 300,
    seed: int | None = None,
    memory: str | int = "1GiB",
    threads: int | None = None,
    progress: bool = False,
) -> TruthVerification:
    """Check a folder that `truth` wrote: its files, its data, and the neighbors of some queries, computed again.

    Parameters
    ----------
    truth : path of the folder
    gallery, queries : (n, d) and (q, d)
        The data, in the order in which the truth was computed.
    sample : whole number, or None
        How many queries, chosen at random, are computed again; None: all.
    seed : whole number
        The seed of the choice. Default: a new choice each time, which whoever wrote the truth cannot know.
    memory, threads, progress :
        As in `evaluate`.

    Returns
    -------
    TruthVerification
        `agrees` is True if every bit agrees; `differences` describes all differences in sentences.

    Raises
    ------
    InputError
        If the folder is not that of a finished truth, or if its files are not those that its certificate names.

    Examples
    --------
    >>> import tempfile
    >>> import tieproof as tp
    >>> gallery, queries = [[2.0], [1.0], [-1.0]], [[0.0], [3.0]]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     certificate = tp.truth(gallery, queries, k=1, out=f"{folder}/truth", distance="euclidean")
    ...     print(tp.verify_truth(f"{folder}/truth", gallery, queries))
    ...     print(tp.verify_truth(f"{folder}/truth", gallery[::-1], queries).differences[0])
    Every bit agrees.
    All 2 queries were computed again.
    The gallery has the rows of the truth in another order, so that its ids are those of other items.

    """
    if sample is not None:
        check_whole("sample", sample, beside=", or None")
    if seed is not None:
        check_whole("seed", seed, 0, beside=", or None")
    certificate, stored = read_truth(truth)
    items, rows = as_side(gallery, "gallery"), as_side(queries, "queries")
    digests = [digests_of(side, parse_threads(threads)) for side in (rows, items)]
    differences: list[str] = []
    for name, side, own in (("queries", rows, digests[0]), ("gallery", items, digests[1])):
        differences += _about_rows(name, getattr(certificate, name), RowsMeant.of(side, own))
    chosen = np.arange(0)
    if not differences:
        if fingerprint_of(stored, *digests) != certificate.neighbors:
            differences.append("The digest of the neighbors is not that of the certificate.")
        chosen = np.arange(len(rows))
        if sample is not None and sample < len(rows):
            chosen = np.sort(np.random.default_rng(seed).choice(len(rows), sample, replace=False))
        found = nearest(
            rows[chosen],
            items,
            certificate.listed,
            distance=certificate.distance,
            bits=certificate.bits,
            memory=memory,
            threads=threads,
            progress=progress,
        )
        differences += _about_neighbors(stored, found, chosen)
    return TruthVerification(not differences, len(stored.ids), len(chosen), tuple(differences))


def _about_rows(name: str, certified: RowsMeant, given: RowsMeant) -> Iterator[str]:
    """Yield how the rows of a side differ from those of a certificate."""
    if certified.fingerprint == given.fingerprint and certified.rows == given.rows:
        if certified.in_order != given.in_order:
            yield (
                f"The {name} {'has' if name == 'gallery' else 'have'} the rows of the truth in another order, so "
                f"that its ids are those of other {'items' if name == 'gallery' else 'queries'}."
            )
        return
    yield (
        f"The {name} {'is' if name == 'gallery' else 'are'} not the data of the truth: {given.rows:,} rows of "
        f"{given.dimensions:,} {given.type} with the fingerprint {given.fingerprint[:12]}, but the certificate has "
        f"{certified.rows:,} rows of {certified.dimensions:,} {certified.type} with {certified.fingerprint[:12]}."
    )


def _about_neighbors(stored: Neighbors, found: Neighbors, chosen: IntArray) -> Iterator[str]:
    """Yield how the neighbors of some queries differ from those that were found again."""
    if stored.duplicates != found.duplicates:
        yield f"The gallery has {count(found.duplicates, 'duplicate')}, but the truth says {stored.duplicates:,}."
    for name, what in (("ids", "ids"), ("distances", "distances"), ("nearer", "ties"), ("n_ties", "numbers of ties")):
        differs = getattr(stored, name)[chosen] != getattr(found, name)
        wrong = chosen[differs.reshape(len(chosen), -1).any(axis=1)]
        if len(wrong):
            yield f"The {what} of {count(len(wrong), 'query')} differ, first of query {wrong[0]}."
    ties = [query for at, query in enumerate(chosen.tolist()) if not np.array_equal(stored.tie(query), found.tie(at))]
    if ties:
        yield f"The tie at the last rank of {_queries(len(ties))} differs, first of query {ties[0]}."


def _queries(number: int) -> str:
    return count(number, "query")


@dataclass(frozen=True, eq=False, repr=False)
class TruthExamination(Shown, AsFrame):
    """What is wrong with lists of true neighbors; all arrays have the shape (q,).

    k : the length of the lists
    distance : the name of the distance
    n_items : how many items the gallery has
    duplicates : how many items of the gallery are equal to an earlier one
    out_of_range : the number of ids that are not positions in the gallery
    repeated : the number of ids that are in the list already
    wrong : the number of listed items that are farther than the k-th nearest
    missing : the number of items nearer than the k-th nearest that are not listed
    unordered : whether a nearer item stands behind a farther one
    cut : whether the tie at rank k continues behind it, so that the list is one choice of many
    examples : some faults, in whole sentences

    >>> import tieproof as tp
    >>> found = tp.examine_truth([[0, 1], [2, 2]], [[0.0], [5.0], [1.0], [-1.0]], [[0.0], [1.0]],
    ...                          distance="euclidean")
    >>> print(found)
    lists with              queries
    -------------------------------
    ids out of range              0
    repeated ids                  1
    wrong neighbors               1
    missing neighbors             0
    neighbors out of order        0
    a tie cut at rank 2           1
    <BLANKLINE>
    2 lists of 2 neighbors among 4 items, under euclidean distance: 0 lists are
    right.
    Query 1 lists item 2 twice.
    Query 0 lists item 1 at distance 5, but its 2 nearest end at distance 1.
    """

    k: int
    distance: str
    n_items: int
    duplicates: int
    out_of_range: IntArray
    repeated: IntArray
    wrong: IntArray
    missing: IntArray
    unordered: BoolArray
    cut: BoolArray
    examples: tuple[str, ...]

    @property
    def right(self) -> BoolArray:
        """(q,) whether each list contains k nearest items, in any order."""
        faults = self.out_of_range + self.repeated + self.wrong + self.missing
        return np.asarray(faults == 0)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the values of single queries, as plain numbers, strings and lists."""
        return {
            "k": self.k,
            "distance": self.distance,
            "queries": len(self.cut),
            "n_items": self.n_items,
            "duplicates": self.duplicates,
            "right": int(self.right.sum()),
            **{f"queries_with_{name}": int((getattr(self, name) > 0).sum()) for name in FAULTS},
            "queries_with_cut_ties": int(self.cut.sum()),
            "examples": list(self.examples),
        }

    def columns(self) -> dict[str, Array]:
        """A table with a row for each query, as arrays of equal length."""
        return {
            "query": np.arange(len(self.cut)),
            **{name: getattr(self, name) for name in FAULTS},
            "cut": self.cut,
        }

    def _table(self) -> Table:
        rows = [(said, f"{int((getattr(self, name) > 0).sum()):,}") for name, said in FAULTS.items()]
        rows.append((f"a tie cut at rank {self.k:,}", f"{int(self.cut.sum()):,}"))
        return Table(("lists with", "queries"), [rows], [*self._sentences()], ("queries",))

    def _sentences(self) -> Iterator[str]:
        """Sentences on the lists, on duplicates, and the examples."""
        right = int(self.right.sum())
        yield (
            f"{count(len(self.cut), 'list')} of {count(self.k, 'neighbor')} among {count(self.n_items, 'item')}, "
            f"under {distance_meant(self.distance)}: {count(right, 'list')} {'is' if right == 1 else 'are'} right."
        )
        if self.duplicates:
            yield (
                f"{count(self.duplicates, 'item')} of the gallery {'is' if self.duplicates == 1 else 'are'} equal to "
                "an earlier one."
            )
        yield from self.examples

    def __repr__(self) -> str:
        """A short text: how many lists are right."""
        return f"<TruthExamination: {int(self.right.sum()):,} of {count(len(self.cut), 'list')} right>"


FAULTS = {
    "out_of_range": "ids out of range",
    "repeated": "repeated ids",
    "wrong": "wrong neighbors",
    "missing": "missing neighbors",
    "unordered": "neighbors out of order",
}
"""The faults of a list, by the names of the fields."""


@unchanged_files
def examine_truth(
    truth: Any,
    gallery: Any,
    queries: Any,
    *,
    k: int | None = None,
    distance: str = "cosine",
    memory: str | int = "1GiB",
    threads: int | None = None,
    progress: bool = False,
    bits: int | None = None,
) -> TruthExamination:
    """Examine lists of true neighbors that others published, by an exact search.

    A list is right if it contains k items such that no other item is nearer; which of the items of a tie it contains,
    and in which order, does not matter. Wrong lists often have the right neighbors by another distance, or for
    rounded numbers.

    Parameters
    ----------
    truth : (q, m) integers
        The ids of the neighbors, nearest first: positions in the gallery.
    gallery, queries : (n, d) and (q, d)
        The vectors.
    k : whole number
        How many ids of each list are examined. Default: all.
    distance, bits, memory, threads, progress :
        As in `evaluate`.

    Returns
    -------
    TruthExamination
        The number of faults of each kind in each list, with examples.

    Raises
    ------
    InputError
        If the lists are not integers, or not one for each query; if k is larger than the lists or the gallery; and as
        `nearest` does.

    """
    array = as_array(truth, "true ids")
    if array.dtype.kind not in "iu" or array.ndim != 2 or 0 in array.shape:
        raise InputError(
            f"The true ids must be integers of the shape (queries, neighbors), but are {type_name(array.dtype)} of "
            f"the shape {array.shape}. Pass the ids of the neighbors, without their distances.",
            "truth",
        )
    width = array.shape[1]
    if k is not None:
        check_whole("k", k, beside=", or None")
    wanted = width if k is None else int(k)
    items, rows = as_side(gallery, "gallery"), as_side(queries, "queries")
    if wanted > min(width, len(items)):
        raise InputError(
            f"k is {wanted}, but the lists have {width} ids, and the gallery has {count(len(items), 'item')}. Pass a "
            "smaller k.",
            "k",
        )
    if len(array) != len(rows):
        raise CountError(
            f"The number of true lists is {len(array)}, but the number of queries is {len(rows)}. Pass exactly one "
            "for each, in the same order.",
            ("truth", "queries"),
        )
    options: dict[str, Any] = {"distance": distance, "memory": memory, "threads": threads, "bits": bits}
    found = nearest(rows, items, wanted, progress=progress, **options)
    listed = as_item_numbers(array[:, :wanted], "true ids")
    faults, said = _faults(listed, found)

    def far(query: int, item: int) -> float:
        return float(nearest(rows[[query]], items[[item]], 1, **options).distances[0, 0])

    return TruthExamination(
        k=wanted,
        distance=found.distance,
        n_items=len(items),
        duplicates=found.duplicates,
        cut=np.asarray(found.cut),
        examples=tuple(_examples(said, found, far)),
        **faults,
    )


def _faults(listed: IntArray, found: Neighbors) -> tuple[dict[str, Array], dict[str, BoolArray]]:
    """Return the fields of `TruthExamination` that count faults, and where they are: at listed or at found items."""
    n_items = found.n_items
    inside = (listed >= 0) & (listed < n_items)
    order = np.argsort(listed, axis=1, kind="stable")
    ranked = np.take_along_axis(listed, order, axis=1)
    again = np.zeros(listed.shape, dtype=np.bool_)
    again[:, 1:] = ranked[:, 1:] == ranked[:, :-1]
    repeated = np.empty_like(again)
    np.put_along_axis(repeated, order, again, axis=1)
    repeated &= inside
    counted = inside & ~repeated
    level = np.full(listed.shape, -1)
    level[counted] = found.level(np.nonzero(counted)[0], listed[counted])
    needed = found.nearer < found.tie_starts[:, None]
    first = np.arange(len(listed))[:, None] * n_items
    is_listed = np.isin(first + found.ids, (first + listed)[counted])
    marks = {
        "out_of_range": ~inside,
        "repeated": repeated,
        "wrong": counted & (level == n_items),
        "missing": needed & ~is_listed,
        "unordered": counted & (level < np.maximum.accumulate(level, axis=1)),
    }
    faults = {name: mark.sum(axis=1) for name, mark in marks.items()}
    return faults | {"unordered": marks["unordered"].any(axis=1)}, {**marks, "listed": listed}


def _examples(marks: dict[str, Array], found: Neighbors, far: Callable[[int, int], float]) -> Iterator[str]:
    """Yield sentences on a few faults of each kind.

    far : returns the distance of a query and an item
    """
    listed, k = marks["listed"], found.k
    for name in ("out_of_range", "repeated", "wrong", "missing"):
        places = np.argwhere(marks[name])
        _, first = np.unique(places[:, 0], return_index=True)
        for query, rank in places[first[:EXAMPLES]].tolist():
            item = int((found.ids if name == "missing" else listed)[query, rank])
            end = f"its {k:,} nearest end at distance {float(found.distances[query, -1]):g}"
            if name == "out_of_range":
                yield f"Query {query} lists {item}, which is not a position in the gallery, at rank {rank + 1}."
            elif name == "repeated":
                yield f"Query {query} lists item {item} twice."
            elif name == "wrong":
                yield f"Query {query} lists item {item} at distance {far(query, item):g}, but {end}."
            else:
                near = float(found.distances[query, rank])
                yield f"Query {query} does not list item {item}, at distance {near:g}, though {end}."
