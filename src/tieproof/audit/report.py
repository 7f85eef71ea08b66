"""The report of an audit: its findings, and whether the evaluator is exploitable or held."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tieproof.audit.verdicts import Finding, Verdict, worst
from tieproof.errors import InputError

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
        from tieproof.views.text.audit import markdown

        return markdown(self)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the report as a self-contained HTML page (extra `report`): one .html file that needs no network."""
        from tieproof.views.pages.audit import report

        return report(self, path)

    def _repr_html_(self) -> str:
        """The table that notebooks show."""
        from tieproof.views.text.audit import audit_as_html

        return audit_as_html(self)

    def __str__(self) -> str:
        """The table that the command line shows."""
        from tieproof.views.text.audit import render

        return render(self)

    def __repr__(self) -> str:
        """The evaluator's name and the number of bad findings."""
        bad = sum(not finding.verdict.harmless for finding in self.findings)
        return f"<AuditReport of {self.evaluator}: {bad} of {len(self.findings)} findings are bad>"
