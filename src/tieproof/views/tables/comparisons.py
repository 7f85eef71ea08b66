"""The tables of a comparison: the scores of each system, and the differences of each pair."""

from collections.abc import Iterator
from string import ascii_lowercase

from tieproof.results.comparison import Comparison
from tieproof.ties import Estimate
from tieproof.views.tables.html import html
from tieproof.views.tables.latex import latex
from tieproof.views.tables.markdown import markdown
from tieproof.views.tables.table import Cell, Row, Table
from tieproof.views.text.comparison import cells, header, in_words, sentences
from tieproof.views.text.parts import percent


def of_scores(found: Comparison) -> Table:
    """A row for each system; the letters after a score name the systems that it is better than, as in ranx.

    The score of a system that is better than all others is in bold. No score is in bold if a verdict leaves that
    open, or if systems were compared only with a baseline.
    """
    rows: list[Row] = [
        (mark, name, *(scored(found, name, measure) for measure in found.measures))
        for mark, name in marks(found).items()
    ]
    return Table("", ("", "system", *found.measures), [rows], [*about_scores(found)], found.measures)


def marks(found: Comparison) -> dict[str, str]:
    """A letter for each system, in order, or a number if there are more systems than letters."""
    count = len(found.systems)
    names = ascii_lowercase if count <= len(ascii_lowercase) else map(str, range(1, count + 1))
    return dict(zip(names, found.systems, strict=False))


def scored(found: Comparison, system: str, measure: str) -> Cell:
    """The cell with the score of a system."""
    beaten = {
        name
        for pair in found.pairs
        if system in pair and found[*pair, measure].verdict.better == system
        for name in pair
        if name != system
    }
    letters = [mark for mark, name in marks(found).items() if name in beaten]
    between = "" if len(found.systems) <= len(ascii_lowercase) else ","
    mean = found.results[system][measure]
    return Cell(score(mean), bold=len(beaten) == len(found.systems) - 1, marks=between.join(letters))


def score(mean: Estimate[float]) -> str:
    """The lower value, with the expected and the upper value beside it if they differ.

    >>> score(Estimate(0.5, 0.75, 1.0, 0.1)), score(Estimate(0.5, 0.5, 0.5, 0.0))
    ('0.5000 ≤ 0.7500 ≤ 1.0000', '0.5000')
    """
    lower, upper = f"{mean.lower:.4f}", f"{mean.upper:.4f}"
    return lower if lower == upper else f"{mean:.4f}"


def about_scores(found: Comparison) -> Iterator[str]:
    """Sentences on the content of a cell."""
    yield (
        "The lowest value over all orderings of tied items, which is the score to report; beside it, where ties "
        "leave the score open, the expected value if ties are broken at random, and the highest value."
    )
    corrected = f"{found.correction} corrected" if found.correction else "not corrected"
    yield (
        "The letters after a score name the systems that it is better than, whatever the ties or in expectation "
        f"({found.test} test, {corrected}, {percent(found.confidence)}). A score in bold is better than all others."
    )


def of_differences(found: Comparison) -> Table:
    """A section for each measure, with a row for each pair."""
    names = ("measure", "systems", *header(found), "verdict")
    sections: list[list[Row]] = [
        [
            (measure, f"{a} - {b}", *cells(found[a, b, measure]), in_words(found[a, b, measure]))
            for a, b in found.pairs
        ]
        for measure in found.measures
    ]
    return Table("", names, sections, [*sentences(found)], header(found))


def comparison_as_markdown(found: Comparison) -> str:
    """Both tables in Markdown."""
    return f"{markdown(of_scores(found))}\n\n{markdown(of_differences(found))}"


def comparison_as_latex(found: Comparison) -> str:
    """The scores in LaTeX."""
    return latex(of_scores(found))


def comparison_as_html(found: Comparison) -> str:
    """Both tables in HTML."""
    return html(of_scores(found), of_differences(found))
