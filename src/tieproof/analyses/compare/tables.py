"""A comparison as text, tables and page: the scores of systems, and differences with their intervals and verdicts."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import numpy as np

from tieproof.analyses.compare.same_queries import about_settings, differing_settings
from tieproof.analyses.compare.verdicts import RULES, Difference, Sample, remark
from tieproof.measures.statistics.resampling import RESAMPLES
from tieproof.measures.statistics.tests import DEALS, FLIPS, MOST_EXACT
from tieproof.show.pages.page import Axis, isolated
from tieproof.show.pages.query_table import MeasureChoice, QueryTable, query_table
from tieproof.show.parts import NARROWEST, WIDTH, chance, count, first_of, paragraph, percent, signed
from tieproof.show.printable import printable
from tieproof.show.shown import Cell, Row, Table, below
from tieproof.ties import Estimate

if TYPE_CHECKING:
    from tieproof.analyses.compare.result import Comparison

_COLUMNS = (8, 8, 8, 18, 7, 7)  # the widths of the columns of numbers
_MOST_IN_PAIRS = 10  # the most systems of which all pairs are shown
_HEADS = {  # the columns of a difference, with their meaning
    name: f"the {which} difference over all orderings of tied items"
    for name, which in (("lower", "smallest"), ("expected", "mean"), ("upper", "largest"))
}
_DECIDING = 5  # the number of queries that are listed for each pair because they decide between the two systems

_TESTS = {
    "sign-flip": f"the paired sign-flip test (exact for up to {MOST_EXACT} queries that differ, otherwise with "
    f"{FLIPS:,} random flips from a fixed seed)",
    "t": "Student's paired t-test",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "tukey": f"the randomized Tukey test of all pairs at once (with {DEALS:,} random deals from a fixed seed)",
}

_CORRECTIONS = {"holm": "Holm", "bonferroni": "Bonferroni", "fdr": "Benjamini and Hochberg"}


def differences_as_text(comparison: "Comparison", width: int | None, color: bool, explain: bool) -> str:
    """The verdict on each pair in each measure, with the numbers that it is based on, and their meaning."""
    width = max(width or WIDTH, NARROWEST)
    bold = "\x1b[1m{}\x1b[0m" if color else "{}"
    head = _numbers_line(_header(comparison))
    lines = [bold.format(head), "-" * len(head)]
    for measure in comparison.measures:
        lines.append(bold.format(printable(measure)))
        for a, b in shown_pairs(comparison, measure):
            each = comparison[a, b, measure]
            lines += [paragraph(f"{a} - {b}: {_in_words(each, a, b)}", width), _numbers_line(_cells(each))]
        lines.append("")
    return "\n".join([*lines, *below(_sentences(comparison), width, explain)])


def shown_pairs(comparison: "Comparison", measure: str) -> Sequence[tuple[str, str]]:
    """All pairs of a few systems; of more systems the neighbors by the expected values, the better system first."""
    if comparison.baseline is not None or len(comparison.systems) <= _MOST_IN_PAIRS:
        return comparison.pairs
    ordered = sorted(comparison.systems, key=lambda name: (-comparison.results[name][measure].expected, name))
    return list(pairwise(ordered))


def _header(comparison: "Comparison") -> Sequence[str]:
    return "lower", "expected", "upper", f"queries {percent(comparison.confidence)}", "p", "p lower"


def _cells(difference: Difference) -> Sequence[str]:
    return (
        *(signed(value) for value in (difference.lower, difference.expected, difference.upper)),
        " to ".join(map(signed, difference.interval)),
        chance(difference.corrected_p_value),
        chance(difference.corrected_p_lower),
    )


def _numbers_line(texts: Sequence[str]) -> str:
    return "  ".join(text.rjust(width) for text, width in zip(texts, _COLUMNS, strict=True))


def _in_words(difference: Difference, a: str, b: str) -> str:
    """The verdict, and how many queries the better system, or the first one if neither is better, won and lost."""
    verdict = difference.verdict
    if verdict.better == b:
        a, difference = b, difference.mirrored()
    said = verdict.name if verdict.better is None else f"{a} is {verdict.name}"
    return f"{said}; {outcomes(difference, a)}"


def outcomes(difference: Difference, a: str) -> str:
    """How many queries the first system of a difference, which is called `a`, won, lost and drew."""
    return f"{a} won {difference.wins:,}, lost {difference.losses:,}, drew {difference.draws:,}"


def _sentences(comparison: "Comparison") -> Iterator[str]:
    yield from comparison.notes
    if len(comparison.pairs) > len(shown := shown_pairs(comparison, comparison.measures[0])):
        yield (
            f"Shown are the {count(len(shown), 'pair')} of neighbors by the expected values, of "
            f"{count(len(comparison.pairs), 'pair')}; the JSON has all. tieproof leaderboard ranks many runs."
        )
    yield from about_settings(comparison.results)
    names, remarks = set(), dict[str, list[str]]()
    for a, b, measure in ((*pair, measure) for measure in comparison.measures for pair in comparison.pairs):
        each = comparison[a, b, measure]
        names.add(each.verdict.name)
        differing, varies = each.wins + each.losses, each.effect_size is not None
        sample = Sample(comparison.test, len(comparison.systems), differing + each.draws, differing, varies)
        if said := remark(sample, 1 - comparison.confidence):
            remarks.setdefault(said, []).append(f"{a} - {b} in {measure}")
    for said, of in remarks.items():
        yield f"{first_of(of)}: {said}"
    which = f", each with {comparison.baseline}" if comparison.baseline is not None else ""
    yield f"Compared {count(len(comparison.systems), 'system')} on {count(comparison.queries, 'query')}{which}."
    for rule in RULES:
        if rule.name in names:
            yield f"{rule.name[0].upper()}{rule.name[1:]}: {rule.means[0].lower()}{rule.means[1:]}"
    yield (
        "'lower' and 'upper' are the smallest and the largest difference of the means over all orderings of tied "
        "items, where the orderings of the two systems are independent; 'expected' is the difference if ties are "
        "broken at random."
    )
    yield (
        f"'queries {percent(comparison.confidence)}' is the confidence interval of the expected difference over the "
        f"choice of queries, by the bootstrap (BCa) with {RESAMPLES:,} resamples from a fixed seed."
    )
    corrected = ""
    if comparison.correction is not None:
        corrected = f", corrected by {_CORRECTIONS[comparison.correction]} for {count(len(comparison.pairs), 'pair')}"
    yield (
        f"'p' is by {_TESTS[comparison.test]}{corrected}; 'p lower' is the p-value if all ties are broken against "
        "the system that is ahead and in favor of the other one."
    )


def scores_table(comparison: "Comparison") -> Table:
    """A row for each system; the letters after a score name the systems that it is better than, as in ranx.

    If there are more systems than letters, they are numbers. The score of a system that is better than all others is
    in bold. No score is in bold if a verdict leaves that open, or if systems were compared only with a baseline.
    """
    several = len(comparison.systems) > len(ascii_lowercase)
    letters = map(str, range(1, len(comparison.systems) + 1)) if several else ascii_lowercase
    marks = dict(zip(comparison.systems, letters, strict=False))

    def cell(system: str, measure: str) -> Cell:
        against = [pair for pair in comparison.pairs if system in pair]
        won = [pair for pair in against if comparison[*pair, measure].verdict.better == system]
        beaten = {name for pair in won for name in pair} - {system}
        beaten_marks = ("," if several else "").join(marks[name] for name in comparison.systems if name in beaten)
        bold = len(beaten) == len(comparison.systems) - 1
        return Cell(_score(comparison.results[system][measure]), bold=bold, marks=beaten_marks)

    rows: list[Row] = [
        (mark, name, *(cell(name, measure) for measure in comparison.measures)) for name, mark in marks.items()
    ]
    corrected = f"{comparison.correction} corrected" if comparison.correction else "not corrected"
    procedure = f"{comparison.test} test, {corrected}, {percent(comparison.confidence)}"
    notes = [
        "The lowest value over all orderings of tied items; beside it, where ties leave the score open, the expected "
        "value if ties are broken at random, and the highest value.",
        "The letters after a score name the systems that it is better than, whatever the ties or in expectation "
        f"({procedure}). A score in bold is better than all others.",
        *about_settings(comparison.results),
    ]
    return Table(("", "system", *comparison.measures), [rows], notes, comparison.measures)


def _score(mean: Estimate[float]) -> str:
    """The lower value, with the expected and the upper value beside it if they differ."""
    lower, upper = f"{mean.lower:.4f}", f"{mean.upper:.4f}"
    return lower if lower == upper else f"{mean:.4f}"


def differences_table(comparison: "Comparison") -> Table:
    """A section for each measure, with a row for each pair."""
    header = _header(comparison)
    sections: list[list[Row]] = [
        [
            (measure, f"{a} - {b}", *_cells(each), _in_words(each, a, b))
            for (a, b), each in ((pair, comparison[*pair, measure]) for pair in shown_pairs(comparison, measure))
        ]
        for measure in comparison.measures
    ]
    return Table(("measure", "systems", *header, "verdict"), sections, [*_sentences(comparison)], header)


def page(comparison: "Comparison") -> tuple[str, dict[str, Any]]:
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
