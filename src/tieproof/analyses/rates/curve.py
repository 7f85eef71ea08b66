"""`DetCurve`: the detection error tradeoff of a verification system."""

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import asdict, dataclass
from fractions import Fraction
from numbers import Real
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from tieproof.analyses.rates.decisions import BestThreshold, Decisions, FoldAccuracy, best, of_ranking, plain
from tieproof.analyses.rates.result import EqualErrorRate, tied_estimate
from tieproof.errors import InputError
from tieproof.evaluation.intervals import Interval, check_confidence
from tieproof.inputs.options import as_shares
from tieproof.measures import AP, AUC
from tieproof.measures.statistics.resampling import RESAMPLES, below, quantile, raw
from tieproof.show import style
from tieproof.show.files import takes_path
from tieproof.show.parts import fixed
from tieproof.show.shown import Shown, Table
from tieproof.ties import Bounds, Estimate, FloatArray, IntArray

_TARGETS, _RATES = (0.05, 0.01), (0.1, 0.01, 0.001)  # the probabilities of a target and the rates of the table
_TICKS = (0.0001, 0.001, 0.01, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 0.99)
_FEWEST, _MOST = 0.00005, 0.995  # the smallest and the largest rate that the picture shows


class OfSubjects(NamedTuple):
    """Of the relevant pairs, and of the other ones: the number of the threshold and of the subject of each."""

    subjects: int
    threshold: tuple[IntArray, IntArray]
    subject: tuple[IntArray, IntArray]


@dataclass(frozen=True, repr=False, eq=False)
class DetCurve(Shown):
    """Both error rates of a verification system at every threshold.

    thresholds : (t,) minus infinity, then all distinct distances of pairs, the smallest first; if the pairs were
        counted, only those of relevant pairs, each after the number just below it if other pairs are between, and
        infinity if other pairs are farther; of scores, infinity, then all distinct scores, the largest first
    false_matches : (t,) the other pairs that are not farther than the threshold
    false_non_matches : (t,) the relevant pairs that are farther than the threshold
    fold_accuracy : the accuracy at thresholds that are chosen on other folds; None without folds

    >>> import tieproof as tp
    >>> print(tp.det_curve([1, 2, 2, 3], [2, 3, 4]))
    measure             lower   upper
    ---------------------------------
    EER                0.2500  0.3333
    minDCF (0.05)      0.2500  0.7500
    minDCF (0.01)      0.2500  0.7500
    TAR at FAR 0.1     0.2500  0.7500
    TAR at FAR 0.01    0.2500  0.7500
    TAR at FAR 0.001   0.2500  0.7500
    best accuracy      0.7143  0.8571
    best F1            0.8000  0.8889
    average precision  0.7708  0.9500
    AUC                0.6667  0.9167
    <BLANKLINE>
    Counted 4 relevant and 3 other pairs.
    lower and upper are over all orderings of tied pairs. EER and minDCF are errors:
    report 'upper'. All others are successes: report 'lower'.
    """

    thresholds: FloatArray
    false_matches: IntArray
    false_non_matches: IntArray
    fold_accuracy: FoldAccuracy | None = None
    _pairs: OfSubjects | None = None
    _eer: EqualErrorRate | None = None

    @property
    def relevant_pairs(self) -> int:
        """The number of relevant pairs."""
        return int(self.false_non_matches[0])

    @property
    def other_pairs(self) -> int:
        """The number of other pairs."""
        return int(self.false_matches[-1])

    @property
    def fmr(self) -> FloatArray:
        """The false match rate at every threshold."""
        return self.false_matches / self.other_pairs

    @property
    def fnmr(self) -> FloatArray:
        """The false non-match rate at every threshold."""
        return self.false_non_matches / self.relevant_pairs

    @property
    def eer(self) -> EqualErrorRate:
        """The equal error rate, with its bounds over all orderings of tied pairs."""
        if self._eer is not None:
            return self._eer

        def crossed(at: int) -> bool:
            matches, misses = int(self.false_matches[at]), int(self.false_non_matches[at])
            return matches * self.relevant_pairs >= misses * self.other_pairs

        last = len(self.thresholds) - 1
        high = bisect_left(range(last), True, lo=1, key=crossed)
        ends = slice(high - 1, high + 1)
        matches, misses = self.false_matches[ends].tolist(), self.false_non_matches[ends].tolist()
        counts = (matches[0], self.relevant_pairs - misses[0], matches[1] - matches[0], misses[0] - misses[1])
        threshold = float(self.thresholds[high])
        return EqualErrorRate.of_counts(threshold, *counts, self.relevant_pairs, self.other_pairs)

    def tar(self, far: float) -> Estimate[float]:
        """The largest true accept rate (TAR, 1 - FNMR) whose false accept rate (FAR, FMR) is at most `far`.

        Pairs are accepted from the nearest on. `lower` accepts all or none of a tie; the estimate is over all
        orderings of tied pairs. `far` is the decimal number as written: 0.1 is exactly a tenth. FNMR by
        `fnmr_at_fmr_of_distances(method="exact")` differs where `far` times the number of other pairs is a whole
        number: it stops before the last of these other pairs.
        """
        (rate,) = as_shares(far, "A false accept rate", "far=0.1")
        allowed = math.floor(Fraction(repr(rate)) * self.other_pairs)
        place = int(np.searchsorted(self.false_matches, allowed, side="right"))  # the first with more matches
        beyond = int(self.false_non_matches[min(place, len(self.thresholds) - 1)])
        if place == len(self.thresholds):
            return Estimate(1.0, 1.0, 1.0, 0.0)
        matches, tied = int(self.false_matches[place - 1]), int(self.false_non_matches[place - 1]) - beyond
        others = int(self.false_matches[place]) - matches
        fnmr = tied_estimate(beyond, tied, self.relevant_pairs, allowed - matches + 1, others)
        return Estimate(1 - fnmr.upper, 1 - fnmr.expected, 1 - fnmr.lower, fnmr.std)

    def min_dcf(self, p_target: float, *, c_miss: float = 1.0, c_fa: float = 1.0) -> Bounds[float]:
        """The smallest detection cost of any threshold, divided by that of the better system that ignores its input.

        The cost is c_miss p_target FNMR + c_fa (1 - p_target) FMR (NIST, Speaker Recognition Evaluation 2016,
        evaluation plan). It is divided by the smaller of c_miss p_target and c_fa (1 - p_target), the costs of
        accepting none and all pairs, so that it is at most 1. `upper` is over thresholds, which accept all or none of
        a tie: no ordering costs more, and a system can attain it. `lower` is that of the best ordering, where the
        relevant pairs of each tie come first.

        Raises InputError unless 0 < p_target < 1 and the costs are positive numbers.
        """
        if not (0 < p_target < 1 and 0 < c_miss < math.inf and 0 < c_fa < math.inf):
            raise InputError(
                f"min_dcf(p_target={p_target!r}, c_miss={c_miss!r}, c_fa={c_fa!r}) needs a probability between 0 and "
                "1, and costs that are positive numbers. Pass, for example, min_dcf(0.05)."
            )
        miss, accept = c_miss * p_target, c_fa * (1 - p_target)
        smaller = min(miss, accept)
        lower, upper = (
            float((miss / smaller * fnmr + accept / smaller * fmr).min())
            for fnmr, fmr in ((self.fnmr[1:], self.fmr[:-1]), (self.fnmr, self.fmr))
        )
        return Bounds(min(lower, upper), upper)

    def at(self, threshold: float) -> Decisions:
        """Accuracy, precision, recall and F1 if pairs up to this distance, or from this score on, are accepted.

        >>> import tieproof as tp
        >>> tp.det_curve([1, 2, 2, 3], [2, 3, 4]).at(2)
        Decisions(threshold=2, accuracy=0.7142857142857143, precision=0.75, recall=0.75, f1=0.75)
        """
        self._check_kept("decisions at a threshold")
        if not isinstance(threshold, Real) or math.isnan(threshold):
            raise InputError(f"A threshold must be a number, not {threshold!r}.", "threshold")
        sign = -1 if self.thresholds[0] > 0 else 1  # of scores
        place = int(np.searchsorted(sign * self.thresholds[1:], sign * threshold, side="right"))
        right, wrong = (int(counts[place]) for counts in self._accepted)
        return Decisions.of_counts(np.asarray(threshold).item(), right, wrong, self.relevant_pairs, self.other_pairs)

    @property
    def best_accuracy(self) -> BestThreshold:
        """The largest accuracy of any threshold."""
        count = self.relevant_pairs + self.other_pairs
        return self._best(lambda right, wrong: (right + self.other_pairs - wrong, np.full_like(right, count)))

    @property
    def best_f1(self) -> BestThreshold:
        """The largest F1 of any threshold."""
        return self._best(lambda right, wrong: (2 * right, right + wrong + self.relevant_pairs))

    def _best(self, quotient: Callable[[IntArray, IntArray], tuple[IntArray, IntArray]]) -> BestThreshold:
        """The largest quotient of two counts, made from the accepted relevant and other pairs."""
        right, wrong = self._accepted
        return best(self.thresholds, quotient(right, wrong), quotient(right[1:], wrong[:-1]))

    @property
    def average_precision(self) -> Estimate[float]:
        """The average precision of all pairs in one ranking."""
        self._check_kept("AP")
        return of_ranking(AP, *self._accepted)

    @property
    def auc(self) -> Estimate[float]:
        """The area under the ROC curve."""
        return of_ranking(AUC, *self._accepted)

    @property
    def _accepted(self) -> tuple[IntArray, IntArray]:
        """The relevant and the other pairs that each threshold accepts."""
        return self.relevant_pairs - self.false_non_matches, self.false_matches

    def _check_kept(self, what: str) -> None:
        """Refuse what needs the distances of all pairs, if these were only counted."""
        if self._eer is not None:
            raise InputError(
                f"This curve was counted from embeddings, and its pairs were not kept. For {what}, pass the "
                "distances of all pairs: det_curve(relevant, others); tp.nearest with k=len(gallery) returns them."
            )

    def interval(self, statistic: "Callable[[DetCurve], float]", confidence: float = 0.95) -> Interval:
        """The confidence interval of a number of this curve, over the subjects that could have been recorded.

        Subjects are drawn with replacement, each with all of its pairs, because pairs of one subject are alike (the
        subsets bootstrap, Bolle, Ratha and Pankanti 2004). The ends are quantiles of the numbers of 9,999 draws with
        a fixed seed; draws that lack relevant or other pairs are left out. The time is that of as many sums over all
        pairs.

        statistic : a function of a curve, such as `lambda curve: curve.eer.upper`

        Raises InputError if the curve was made without subjects, as `fnmr_at_fmr` does, or has only one, or if the
        number is not finite. docs/pooled.md has the code for embeddings.

        >>> import tieproof as tp
        >>> subjects = ["a", "a", "b", "c"], ["a", "b", "b", "c", "c", "c"]
        >>> curve = tp.det_curve([1, 2, 2, 5], [2, 3, 4, 4, 6, 7], subjects=subjects)
        >>> print(f"{curve.interval(lambda curve: curve.tar(0.2).lower):.2f}")
        0.75 [0.00, 1.00]
        """
        check_confidence("confidence", confidence)
        self._check_kept("an interval")
        if self._pairs is None or self._pairs.subjects < 2:
            raise InputError(
                "An interval over subjects needs the subjects of all pairs, and at least two of them. Pass "
                "det_curve(…, subjects=(of_relevant, of_others)).",
                "subjects",
            )
        value, (count, threshold, subject), drawn = float(statistic(self)), self._pairs, []
        if not math.isfinite(value):
            raise InputError(f"The statistic must be a finite number, not {value}.", "statistic")
        for numbers in raw(RESAMPLES, count, count):
            for each in below(numbers, np.full(count, count)):
                times = np.bincount(each, minlength=count)
                accepted, matches = (
                    np.bincount(at, times[of], len(self.thresholds)).cumsum().astype(np.int64)
                    for at, of in zip(threshold, subject, strict=True)
                )
                if accepted[-1] and matches[-1]:
                    drawn.append(float(statistic(DetCurve(self.thresholds, matches, accepted[-1] - accepted))))
        low, high = (quantile(np.sort(drawn), (1 + side * confidence) / 2) for side in (-1, 1))
        return Interval(value, low, high, confidence, "percentile", "statistic")

    @takes_path
    def plot(self, ax: Any = None) -> Any:
        """Draw the curve on axes of normal deviates (Martin et al. 1997), and the area that ties leave open.

        ax : matplotlib axes to draw on, or the path of a picture to write; None for new axes

        Returns the axes. Rates below 0.005% and above 99.5% are at the edge. Raises MissingExtraError if matplotlib
        is not installed.
        """
        ax = style.axes_or_new(ax, "DetCurve.plot", height=4.8)
        across, up = _deviates(self.fmr), _deviates(self.fnmr)
        before = np.concatenate([up[:1], up[:-1]])
        # Between two operating points, the best ordering has the later FNMR, and the worst one has the earlier FNMR.
        area = {"color": style.SKY_BLUE, "alpha": 0.4, "linewidth": 0, "label": "over orderings of ties"}
        ax.fill_between(across, up, before, step="pre", **area)
        ax.plot(across, up, color=style.BLUE, label="all or none of a tie accepted")
        eer = self.eer
        ax.plot(*(_deviates(np.array([eer.interpolated])),) * 2, "o", color=style.VERMILION, label="EER")
        edges = _deviates(np.array([0.0, 1.0]))
        ticks = _deviates(np.array(_TICKS))
        ax.set(xlim=edges, ylim=edges, xlabel="FMR", ylabel="FNMR", xticks=ticks, yticks=ticks)
        names = [f"{100 * tick:g}%" for tick in _TICKS]
        ax.set_xticklabels(names, fontsize=8)
        ax.set_yticklabels(names, fontsize=8)
        title = f"EER {fixed(eer.lower)} to {fixed(eer.upper)} over all orderings of tied pairs"
        ax.set_title(title, loc="left", fontsize=10)
        style.legend_below(ax, 3)
        return ax

    def to_dict(self) -> dict[str, Any]:
        """The numbers of pairs, the equal error rate and the numbers of the table."""
        return {
            "relevant_pairs": self.relevant_pairs,
            "other_pairs": self.other_pairs,
            "eer": self.eer.to_dict(),
            "min_dcf": {str(target): asdict(self.min_dcf(target)) for target in _TARGETS},
            "tar": {str(rate): asdict(self.tar(rate)) for rate in _RATES},
            **{name.lower().replace(" ", "_"): plain(value) for name, value in self._decided().items()},
        }

    def _decided(self) -> dict[str, Any]:
        """The decisions that are in the table; their attributes have _ for blanks."""
        found: dict[str, Any] = {"best accuracy": self.best_accuracy, "best F1": self.best_f1}
        found |= {} if self._eer is not None else {"average precision": self.average_precision}
        return found | {"AUC": self.auc} | ({"fold accuracy": self.fold_accuracy} if self.fold_accuracy else {})

    def figures(self) -> dict[str, Bounds[float]]:
        """The numbers of the table, by their names."""
        found: dict[str, Any] = {"EER": self.eer}
        found |= {f"minDCF ({target:g})": self.min_dcf(target) for target in _TARGETS}
        found |= {f"TAR at FAR {rate:g}": self.tar(rate) for rate in _RATES}
        found |= self._decided()
        return {name: Bounds(value.lower, value.upper) for name, value in found.items()}

    def _table(self) -> Table:
        rows = [(name, fixed(value.lower), fixed(value.upper)) for name, value in self.figures().items()]
        notes = [f"Counted {self.relevant_pairs:,} relevant and {self.other_pairs:,} other pairs."]
        if self.fold_accuracy is not None:
            error = fixed(self.fold_accuracy.standard_error)
            notes.append(f"Fold accuracy has thresholds of other folds; its standard error is {error}.")
        notes.append(
            "lower and upper are over all orderings of tied pairs. EER and minDCF are errors: report 'upper'. All "
            "others are successes: report 'lower'."
        )
        return Table(("measure", "lower", "upper"), [rows], notes, ("lower", "upper"))

    def __repr__(self) -> str:
        eer = self.eer
        return f"<DetCurve of {self.relevant_pairs:,} relevant pairs: EER {fixed(eer.lower)} to {fixed(eer.upper)}>"


def _deviates(rates: FloatArray) -> FloatArray:
    """The normal deviates of rates; those beyond the edges of the picture are at the edge."""
    distinct, place = np.unique(rates.clip(_FEWEST, _MOST), return_inverse=True)
    return np.array([NormalDist().inv_cdf(rate) for rate in distinct.tolist()])[place.reshape(rates.shape)]
