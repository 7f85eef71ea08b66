"""Text files with a name and its value on each line, such as the category of each query."""

import os
from pathlib import Path

from tieproof.errors import InputError
from tieproof.inputs.readers.damage import reading
from tieproof.inputs.readers.location import check
from tieproof.inputs.readers.text import ENCODING


def read(location: str | os.PathLike[str], name: str, value: str) -> dict[str, str]:
    r"""Read the value of each name; a value extends to the end of the line, and may contain blanks.

    name, value : the words for both in messages

    Raises InputError, with the line, if a line has no value, or if a name has two values.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "categories.txt").write_text("q1 short question\nq2\tclaim\n")
    ...     read(f"{folder}/categories.txt", "query", "category")
    {'q1': 'short question', 'q2': 'claim'}
    """
    path, kind = Path(location), f"UTF-8 text with a {name} and its {value} on each line"
    check(path)
    with reading(path, kind), path.open(encoding=ENCODING) as file:
        lines = [line.strip() for line in file]
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        first, *rest = line.split(None, 1) or [""]
        if line and not rest:
            raise InputError(
                f"{path} has no {value} on line {number}: '{line}'. A line has a {name} and its {value}."
            )
        if line and found.setdefault(first, rest[0]) != rest[0]:
            raise InputError(
                f"{path} has {name} '{first}' a second time on line {number}, as '{rest[0]}' instead of "
                f"'{found[first]}'. Keep one of them."
            )
    if not found:
        raise InputError(f"{path} has only empty lines. A line has a {name} and its {value}.")
    return found
