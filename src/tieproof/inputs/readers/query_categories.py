"""The categories of queries: one line for each, with the query's id and its category."""

import os

from tieproof.inputs.readers import named_lines


def read(location: str | os.PathLike[str]) -> dict[str, str]:
    """Read the category of each query; see `named_lines.read`."""
    return named_lines.read(location, "query", "category")
