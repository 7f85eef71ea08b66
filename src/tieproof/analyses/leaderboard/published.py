"""The published numbers of systems: read from a file of lines, and matched with the names of systems."""

import io
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tieproof.errors import InputError
from tieproof.inputs.readers.lines import is_number
from tieproof.inputs.readers.location import check, reading
from tieproof.measures import Measure, parse

_KIND = "UTF-8 text with a system and its published number on each line, or with a system, a measure and a number"


def read_published(location: str | os.PathLike[str], measure: Measure) -> dict[str, float]:
    """Return the published number of each system for a measure.

    A line has the name of a system and its number, or a name, a measure and a number, between tabs, or between blanks
    if there is no tab. Empty lines, lines that begin with #, and the numbers of other measures are left out.
    """
    path = Path(location)
    check(path)
    with reading(path, _KIND), path.open("rb") as file, io.TextIOWrapper(file, "utf-8-sig") as text:
        lines = [line.strip() for line in text]
    numbers: dict[str, float] = {}
    others: dict[str, None] = {}
    for place, line in enumerate(lines, 1):
        if not line or line.startswith("#"):
            continue
        *before, number = (cell.strip() for cell in line.split("\t" if "\t" in line else None))
        if len(before) not in (1, 2) or not is_number(number) or not math.isfinite(float(number)):
            raise InputError(
                f"{path} has '{line}' on line {place}. A line has a system and its published number, or a system, a "
                "measure and a number, with tabs or blanks between them; the number must be finite."
            )
        name, *measures = before
        if measures and not _is(measures[0], measure):
            others[measures[0]] = None
        elif numbers.setdefault(name, float(number)) != float(number):
            raise InputError(f"{path} has a second number of '{name}' on line {place}. Keep one of them.")
    if not numbers:
        known = f"; it has numbers for {', '.join(others)}" if others else ""
        raise InputError(f"{path} has no published number for {measure}{known}.")
    return numbers


def _is(name: str, measure: Measure) -> bool:
    try:
        return parse(name) == measure
    except InputError:  # a measure that tieproof does not have
        return False


def published_of(published: Any, names: Sequence[str]) -> tuple[dict[str, float], list[str]]:
    """Return the published number of each system that has one, and a sentence on those of no system.

    A number is that of the system with its name, or of the one whose name ends in a dot and this name.
    """
    if published is None:
        return {}, []
    if not isinstance(published, Mapping) or not all(map(_is_entry, published.items())):
        raise InputError(
            f"published must be {{name: number}} with finite numbers, not {published!r:.80}.", "published"
        )
    found: dict[str, float] = {}
    strange = []
    for given in sorted(published, key=len):  # so that the longest name of a system counts
        meant = [name for name in names if name == given] or [name for name in names if name.endswith(f".{given}")]
        if len(meant) > 1:
            raise InputError(
                f"The published number of '{given}' may be that of {' or '.join(meant[:2])}; write the whole name.",
                "published",
            )
        strange += [] if meant else [given]
        found |= {name: float(published[given]) for name in meant}
    if not found:
        raise InputError(
            f"No published number is of a system: they are of '{next(iter(published), '')}' and others, and the "
            f"runs are of systems such as '{names[0]}'.",
            "published",
        )
    in_order = [name for name in published if name in strange]
    return found, [f"Published numbers without a run: {', '.join(in_order)}."] if in_order else []


def _is_entry(entry: tuple[Any, Any]) -> bool:
    try:
        return isinstance(entry[0], str) and math.isfinite(entry[1])
    except TypeError:
        return False
