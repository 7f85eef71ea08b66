"""Error rates as text: a table, and sentences on the pairs that were counted."""

from collections.abc import Iterator

from tieproof.results.rates import ErrorRates
from tieproof.views.tables.html import html
from tieproof.views.tables.latex import latex
from tieproof.views.tables.markdown import markdown
from tieproof.views.tables.table import Table
from tieproof.views.text.parts import NARROWEST, NUMBERS, WIDTH, Row, count, distance_meant, numbers, paragraph, table

HEADER = ("FMR", "threshold", *NUMBERS)

MEANINGS = {
    "linear": "A threshold is interpolated between two distances of non-relevant pairs, as by numpy.quantile; FNMR "
    "is the share of relevant pairs at or beyond the threshold.",
    "exact": "A threshold is the distance of a non-relevant pair. FNMR is the share of relevant pairs that come "
    "after that pair, over all orderings of pairs at exactly the same distance. It is an error: report 'upper'.",
}


def render(rates: ErrorRates, width: int | None = None, color: bool = False) -> str:
    """The table of all rates, then sentences on what was counted and what the rates mean.

    width : the number of columns to fit into; None for 80
    color : whether to use the escape sequences of a terminal

    >>> import tieproof as tp
    >>> print(render(tp.fnmr_at_fmr_of_distances([1, 2, 2, 3], [2, 3, 4], fmr=0.1, method="exact")))
    FMR  threshold   lower  expected   upper  tie std
    -------------------------------------------------
    0.1  2          0.2500    0.5000  0.7500   0.2041
    <BLANKLINE>
    Counted 4 relevant and 3 other pairs by the given distances.
    A threshold is the distance of a non-relevant pair. FNMR is the share of
    relevant pairs that come after that pair, over all orderings of pairs at exactly
    the same distance. It is an error: report 'upper'.
    """
    width = max(width or WIDTH, NARROWEST)
    paragraphs = [paragraph(text, width) for text in sentences(rates)]
    return "\n".join([table(HEADER, [rows(rates)], width, color), "", *paragraphs])


def rows(rates: ErrorRates) -> list[Row]:
    """A row for each operating point."""
    return [(f"{point.fmr:g}", f"{point.threshold:.6g}", *numbers(point.fnmr)) for point in rates.points]


def sentences(rates: ErrorRates) -> Iterator[str]:
    """What was counted, and what the rates mean."""
    by = "the given distances" if rates.distance == "distances" else distance_meant(rates.distance)
    yield f"Counted {rates.relevant_pairs:,} relevant and {rates.other_pairs:,} other pairs by {by}."
    yield MEANINGS[rates.method]


def of_rates(found: ErrorRates) -> Table:
    """A row for each operating point."""
    return Table("", HEADER, [rows(found)], [*sentences(found)], HEADER)


def rates_as_markdown(found: ErrorRates) -> str:
    """The table in Markdown."""
    return markdown(of_rates(found))


def rates_as_latex(found: ErrorRates) -> str:
    """The table in LaTeX."""
    return latex(of_rates(found))


def rates_as_html(found: ErrorRates) -> str:
    """The table in HTML."""
    return html(of_rates(found))


def rates_in_short(rates: ErrorRates) -> str:
    """The rates."""
    shown = ", ".join(f"FNMR {point.fnmr:.4f} at FMR {point.fmr:g}" for point in rates.points)
    return f"<ErrorRates of {count(rates.relevant_pairs, 'relevant pair')}: {shown}>"
