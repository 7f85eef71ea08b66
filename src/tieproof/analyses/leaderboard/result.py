"""`RankedSystems`: the systems of a leaderboard, with the places that ties and the choice of queries leave open."""

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from tieproof.analyses.leaderboard.places import can_swap
from tieproof.measures.statistics.resampling import RESAMPLES
from tieproof.show.parts import WIDTH, count, fixed, percent, signed
from tieproof.show.printable import printable
from tieproof.show.shown import AsFrame, Shown, Table, text
from tieproof.ties import Array, Estimate

_NAME, _NUMBERS, _PUBLISHED = 24, 66, 20
"""The most columns of a name, the columns of all numbers, and those of the published ones, in a text."""


class Places(NamedTuple):
    """The best and the worst place."""

    best: int
    worst: int

    def __str__(self) -> str:
        """The places in words: one, or from the best to the worst."""
        return f"{self.best}" if self.best == self.worst else f"{self.best}-{self.worst}"


@dataclass(frozen=True)
class Place:
    """A system on a leaderboard.

    place : 1 + the number of systems with a larger number, which is the published one if all systems have one, and
        otherwise the expected value
    score : the mean over the queries: lower, expected and upper value, and std, over all orderings of tied items
    published : the number that was published, or None
    by_ties : the best and the worst place that ties alone can give the system, where the ties of two systems are
        broken independently
    by_queries : the places that the choice of queries leaves open, with one confidence for all systems together
    not_told_apart : the other systems from which the choice of queries does not tell this one apart
    swaps_with_next : whether ties alone can put the next system of the table above this one; False for the last one,
        and if both share a place
    """

    place: int
    name: str
    score: Estimate[float]
    published: float | None
    by_ties: Places
    by_queries: Places
    not_told_apart: tuple[str, ...]
    swaps_with_next: bool = False

    @property
    def moves(self) -> int:
        """How many places ties alone can move the system."""
        return self.by_ties.worst - self.by_ties.best

    @property
    def bias(self) -> float | None:
        """The published number minus the expected value; None without a published number."""
        return None if self.published is None else self.published - self.score.expected


@dataclass(frozen=True)
class RankedSystems(Shown, AsFrame):
    """The systems of a leaderboard by their places; `tieproof.leaderboard` returns it.

    systems : the systems; those that share a place are in the order of their names
    measure : the name of the measure
    queries : the number of queries
    confidence : that of all sets of places over the choice of queries together
    ordered_by : "published" or "expected", the number that decides the places
    notes : whole sentences on what was left out, or was evaluated otherwise
    """

    systems: tuple[Place, ...]
    measure: str
    queries: int
    confidence: float
    ordered_by: str
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Place:
        """The system of this name; KeyError if there is none."""
        for each in self.systems:
            if each.name == name:
                return each
        raise KeyError(name)

    def __len__(self) -> int:
        """The number of systems."""
        return len(self.systems)

    @property
    def swaps(self) -> tuple[tuple[str, str], ...]:
        """The neighbors with different places that ties alone can swap."""
        return tuple((one.name, next_.name) for one, next_ in pairwise(self.systems) if one.swaps_with_next)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain numbers, strings, lists and dictionaries."""
        return {
            "measure": self.measure,
            "queries": self.queries,
            "confidence": self.confidence,
            "ordered_by": self.ordered_by,
            "systems": [
                {
                    **asdict(each),
                    "by_ties": list(each.by_ties),
                    "by_queries": list(each.by_queries),
                    "not_told_apart": list(each.not_told_apart),
                    "moves": each.moves,
                    "bias": each.bias,
                }
                for each in self.systems
            ],
            "notes": list(self.notes),
        }

    def columns(self) -> dict[str, Array]:
        """The columns of the table, as arrays with a row for each system; NaN where no number was published."""
        each = self.systems
        return {
            "place": np.array([one.place for one in each]),
            "system": np.array([one.name for one in each]),
            "published": np.array([one.published for one in each], dtype=np.float64),
            "bias": np.array([one.bias for one in each], dtype=np.float64),
            **{
                name: np.array([getattr(one.score, name) for one in each])
                for name in ("lower", "expected", "upper", "std")
            },
            "best_by_ties": np.array([one.by_ties.best for one in each]),
            "worst_by_ties": np.array([one.by_ties.worst for one in each]),
            "swaps_with_next": np.array([one.swaps_with_next for one in each]),
            "best_by_queries": np.array([one.by_queries.best for one in each]),
            "worst_by_queries": np.array([one.by_queries.worst for one in each]),
            "not_told_apart": np.array([len(one.not_told_apart) for one in each]),
        }

    def _table(self) -> Table:
        level = f"queries {percent(self.confidence)}"
        printed = any(one.published is not None for one in self.systems)
        header = ("place", "system", *(("published", "bias") if printed else ()), "lower", "expected", "upper")
        header = (*header, "ties", "swaps", level, "alike")
        rows = [
            (
                f"{one.place}",
                one.name,
                *(_published(one) if printed else ()),
                *map(fixed, (one.score.lower, one.score.expected, one.score.upper)),
                f"{one.by_ties}",
                "next" if one.swaps_with_next else "",
                f"{one.by_queries}",
                f"{len(one.not_told_apart)}",
            )
            for one in self.systems
        ]
        numbers = [name for name in header if name not in ("system", "swaps")]
        return Table(header, [rows], [*self._sentences()], numbers)

    def to_text(self, width: int | None = None, color: bool = False, explain: bool = False) -> str:
        """The table that the command line shows, wider than `width` if the names would have no room in it."""
        printed = any(one.published is not None for one in self.systems)
        name = min(_NAME, max(len(printable(one.name)) for one in self.systems))
        width = max(width or WIDTH, name + _NUMBERS + (_PUBLISHED if printed else 0))
        return text(self._table(), width, color, explain)

    def _sentences(self) -> Iterator[str]:
        """What the columns mean, and how many systems and neighbors ties can move."""
        yield from self.notes
        places = len({one.place for one in self.systems})
        moved = sum(one.moves > 0 for one in self.systems)
        yield (
            f"Ties alone can move {count(moved, 'system')}, and swap {len(self.swaps):,} of "
            f"{count(places - 1, 'pair')} of neighbors."
        )
        yield (
            f"{count(len(self), 'system')} by {self.measure} on {count(self.queries, 'query')}, in the order of the "
            f"{self.ordered_by} {'numbers' if self.ordered_by == 'published' else 'values'}."
        )
        yield (
            "'lower' and 'upper' are the smallest and the largest mean over all orderings of tied items; 'ties' are "
            "the places that they leave open, where the ties of two systems are broken independently, and 'swaps' "
            "marks a system that they can put below the next one."
        )
        yield (
            f"'queries {percent(self.confidence)}' are the places that the choice of queries leaves open, for all "
            f"systems together: by the largest studentized difference of two systems over {RESAMPLES:,} resamples "
            "from a fixed seed (Mogstad, Romano, Shaikh and Wilhelm 2024). 'alike' counts the other systems from "
            "which this one cannot be told apart."
        )
        if any(one.published is not None for one in self.systems):
            yield (
                "'bias' is the published number minus the expected value: what the order of tied items in which the "
                "number was computed gave or took."
            )

    def __repr__(self) -> str:
        """A short text: how many systems there are, and who is first."""
        first = self.systems[0]
        systems = f"<RankedSystems: {count(len(self), 'system')} by {self.measure}"
        return f"{systems}, {printable(first.name)} {first.score:.4f}>"

    def plot(self, ax: Any = None) -> Any:
        """Draw the interval of every system, and return the axes of matplotlib (extra `plot`)."""
        from tieproof.analyses.leaderboard.pictures import plot_board

        return plot_board(self, ax)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write a report (extra `report`) as one .html file that needs no network to be viewed."""
        from tieproof.analyses.leaderboard.page import contents
        from tieproof.show.pages.page import write_page

        write_page(self, path, contents)


def _published(one: Place) -> tuple[str, str]:
    """The published number, and its bias; empty texts if there is none."""
    return ("", "") if one.published is None or one.bias is None else (fixed(one.published), signed(one.bias))


def neighbors_swap(one: Place, following: Place) -> bool:
    """Whether ties alone can swap two neighbors, which have different places."""
    return one.place != following.place and can_swap(one.score, following.score)
