"""The tables of results, with the same columns, rows and sentences as their text for terminals."""

from tieproof.audit.report import AuditReport
from tieproof.results.collisions import Collisions
from tieproof.results.neighbor_recall import NeighborRecall
from tieproof.results.rates import ErrorRates
from tieproof.results.results import Result
from tieproof.views.tables.html import html
from tieproof.views.tables.latex import latex
from tieproof.views.tables.markdown import markdown
from tieproof.views.tables.table import Table
from tieproof.views.text import audit, collisions, neighbor_recall, rates, text


def of_result(result: Result) -> Table:
    """A row for each measure, or for each of its categories."""
    header, sections = text.shown(result)
    return Table("", header, sections, [*text.said(result)], text.numbers_shown(result))


def result_as_markdown(result: Result) -> str:
    """The table in Markdown."""
    return markdown(of_result(result))


def result_as_latex(result: Result) -> str:
    """The table in LaTeX."""
    return latex(of_result(result))


def result_as_html(result: Result) -> str:
    """The table in HTML."""
    return html(of_result(result))


def of_collisions(found: Collisions) -> Table:
    """A row for each range of ranks."""
    header, sections = collisions.by_rank(found)
    return Table("", header, sections, [*collisions.sentences(found)], header[1:])


def collisions_as_markdown(found: Collisions) -> str:
    """The table in Markdown."""
    return markdown(of_collisions(found))


def collisions_as_latex(found: Collisions) -> str:
    """The table in LaTeX."""
    return latex(of_collisions(found))


def collisions_as_html(found: Collisions) -> str:
    """The table in HTML."""
    return html(of_collisions(found))


def of_rates(found: ErrorRates) -> Table:
    """A row for each operating point."""
    return Table("", rates.HEADER, [rates.rows(found)], [*rates.sentences(found)], rates.HEADER)


def rates_as_markdown(found: ErrorRates) -> str:
    """The table in Markdown."""
    return markdown(of_rates(found))


def rates_as_latex(found: ErrorRates) -> str:
    """The table in LaTeX."""
    return latex(of_rates(found))


def rates_as_html(found: ErrorRates) -> str:
    """The table in HTML."""
    return html(of_rates(found))


def of_neighbor_recall(found: NeighborRecall) -> Table:
    """A row for each k, and one for each other definition of recall."""
    header, sections = neighbor_recall.shown(found)
    return Table("", header, sections, [*neighbor_recall.sentences(found)], header[1:])


def neighbor_recall_as_markdown(found: NeighborRecall) -> str:
    """The table in Markdown."""
    return markdown(of_neighbor_recall(found))


def neighbor_recall_as_latex(found: NeighborRecall) -> str:
    """The table in LaTeX."""
    return latex(of_neighbor_recall(found))


def neighbor_recall_as_html(found: NeighborRecall) -> str:
    """The table in HTML."""
    return html(of_neighbor_recall(found))


def audit_as_html(report: AuditReport) -> str:
    """The table in HTML, with the details of each finding."""
    header = (audit.HEADER[0], audit.MEASURE, *audit.HEADER[1:], "what")
    rows = [[*audit.cells(finding, True), finding.detail] for finding in report.findings]
    return html(Table("", header, [rows], [*audit.sentences(report)], ("score", "deviations")))
