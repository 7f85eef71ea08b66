"""The page of an audit: `templates/audit.html` with its findings."""

import os
from typing import Any

from tieproof.audit.report import AuditReport
from tieproof.audit.verdicts import Verdict
from tieproof.views.pages.page import write_page
from tieproof.views.text.audit import attacks_of, bad, sentences


def report(found: AuditReport, path: str | os.PathLike[str]) -> None:
    """Write the page of an audit, as `AuditReport.report` does."""
    write_page(found, path, contents)


def contents(found: AuditReport) -> tuple[str, dict[str, Any]]:
    """The template of the page, and the values that it shows."""
    known = {finding.verdict for finding in found.findings}
    said = "can be exploited" if found.exploitable else "held" if found.held else "did not hold"
    return "audit.html", {
        "title": f"{found.evaluator} {said}",
        "report": found,
        "verdict": said,
        "said": list(sentences(found)),
        "bad": bad(found),
        "attacks": len(attacks_of(found.findings)),
        "several": len({finding.measure for finding in found.findings}) > 1,
        "meanings": [(str(verdict), verdict.meaning) for verdict in Verdict if verdict in known],
    }
