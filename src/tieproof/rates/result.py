"""`ErrorRates`: the false non-match rate at each false match rate, as numbers, text and page."""

import json
import math
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

from tieproof.errors import InputError
from tieproof.inputs.options import as_shares, check_choice
from tieproof.show.pages.page import write_page
from tieproof.show.parts import NARROWEST, NUMBERS, WIDTH, Row, count, distance_meant, numbers, paragraph, table
from tieproof.show.tables import Table, html, latex, markdown
from tieproof.ties import Estimate

Method = Literal["linear", "exact"]
METHODS: tuple[str, ...] = get_args(Method)


@dataclass(frozen=True)
class OperatingPoint:
    """The false non-match rate where the false match rate is `fmr`.

    threshold : the quantile `fmr` of the distances of the pairs that are not relevant; a nearer pair is a match
    fnmr : the share of relevant pairs that do not match
    """

    fmr: float
    threshold: float
    fnmr: Estimate[float]


@dataclass(frozen=True, repr=False)
class ErrorRates:
    """False non-match rates by false match rate.

    >>> import tieproof as tp
    >>> rates = tp.fnmr_at_fmr_of_distances([0, 0, 1, 1, 2, 2, 5, 5, 9, 9], [3, 3, 4, 4, 6, 6, 7, 7, 8, 8])
    >>> rates[0.1].upper
    0.4
    >>> rates.points[0].threshold
    3.0
    """

    method: str
    distance: str
    relevant_pairs: int
    other_pairs: int
    points: tuple[OperatingPoint, ...]

    def __getitem__(self, fmr: float) -> Estimate[float]:
        """The false non-match rate at a false match rate that was asked for."""
        for point in self.points:
            if point.fmr == fmr:
                return point.fnmr
        known = ", ".join(f"{point.fmr:g}" for point in self.points)
        raise InputError(f"These rates have no FMR {fmr!r}; they have {known}. Name it in fmr=(...).")

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain numbers, strings, lists and dictionaries."""
        return {**asdict(self), "points": [asdict(point) for point in self.points]}

    def to_json(self, indent: int | None = 2) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write a report (extra `report`) as one .html file that needs no network to be viewed."""
        return report(self, path)

    def to_markdown(self) -> str:
        """A Markdown table to paste into an issue, with the counts below it."""
        return rates_as_markdown(self)

    def to_latex(self) -> str:
        """A LaTeX table to paste into a paper; it uses the package booktabs."""
        return rates_as_latex(self)

    def _repr_html_(self) -> str:
        """The table that notebooks show."""
        return rates_as_html(self)

    def __repr__(self) -> str:
        """A short text with the rates."""
        return rates_in_short(self)

    def __str__(self) -> str:
        """The table that the command line shows."""
        return render(self)


def checked_rates(fmr: Any) -> tuple[float, ...]:
    """Check one or several false match rates, which must be within [0, 1]."""
    return as_shares(fmr, "A false match rate", "fmr=(0.1,)")


def check_method(method: str) -> None:
    """Refuse an unknown method."""
    check_choice("method", method, METHODS)


def check_counts(relevant: int, others: int) -> None:
    """Refuse data without relevant pairs or without other pairs."""
    if not relevant:
        raise InputError(
            "No pair is relevant, so there is no false non-match rate. Check that labels and embeddings belong "
            "together."
        )
    if not others:
        raise InputError(
            "Every pair is relevant or excluded, so there are no other pairs whose distances could give a threshold. "
            "Add items of other classes."
        )


def check_threshold(threshold: float, fmr: float) -> float:
    """Return the threshold, or refuse one that overflows float64."""
    if not math.isfinite(threshold):
        raise InputError(
            f"The distance at the false match rate {fmr:g} exceeds the largest float64. Divide all embeddings by one "
            "large number, which does not change the rates."
        )
    return threshold + 0.0  # no negative zero


def linear_place(fmr: float, count: int) -> tuple[int, int, float]:
    """The ranks of the two numbers, among `count`, on either side of the quantile, and its fraction of the way.

    Computed in float64 as numpy.quantile does (`method="linear"`; Hyndman and Fan 1996, definition 7).
    """
    place = (count - 1) * fmr
    first = math.floor(place)
    return first, min(first + 1, count - 1), place - first


def between(first: float, second: float, part: float) -> float:
    """Interpolate between two numbers from the nearer end, as numpy.quantile does.

    >>> between(3.0, 4.0, 0.25)
    3.25
    """
    if part < 0.5:
        return first + (second - first) * part
    return second - (second - first) * (1 - part)


def exact_rank(fmr: float, count: int) -> int:
    """The rank, counted from 0, of the smallest of `count` numbers that a share `fmr` of them does not exceed.

    The share is the decimal number as written: 0.1 is exactly a tenth.

    >>> exact_rank(0.1, 10), exact_rank(0.11, 10), exact_rank(0.0, 10)
    (0, 1, 0)
    """
    return max(0, math.ceil(Fraction(repr(fmr)) * count) - 1)


def point(value: float) -> Estimate[float]:
    """The estimate of a value that no tie changes."""
    return Estimate(value, value, value, 0.0)


def tied_estimate(beyond: int, tied: int, total: int, place: int, others: int) -> Estimate[float]:
    """The share of relevant pairs behind the threshold, over all orderings of the pairs tied with it.

    beyond, tied, total : the numbers of relevant pairs strictly beyond the threshold, exactly at it, and in all
    place, others : the threshold is set by number `place`, counted from 1, of the `others` pairs that are not
        relevant and exactly at the threshold

    When the tied pairs are in random order, each relevant one is behind the threshold with probability
    p = (others + 1 - place) / (others + 1), and their number is beta-binomial with the parameters
    others + 1 - place and place (Johnson, Kotz and Kemp 1992, section 6.2.2): its mean is tied p and its variance
    tied p (1 - p) (others + 1 + tied) / (others + 2).

    >>> tied_estimate(1, 2, 4, 1, 1)
    Estimate(lower=0.25, expected=0.5, upper=0.75, std=0.2041241452319315)
    """
    p = Fraction(others + 1 - place, others + 1)
    variance = tied * p * (1 - p) * Fraction(others + 1 + tied, others + 2) / total**2
    return Estimate(
        beyond / total,
        float((beyond + tied * p) / total),
        (beyond + tied) / total,
        math.sqrt(variance),
    )


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


def report(rates: ErrorRates, path: str | os.PathLike[str]) -> None:
    """Write the page of error rates; see `ErrorRates.report`."""
    write_page(rates, path, contents)


def contents(rates: ErrorRates) -> tuple[str, dict[str, Any]]:
    """The template of the page, and the values that it shows."""
    first = rates.points[0]
    return "rates.html", {
        "title": f"FNMR {first.fnmr.upper:.4f} at FMR {first.fmr:g}",
        "rates": rates,
        "meaning": MEANINGS[rates.method],
        "by": "the given distances" if rates.distance == "distances" else distance_meant(rates.distance),
    }
