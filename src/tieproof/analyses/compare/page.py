"""The page of a comparison: `templates/comparison.html` with its numbers."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tieproof.analyses.compare.same_queries import differing_settings
from tieproof.analyses.compare.tables import shown_pairs
from tieproof.analyses.compare.verdicts import RULES
from tieproof.show.pages.page import Axis, isolated
from tieproof.show.pages.query_table import MeasureChoice, QueryTable, query_table
from tieproof.show.parts import count

if TYPE_CHECKING:
    from tieproof.analyses.compare.result import Comparison

_HEADS = {  # the columns of a difference, with their meaning
    name: f"the {which} difference over all orderings of tied items"
    for name, which in (("lower", "smallest"), ("expected", "mean"), ("upper", "largest"))
}
_DECIDING = 5  # the number of queries that are listed for each pair because they decide between the two systems


def contents(comparison: "Comparison") -> tuple[str, dict[str, Any]]:
    """The template of the page, and the values that it shows."""
    return "comparison.html", {
        "title": f"{', '.join(comparison.systems)}: {count(comparison.queries, 'query')}",
        "comparison": comparison,
        "tables": [_table_of(comparison, measure) for measure in comparison.measures],
        "rules": RULES,
        "deciding": [
            (a, b, comparison.deciding(a, b, comparison.measures[0], _DECIDING))
            for a, b in shown_pairs(comparison, comparison.measures[0])
        ],
        "queries": _queries_of(comparison),
        "setting": _setting(comparison),
    }


def _table_of(comparison: "Comparison", measure: str) -> dict[str, Any]:
    rows, ends = [], [0.0]
    for a, b in shown_pairs(comparison, measure):
        difference = comparison[a, b, measure]
        rows.append({"a": a, "b": b, "found": difference})
        ends += [difference.lower, difference.upper, *difference.interval]
    return {"measure": measure, "axis": Axis.around(ends), "rows": rows}


def _queries_of(comparison: "Comparison") -> QueryTable:
    choices = []
    for measure in comparison.measures:
        for a, b in shown_pairs(comparison, measure):
            values = comparison.per_query(a, b, measure)
            title = f"{measure}: {isolated(a)} - {isolated(b)}"
            choices.append(MeasureChoice(title, (values.lower, values.expected, values.upper)))
    expected = choices[0].columns[1]
    assert expected is not None
    order = np.argsort(-np.nan_to_num(np.abs(expected)), kind="stable")
    return query_table(comparison.query_ids, order, None, choices, {}, _HEADS)


def _setting(comparison: "Comparison") -> list[tuple[str, str]]:
    settings = differing_settings(comparison.results)
    compared = f"each with {comparison.baseline}" if comparison.baseline else "all pairs"
    if len(shown_pairs(comparison, comparison.measures[0])) < len(comparison.pairs):
        compared += ", of which neighbors by the expected values are shown"
    return [
        ("Systems", ", ".join(comparison.systems)),
        ("Compared", compared),
        ("Queries", f"{comparison.queries:,}"),
        ("Test", comparison.test),
        ("Correction", comparison.correction or "none"),
        ("Confidence", f"{100 * comparison.confidence:g} %"),
        *((f"Other settings of {name}", own) for name, own in settings.items() if own),
        *((f"Fingerprint of {name}", result.fingerprint or "none") for name, result in comparison.results.items()),
    ]
