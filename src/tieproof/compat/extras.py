"""Import libraries that only some of the interfaces need."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from tieproof.errors import MissingExtraError


def need(library: str, what: str, extra: str) -> Any:
    """Import and return a library; if it is missing, the error says which extra `what` needs.

    >>> need("numpy", "This example", "numpy").__name__
    'numpy'
    """
    if find_spec(library.partition(".")[0]) is None:
        raise MissingExtraError(what, extra)
    return import_module(library)
