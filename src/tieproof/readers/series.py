"""Names that count, such as f0, f1, f2: what the columns of a table are called where they are dimensions."""

import re
from collections import defaultdict
from collections.abc import Collection, Sequence

NUMBERED = re.compile(r"(.*?)([0-9]{1,9})", re.DOTALL)


def outside(names: Sequence[str], known: Collection[str] = ()) -> list[str]:
    """The names that are not of one series: a common beginning and consecutive numbers, in any order.

    known : other names, that may fill gaps

    >>> outside(["f0", "f1", "species"]), outside(["x2", "x1", "x4"], ["x3", "label"]), outside(["f0", "f2"])
    (['species'], [], ['f0', 'f2'])
    """
    numbers: dict[str, list[int]] = defaultdict(list)
    for name in names:
        match = NUMBERED.fullmatch(name.strip())
        if match:
            numbers[match[1]].append(int(match[2]))
    series = max(numbers, key=lambda start: len(numbers[start]), default=None)
    if series is None or len(numbers[series]) == 1 < len(names):
        return list(names)
    found = numbers[series]
    between = {int(match[2]) for match in map(NUMBERED.fullmatch, known) if match and match[1] == series}
    counted = set(found) | between
    consecutive = len(set(found)) == len(found) and all(at in counted for at in range(min(found), max(found)))
    return [name for name in names if not (consecutive and _start(name) == series)]


def _start(name: str) -> str | None:
    match = NUMBERED.fullmatch(name.strip())
    return match[1] if match else None
