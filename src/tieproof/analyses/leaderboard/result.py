"""`RankedSystems`: the systems of a leaderboard, with the places that ties and the choice of queries leave open."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from tieproof.measures.statistics.resampling import RESAMPLES
from tieproof.show import style
from tieproof.show.drawing import draw_intervals
from tieproof.show.files import pictures, takes_path
from tieproof.show.parts import WIDTH, count, fixed, percent, signed
from tieproof.show.printable import printable
from tieproof.show.shown import AsFrame, AsPage, Shown, Table, text
from tieproof.ties import Array, Estimate

_NAME, _NAME_DRAWN = 24, 28  # the most columns of a name in a text, and in a picture


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
class RankedSystems(Shown, AsFrame, AsPage):
    """The systems of a leaderboard by their places; `tieproof.leaderboard` returns it.

    measure : the name of the measure
    queries : the number of queries
    confidence : that of all sets of places over the choice of queries together
    ordered_by : "published" or "expected", the number that decides the places
    systems : the systems; those that share a place are in the order of their names
    notes : whole sentences on what was left out, or was evaluated otherwise
    """

    measure: str
    queries: int
    confidence: float
    ordered_by: str
    systems: tuple[Place, ...]
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Place:
        """The system of this name; KeyError if there is none."""
        return {each.name: each for each in self.systems}[name]

    def __len__(self) -> int:
        return len(self.systems)

    @property
    def swaps(self) -> tuple[tuple[str, str], ...]:
        """The neighbors with different places that ties alone can swap."""
        return tuple((one.name, next_.name) for one, next_ in pairwise(self.systems) if one.swaps_with_next)

    @property
    def _is_published(self) -> bool:
        return any(each.published is not None for each in self.systems)

    def _rows(self) -> list[dict[str, Any]]:
        """What files have of each system, as plain numbers and strings."""
        return [
            {
                "place": one.place,
                "system": one.name,
                "published": one.published,
                "bias": one.bias,
                **asdict(one.score),
                "best_by_ties": one.by_ties.best,
                "worst_by_ties": one.by_ties.worst,
                "moves": one.moves,
                "swaps_with_next": one.swaps_with_next,
                "best_by_queries": one.by_queries.best,
                "worst_by_queries": one.by_queries.worst,
                "alike": len(one.not_told_apart),
            }
            for one in self.systems
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain numbers, strings, lists and dictionaries."""
        told = zip(self._rows(), self.systems, strict=True)
        systems = [row | {"not_told_apart": list(one.not_told_apart)} for row, one in told]
        return {**vars(self), "systems": systems, "notes": list(self.notes)}

    def columns(self) -> dict[str, Array]:
        """The columns of the table, as arrays with a row for each system; NaN where no number was published."""
        rows, kinds = self._rows(), {"published": np.float64, "bias": np.float64}
        return {name: np.array([row[name] for row in rows], dtype=kinds.get(name)) for name in rows[0]}

    def _shown(self) -> dict[str, list[str]]:
        rows = []
        for one in self.systems:
            printed = {"published": "", "bias": ""}
            if one.published is not None and one.bias is not None:
                printed = {"published": fixed(one.published), "bias": signed(one.bias)}
            rows.append(
                {
                    "place": f"{one.place}",
                    "system": one.name,
                    **(printed if self._is_published else {}),
                    **{name: fixed(getattr(one.score, name)) for name in ("lower", "expected", "upper")},
                    "ties": f"{one.by_ties}",
                    "swaps": "next" if one.swaps_with_next else "",
                    f"queries {percent(self.confidence)}": f"{one.by_queries}",
                    "alike": f"{len(one.not_told_apart)}",
                }
            )
        return {name: [row[name] for row in rows] for name in rows[0]}

    def _lines(self) -> list[tuple[int | None, float, str]]:
        """The place, the lower value and the name of each system."""
        return [(each.place, each.score.lower, each.name) for each in self.systems]

    def _table(self) -> Table:
        shown = self._shown()
        numbers = [name for name in shown if name not in ("system", "swaps")]
        return Table([*shown], [[*zip(*shown.values(), strict=True)]], [*self._sentences()], numbers)

    def to_text(self, width: int | None = None, color: bool = False, explain: bool = False) -> str:
        """The table that the command line shows, wider than `width` if the names would have no room in it."""
        columns = ([name, *map(printable, cells)] for name, cells in self._shown().items())
        needed = sum(2 + min(_NAME, max(map(len, column))) for column in columns)
        return text(self._table(), max(width or WIDTH, needed), color, explain)

    def _sentences(self) -> Iterator[str]:
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
        if self._is_published:
            yield (
                "'bias' is the published number minus the expected value: what the order of tied items in which the "
                "number was computed gave or took."
            )

    def __repr__(self) -> str:
        first = f"{printable(self.systems[0].name)} {self.systems[0].score:.4f}"
        return f"<RankedSystems: {count(len(self), 'system')} by {self.measure}, {first}>"

    @takes_path
    def plot(self, ax: Any = None) -> Any:
        """Draw the interval of every system over the orderings of tied items, the first place at the top.

        ax : matplotlib axes to draw on, or the path of a picture to write; None for new axes

        Returns the axes. Bars go from the lower to the upper value, with the standard deviation around the expected
        one, and a mark at the published number if there is one. Raises MissingExtraError if matplotlib is not
        installed.

        >>> import tieproof as tp
        >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
        >>> run = {"q1": {"d1": 1.0, "d3": 1.0}, "q2": {"d3": 2.0, "d2": 1.0}}
        >>> axes = tp.leaderboard(qrels, {"one": run, "other": run}).plot(style.figure("This example")[1])
        >>> [label.get_text() for label in axes.get_yticklabels()]
        ['1  one', '1  other']
        """
        ax = style.axes_or_new(ax, "RankedSystems.plot", height=1.7 + 0.25 * len(self))
        scores = [each.score for each in self.systems]
        places = list(range(len(scores)))
        draw_intervals(ax, places, scores)
        printed = [(each.published, at) for at, each in enumerate(self.systems) if each.published is not None]
        if printed:
            mark = {"linestyle": "", "marker": "x", "markersize": 6, "color": style.VERMILION, "zorder": 3}
            ax.plot(*zip(*printed, strict=True), label="published", **mark)
        names = style.shortened([each.name for each in self.systems], _NAME_DRAWN)
        style.name_rows(ax, [f"{each.place}  {name}" for each, name in zip(self.systems, names, strict=True)], 8)
        ax.set_xlabel(self.measure, parse_math=False)
        ax.set_title(style.wrapped(f"{count(len(places), 'system')}: what ties leave open"), loc="left", fontsize=10)
        return style.tidy(ax, legend=3)

    def _page(self) -> tuple[str, dict[str, Any]]:
        from tieproof.show.pages.page import Axis

        printed = [each.published for each in self.systems if each.published is not None]
        ends = [end for each in self.systems for end in (each.score.lower, each.score.upper)]
        values = {"board": self, "table": self._table(), "axis": Axis.around(ends + printed)}
        return "board.html", {"title": f"{count(len(self), 'system')} by {self.measure}", **values}


BOARDS = pictures(RankedSystems.plot)
