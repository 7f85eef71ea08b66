"""How every kernel is compiled: without the interpreter lock, with IEEE arithmetic, once per machine."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numba

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function`; the machine code is kept on disk, where that can be written, for later processes.

    Parallelism is the engine's business (its thread pool), and reordering of sums nobody's: a bound is proven
    for the arithmetic as written.
    """
    try:
        compiled: Callable[P, R] = numba.njit(nogil=True, fastmath=False, cache=True)(function)
    except RuntimeError:  # numba finds no folder that it may write
        compiled = numba.njit(nogil=True, fastmath=False, cache=False)(function)
    return compiled
