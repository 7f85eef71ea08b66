"""The table of every query: numbers packed for the script of the page, and the first rows in HTML."""

from base64 import b64encode
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.show.printable import printable

ROWS = 100  # the number of rows in HTML, for readers without JavaScript
CHARACTERS = 520_000  # the most characters of all numbers of the table, so that the whole page stays below 1 MB
MOST_QUERIES = 20_000  # the most queries that have room in a page
_SCALE, _OFFSET = 10_000, 20_000  # a number is packed in ten thousandths, plus an offset that makes it positive
_NONE = 2**16 - 1  # the packed value of a missing number

Packed = dict[str, Any]


class MeasureChoice(NamedTuple):
    """A measure that can be chosen, with the numbers of each column; None repeats the column before it."""

    name: str
    columns: tuple[npt.NDArray[Any] | None, ...]


class QueryTable(NamedTuple):
    """What `templates/queries.html` shows and `templates/page.js` sorts and filters."""

    heads: tuple[str, ...]
    hints: tuple[str, ...]  # the meaning of each column
    rows: list[list[str]]  # the cells of the first rows, as text
    data: Packed  # all rows, for the script
    total: int  # the number of queries
    kept: int  # how many of them the table contains
    left_out: tuple[str, ...]  # the choices for which there is no room
    flag: int | None  # the index of the column by which rows with 0 can be hidden; None if there is no such column


def packed(values: npt.NDArray[Any]) -> Packed:
    """The numbers of a column: whole numbers, packed if they are small enough, or numbers from -2 to 4.

    Those from -2 to 4 are packed with four decimals. Two bytes for each number are written in base64.

    >>> packed(np.array([1, 200])), packed(np.array([70_000]))
    ({'scale': 1, 'offset': 0, 'packed': 'AQDIAA=='}, {'scale': 1, 'plain': [70000]})
    >>> packed(np.array([0.25, 1.0]))
    {'scale': 10000, 'offset': 20000, 'packed': '5FcwdQ=='}
    """
    scale, offset = 1, 0
    if values.dtype.kind in "iu":
        if values.size and values.max() >= _NONE:
            return {"scale": scale, "plain": values.tolist()}
    else:
        scale, offset = _SCALE, _OFFSET
        known, inverse = np.unique(values, return_inverse=True)
        whole = [_NONE if value != value else round(float(f"{value:.4f}") * _SCALE) + _OFFSET for value in known]
        values = np.array(whole)[inverse]
    return {"scale": scale, "offset": offset, "packed": b64encode(values.astype("<u2").tobytes()).decode()}


def query_table(
    ids: npt.NDArray[Any],
    order: npt.NDArray[np.int64],
    groups: npt.NDArray[Any] | None,  # the category of each query; None if there are no categories
    choices: Sequence[MeasureChoice],
    fixed: Mapping[str, npt.NDArray[Any]],
    heads: Mapping[str, str],  # the columns of a choice, with their meaning
    flag: str | None = None,
) -> QueryTable:
    """The table of all queries in a given order; if room is short, measures are left out first, then queries."""
    order = order[:MOST_QUERIES]
    names = [printable(name) for name in ids[order].tolist()]
    taken_by_names = list(accumulate(map(_characters, names)))
    names = names[: bisect_right(taken_by_names, CHARACTERS // 2)]
    order = order[: len(names)]
    kinds = None if groups is None else [printable(name) for name in groups[order].tolist()]
    unique = sorted(set(kinds or ()))
    room = CHARACTERS - sum(map(_characters, [*names, *unique]))
    columns = {name: packed(values[order]) for name, values in fixed.items()}
    room -= sum(map(_size_of, columns.values()))
    kept: list[dict[str, Any]] = []
    left_out = []
    for choice in choices:
        filled = [None if column is None else packed(column[order]) for column in choice.columns]
        taken = sum(map(_size_of, filled))
        if kept and taken > room:
            left_out.append(choice.name)
            continue
        room -= taken
        kept.append({"name": choice.name, "columns": filled})
    titles = ("query", *(() if kinds is None else ("category",)), *heads, *fixed)
    kinds_packed = None
    if kinds is not None:
        number = {name: at for at, name in enumerate(unique)}
        numbers = np.array([number[kind] for kind in kinds], dtype=np.int64)
        kinds_packed = {"names": unique, "of": packed(numbers)}
    return QueryTable(
        heads=titles,
        hints=("", *(() if kinds is None else ("",)), *heads.values(), *("" for _ in fixed)),
        rows=[list(row) for row in zip(*_texts(names, kinds, choices[0], fixed, order[:ROWS]), strict=True)],
        data={"ids": names, "groups": kinds_packed, "choices": kept, "fixed": list(columns.values())},
        total=len(ids),
        kept=len(order),
        left_out=tuple(left_out),
        flag=None if flag is None else list(fixed).index(flag),
    )


def _characters(name: str) -> int:
    return len(name.encode()) + 3


def _size_of(column: Packed | None) -> int:
    """The approximate number of characters of a column in the page."""
    if column is None:
        return 0
    return len(column["packed"]) if "packed" in column else 7 * len(column["plain"])


def _texts(
    names: Sequence[str],
    kinds: Sequence[str] | None,
    choice: MeasureChoice,
    fixed: Mapping[str, npt.NDArray[Any]],
    order: npt.NDArray[np.int64],
) -> list[Sequence[str]]:
    columns: list[Sequence[str]] = [names[:ROWS]] + ([] if kinds is None else [kinds[:ROWS]])
    for values in [*choice.columns, *fixed.values()]:
        if values is None:
            columns.append(columns[-1])
        elif values.dtype.kind in "iu":
            columns.append([f"{value:,}" for value in values[order].tolist()])
        else:
            numbers = values[order].tolist()
            columns.append(["–" if value != value else f"{round(value, 4) + 0.0:.4f}" for value in numbers])
    return columns
