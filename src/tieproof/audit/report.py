"""What an audit comes to."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tieproof.audit.verdicts import Finding, Verdict, worst
from tieproof.errors import InputError

BASELINE = "random embeddings"
"""What findings on the comparison itself are called, which is no attack."""


@dataclass(frozen=True)
class AuditReport:
    """A finding for every attack and measure, in the order of the registry.

    evaluator : its name
    takes : how it was called
    seed : that of all random numbers
    items, queries : how many there were of each, usually
    power : for each measure, the gain of a blind system that would hardly have been missed
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
        """Whether nothing at all was found."""
        return all(finding.verdict.harmless for finding in self.findings)

    def finding(self, attack: str, measure: str | None = None) -> Finding:
        """The worst finding on an attack, on one measure or on all."""
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
        """Everything, as plain numbers, strings and dictionaries."""
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
        """A text to paste into an issue."""
        from tieproof.views.text.audit import markdown

        return markdown(self)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write a page to look at and to send (extra `report`): one file, ending in .html, that needs no network."""
        from tieproof.views.pages.audit import report

        return report(self, path)

    def _repr_html_(self) -> str:
        """The table that notebooks show."""
        from tieproof.views.tables.results import audit_as_html

        return audit_as_html(self)

    def __str__(self) -> str:
        """The table that the command line shows."""
        from tieproof.views.text.audit import render

        return render(self)

    def __repr__(self) -> str:
        """How many findings of the audit are bad, in short."""
        bad = sum(not finding.verdict.harmless for finding in self.findings)
        return f"<AuditReport of {self.evaluator}: {bad} of {len(self.findings)} findings are bad>"
