"""The page of error rates: `templates/rates.html` with their numbers."""

import os
from typing import Any

from tieproof.results.rates import ErrorRates
from tieproof.views.pages.page import write_page
from tieproof.views.text.parts import distance_meant
from tieproof.views.text.rates import MEANINGS


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
