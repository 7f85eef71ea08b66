"""Lists of neighbors that an index returned, and which of the neighbors are relevant."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tieproof.errors import InputError, about, warn
from tieproof.inputs.arrays import as_numbers, first_true
from tieproof.inputs.identities import as_item_numbers
from tieproof.inputs.lists import Rows, as_rows, check_shapes, first_places, joined, spans_of
from tieproof.inputs.relevance import Labels, Relevance, pointers, sorted_contains
from tieproof.ties import Array, BoolArray, FloatArray, IntArray

NOTHING = -1  # the id that means that nothing was found


class Returned(NamedTuple):
    """The arguments to rank, as they were passed: ids, and numbers that are called "distances" or "scores"."""

    ids: Any
    numbers: Any
    called: str
    counts: Any


class NeighborLists(NamedTuple):
    """The lists of Q queries, list after list, without entries where nothing was found."""

    start: IntArray  # (Q + 1,) the list of query q is item[start[q]:start[q+1]]
    item: IntArray  # as positions in the gallery
    number: Array | None  # their distances or scores; None: the order of the lists is the ranking
    called: str  # "distances", "scores", or "order" without numbers
    padded: BoolArray  # (Q,) whether the list was filled up because the search found no more items

    @property
    def n_queries(self) -> int:
        """Q, the number of lists."""
        return len(self.start) - 1

    @property
    def query(self) -> IntArray:
        """The query of each item."""
        return np.repeat(np.arange(self.n_queries), np.diff(self.start))

    def once(self, n_items: int, duplicates: str) -> "NeighborLists":
        """Return the lists with each item once; refuse items that are not in the gallery, or that occur twice."""
        query = self.query
        if (at := first_true((self.item < 0) | (self.item >= n_items))) is not None:
            raise InputError(
                f"The ids contain {self.item[at]} for query {query[at]}, but there are {n_items} items. Pass ids "
                f"from 0 to {n_items - 1}, and {NOTHING} where nothing was found.",
                "ids",
            )
        code = query * n_items + self.item
        order = np.argsort(code, kind="stable")
        twice = np.flatnonzero(code[order[1:]] == code[order[:-1]])
        if not twice.size:
            return self
        if duplicates == "first":
            number = np.arange(len(code)) if self.number is None else self.number
            kept = first_places(code, number, small_is_near=self.called != "scores")
            start = pointers(query[kept], self.n_queries)
            return self._replace(
                start=start, item=self.item[kept], number=None if self.number is None else self.number[kept]
            )
        rows = order[twice[0] : twice[0] + 2]
        one, other = (rows - self.start[query[rows]] + 1).tolist()
        raise InputError(
            f"The ids contain item {self.item[rows[0]]} twice for query {query[rows[0]]}, at places {one} and "
            f"{other}. Find out why the index returned it twice, and leave the copies out, or pass "
            "duplicates='first' (--duplicates first). If usearch filled up a row with 0, pass counts=; faiss returns "
            "distances and ids, so pass its second array first.",
            "ids",
        )


def as_neighbor_lists(ids: Any, distances: Any, scores: Any, counts: Any) -> NeighborLists:
    """Convert the answer of any index to lists of neighbors."""
    returned = as_returned(ids, distances, scores, counts)
    called = returned.called
    with about("ids"):
        _check_numbered(returned.ids)
        rows = as_rows(returned.ids, "ids")
        rows = [as_ids(row) for row in rows] if isinstance(rows, list) else as_ids(rows)
        item, starts = joined(rows)
    lengths = np.diff(starts)
    query = np.repeat(np.arange(len(lengths)), lengths)
    place = np.arange(len(query)) - np.repeat(starts[:-1], lengths)
    listed = place < as_list_lengths(returned.counts, lengths)[query]
    listed &= item != NOTHING
    query, item = query[listed], item[listed]
    kept = np.bincount(query, minlength=len(lengths))
    start = np.append(0, np.cumsum(kept))
    if returned.numbers is None:
        return NeighborLists(start, item, None, "order", kept < lengths)
    with about(called):
        number = _numbers_of_lists(returned.numbers, rows, called)[listed]
        if (at := first_true(~np.isfinite(number))) is not None:
            raise InputError(
                f"The {called} must contain only finite numbers, but query {query[at]} has {number[at]} for item "
                f"{item[at]}. Set the id to {NOTHING} where nothing was found; with usearch pass counts=, or its "
                "matches themselves."
            )
    _check_order(query, number, called, len(lengths))
    return NeighborLists(start, item, number, called, kept < lengths)


def as_ids(ids: Array) -> IntArray:
    """Convert ids to int64; an empty list may have any type."""
    if ids.dtype.kind not in "iu" and ids.size:
        raise InputError(
            f"The ids must be integers, the positions of items in the gallery from 0 on, but are {ids.dtype.name}. "
            "Number the items in the order of gallery_labels. faiss returns distances and ids: pass its second array "
            "first."
        )
    return as_item_numbers(ids, "ids")


def _check_numbered(ids: Any) -> None:
    """Refuse names of items, for which no labels are known."""
    first = ids
    while isinstance(first, list | tuple) and first:
        first = first[0]
    if first is ids and isinstance(ids, str):
        return  # the name of a file, perhaps, which is refused as such
    if isinstance(first, str | bytes) or getattr(getattr(first, "dtype", None), "kind", "") in ("U", "S"):
        raise InputError(
            "The ids are names, but must be integers, the positions of items in the gallery from 0 on. Number the "
            "items in the order of gallery_labels."
        )


def as_returned(ids: Any, distances: Any, scores: Any, counts: Any) -> Returned:
    """Return ids and numbers from arrays, matches of usearch, or points of qdrant."""
    if distances is not None and scores is not None:
        raise InputError(
            "Pass either distances, where smaller is nearer, or scores=, where larger is nearer.",
            ("distances", "scores"),
        )
    if all(hasattr(ids, name) for name in ("keys", "distances", "counts")):
        _check_alone(distances, scores, counts, "matches")
        return Returned(ids.keys, ids.distances, "distances", ids.counts)
    is_points = isinstance(ids, list | tuple) and any(hasattr(each, "score") for each in ids[:1])
    if hasattr(ids, "points") or is_points or all(hasattr(ids, name) for name in ("keys", "distances")):
        raise InputError(
            "The ids are the answer to a single query. Pass a list of the answers to all queries.", "ids"
        )
    if isinstance(ids, list | tuple):
        if ids and all(hasattr(each, "keys") and hasattr(each, "distances") for each in ids):
            _check_alone(distances, scores, counts, "matches")
            return Returned([each.keys for each in ids], [each.distances for each in ids], "distances", None)
        lists = [getattr(each, "points", each) for each in ids]
        if any(hasattr(each, "points") for each in ids) or any(
            hasattr(point, "score") for each in lists if isinstance(each, list) for point in each[:1]
        ):
            _check_alone(distances, scores, counts, "points")
            return _of_points(lists)
    if scores is not None:
        return Returned(ids, scores, "scores", counts)
    return Returned(ids, distances, "distances", counts)


def _check_alone(distances: Any, scores: Any, counts: Any, what: str) -> None:
    """Refuse distances, scores or counts in addition to an answer that contains them."""
    if any(each is not None for each in (distances, scores, counts)):
        raise InputError(f"The ids are {what}, which contain their distances or scores. Pass them alone.", "ids")


def _of_points(lists: list[Any]) -> Returned:
    """Return lists of scored points: scores if they decrease along the lists, distances if they increase."""
    scores = [[float(point.score) for point in each] for each in lists]
    falls, rises = (any(sign * (row[0] - row[-1]) > 0 for row in scores if row) for sign in (1, -1))
    if falls and rises:
        raise InputError(
            "The scores of the points decrease in some lists and increase in others, so that it is unknown whether "
            "larger is nearer. Pass ids, and distances or scores=.",
            "ids",
        )
    ids = [[point.id for point in each] for each in lists]
    return Returned(ids, scores, "distances" if rises else "scores", None)


def as_list_lengths(counts: Any, lengths: IntArray) -> IntArray:
    """Return the number of valid entries of each list."""
    if counts is None:
        return lengths
    with about("counts", "ids"):
        array = as_numbers(counts, "counts")
        if array.shape != lengths.shape or array.dtype.kind not in "iu":
            raise InputError(
                f"The counts must be integers of the shape {lengths.shape}, one for each query, but are "
                f"{array.dtype.name} of the shape {array.shape}."
            )
        if (query := first_true((array < 0) | (array > lengths))) is not None:
            raise InputError(
                f"The counts contain {array[query]} for query {query}, whose list has {lengths[query]} entries. Pass "
                "the number of its valid entries."
            )
    return array.astype(np.int64)


def _numbers_of_lists(values: Any, ids: Rows, name: str) -> Array:
    """Return the numbers of all entries, list after list, in one type that represents them exactly."""
    rows = as_rows(values, name)
    check_shapes(rows, ids, (name, "ids"), "ids", "Pass exactly one for each id.", (name, "ids"))
    if isinstance(rows, list) and len({row.dtype for row in rows if len(row)}) > 1:
        for query, row in enumerate(rows):
            if row.dtype.kind in "iu" and max(map(abs, row.tolist()), default=0) > 2**53:
                raise InputError(
                    f"The {name} of query {query} contain an integer beyond 2^53, which float64 cannot represent "
                    "exactly, and other lists have another type. Pass all lists in one type."
                )
        rows = [row.astype(np.float64) for row in rows]
    return joined(rows)[0]


def _check_order(query: IntArray, number: Array, called: str, n_queries: int) -> None:
    """Warn if lists are not sorted by their numbers, which define the ranking."""
    same_list = np.diff(query) == 0
    earlier, later = number[:-1], number[1:]
    rises, falls = (np.unique(query[1:][same_list & wrong]) for wrong in (later > earlier, later < earlier))
    good, bad = (falls, rises) if called == "scores" else (rises, falls)
    if not len(bad):
        return
    verb, other = ("increase", "distances") if called == "scores" else ("decrease", "scores")
    if not len(good):
        warn(
            f"The {called} {verb} along every list in which they differ, so that they are probably {other}. Pass "
            f"them as {other}=."
        )
        return
    warn(
        f"{len(bad)} of {n_queries} lists are not in the order of their {called}; the first is that of query "
        f"{bad[0]}. They are ranked by their {called}; to rank them in the order given, pass only ids."
    )


class JudgedItems(NamedTuple):
    """The judgments of the listed items of some queries."""

    grade: FloatArray  # of each listed item; 0 is not relevant, -1 is excluded
    n_relevant: IntArray  # (q,) relevant items in the gallery
    n_excluded: IntArray  # (q,) excluded items in the gallery
    missing_grades: FloatArray | None  # of relevant items not listed, descending within a query; None: all are 1


def spans_of_queries(relevance: Relevance, lengths: IntArray) -> Iterator[slice]:
    """Yield spans of consecutive queries whose listed and relevant items are judged together."""
    counted_by_labels = isinstance(relevance, Labels) and relevance.plain  # without a list of relevant items
    return spans_of(1 + (lengths if counted_by_labels else lengths + relevance.at_most()))


def judged(relevance: Relevance, queries: IntArray, position: IntArray, item: IntArray) -> JudgedItems:
    """Judge each listed item for the query at its position; positions are ascending."""
    if isinstance(relevance, Labels) and relevance.plain:
        same = relevance.query_class[queries][position] == relevance.item_class[item]
        itself = relevance.leave_one_out & (item == queries[position])
        n_excluded = np.full(len(queries), int(relevance.leave_one_out))
        return JudgedItems(np.where(itself, -1.0, same), relevance.at_most()[queries], n_excluded, None)
    block = relevance.block(queries)
    count = relevance.n_items
    code = position * count + item
    relevant = np.repeat(np.arange(len(queries)), np.diff(block.pointer)) * count + block.items
    excluded = np.repeat(np.arange(len(queries)), np.diff(block.excluded_pointer)) * count + block.excluded
    grade = np.zeros(len(code))
    is_relevant = sorted_contains(relevant, code)
    grades = np.ones(len(relevant)) if block.grades is None else block.grades
    grade[is_relevant] = grades[np.searchsorted(relevant, code[is_relevant])]
    grade[sorted_contains(excluded, code)] = -1.0
    missing = None
    if relevance.graded:
        absent = ~sorted_contains(np.sort(code), relevant)
        missing = grades[absent][np.lexsort((-grades[absent], relevant[absent] // count))]
    return JudgedItems(grade, np.diff(block.pointer), np.diff(block.excluded_pointer), missing)
