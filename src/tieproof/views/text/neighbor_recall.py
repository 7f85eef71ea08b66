"""The recall of an index as text: a table, with the numbers of other definitions, and sentences."""

from collections.abc import Iterator, Sequence

from tieproof.results.neighbor_recall import NeighborRecall, RecallAtK
from tieproof.views.tables.html import html
from tieproof.views.tables.latex import latex
from tieproof.views.tables.markdown import markdown
from tieproof.views.tables.table import Table
from tieproof.views.text.parts import (
    MOST_SHOWN,
    NARROWEST,
    NUMBERS,
    WIDTH,
    Row,
    count,
    distance_meant,
    more_than,
    numbers,
    paragraph,
    table,
)

HEADER = ("recall", *NUMBERS)

MEANING = (
    "'upper' is 1 if the found items include k items that no other item is nearer than; 'expected' and 'lower' are "
    "the average and the worst recall by a list of ids in which ties were broken arbitrarily."
)


def render(found: NeighborRecall, width: int | None = None, color: bool = False) -> str:
    """The table of all k, then sentences on the lists that were compared.

    width : the number of columns to fit into; None for 80
    color : whether to use the escape sequences of a terminal

    >>> import tieproof as tp
    >>> truth = [[0, 1, 2, 3]], [[1.0, 2.0, 2.0, 5.0]]
    >>> print(render(tp.neighbor_recall([[0, 2, 2]], truth, k=(2, 3), distances=[[1.0, 2.0, 2.0]])))
    recall                        lower  expected   upper  tie std
    --------------------------------------------------------------
    2 nearest                    0.5000    0.7500  1.0000   0.2500
    ann-benchmarks k-nn                    1.0000
    ann-benchmarks epsilon                 1.0000
    ann-benchmarks largeepsilon            1.0000
    big-ann k-nn                           1.0000
    <BLANKLINE>
    3 nearest                    0.6667    0.6667  0.6667   0.0000
    ann-benchmarks k-nn                    1.0000
    ann-benchmarks epsilon                 1.0000
    ann-benchmarks largeepsilon            1.0000
    big-ann k-nn                           0.6667
    <BLANKLINE>
    1 query, by lists of 4 true neighbours. 'upper' is 1 if the found items include
    k items that no other item is nearer than; 'expected' and 'lower' are the
    average and the worst recall by a list of ids in which ties were broken
    arbitrarily.
    2 nearest: ties leave 1 query open.
    3 nearest: 1 place holds an item that its list has already.
    """
    width = max(width or WIDTH, NARROWEST)
    header, sections = shown(found)
    paragraphs = [paragraph(text, width) for text in sentences(found)]
    return "\n".join([table(header, sections, width, color), "", *paragraphs])


def shown(found: NeighborRecall) -> tuple[Row, Sequence[Sequence[Row]]]:
    """The header, and the rows of each k: the recall, and one number for each other definition."""
    return HEADER, [rows(point) for point in found.points]


def rows(point: RecallAtK) -> list[Row]:
    """The recall, and the numbers of other definitions, which have no interval and are in the middle column."""
    others = [(name, "", f"{value:.4f}", "", "") for name, value in point.of_others.items()]
    return [(named(point), *numbers(point.recall)), *others]


def named(point: RecallAtK) -> str:
    """The name of a row: how many nearest items are sought, and among how many found items.

    >>> import tieproof as tp
    >>> named(tp.neighbor_recall([[0, 2, 2]], ([[0]], [[1.0]]), k=1, among=3).points[0])
    '1 nearest among 3'
    """
    return f"{point.k:,} nearest" + (f" among {point.among:,}" if point.among > point.k else "")


def sentences(found: NeighborRecall) -> Iterator[str]:
    """Sentences on the lists and the columns, then on what is notable at each k."""
    by = f"lists of {count(found.listed, 'true neighbour')}" if found.listed else distance_meant(found.truth)
    among = "" if found.listed or found.n_items is None else f" among {count(found.n_items, 'item')}"
    yield f"{count(found.queries, 'query')}, by {by}{among}. {MEANING}"
    for point in found.points:
        noticed = [*noticed_at(point)]
        if noticed:
            yield f"{named(point)}: {'; '.join(noticed)}."


def noticed_at(point: RecallAtK) -> Iterator[str]:
    """How many queries ties leave open, and which places of the lists hold no new item."""
    if point.left_open:
        yield f"ties leave {count(point.left_open, 'query')} open"
    cut_off = int(point.cut_off.sum())
    if cut_off:
        yield (
            f"the last tie reaches the end of {count(cut_off, 'true list')} and may continue beyond it: longer lists "
            "leave less open"
        )
    for places, what in ((point.duplicates, "an item that its list has already"), (point.padding, "no item")):
        held = int(places.sum())
        if held:
            yield f"{count(held, 'place')} {'holds' if held == 1 else 'hold'} {what}"


def of_neighbor_recall(found: NeighborRecall) -> Table:
    """A row for each k, and one for each other definition of recall."""
    header, sections = shown(found)
    return Table("", header, sections, [*sentences(found)], header[1:])


def neighbor_recall_as_markdown(found: NeighborRecall) -> str:
    """The table in Markdown."""
    return markdown(of_neighbor_recall(found))


def neighbor_recall_as_latex(found: NeighborRecall) -> str:
    """The table in LaTeX."""
    return latex(of_neighbor_recall(found))


def neighbor_recall_as_html(found: NeighborRecall) -> str:
    """The table in HTML."""
    return html(of_neighbor_recall(found))


def neighbor_recall_in_short(found: NeighborRecall) -> str:
    """The recalls."""
    shown = ", ".join(f"{point.recall:.4f} at k = {point.k:,}" for point in found.points[:MOST_SHOWN])
    return f"<NeighborRecall of {count(found.queries, 'query')}: {shown}{more_than(len(found.points))}>"
