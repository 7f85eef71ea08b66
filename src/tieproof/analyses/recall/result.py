"""`NeighborRecall`: the share of the true neighbors that an index found, over all choices of tied ones."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.evaluation.evaluated import over_queries
from tieproof.show.parts import NUMBERS, Row, count, distance_meant, first_of, numbers
from tieproof.show.shown import AsFrame, Shown, Table
from tieproof.ties import Array, BoolArray, Estimate, FloatArray, IntArray, columns_of, for_loggers


@dataclass(frozen=True, eq=False)
class RecallAtK:
    """The share of the k nearest items that an index found.

    k : the number of nearest items to be found
    among : how many items of each list are counted
    per_query : arrays (q,): lower, expected and upper over all choices of the k nearest, and std
    others : by the name of a definition, an array (q,) of the recall that other libraries compute from the same lists
    duplicates : (q,) the number of positions with an item that is already in the list
    padding : (q,) the number of positions without an item
    cut_off : (q,) whether the tie at the k-th distance reaches the end of the list of true neighbors, and may
        continue past it
    fewer : (q,) whether the query may find fewer than k items, and its recall is the share of these
    """

    k: int
    among: int
    per_query: Estimate[FloatArray]
    others: Mapping[str, FloatArray]
    duplicates: IntArray
    padding: IntArray
    cut_off: BoolArray
    fewer: BoolArray

    @property
    def recall(self) -> Estimate[float]:
        """The mean recall over the queries."""
        return over_queries(self.per_query)

    @property
    def of_others(self) -> dict[str, float]:
        """The mean over the queries of the recall by other libraries' definitions, by the definition's name."""
        return {name: math.fsum(values.tolist()) / len(values) for name, values in self.others.items()}

    @property
    def left_open(self) -> int:
        """The number of queries whose recall depends on the choice of the k nearest."""
        return int((self.per_query.lower < self.per_query.upper).sum())

    def to_dict(self) -> dict[str, Any]:
        """Everything but the values of single queries, as plain numbers, strings and dictionaries."""
        return {
            "k": self.k,
            "among": self.among,
            "recall": asdict(self.recall),
            "others": self.of_others,
            "queries_left_open": self.left_open,
            "queries_cut_off": int(self.cut_off.sum()),
            "queries_with_fewer": int(self.fewer.sum()),
            "duplicates": int(self.duplicates.sum()),
            "padding": int(self.padding.sum()),
        }


@dataclass(frozen=True, eq=False, repr=False)
class NeighborRecall(Shown, AsFrame):
    """The recall of an index at one or several k.

    truth : where the true neighbors are from: "lists", or the distance by which they were found in the gallery
    queries : the number of queries that have an item to find
    n_items : the number of items in the gallery; None if it was not passed
    listed : the number of true neighbors that were passed for each query; None if they were found in the gallery
    points : the recall at each k
    skipped : the positions of the queries without an item to find, which are left out

    >>> import tieproof as tp
    >>> found = tp.neighbor_recall([[0, 2]], ([[0, 1, 2, 3]], [[1.0, 2.0, 2.0, 5.0]]), k=2)
    >>> print(found[2])
    0.5 ≤ 0.75 ≤ 1.0
    >>> found.at(2).of_others
    {'big-ann k-nn': 1.0}
    >>> truth = [[0, 1, 2, 3]], [[1.0, 2.0, 2.0, 5.0]]
    >>> print(tp.neighbor_recall([[0, 2, 2]], truth, k=(2, 3), distances=[[1.0, 2.0, 2.0]]))
    recall                        lower  expected   upper  tie std
    --------------------------------------------------------------
    2 nearest                    0.5000    0.7500  1.0000   0.2500
    ann-benchmarks k-nn                    1.0000
    ann-benchmarks epsilon                 1.0000
    ann-benchmarks largeepsilon            1.0000
    big-ann k-nn                           1.0000
    <BLANKLINE>
    3 nearest                    0.6667    0.6667  0.6667   0.0000
    ann-benchmarks k-nn                    1.0000
    ann-benchmarks epsilon                 1.0000
    ann-benchmarks largeepsilon            1.0000
    big-ann k-nn                           0.6667
    <BLANKLINE>
    Report 'upper': the ties are in the data.
    2 nearest: ties leave 1 query open.
    3 more: --explain, or to_text(explain=True)
    """

    truth: str
    queries: int
    n_items: int | None
    listed: int | None
    points: tuple[RecallAtK, ...]
    skipped: tuple[int, ...] = ()

    def at(self, k: int) -> RecallAtK:
        """The recall at one k with all its counts."""
        for point in self.points:
            if point.k == k:
                return point
        known = ", ".join(str(point.k) for point in self.points)
        raise InputError(f"This result has no k = {k!r}; it has {known}. Name it in k=(...).")

    def __getitem__(self, k: int) -> Estimate[float]:
        """The mean recall at one k. Its std is over the choices of the k nearest, not over the queries."""
        return self.at(k).recall

    def per_query(self, k: int) -> Estimate[FloatArray]:
        """The recall of every query at one k."""
        return self.at(k).per_query

    def to_dict(self) -> dict[str, Any]:
        """Everything but the values of single queries, as plain numbers, strings, lists and dictionaries."""
        return {
            "truth": self.truth,
            "queries": self.queries,
            "queries_left_out": len(self.skipped),
            "n_items": self.n_items,
            "listed": self.listed,
            "points": [point.to_dict() for point in self.points],
        }

    def to_flat_dict(self) -> dict[str, float]:
        """The means as numbers by name, such as `recall_at_10_lower`, for loggers of metrics.

        >>> import tieproof as tp
        >>> tp.neighbor_recall([[0, 2]], ([[0, 1, 2]], [[1.0, 2.0, 3.0]]), k=2).to_flat_dict()["recall_at_2_upper"]
        0.5
        """
        return {
            name: value
            for point in self.points
            for name, value in for_loggers(f"recall_at_{point.k}", point.recall).items()
        }

    def columns(self) -> dict[str, Array]:
        """A long table of every query and k, as arrays of equal length, with a column for each other definition."""
        table: dict[str, Array] = {
            "query": np.tile(np.delete(np.arange(self.queries + len(self.skipped)), self.skipped), len(self.points)),
            "k": np.repeat([point.k for point in self.points], self.queries),
        }
        table |= columns_of([point.per_query for point in self.points])
        for name in self.points[0].others:
            table[name] = np.concatenate([point.others[name] for point in self.points])
        for name in ("duplicates", "padding", "cut_off", "fewer"):
            table[name] = np.concatenate([getattr(point, name) for point in self.points])
        return table

    def _table(self) -> Table:
        return Table(("recall", *NUMBERS), [*map(_rows, self.points)], [*_sentences(self)], NUMBERS)

    def __repr__(self) -> str:
        shown = first_of([f"{point.recall:.4f} at k = {point.k:,}" for point in self.points])
        return f"<NeighborRecall of {count(self.queries, 'query')}: {shown}>"


def _named(point: RecallAtK) -> str:
    """The name of a row: how many nearest items are sought, and among how many found items."""
    return f"{point.k:,} nearest" + (f" among {point.among:,}" if point.among > point.k else "")


def _rows(point: RecallAtK) -> list[Row]:
    """The recall, and the numbers of other definitions, which have no interval and are in the middle column."""
    others = [(name, "", f"{value:.4f}", "", "") for name, value in point.of_others.items()]
    return [(_named(point), *numbers(point.recall)), *others]


def _sentences(result: NeighborRecall) -> Iterator[str]:
    if result.skipped:
        yield f"Left out: {count(len(result.skipped), 'query')} with no item to find."
    if any(point.left_open and point.cut_off.any() for point in result.points):
        yield "Report 'expected': 'upper' also counts items behind the ends of the true lists."
    elif any(point.left_open for point in result.points):
        yield "Report 'upper': the ties are in the data."
    for point in result.points:
        notable = list(_notable(point))
        if notable:
            yield f"{_named(point)}: {'; '.join(notable)}."
    by = f"lists of {count(result.listed, 'true neighbor')}" if result.listed else distance_meant(result.truth)
    among = "" if result.listed or result.n_items is None else f" among {count(result.n_items, 'item')}"
    yield f"{count(result.queries, 'query')}, by {by}{among}."
    yield (
        "'upper' is 1 if the found items include k items that no other item is nearer than; 'expected' and 'lower' "
        "are the average and the worst recall by a list of ids in which ties were broken arbitrarily."
    )


def _notable(point: RecallAtK) -> Iterator[str]:
    if point.left_open:
        yield f"ties leave {count(point.left_open, 'query')} open"
    if point.fewer.any():
        fewer = int(point.fewer.sum())
        needs = "needs" if fewer == 1 else "need"
        yield f"{count(fewer, 'query')} can find fewer than {point.k:,} items, and {needs} only these"
    cut_off = int(point.cut_off.sum())
    if cut_off:
        yield (
            f"the last tie reaches the end of {count(cut_off, 'true list')} and may continue beyond it, so that "
            "'upper' counts any item that they do not list; in a certified truth, all ties are whole"
        )
    for positions, what in ((point.duplicates, "an item that its list has already"), (point.padding, "no item")):
        held = int(positions.sum())
        if held:
            yield f"{count(held, 'place')} {'holds' if held == 1 else 'hold'} {what}"
