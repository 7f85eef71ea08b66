"""Names in pictures: shortened to the available room, in fonts that have their characters."""

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate, takewhile, zip_longest

from tieproof.views.pictures import style
from tieproof.views.printable import printable

WIDE = frozenset("WF")
"""Unicode's width classes of characters that take two columns: those of Chinese, Japanese and Korean."""

OTHER_SCRIPTS = (
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
        short if len(alike[short]) == 1 else from_where_they_differ(name, alike[short], most)
        for name, short in ((name, cut(name, most)) for name in whole)
    ]


def cut(name: str, most: int) -> str:
    """A name of at most `most` columns: the beginning and the end of a wider one."""
    if fitting(name, most) == len(name):
        return name
    start, end = fitting(name, most // 2), len(name) - fitting(reversed(name), most - 1 - most // 2)
    return f"{name[:start]}…{name[end:]}"


def from_where_they_differ(name: str, others: Collection[str], most: int) -> str:
    """The columns of a name that begin a little before the position where it differs from others."""
    first, last = min(others), max(others)
    alike = next(place for place, (one, other) in enumerate(zip_longest(first, last)) if one != other)
    start = max(1, alike - most // 8)
    return f"…{name[start : start + fitting(name[start:], most - 2)]}…"


def fitting(letters: Iterable[str], most: int) -> int:
    """How many of the first characters fit into `most` columns.

    >>> fitting("數據 and", 5)
    3
    """
    return sum(1 for _ in takewhile(lambda wide: wide <= most, accumulate(map(columns, letters))))


def columns(name: str) -> int:
    """The width of a name in columns.

    >>> columns("数据"), columns("cafe\u0301")
    (4, 4)
    """
    return sum(
        2 if unicodedata.east_asian_width(letter) in WIDE else 1
        for letter in name
        if not unicodedata.combining(letter)
    )


def families() -> list[str]:
    """The configured fonts, followed by installed fonts that have more characters."""
    matplotlib = style.matplotlib("A picture")
    from matplotlib.font_manager import fontManager

    installed = {*fontManager.get_font_names()}
    return [*matplotlib.rcParams["font.family"], *(name for name in OTHER_SCRIPTS if name in installed)]
