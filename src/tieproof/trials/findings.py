"""What attacks on evaluators and on competitions share: verdicts, findings, and reports of findings."""

import math
import textwrap
import tomllib
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from tieproof.errors import InputError
from tieproof.kit import count, in_one_line
from tieproof.show.shown import AsJson

# The words of attacks and verdicts, and the settings of attacks; the table itself explains its keys.
TABLE: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("attacks.toml").read_text("utf-8"))


def told(name: str, by: str = "audit") -> dict[str, Any]:
    """What the table tells of an attack of an audit, or of a check, as arguments by name."""
    said: dict[str, Any] = TABLE[by][name]
    return said | {"why": TABLE["sentences"].get(said["why"], said["why"])}


# The name of findings on the scores of random embeddings themselves, which are not an attack.
BASELINE = "random embeddings"


def check_attacks(names: Iterable[str], known: Iterable[str], argument: str | None = None) -> None:
    """Raise InputError, which carries the name of the argument, if a name is not that of a known attack."""
    for name in names:
        if name not in known:
            raise InputError(f"Unknown attack '{name}'. Known: {', '.join(known)}.", argument)


class Verdict(StrEnum):
    """A verdict on an attack. They are sorted from the best to the worst, and each has a `meaning`."""

    HELD = "held"
    REFUSED = "refused"
    NOT_A_MEAN = "not a mean"
    ALWAYS_THE_SAME = "always the same"
    WRITES = "writes into its input"
    DEPENDS_ON_ORDER = "depends on order"
    CHANGES = "changes"
    MISJUDGES = "misjudges a good system"
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
        return str(TABLE["verdicts"][self])

    @property
    def harmless(self) -> bool:
        """Whether the verdict means that nothing is wrong."""
        return self in (Verdict.HELD, Verdict.REFUSED, Verdict.NOT_A_MEAN, Verdict.ALWAYS_THE_SAME)


def rank_of(verdict: Verdict) -> int:
    """How bad a verdict is: its place among all verdicts."""
    return list(Verdict).index(verdict)


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
    interval : the smallest and the largest number that a recall of the same lists may be; None for other attacks
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
    interval: tuple[float, float] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain values; numbers that are not finite are None, because JSON cannot represent them."""
        values = asdict(self) | {"verdict": str(self.verdict), "renamed": self.renamed and str(self.renamed)}
        values["interval"] = self.interval and list(self.interval)
        return {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in values.items()
        }


def worst(findings: Iterable[Finding]) -> Finding:
    """The finding with the worst verdict; among equal verdicts, the one with the most deviations above random."""

    def badness(finding: Finding) -> tuple[int, float]:
        better = finding.deviations
        return rank_of(finding.verdict), -math.inf if better is None or math.isnan(better) else better

    return max(findings, key=badness)


def bad(findings: Iterable[Finding]) -> list[Finding]:
    """The findings that are not harmless, the worst first."""
    harmful = [finding for finding in findings if not finding.verdict.harmless]
    return sorted(harmful, key=lambda finding: -rank_of(finding.verdict))


def attacks_of(findings: Iterable[Finding]) -> set[str]:
    """The names of the attacks that findings are about; random embeddings are not an attack."""
    return {finding.attack for finding in findings} - {BASELINE}


def wrapped(text: str, width: int) -> str:
    """The text wrapped as a paragraph; long words such as paths are not broken."""
    return textwrap.fill(in_one_line(text), width, break_on_hyphens=False, break_long_words=False)


class Report(AsJson):
    """What the reports of an audit and of a check share; their first field names what was attacked."""

    findings: Sequence[Finding]

    @property
    def exploitable(self) -> bool:
        """Whether a system that never looks at its input, or a submission without any system, gains something."""
        return any(finding.verdict is Verdict.EXPLOITABLE for finding in self.findings)

    @property
    def held(self) -> bool:
        """Whether every finding is harmless."""
        return all(finding.verdict.harmless for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """The whole report as plain numbers, strings, lists and dictionaries."""
        said = super().to_dict()
        del said["findings"]
        findings = [finding.to_dict() for finding in self.findings]
        return said | {"exploitable": self.exploitable, "held": self.held, "findings": findings}

    def _found(self, attack: str, measure: str | None) -> list[Finding]:
        """The findings on an attack, on one measure or task or on all of them; InputError if there are none."""
        findings = [each for each in self.findings if each.attack == attack and measure in (None, each.measure)]
        if not findings:
            names = ", ".join(dict.fromkeys(finding.attack for finding in self.findings))
            on = "" if measure is None else f" on {measure!r}"
            raise InputError(f"This report has no attack '{attack}'{on}; it has {names}.")
        return findings

    @abstractmethod
    def to_text(self, width: int | None = None, color: bool = False) -> str:
        """The tables that the command line shows, with whole sentences below them."""

    def __str__(self) -> str:
        """The tables that the command line shows, in 80 columns."""
        return self.to_text()

    def __repr__(self) -> str:
        """The name of what was attacked, and the number of bad findings."""
        about, harmful = next(iter(vars(self).values())), bad(self.findings)
        return f"<{type(self).__name__} of {about}: {len(harmful)} of {len(self.findings)} findings are bad>"


def in_a_sentence(report: Report, exploited: str, found: str, held: str) -> str:
    """All findings in a sentence, by its ends for an exploit, for another problem, and if every attack held."""
    exploits = attacks_of(finding for finding in report.findings if finding.verdict is Verdict.EXPLOITABLE)
    attacks = count(len(attacks_of(report.findings)), "attack")
    if exploits:
        return (
            f"EXPLOITABLE: {len(exploits)} of {attacks} {exploited.format('shows' if len(exploits) == 1 else 'show')}"
        )
    if report.held:
        return f"Held: {held.format(attacks)}"
    finders = len(attacks_of(bad(report.findings)))
    problem = f"{finders} of {attacks} found a problem" if finders else "random embeddings show a problem"
    return f"Not held: {problem}{found}"
