"""`ErrorRates`: the false non-match rate at each false match rate, as numbers, text and page."""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, get_args

from tieproof.errors import InputError
from tieproof.show.parts import NUMBERS, count, distance_meant, numbers
from tieproof.show.shown import AsPage, Shown, Table, text
from tieproof.ties import Estimate

if TYPE_CHECKING:
    from tieproof.analyses.rates.curve import DetCurve

Method = Literal["linear", "exact"]
METHODS: tuple[str, ...] = get_args(Method)


@dataclass(frozen=True)
class OperatingPoint:
    """The false non-match rate where the false match rate is `fmr`.

    threshold : the quantile `fmr` of the distances of the pairs that are not relevant; a nearer pair is a match
    fnmr : the share of relevant pairs that do not match
    """

    fmr: float
    threshold: float
    fnmr: Estimate[float]


@dataclass(frozen=True)
class EqualErrorRate:
    """The equal error rate (EER), where the false match rate equals the false non-match rate (ISO/IEC 19795-1).

    Every order of all pairs gives a curve of steps from FMR 0, FNMR 1 to FMR 1, FNMR 0, which meets FMR = FNMR in one
    point. Only pairs at exactly the distance `threshold` can be on either side of it.

    lower, upper : the smallest and the largest EER over all orderings of tied pairs
    interpolated : where the straight line between the operating points `before` and `after` meets FMR = FNMR, as
        scikit-learn's `roc_curve` with a linear interpolation has it
    threshold : the distance at which the rates cross
    before, after : (FMR, FNMR) if none, and if all, of the pairs at exactly the threshold are accepted; programs that
        print the larger, the smaller or the mean of FMR and FNMR at an operating point take them from here

    >>> EqualErrorRate.of_counts(0.5, 0, 3, 2, 2, 5, 5)
    EqualErrorRate(lower=0.0, interpolated=0.2, upper=0.4, threshold=0.5, before=(0.0, 0.4), after=(0.4, 0.0))
    """

    lower: float
    interpolated: float
    upper: float
    threshold: float
    before: tuple[float, float]
    after: tuple[float, float]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain numbers and lists."""
        return {**asdict(self), "before": list(self.before), "after": list(self.after)}

    @classmethod
    def of_counts(
        cls, threshold: float, others: int, relevant: int, tied_others: int, tied: int, n_relevant: int, n_others: int
    ) -> "EqualErrorRate":
        """The rate, from the numbers of pairs that are nearer than the threshold, exactly at it, and in all."""
        first, last = Fraction(others, n_others), Fraction(others + tied_others, n_others)
        high, low = (Fraction(n_relevant - near, n_relevant) for near in (relevant, relevant + tied))
        part = (high - first) / (last - first + high - low)
        return cls(
            float(max(first, low)),
            float(first + part * (last - first)),
            float(min(high, last)),
            threshold + 0.0,  # no negative zero
            (float(first), float(high)),
            (float(last), float(low)),
        )


@dataclass(frozen=True, repr=False)
class ErrorRates(Shown, AsPage):
    """False non-match rates by false match rate, and the equal error rate `eer` and the `curve` if asked for.

    >>> import tieproof as tp
    >>> rates = tp.fnmr_at_fmr_of_distances([0, 0, 1, 1, 2, 2, 5, 5, 9, 9], [3, 3, 4, 4, 6, 6, 7, 7, 8, 8])
    >>> rates[0.1].upper
    0.4
    >>> rates.points[0].threshold
    3.0
    >>> print(tp.fnmr_at_fmr_of_distances([1, 2, 2, 3], [2, 3, 4], fmr=0.1, method="exact"))
    FMR  threshold   lower  expected   upper  tie std
    -------------------------------------------------
    0.1  2          0.2500    0.5000  0.7500   0.2041
    <BLANKLINE>
    Counted 4 relevant and 3 other pairs by the given distances.
    FNMR is an error: report 'expected' with its interval, and 'upper' for claims.
    1 more: --explain, or to_text(explain=True)
    """

    method: str
    distance: str
    relevant_pairs: int
    other_pairs: int
    points: tuple[OperatingPoint, ...]
    eer: EqualErrorRate | None = None
    curve: "DetCurve | None" = field(default=None, compare=False)

    def __getitem__(self, fmr: float) -> Estimate[float]:
        """The false non-match rate at a false match rate that was asked for."""
        for point in self.points:
            if point.fmr == fmr:
                return point.fnmr
        known = ", ".join(f"{point.fmr:g}" for point in self.points)
        raise InputError(f"These rates have no FMR {fmr!r}; they have {known}. Name it in fmr=(...).")

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain numbers, strings, lists and dictionaries."""
        whole: dict[str, Any] = {**vars(self), "points": [asdict(point) for point in self.points]}
        for name in ("eer", "curve"):
            found = whole.pop(name)
            whole |= {} if found is None else {name: found.to_dict()}
        return whole

    def _page(self) -> tuple[str, dict[str, Any]]:
        return "rates.html", {
            "title": f"FNMR {self.points[0].fnmr.upper:.4f} at FMR {self.points[0].fmr:g}",
            "rates": self,
            "meaning": MEANINGS[self.method],
            "by": _ranked_by(self),
        }

    def _table(self) -> Table:
        rows = [(f"{point.fmr:g}", f"{point.threshold:.6g}", *numbers(point.fnmr)) for point in self.points]
        header = ("FMR", "threshold", *NUMBERS)
        return Table(header, [rows], [*self._sentences()], header)

    def _sentences(self) -> Iterator[str]:
        if self.eer is not None:
            yield (
                f"The equal error rate is {self.eer.lower:.4f} to {self.eer.upper:.4f} over all orderings of tied "
                f"pairs, {self.eer.interpolated:.4f} by interpolation; the rates cross at the distance "
                f"{self.eer.threshold:.6g}."
            )
        if self.curve is not None:
            _, *figures = [
                f"{name} {each.lower:.4f} to {each.upper:.4f}" for name, each in self.curve.figures().items()
            ]
            yield f"Over all orderings of tied pairs: {', '.join(figures)}."
        counted = f"{self.relevant_pairs:,} relevant and {self.other_pairs:,} other pairs"
        yield f"Counted {counted} by {_ranked_by(self)}."
        if self.method == "exact":
            yield "FNMR is an error: report 'expected' with its interval, and 'upper' for claims."
        yield MEANINGS[self.method]

    def to_text(self, width: int | None = None, color: bool = False, explain: bool = False) -> str:
        """The table that the command line shows; FMR and threshold, which may be long, are aligned to the left.

        The figures of `curve` are in sentences, which are then shown without `explain`, too.
        """
        explain = explain or self.curve is not None
        return text(self._table()._replace(numbers=NUMBERS), width, color, explain)

    def __repr__(self) -> str:
        shown = ", ".join(f"FNMR {point.fnmr:.4f} at FMR {point.fmr:g}" for point in self.points)
        return f"<ErrorRates of {count(self.relevant_pairs, 'relevant pair')}: {shown}>"


def _ranked_by(rates: ErrorRates) -> str:
    return "the given distances" if rates.distance == "distances" else distance_meant(rates.distance)


MEANINGS = {
    "linear": "A threshold is interpolated between two distances of non-relevant pairs, as by numpy.quantile; FNMR "
    "is the share of relevant pairs at or beyond the threshold.",
    "exact": "A threshold is the distance of a non-relevant pair. FNMR is the share of relevant pairs that come "
    "after that pair, over all orderings of pairs at exactly the same distance.",
}


def tied_estimate(beyond: int, tied: int, total: int, place: int, others: int) -> Estimate[float]:
    """The share of relevant pairs behind the threshold, over all orderings of the pairs tied with it.

    beyond, tied, total : the numbers of relevant pairs strictly beyond the threshold, exactly at it, and in all
    place, others : the threshold is set by number `place`, counted from 1, of the `others` pairs that are not
        relevant and exactly at the threshold

    When the tied pairs are in random order, each relevant one is behind the threshold with probability
    p = (others + 1 - place) / (others + 1), and their number is beta-binomial with the parameters
    others + 1 - place and place (Johnson, Kotz and Kemp 1992, section 6.2.2): its mean is tied p and its variance
    tied p (1 - p) (others + 1 + tied) / (others + 2).

    >>> tied_estimate(1, 2, 4, 1, 1)
    Estimate(lower=0.25, expected=0.5, upper=0.75, std=0.2041241452319315)
    """
    p = Fraction(others + 1 - place, others + 1)
    variance = tied * p * (1 - p) * Fraction(others + 1 + tied, others + 2) / total**2
    return Estimate(beyond / total, float((beyond + tied * p) / total), (beyond + tied) / total, math.sqrt(variance))
