"""`Difference`: how two systems differ on a measure; `Verdict`: what follows from it, and the rules that give it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from tieproof.show.parts import chance
from tieproof.show.printable import printable
from tieproof.ties import Bounds, Estimate, FloatArray

WHATEVER_THE_NOISE = "better whatever the ties and the noise"
WHATEVER_THE_TIES = "better whatever the ties"
IN_EXPECTATION = "better in expectation"
QUERIES_OR_TIES = "queries or ties could explain it"
TOO_FEW_QUERIES = "too few queries to tell"
NO_DIFFERENCE = "no difference shown"
THE_SAME = "the same"


@dataclass(frozen=True)
class Verdict:
    """The conclusion from the difference between two systems.

    name : one of the names in `RULES`
    better : the system that is better; None if the verdict names none
    sentence : the verdict in words, with the systems, the measure and the numbers that it is based on
    """

    name: str
    better: str | None
    sentence: str

    def _repr_pretty_(self, printer: Any, cycle: bool) -> Any:
        return printer.text(printable(self.sentence))


class Evidence(NamedTuple):
    """The numbers that a verdict on two systems is based on; p-values are corrected for the number of pairs."""

    equal: bool  # whether both have the same expected value on every query
    p_value: float  # that of the expected differences
    p_lower: float  # that if all ties are broken against the system ahead and in favor of the other
    lower: float  # the smallest mean difference over all orderings of tied items
    upper: float  # the largest one
    alpha: float  # 1 - confidence
    ahead: bool = True  # whether the first system is ahead in expectation; otherwise the means are the same
    p_noise: float = 1.0  # that if the noise of both systems goes against the system ahead, too; 1 without noise
    smallest: float = 0.0  # the smallest p-value that so few queries allow, as `smallest_p_value` returns it


class Sample(NamedTuple):
    """What limits the p-values of two systems."""

    test: str  # "sign-flip", "t", "wilcoxon" or "tukey"
    systems: int  # the number of all systems that are compared
    queries: int
    differing: int  # the number of queries on which the two systems differ
    varies: bool  # whether the differences vary from query to query


class Rule(NamedTuple):
    """A verdict, its condition in words, what it says of the systems, and its condition."""

    name: str
    condition: str
    means: str
    holds: Callable[[Evidence], bool]


# The rules, in the order in which they are tried; the last one applies to all remaining cases. "Significant" means a
# corrected p-value of at most 1 - confidence. Every rule is applied from the view of the system that is ahead in
# expectation, so that it does not matter which of the two systems is named first.
RULES = (
    Rule(
        THE_SAME,
        "Both systems have the same expected value on every query.",
        "This measure cannot tell the systems apart on these queries.",
        lambda evidence: evidence.equal,
    ),
    Rule(
        WHATEVER_THE_NOISE,
        "Both systems were evaluated with noise, and the difference is significant in expectation, and also if all "
        "ties and the noise of both systems go against the system that is ahead and in favor of the other one.",
        "Neither the order of tied items, nor the noise, nor the choice of queries is likely to explain the "
        "difference.",
        lambda evidence: (
            evidence.ahead and max(evidence.p_value, evidence.p_lower, evidence.p_noise) <= evidence.alpha
        ),
    ),
    Rule(
        WHATEVER_THE_TIES,
        "The difference is significant in expectation, and also if all ties are broken against the system that is "
        "ahead and in favor of the other one.",
        "Neither the order of tied items nor the choice of queries is likely to explain the difference.",
        lambda evidence: evidence.ahead and max(evidence.p_value, evidence.p_lower) <= evidence.alpha,
    ),
    Rule(
        IN_EXPECTATION,
        "The difference is significant in expectation, but not if all ties are broken against the system that is "
        "ahead and in favor of the other one.",
        "The choice of queries is unlikely to explain the difference if ties are broken at random. A program that "
        "breaks ties in another way may show no difference.",
        lambda evidence: evidence.ahead and evidence.p_value <= evidence.alpha,
    ),
    Rule(
        QUERIES_OR_TIES,
        "The difference is zero or not significant in expectation, and the order of tied items alone can make it "
        "zero or reverse it.",
        "The choice of queries alone can explain the difference, and so can the order of tied items. The scores of a "
        "program that breaks ties in one order do not show which system is better.",
        lambda evidence: evidence.lower <= 0 <= evidence.upper and evidence.lower < evidence.upper,
    ),
    Rule(
        TOO_FEW_QUERIES,
        "So few queries differ that no difference between the systems could be significant, unless a test takes the "
        "distribution of the differences for granted.",
        "One system may be better; only more queries can show it.",
        lambda evidence: evidence.smallest > evidence.alpha,
    ),
    Rule(
        NO_DIFFERENCE,
        "The difference is zero or not significant in expectation, although enough queries differ for a significant "
        "one, and no order of tied items makes it zero or reverses it, or there are no ties.",
        "The choice of queries alone can explain the difference. This does not show that the systems are equally "
        "good: the confidence interval of the difference tells how much better either of them may be.",
        lambda evidence: True,
    ),
)


def rule_of(evidence: Evidence) -> Rule:
    """The first rule whose condition is true."""
    return next(rule for rule in RULES if rule.holds(evidence))


def verdict_on(a: str, b: str, measure: str, mean: Estimate[float], evidence: Evidence, sample: Sample) -> Verdict:
    """The verdict on two systems, of which the first is ahead in expectation; equals are named in order.

    All numbers of the sentence are sizes without a sign, each with the system that it speaks for, so that they agree
    with tables in which either system stands first.
    """
    rule = rule_of(evidence)
    if not evidence.ahead and a > b:
        a, b = b, a
        mean = Estimate(0.0 - mean.upper, 0.0 - mean.expected, 0.0 - mean.lower, mean.std)
    p_value, p_lower, p_noise = (
        chance(p, "p = ", "p < ") for p in (evidence.p_value, evidence.p_lower, evidence.p_noise)
    )
    if not evidence.ahead:
        open_question = f"neither is ahead, because '{a}' and '{b}' have the same mean {measure} in expectation"
        uneven = evidence.p_value <= evidence.alpha
        open_question += f"{'; only the ranks of their differences are uneven' if uneven else ''} ({p_value})"
    else:
        open_question = (
            f"'{a}' is ahead of '{b}' by {_size(mean.expected)} of {measure} in expectation, which the choice of "
            f"queries alone can explain ({p_value})"
        )
    spread = f"from {_lead(b, a, mean.lower)} to {_lead(b, a, mean.upper)}"
    sentences = {
        THE_SAME: f"'{a}' and '{b}' have the same expected {measure} on every query.",
        WHATEVER_THE_NOISE: f"'{a}' is better than '{b}' whatever the ties and the noise: if both go against '{a}', "
        f"the difference is significant ({p_noise}); it is {_size(mean.expected)} of {measure} in expectation "
        f"({p_value}).",
        WHATEVER_THE_TIES: f"'{a}' is better than '{b}' whatever the ties: by at least {_size(mean.lower)} of "
        f"{measure} in any order of tied items ({p_lower}), and by {_size(mean.expected)} in expectation "
        f"({p_value}).",
        IN_EXPECTATION: f"'{a}' is better than '{b}' in expectation: by {_size(mean.expected)} of {measure} "
        f"({p_value}). The orders of tied items range {spread}; if all ties go against '{a}', the difference is not "
        f"significant ({p_lower}).",
        QUERIES_OR_TIES: f"Queries or ties could explain it: {open_question}. The orders of tied items range "
        f"{spread}.",
        TOO_FEW_QUERIES: f"Too few queries to tell: {open_question}.",
        NO_DIFFERENCE: f"No difference shown: {open_question}.",
    }
    sentence = " ".join(filter(None, (sentences[rule.name], remark(sample, evidence.alpha))))
    return Verdict(rule.name, a if rule.name.startswith("better") else None, sentence)


def _lead(a: str, b: str, difference: float) -> str:
    """Which of two systems a difference, the second minus the first, puts ahead, in words."""
    if difference == 0:
        return "no difference"
    return f"'{b if difference > 0 else a}' ahead by {_size(difference)}"


def _size(difference: float) -> str:
    """The size of a difference with four decimals, or one digit if these would show 0.

    >>> _size(-0.25), _size(-0.000003)
    ('0.2500', '3e-06')
    """
    size = abs(difference)
    return f"{size:.4f}" if size >= 0.00005 else f"{size:.1g}"


def smallest_p_value(sample: Sample) -> float:
    """The smallest p-value of a test that reassigns the scores of each query of a sample.

    It is the share of assignments in which one system is best, and another one worst, on every query.
    """
    test, systems, queries, differing, _ = sample
    if test != "tukey":
        return float(2.0 ** (1 - differing))
    return float((systems * (systems - 1.0)) ** (1 - (queries if systems > 2 else differing)))


def remark(sample: Sample, alpha: float) -> str:
    """What has to be said of a p-value of so few queries, or of such queries; empty if there is nothing to say."""
    test, systems, queries, differing, varies = sample
    if not differing:
        return ""
    if test == "t" and not varies:
        return "The differences do not vary, which leaves Student's t undefined; p is that of the sign-flip test."
    few = "1 query that differs" if differing == 1 else f"{differing:,} queries that differ"
    if test == "tukey" and systems > 2:
        few = f"{queries:,} queries"
    smallest = smallest_p_value(sample)
    if smallest <= alpha:
        return ""
    if test == "t":
        return (
            f"Student's t assumes normal differences; without this assumption, no p-value below {smallest:.4f} is "
            f"possible with {few}."
        )
    about = "about " if test == "tukey" else ""
    return f"With {few}, no p-value below {about}{smallest:.4f} is possible."


@dataclass(frozen=True)
class Difference:
    """The mean of a measure over the queries for the first system, minus the mean for the second.

    Over the orderings of tied items, where each system's ties break independently of the other's:

    lower, upper : the smallest and the largest difference: the lower value of the first system minus the upper value
        of the second, and the upper value of the first minus the lower value of the second
    expected, std : the mean of the difference and its standard deviation

    Over the queries, with the expected value of each query:

    interval : the two ends of the confidence interval of the expected difference
    p_value : how likely a difference at least as large, of either sign, would be if neither system were better
    p_lower : the same probability when all ties are broken against the system that is ahead and in favor of the
        other one; never smaller than `p_value`, and 1 if the difference then vanishes or changes its sign
    corrected_p_value, corrected_p_lower : the same, corrected for all pairs of the comparison; verdicts read these
    effect_size : the mean difference divided by the standard deviation of the queries' differences (Cohen's d of
        pairs); None where all queries differ by the same amount
    wins, losses, draws : the numbers of queries where the first system's expected value is larger, smaller or equal
    verdict : the conclusion from the values above
    """

    lower: float
    expected: float
    upper: float
    std: float
    interval: tuple[float, float]
    p_value: float
    p_lower: float
    corrected_p_value: float
    corrected_p_lower: float
    effect_size: float | None
    wins: int
    losses: int
    draws: int
    verdict: Verdict

    def _repr_pretty_(self, printer: Any, cycle: bool) -> Any:
        sentence = printable(self.verdict.sentence)
        return printer.text(f"{self.lower:.4f} ≤ {self.expected:.4f} ≤ {self.upper:.4f}: {sentence}")

    def mirrored(self) -> "Difference":
        """The second system minus the first."""
        low, high = self.interval
        return replace(
            self,
            lower=0.0 - self.upper,
            expected=0.0 - self.expected,
            upper=0.0 - self.lower,
            interval=(0.0 - high, 0.0 - low),
            effect_size=None if self.effect_size is None else 0.0 - self.effect_size,
            wins=self.losses,
            losses=self.wins,
        )


@dataclass(frozen=True)
class NoisyDifference(Difference):
    """The difference of two systems that were both evaluated with noise."""

    noise: Bounds[float]  # the smallest and the largest difference over all rankings that noise makes possible
    # As `corrected_p_lower`, when the noise of both systems goes against the system ahead, too.
    corrected_p_noise: float

    def mirrored(self) -> "NoisyDifference":
        """The second system minus the first."""
        noise = Bounds(0.0 - self.noise.upper, 0.0 - self.noise.lower)
        return NoisyDifference(**vars(super().mirrored()) | {"noise": noise})


@dataclass(frozen=True)
class QueryDifference:
    """How two systems differ on one query; in `difference` the ties of the two systems break independently."""

    query: Any
    a: Estimate[float]
    b: Estimate[float]
    difference: Estimate[float]


def difference(a: Estimate[FloatArray], b: Estimate[FloatArray]) -> Estimate[FloatArray]:
    """The estimate of the first minus the second, when their ties break independently."""
    return Estimate(a.lower - b.upper, a.expected - b.expected, a.upper - b.lower, np.sqrt(a.std**2 + b.std**2))
