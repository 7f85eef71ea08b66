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
    DEPENDS_ON_ORDER = "depends on order"
    CHANGES = "changes"
    OUTSIDE = "outside the interval"
    NOT_A_NUMBER = "not a number"
    CRASHED = "crashed"
    TIMED_OUT = "timed out"
    TOO_MUCH_OUTPUT = "too much output"
    OUT_OF_RANGE = "out of range"
    EXPLOITABLE = "exploitable"

    @property
    def meaning(self) -> str:
        """The verdict in a sentence."""
        return MEANINGS[self]

    @property
    def harmless(self) -> bool:
        """Whether nothing is wrong."""
        return self in (Verdict.HELD, Verdict.REFUSED)


MEANINGS = {
    Verdict.HELD: "The attack gains nothing, or the change changes nothing but rounding.",
    Verdict.REFUSED: "The evaluator refuses the input with an error that says something.",
    Verdict.DEPENDS_ON_ORDER: "The same data in another order gives another number.",
    Verdict.CHANGES: "What must not matter changes the number.",
    Verdict.OUTSIDE: "The number is one that no ordering of the tied items scores.",
    Verdict.NOT_A_NUMBER: "It returns NaN.",
    Verdict.CRASHED: "It fails without refusing, returns no number, or takes its process with it.",
    Verdict.TIMED_OUT: "It takes longer than the time limit.",
    Verdict.TOO_MUCH_OUTPUT: "It prints or returns without measure.",
    Verdict.OUT_OF_RANGE: "The number leaves the limits of the measure.",
    Verdict.EXPLOITABLE: "A system that never looks at its input scores more than random embeddings do.",
}


@dataclass(frozen=True)
class Finding:
    """The verdict on one attack, and the worst input seen.

    attack, measure : their names; an evaluator that returns a single number calls it "score"
    verdict : what it comes to
    score : what the evaluator gave for that input; None where it gave no number
    random_mean, random_std : the scores of random embeddings on the same labels; None where they are not compared
    deviations : how many of these standard deviations the score is better than the mean
    detail : the input and the numbers, in words
    reproduce : one line of Python that prints the score, or the detail where there is no score
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

    def to_dict(self) -> dict[str, Any]:
        """Plain values; what is not finite is None, as JSON has no word for it."""
        found = asdict(self) | {"verdict": str(self.verdict)}
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
