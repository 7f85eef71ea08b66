"""A picture of the widest intervals, each beside the published numbers of its leaderboard."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from studies.common import save
from studies.published.rescored import Number
from tieproof.show import style


def draw(shown: Sequence[Number], boards: Mapping[str, Sequence[Number]], path: Path) -> None:
    """Draw the interval of each number, the number, and the published numbers of the other systems of its board."""
    drawn, ax = style.figure("This study", width=9, height=1.3 + 0.5 * len(shown))
    places = range(len(shown))
    others = [
        (other.value, place) for place, each in enumerate(shown) for other in boards[each.runs] if other is not each
    ]
    ax.plot(
        *zip(*others, strict=True), **mark("|", 9, style.GRAY), label="the published numbers of the other systems"
    )
    ax.hlines(
        [place + 0.28 for place in places],
        [each.lower for each in shown],
        [each.upper for each in shown],
        color=style.SKY_BLUE,
        linewidth=6,
        label="what its ties can make of it, lower to upper",
    )
    ax.plot([each.value for each in shown], places, **mark("D", 6, style.VERMILION), label="published")
    ax.plot(
        [each.expected for each in shown],
        [place + 0.28 for place in places],
        **mark("|", 8, style.BLUE),
        label="expected, ties broken at random",
    )
    ax.set(xlim=(-0.02, 1.02), ylim=(len(shown) - 0.4, -0.6), xlabel="main measure of the leaderboard")
    ax.set_yticks(places, [f"{each.system}\n{each.runs}" for each in shown], fontsize=8)
    ax.grid(axis="x", color="#dddddd", linewidth=0.8)
    ax.set_axisbelow(True)
    style.tidy(ax)
    drawn.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False, fontsize=9)
    save(drawn, path)


def mark(marker: str, size: int, color: str) -> dict[str, object]:
    """A mark without a line."""
    return {"linestyle": "", "marker": marker, "markersize": size, "markeredgewidth": 1.5, "color": color}
