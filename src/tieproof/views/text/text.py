"""A result as text: a table, and sentences on what was evaluated and what ties do."""

from collections.abc import Iterator, Sequence

from tieproof.results.evaluated import NOTHING_RELEVANT
from tieproof.results.results import Result
from tieproof.ties import Estimate
from tieproof.views.tables.html import html
from tieproof.views.tables.latex import latex
from tieproof.views.tables.markdown import markdown
from tieproof.views.tables.table import Table
from tieproof.views.text import uncertainty
from tieproof.views.text.confidence import render as render_areas
from tieproof.views.text.neighbors import about_search
from tieproof.views.text.parts import (
    HEADLINE,
    MOST_SHOWN,
    NARROWEST,
    NUMBERS,
    WIDTH,
    Row,
    count,
    more_than,
    numbers,
    paragraph,
    place,
    table,
)
from tieproof.views.text.runs import about_run
from tieproof.views.worst_and_best import EACH, MOST, worst_and_best

ALL = {"micro": "(all queries)", "macro": "(mean of them)"}
"""The text for the mean in the column of categories."""


def render(result: Result, width: int | None = None, color: bool = False) -> str:
    """The table of all measures, then sentences on what was evaluated, what was left out and what ties do.

    width : the number of columns to fit into; None for 80
    color : whether to use the escape sequences of a terminal

    >>> import tieproof as tp
    >>> print(render(tp.evaluate([[0.0, 0.0]] * 3, ["cat", "dog", "cat"], measures=["AP"])))
    measure   lower  expected   upper  tie std
    ------------------------------------------
    AP       0.5000    0.7500  1.0000   0.1768
    <BLANKLINE>
    Evaluated 2 of 3 queries, leave-one-out among 3 items of 2 dimensions, under
    cosine distance.
    Left out: 1 query, with no relevant item.
    2 of 2 queries hold an ambiguous tie, which mixes relevant and other items.
    There are 2 ambiguous ties, and the largest tie holds 2 items.
    The score to report is 'lower': no ordering of the tied items gives less.
    3 vectors are all zero: their cosine similarity to everything is 0.
    """
    width = max(width or WIDTH, NARROWEST)
    texts = (paragraph(text, width) for text in said(result))
    page = "\n".join([table(*shown(result), width, color, numbers_shown(result)), "", *texts])
    return f"{page}\n\n{render_areas(result, width, color)}" if result.has_confidence else page


Headed = tuple[Row, Sequence[Sequence[Row]]]
"""The names of the columns, and sections of rows."""


def shown(result: Result) -> Headed:
    """The table of a result, by category if it has categories, and with intervals over queries if requested."""
    head, sections = by_category(result) if result.categories else whole(result)
    return (head, sections) if result.ci is None else uncertainty.with_intervals(result, head, sections)


def numbers_shown(result: Result) -> Row:
    """The names of the columns that are aligned to the right."""
    return [*NUMBERS, *shown(result)[0][-1:]]


def said(result: Result) -> Iterator[str]:
    """The sentences below the table."""
    yield from sentences(result)
    if result.ci is not None:
        yield from uncertainty.sentences(result)


def whole(result: Result) -> Headed:
    """A row for each measure."""
    return ("measure", *NUMBERS), [[(name, *numbers(result[name])) for name in result.measures]]


def by_category(result: Result) -> Headed:
    """A section for each measure, with a row for the mean and one for each category that is shown."""
    return ("measure", "category", *NUMBERS), [section(result, measure) for measure in result.measures]


def section(result: Result, measure: str) -> Sequence[Row]:
    """The rows of a measure: its mean and its categories, or the worst and best of them if there are too many."""
    first, between, last = worst_and_best(result, measure)

    def row(name: str, mean: Estimate[float]) -> Row:
        return measure, name, *numbers(mean)

    gap = [(measure, f"({between:,} more)", *[""] * len(NUMBERS))] if between else []
    means = [(ALL[result.setting.average], result[measure]), *first]
    return [*(row(*named) for named in means), *gap, *(row(*named) for named in last)]


def sentences(result: Result) -> Iterator[str]:
    """What was evaluated, what was left out, and what ties do."""
    yield f"Evaluated {evaluated(result)}."
    yield from about_categories(result)
    yield from about_run(result)
    yield from about_left_out(result)
    yield from about_ties(result)
    if result.ties.zero_vectors:
        yield about_zeros(result)


def about_categories(result: Result) -> Iterator[str]:
    """How many categories there are, and which have no mean."""
    known, left_out = len(result.categories), len(result.categories_left_out)
    if result.setting.average == "macro":
        yield f"Means are over {count(known, 'category')}, each with the mean over its queries."
    if known > MOST:
        yield (
            f"Of {count(known, 'category')}, the {EACH} with the lowest and the {EACH} with the highest '{HEADLINE}' "
            "are shown; the JSON of the result has all of them."
        )
    if left_out:
        verb = "has" if left_out == 1 else "have"
        yield f"{count(left_out, 'further category')} {verb} no query with a relevant item, and so no mean."


def about_left_out(result: Result) -> Iterator[str]:
    """The queries that are left out of all means, and the value of included queries without relevant items."""
    skipped = result.skipped
    for reason, ids in skipped.items():
        yield f"Left out: {count(len(ids), 'query')}, with {reason}."
    if len(result.empty_ids) and NOTHING_RELEVANT not in skipped:
        verb = "counts" if len(result.empty_ids) == 1 else "count"
        yield f"{count(len(result.empty_ids), 'query')} without any relevant item {verb} as {result.setting.empty}."


def evaluated(result: Result) -> str:
    """The queries, the gallery and the distance, in words."""
    setting = result.setting
    left_out = sum(map(len, result.skipped.values()))
    queries = count(setting.queries, "query")
    if left_out:
        queries = f"{setting.queries - left_out:,} of {queries}"
    items = count(setting.gallery, "item")
    if result.search is not None:
        kind = {"exact": "an exact", "approximate": "an approximate", "returned": "a"}[result.search]
        return f"{queries}, by the {setting.distance} that {kind} search among {items} returned"
    if setting.dimensions is None:
        return f"{queries}, ranking up to {items} by the given {setting.distance}"
    rounded = f" rounded to {setting.precision}" if setting.precision else ""
    return f"{queries}{place(setting.leave_one_out, setting.gallery, setting.dimensions, setting.distance)}{rounded}"


def about_ties(result: Result) -> Iterator[str]:
    """Sentences on ties: how many there are, whether they matter, and whether cut-off lists may end in a tie."""
    ties = result.ties
    yield about_ambiguous_ties(result) if ties.ambiguous_ties else about_harmless_ties(result)
    if result.search is not None:
        yield from about_search(result)
    elif ties.queries_with_open_last_tie:
        yield about_open_ties(result)
    if result.search == "approximate" and ties.queries_with_open_last_tie:
        yield (
            f"'{HEADLINE}' is the least that the lists allow, whatever the search missed; it is low because of "
            "unlisted items, not only because of ties. To score what was returned, evaluate with search=returned."
        )
    elif ties.ambiguous_ties or ties.queries_with_open_last_tie:
        yield f"The score to report is '{HEADLINE}': no ordering of the tied items gives less."


def about_harmless_ties(result: Result) -> str:
    """The sentence for results in which no tie mixes relevant and other items."""
    ties = result.ties
    harmless = {0: "", 1: " The only tie holds only relevant items."}
    several = f" The {count(ties.ties, 'tie')} hold only relevant items."
    where = " within a list" if ties.queries_with_open_last_tie else ""
    return f"No tie{where} changes any score: all orderings agree.{harmless.get(ties.ties, several)}"


def about_ambiguous_ties(result: Result) -> str:
    """The sentence on how many ties mix relevant and other items."""
    ties = result.ties
    touched = ties.queries_with_ambiguous_ties
    hold = "holds" if touched == 1 else "hold"
    return (
        f"{touched:,} of {count(ties.queries, 'query')} {hold} an ambiguous tie, which mixes relevant and other "
        f"items. There {'is' if ties.ambiguous_ties == 1 else 'are'} {count(ties.ambiguous_ties, 'ambiguous tie')}, "
        f"and the largest tie holds {count(ties.largest_tie, 'item')}."
    )


def about_open_ties(result: Result) -> str:
    """The sentence on how many lists were cut off within a possible tie."""
    open_ends = result.ties.queries_with_open_last_tie
    have = "has" if open_ends == 1 else "have"
    return (
        f"{open_ends:,} of {count(result.ties.queries, 'query')} {have} a list that was cut off and whose last tie "
        "may continue beyond its end: 'lower' and 'upper' cover every possible continuation; 'expected' and "
        "'tie std' are computed from the list as given."
    )


def about_zeros(result: Result) -> str:
    """The sentence on zero vectors."""
    zeros = result.ties.zero_vectors
    subject = f"{count(zeros, 'vector')} {'is' if zeros == 1 else 'are'} all zero"
    if result.setting.distance != "cosine":
        return f"{subject}."
    return f"{subject}: {'its' if zeros == 1 else 'their'} cosine similarity to everything is 0."


def of_result(result: Result) -> Table:
    """A row for each measure, or for each of its categories."""
    header, sections = shown(result)
    return Table("", header, sections, [*said(result)], numbers_shown(result))


def result_as_markdown(result: Result) -> str:
    """The table in Markdown."""
    return markdown(of_result(result))


def result_as_latex(result: Result) -> str:
    """The table in LaTeX."""
    return latex(of_result(result))


def result_as_html(result: Result) -> str:
    """The table in HTML."""
    return html(of_result(result))


def result_in_short(result: Result) -> str:
    """The intervals of the first measures."""
    shown = ", ".join(f"{name} {result[name]:.4f}" for name in result.measures[:MOST_SHOWN])
    return f"<Result of {count(result.ties.queries, 'query')}: {shown}{more_than(len(result))}>"
