"""Collisions as text, and their page: a table by rank, and sentences on the collisions."""

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from tieproof.collision.result import Collisions, RankRange
from tieproof.distances import DISTANCES
from tieproof.show.pages.page import Stack, stack, write_page
from tieproof.show.pages.query_table import Choice, QueryTable, query_table
from tieproof.show.parts import NARROWEST, WIDTH, Row, count, distance_meant, paragraph, place, table
from tieproof.show.tables import Table, html, latex, markdown

TIES, AMBIGUOUS, AP_WIDTH = "ties", "ambiguous", "width of AP"
EXACTLY = "they are at exactly the same distance"


def render(found: Collisions, width: int | None = None, color: bool = False) -> str:
    """A table with a row for each range of ranks and one for all, then sentences on the collisions.

    width : the number of columns to fit into; None for 80
    color : whether to use the escape sequences of a terminal

    >>> import tieproof as tp
    >>> print(render(tp.collisions([[0.0], [1.0], [-1.0], [3.0]], ["a", "a", "b", "b"], distance="euclidean")))
    ranks   ties  ambiguous  width of AP
    ------------------------------------
    1          1          1       0.1250
    2 to 3     1          0       0.0000
    <BLANKLINE>
    all        2          1       0.1250
    <BLANKLINE>
    Examined 4 queries, leave-one-out among 4 items of 1 dimension, under euclidean
    distance.
    Neighbours in a ranking collide if they are at exactly the same distance. The
    rankings of 2 queries have 2 such pairs, and the largest tie holds 2 items.
    1 of 4 queries holds an ambiguous tie, which mixes relevant and other items.
    Ties leave AP open by 0.1250. The tie of query 0 at ranks 1 to 2 (1 of 2
    relevant) contributes most to that.
    """
    width = max(width or WIDTH, NARROWEST)
    header, sections = by_rank(found)
    paragraphs = (paragraph(sentence, width) for sentence in sentences(found))
    return "\n".join([table(header, sections, width, color, header[1:]), "", *paragraphs])


def by_rank(found: Collisions) -> tuple[Row, list[list[Row]]]:
    """The names of the columns; a row for each range of ranks, and one for all."""
    labelled = found.setting.labelled
    header = ("ranks", TIES, AMBIGUOUS, AP_WIDTH) if labelled else ("ranks", TIES)
    rows: list[Row] = [
        row(ranks(each), each.ties, each.ambiguous_ties, each.ap_width, labelled) for each in found.by_range
    ]
    return header, [rows, [row("all", found.ties, found.ambiguous_ties, found.ap_width, labelled)]]


def row(name: str, ties: int, ambiguous: int, ap_width: float, labelled: bool) -> tuple[str, ...]:
    """The row of a range of ranks."""
    return (name, f"{ties:,}", f"{ambiguous:,}", f"{ap_width:.4f}")[: 4 if labelled else 2]


def ranks(each: RankRange) -> str:
    """The ranks of a range."""
    return f"{each.first:,}" if each.first == each.last else f"{each.first:,} to {each.last:,}"


def sentences(found: Collisions) -> Iterator[str]:
    """Sentences on the data, the collisions and their cost."""
    setting, skipped = found.setting, len(found.skipped)
    queries = count(setting.queries, "query")
    queries = f"{len(found.query_ids):,} of {queries}" if skipped else queries
    yield f"Examined {queries}{place(setting.leave_one_out, setting.gallery, setting.dimensions, setting.distance)}."
    if skipped:
        yield f"Left out: {count(skipped, 'query')}, with no relevant item."
    rule = f"their distances differ by less than {setting.epsilon:g}" if setting.epsilon else EXACTLY
    if not found.ties:
        yield f"Neighbours in a ranking collide if {rule}. There are no such neighbours."
        return
    with_ties = count(int((found.per_query["ties"] > 0).sum()), "query")
    largest = count(int(found.per_query["largest_tie"].max()), "item")
    yield (
        f"Neighbours in a ranking collide if {rule}. The rankings of {with_ties} have "
        f"{count(found.pairs, 'such pair')}, and the largest tie holds {largest}."
    )
    if setting.labelled:
        yield from about_ambiguous_ties(found)


def about_ambiguous_ties(found: Collisions) -> Iterator[str]:
    """Sentences on how many queries hold an ambiguous tie, and on the tie that costs most."""
    touched = int((found.per_query["ambiguous_ties"] > 0).sum())
    verb = "holds" if touched == 1 else "hold"
    yield (
        f"{touched:,} of {count(len(found.query_ids), 'query')} {verb} an ambiguous tie, which mixes relevant and "
        "other items."
    )
    if found.widest:
        tie = found.widest[0]
        yield (
            f"Ties leave AP open by {found.ap_width:.4f}. The tie of query {tie.query} at ranks {tie.k + 1:,} to "
            f"{tie.k + tie.l:,} ({tie.m:,} of {tie.l:,} relevant) contributes most to that."
        )


def of_collisions(found: Collisions) -> Table:
    """A row for each range of ranks."""
    header, sections = by_rank(found)
    return Table("", header, sections, [*sentences(found)], header[1:])


def collisions_as_markdown(found: Collisions) -> str:
    """The table in Markdown."""
    return markdown(of_collisions(found))


def collisions_as_latex(found: Collisions) -> str:
    """The table in LaTeX."""
    return latex(of_collisions(found))


def collisions_as_html(found: Collisions) -> str:
    """The table in HTML."""
    return html(of_collisions(found))


def collisions_in_short(found: Collisions) -> str:
    """The number of ties, and their cost."""
    cost = f", {found.ambiguous_ties:,} ambiguous, AP {found.ap_width:.4f} wide" if found.setting.labelled else ""
    return f"<Collisions of {count(len(found.query_ids), 'query')}: {count(found.ties, 'tie')}{cost}>"


PAIRS = {"pairs": "pairs of neighbours in the ranking that collide"}


def report(found: Collisions, path: str | os.PathLike[str]) -> None:
    """Write the page of collisions; see `Collisions.report`."""
    write_page(found, path, contents)


def contents(found: Collisions) -> tuple[str, dict[str, Any]]:
    """The template of the page, and the values that it shows."""
    said = list(sentences(found))
    touched = int((found.per_query["ambiguous_ties"] > 0).sum())
    widest = max((each.ap_width for each in found.by_range), default=0.0)
    return "collisions.html", {
        "title": f"Collisions of {count(len(found.query_ids), 'query')}",
        "found": found,
        "said": said,
        "touched": touched,
        "largest": int(found.per_query["largest_tie"].max()),
        "ranges": [(ranks(each), each) for each in found.by_range],
        "widest_range": widest or 1.0,
        "stack": bars_by_rank(found),
        "queries": queries_of(found),
        "setting": setting(found),
    }


def bars_by_rank(found: Collisions) -> Stack:
    """The share of queries whose item collides, at each rank."""
    size = len(found.query_ids)
    relevant, others = found.by_rank["relevant"] / size, found.by_rank["others"] / size
    return stack(relevant, others, found.setting.ranks)


def queries_of(found: Collisions) -> QueryTable:
    """The table of every query, starting with those whose ties cost most."""
    values = found.per_query
    columns = {"ties": values["ties"], "largest tie": values["largest_tie"]}
    if found.setting.labelled:
        columns = {
            "ties": values["ties"],
            "ambiguous ties": values["ambiguous_ties"],
            "largest tie": values["largest_tie"],
            "width of AP": values["ap_width"],
        }
    order = np.lexsort((-values["ties"], -values["ap_width"]))
    flag = "ambiguous ties" if found.setting.labelled else None
    return query_table(found.query_ids, order, None, [Choice("pairs", (values["pairs"],))], columns, PAIRS, flag)


def setting(found: Collisions) -> list[tuple[str, str]]:
    """The data and the distance, as pairs of a name and a value."""
    known = found.setting
    kind = DISTANCES.get(known.distance)
    return [
        ("Queries", f"{known.queries:,}"),
        ("Gallery", "the other queries (leave-one-out)" if known.leave_one_out else f"{known.gallery:,}"),
        ("Ranked by", distance_meant(known.distance)),
        ("Bits" if kind and kind.bits else "Dimensions", f"{known.dimensions:,}"),
        (
            "Neighbours collide if",
            f"their distances differ by less than {known.epsilon:g}" if known.epsilon else EXACTLY,
        ),
        (
            "Left out",
            f"{count(len(found.skipped), 'query')} with no relevant item" if len(found.skipped) else "nothing",
        ),
    ]
