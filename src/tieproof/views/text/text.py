"""A result as text: a table, and what was evaluated in whole sentences.

Plain ASCII, so that it prints wherever it is sent.
"""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import astuple
from io import StringIO

from tieproof.distances import DISTANCES
from tieproof.results.results import NOTHING_RELEVANT, Estimate, Result
from tieproof.views.printable import printable
from tieproof.views.text.runs import about_run

WIDTH = 80
"""Columns of the text where nobody says how many there are."""

NARROWEST = 44
"""Columns that the numbers need; a narrower terminal wraps them itself."""

NUMBERS = ("lower", "expected", "upper", "tie std")
"""The heads of the columns of an `Estimate`: its std is over the orderings of tied items, not over the queries."""

HEADLINE = "lower"

RULES = "\n".join(["    ", "    ", " -- ", "    ", "    ", "    ", "    ", "    "]) + "\n"
"""Lines of a table, in the notation of rich.box: one under the header, and blanks between sections."""

MOST_CATEGORIES = 20
"""More categories than these have no place on a screen."""

ALL = {"micro": "(all queries)", "macro": "(mean of them)"}
"""What the column of categories says of the mean."""

Row = Sequence[str]


def render(result: Result, width: int | None = None, color: bool = False) -> str:
    """The table of all measures, and under it what was evaluated, what was left out and what ties do.

    width : columns to keep to, 80 where it is None
    color : with the escape sequences of a terminal

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
    The score is 'lower': whatever the order of tied items, it is no less.
    3 vectors are all zero: their cosine similarity to everything is 0.
    """
    width = max(width or WIDTH, NARROWEST)
    shown = by_category(result) if 0 < len(result.categories) <= MOST_CATEGORIES else whole(result)
    page = "\n".join([table(*shown, width, color), "", *(paragraph(text, width) for text in sentences(result))])
    if not result.has_confidence:
        return page
    from tieproof.views.text.confidence import render as render_areas

    return f"{page}\n\n{render_areas(result, width, color)}"


Table = tuple[Row, Sequence[Sequence[Row]]]
"""The names of the columns, and sections of rows."""


def whole(result: Result) -> Table:
    """A row for each measure."""
    return ("measure", *NUMBERS), [[(name, *numbers(result[name])) for name in result.measures]]


def by_category(result: Result) -> Table:
    """A section for each measure, with the mean and a row for each category."""
    parts = [(ALL[result.setting.average], result)]
    parts += [(str(name), result.category(name)) for name in result.categories]
    sections = [[(measure, name, *numbers(part[measure])) for name, part in parts] for measure in result.measures]
    return ("measure", "category", *NUMBERS), sections


def numbers(estimate: Estimate[float]) -> Row:
    """An estimate with four decimals."""
    return [f"{value:.4f}" for value in astuple(estimate)]


def table(
    header: Row, sections: Sequence[Sequence[Row]], width: int, color: bool, right: Sequence[str] = NUMBERS
) -> str:
    """Sections of rows with a blank line between them, the columns with these names to the right."""
    from rich.box import Box
    from rich.console import Console
    from rich.table import Table

    grid = Table(
        box=Box(RULES, ascii=True), show_edge=False, pad_edge=False, header_style="bold", collapse_padding=True
    )
    for name in header:
        style = "bold" if name == HEADLINE else None
        if name in right:
            grid.add_column(name, justify="right", no_wrap=True, style=style, min_width=len(name))
        else:
            grid.add_column(name, overflow="fold", style=style)
    for section in sections:
        for row in section:
            grid.add_row(*map(printable, row))
        grid.add_section()
    page = StringIO()
    console = Console(
        file=page,
        width=width,
        color_system="standard" if color else None,
        force_terminal=color,
        force_jupyter=False,
        legacy_windows=False,
        markup=False,
        highlight=False,
        emoji=False,
    )
    console.print(grid)
    return "\n".join(line.rstrip() for line in page.getvalue().rstrip("\n").split("\n"))


def paragraph(text: str, width: int) -> str:
    """A text in lines of so many columns, with nothing that a terminal would obey."""
    return textwrap.fill(printable(text), width, break_on_hyphens=False)


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
    if known > MOST_CATEGORIES:
        yield f"The {count(known, 'category')} are too many to show; the JSON of the result has each."
    if left_out:
        verb = "has" if left_out == 1 else "have"
        yield f"{count(left_out, 'further category')} {verb} no query with a relevant item, and no mean."


def about_left_out(result: Result) -> Iterator[str]:
    """Which queries no mean includes, and what those with nothing relevant count as if they are included."""
    skipped = result.skipped
    for reason, ids in skipped.items():
        yield f"Left out: {count(len(ids), 'query')}, with {reason}."
    if len(result.empty_ids) and NOTHING_RELEVANT not in skipped:
        verb = "counts" if len(result.empty_ids) == 1 else "count"
        yield f"{count(len(result.empty_ids), 'query')} without any relevant item {verb} as {result.setting.empty}."


def evaluated(result: Result) -> str:
    """Queries, gallery and distance."""
    setting = result.setting
    left_out = sum(map(len, result.skipped.values()))
    queries = count(setting.queries, "query")
    if left_out:
        queries = f"{setting.queries - left_out:,} of {queries}"
    items = count(setting.gallery, "item")
    if setting.dimensions is None:
        return f"{queries}, ranking up to {items} by the given {setting.distance}"
    rounded = f" rounded to {setting.precision}" if setting.precision else ""
    return f"{queries}{place(setting.leave_one_out, setting.gallery, setting.dimensions, setting.distance)}{rounded}"


def place(leave_one_out: bool, gallery: int, dimensions: int, distance: str) -> str:
    """Where queries were looked for, and under which distance: what follows their number."""
    known = DISTANCES.get(distance)
    items, size = count(gallery, "item"), count(dimensions, "bit" if known and known.bits else "dimension")
    among = f", leave-one-out among {items}" if leave_one_out else f" against a gallery of {items}"
    return f"{among} of {size}, under {distance_meant(distance)}"


def distance_meant(distance: str) -> str:
    """A distance of ours, or that of a function, which may have the same name.

    >>> distance_meant("cosine"), distance_meant("function cosine")
    ('cosine distance', 'the distance of the function cosine')
    """
    return f"{distance} distance" if distance in DISTANCES else f"the distance of the {distance}"


def about_ties(result: Result) -> Iterator[str]:
    """How many ties there are, whether they matter, and whether they may go on where lists were cut off."""
    ties = result.ties
    yield about_ambiguous_ties(result) if ties.ambiguous_ties else about_harmless_ties(result)
    if ties.queries_with_open_last_tie:
        yield about_open_ties(result)
    if ties.ambiguous_ties or ties.queries_with_open_last_tie:
        yield f"The score is '{HEADLINE}': whatever the order of tied items, it is no less."


def about_harmless_ties(result: Result) -> str:
    """That no tie mixes relevant and other items."""
    ties = result.ties
    harmless = {0: "", 1: " The one tie holds relevant items only."}
    several = f" The {count(ties.ties, 'tie')} hold relevant items only."
    where = " within a list" if ties.queries_with_open_last_tie else ""
    return f"No tie{where} changes any score: all orderings agree.{harmless.get(ties.ties, several)}"


def about_ambiguous_ties(result: Result) -> str:
    """How many ties mix relevant and other items."""
    ties = result.ties
    touched = ties.queries_with_ambiguous_ties
    hold = "holds" if touched == 1 else "hold"
    return (
        f"{touched:,} of {count(ties.queries, 'query')} {hold} an ambiguous tie, which mixes relevant and other "
        f"items. There {'is' if ties.ambiguous_ties == 1 else 'are'} {count(ties.ambiguous_ties, 'ambiguous tie')}, "
        f"and the largest tie holds {count(ties.largest_tie, 'item')}."
    )


def about_open_ties(result: Result) -> str:
    """How many lists were cut off where a tie may go on."""
    open_ends = result.ties.queries_with_open_last_tie
    have = "has" if open_ends == 1 else "have"
    return (
        f"{open_ends:,} of {count(result.ties.queries, 'query')} {have} a list that was cut off, and its last tie "
        "may go on beyond the end: 'lower' and 'upper' cover every way of going on, 'expected' and 'tie std' are "
        "those of the list as given."
    )


def about_zeros(result: Result) -> str:
    """What zero vectors mean."""
    zeros = result.ties.zero_vectors
    subject = f"{count(zeros, 'vector')} {'is' if zeros == 1 else 'are'} all zero"
    if result.setting.distance != "cosine":
        return f"{subject}."
    return f"{subject}: {'its' if zeros == 1 else 'their'} cosine similarity to everything is 0."


def count(number: int, noun: str) -> str:
    """A number of things.

    >>> count(1, "query"), count(1797, "query"), count(2, "tie")
    ('1 query', '1,797 queries', '2 ties')
    """
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"
