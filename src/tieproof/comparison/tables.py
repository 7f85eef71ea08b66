"""A comparison as text and tables: the scores of each system, and every difference with its intervals and verdict."""

from collections.abc import Iterator, Sequence
from string import ascii_lowercase

from tieproof.comparison.result import Comparison
from tieproof.comparison.verdicts import RULES, Difference, Sample, remark
from tieproof.show.parts import MOST_SHOWN, NARROWEST, WIDTH, count, more_than, paragraph, percent, signed
from tieproof.show.printable import printable
from tieproof.show.tables import Cell, Row, Table, html, latex, markdown
from tieproof.statistics.resampling import RESAMPLES
from tieproof.statistics.tests import DEALS, FLIPS, MOST_EXACT
from tieproof.ties import Estimate

COLUMNS = (8, 8, 8, 18, 7, 7)
"""The widths of the columns of numbers."""

SMALLEST = 0.0001
"""The smallest p-value that is shown as a number."""

TESTS = {
    "sign-flip": f"the paired sign-flip test (exact for up to {MOST_EXACT} queries that differ, otherwise with "
    f"{FLIPS:,} random flips from a fixed seed)",
    "t": "Student's paired t-test",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "tukey": f"the randomised Tukey test of all pairs at once (with {DEALS:,} random deals from a fixed seed)",
}

CORRECTIONS = {"holm": "Holm", "bonferroni": "Bonferroni", "fdr": "Benjamini and Hochberg"}


def render(found: Comparison, width: int | None = None, color: bool = False) -> str:
    """The verdict on each pair in each measure, with the numbers that it is based on, and their meaning.

    width : the number of columns to fit into; None for 80
    color : whether to use the escape sequences of a terminal

    >>> import numpy as np
    >>> import tieproof as tp
    >>> relevance, good = np.eye(8), np.eye(8)
    >>> bad = good * [1, 1, 0, 0, 0, 0, 0, 0]
    >>> systems = {"good": tp.evaluate_scores(good, relevance), "bad": tp.evaluate_scores(bad, relevance)}
    >>> print(render(tp.compare(systems, measures=["RR"])))
       lower  expected     upper         queries 95%        p  p lower
    ------------------------------------------------------------------
    RR
    good - bad: good is better in expectation; won 6, lost 0, drawn 2
      0.0000   +0.4952   +0.6562  +0.2476 to +0.6603   0.0312   1.0000
    <BLANKLINE>
    Compared 2 systems on 8 queries.
    'lower' and 'upper' are the smallest and the largest difference of the means
    over all orderings of tied items, where the orderings of the two systems are
    independent; 'expected' is the difference if ties are broken at random.
    'queries 95%' is the confidence interval of the expected difference over the
    choice of queries, by the bootstrap (BCa) with 9,999 resamples from a fixed
    seed.
    'p' is by the paired sign-flip test (exact for up to 32 queries that differ,
    otherwise with 99,999 random flips from a fixed seed), corrected by Holm for 1
    pair; 'p lower' is the p-value if all ties are broken against the system that is
    ahead and in favor of the other one.
    Better in expectation: the choice of queries is unlikely to explain the
    difference if ties are broken at random. A program that breaks ties in another
    way may show no difference.
    """
    width = max(width or WIDTH, NARROWEST)
    bold = "\x1b[1m{}\x1b[0m" if color else "{}"
    head = numbers_line(header(found))
    lines = [bold.format(head), "-" * len(head)]
    for measure in found.measures:
        lines.append(bold.format(printable(measure)))
        for a, b in found.pairs:
            each = found[a, b, measure]
            lines += [paragraph(f"{a} - {b}: {in_words(each)}", width), numbers_line(cells(each))]
        lines.append("")
    return "\n".join([*lines, *(paragraph(sentence, width) for sentence in sentences(found))])


def header(found: Comparison) -> Sequence[str]:
    """The names of the numbers of a difference."""
    return "lower", "expected", "upper", f"queries {percent(found.confidence)}", "p", "p lower"


def cells(found: Difference) -> Sequence[str]:
    """The numbers of a difference."""
    return (
        *(signed(value) for value in (found.lower, found.expected, found.upper)),
        " to ".join(map(signed, found.interval)),
        p_value(found.corrected_p_value),
        p_value(found.corrected_p_lower),
    )


def numbers_line(words: Sequence[str]) -> str:
    """Numbers, or their names, in columns."""
    return "  ".join(word.rjust(width) for word, width in zip(words, COLUMNS, strict=True))


def p_value(value: float) -> str:
    """A p-value with four decimals, never shown as 0.

    >>> p_value(0.03125), p_value(0.00001)
    ('0.0312', '<0.0001')
    """
    return f"{value:.4f}" if value >= SMALLEST else f"<{SMALLEST}"


def in_words(found: Difference) -> str:
    """The verdict, and the numbers of queries that the first system won, lost and drew."""
    verdict = found.verdict
    said = verdict.name if verdict.better is None else f"{verdict.better} is {verdict.name}"
    return f"{said}; won {found.wins:,}, lost {found.losses:,}, drawn {found.draws:,}"


def remark_on(found: Comparison, each: Difference) -> str:
    """What the number of queries says of the p-value of a difference."""
    differing, varies = each.wins + each.losses, each.effect_size is not None
    sample = Sample(found.test, len(found.systems), differing + each.draws, differing, varies)
    return remark(sample, 1 - found.confidence)


def sentences(found: Comparison) -> Iterator[str]:
    """Sentences on what was compared, and on the meaning of the columns and verdicts."""
    which = f", each with {found.baseline}" if found.baseline is not None else ""
    yield f"Compared {count(len(found.systems), 'system')} on {count(found.queries, 'query')}{which}."
    yield (
        "'lower' and 'upper' are the smallest and the largest difference of the means over all orderings of tied "
        "items, where the orderings of the two systems are independent; 'expected' is the difference if ties are "
        "broken at random."
    )
    yield (
        f"'queries {percent(found.confidence)}' is the confidence interval of the expected difference over the "
        f"choice of queries, by the bootstrap (BCa) with {RESAMPLES:,} resamples from a fixed seed."
    )
    corrected = ""
    if found.correction is not None:
        corrected = f", corrected by {CORRECTIONS[found.correction]} for {count(len(found.pairs), 'pair')}"
    yield (
        f"'p' is by {TESTS[found.test]}{corrected}; 'p lower' is the p-value if all ties are broken against the "
        "system that is ahead and in favor of the other one."
    )
    differences = [found[a, b, measure] for measure in found.measures for a, b in found.pairs]
    yield from dict.fromkeys(filter(None, (remark_on(found, each) for each in differences)))
    names = {each.verdict.name for each in differences}
    for rule in RULES:
        if rule.name in names:
            yield f"{rule.name[0].upper()}{rule.name[1:]}: {rule.means[0].lower()}{rule.means[1:]}"


def comparison_in_short(found: Comparison) -> str:
    """The systems, and the number of differences with each verdict."""
    verdicts = [found[a, b, measure].verdict.name for measure in found.measures for a, b in found.pairs]
    counts = ", ".join(f"{verdicts.count(name):,} {name}" for name in dict.fromkeys(verdicts))
    systems = ", ".join(map(printable, found.systems[:MOST_SHOWN])) + more_than(len(found.systems))
    return f"<Comparison of {systems} on {count(found.queries, 'query')}: {counts}>"


def difference_in_short(found: Difference) -> str:
    """The interval, and the verdict in words."""
    return f"{found.lower:.4f} ≤ {found.expected:.4f} ≤ {found.upper:.4f}: {printable(found.verdict.sentence)}"


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
