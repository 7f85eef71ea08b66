"""The verdicts on an attack, from the best to the worst, and the finding, which adds the numbers to a verdict."""

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from tieproof.errors import InputError


class Verdict(StrEnum):
    """A verdict on an attack. They are sorted from the best to the worst, and each has a `meaning`."""

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
        """What the verdict means, in a sentence."""
        return MEANINGS[self]

    @property
    def harmless(self) -> bool:
        """Whether the verdict means that nothing is wrong."""
        return self in (Verdict.HELD, Verdict.REFUSED, Verdict.NOT_A_MEAN)


MEANINGS = {
    Verdict.HELD: "The attack gains nothing, or the change of the data changes the number by no more than rounding.",
    Verdict.REFUSED: "The evaluator refuses the input with an error that has a message.",
    Verdict.NOT_A_MEAN: "The number is not the mean of the values of single queries, nor declared to be one.",
    Verdict.DEPENDS_ON_ORDER: "The same data in another order gives another number.",
    Verdict.CHANGES: "A change of the data that must not matter changes the number.",
    Verdict.ALWAYS_THE_SAME: "All random embeddings have the same score, so that nothing can be compared with them.",
    Verdict.OUTSIDE: "No ordering of the tied items gives this number.",
    Verdict.NOT_A_NUMBER: "The evaluator returns NaN.",
    Verdict.CRASHED: "The evaluator fails without refusing the input, returns no number, or ends its process.",
    Verdict.TIMED_OUT: "The evaluator takes longer than the time limit.",
    Verdict.TOO_MUCH_OUTPUT: "The evaluator prints or returns more than the audit accepts.",
    Verdict.OUT_OF_RANGE: "The number is outside the limits of the measure.",
    Verdict.GAINS_A_LITTLE: "A blind system gains more than luck explains, but no more than a single random "
    "embedding may gain, or no more than the kind of average explains.",
    Verdict.EXPLOITABLE: "A system that never looks at its input scores more than random embeddings do.",
}


@dataclass(frozen=True)
class Finding:
    """The verdict on one attack, and the worst input seen.

    attack, measure : the names of both; the measure is "score" if the evaluator returns a single number
    verdict : the verdict on the attack
    score : the number that the evaluator gave for that input; None if it gave no number
    random_mean, random_std : the mean score of random embeddings on the same labels, and the standard deviation of
        the score of a single one; None if the score is not compared with them
    deviations : by how many of these standard deviations the score is better than the mean
    detail : the input and the numbers, in words
    reproduce : one line of Python that prints the score, or the detail if there is no score; empty if no line can
        reproduce the finding in another process
    renamed : the verdict when documents have random names, for an exploit found while documents were named in order
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
        """The finding as plain values; numbers that are not finite are None, because JSON cannot represent them."""
        found = asdict(self) | {"verdict": str(self.verdict), "renamed": self.renamed and str(self.renamed)}
        return {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in found.items()
        }


def worst(findings: Iterable[Finding]) -> Finding:
    """The finding with the worst verdict; among equal verdicts, the one with the most deviations above random."""
    order = list(Verdict)

    def badness(finding: Finding) -> tuple[int, float]:
        better = finding.deviations
        return order.index(finding.verdict), -math.inf if better is None or math.isnan(better) else better

    return max(findings, key=badness)


BASELINE = "random embeddings"
"""The name of findings on the scores of random embeddings themselves, which are not an attack."""


@dataclass(frozen=True)
class AuditReport:
    """The findings of an audit, one for each attack and measure, in the order of the registry.

    evaluator : the evaluator's name
    takes : the arguments that it was called with
    seed : the seed of all random numbers
    items, queries : the usual number of each
    power : for each measure, the gain of a blind system that the audit would hardly have missed
    """

    evaluator: str
    takes: str
    seed: int
    findings: Sequence[Finding]
    items: int = 0
    queries: int = 0
    power: Mapping[str, float] = field(default_factory=dict)

    @property
    def exploitable(self) -> bool:
        """Whether a blind system scores more than random embeddings."""
        return any(finding.verdict is Verdict.EXPLOITABLE for finding in self.findings)

    @property
    def held(self) -> bool:
        """Whether every finding is harmless."""
        return all(finding.verdict.harmless for finding in self.findings)

    def finding(self, attack: str, measure: str | None = None) -> Finding:
        """The worst finding on an attack, for one measure or for all of them."""
        found = [
            finding for finding in self.findings if finding.attack == attack and measure in (None, finding.measure)
        ]
        if not found:
            names = ", ".join(dict.fromkeys(finding.attack for finding in self.findings))
            raise InputError(
                f"This report has no attack '{attack}'{'' if measure is None else f' on {measure!r}'}; "
                f"it has {names}."
            )
        return worst(found)

    def to_dict(self) -> dict[str, Any]:
        """The whole report as plain numbers, strings, lists and dictionaries."""
        return {
            "evaluator": self.evaluator,
            "takes": self.takes,
            "seed": self.seed,
            "items": self.items,
            "queries": self.queries,
            "power": dict(self.power),
            "exploitable": self.exploitable,
            "held": self.held,
            "findings": [finding.to_dict() for finding in self.findings],
        }

    def to_json(self, indent: int | None = 2) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def to_markdown(self) -> str:
        """The report as Markdown, to paste into an issue."""
        from tieproof.audit.tables import markdown

        return markdown(self)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the report as a self-contained HTML page (extra `report`): one .html file that needs no network."""
        from tieproof.audit.tables import report

        return report(self, path)

    def _repr_html_(self) -> str:
        """The table that notebooks show."""
        from tieproof.audit.tables import audit_as_html

        return audit_as_html(self)

    def __str__(self) -> str:
        """The table that the command line shows."""
        from tieproof.audit.tables import render

        return render(self)

    def __repr__(self) -> str:
        """The evaluator's name and the number of bad findings."""
        bad = sum(not finding.verdict.harmless for finding in self.findings)
        return f"<AuditReport of {self.evaluator}: {bad} of {len(self.findings)} findings are bad>"
