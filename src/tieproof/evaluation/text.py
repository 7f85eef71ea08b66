"""A result as text: a table, and sentences on what was evaluated, on ties, and on the uncertainty over queries."""

from collections.abc import Iterator, Sequence

import numpy as np

from tieproof.evaluation.evaluated import NOT_JUDGED, NOTHING_RELEVANT
from tieproof.evaluation.result import Result
from tieproof.evaluation.worst_and_best import EACH, MOST, worst_and_best
from tieproof.show.parts import (
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
    percent,
    place,
    table,
)
from tieproof.show.tables import Table, html, latex, markdown
from tieproof.ties import Estimate

Sections = Sequence[Sequence[Row]]


def with_intervals(result: Result, head: Row, sections: Sections) -> tuple[Row, Sections]:
    """The header and the sections of a table with one more column, the confidence intervals over queries.

    A table has a section for each measure, or one section for all measures. Only the mean over all queries has an
    interval; the means over single categories have none.

    >>> import tieproof as tp
    >>> result = tp.evaluate_scores([[2, 1]] * 3, [[1, 0], [0, 1], [1, 0]], measures=["RR"])
    >>> with_intervals(result.with_ci(0.95), ("measure", "lower"), [[("RR", "0.8333")]])
    (('measure', 'lower', 'queries 95%'), [[('RR', '0.8333', '0.5000 to 1.0000')]])
    """
    assert result.ci is not None
    intervals = result.intervals(result.ci)
    unseen = set(intervals)

    def cell(measure: str) -> str:
        if measure not in unseen:
            return ""
        unseen.remove(measure)
        return f"{intervals[measure].low:.4f} to {intervals[measure].high:.4f}"

    rows = [[(*row, cell(row[0])) for row in section] for section in sections]
    return (*head, f"queries {percent(result.ci)}"), rows


def sentences_on_uncertainty(result: Result) -> Iterator[str]:
    """Sentences on the two uncertainties, from ties and from the choice of queries."""
    from tieproof.statistics.resampling import RESAMPLES

    assert result.ci is not None
    within = ", each category's within itself" if result.setting.average == "macro" else ""
    yield (
        "Uncertainty from ties: 'lower' to 'upper', and 'tie std', the standard deviation if ties are broken at "
        "random."
    )
    yield (
        f"Uncertainty from the choice of queries: 'queries {percent(result.ci)}', the confidence interval of "
        f"'{HEADLINE}', by the bootstrap (BCa) of the queries{within}, with {RESAMPLES:,} resamples from a fixed "
        "seed."
    )


MEANING = (
    "An area is the mean error of the n most confident queries, averaged over n = 1, 2, ... up to all queries. "
    "It is an error: the value to report is 'upper'."
)


def render_confidence(result: Result, width: int, color: bool) -> str:
    """A table with the area of each measure, and its meaning.

    >>> import tieproof as tp
    >>> result = tp.evaluate([[1.0, 0.0]] * 3, [7, 7, 8], measures=["P@1"], confidence=[0.5, 0.5, 0.9])
    >>> print(render_confidence(result, 80, False))
    area of errors   lower  expected   upper  tie std
    -------------------------------------------------
    1 - P@1         0.0000    0.5000  1.0000   0.3953
    <BLANKLINE>
    An area is the mean error of the n most confident queries, averaged over n = 1,
    2, ... up to all queries. It is an error: the value to report is 'upper'.
    There is 1 tie among confidences, and the largest holds 2 of 2 queries.
    """
    curves = {name: result.error_reject(name) for name in result.measures}
    rows = [(f"1 - {name}", *numbers(curve.area)) for name, curve in curves.items()]
    first = next(iter(curves.values()))
    queries = count(len(first.rejected), "query")
    ties = "No confidences are tied."
    if first.ties.ties:
        verb = "is" if first.ties.ties == 1 else "are"
        ties = (
            f"There {verb} {count(first.ties.ties, 'tie')} among confidences, and the largest holds "
            f"{first.ties.largest_tie:,} of {queries}."
        )
    paragraphs = [paragraph(text, width) for text in (MEANING, ties)]
    return "\n".join([table(("area of errors", *NUMBERS), [rows], width, color), "", *paragraphs])


UNSEEN = {
    "exact": "after an exact search, an unlisted item is at least as far as the last item listed",
    "approximate": "after an approximate search, an unlisted item may be anywhere, even nearer than the listed items",
}
"""Where items that a search did not return may be, by the kind of search."""

BEHIND = "after an exact search, an unlisted item comes after all listed items"
"""The same for lists without distances."""


def about_search(result: Result) -> Iterator[str]:
    """Sentences on how the lists are ordered, and on the scores that they leave open."""
    by_order = result.setting.distance == "order"
    if by_order:
        yield "There are no distances: the order of each list is taken as given, without ties."
    if result.search == "returned":
        yield "Only what was returned is scored: an unlisted item comes last, and counts as never retrieved."
    open_ends = result.ties.queries_with_open_last_tie
    if not open_ends:
        return
    search = result.search
    assert search is not None
    where = BEHIND if by_order and search == "exact" else UNSEEN[search]
    yield (
        f"Items that are not listed may change the score of {open_ends:,} of {count(result.ties.queries, 'query')}: "
        f"{where}. 'lower' and 'upper' cover every such ranking of all {count(result.setting.gallery, 'item')}; "
        "'expected' and 'tie std' assume that unlisted items follow each list in random order."
    )


def about_run(result: Result) -> Iterator[str]:
    """How many judged queries the run leaves out, and what they count as; no sentence if it answers all.

    >>> import tieproof as tp
    >>> qrels, run = {"q1": {"d1": 1}, "q2": {"d1": 1}}, {"q1": {"d1": 0.5}}
    >>> list(about_run(tp.evaluate_run(qrels, run, measures=["RR"])))
    ['The run has no document for 1 of 2 judged queries; it counts as 0.']
    """
    absent = result.not_in_run
    if not len(absent):
        return
    judged = result.setting.queries - len(result.skipped.get(NOT_JUDGED, ()))
    zeros = int((np.isin(absent, result.query_ids) & ~np.isin(absent, result.empty_ids)).sum())
    whole = "it" if zeros == 1 else "they"
    which = whole if zeros == len(absent) else f"{zeros:,} of these"
    becomes = f"; {which} {'counts' if zeros == 1 else 'count'} as 0" if zeros else ""
    yield f"The run has no document for {len(absent):,} of {judged:,} judged queries{becomes}."


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
    return f"{page}\n\n{render_confidence(result, width, color)}" if result.has_confidence else page


Headed = tuple[Row, Sequence[Sequence[Row]]]
"""The names of the columns, and sections of rows."""


def shown(result: Result) -> Headed:
    """The table of a result, by category if it has categories, and with intervals over queries if requested."""
    head, sections = by_category(result) if result.categories else whole(result)
    return (head, sections) if result.ci is None else with_intervals(result, head, sections)


def numbers_shown(result: Result) -> Row:
    """The names of the columns that are aligned to the right."""
    return [*NUMBERS, *shown(result)[0][-1:]]


def said(result: Result) -> Iterator[str]:
    """The sentences below the table."""
    yield from sentences(result)
    if result.ci is not None:
        yield from sentences_on_uncertainty(result)


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
