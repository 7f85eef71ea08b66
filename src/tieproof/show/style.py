"""The style of all pictures: colors that color-blind readers can tell apart, and names that fit."""

import io
import os
import textwrap
import unicodedata
import warnings
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate, takewhile, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from tieproof.errors import import_extra
from tieproof.show.printable import printable

BLACK = "#000000"
ORANGE = "#E69F00"
SKY_BLUE = "#56B4E9"
GREEN = "#009E73"
YELLOW = "#F0E442"
BLUE = "#0072B2"
VERMILION = "#D55E00"
PURPLE = "#CC79A7"
GRAY = "#999999"


class Look(NamedTuple):
    """The color, marker and hatch of one of several series."""

    color: str
    marker: str
    hatch: str


LOOKS = (
    Look(BLUE, "o", ""),
    Look(ORANGE, "s", "///"),
    Look(GREEN, "^", "..."),
    Look(PURPLE, "D", "xxx"),
    Look(SKY_BLUE, "v", "\\\\\\"),
    Look(VERMILION, "P", "+++"),
    Look(YELLOW, "X", "ooo"),
    Look(BLACK, "*", "---"),
)

_LINES = ("-", "--", "-.", ":")  # the line styles of the first eight series, the next eight, and so on
_LETTERS = 64  # the most characters in a line of a title, which begins at the axes and must end within the figure
_BELOW = 34  # the distance in points from the axes down to a legend, below the numbers and the label of the x axis

# Metadata to leave out of a file, by extension, so that the same picture gives the same bytes.
METADATA: dict[str, dict[str, Any]] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {}}


def matplotlib(what: str) -> Any:
    """The library matplotlib; MissingExtraError, which names `what` needs it, if it is not installed."""
    import_extra("matplotlib.figure", what, "plot")
    return import_extra("matplotlib", what, "plot")


def figure(what: str, width: float = 7.0, height: float = 3.5, rows: int = 1, columns: int = 1) -> tuple[Any, Any]:
    """A figure of a size in inches, independent of pyplot, and its axes; `what` needs it."""
    drawn = matplotlib(what).figure.Figure(figsize=(width, height), layout="constrained")
    return drawn, drawn.subplots(rows, columns)


def axes_or_new(ax: Any, what: str, width: float = 7.0, height: float = 3.5) -> Any:
    """The given axes, or those of a new pyplot figure; neither prints anything below the figure in a notebook."""
    matplotlib(what)
    if isinstance(ax, str | os.PathLike):  # `show/files.py` writes the figure
        ax = figure(what, width, height)[1]
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(width, height), layout="constrained")[1]
    ax._ipython_display_ = silent
    return ax


def silent() -> None:
    """What a notebook calls to show axes: their figure is shown already."""


def tidy(ax: Any, legend: int = 0) -> Any:
    """Return the axes without their top and right lines, and with a legend of so many columns below, if any."""
    ax.spines[["top", "right"]].set_visible(False)
    if legend:
        legend_below(ax, legend)
    return ax


def ink() -> str:
    """The neutral color: that of texts, which is visible on a dark background, too."""
    return str(matplotlib("A picture").rcParams["text.color"])


def line_of(place: int) -> dict[str, Any]:
    """The color, marker and line of a series, by its index; the first 32 are all different."""
    look = LOOKS[place % len(LOOKS)]
    color = ink() if look.color == BLACK else look.color
    return {"color": color, "marker": look.marker, "linestyle": _LINES[place // len(LOOKS) % len(_LINES)]}


def name_rows(ax: Any, names: Sequence[str], size: float | None = None, bold: Sequence[int] = ()) -> None:
    """Write a name beside each row of a picture, the first at the top, in points of a size."""
    ax.set_yticks(range(len(names)), names, parse_math=False)
    for place, label in enumerate(ax.get_yticklabels()):
        label.set(fontfamily=families(), fontweight="bold" if place in bold else "normal")
        label.set_fontsize(size or label.get_fontsize())
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)


def limits(low: float, high: float) -> tuple[float, float]:
    """The ends of an axis for scores from low to high, with a margin for marks.

    The axis goes from 0 to 1, or to a little more than `high` if that is below a half. If the scores differ in their
    first three digits but would take less than a quarter of it, the axis shows only their range.

    >>> limits(0.2, 0.9), limits(0.0, 0.0)
    ((-0.04, 1.04), (-0.04, 1.04))
    >>> [round(end, 6) for end in limits(0.0, 0.001)], [round(end, 4) for end in limits(0.96, 0.98)]
    ([-4.4e-05, 0.001144], [0.956, 0.984])
    """
    start, end = 0.0, 1.0 if high == 0 or 0.5 <= high <= 1 else 1.1 * high
    if 0.001 * high < high - low < (end - start) / 4:
        aside = 0.15 * (high - low)
        start, end = low - aside, high + aside
    margin = 0.04 * (end - start)
    return start - margin, end + margin


def whole_numbers(axis: Any) -> None:
    """Put ticks of an axis only at whole numbers, written as in texts: 1,797."""
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    axis.set_major_locator(MaxNLocator(nbins=8, integer=True, min_n_ticks=1))
    axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))


def short_numbers(axis: Any) -> None:
    """Write the numbers of an axis in full, without a common factor or offset, with minus signs as in texts."""
    axis.set_major_formatter(lambda number, _: f"{number:.4g}")


def wrapped(text: str) -> str:
    """A title wrapped to the width of a picture."""
    return textwrap.fill(text, _LETTERS)


def legend_below(ax: Any, columns: int, **options: Any) -> Any:
    """Draw a legend below the label of the x axis, where it hides nothing."""
    from matplotlib.transforms import ScaledTranslation

    below = ax.transAxes + ScaledTranslation(0, -_BELOW / 72, ax.figure.figure.dpi_scale_trans)  # not a subfigure's
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "bbox_transform": below}
    return ax.legend(**place, ncols=columns, frameon=False, fontsize=9, borderaxespad=0, **options)


def write(drawn: Any, path: Path) -> None:
    """Write a figure to a path with one of the extensions of `METADATA`."""
    repeatable = {"svg.hashsalt": "tieproof", "svg.fonttype": "none"}
    with matplotlib("A picture").rc_context(repeatable), warnings.catch_warnings():
        if path.suffix.lower() == ".svg":  # the program that shows the file uses its own fonts
            warnings.filterwarnings("ignore", "Glyph .* missing from font")
        extension, picture = path.suffix.lower(), io.BytesIO()  # on a full disk, the writer of PDF fails otherwise
        drawn.savefig(picture, dpi=150, metadata=METADATA[extension], format=extension.removeprefix("."))
        path.write_bytes(picture.getvalue())


_WIDE = frozenset("WF")  # Unicode's classes of letters that take two columns: Chinese, Japanese and Korean
_OTHER_SCRIPTS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans Devanagari",
    "Noto Sans Thai",
    "WenQuanYi Zen Hei",
    "PingFang SC",
    "Hiragino Sans",
    "Microsoft YaHei",
    "Yu Gothic",
    "Malgun Gothic",
    "Nirmala UI",
    "Leelawadee UI",
    "Arial Unicode MS",
)
"""Fonts of Linux, macOS and Windows for characters that matplotlib's own font does not have."""


def shortened(names: Sequence[object], most: int) -> list[str]:
    """Names as texts of at most `most` columns, cut in the middle.

    Names that would then look equal are cut where they begin to differ.

    >>> shortened(["cat", "query-number-00000000003"], 16)
    ['cat', 'query-nu…0000003']
    >>> shortened(["the long number one of all numbers", "the long number two of all numbers"], 16)
    ['…r one of all n…', '…r two of all n…']
    """
    whole = [printable(name) for name in names]
    alike = defaultdict(set)
    for name in whole:
        alike[cut(name, most)].add(name)
    return [
        short if len(alike[short]) == 1 else _from_where_they_differ(name, alike[short], most)
        for name, short in ((name, cut(name, most)) for name in whole)
    ]


def cut(name: str, most: int) -> str:
    """A name of at most `most` columns: the beginning and the end of a wider one."""
    if fitting(name, most) == len(name):
        return name
    start, end = fitting(name, most // 2), len(name) - fitting(reversed(name), most - 1 - most // 2)
    return f"{name[:start]}…{name[end:]}"


def _from_where_they_differ(name: str, alike: Collection[str], most: int) -> str:
    """The columns of a name that begin a little before the position where it differs from names that look like it."""
    first, last = min(alike), max(alike)
    differs = next(place for place, (one, other) in enumerate(zip_longest(first, last)) if one != other)
    start = max(1, differs - most // 8)
    return f"…{name[start : start + fitting(name[start:], most - 2)]}…"


def fitting(letters: Iterable[str], most: int) -> int:
    """How many of the first characters fit into `most` columns."""
    return sum(1 for _ in takewhile(lambda wide: wide <= most, accumulate(map(columns, letters))))


def columns(name: str) -> int:
    """The width of a name in columns."""
    return sum(
        2 if unicodedata.east_asian_width(letter) in _WIDE else 1
        for letter in name
        if not unicodedata.combining(letter)
    )


def families() -> list[str]:
    """The configured fonts, followed by installed fonts that have more characters."""
    library = matplotlib("A picture")
    from matplotlib.font_manager import fontManager

    installed = {*fontManager.get_font_names()}
    return [*library.rcParams["font.family"], *(name for name in _OTHER_SCRIPTS if name in installed)]
