"""What an index of nearest neighbours returned, checked: the items of each query's list, and their numbers.

faiss, hnswlib, pynndescent    ids and distances, (queries, k); where nothing was found the id is -1, beside any
                               number (faiss: 2147483647 or 3.4e38 of either sign; pynndescent: infinity)
usearch                        `BatchMatches`: keys, distances, and how many of each row count; or lists of `Matches`
qdrant                         `QueryResponse`s, or lists of `ScoredPoint`s, nearest first
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tieproof.errors import InputError, about, warn
from tieproof.inputs.arrays import as_numbers
from tieproof.inputs.identities import as_item_numbers
from tieproof.inputs.list_rows import as_rows
from tieproof.ties import Array, BoolArray, IntArray

NOTHING = -1
"""The id that stands where nothing was found."""


class Returned(NamedTuple):
    """What is ranked, as it arrived: ids, and their numbers, which are called "distances" or "scores"."""

    ids: Any
    numbers: Any
    called: str
    counts: Any


class NeighborLists(NamedTuple):
    """The lists of Q queries, one after the other, without what stands where nothing was found.

    start : (Q + 1,) the list of query q is start[q] … start[q+1]-1
    item : the items, as places in the gallery
    number : their numbers; None: the order of the lists counts
    called : "distances", "scores", or "order" without numbers
    padded : (Q,) whether the search said that it found no more
    """

    start: IntArray
    item: IntArray
    number: Array | None
    called: str
    padded: BoolArray

    @property
    def n_queries(self) -> int:
        """Q, the number of lists."""
        return len(self.start) - 1

    @property
    def query(self) -> IntArray:
        """The query of each item."""
        return np.repeat(np.arange(self.n_queries), np.diff(self.start))

    def check_items(self, n_items: int) -> None:
        """Refuse items that the gallery does not have, and items that a list holds twice."""
        wrong = (self.item < 0) | (self.item >= n_items)
        query = self.query
        if wrong.any():
            at = int(np.argmax(wrong))
            raise InputError(
                f"The ids hold {self.item[at]} for query {query[at]}, and there are {n_items} items: ids go from 0 "
                f"to {n_items - 1}, and are {NOTHING} where nothing was found.",
                "ids",
            )
        code = np.sort(query * n_items + self.item)
        twice = np.flatnonzero(code[1:] == code[:-1])
        if twice.size:
            at_query, item = divmod(int(code[twice[0]]), n_items)
            raise InputError(
                f"The ids hold item {item} twice for query {at_query}. A list holds an item once: find out why the "
                "index returns it again, and leave the copies out. Where usearch fills up with 0, pass counts=; of "
                "what faiss returns, distances and ids, pass the ids first.",
                "ids",
            )


def as_neighbor_lists(ids: Any, distances: Any, scores: Any, counts: Any) -> NeighborLists:
    """What was returned, whatever returned it."""
    returned = as_returned(ids, distances, scores, counts)
    with about("ids"):
        check_numbered(returned.ids)
        rows = as_rows(returned.ids, "ids")
        rows = [as_ids(row) for row in rows] if isinstance(rows, list) else as_ids(rows)
        item, lengths = joined(rows)
    query = np.repeat(np.arange(len(lengths)), lengths)
    place = np.arange(len(query)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    listed = place < as_list_lengths(returned.counts, lengths)[query]
    listed &= item != NOTHING
    kept = np.bincount(query[listed], minlength=len(lengths))
    start = np.append(0, np.cumsum(kept))
    item = item[listed]
    number = None
    if returned.numbers is not None:
        with about(returned.called):
            number = as_list_numbers(returned.numbers, rows, returned.called)[listed]
            check_finite_numbers(number, query[listed], item, returned.called)
    found = NeighborLists(start, item, number, "order" if number is None else returned.called, kept < lengths)
    check_order(found)
    return found


def as_ids(ids: Array) -> IntArray:
    """Integers as int64; an empty list has any type."""
    if ids.dtype.kind not in "iu" and ids.size:
        raise InputError(
            f"The ids must be integers, places in the gallery from 0 on, and are {ids.dtype.name}. Number the items "
            "as gallery_labels has them. Of what faiss returns, distances and ids, pass the ids first."
        )
    return as_item_numbers(ids, "ids")


def check_numbered(ids: Any) -> None:
    """Refuse names of items, which say nothing of their labels."""
    first = ids
    while isinstance(first, list | tuple) and first:
        first = first[0]
    if isinstance(first, str | bytes) or getattr(getattr(first, "dtype", None), "kind", "") in ("U", "S"):
        raise InputError(
            "The ids are names. They must be integers, places in the gallery from 0 on: number the items as "
            "gallery_labels has them."
        )


def as_returned(ids: Any, distances: Any, scores: Any, counts: Any) -> Returned:
    """Ids and numbers of arrays, of matches of usearch or of points of qdrant."""
    if distances is not None and scores is not None:
        raise InputError(
            "Pass either distances, where smaller is nearer, or scores=, where larger is nearer.",
            ("distances", "scores"),
        )
    if all(hasattr(ids, name) for name in ("keys", "distances", "counts")):
        check_alone(distances, scores, counts, "matches")
        return Returned(ids.keys, ids.distances, "distances", ids.counts)
    if hasattr(ids, "points") or is_points(ids) or all(hasattr(ids, name) for name in ("keys", "distances")):
        raise InputError(
            "The ids are the answer to a single query. Pass a list of the answers to all queries.", "ids"
        )
    if isinstance(ids, list | tuple):
        if ids and all(hasattr(each, "keys") and hasattr(each, "distances") for each in ids):
            check_alone(distances, scores, counts, "matches")
            return Returned([each.keys for each in ids], [each.distances for each in ids], "distances", None)
        lists = [getattr(each, "points", each) for each in ids]
        if any(hasattr(each, "points") for each in ids) or any(
            hasattr(point, "score") for each in lists if isinstance(each, list) for point in each[:1]
        ):
            check_alone(distances, scores, counts, "points")
            return of_points(lists)
    if scores is not None:
        return Returned(ids, scores, "scores", counts)
    return Returned(ids, distances, "distances", counts)


def is_points(ids: Any) -> bool:
    """Whether these are the points of a single answer by qdrant."""
    return isinstance(ids, list | tuple) and any(hasattr(each, "score") for each in ids[:1])


def check_alone(distances: Any, scores: Any, counts: Any, what: str) -> None:
    """Refuse numbers beside an answer that has its own."""
    if any(each is not None for each in (distances, scores, counts)):
        raise InputError(f"The ids are {what} that have their distances. Pass them alone.", "ids")


def of_points(lists: list[Any]) -> Returned:
    """Lists of scored points: larger is nearer where their scores fall, and smaller where they rise."""
    scores = [[float(point.score) for point in each] for each in lists]
    falls, rises = (any(sign * (row[0] - row[-1]) > 0 for row in scores if row) for sign in (1, -1))
    if falls and rises:
        raise InputError(
            "The scores of the points fall in some lists and rise in others, so that nobody can tell whether larger "
            "is nearer. Pass ids, and distances or scores=.",
            "ids",
        )
    ids = [[point.id for point in each] for each in lists]
    return Returned(ids, scores, "distances" if rises else "scores", None)


def joined(rows: Array | list[Array]) -> tuple[Array, IntArray]:
    """The entries of all lists, one after the other, and how many each has."""
    if not isinstance(rows, list):
        return rows.reshape(-1), np.full(len(rows), rows.shape[1])
    lengths = np.array([len(row) for row in rows])
    filled = [row for row in rows if len(row)]
    return np.concatenate(filled) if filled else np.zeros(0, dtype=np.int64), lengths


def as_list_lengths(counts: Any, lengths: IntArray) -> IntArray:
    """How many entries of each list count."""
    if counts is None:
        return lengths
    with about("counts", "ids"):
        array = as_numbers(counts, "counts")
        if array.shape != lengths.shape or array.dtype.kind not in "iu":
            raise InputError(
                f"The counts must be integers, one for each of {len(lengths)} queries, and arrived with the shape "
                f"{array.shape} and type {array.dtype.name}."
            )
        wrong = (array < 0) | (array > lengths)
        if wrong.any():
            query = int(np.argmax(wrong))
            raise InputError(
                f"The counts hold {array[query]} for query {query}, whose list has {lengths[query]} entries. Pass "
                "how many of them count."
            )
    return array.astype(np.int64)


def as_list_numbers(values: Any, ids: Array | list[Array], name: str) -> Array:
    """The numbers of all entries, one after the other, in one type that holds them all."""
    rows = as_rows(values, name)
    if len(rows) != len(ids):
        raise InputError(f"There are {name} for {len(rows)} queries and ids for {len(ids)}.", (name, "ids"))
    if isinstance(rows, list) or isinstance(ids, list) or rows.shape != ids.shape:
        for query, (row, own) in enumerate(zip(rows, ids, strict=True)):
            if len(row) != len(own):
                raise InputError(
                    f"Query {query} has {len(row)} {name} and {len(own)} ids. Pass one for each.", (name, "ids")
                )
    return joined(list(in_one_type(rows, name)) if isinstance(rows, list) else rows)[0]


def in_one_type(rows: list[Array], name: str) -> Iterator[Array]:
    """Lists of several types as float64, which must hold them."""
    alike = len({row.dtype for row in rows if len(row)}) < 2
    for query, row in enumerate(rows):
        if not alike and row.dtype.kind in "iu" and max(map(abs, row.tolist()), default=0) > 2**53:
            raise InputError(
                f"The {name} of query {query} hold an integer beyond 2^53, which float64 does not hold exactly, and "
                "others are of another type. Pass all in one type."
            )
        yield row if alike else row.astype(np.float64)


def check_finite_numbers(number: Array, query: IntArray, item: Array, name: str) -> None:
    """Refuse NaN and infinity beside an item."""
    wrong = ~np.isfinite(number)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise InputError(
            f"The {name} must be finite numbers, and query {query[at]} holds {number[at]} for item {item[at]}. Where "
            f"nothing was found the id is {NOTHING}; usearch says in counts how many of a row count: pass counts=, "
            "or its matches themselves."
        )


def check_order(found: NeighborLists) -> None:
    """Warn where the numbers, which decide, do not agree with the order of the lists."""
    if found.number is None:
        return
    query, same_list = found.query, np.diff(found.query) == 0
    earlier, later = found.number[:-1], found.number[1:]
    rises, falls = (np.unique(query[1:][same_list & wrong]) for wrong in (later > earlier, later < earlier))
    good, bad = (falls, rises) if found.called == "scores" else (rises, falls)
    if not len(bad):
        return
    verb, other = ("rise", "distances") if found.called == "scores" else ("fall", "scores")
    if not len(good):
        warn(
            f"The {found.called} {verb} along every list in which they differ: they are probably {other}. Pass them "
            f"as {other}=."
        )
        return
    warn(
        f"{len(bad)} of {found.n_queries} lists are not in the order of their {found.called}, the first is that of "
        f"query {bad[0]}. The {found.called} decide; without them the order of the lists would."
    )
