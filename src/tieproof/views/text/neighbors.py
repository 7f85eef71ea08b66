"""Sentences on the lists that a search for nearest neighbours returned."""

from collections.abc import Iterator

from tieproof.results.results import Result
from tieproof.views.text.parts import count

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
