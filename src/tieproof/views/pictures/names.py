"""Names in pictures: no longer than there is room for, in fonts that have their letters."""

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate, takewhile, zip_longest

from tieproof.views.pictures import style
from tieproof.views.printable import printable

WIDE = frozenset("WF")
"""Unicode's widths of letters that are as wide as two of ours: those of Chinese, Japanese and Korean."""

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
"""Fonts of Linux, macOS and Windows for letters that matplotlib's own does not have."""


def shortened(names: Sequence[object], most: int) -> list[str]:
    """Names as text in at most so many columns, cut in the middle.

    Those that would then look the same are cut where they begin to differ.

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
    """The beginning and the end of a name that is wider than so many columns."""
    if fitting(name, most) == len(name):
        return name
    start, end = fitting(name, most // 2), len(name) - fitting(reversed(name), most - 1 - most // 2)
    return f"{name[:start]}…{name[end:]}"


def from_where_they_differ(name: str, others: Collection[str], most: int) -> str:
    """So many columns of a name from a little before it is another than others."""
    first, last = min(others), max(others)
    alike = next(place for place, (one, other) in enumerate(zip_longest(first, last)) if one != other)
    start = max(1, alike - most // 8)
    return f"…{name[start : start + fitting(name[start:], most - 2)]}…"


def fitting(letters: Iterable[str], most: int) -> int:
    """How many of the letters are no wider than so many columns together.

    >>> fitting("數據 and", 5)
    3
    """
    return sum(1 for _ in takewhile(lambda wide: wide <= most, accumulate(map(columns, letters))))


def columns(name: str) -> int:
    """How many letters of ours a name is as wide as.

    >>> columns("数据"), columns("cafe\u0301")
    (4, 4)
    """
    return sum(
        2 if unicodedata.east_asian_width(letter) in WIDE else 1
        for letter in name
        if not unicodedata.combining(letter)
    )


def families() -> list[str]:
    """The fonts that are set, and after them installed ones that have more letters."""
    matplotlib = style.matplotlib("A picture")
    from matplotlib.font_manager import fontManager

    installed = {*fontManager.get_font_names()}
    return [*matplotlib.rcParams["font.family"], *(name for name in OTHER_SCRIPTS if name in installed)]
