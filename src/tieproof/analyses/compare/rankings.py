"""Two rankings of items, checked and matched; and their ties broken so that the rankings agree most or least.

two rankings, or two runs ──► `Matched`: for each item the tie that contains it, and the items in both
                          ──► overlap.py, taus.py: numbers from counts of items
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from tieproof.errors import InputError, about
from tieproof.measures.confidence.inputs import Groups, as_column
from tieproof.ties import Array, IntArray

NOWHERE = np.iinfo(np.int64).max  # the place of an item in a ranking that does not contain it


class TiedRanks(NamedTuple):
    """For each of n items: the number of items that are ranked before its tie, and the number of items in the tie."""

    start: IntArray
    size: IntArray

    @classmethod
    def of(cls, scores: Array) -> "TiedRanks":
        """Rank by scores, of which larger ones come first."""
        groups = Groups.of(scores)
        return cls(groups.start[groups.of_query], groups.length[groups.of_query])


class Matched(NamedTuple):
    """Two rankings; and the rows, in each of them, of the c items that are in both, in any order."""

    first: TiedRanks
    second: TiedRanks
    row_first: IntArray
    row_second: IntArray

    def aligned(self) -> "Matched":
        """Both rankings in the same order of items, where both have the same items."""
        first = TiedRanks(self.first.start[self.row_first], self.first.size[self.row_first])
        second = TiedRanks(self.second.start[self.row_second], self.second.size[self.row_second])
        rows = np.arange(len(self.row_first))
        return Matched(first, second, rows, rows)

    def broken(self, sign: Literal[1, -1]) -> "Matched":
        """Both rankings without ties: each tie in the order of the other ranking (1), or in the reverse order (-1).

        Items that the other ranking lacks come last (1), or first (-1). Items that are tied in both rankings have
        the same order in both (1), or opposite orders (-1).
        """
        first = _broken(self.first, self.second, self.row_first, self.row_second, sign, 1)
        second = _broken(self.second, self.first, self.row_second, self.row_first, sign, sign)
        return Matched(first, second, self.row_first, self.row_second)


def _broken(
    one: TiedRanks, other: TiedRanks, row: IntArray, row_of_other: IntArray, sign: int, step: int
) -> TiedRanks:
    place, number = np.full(len(one.start), NOWHERE), np.zeros(len(one.start), dtype=np.int64)
    place[row], number[row] = other.start[row_of_other], step * np.arange(len(row))
    tied = np.flatnonzero(one.size > 1)
    tied = tied[np.lexsort((number[tied], sign * place[tied], one.start[tied]))]
    begin, start = one.start[tied], one.start.copy()
    start[tied] += np.arange(len(tied)) - np.searchsorted(begin, begin)
    return TiedRanks(start, np.ones_like(start))


def matched(first: Any, second: Any) -> tuple[Matched, list[Any], list[Any]]:
    """Read, check and match two rankings; return the items of each, too."""
    (items, ranking), (others, other) = _read(first, "first"), _read(second, "second")
    places = {item: row for row, item in enumerate(others)}
    found = np.fromiter((places.get(item, -1) for item in items), np.int64, len(items))
    rows = np.flatnonzero(found >= 0)
    return Matched(ranking, other, rows, found[rows]), items, others


def _read(given: Any, name: str) -> tuple[list[Any], TiedRanks]:
    with about(name):
        if isinstance(given, Mapping):
            items, scores = list(given), list(given.values())
            if scores and isinstance(scores[0], Mapping):
                raise InputError(
                    f"The {name} ranking is a run, with a ranking for each query. Use tieproof.agreement."
                )
        elif isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim == 1):
            ties = [entry if isinstance(entry, list | tuple | set | frozenset) else [entry] for entry in given]
            items = [item for tie in ties for item in tie]
            scores = [-place for place, tie in enumerate(ties) for _ in tie]
        else:
            raise InputError(
                f"The {name} ranking must be a dictionary {{item: score}}, or a list of items in which a list or a "
                f"set is a tie, not {type(given).__name__}."
            )
        try:
            repeated = len(set(items)) < len(items)
        except TypeError as error:
            raise InputError(f"The {name} ranking must name its items by strings or numbers: {error}.") from None
        if repeated:
            ((twice, _),) = Counter(items).most_common(1)
            raise InputError(f"The {name} ranking has the item {twice!r} more than once. Keep one of them.")
        return items, TiedRanks.of(as_column(scores, f"scores of the {name} ranking"))
