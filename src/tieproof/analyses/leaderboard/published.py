"""Reads the published numbers of systems from a file of lines."""

import io
import os
from pathlib import Path

from tieproof.errors import InputError
from tieproof.inputs.readers.lines import is_number
from tieproof.inputs.readers.location import check, reading
from tieproof.measures import Measure, parse

_KIND = "UTF-8 text with a system and its published number on each line, or with a system, a measure and a number"


def read_published(location: str | os.PathLike[str], measure: Measure) -> dict[str, float]:
    """Return the published number of each system for a measure.

    A line has the name of a system and its number, or a name, a measure and a number, between tabs, or between blanks
    if there is no tab. Empty lines, lines that begin with #, and the numbers of other measures are left out.

    Raises InputError, with the line, for other lines, for a second number of a system, and if there is no number.
    """
    path = Path(location)
    check(path)
    with reading(path, _KIND), path.open("rb") as file, io.TextIOWrapper(file, "utf-8-sig") as text:
        lines = [line.strip() for line in text]
    numbers: dict[str, float] = {}
    for place, line in enumerate(lines, 1):
        if not line or line.startswith("#"):
            continue
        *before, number = (cell.strip() for cell in line.split("\t" if "\t" in line else None))
        if len(before) not in (1, 2) or not is_number(number):
            raise InputError(
                f"{path} has '{line}' on line {place}. A line has a system and its published number, or a system, a "
                "measure and a number, with tabs or blanks between them."
            )
        name, *measures = before
        if measures and parse(measures[0]) != measure:
            continue
        if numbers.setdefault(name, float(number)) != float(number):
            raise InputError(f"{path} has a second number of '{name}' on line {place}. Keep one of them.")
    if not numbers:
        raise InputError(f"{path} has no published number for {measure}.")
    return numbers
