"""The table of every query: numbers packed for the script of the page, and the first rows in HTML."""

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.show.printable import printable

ROWS = 100
"""The number of rows in HTML, for readers without JavaScript."""

CHARACTERS = 520_000
"""The most characters of all numbers of the table, so that the whole page stays below 1 MB."""

MOST = 20_000
"""The most queries that have room in a page."""

SCALE, OFFSET = 10_000, 20_000
"""A number is packed in ten thousandths, plus an offset that makes negative numbers positive."""

NONE = 2**16 - 1
"""The packed value of a missing number."""

Packed = dict[str, Any]


class Choice(NamedTuple):
    """A measure that can be chosen, with the numbers of each column; None repeats the column before it."""

    name: str
    columns: tuple[npt.NDArray[Any] | None, ...]


class QueryTable(NamedTuple):
    """What `templates/queries.html` shows and `templates/page.js` sorts and filters.

    heads : the column headers; `hints` : the meaning of each column
    rows : the cells of the first rows, as text
    data : all rows, for the script
    total, kept : the number of queries, and how many of them the table contains
    left_out : the choices for which there is no room
    flag : the index of the column by which rows with 0 can be hidden; None if there is no such column
    """

    heads: tuple[str, ...]
    hints: tuple[str, ...]
    rows: list[list[str]]
    data: Packed
    total: int
    kept: int
    left_out: tuple[str, ...]
    flag: int | None


def share(values: npt.NDArray[Any]) -> Packed:
    """Numbers from -2 to 4 with four decimals, packed.

    >>> share(np.array([0.25, 1.0]))
    {'scale': 10000, 'offset': 20000, 'packed': '5FcwdQ=='}
    """
    known, inverse = np.unique(values, return_inverse=True)
    tenthousandths = [NONE if value != value else round(float(f"{value:.4f}") * SCALE) + OFFSET for value in known]
    return {"scale": SCALE, "offset": OFFSET, "packed": words(np.array(tenthousandths)[inverse])}


def counts(values: npt.NDArray[Any]) -> Packed:
    """Whole numbers, packed if they are small enough.

    >>> counts(np.array([1, 200])), counts(np.array([70_000]))
    ({'scale': 1, 'offset': 0, 'packed': 'AQDIAA=='}, {'scale': 1, 'plain': [70000]})
    """
    if values.size and values.max() >= NONE:
        return {"scale": 1, "plain": values.tolist()}
    return {"scale": 1, "offset": 0, "packed": words(values)}


def words(numbers: npt.NDArray[Any]) -> str:
    """Whole numbers below 2^16, with two bytes each, in base64."""
    return b64encode(numbers.astype("<u2").tobytes()).decode()


def packed(values: npt.NDArray[Any]) -> Packed:
    """The packed numbers of a column."""
    return counts(values) if values.dtype.kind in "iu" else share(values)


def query_table(
    ids: npt.NDArray[Any],
    order: npt.NDArray[np.int64],
    groups: npt.NDArray[Any] | None,
    choices: Sequence[Choice],
    fixed: Mapping[str, npt.NDArray[Any]],
    heads: Mapping[str, str],
    flag: str | None = None,
) -> QueryTable:
    """The table of all queries in a given order; if room is short, measures are left out first, then queries.

    groups : the category of each query; None if there are no categories
    heads : the columns of a choice, with their meaning
    """
    order = order[:MOST]
    names = with_room([printable(name) for name in ids[order].tolist()])
    order = order[: len(names)]
    kinds = None if groups is None else [printable(name) for name in groups[order].tolist()]
    unique = sorted(set(kinds or ()))
    room = CHARACTERS - sum(map(letters, names)) - sum(map(letters, unique))
    columns = {name: packed(values[order]) for name, values in fixed.items()}
    room -= sum(map(size_of, columns.values()))
    kept: list[dict[str, Any]] = []
    for choice in choices:
        filled = [None if column is None else packed(column[order]) for column in choice.columns]
        taken = sum(map(size_of, filled))
        if kept and taken > room:
            continue
        room -= taken
        kept.append({"name": choice.name, "columns": filled})
    names_kept = [choice["name"] for choice in kept]
    titles = ("query", *(() if kinds is None else ("category",)), *heads, *fixed)
    place = {name: at for at, name in enumerate(unique)}
    return QueryTable(
        heads=titles,
        hints=("", *(() if kinds is None else ("",)), *heads.values(), *("" for _ in fixed)),
        rows=[list(row) for row in text_rows(names, kinds, choices[0], list(fixed.values()), order)],
        data={
            "ids": names,
            "groups": None if kinds is None else {"names": unique, "of": counts(np.array([place[k] for k in kinds]))},
            "choices": kept,
            "fixed": list(columns.values()),
        },
        total=len(ids),
        kept=len(order),
        left_out=tuple(choice.name for choice in choices if choice.name not in names_kept),
        flag=None if flag is None else list(fixed).index(flag),
    )


def with_room(names: Sequence[str]) -> Sequence[str]:
    """The first names, as many as fit into half of the room."""
    taken = 0
    for count, name in enumerate(names):
        taken += letters(name)
        if taken > CHARACTERS // 2:
            return names[:count]
    return names


def letters(name: str) -> int:
    """The number of characters of a name in the page."""
    return len(name.encode()) + 3


def size_of(column: Packed | None) -> int:
    """The approximate number of characters of a column in the page."""
    if column is None:
        return 0
    return len(column["packed"]) if "packed" in column else 7 * len(column["plain"])


def text_rows(
    names: Sequence[str],
    kinds: Sequence[str] | None,
    choice: Choice,
    fixed: Sequence[npt.NDArray[Any]],
    order: npt.NDArray[np.int64],
) -> Iterator[Iterator[str]]:
    """The cells of the first rows."""
    columns: list[Sequence[str]] = [names[:ROWS]] + ([] if kinds is None else [kinds[:ROWS]])
    for values in [*choice.columns, *fixed]:
        columns.append(columns[-1] if values is None else texts(values[order[:ROWS]]))
    return (iter(row) for row in zip(*columns, strict=True))


def texts(values: npt.NDArray[Any]) -> list[str]:
    """Numbers as texts, in the format of the page."""
    if values.dtype.kind in "iu":
        return [f"{value:,}" for value in values.tolist()]
    return ["–" if value != value else f"{round(value, 4) + 0.0:.4f}" for value in values.tolist()]
