"""The distribution of a sum of independent ties, as two step functions between which the true one lies.

Where the sum has few values, they are all computed. Otherwise its characteristic function is, at N whole numbers, and
the distribution follows from Selberg's majorant and minorant: the trigonometric polynomials of degree N that lie
above and below the indicator of an interval, and whose areas differ from it by 1 / (N + 1) alone (Vaaler 1985, "Some
extremal functions in Fourier analysis", theorems 18 and 19). Their means are exact bounds of the probability of the
interval. All rounding errors are bounded and added outwards.

Ties that add too little to be walked through are replaced by normal distributions with a proven error.
"""

from collections.abc import Iterator, Sequence
from math import log
from typing import NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.measures.distribution import paths
from tieproof.measures.distribution.paths import BLOCK, UNIT, ComplexArray, Outcomes
from tieproof.measures.distribution.tied import Ambiguous, Tied
from tieproof.measures.distribution.values import LOST, MOST_TIES, Values, values_of
from tieproof.ties import Estimate, FloatArray, IntArray

_BUDGET = 2**21  # ties of up to so many cells in all are always walked through
_SHAPE = 400  # a place of a shape costs as much as so many cells, however many ties have that shape


class Rest(NamedTuple):
    """Ties that add too little to be walked through: how much they add in all, (R,) each."""

    mean: FloatArray  # mean, variance: of what each tie adds beyond its least, times how often it occurs
    variance: FloatArray
    far: FloatArray  # how far each may be from its mean
    largest: float

    def means(self, numbers: FloatArray) -> tuple[ComplexArray, FloatArray]:
        """The mean of e(n v) for v the sum of the ties, and a bound on its error, for all numbers n, in turns."""
        # For a tie with the mean m, exp(i t (v - m)) has the mean 1 - t² variance / 2, with an error of at most |t|³
        # far variance / 6, and exp(-t² variance / 2) differs from that by at most t⁴ variance² / 8. All these factors
        # are at most 1, so that the errors of a product add up.
        angle = 2.0 * np.pi * numbers
        variance = float(self.variance.sum())
        third, fourth = float((self.far * self.variance).sum()), self.largest * variance
        turns = numbers * float(self.mean.sum())
        means = np.exp(2j * np.pi * (turns - np.rint(turns)) - angle * angle * (variance / 2.0))
        error = angle**3 * (third / 6.0) + angle**4 * (fourth / 8.0)
        # Means and variances of single ties have a relative error below 1e-12.
        error += 1e-12 * (angle * angle * variance + 8.0 * np.abs(turns)) + 64.0 * UNIT
        return means, np.minimum(error * (1.0 + 1e-9), 2.0)

    def growth(self, rates: FloatArray) -> FloatArray:
        """Return a bound on the logarithm of the mean of exp(rate v) for all rates (Bennett 1962)."""
        total = rates * float(self.mean.sum())
        for at, rate in enumerate(np.abs(rates).tolist()):
            far = rate * self.far
            total[at] += float((self.variance * rate * rate * _bennett(far)).sum())
        return total


def _bennett(x: FloatArray) -> FloatArray:
    """Return (exp(x) - 1 - x) / x² for x >= 0, or a little more: a bound by its series where x is small."""
    small = x < 1e-3
    safe = np.where(small, 1.0, x)
    return np.where(small, 0.5 + x / 6.0 + x * x / 12.0, (np.expm1(safe) - safe) / (safe * safe))


def chosen_ties(ties: Sequence[Ambiguous], known: Estimate[float], resolution: float) -> tuple[list[Ambiguous], Rest]:
    """Return the ties to walk through, and the rest, whose distribution is replaced by one with a known error."""
    # Ties with a large third moment at little cost come first. The rest is so small that the error of a probability
    # is far below the probability of a part of the range that is as long as the resolution.
    empty = np.zeros(0)
    rest = [Rest(empty, empty, empty, 0.0)]
    limit, chosen = resolution * known.std**2 / (20.0 * max(1, len(ties))), []
    for each in ties:
        width, mean, variance = each.moments.T
        far = np.maximum(mean, width - mean) * (1.0 + 1e-9)
        third = np.where(np.isnan(width), np.inf, far * variance) * each.times
        _, of_shape, alike = np.unique(each.shapes, axis=0, return_inverse=True, return_counts=True)
        of_shape = of_shape.ravel()  # NumPy 2.0 returns a column
        cost = each.shapes[:, 1] * (np.prod(each.shapes[:, 2:] + 1.0, axis=1) + _SHAPE / alike[of_shape])
        order = np.argsort(-third / cost, kind="stable")
        left = np.cumsum(third[order][::-1])[::-1]
        count = max(int(np.searchsorted(-left, -limit)), int(np.searchsorted(np.cumsum(cost[order]), _BUDGET)))
        chosen.append(each.take(np.sort(order[:count])))
        rows = order[count:]
        times = each.times[rows]
        largest = float(variance[rows].max(initial=0.0))
        rest.append(Rest(mean[rows] * times, variance[rows] * times, far[rows], largest))
    means, variances, fars, most = zip(*rest, strict=True)
    return chosen, Rest(np.concatenate(means), np.concatenate(variances), np.concatenate(fars), max(most))


MOST_STEPS = 2**34  # the most steps through cells of grids, which take minutes
SOON = 2**30  # the steps that take about ten seconds, at 6 to 10 ns each (measured on 2026-11-28)
_ROOM = 2**16  # how many complex numbers a grid has at a time
_TAIL = 2.0**-50  # the probability that each tail beyond the window has at most
_RATES = (0.25, 1.0, 3.0, 6.0, 8.0, 10.0)  # rates of the bounds of the tails, in units of the standard deviation
_LEAST_DEGREE = 2**14  # of polynomials at the finest usual resolution; tails beyond a step shrink with its square
_ALONE = 256  # as many ties are multiplied one by one


class StepFunction(NamedTuple):
    """A step function from 0 to 1: the probability of at most x is `total` at the last of `points` up to x."""

    points: FloatArray
    total: FloatArray

    def at(self, x: float) -> float:
        """Return the probability of at most x."""
        found = int(np.searchsorted(self.points, x, side="right"))
        return float(self.total[found - 1]) if found else 0.0

    def quantile(self, probability: float) -> float:
        """Return the smallest point at which the function is at least `probability`."""
        found = int(np.searchsorted(self.total, probability, side="left"))
        return float(self.points[min(found, len(self.points) - 1)])


class Bracket(NamedTuple):
    """Two step functions: the true distribution function is nowhere above `earlier` and nowhere below `later`."""

    earlier: StepFunction
    later: StepFunction


def bracket(ties: Sequence[Ambiguous], known: Estimate[float], resolution: float, sharper: float = 1.0) -> Bracket:
    """Return the distribution of `known.lower` plus what the ties add beyond their least."""
    # resolution: the distance at which two values are told apart
    # sharper: by how much smaller than usual the error of ties that add little is
    places = max((int(each.shapes[:, 1].max()) for each in ties), default=0)
    slack = (2.0**-44 + 2 * UNIT * places) * max(abs(known.lower), abs(known.upper))
    few = all(each.only or len(each.times) <= MOST_TIES for each in ties)
    groups = _that_matter(ties) if few else []
    if (few and not groups) or known.upper <= known.lower:
        one = StepFunction(np.array([known.lower]), np.ones(1))
        return Bracket(one, StepFunction(np.array([known.upper]), np.ones(1)))
    found = values_of(groups) if few else None
    if found is not None:
        return _of_values(found, known, slack)
    chosen, rest = chosen_ties(ties, known, resolution / sharper)
    return _of_waves(_that_matter(chosen), rest, known, resolution, slack)


def _that_matter(ties: Sequence[Ambiguous]) -> list[Tied]:
    """Return the ties whose order changes the sum, in groups of one shape."""
    groups = [group for each in ties for group in each.by_shape()]
    rows = [np.flatnonzero(group.end(True) != group.end(False)) for group in groups]
    return [group.take(chosen) for group, chosen in zip(groups, rows, strict=True) if len(chosen)]


def _of_values(values: Values, known: Estimate[float], slack: float) -> Bracket:
    """Return the step functions of all values, which differ by rounding errors alone."""
    points, error = known.lower + values.points, values.error + len(values.points) * UNIT
    total, beyond = np.cumsum(values.chances), np.append(np.cumsum(values.chances[::-1])[-2::-1], 0.0)
    high = np.minimum(total * (1.0 + error) + values.lost, 1.0 - beyond * (1.0 - error))
    low = np.maximum(total * (1.0 - error), 1.0 - beyond * (1.0 + error) - values.lost)
    return _between(points - slack, high, points + slack, low, known, values.lost)


def _between(
    early: FloatArray, high: FloatArray, late: FloatArray, low: FloatArray, known: Estimate[float], before: float
) -> Bracket:
    """Return the step functions between the known ends; `before` bounds the probability before the first point."""
    early = np.concatenate([[known.lower], np.clip(early, known.lower, known.upper)])
    late = np.concatenate([np.clip(late, known.lower, known.upper), [known.upper]])
    return Bracket(_steps(early, np.append(before, high)), _steps(late, np.append(low, 1.0)))


def _steps(points: FloatArray, total: FloatArray) -> StepFunction:
    """Return the step function with each point once: where points are equal, the last total counts."""
    last = np.append(np.diff(points) > 0, True)
    return StepFunction(points[last], np.maximum.accumulate(np.clip(total, 0.0, 1.0))[last])


class _Window(NamedTuple):
    """The part of a circle that the sum is laid around: what it adds beyond its least is from `start` to `stop`."""

    start: float
    stop: float
    tail: float

    @property
    def period(self) -> float:
        """The length of the circle, whose remainder keeps both ends apart."""
        return 1.125 * (self.stop - self.start)

    @property
    def origin(self) -> float:
        """The value at the angle 0."""
        return self.start - 0.0625 * (self.stop - self.start)


def _window(groups: Sequence[Tied], rest: Rest, known: Estimate[float]) -> _Window:
    """Return where the sum is, but for a probability `tail`."""
    # Markov's inequality for exp(rate x) bounds each tail, at several rates (Chernoff 1952). The rates in units of
    # the standard deviation are those at which the bound for a normal distribution is smallest, and smaller ones.
    width, center = known.upper - known.lower, known.expected - known.lower
    rates = np.outer([1.0, -1.0], _RATES).ravel() / max(known.std, 1e-3 * width)
    total = np.zeros(len(rates))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for group in groups:
            found = paths.outcomes(group, paths.cells(group))
            for rows in _batches(len(group.k), len(rates) * paths.cells(group)):
                some = None if found is None else found._replace(values=found.values[:, rows])
                means = paths.growth(group.take(rows), some, rates)
                total += (np.log(means) * group.times[rows, None]).sum(axis=0)
        ends = (total + rest.growth(rates) + (1e-6 - log(_TAIL))) / rates
    ends = np.where(np.isfinite(ends), ends, np.where(rates > 0, width, 0.0))
    half = len(_RATES)
    start, stop = max(0.0, float(ends[half:].max())), min(width, float(ends[:half].min()))
    if not start <= center <= stop:
        start, stop = 0.0, width
    return _Window(start, stop, (_TAIL if start > 0.0 else 0.0) + (_TAIL if stop < width else 0.0))


def _of_waves(groups: Sequence[Tied], rest: Rest, known: Estimate[float], resolution: float, slack: float) -> Bracket:
    """Return the step functions that Selberg's polynomials give, on a fine grid of points around the circle."""
    window = _window(groups, rest, known)
    degree = _degree(window.period, resolution)
    size = 2 ** int(np.ceil(np.log2(max(8.0 * window.period / resolution, 2.0 * degree + 2.0, 64.0))))
    means, errors = _spectrum(groups, rest, window, degree)
    number = np.arange(1, degree + 1)
    part = number / (degree + 1.0)
    smooth = np.pi * part * (1.0 - part) / np.tan(np.pi * part) + part
    saw = smooth / (-2j * np.pi * number) * means
    kernel = (1.0 - part) / (2.0 * degree + 2.0) * means
    # The sums over n of factor(n) e(-n x) and its conjugate, at x = 0, 1/size, ….
    curve, hill = (np.fft.irfft(np.append(0.0, each.conj()), size) * size for each in (saw, kernel))
    flat = 1.0 / (2.0 * degree + 2.0)
    share = np.arange(size) / size
    middle, aside = share + curve - curve[0], hill + hill[0] + 2.0 * flat
    # Both factors of the numbers are at most 1 / (2 pi n) + 1 / (2 N + 2), and each counts twice, with its conjugate.
    weights = 1.0 / (np.pi * number) + 2.0 * flat
    norm = float(np.sqrt(np.sum(np.abs(saw) ** 2 + np.abs(kernel) ** 2)))
    rounding = 64.0 * UNIT * (np.log2(size) * np.sqrt(size) * norm + 1.0)
    error = 2.0 * float(np.sum(weights * (errors + 16.0 * UNIT))) + 2.0 * rounding + window.tail
    points = known.lower + window.origin + share * window.period
    high = np.minimum.accumulate((middle + aside + error)[::-1])[::-1]
    low = np.maximum.accumulate(middle - aside - error)
    inside = points <= known.lower + window.stop + (points[1] - points[0])
    points, high, low = points[inside], high[inside], low[inside]
    # Up to the next point, the probability is at most that of the next point.
    return _between(points[:-1] - slack, high[1:], points + slack, low, known, float(high[0]))


def _degree(period: float, resolution: float) -> int:
    """Return the degree of the polynomials that tell apart values at this distance."""
    least = min(_LEAST_DEGREE, int(1e-6 * _LEAST_DEGREE / resolution))
    return -(-max(int(3.0 * period / resolution), least, 1) // BLOCK) * BLOCK


def _advice(groups: Sequence[Tied], period: float) -> str:
    """Return how to compute the distribution of these ties sooner: the finest resolution that takes seconds."""
    found = [(group, paths.outcomes(group, paths.cells(group))) for group in groups]
    cost = sum(len(group.k) * (paths.cells(group) if some is None else len(some.chances)) for group, some in found)
    for resolution in (f"{digit}e-{exponent}" for exponent in range(6, 0, -1) for digit in (1, 2, 5)):
        if cost * _degree(period, float(resolution)) <= SOON:
            return (
                f"Pass distribution(…, resolution={resolution}), which takes seconds, or use a measure with a cutoff."
            )
    return "Use a measure with a cutoff."


def _spectrum(groups: Sequence[Tied], rest: Rest, window: _Window, degree: int) -> tuple[ComplexArray, FloatArray]:
    """Return the means of e(n x) for the numbers n from 1 to `degree`, and bounds on their errors.

    x : the place of the sum on the circle, from 0 to 1

    Few ties make the means of most large n too small to count, so that these are not computed any further.
    """
    starts = np.arange(1, degree + 1, BLOCK)
    product, error = rest.means((starts[:, None] + np.arange(BLOCK)) / window.period)
    open_blocks, steps = np.arange(len(starts)), 0
    for part in _in_turn(groups):
        found = paths.outcomes(part, paths.cells(part))
        cost = paths.cells(part) if found is None else len(found.chances)
        for rows in _batches(len(part.k), len(open_blocks) * BLOCK * max(1, cost // max(1, part.places))):
            tie = part.take(rows)
            some = None if found is None else found._replace(values=found.values[:, rows])
            steps += cost * len(rows) * len(open_blocks) * BLOCK
            if steps > MOST_STEPS:
                raise InputError(
                    f"The distribution would take minutes: a tie has {max(group.size for group in groups):,} items. "
                    f"{_advice(groups, window.period)}",
                    "resolution",
                )
            _multiply(product, error, open_blocks, tie, some, starts, window.period)
            open_blocks = open_blocks[(np.abs(product[open_blocks]) + error[open_blocks] > LOST).any(axis=1)]
    lost = np.abs(product) + error <= LOST
    error[lost] = LOST
    product[lost] = 0.0
    turns = np.arange(1, degree + 1) * (-window.origin / window.period)
    return product.ravel() * np.exp(2j * np.pi * (turns - np.rint(turns))), error.ravel() + UNIT * (
        16.0 + 16.0 * np.abs(turns)
    )


def _multiply(
    product: ComplexArray,
    error: FloatArray,
    blocks: IntArray,
    tie: Tied,
    found: Outcomes | None,
    starts: IntArray,
    period: float,
) -> None:
    step = max(1, _ROOM // (BLOCK * len(tie.k) * max(1, paths.cells(tie) // max(1, tie.places))))
    for at in range(0, len(blocks), step):
        some = blocks[at : at + step]
        means, errors = paths.characteristic(tie, found, starts[some], period)
        for mean, each, times in zip(means, errors, tie.times.tolist(), strict=True):
            for factor, its in _powers(mean, each, times):
                size = np.abs(product[some])
                error[some] = error[some] * (np.abs(factor) + its) + size * (its + 4.0 * UNIT)
                product[some] *= factor


def _powers(mean: ComplexArray, error: FloatArray, times: int) -> Iterator[tuple[ComplexArray, FloatArray]]:
    """Yield the factors of mean ** times, by repeated squaring, with bounds on their errors."""
    while times:
        if times % 2:
            yield mean, error
        error = error * (2.0 * np.abs(mean) + error) + 4.0 * UNIT * np.abs(mean) ** 2
        mean, times = mean * mean, times // 2


def _in_turn(groups: Sequence[Tied]) -> list[Tied]:
    """Return the ties, first some that make most means small at little cost one by one, then the others by shape."""
    gains = [
        group.times * (group.scale * (group.end(True) - group.end(False))) ** 2 / paths.cells(group)
        for group in groups
    ]
    order = sorted(((-gain, at, row) for at, each in enumerate(gains) for row, gain in enumerate(each.tolist())))
    first = order[:_ALONE]
    rest = [
        group.take(np.setdiff1d(np.arange(len(group.k)), [row for _, of, row in first if of == at]))
        for at, group in enumerate(groups)
    ]
    return [groups[at].take(np.array([row])) for _, at, row in first] + [each for each in rest if len(each.k)]


def _batches(count: int, size: int) -> Iterator[IntArray]:
    """Yield the rows 0 to count - 1 in batches, so that a batch has about `_ROOM` numbers."""
    step = max(1, _ROOM // max(1, size))
    for start in range(0, count, step):
        yield np.arange(start, min(start + step, count))
