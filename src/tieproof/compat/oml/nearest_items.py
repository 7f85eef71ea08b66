"""The picture of the nearest items of queries, one row each: their contents, which are relevant, which are tied."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from tieproof.kit import in_one_line, style
from tieproof.show.style import columns, cut, families

CELL, GAP = 0.86, 0.62
"""The side of an item, and the space between two rows for captions and brackets, if items are 1 apart."""

LETTERS, LINES = 13, 6
"""The most columns and lines of a text that are shown in an item."""

CAPTION = 15
"""The most columns of an item's caption, which must end before the next one."""

RIGHT, WRONG = (style.GREEN, "-", "✓"), (style.VERMILION, "--", "✗")
"""The color, line and sign of an item's frame."""


class ShownItem(NamedTuple):
    """A gallery item: an image or a text, its caption, and whether it is relevant (None if unknown)."""

    content: Any
    caption: str
    relevant: bool | None


class ShownTie(NamedTuple):
    """The shown items first … last-1 are tied; the whole tie has `size` items."""

    first: int
    last: int
    size: int


class Row(NamedTuple):
    """A query and its nearest items."""

    content: Any
    caption: str
    items: Sequence[ShownItem]
    ties: Sequence[ShownTie]


def nearest_items(rows: Sequence[Row], ax: Any = None) -> Any:
    """Draw each query with its nearest items, nearest first; brackets mark tied items, which may be in any order.

    Parameters
    ----------
    rows : queries with their items
        Images are arrays (height, width) or (height, width, 3); other contents are shown as text.
    ax : matplotlib axes to draw on; None for new ones

    Returns
    -------
    The axes.

    Examples
    --------
    >>> items = [ShownItem("a text", "0: 0.5", True), ShownItem("another", "3: 0.5", False)]
    >>> rows = [Row("query", "query 7", items, [ShownTie(0, 2, size=5)])]
    >>> ax = nearest_items(rows, ax=style.figure("This example")[1])
    >>> [text.get_text() for text in ax.texts][-1]
    '2 of 5 tied'

    """
    places = 1 + max(len(row.items) for row in rows)
    height = len(rows) * (1 + GAP)
    ax = style.axes_or_new(ax, "A picture of nearest items", 1.25 * places, 1.25 * height + 0.4)
    for place, row in enumerate(rows):
        _draw_row(ax, row, -place * (1 + GAP))
    ax.set_xlim(-0.1, places)
    ax.set_ylim(-(len(rows) - 1) * (1 + GAP) - 0.42, 1.15)
    ax.set_aspect("equal")
    ax.axis("off")
    _legend(ax, any(row.ties for row in rows))
    return ax


def _draw_row(ax: Any, row: Row, bottom: float) -> None:
    """Draw one query, its items and the brackets of its ties."""
    _draw_content(ax, row.content, 0.0, bottom)
    _draw_frame(ax, 0.0, bottom, row.caption, style.ink(), "-")
    for place, item in enumerate(row.items, 1):
        _draw_content(ax, item.content, place, bottom)
        color, line, sign = (style.GRAY, "-", "") if item.relevant is None else RIGHT if item.relevant else WRONG
        _draw_frame(ax, place, bottom, f"{sign} {item.caption}".strip(), color, line)
    for tie in row.ties:
        left, right, level = 1 + tie.first, tie.last + CELL, bottom - 0.08
        ends = [left, left, right, right], [level, level - 0.07, level - 0.07, level]
        ax.plot(*ends, color=style.ink(), linewidth=1.2)
        shown = tie.last - tie.first
        label = f"{shown} tied" if shown == tie.size else f"{shown} of {tie.size} tied"
        ax.text((left + right) / 2, level - 0.1, label, ha="center", va="top", fontsize=7)


def _draw_frame(ax: Any, left: float, bottom: float, caption: str, color: str, line: str) -> None:
    """Draw the frame of a query or an item, and its caption."""
    corners = [left, left + CELL, left + CELL, left, left], [bottom, bottom, bottom + CELL, bottom + CELL, bottom]
    ax.plot(*corners, color=color, linestyle=line, linewidth=2.2)
    look = {"ha": "center", "va": "bottom", "fontsize": 7, "fontfamily": families(), "parse_math": False}
    ax.text(left + CELL / 2, bottom + CELL + 0.04, cut(in_one_line(caption), CAPTION), **look)


def _draw_content(ax: Any, content: Any, left: float, bottom: float) -> None:
    """Draw an image as large as possible, or a text."""
    shape: Any = getattr(content, "shape", ())
    if len(shape) not in (2, 3):
        look = {"ha": "center", "va": "center", "fontsize": 7, "fontfamily": families(), "parse_math": False}
        ax.text(left + CELL / 2, bottom + CELL / 2, _in_lines(in_one_line(content)), **look)
        return
    longest = max(shape[:2])
    width, height = CELL * shape[1] / longest, CELL * shape[0] / longest
    x, y = left + (CELL - width) / 2, bottom + (CELL - height) / 2
    ax.imshow(content, extent=(x, x + width, y, y + height), cmap="gray", interpolation="nearest", aspect="auto")


def _in_lines(text: str) -> str:
    """The beginning of a text that fits into an item, in lines that are broken at spaces if possible.

    >>> _in_lines("数" * 8).split()
    ['数数数数数数', '数数']
    """
    lines = [""]
    for word in text.split(" "):
        spaced = f"{lines[-1]} {word}".strip()
        if columns(spaced) <= LETTERS:
            lines[-1] = spaced
            continue
        lines += [""] if lines[-1] else []
        for letter in word:
            if columns(lines[-1] + letter) > LETTERS:
                lines.append("")
            lines[-1] += letter
    return "\n".join(lines if len(lines) <= LINES else [*lines[: LINES - 1], f"{lines[LINES - 1][: LETTERS - 2]} …"])


def _legend(ax: Any, with_ties: bool) -> None:
    """Draw the legend of frames and brackets."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=color, linestyle=line, linewidth=2.2, label=f"{sign} {meaning}")
        for (color, line, sign), meaning in ((RIGHT, "relevant"), (WRONG, "not relevant"))
    ]
    if with_ties:
        handles.append(Line2D([], [], color=style.ink(), linewidth=1.2, label="tied: any order"))
    ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=3, frameon=False, fontsize=8)
