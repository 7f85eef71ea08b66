"""Entries from Python to parts of kernels, which have none of their own."""

import inspect
from collections.abc import Callable
from typing import Any

import numba


def entered(part: Callable[..., Any]) -> Callable[..., Any]:
    """A part as a function with an entry; not cached, for it would be taken for the part itself."""
    function: Callable[..., Any] = numba.njit(nogil=True, fastmath=False)(inspect.unwrap(part))
    return function
