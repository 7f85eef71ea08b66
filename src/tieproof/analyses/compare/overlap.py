"""`rbo`: rank-biased overlap of two rankings with ties, and its bounds over all orders of tied items."""

import math
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from tieproof.analyses.compare.rankings import Matched, matched
from tieproof.errors import InputError
from tieproof.inputs.options import plain
from tieproof.measures.numbers import Pair
from tieproof.measures.rank_weights import Geometric
from tieproof.show.shown import Row, Shown, Table
from tieproof.ties import FloatArray, IntArray

LARGEST_P = 0.999999  # with this persistence, a reader looks at a million ranks on average


@dataclass(frozen=True)
class Overlap:
    """Rank-biased overlap of two rankings of which only the first items are known.

    extrapolated : if the agreement goes on as at the end of the lists (RBO_EXT)
    minimum, maximum : the bounds over all continuations of the lists (RBO_MIN and RBO_MAX)
    """

    extrapolated: float
    minimum: float
    maximum: float

    @property
    def residual(self) -> float:
        """How much the unknown items leave open (RBO_RES)."""
        return self.maximum - self.minimum


@dataclass(frozen=True)
class RankBiasedOverlap(Shown):
    """Rank-biased overlap over all orders of tied items, and by three treatments of ties (Corsi and Urbano 2024).

    p : the persistence
    lower, expected, upper : the smallest, the mean and the largest value over all orders of tied items, of both
        rankings independently
    w : RBO^w, where tied items really have one rank
    a : RBO^a, the mean over orders of ties; extrapolated and maximum differ from `expected` if the longer list has a
        tie behind the end of the shorter one
    b : RBO^b, which is 1 for equal rankings with ties
    """

    p: float
    lower: Overlap
    expected: Overlap
    upper: Overlap
    w: Overlap
    a: Overlap
    b: Overlap

    def _table(self) -> Table:
        rows = [_row(name, getattr(self, name)) for name in TREATMENTS]
        notes = [
            f"Rank-biased overlap with p = {self.p:g}.",
            "lower, expected and upper are over all orders of tied items; w, a and b treat ties as Corsi and Urbano "
            "(2024) do. extrapolated assumes that the agreement goes on as "
            "at the end of the lists; minimum and maximum are the bounds over all continuations.",
        ]
        return Table(("ties", *NUMBERS), [rows[:3], rows[3:]], notes, NUMBERS)


TREATMENTS = tuple(field.name for field in fields(RankBiasedOverlap) if field.name != "p")
NUMBERS = tuple(field.name for field in fields(Overlap))


def _row(name: str, overlap: Overlap) -> Row:
    return (name, *(f"{getattr(overlap, number):.4f}" for number in NUMBERS))


def rbo(first: Any, second: Any, *, p: float = 0.9) -> RankBiasedOverlap:
    """Rank-biased overlap of two rankings, which may contain ties, different items and different numbers of them.

    Parameters
    ----------
    first, second : {item: score}, where larger scores come first, or a list of items
        In a list, a list, tuple or set of items is a tie: ["a", {"b", "c"}, "d"].
    p : number between 0 and 1, at most 0.999999
        The persistence: a reader goes on to the next rank with this probability. The first 10 ranks have 86% of the
        weight if p = 0.9, and the first 50 ranks have 85% if p = 0.98 (Webber et al. 2010, equation 21).

    Returns
    -------
    RankBiasedOverlap
        Its `lower`, `expected` and `upper` are over all orders of tied items, and `w`, `a` and `b` are the treatments
        of ties of Corsi and Urbano 2024. Each has `extrapolated` (the usual score), `minimum` and `maximum`. Lists
        without a common item have the overlap 0.

    Raises
    ------
    InputError
        If a ranking is empty or names an item twice, if a score is NaN or infinity, or p is out of range.

    Notes
    -----
    Sources: Webber, Moffat and Zobel 2010, "A similarity measure for indefinite rankings", and Corsi and Urbano 2024,
    "The Treatment of Ties in Rank-Biased Overlap". The largest overlap of all depths at once has each tie in the
    order of the other ranking, and the smallest one in the reverse order, which is why the bounds are exact.

    Examples
    --------
    >>> import tieproof as tp
    >>> print(tp.rbo(["red", {"blue", "green"}, "yellow"], [{"blue", "red"}, "white", "yellow"], p=0.8))
    ties      extrapolated  minimum  maximum
    ----------------------------------------
    lower           0.5493   0.4044   0.6517
    expected        0.6893   0.5444   0.7917
    upper           0.8293   0.6844   0.9317
    <BLANKLINE>
    w               0.7307   0.5857   0.8331
    a               0.6893   0.5444   0.7917
    b               0.7493   0.6044   0.8517
    <BLANKLINE>
    Rank-biased overlap with p = 0.8.
    1 more: --explain, or to_text(explain=True)

    """
    pair, _, _ = matched(first, second)
    return overlap_of(pair, Persistence.of(p, len(pair.first.start) + len(pair.second.start)))


class Persistence(NamedTuple):
    """The persistence p, and its powers p^0, p^1, … as far as they are needed, and above 0."""

    p: float
    powers: Pair

    @classmethod
    def of(cls, p: float, ranks: int) -> "Persistence":
        """The powers up to p^ranks; refuse a p that is no number between 0 and 1, or too near to 1."""
        number = plain(p)
        is_number = isinstance(number, int | float | np.longdouble) and not isinstance(number, bool)
        if not is_number or not 0 < number <= LARGEST_P:
            raise InputError(
                f"p must be a number larger than 0 and at most {LARGEST_P}, such as 0.9, not {p!r}.", "p"
            )
        weights, last = Geometric(float(p)), 1
        while last < ranks and weights.power(np.array([last])).hi[0] > 0:
            last *= 2
        return cls(float(p), weights.power(np.arange(min(last, ranks) + 1)))


def overlap_of(pair: Matched, persistence: Persistence) -> RankBiasedOverlap:
    """The overlap of two rankings by all treatments of ties."""
    if len(pair.first.start) > len(pair.second.start):
        pair = Matched(pair.second, pair.first, pair.row_second, pair.row_first)
    if max(pair.first.size.max(), pair.second.size.max()) == 1:
        return RankBiasedOverlap(persistence.p, *_overlaps(pair, persistence, 1) * len(TREATMENTS))
    lower, upper = (_overlaps(pair.broken(sign), persistence, 1)[0] for sign in (-1, 1))
    mean, w, a, b = _overlaps(pair, persistence, 4)
    within = (  # rounding may move a mean beyond equal bounds
        min(max(getattr(mean, number), getattr(lower, number)), getattr(upper, number)) for number in NUMBERS
    )
    return RankBiasedOverlap(persistence.p, lower, Overlap(*within), upper, w, a, b)


class _Agreement(NamedTuple):
    """The agreement of a short and a long ranking at the depths 1 … D: items in common, divided by a number of items.

    likely : the mean chance of an item that only the long ranking has to be in its prefix, among those with a chance
    """

    common: FloatArray
    divisor: FloatArray
    likely: FloatArray | float
    most: FloatArray  # how many of these items can be in both prefixes if the short ranking continues with them


def _overlaps(pair: Matched, persistence: Persistence, treatments: int) -> list[Overlap]:
    """The mean over orders of ties, and the treatments w, a and b; the first ranking is not the longer one."""
    p, powers = persistence
    short, long, both = len(pair.first.start), len(pair.second.start), len(pair.row_first)
    items = short + long - both
    depth = np.arange(1, min(len(powers.hi), items + 1))  # deeper ones weigh nothing
    weight = powers[: len(depth)] * (1.0 - Pair.of(p))
    top, behind = slice(0, long), slice(long, None)
    unseen = math.fsum(
        [*_terms(2.0 - items / depth[behind], weight[behind]), *_terms(np.ones(1), powers[items:][:1])]
    )
    shared = both * (1 - p) * math.fsum(powers.hi[long : long + 1]) * _series(long + 1, p)

    def summed(agreement: _Agreement) -> Overlap:
        common, divisor, likely, most = agreement
        unknown = np.maximum(depth[top] - short, 0)
        rate = float(common[short - 1] / divisor[short - 1]) if short <= len(common) else 0.0
        going_on = np.array([(both + (long - short) * rate) / long])
        extrapolated = _terms((common + unknown * rate * likely) / divisor, weight[top])
        return Overlap(
            math.fsum([*extrapolated, *_terms(going_on, powers[long:][:1])]),
            math.fsum([*_terms(common / divisor, weight[top]), shared]),
            math.fsum([*_terms((common + most) / divisor, weight[top]), unseen]),
        )

    return [summed(agreement) for agreement in _agreements(pair, depth[top])[:treatments]]


def _terms(values: FloatArray, weights: Pair) -> list[float]:
    """The products of values and weights, and the sum of what is lost by rounding the weights."""
    count = len(weights.hi)
    return [*(values[:count] * weights.hi).tolist(), *np.cumsum(values[:count] * weights.lo)[-1:].tolist()]


def _agreements(pair: Matched, depth: IntArray) -> list[_Agreement]:
    """The agreements at each depth, in the order of `_overlaps`."""
    short, long = pair.first, pair.second
    starts = short.start[pair.row_first], long.start[pair.row_second]
    ends = starts[0] + short.size[pair.row_first], starts[1] + long.size[pair.row_second]
    inside, length, before = zip(*(_tie_at(ranking.start, depth) for ranking in (short, long)), strict=True)
    count = len(depth)
    # A tie that a prefix cuts has each of its items in the prefix with the chance inside / length.
    common = (
        _present(np.maximum(*ends), None, count)
        + _present(np.maximum(starts[0] + 1, ends[1]), ends[0], count) * inside[0] / length[0]
        + _present(np.maximum(starts[1] + 1, ends[0]), ends[1], count) * inside[1] / length[1]
        + _present(np.maximum(*starts) + 1, np.minimum(*ends), count)
        * (inside[0] * inside[1])
        / (length[0] * length[1])
    )
    whole = _present(np.maximum(*starts) + 1, None, count)
    only = np.ones(len(long.start), dtype=np.bool_)
    only[pair.row_second] = False
    start, end = long.start[only], long.start[only] + long.size[only]
    sure, cut = _present(end, None, count), _present(start + 1, end, count)
    unknown = np.maximum(depth - len(short.start), 0.0)
    chance = inside[1] / length[1]
    likely = (sure + cut * chance) / np.maximum(sure + cut, 1)
    most = np.minimum(unknown, sure) + np.minimum(np.maximum(unknown - sure, 0), cut) * chance
    size = depth.astype(np.float64)
    squares = [each + within**2 / of for each, within, of in zip(before, inside, length, strict=True)]
    touched = [each + of for each, of in zip(before, length, strict=True)]
    return [
        _Agreement(common, size, 1.0, unknown),
        _Agreement(whole, (touched[0] + touched[1]) / 2, 1.0, unknown),
        _Agreement(common, size, likely, most),
        _Agreement(common, np.sqrt(squares[0] * squares[1]), likely, most),
    ]


def _tie_at(start: IntArray, depth: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """For each depth: how many items of the tie that contains this rank are in the prefix, its size, and its start.

    Behind the end of a ranking, each unknown item is a tie of its own.
    """
    count = np.append(
        np.bincount(start, minlength=len(start)), np.ones(max(len(depth) - len(start), 0), dtype=np.int64)
    )
    begin = np.flatnonzero(count)
    length = np.repeat(count[begin], count[begin])[: len(depth)].astype(np.float64)
    before = np.repeat(begin, count[begin])[: len(depth)].astype(np.float64)
    return depth - before, length, before


def _present(first: IntArray, stop: IntArray | None, count: int) -> FloatArray:
    """How many of the items are counted at each depth 1 … count, if each is from `first` on, and before `stop`."""
    steps = np.bincount(np.minimum(first, count + 1), minlength=count + 2)
    if stop is not None:
        steps = steps - np.bincount(np.minimum(np.maximum(first, stop), count + 1), minlength=count + 2)
    return np.cumsum(steps)[1 : count + 1].astype(np.float64)


def _series(first: int, p: float) -> float:
    """The sum of p^k / (first + k), k = 0, 1, …, by Gauss's continued fraction, which needs no logarithm.

    Its relative error is below 1e-11 if p is at most `LARGEST_P`.

    >>> _series(1, 0.5)  # 2 ln 2
    1.3862943611198906
    """
    terms = int(20 / math.sqrt(1 - p)) + 20
    value = float(first + 2 * terms)
    for term in range(terms, 0, -1):
        value = first + 2 * term - 1 - term**2 * p / value
        value = first + 2 * term - 2 - (first + term - 1) ** 2 * p / value
    return 1 / value
