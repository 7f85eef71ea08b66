"""What sentences say of lists that a search for nearest neighbours returned."""

from collections.abc import Iterator

from tieproof.results.results import Result
from tieproof.views.text.parts import count

UNSEEN = {
    "exact": "after an exact search an unseen item is as far as the last one listed, or farther",
    "approximate": "after an approximate search an unseen item may be anywhere, also nearer than those listed",
}
"""Where the items are that a search did not return, by the kind of search."""

BEHIND = "by the order given, after an exact search, an unseen item is behind all those listed"
"""And without distances."""


def about_search(result: Result) -> Iterator[str]:
    """What decides the order of the lists, and what they leave open."""
    by_order = result.setting.distance == "order"
    if by_order:
        yield "There are no distances: the order of each list is taken as given, without ties."
    open_ends = result.ties.queries_with_open_last_tie
    if not open_ends:
        return
    search = result.search
    assert search is not None
    where = BEHIND if by_order and search == "exact" else UNSEEN[search]
    yield (
        f"What the lists do not hold may change the score of {open_ends:,} of {count(result.ties.queries, 'query')}: "
        f"{where}. 'lower' and 'upper' cover every such ranking of all {count(result.setting.gallery, 'item')}; "
        "'expected' and 'tie std' are those where unseen items come behind each list, in any order alike."
    )
