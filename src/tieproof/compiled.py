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
    return compiled(function)


def part(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a part of kernels that only they call. Without an entry from Python it takes less time."""
    return compiled(function, no_cpython_wrapper=True)


def compiled(function: Callable[P, R], **options: bool) -> Callable[P, R]:
    """`function`, compiled when it is first called.

    Every array that a kernel takes and every function of NumPy that it calls adds to the time for that, so kernels
    are given what they read and write, and make nothing themselves.
    """
    options |= {"no_cfunc_wrapper": True}
    try:
        result: Callable[P, R] = numba.njit(nogil=True, fastmath=False, cache=True, **options)(function)
    except RuntimeError:  # numba finds no folder that it may write
        result = numba.njit(nogil=True, fastmath=False, cache=False, **options)(function)
    return result
