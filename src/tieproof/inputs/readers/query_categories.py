"""The categories of queries: one line for each, with the query's id and its category."""

import os
from pathlib import Path

from tieproof.errors import InputError
from tieproof.inputs.readers.damage import reading
from tieproof.inputs.readers.location import check
from tieproof.inputs.readers.text import ENCODING

KIND = "UTF-8 text with a query and its category on each line"


def read(location: str | os.PathLike[str]) -> dict[str, str]:
    r"""Read the category of each query; it goes on to the end of the line, and may hold blanks.

    Raises InputError, with the line, where a line has no category, or a query has two.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "categories.txt").write_text("q1 short question\nq2\tclaim\n")
    ...     read(f"{folder}/categories.txt")
    {'q1': 'short question', 'q2': 'claim'}
    """
    path = Path(location)
    check(path)
    with reading(path, KIND), path.open(encoding=ENCODING) as file:
        lines = [line.strip() for line in file]
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        query, *rest = line.split(None, 1) or [""]
        if line and not rest:
            raise InputError(
                f"{path} has no category on line {number}: '{line}'. A line has a query and its category."
            )
        if line and found.setdefault(query, rest[0]) != rest[0]:
            raise InputError(
                f"{path} has query '{query}' a second time on line {number}, as '{rest[0]}' instead of "
                f"'{found[query]}'. Keep one of them."
            )
    if not found:
        raise InputError(f"{path} has empty lines only. A line has a query and its category.")
    return found
