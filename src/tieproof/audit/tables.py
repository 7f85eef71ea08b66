"""The report of an audit as text for a terminal, as Markdown to paste into an issue, and as a page."""

import os
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tieproof.audit.report import BASELINE, AuditReport, Finding, Verdict
from tieproof.show.files import Formats, Writer
from tieproof.show.pages.page import write_page
from tieproof.show.parts import NARROWEST, WIDTH, count, table
from tieproof.show.printable import in_one_line, printable
from tieproof.show.tables import Table, html
from tieproof.show.tables import markdown as table_as_markdown

HEADER = ("attack", "verdict", "score", "random", "deviations")
MEASURE = "measure"


def render(report: AuditReport, width: int | None = None, color: bool = False) -> str:
    """A table with a row for each attack, then the bad findings, each with the line that reproduces it, if any.

    >>> import tieproof as tp
    >>> def upper_bound(embeddings, labels):
    ...     return tp.evaluate(embeddings, labels, measures=["AP"])["AP"].upper
    >>> print(render(tp.audit(upper_bound, attacks=["zeros", "nan"])))
    attack  verdict      score   random           deviations
    --------------------------------------------------------
    zeros   exploitable  1.0000  0.1146 ± 0.0026  +344.6
    nan     refused
    <BLANKLINE>
    Audited upper_bound, called with (embeddings, labels), leave-one-out.
    EXPLOITABLE: 1 of 2 attacks shows that a system that never looks at its input
    scores more than random embeddings do.
    The number after ± is the standard deviation of one random embedding.
    <BLANKLINE>
    zeros, exploitable: On the layout 'sorted', the score is 1.0000; random
    embeddings score 0.1146 ± 0.0026. In 5 draws of 141 to 324 items, it gains
    0.8834 over random embeddings on average, with a standard error of 0.0027.
    """
    width = max(width or WIDTH, NARROWEST)
    several = len({finding.measure for finding in report.findings}) > 1
    header = (*HEADER[:1], MEASURE, *HEADER[1:]) if several else HEADER
    rows = [cells(finding, several) for finding in report.findings]
    parts = [table(header, [rows], width, color), "\n".join(filled(text, width) for text in sentences(report))]
    for finding in bad(report):
        name = f"{finding.attack}, {finding.measure}" if several else finding.attack
        found = filled(f"{name}, {finding.verdict}: {finding.detail}", width)
        parts.append(f"{found}\n    {printable(finding.reproduce)}" if finding.reproduce else found)
    return "\n\n".join(parts)


def markdown(report: AuditReport) -> str:
    """The report as Markdown: a table of the bad findings, and the lines that reproduce them."""
    lines = [f"## Audit of `{in_one_line(report.evaluator)}`", "", *map(in_one_line, sentences(report))]
    if found := bad(report):
        rows = [[*cells(finding, True), finding.detail] for finding in found]
        lines += ["", table_as_markdown(Table("", (HEADER[0], MEASURE, *HEADER[1:], "what"), [rows]))]
        again = [printable(finding.reproduce) for finding in found if finding.reproduce]
        lines += ["", "To reproduce each of them:", "", "```python", *again, "```"] if again else []
    return "\n".join(lines) + "\n"


def markdown_writer() -> Writer:
    """The function that writes a report as Markdown."""

    def write(report: AuditReport, path: Path) -> None:
        path.write_text(markdown(report), encoding="utf-8")

    return write


MARKDOWN: Formats = {".md": markdown_writer}
"""The file extension for `markdown`, and its writer."""


def cells(finding: Finding, several: bool) -> Sequence[str]:
    """The row of a finding in the table."""
    score = "" if finding.score is None else f"{finding.score:.4f}"
    luck = "" if finding.random_mean is None else f"{finding.random_mean:.4f} ± {finding.random_std:.4f}"
    deviations = "" if finding.deviations is None else f"{finding.deviations:+.1f}"
    names = [finding.attack, finding.measure] if several else [finding.attack]
    return [*names, str(finding.verdict), score, luck, deviations]


def bad(report: AuditReport) -> list[Finding]:
    """The findings that are not harmless, the worst first."""
    order = list(Verdict)
    found = [finding for finding in report.findings if not finding.verdict.harmless]
    return sorted(found, key=lambda finding: -order.index(finding.verdict))


def sentences(report: AuditReport) -> Iterator[str]:
    """What was audited, and the overall result, in sentences."""
    yield f"Audited {report.evaluator}, called with {report.takes}."
    found = bad(report)
    exploits = attacks_of(finding for finding in found if finding.verdict is Verdict.EXPLOITABLE)
    little = attacks_of(finding for finding in found if finding.verdict is Verdict.GAINS_A_LITTLE)
    attacks = count(len(attacks_of(report.findings)), "attack")
    if exploits:
        verb = "shows" if len(exploits) == 1 else "show"
        yield (
            f"EXPLOITABLE: {len(exploits)} of {attacks} {verb} that a system that never looks at its input scores "
            "more than random embeddings do."
        )
    elif found:
        finders = len(attacks_of(found))
        gains = "a blind system gains a little" if little else "no blind system gains from it"
        what = f"{finders} of {attacks} found a problem" if finders else "random embeddings show a problem"
        yield f"Not held: {what}, though {gains}."
    else:
        yield f"Held: in {attacks}, no blind system gains, and nothing changes that must not change."
    if not exploits and report.power and any(finding.deviations is not None for finding in report.findings):
        yield f"With {sizes(report)}, {powers(report)} would hardly have been missed."
    if any(finding.random_mean is not None for finding in report.findings):
        yield "The number after ± is the standard deviation of one random embedding."


def attacks_of(findings: Iterable[Finding]) -> set[str]:
    """The names of the attacks that findings are about; random embeddings are not an attack."""
    return {finding.attack for finding in findings} - {BASELINE}


def sizes(report: AuditReport) -> str:
    """The numbers of items and queries, in words."""
    same = report.items == report.queries
    return count(report.items, "item") + (" and as many queries" if same else f" and {report.queries} queries")


def powers(report: AuditReport) -> str:
    """The gain that would hardly have been missed, for each measure, in words."""
    gains = [f"above {gain:.2g}" for gain in report.power.values()]
    if len(gains) > 1:
        gains = [f"{gain} of {name}" for gain, name in zip(gains, report.power, strict=True)]
    return f"a gain {' or '.join(gains)}"


def filled(text: str, width: int) -> str:
    """The text wrapped as a paragraph; long words such as paths are not broken."""
    return textwrap.fill(in_one_line(text), width, break_on_hyphens=False, break_long_words=False)


def audit_as_html(report: AuditReport) -> str:
    """The table in HTML, with the details of each finding."""
    header = (HEADER[0], MEASURE, *HEADER[1:], "what")
    rows = [[*cells(finding, True), finding.detail] for finding in report.findings]
    return html(Table("", header, [rows], [*sentences(report)], ("score", "deviations")))


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
