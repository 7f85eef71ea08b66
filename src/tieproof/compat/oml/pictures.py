"""Figures of queries with their nearest items, one row each: their contents, which are relevant, which are tied."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tieproof.compat.oml.dataset import ShownNeighbors, neighbors_of
from tieproof.errors import InputError
from tieproof.kit import as_array, in_one_line, style
from tieproof.show.style import columns, cut, families

# The image or the text at a position among the queries or in the gallery; the color tells what it is.
Contents = Callable[[int, tuple[int, int, int]], Any]

# The colors, as (red, green, blue), that are passed to the `visualize` of a data set.
_QUERY, _RIGHT, _WRONG, _UNKNOWN = (0, 0, 255), (0, 255, 0), (255, 0, 0), (0, 0, 0)
# The color, line and sign of an item's frame.
_FRAMES = {_RIGHT: (style.GREEN, "-", "✓ "), _WRONG: (style.VERMILION, "--", "✗ "), _UNKNOWN: (style.GRAY, "-", "")}

CELL, GAP = 0.86, 0.62  # the side of an item, and the space between two rows, if items are 1 apart
LETTERS, LINES = 13, 6  # the most columns and lines of a text that are shown in an item
CAPTION = 15  # the most columns of an item's caption, which must end before the next one


def contents_of(dataset: Any, ids: Any = None) -> Contents:
    """The contents of some items of a data set, by default of all items; their ids if it has no `visualize`."""
    places = range(len(dataset)) if ids is None else as_array(ids, "ids")

    def shown(position: int, color: tuple[int, int, int]) -> Any:
        item = int(places[position])
        return dataset.visualize(item, color) if hasattr(dataset, "visualize") else str(item)

    return shown


def contents_of_split(dataset: Any) -> tuple[Contents, Contents]:
    """The contents of the queries and of the gallery of a data set."""
    return contents_of(dataset, dataset.get_query_ids()), contents_of(dataset, dataset.get_gallery_ids())


def figure_of_queries(
    rr: Any, query_ids: Sequence[int], n_instances: int, contents: tuple[Contents, Contents]
) -> Any:
    """A figure with a row for each query: its `n_instances` nearest items, with brackets around tied ones.

    contents : of the queries and of the gallery; images are arrays (height, width) or (height, width, 3)
    """
    count, listed = len(rr.retrieved_ids), getattr(rr, "neighbours", None) or neighbors_of(rr)
    wrong = [query for query in query_ids if not 0 <= query < count]
    if wrong or not len(query_ids):
        arrived = f"contains {wrong[0]}" if wrong else "is empty"
        raise InputError(
            f"query_ids must be positions among the {count} queries, from 0 to {count - 1}, but it {arrived}."
        )
    rows = [(int(query), listed[int(query)]) for query in query_ids]
    places = 1 + max(len(neighbors.items[:n_instances]) for _, neighbors in rows)
    drawn, ax = style.figure("A picture of queries", max(4.5, 1.25 * places), 0.5 + 2.05 * len(rows))
    with_ties = False
    for place, (query, neighbors) in enumerate(rows):
        relevant = None if rr.gt_ids is None else np.isin(neighbors.items, as_array(rr.gt_ids[query], "gt_ids"))
        bottom = -place * (1 + GAP)
        _draw(ax, contents[0](query, _QUERY), 0.0, bottom, f"query {query}", (style.ink(), "-"))
        for at, (item, distance) in enumerate(zip(neighbors.items[:n_instances], neighbors.distances, strict=False)):
            color = _UNKNOWN if relevant is None else _RIGHT if relevant[at] else _WRONG
            *look, sign = _FRAMES[color]
            _draw(ax, contents[1](int(item), color), 1.0 + at, bottom, f"{sign}{item}: {distance:.4g}", look)
        with_ties |= _draw_ties(ax, neighbors, n_instances, bottom)
    ax.set_xlim(-0.1, places)
    ax.set_ylim(-(len(rows) - 1) * (1 + GAP) - 0.42, 1.15)
    ax.set_aspect("equal")
    ax.axis("off")
    _legend(ax, with_ties)
    return drawn


def _draw_ties(ax: Any, neighbors: ShownNeighbors, n_instances: int, bottom: float) -> bool:
    """Draw a bracket below the shown items of each tie, which may have more, and return whether there is any."""
    shown = len(neighbors.items[:n_instances])
    firsts = [int(first) for first in np.unique(neighbors.first[:shown]) if neighbors.size[first] > 1]
    for first in firsts:
        size = int(neighbors.size[first])
        last = min(first + size, shown)
        left, right, level = 1 + first, last + CELL, bottom - 0.08
        ends = [left, left, right, right], [level, level - 0.07, level - 0.07, level]
        ax.plot(*ends, color=style.ink(), linewidth=1.2)
        label = f"{size} tied" if last - first == size else f"{last - first} of {size} tied"
        ax.text((left + right) / 2, level - 0.1, label, ha="center", va="top", fontsize=7)
    return bool(firsts)


def _draw(ax: Any, content: Any, left: float, bottom: float, caption: str, look: Sequence[str]) -> None:
    """Draw an image as large as possible, or a text, with a frame of this color and line, and a caption."""
    texts = {"ha": "center", "fontsize": 7, "fontfamily": families(), "parse_math": False}
    image = content if isinstance(content, str) else as_array(content, "image")
    shape: Any = getattr(image, "shape", ())
    if len(shape) in (2, 3):
        longest = max(shape[:2])
        width, height = CELL * shape[1] / longest, CELL * shape[0] / longest
        x, y = left + (CELL - width) / 2, bottom + (CELL - height) / 2
        ax.imshow(image, extent=(x, x + width, y, y + height), cmap="gray", interpolation="nearest", aspect="auto")
    else:
        ax.text(left + CELL / 2, bottom + CELL / 2, _in_lines(in_one_line(image)), va="center", **texts)
    right, top = left + CELL, bottom + CELL
    corners = [left, right, right, left, left], [bottom, bottom, top, top, bottom]
    ax.plot(*corners, color=look[0], linestyle=look[1], linewidth=2.2)
    ax.text(left + CELL / 2, bottom + CELL + 0.04, cut(in_one_line(caption), CAPTION), va="bottom", **texts)


def _in_lines(text: str) -> str:
    """The beginning of a text that fits into an item, in lines that are broken at spaces if possible."""
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
        Line2D([], [], color=color, linestyle=line, linewidth=2.2, label=f"{sign}{meaning}")
        for (color, line, sign), meaning in ((_FRAMES[_RIGHT], "relevant"), (_FRAMES[_WRONG], "not relevant"))
    ]
    if with_ties:
        handles.append(Line2D([], [], color=style.ink(), linewidth=1.2, label="tied: any order"))
    ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=3, frameon=False, fontsize=8)
