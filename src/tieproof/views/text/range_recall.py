"""The recall of range search as text."""

from tieproof.results.range_recall import RangeRecall
from tieproof.views.text.parts import NARROWEST, WIDTH, count, paragraph, table

HEADER = ("items within the radius", "over all", "mean of queries")


def render(found: RangeRecall, width: int | None = None, color: bool = False) -> str:
    """A table with the recall and that of big-ann-benchmarks, and a sentence on what was counted.

    width : the number of columns to fit into; None for 80
    color : whether to use the escape sequences of a terminal

    >>> import tieproof as tp
    >>> print(render(tp.range_recall(([0, 2, 2], [7, 7]), ([0, 2, 3], [7, 9, 4]))))
    items within the radius  over all  mean of queries
    --------------------------------------------------
    recall                     0.3333           0.2500
    big-ann recall             0.6667           0.5000
    <BLANKLINE>
    Of 3 true items of 2 queries, 1 was found, among 1 different item; 1 place holds
    an item that its list has already and that counts only once.
    """
    width = max(width or WIDTH, NARROWEST)
    theirs = [f"{value:.4f}" for value in found.of_others.values()]
    rows = [("recall", f"{found.recall:.4f}", f"{found.mean_recall:.4f}"), ("big-ann recall", *theirs)]
    return "\n".join([table(HEADER, [rows], width, color, HEADER[1:]), "", paragraph(said(found), width)])


def said(found: RangeRecall) -> str:
    """The sentence on what was counted."""
    hits, repeated = int(found.hits.sum()), int(found.repeated.sum())
    text = (
        f"Of {count(int(found.true.sum()), 'true item')} of {count(len(found.true), 'query')}, {hits:,} "
        f"{'was' if hits == 1 else 'were'} found, among {count(int(found.found.sum()), 'different item')}"
    )
    if repeated:
        text += (
            f"; {count(repeated, 'place')} {'holds' if repeated == 1 else 'hold'} an item that its list has already "
            "and that counts only once"
        )
    return f"{text}."


def range_recall_in_short(found: RangeRecall) -> str:
    """The recall over all items, and the mean over queries."""
    means = f"{found.recall:.4f} overall, {found.mean_recall:.4f} on average"
    return f"<RangeRecall of {count(len(found.true), 'query')}: {means}>"
