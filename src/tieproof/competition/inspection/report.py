"""What a check comes to, and how it is shown."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tieproof.audit import Finding, Verdict
from tieproof.errors import InputError
from tieproof.views.text.audit import filled
from tieproof.views.text.parts import NARROWEST, WIDTH, count, table

HEADER = ("attack", "verdict", "score", "baseline", "random")


@dataclass(frozen=True)
class TaskScale:
    """What scores of a task are compared with.

    name : of the task
    sample : the score of its sample, such as a baseline
    random_mean, random_std : those of random systems
    """

    name: str
    sample: float
    random_mean: float
    random_std: float


@dataclass(frozen=True)
class CheckReport:
    """A finding for every attack and task, in the order of the registry.

    bundle, platform : what was checked
    sealed : whether the program ran without network, and could write nothing but its output
    seed : that of all random numbers
    """

    bundle: str
    platform: str
    sealed: bool
    seed: int
    tasks: Sequence[TaskScale]
    findings: Sequence[Finding]

    @property
    def exploitable(self) -> bool:
        """Whether something could have been won by what is no system."""
        return any(finding.verdict is Verdict.EXPLOITABLE for finding in self.findings)

    @property
    def held(self) -> bool:
        """Whether nothing at all was found."""
        return all(finding.verdict.harmless for finding in self.findings)

    def finding(self, attack: str, task: str | None = None) -> Finding:
        """The finding on an attack, of one task or of the first that has one."""
        for finding in self.findings:
            if finding.attack == attack and task in (None, finding.measure):
                return finding
        names = ", ".join(dict.fromkeys(finding.attack for finding in self.findings))
        raise InputError(f"This report has no attack '{attack}'; it has {names}.")

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain numbers, strings and dictionaries; a finding has the task in place of a measure."""
        found = [finding.to_dict() for finding in self.findings]
        for each in found:
            each["task"] = each.pop("measure")
            del each["reproduce"], each["renamed"]
        return {
            "bundle": self.bundle,
            "platform": self.platform,
            "sealed": self.sealed,
            "seed": self.seed,
            "exploitable": self.exploitable,
            "held": self.held,
            "tasks": [
                {key: None if value != value else value for key, value in asdict(task).items()} for task in self.tasks
            ],
            "findings": found,
        }

    def to_json(self, indent: int | None = 2) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def __str__(self) -> str:
        """The table that the command line shows."""
        return render(self)

    def __repr__(self) -> str:
        """How many findings are bad, in short."""
        bad = sum(not finding.verdict.harmless for finding in self.findings)
        return f"<CheckReport of {self.bundle}: {bad} of {len(self.findings)} findings are bad>"


def render(report: CheckReport, width: int | None = None, color: bool = False) -> str:
    """A table for each task with a row for each attack, and under them what was found."""
    width = max(width or WIDTH, NARROWEST)
    parts = []
    for task in report.tasks:
        rows = [cells(finding, task) for finding in report.findings if finding.measure == task.name]
        parts += [filled(f"{task.name}:", width), table(HEADER, [rows], width, color)]
    parts.append("\n".join(filled(text, width) for text in sentences(report)))
    for finding in bad(report):
        parts.append(filled(f"{finding.attack}, {finding.measure}, {finding.verdict}: {finding.detail}", width))
    return "\n\n".join(parts)


def cells(finding: Finding, task: TaskScale) -> Sequence[str]:
    """A row of the table."""
    score = "" if finding.score is None else f"{finding.score:.4f}"
    luck = "" if math.isnan(task.random_mean) else f"{task.random_mean:.4f} ± {task.random_std:.4f}"
    return [finding.attack, str(finding.verdict), score, f"{task.sample:.4f}", luck]


def bad(report: CheckReport) -> list[Finding]:
    """What did not hold, the worst first."""
    order = list(Verdict)
    found = [finding for finding in report.findings if not finding.verdict.harmless]
    return sorted(found, key=lambda finding: -order.index(finding.verdict))


def sentences(report: CheckReport) -> Iterator[str]:
    """What was checked, and what it comes to."""
    sealed = (
        "without network, in the folders of the platform."
        if report.sealed
        else "not sealed: bubblewrap (bwrap) is missing, and what the program wrote and sent was not held back."
    )
    yield f"Checked {report.bundle}, a bundle for {report.platform}, {sealed}"
    attacks = count(len({finding.attack for finding in report.findings}), "attack")
    exploits = {finding.attack for finding in report.findings if finding.verdict is Verdict.EXPLOITABLE}
    if exploits:
        yield f"EXPLOITABLE: with {len(exploits)} of {attacks} something was to be gained without any system."
    elif not report.held:
        finders = len({finding.attack for finding in bad(report)})
        yield f"Not held: {finders} of {attacks} found something, though nothing was to be gained."
    else:
        yield f"Held: nothing was to be gained by {attacks}."
