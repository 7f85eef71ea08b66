"""The kernels of each library; there is one library for each processor level."""

from collections.abc import Callable
from functools import cache
from typing import Any, ParamSpec, TypeVar, cast

from tieproof.distances.codes import MATRIX_UNIT, fastest_way
from tieproof.native.calls import levels_of_this_machine, load, resolved

P = ParamSpec("P")
R = TypeVar("R")

LEVELS = levels_of_this_machine()
WAYS = tuple(range(max(2, fastest_way()) + 1))  # to multiply codes, as fast as a processor can


def width_for(way: int) -> int:
    """A number of codes of a row that can be multiplied in this way."""
    return 64 if way == MATRIX_UNIT else 12


def at(level: str, kernel: Callable[P, R]) -> Callable[P, R]:
    """The kernel in the library for a processor level."""
    call = in_library(level, kernel)
    return lambda *arguments, **_: cast(R, call(arguments))


@cache
def in_library(level: str, kernel: Callable[..., Any]) -> Callable[[tuple[Any, ...]], Any]:
    """The kernel, which takes its arguments as one tuple."""
    return resolved(kernel.__wrapped__, load(level))  # type: ignore[attr-defined]
