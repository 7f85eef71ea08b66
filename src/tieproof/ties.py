"""`Ties`: all that a measure reads of a ranking; `Estimate`: the values of a measure over the orderings of ties.

`CutOffTies` adds what is known of the unseen items of a ranking whose first items alone are listed.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from tieproof.errors import InputError

Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.int64]
SmallIntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
WordArray = npt.NDArray[np.uint64]

NO_RANK = np.iinfo(np.int64).max
"""A number larger than every rank."""

ROUNDING = 1e-12
"""Values that differ by no more than this count as equal: values of queries have a relative error below 1e-12."""

Number = TypeVar("Number", float, FloatArray)


@dataclass(frozen=True)
class Estimate(Generic[Number]):
    """The values of a measure over all orderings of the tied items.

    lower, upper : the smallest and the largest value
    expected, std : the mean and the standard deviation when every ordering of the tied items is equally likely; std
        therefore measures what ties leave open, not how much queries differ
    noise : the `Bounds` over all rankings that are possible under noise; None if the evaluation was given no noise

    An estimate is printed as lower ≤ expected ≤ upper, each number in the format given. It is not a number, and
    `float` refuses it: take one of the three.

    >>> f"{Estimate(0.5, 0.75, 1.0, 0.25):.3f}", str(Estimate(0.5, 0.75, 1.0, 0.25))
    ('0.500 ≤ 0.750 ≤ 1.000', '0.5 ≤ 0.75 ≤ 1.0')
    """

    lower: Number
    expected: Number
    upper: Number
    std: Number
    noise: ClassVar[Any] = None

    def __format__(self, spec: str) -> str:
        """Return the lower, expected and upper value, each in this format."""
        return " ≤ ".join(format(value, spec) for value in (self.lower, self.expected, self.upper))

    def __str__(self) -> str:
        """Return the lower, expected and upper value."""
        return format(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Show the interval in a notebook."""
        if np.ndim(self.lower):
            printer.text(f"<Estimate of {len(np.ravel(self.lower)):,} values: arrays lower, expected, upper and std>")
        else:
            printer.text(f"{self:.4f}, std {self.std:.4f}")

    def __float__(self) -> float:
        """Refuse: the caller has to choose one of the three numbers."""
        raise TypeError(
            "An estimate is an interval and not one number. Take .lower, which is the score to report (.upper for an "
            "error), .expected or .upper."
        )


@dataclass(frozen=True)
class Bounds(Generic[Number]):
    """The smallest and the largest value of a measure that are possible, or numbers beyond them on the safe side.

    >>> f"{Bounds(0.25, 1.0):.3f}"
    '0.250 to 1.000'
    """

    lower: Number
    upper: Number

    def __format__(self, spec: str) -> str:
        """Return both values, each in this format."""
        return f"{format(self.lower, spec)} to {format(self.upper, spec)}"


@dataclass(frozen=True)
class NoisyEstimate(Estimate[Number]):
    """The estimate of an evaluation with noise; `noise` has the bounds over all rankings that are then possible."""

    noise: Bounds[Number]  # type: ignore[misc]  # in an estimate without noise it is None


@dataclass(frozen=True)
class Ties:
    """The T ties of Q queries that contain a relevant item, nearest first within each query.

    A tie is a set of gallery items at exactly the same distance from the query; a single item is a tie of
    size one. The letters are those of Nicolaou et al. 2018, section 4.2. Relevant items may be missing: they
    count in n_relevant, but are in no tie and were never retrieved.

    query : (T,) position of the tie's query, 0 … Q-1, in ascending order
    k : (T,) items strictly nearer than the tie
    n : (T,) relevant items strictly nearer than the tie
    l : (T,) items in the tie
    m : (T,) relevant items in the tie, at least 1
    n_relevant : (Q,) relevant items of the query (R)
    n_items : (Q,) items ranked for the query (N): the gallery without the excluded ones
    grades : (sum of m,) grades of the relevant items, tie after tie, in descending order within a tie; None: all
        are 1
    missing_grades : grades of the missing relevant items, query after query, in descending order within a query;
        None although `grades` is given: unknown
    judged : the ties of the judged items alone; None: all items are judged
    unjudged : the ties that contain unjudged items, which take the place of relevant ones; None: all are judged
    noise : the extreme rankings under noise; None: there is no noise

    These are computed from the arrays when a `Ties` is made, because every measure reads them:

    starts : (Q + 1,) index of the first tie of each query, and the number of ties
    depth, depth_of_several : the last rank of the deepest tie, and of the deepest tie of several items; 0 without any
    largest : items in the largest tie, 0 without ties
    """

    query: IntArray
    k: IntArray
    n: IntArray
    l: IntArray
    m: IntArray
    n_relevant: IntArray
    n_items: IntArray
    grades: FloatArray | None = field(default=None)
    missing_grades: FloatArray | None = field(default=None)
    judged: "JudgedTies | None" = field(default=None, kw_only=True)
    unjudged: "Ties | None" = field(default=None, kw_only=True)
    noise: "ExtremeRankings | None" = field(default=None, kw_only=True)
    starts: IntArray = field(init=False)
    depth: int = field(init=False)
    depth_of_several: int = field(init=False)
    largest: int = field(init=False)

    def __post_init__(self) -> None:
        """Compute the fields that depend on the arrays."""
        object.__setattr__(self, "starts", np.searchsorted(self.query, np.arange(self.n_queries + 1)))
        ends = self.k + self.l
        object.__setattr__(self, "depth", int(ends.max(initial=0)))
        object.__setattr__(self, "depth_of_several", int(ends.max(initial=0, where=self.l > 1)))
        object.__setattr__(self, "largest", int(self.l.max(initial=0)))

    def last_ranks(self, last: IntArray | None) -> IntArray:
        """Return `last`, or if it is None a rank beyond every item for each query, (Q,)."""
        return np.full(self.n_queries, NO_RANK) if last is None else last

    @property
    def n_queries(self) -> int:
        """Q, the number of queries."""
        return len(self.n_relevant)

    @property
    def several(self) -> IntArray:
        """Indices of the ties of more than one item."""
        return np.flatnonzero(self.l > 1)

    @property
    def listed(self) -> IntArray:
        """The relevant items of each query that are in a tie, (Q,)."""
        return np.diff(np.append(0, np.cumsum(self.m))[self.starts])

    @property
    def missing(self) -> IntArray:
        """The relevant items of each query that are in no tie, (Q,)."""
        return self.n_relevant - self.listed

    @property
    def open_ends(self) -> npt.NDArray[np.bool_]:
        """Which queries have a last tie that may continue, with a relevant item in it or missing, (Q,)."""
        return np.zeros(self.n_queries, dtype=np.bool_)

    def at_level(self, level: float) -> "Ties":
        """Return the ties if only items of at least this grade are relevant; the others remain in the rankings."""
        if self.grades is None and level <= 1:
            return self
        grades = np.ones(int(self.m.sum())) if self.grades is None else self.grades
        missing = self._missing_grades()
        stays = grades >= level
        if stays.all() and (missing >= level).all():
            return self
        m = np.diff(np.append(0, np.cumsum(stays))[np.append(0, np.cumsum(self.m))])
        before = np.cumsum(m) - m
        rows = np.flatnonzero(m)
        first = np.append(before, m.sum())[self.starts[:-1]]
        n_missing = np.bincount(
            np.repeat(np.arange(self.n_queries), self.missing)[missing >= level], minlength=self.n_queries
        )
        listed = np.diff(np.append(0, np.cumsum(m))[self.starts])
        return replace(
            self,
            query=self.query[rows],
            k=self.k[rows],
            n=(before - first[self.query])[rows],
            l=self.l[rows],
            m=m[rows],
            n_relevant=listed + n_missing,
            grades=grades[stays],
            missing_grades=missing[missing >= level],
            judged=None if self.judged is None else self.judged.at_level(level),
            noise=None,  # which tells all relevant items from others
        )

    def _missing_grades(self) -> FloatArray:
        """Return the grades of the missing relevant items; refuse to guess them."""
        count = int(self.missing.sum())
        if self.grades is None or not count:
            return np.ones(count)
        if self.missing_grades is None:
            raise InputError(
                f"The grades of {count:,} relevant items that are not in the lists are unknown, so they cannot be "
                "compared with rel. Pass whole lists, or use evaluate_run, which reads all grades from the qrels."
            )
        return self.missing_grades


@dataclass(frozen=True)
class JudgedTies:
    """The ties of Q queries when all items without a judgment are left out of their rankings.

    ties : the ties, with the relevant items of the whole rankings, listed and missing
    n_others : (Q,) items that were judged not relevant, in the list or not
    """

    ties: Ties
    n_others: IntArray

    def at_level(self, level: float) -> "JudgedTies":
        """Return the ties if only items of at least this grade are relevant; the others were judged not relevant."""
        ties = self.ties.at_level(level)
        return JudgedTies(ties, self.n_others + self.ties.n_relevant - ties.n_relevant)


class ExtremeRankings(NamedTuple):
    """The worst and the best ranking of Q queries under noise: `Ties` of single items, without grades.

    In the worst ranking every relevant item is as far as it may be, and every other item as near (docs/noise.md).
    """

    worst: Ties
    best: Ties


@dataclass(frozen=True)
class ListEnd:
    """The last ties of the lists of Q queries that were cut off; each tie may continue beyond the end of its list.

    k, n, l, m : (Q,) as in `Ties`; l and m may be 0
    others : (Q,) how many more items that are not relevant the tie may contain; infinity if unknown
    """

    k: IntArray
    n: IntArray
    l: IntArray
    m: IntArray
    others: FloatArray


Unseen = Literal["tied", "behind", "anywhere"]
"""Where the unseen items of a ranking may stand, if only its first items are listed.

tied: none is nearer than the last listed item, any of them may be as near, and no other is ranked: missing relevant
    items that are not in the last tie were never retrieved
behind: none is nearer than the last listed item, and all are ranked, at the last tie or behind it
anywhere: all are ranked, at any ranks
"""


@dataclass(frozen=True)
class CutOffTies(Ties):
    """The ties of the first items of rankings, and what is known of their unseen items.

    The unseen relevant items are the missing ones, and `end.others` are all others. Where they may stand is `unseen`;
    if it is not "tied", `end.others` is finite.
    """

    end: ListEnd = field(kw_only=True)
    unseen: Unseen = field(default="tied", kw_only=True)

    @property
    def open_ends(self) -> npt.NDArray[np.bool_]:
        """Which queries have unseen items that may change a score, (Q,)."""
        unseen = self.missing + self.end.others
        among_listed = (self.n_items, self.listed) if self.unseen == "anywhere" else (self.end.l, self.end.m)
        items, relevant = among_listed[0] + unseen, among_listed[1] + self.missing
        # Relevant items alone matter only if they may also remain outside the ranking.
        return np.asarray((unseen > 0) & (relevant > 0) & ((relevant < items) | (self.unseen == "tied")))

    def at_level(self, level: float) -> "CutOffTies":
        """Return the ties if only items of at least this grade are relevant; the others remain in the rankings."""
        ties, end = super().at_level(level), self.end
        assert isinstance(ties, CutOffTies)
        if ties is self:
            return self
        last = np.zeros_like(end.m)
        ends = ties.k == end.k[ties.query]
        last[ties.query[ends]] = ties.m[ends]
        nearer = np.bincount(
            ties.query, weights=np.where(ties.k < end.k[ties.query], ties.m, 0), minlength=ties.n_queries
        )
        others = end.others + (self.missing - ties.missing)
        return replace(ties, end=ListEnd(end.k, nearer.astype(np.int64), end.l, np.where(end.m, last, 0), others))

    @cached_property
    def with_others(self) -> Ties:
        """The ties if each last tie also contained all other items: for most measures the worst continuation."""
        return self.continued(np.zeros_like(self.missing), self.end.others)

    @cached_property
    def with_missing(self) -> Ties:
        """The ties if each last tie also contained all missing relevant items: the best continuation."""
        return self.continued(self.missing, np.zeros(self.n_queries))

    def continued(self, relevant: IntArray, others: FloatArray) -> Ties:
        """Return the ties if each last tie also contained so many missing relevant items and other items, (Q,) each.

        The missing items with the smallest grades join the tie first. With infinitely many other items the relevant
        items of the tie have no finite rank: they become missing items, and n_items does not count the others.
        """
        end = self.end
        finite = np.isfinite(others)
        more = relevant + np.where(finite, others, 0.0).astype(np.int64)
        m = np.where(finite, end.m + relevant, 0)
        rows, ends = np.flatnonzero(self.k < end.k[self.query]), np.flatnonzero(m)
        order = np.argsort(np.concatenate([self.query[rows], ends]), kind="stable")

        def joined(inside: IntArray, last: IntArray) -> IntArray:
            return np.concatenate([inside[rows], last[ends]])[order]

        grades, missing_grades = self._continued_grades(relevant, finite)
        return Ties(
            query=joined(self.query, np.arange(self.n_queries)),
            k=joined(self.k, end.k),
            n=joined(self.n, end.n),
            l=joined(self.l, end.l + more),
            m=joined(self.m, m),
            n_relevant=self.n_relevant,
            n_items=self.n_items + more,
            grades=grades,
            missing_grades=missing_grades,
        )

    def _continued_grades(
        self, relevant: IntArray, finite: npt.NDArray[np.bool_]
    ) -> tuple[FloatArray | None, FloatArray | None]:
        """Return the grades in the ties and the missing grades, when so many missing items join the last tie."""
        missing, grades, missing_grades = self.missing, self.grades, self.missing_grades
        if grades is None:
            return None, None
        if missing_grades is None:
            if missing.any():
                return None, None
            missing_grades = np.zeros(0)
        absent = np.repeat(np.arange(self.n_queries), missing)
        place = np.arange(len(absent)) - np.repeat(np.cumsum(missing) - missing, missing)
        query = np.concatenate([np.repeat(self.query, self.m), absent])
        k = np.concatenate([np.repeat(self.k, self.m), self.end.k[absent]])
        ranked = np.concatenate([np.ones(len(grades), dtype=np.bool_), place >= (missing - relevant)[absent]])
        ranked &= finite[query] | (k < self.end.k[query])
        grade = np.concatenate([grades, missing_grades])
        order = np.lexsort((-grade, np.where(ranked, k, 0), query, ~ranked))
        count = int(ranked.sum())
        return grade[order[:count]], grade[order[count:]]


Parts = Iterable[tuple[IntArray, Ties]]
"""Part by part: the numbers of some queries, and the ties of their rankings."""
