"""How Python calls a kernel: a stub has annotations and a docstring; `native` converts the arguments and calls.

An array of any dtype is passed as the struct `Array`. A named tuple of arrays and numbers is passed as a pointer to a
struct with the same fields in the same order. Several results are returned as a struct. If an array of `Any` is among
the arguments or their fields, the kernel is generic: it exists for several element types, all such arrays have the
same type, and the type is the end of its name (`find_in_rows_float`). Arrays that a kernel writes to are annotated as
`Output`. `conversions.py` converts the arguments.

The library is the one for the highest level of processor that this machine has. The environment variable
TIEPROOF_PROCESSOR selects another level, such as x86-64-v3. Every level gives the same bits, and tests compare them.
TIEPROOF_KERNELS selects another folder of libraries, such as libraries with sanitizers.
"""

import ctypes
import os
import typing
from collections.abc import Callable
from functools import cache, wraps
from types import NoneType
from typing import Any, ParamSpec, TypeVar

import numpy as np

from tieproof.errors import TieproofError
from tieproof.native import conversions
from tieproof.native.building import FOLDER, library_file, sources_digest, this_machine
from tieproof.native.conversions import NUMBERS, Element
from tieproof.native.conversions import Output as Output

WANTED = "TIEPROOF_PROCESSOR"
ELSEWHERE = "TIEPROOF_KERNELS"

P = ParamSpec("P")
R = TypeVar("R")
Named = TypeVar("Named", bound=tuple[Any, ...])

NAMES: dict[Element, str] = {
    np.dtype(np.float64): "double",
    np.dtype(np.float32): "float",
    np.dtype(np.int64): "long",
    np.dtype(np.int32): "int",
    np.dtype(np.int8): "char",
    np.dtype(np.uint64): "word",
    np.dtype(np.uint32): "place",
    np.dtype(np.uint16): "short",
    np.dtype(np.uint8): "byte",
    np.dtype(np.bool_): "byte",
}
"""The element types and their names in C: a `Doubles` has elements of type double."""


@cache
def best_library() -> ctypes.CDLL:
    """The library, loaded once."""
    levels = levels_of_this_machine()
    wanted = os.environ.get(WANTED) or levels[-1]
    if wanted not in levels:
        raise TieproofError(
            f"{WANTED} is {wanted!r}, but this machine has only {', '.join(levels)}. Choose one of them."
        )
    return load(wanted)


@cache
def levels_of_this_machine() -> tuple[str, ...]:
    """The levels of processor that this machine supports, the highest last."""
    levels = this_machine().levels
    if len(levels) == 1:
        return levels
    highest = load(levels[0]).processor_level()
    some = tuple(level for level in levels if int(level[-1]) <= highest)
    if not some:
        raise TieproofError(f"This processor is older than {levels[0]}, which tieproof needs.")
    return some


@cache
def load(level: str) -> ctypes.CDLL:
    """The library for a level; refused if it was not compiled from the sources in this folder."""
    file = library_file(level, this_machine().suffix, os.environ.get(ELSEWHERE) or FOLDER)
    if not os.path.exists(file):
        raise TieproofError(f"{file} does not exist. Run `make kernels`, or install tieproof again.")
    library = ctypes.CDLL(file)
    library.made_of.restype = library.flags.restype = ctypes.c_char_p
    if sources_digest() not in (None, library.made_of().decode()):
        raise TieproofError(f"{file} was not compiled from the sources next to it. Run `make kernels`.")
    return library


def native(function: Callable[P, R]) -> Callable[P, R]:
    """A function that calls the kernel with the name of `function`, with arguments of the annotated types.

    An array of a wrong dtype raises TypeError with its name. That is a defect of the caller, because users' arrays
    are checked before.
    """
    kernel: Callable[[tuple[Any, ...]], Any] | None = None

    @wraps(function)
    def call(*arguments: Any) -> Any:
        nonlocal kernel
        if kernel is None:  # found at the first call, so that importing is fast
            kernel = resolved(function, best_library())
        return kernel(arguments)

    return call  # type: ignore[return-value]


def packed(value: Named) -> Named:
    """A copy of a named tuple that is converted once and can be passed to many calls of kernels."""
    kind: Any = type(value)
    path = conversions.path_to_generic(kind)
    element = None if path is None else _element_at((value,), path)
    subclass, convert = _packing(kind, element)
    made = subclass._make(value)
    made.packed = conversions.Packed(element, convert((value,))[0])
    copied: Named = made
    return copied


@cache
def _packing(kind: Any, element: Element | None) -> tuple[Any, Callable[[tuple[Any, ...]], Any]]:
    """A subclass of this named tuple that can also store its packed form, and the function that makes this form."""
    subclass = type(kind.__name__, (kind,), {"__doc__": kind.__doc__})
    return subclass, conversions.converter([conversions.argument(kind, kind.__name__, element)], (kind,), element)


def resolved(function: Callable[..., Any], of: ctypes.CDLL) -> Callable[[tuple[Any, ...]], Any]:
    """The kernel of a stub in a library, which takes its arguments as one tuple."""
    hints = typing.get_type_hints(function, include_extras=True)
    returned, name = hints.pop("return"), function.__name__
    path = next(conversions.paths_to_generic(tuple(hints.values())), None)
    if path is None:
        return _prototype(of[name], hints, returned, None)
    known = {element: ending for element, ending in NAMES.items() if hasattr(of, f"{name}_{ending}")}
    kernels: dict[Element, Callable[[tuple[Any, ...]], Any]] = {}

    def choose(arguments: tuple[Any, ...]) -> Any:
        element = _element_at(arguments, path)
        if element not in kernels:
            if element not in known:
                raise TypeError(f"{name} exists for {', '.join(map(str, known))}, not for {element}.")
            kernels[element] = _prototype(of[f"{name}_{known[element]}"], hints, returned, element)
        return kernels[element](arguments)

    return choose


def _element_at(values: Any, path: tuple[int, ...]) -> Element:
    """The element type of the array at this path in arguments and the fields of named tuples."""
    for place in path:
        values = values[place]
    element: Element = values.dtype
    return element


def _prototype(
    kernel: Any, hints: dict[str, Any], returned: Any, element: Element | None
) -> Callable[[tuple[Any, ...]], Any]:
    """Declare the types of a C function, and return a function that calls it; generic arrays have type `element`."""
    taken = [conversions.argument(hint, f"{kernel.__name__}: {name}", element) for name, hint in hints.items()]
    kernel.argtypes = [kind for kind, _ in taken]
    made: Callable[..., Any] | None = None
    if returned is NoneType:
        kernel.restype = None
    elif returned in NUMBERS:
        kernel.restype = NUMBERS[returned][0]
    else:
        kernel.restype = conversions.layout(returned)
        made = returned._make if conversions.is_named_tuple(returned) else tuple
    convert = conversions.converter(taken, tuple(hints.values()), element)

    def call(arguments: tuple[Any, ...]) -> Any:
        result = kernel(*convert(arguments))
        return result if made is None else made([getattr(result, field[0]) for field in result._fields_])

    return call
