"""What can be said of an attack, from the least to the worst, and a finding, which says it with numbers."""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    """Sorted from the least to the worst; each has its meaning."""

    HELD = "held"
    REFUSED = "refused"
    NOT_A_MEAN = "not a mean"
    DEPENDS_ON_ORDER = "depends on order"
    CHANGES = "changes"
    ALWAYS_THE_SAME = "always the same"
    OUTSIDE = "outside the interval"
    NOT_A_NUMBER = "not a number"
    CRASHED = "crashed"
    TIMED_OUT = "timed out"
    TOO_MUCH_OUTPUT = "too much output"
    OUT_OF_RANGE = "out of range"
    GAINS_A_LITTLE = "gains a little"
    EXPLOITABLE = "exploitable"

    @property
    def meaning(self) -> str:
        """The verdict in a sentence."""
        return MEANINGS[self]

    @property
    def harmless(self) -> bool:
        """Whether nothing is wrong."""
        return self in (Verdict.HELD, Verdict.REFUSED, Verdict.NOT_A_MEAN)


MEANINGS = {
    Verdict.HELD: "The attack gains nothing, or the change changes nothing but rounding.",
    Verdict.REFUSED: "The evaluator refuses the input with an error that says something.",
    Verdict.NOT_A_MEAN: "The number is not the mean of the values of single queries; nor was it declared to be one.",
    Verdict.DEPENDS_ON_ORDER: "The same data in another order gives another number.",
    Verdict.CHANGES: "What must not matter changes the number.",
    Verdict.ALWAYS_THE_SAME: "All random embeddings score the same, so that nothing can be compared.",
    Verdict.OUTSIDE: "The number is one that no ordering of the tied items scores.",
    Verdict.NOT_A_NUMBER: "It returns NaN.",
    Verdict.CRASHED: "It fails without refusing, returns no number, or takes its process with it.",
    Verdict.TIMED_OUT: "It takes longer than the time limit.",
    Verdict.TOO_MUCH_OUTPUT: "It prints or returns without measure.",
    Verdict.OUT_OF_RANGE: "The number leaves the limits of the measure.",
    Verdict.GAINS_A_LITTLE: "A blind system gains more than luck explains, but no more than one random embedding "
    "may, or than another kind of average explains.",
    Verdict.EXPLOITABLE: "A system that never looks at its input scores more than random embeddings do.",
}


@dataclass(frozen=True)
class Finding:
    """The verdict on one attack, and the worst input seen.

    attack, measure : their names; an evaluator that returns a single number calls it "score"
    verdict : what it comes to
    score : what the evaluator gave for that input; None where it gave no number
    random_mean, random_std : the mean of random embeddings on the same labels, and the standard deviation of one;
        None where they are not compared
    deviations : how many of these standard deviations the score is better than the mean
    detail : the input and the numbers, in words
    reproduce : one line of Python that prints the score, or the detail where there is no score; empty where no line
        shows it in another process
    renamed : the verdict where documents have random names, for an exploit that was seen under names in order
    """

    attack: str
    measure: str
    verdict: Verdict
    score: float | None = None
    random_mean: float | None = None
    random_std: float | None = None
    deviations: float | None = None
    detail: str = ""
    reproduce: str = ""
    renamed: Verdict | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values; what is not finite is None, as JSON has no word for it."""
        found = asdict(self) | {"verdict": str(self.verdict), "renamed": self.renamed and str(self.renamed)}
        return {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in found.items()
        }


def worst(findings: Iterable[Finding]) -> Finding:
    """The finding with the worst verdict; among equals the one that is best against random embeddings."""
    order = list(Verdict)

    def badness(finding: Finding) -> tuple[int, float]:
        better = finding.deviations
        return order.index(finding.verdict), -math.inf if better is None or math.isnan(better) else better

    return max(findings, key=badness)
