"""`Ties`: all that a measure reads of a ranking; `Estimate`: the values of a measure over the orderings of ties."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from tieproof.errors import InputError

Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.int64]
SmallIntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
WordArray = npt.NDArray[np.uint64]

NO_RANK = np.iinfo(np.int64).max  # larger than every rank
ROUNDING = 1e-12  # values that differ by no more count as equal: those of queries have a relative error below this
Number = TypeVar("Number", float, FloatArray)


@dataclass(frozen=True)
class Estimate(Generic[Number]):
    """The values of a measure over all orderings of the tied items.

    lower, upper : the smallest and the largest value
    expected, std : the mean and the standard deviation when every ordering of the tied items is equally likely; std
        therefore measures what ties leave open, not how much queries differ
    noise : the `Bounds` over all rankings that are possible under noise; None if the evaluation was given no noise

    An estimate is printed as lower ≤ expected ≤ upper, each number in the format given. It is not a number, and
    `float` refuses it: take one of the three. `round` rounds each of its values, and returns an estimate.

    >>> f"{Estimate(0.5, 0.75, 1.0, 0.25):.3f}", str(Estimate(0.5, 0.75, 1.0, 0.25))
    ('0.500 ≤ 0.750 ≤ 1.000', '0.5 ≤ 0.75 ≤ 1.0')
    >>> print(round(Estimate(0.5, 2 / 3, 1.0, 0.25), 3))
    0.5 ≤ 0.667 ≤ 1.0
    """

    lower: Number
    expected: Number
    upper: Number
    std: Number
    noise: ClassVar[Any] = None

    def __format__(self, spec: str) -> str:
        return " ≤ ".join(format(value, spec) for value in (self.lower, self.expected, self.upper))

    def __str__(self) -> str:
        return format(self)

    def __round__(self, digits: int = 0) -> "Estimate[Number]":
        """Return the estimate with each value rounded to this many decimals, without its noise."""
        values: Any = (self.lower, self.expected, self.upper, self.std)
        one = all(isinstance(each, float) for each in values)
        return Estimate(*(round(each, digits) if one else np.round(each, digits) for each in values))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        if np.ndim(self.lower):
            printer.text(f"<Estimate of {len(np.ravel(self.lower)):,} values: arrays lower, expected, upper and std>")
        else:
            printer.text(f"{self:.4f}, std {self.std:.4f}")

    def __float__(self) -> float:
        """Refuse: the caller has to choose one of the three numbers."""
        raise TypeError(
            "An estimate is an interval and not one number. Take .expected, which stands beside published numbers, "
            "or .lower for a claim (.upper for an error)."
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
        return f"{format(self.lower, spec)} to {format(self.upper, spec)}"


@dataclass(frozen=True)
class NoisyEstimate(Estimate[Number]):
    """The estimate of an evaluation with noise; `noise` has the bounds over all rankings that are then possible."""

    noise: Bounds[Number]  # type: ignore[misc]  # in an estimate without noise it is None


VALUES = ("lower", "expected", "upper", "std")  # the names of the values of an estimate


def of_queries(estimate: Estimate[FloatArray], chosen: Any) -> Estimate[FloatArray]:
    """Return the values of some queries, chosen by a mask, a slice or their indices."""
    return Estimate(*(getattr(estimate, name)[chosen] for name in VALUES))


def by_name(estimate: Estimate[Number]) -> dict[str, Number]:
    """Return the values of an estimate by the names of their columns, and those of its noise, if it has any."""
    values: dict[str, Number] = {name: getattr(estimate, name) for name in VALUES}
    noise = estimate.noise
    return values if noise is None else values | {"noise_lower": noise.lower, "noise_upper": noise.upper}


def columns_of(estimates: Sequence[Estimate[FloatArray]]) -> dict[str, FloatArray]:
    """Return the columns of estimates, one below the other."""
    named = [by_name(estimate) for estimate in estimates]
    return {name: np.concatenate([values[name] for values in named]) for name in named[0]}


def for_loggers(name: str, estimate: Estimate[float]) -> dict[str, float]:
    """Return the values of an estimate for loggers of metrics, under this name with a suffix.

    >>> for_loggers("rr", Estimate(0.5, 0.75, 1.0, 0.25))
    {'rr_lower': 0.5, 'rr_expected': 0.75, 'rr_upper': 1.0, 'rr_tie_std': 0.25}
    """
    return {f"{name}_{'tie_std' if each == 'std' else each}": getattr(estimate, each) for each in VALUES}


@dataclass(frozen=True, eq=False)
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
    n_ranked : (Q,) items of each whole ranking, if these are the ties of the items that are listed; None: all are

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
    n_ranked: IntArray | None = field(default=None, kw_only=True)
    starts: IntArray = field(init=False)
    depth: int = field(init=False)
    depth_of_several: int = field(init=False)
    largest: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "starts", np.searchsorted(self.query, np.arange(self.n_queries + 1)))
        ends = self.k + self.l
        object.__setattr__(self, "depth", int(ends.max(initial=0)))
        object.__setattr__(self, "depth_of_several", int(ends.max(initial=0, where=self.l > 1)))
        object.__setattr__(self, "largest", int(self.l.max(initial=0)))

    def share(self, of_ranked: Fraction) -> IntArray:
        """Return how many items a share of those that each query ranks is, halves to even, and at least 1, (Q,)."""
        n_ranked = self.n_items if self.n_ranked is None else self.n_ranked
        items, rest = np.divmod(n_ranked * of_ranked.numerator, of_ranked.denominator)
        items += (2 * rest > of_ranked.denominator) | ((2 * rest == of_ranked.denominator) & (items % 2 == 1))
        return np.maximum(items, 1)

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
    def open_ends(self) -> BoolArray:
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
    """The ties of Q queries when all items without a judgment are left out of their rankings."""

    ties: Ties  # with the relevant items of the whole rankings, listed and missing
    n_others: IntArray  # (Q,) items that were judged not relevant, in the list or not

    def at_level(self, level: float) -> "JudgedTies":
        """Return the ties if only items of at least this grade are relevant; the others were judged not relevant."""
        ties = self.ties.at_level(level)
        return JudgedTies(ties, self.n_others + self.ties.n_relevant - ties.n_relevant)


class ExtremeRankings(NamedTuple):
    """The worst and the best ranking of Q queries under noise: `Ties` of single items, without grades.

    In the worst ranking every relevant item is as far as it may be, and every other item as near (engine/README.md).
    """

    worst: Ties
    best: Ties


Parts = Iterable[tuple[IntArray, Ties]]  # part by part: the numbers of some queries, and the ties of their rankings
