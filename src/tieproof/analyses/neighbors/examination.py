"""`examine_truth`: the lists of true neighbors that others published, and what is wrong with them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tieproof.analyses.neighbors.nearest import nearest
from tieproof.analyses.neighbors.result import Neighbors, about_duplicates, check_id_lists, repeated_in_rows
from tieproof.analyses.neighbors.search import SearchInParts, budget_of, find
from tieproof.analyses.neighbors.sides import ORDER, Sides, digests_of, duplicates_of
from tieproof.distances import Distance, DistanceName
from tieproof.engine import places_of_pairs
from tieproof.errors import CountError, InputError, about
from tieproof.evaluation.cluster.tasks import Local
from tieproof.evaluation.problems import watched
from tieproof.inputs.arrays import as_array, check_count
from tieproof.inputs.identities import as_item_numbers
from tieproof.inputs.mapped import unchanged_files
from tieproof.inputs.mistakes import warn_of_other_order
from tieproof.inputs.options import check_whole
from tieproof.show.parts import apart, count, distance_meant
from tieproof.show.shown import AsFrame, Shown, Table
from tieproof.ties import Array, BoolArray, IntArray

EXAMPLES = 3  # the number of queries that show each fault as examples


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
    unordered : whether an item stands behind a farther one, wrong and repeated ones included; ids out of range have
        no distance, and do not count
    cut : whether the tie at rank k continues behind it, so that the list is one choice of many
    examples : some faults, in whole sentences

    >>> import tieproof as tp
    >>> found = tp.examine_truth([[0, 1], [2, 2]], [[0.0], [1.0]], [[0.0], [5.0], [1.0], [-1.0]],
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
    2 more: --explain, or to_text(explain=True)
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
        return {"query": np.arange(len(self.cut)), **{name: getattr(self, name) for name in FAULTS}, "cut": self.cut}

    def _table(self) -> Table:
        rows = [(said, f"{int((getattr(self, name) > 0).sum()):,}") for name, said in FAULTS.items()]
        rows.append((f"a tie cut at rank {self.k:,}", f"{int(self.cut.sum()):,}"))
        return Table(("lists with", "queries"), [rows], [*self._sentences()], ("queries",))

    def _sentences(self) -> Iterator[str]:
        right = int(self.right.sum())
        yield (
            f"{count(len(self.cut), 'list')} of {count(self.k, 'neighbor')} among {count(self.n_items, 'item')}, "
            f"under {distance_meant(self.distance)}: {count(right, 'list')} {'is' if right == 1 else 'are'} right."
        )
        if self.duplicates:
            yield about_duplicates(self.duplicates)
        yield from self.examples

    def __repr__(self) -> str:
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
    queries: Any,
    gallery: Any,
    *,
    k: int | None = None,
    distance: DistanceName | str = "cosine",
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
    queries, gallery : (q, d) and (n, d), arrays, sparse rows or shards
        The vectors. Shards are read piece by piece, as in `truth`.
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
    with about("truth"):
        check_id_lists(array, "true ids", "Pass the ids of the neighbors, without their distances.")
    width = array.shape[1]
    if k is not None:
        check_whole("k", k, beside=", or None")
    wanted = width if k is None else int(k)
    sides = Sides.of(queries, gallery)
    n_queries, n_items = (side.shape[0] for side in sides)
    if len(array) == n_items != n_queries:
        raise CountError(
            f"The number of true lists is {len(array)}, as that of items, but that of queries is {n_queries}. "
            f"{ORDER}",
            ("truth", "queries", "gallery"),
        )
    if wanted > min(width, n_items):
        raise InputError(
            f"k is {wanted}, but the lists have {width} ids, and the gallery has {count(n_items, 'item')}. Pass a "
            "smaller k.",
            "k",
        )
    with about(("truth", "queries")):
        check_count(len(array), "true lists", n_queries, "queries")
    budget = budget_of(memory, threads)
    search = SearchInParts.of(sides.search(distance, bits, budget), wanted)
    duplicates = duplicates_of(sides.gallery, digests_of(sides.gallery, Local(), budget.threads))
    found = find(search, Local(), {}, watched(progress), duplicates)
    listed = as_item_numbers(array[:, :wanted], "true ids")
    within = np.where(listed < n_items, listed, -1)
    warn_of_other_order(sides.queries.take, sides.gallery.take, within, found.distance)
    marks = _faults(listed, found, partial(_places, search))
    faults = {name: mark.sum(axis=1) for name, mark in marks.items()}

    def far(query: int, item: int) -> float:
        row, other = sides.queries.take(np.array([query])), sides.gallery.take(np.array([item]))
        return float(nearest(row, other, 1, distance=distance, bits=bits).distances[0, 0])

    return TruthExamination(
        k=wanted,
        distance=found.distance,
        n_items=n_items,
        duplicates=found.duplicates,
        cut=np.asarray(found.cut),
        examples=tuple(_examples(marks, listed, found, far)),
        **faults | {"unordered": marks["unordered"].any(axis=1)},
    )


def _places(search: SearchInParts, query: IntArray, item: IntArray) -> IntArray:
    """Numbers for pairs of a query, ascending, and an item, which increase with the exact distances of each query."""
    queries = search.problem.queries
    if isinstance(search.problem.whole.distance, Distance):
        return places_of_pairs(
            query, item, lambda some, ids: search.compared(queries.take(some), ids), search.most_compared
        )
    whole = SearchInParts.of(search.problem, len(search.problem.items))  # of a function: the distances of all items
    return find(whole, Local(), {}, watched(False), 0).level(query, item)


def _faults(
    listed: IntArray, found: Neighbors, places: Callable[[IntArray, IntArray], IntArray]
) -> dict[str, BoolArray]:
    """Where the faults are, by the fields of `TruthExamination`: at listed items, or at found ones that are missing.

    places : returns numbers for pairs of a query and an item that increase with the distance
    """
    n_items = found.n_items
    inside = (listed >= 0) & (listed < n_items)
    repeated = repeated_in_rows(listed) & inside
    counted = inside & ~repeated
    level = np.full(listed.shape, -1)
    level[inside] = found.level(np.nonzero(inside)[0], listed[inside])
    far = level == n_items
    pairs, which = np.unique(np.nonzero(far)[0] * n_items + listed[far], return_inverse=True)
    if len(pairs):
        level[far] += places(pairs // n_items, pairs % n_items)[which]
    needed = found.nearer < found.tie_starts[:, None]
    first = np.arange(len(listed))[:, None] * n_items
    is_listed = np.isin(first + found.ids, (first + listed)[counted])
    return {
        "out_of_range": ~inside,
        "repeated": repeated,
        "wrong": counted & far,
        "missing": needed & ~is_listed,
        "unordered": inside & (level < np.maximum.accumulate(level, axis=1)),
    }


def _examples(
    marks: dict[str, BoolArray], listed: IntArray, found: Neighbors, far: Callable[[int, int], float]
) -> Iterator[str]:
    """Yield sentences on a few faults of each kind; `far` returns the distance of a query and an item."""
    for name in ("out_of_range", "repeated", "wrong", "missing"):
        places = np.argwhere(marks[name])
        _, first = np.unique(places[:, 0], return_index=True)
        for query, rank in places[first[:EXAMPLES]].tolist():
            item = int((found.ids if name == "missing" else listed)[query, rank])
            if name == "out_of_range":
                yield f"Query {query} lists {item}, which is not a position in the gallery, at rank {rank + 1}."
            elif name == "repeated":
                yield f"Query {query} lists item {item} twice."
            else:
                near = far(query, item) if name == "wrong" else float(found.distances[query, rank])
                distance, last = apart(near, float(found.distances[query, -1]))
                end = f"its {found.k:,} nearest end at distance {last}"
                if name == "wrong":
                    yield f"Query {query} lists item {item} at distance {distance}, but {end}."
                else:
                    yield f"Query {query} does not list item {item}, at distance {distance}, though {end}."
