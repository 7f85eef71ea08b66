"""Numbered names, such as f0, f1, f2, which the columns of a table have if they are dimensions."""

import re
from collections import defaultdict
from collections.abc import Collection, Sequence

NUMBERED = re.compile(r"(.*?)([0-9]{1,9})", re.DOTALL)


def outside(names: Sequence[str], known: Collection[str] = ()) -> list[str]:
    """Return the names outside the series of a common beginning and consecutive numbers, in any order.

    known : other names, which may fill gaps

    >>> outside(["f0", "f1", "species"]), outside(["x2", "x1", "x4"], ["x3", "label"]), outside(["f0", "f2"])
    (['species'], [], ['f0', 'f2'])
    """
    series: dict[str, list[int]] = defaultdict(list)
    for start, number in filter(None, map(_numbered, names)):
        series[start].append(number)
    longest = max(series, key=lambda start: len(series[start]), default="")
    found = series[longest]
    if not found or len(found) == 1 < len(names):
        return list(names)
    counted = {number for start, number in filter(None, map(_numbered, [*names, *known])) if start == longest}
    if len(set(found)) < len(found) or not all(at in counted for at in range(min(found), max(found))):
        return list(names)
    return [name for name in names if (_numbered(name) or (None,))[0] != longest]


def _numbered(name: str) -> tuple[str, int] | None:
    """Return the beginning of a name and the number at its end, or None without a number."""
    match = NUMBERED.fullmatch(name.strip())
    return (match[1], int(match[2])) if match else None
