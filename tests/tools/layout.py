"""Faults of a picture's layout: texts that overlap or are cut off, legends on data, marks outside the axes."""

import itertools
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Bbox

SLACK = 1.0
"""Pixels by which the box of a text, which has room for every letter, may reach into another."""

DIAMONDS = ("D",)
"""Marks that are as wide as their size."""


def faults(ax: Any) -> list[str]:
    """All faults of the figure that the axes are in."""
    figure = ax.figure.figure
    FigureCanvasAgg(figure)
    figure.draw_without_rendering()
    texts = shown_texts(figure)
    found = [f"{name!r} is cut off" for name, box in texts if not within(box, figure.bbox)]
    found += [
        f"{one!r} overlaps {other!r}"
        for (one, first), (other, second) in itertools.combinations(texts, 2)
        if overlap(first, second)
    ]
    for each in figure.axes:
        legend = each.get_legend()
        if legend is not None and overlap(legend.get_window_extent(), each.bbox):
            found.append("the legend lies on the data")
        found += [f"{artist} leaves the axes" for artist in marks(each) if not within(extent(artist), each.bbox)]
    return found


def shown_texts(figure: Any) -> list[tuple[str, Bbox]]:
    """The texts that are drawn, each with its box."""
    ticks = {
        label
        for ax in figure.axes
        for axis, ends in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim()))
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())
        if not min(ends) <= tick.get_loc() <= max(ends)
        for label in (tick.label1, tick.label2)
    }
    texts = (text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip())
    return [(text.get_text(), text.get_window_extent()) for text in texts if text not in ticks]


def marks(ax: Any) -> list[Any]:
    """Lines and segments that show data."""
    segments = [each for each in ax.collections if isinstance(each, LineCollection)]
    return [*(line for line in ax.lines if line.get_transform() == ax.transData and len(line.get_xdata())), *segments]


def extent(artist: Any) -> Bbox:
    """The box around the points of a line, including half a mark around each point."""
    segments = artist.get_segments() if isinstance(artist, LineCollection) else [artist.get_xydata()]
    box = Bbox.null()
    box.update_from_data_xy(artist.get_transform().transform([point for each in segments for point in each]))
    marked = isinstance(artist, Line2D) and artist.get_marker() in DIAMONDS
    return box.padded(artist.get_markersize() / 2 * artist.figure.figure.dpi / 72) if marked else box


def within(inner: Bbox, outer: Bbox) -> bool:
    """Whether one box is inside the other, except for the slack."""
    return bool(
        inner.x0 >= outer.x0 - SLACK
        and inner.y0 >= outer.y0 - SLACK
        and inner.x1 <= outer.x1 + SLACK
        and inner.y1 <= outer.y1 + SLACK
    )


def overlap(first: Bbox, second: Bbox) -> bool:
    """Whether two boxes overlap by more than the slack in both directions."""
    across = min(first.x1, second.x1) - max(first.x0, second.x0)
    up = min(first.y1, second.y1) - max(first.y0, second.y0)
    return bool(across > SLACK and up > SLACK)
