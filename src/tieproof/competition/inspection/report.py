"""The report of a check, and its text."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tieproof.audit import Finding, Verdict
from tieproof.audit.tables import filled
from tieproof.errors import InputError
from tieproof.show.parts import NARROWEST, WIDTH, count, table

CLIMBING = "hill climbing"
"""The attack whose detail is always shown, because every score reveals something about the labels."""

HEADER = ("attack", "verdict", "score", "baseline", "random")


@dataclass(frozen=True)
class TaskScale:
    """The scores that the scores of a task are compared with.

    name : the name of the task
    sample : the score of the task's sample, such as a baseline
    random_mean, random_std : the mean and standard deviation of the scores of random systems
    """

    name: str
    sample: float
    random_mean: float
    random_std: float


@dataclass(frozen=True)
class CheckReport:
    """The findings of a check, one for each attack and task, in the order of the registry.

    bundle, platform : the bundle that was checked, and its platform
    sealed : whether the program ran without network, and could write only to its own folders
    seed : the seed of all random numbers
    """

    bundle: str
    platform: str
    sealed: bool
    seed: int
    tasks: Sequence[TaskScale]
    findings: Sequence[Finding]

    @property
    def exploitable(self) -> bool:
        """Whether a submission that no real system made could have gained something."""
        return any(finding.verdict is Verdict.EXPLOITABLE for finding in self.findings)

    @property
    def held(self) -> bool:
        """Whether every finding is harmless."""
        return all(finding.verdict.harmless for finding in self.findings)

    def finding(self, attack: str, task: str | None = None) -> Finding:
        """The finding on an attack, for one task or for the first task that has one."""
        for finding in self.findings:
            if finding.attack == attack and task in (None, finding.measure):
                return finding
        names = ", ".join(dict.fromkeys(finding.attack for finding in self.findings))
        raise InputError(f"This report has no attack '{attack}'; it has {names}.")

    def to_dict(self) -> dict[str, Any]:
        """The whole report as plain values; in a finding, `task` replaces `measure`."""
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
        """The name of the bundle and the number of bad findings."""
        bad = sum(not finding.verdict.harmless for finding in self.findings)
        return f"<CheckReport of {self.bundle}: {bad} of {len(self.findings)} findings are bad>"


def render(report: CheckReport, width: int | None = None, color: bool = False) -> str:
    """A table for each task, with a row for each attack, and the bad findings below the tables."""
    width = max(width or WIDTH, NARROWEST)
    parts = []
    for task in report.tasks:
        rows = [cells(finding, task) for finding in report.findings if finding.measure == task.name]
        parts += [filled(f"{task.name}:", width), table(HEADER, [rows], width, color)]
    parts.append("\n".join(filled(text, width) for text in sentences(report)))
    for finding in report.findings:
        if finding.attack == CLIMBING and finding.verdict.harmless:
            parts.append(filled(f"{finding.attack}, {finding.measure}: {finding.detail}", width))
    for finding in bad(report):
        parts.append(filled(f"{finding.attack}, {finding.measure}, {finding.verdict}: {finding.detail}", width))
    return "\n\n".join(parts)


def cells(finding: Finding, task: TaskScale) -> Sequence[str]:
    """The row of a finding in the table."""
    score = "" if finding.score is None else f"{finding.score:.4f}"
    luck = "" if math.isnan(task.random_mean) else f"{task.random_mean:.4f} ± {task.random_std:.4f}"
    return [finding.attack, str(finding.verdict), score, f"{task.sample:.4f}", luck]


def bad(report: CheckReport) -> list[Finding]:
    """The findings that are not harmless, the worst first."""
    order = list(Verdict)
    found = [finding for finding in report.findings if not finding.verdict.harmless]
    return sorted(found, key=lambda finding: -order.index(finding.verdict))


def sentences(report: CheckReport) -> Iterator[str]:
    """What was checked, and the overall result, in sentences."""
    sealed = (
        "without network, in the folders of the platform."
        if report.sealed
        else "not sealed: bubblewrap (bwrap) is missing or may not be used, so the program could read and write your "
        "files, use the network and leave processes behind."
    )
    yield f"Checked {report.bundle}, a bundle for {report.platform}, {sealed}"
    attacks = count(len({finding.attack for finding in report.findings}), "attack")
    exploits = {finding.attack for finding in report.findings if finding.verdict is Verdict.EXPLOITABLE}
    if exploits:
        yield f"EXPLOITABLE: {len(exploits)} of {attacks} gained something without any system."
    elif not report.held:
        finders = len({finding.attack for finding in bad(report)})
        yield f"Not held: {finders} of {attacks} found a problem, though none of them gained anything."
    else:
        yield f"Held: {attacks} gained nothing."
