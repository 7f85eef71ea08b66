"""How Python calls a kernel: a stub has annotations and a docstring, `native` looks at the arguments and calls.

An array crosses as the struct `Array`, whatever its type; a named tuple of arrays and numbers as a pointer to a
struct of the same fields in the same order; several results come back as a struct. Where an array of `Any` is among
the arguments or their fields the kernel is generic: it is there for several types of elements, the same one for all
such arrays, and the type is the end of its name (`find_in_rows_float`).
"""

import ctypes
import math
import struct
import typing
from collections.abc import Callable, Iterator
from functools import cache, wraps
from operator import index
from types import NoneType
from typing import Any, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from tieproof.native.loading import best_library

P = ParamSpec("P")
R = TypeVar("R")
Element = np.dtype[Any]

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
"""Types of elements, and their names in C: a `Doubles` has elements of type double."""


class Array(ctypes.Structure):
    """An array as kernels see it; `kernels/array.h` says what the fields are."""

    _fields_ = (
        ("at", ctypes.c_void_p),
        ("length", ctypes.c_int64),
        ("columns", ctypes.c_int64),
        ("stride", ctypes.c_int64),
    )


Fields = tuple[int, int, int, int]
ABSENT: Fields = (0, 0, 1, 1)

CODES: dict[Any, str] = {ctypes.c_void_p: "Q", ctypes.c_int64: "q", ctypes.c_double: "d", ctypes.c_bool: "?"}
NUMBERS: dict[Any, tuple[Any, Callable[[Any], Any]]] = {
    int: (ctypes.c_int64, index),
    float: (ctypes.c_double, float),
    bool: (ctypes.c_bool, bool),
}

_pack_array = struct.Struct("<Qqqq").pack
_array_of = Array.from_buffer_copy
_address = ctypes.addressof
_start = (ctypes.c_char * 0).from_buffer  # a fifth of the time of `array.ctypes.data`


def native(function: Callable[P, R]) -> Callable[P, R]:
    """The kernel with the name of `function`, called with arguments as that is annotated, in their order.

    A wrong type of an array is a TypeError that names it: a defect of the caller, for no user hands in such arrays.
    """

    @cache
    def kernel() -> Callable[[tuple[Any, ...]], Any]:  # when it is first called: an import takes no time for it
        return resolved(function, best_library())

    @wraps(function)
    def call(*arguments: Any) -> Any:
        return kernel()(arguments)

    return call  # type: ignore[return-value]


def resolved(function: Callable[..., Any], of: ctypes.CDLL) -> Callable[[tuple[Any, ...]], Any]:
    """The kernel of a stub in a library, which takes its arguments as one tuple."""
    hints = typing.get_type_hints(function)
    returned, name = hints.pop("return"), function.__name__
    path = next(paths_to_generic(tuple(hints.values())), None)
    if path is None:
        return prototype(of[name], hints, returned, None)
    known = {element: ending for element, ending in NAMES.items() if hasattr(of, f"{name}_{ending}")}
    kernels: dict[Element, Callable[[tuple[Any, ...]], Any]] = {}

    def choose(arguments: tuple[Any, ...]) -> Any:
        array: Any = arguments
        for place in path:
            array = array[place]
        element = array.dtype
        if element not in kernels:
            if element not in known:
                raise TypeError(f"{name} is there for {', '.join(map(str, known))}, not for {element}.")
            kernels[element] = prototype(of[f"{name}_{known[element]}"], hints, returned, element)
        return kernels[element](arguments)

    return choose


def paths_to_generic(hints: tuple[Any, ...]) -> Iterator[tuple[int, ...]]:
    """Where in arguments, and in the fields of named tuples, arrays of any type are."""
    for place, hint in enumerate(hints):
        if typing.get_origin(hint) is np.ndarray and element_of(hint) is None:
            yield (place,)
        elif is_named_tuple(hint):
            for path in paths_to_generic(tuple(fields_of(hint).values())):
                yield (place, *path)


def prototype(
    kernel: Any, hints: dict[str, Any], returned: Any, element: Element | None
) -> Callable[[tuple[Any, ...]], Any]:
    """A function of C with its types; arrays of any type have elements of the type given."""
    taken = [argument(hint, f"{kernel.__name__}: {name}", element) for name, hint in hints.items()]
    kernel.argtypes = [kind for kind, _ in taken]
    takers = [take for _, take in taken]
    made: Callable[..., Any] | None = None
    if returned is NoneType:
        kernel.restype = None
    elif returned in NUMBERS:
        kernel.restype = NUMBERS[returned][0]
    else:
        kernel.restype = layout(returned)
        made = returned._make if is_named_tuple(returned) else tuple

    def call(arguments: tuple[Any, ...]) -> Any:
        result = kernel(*[take(value) for take, value in zip(takers, arguments, strict=True)])
        return result if made is None else made(getattr(result, field[0]) for field in result._fields_)

    return call


def argument(hint: Any, where: str, element: Element | None) -> tuple[Any, Callable[[Any], Any]]:
    """The type of an argument in C, and what makes it of a value; errors say `where` it is."""
    only, _ = without_none(hint)
    if only in NUMBERS:
        return NUMBERS[only]
    fields = reader(hint, where, element)
    if is_named_tuple(only):
        pack = packing(layout(only)).pack
        return ctypes.c_char_p, lambda value: pack(*fields(value))
    return Array, lambda value: _array_of(_pack_array(*fields(value)))


def reader(hint: Any, where: str, element: Element | None) -> Callable[[Any], Any]:
    """What makes of a value the fields of its struct, and of those within it, in a row."""
    hint, optional = without_none(hint)
    if hint in NUMBERS:
        return lambda value: (value,)
    if is_named_tuple(hint):
        parts = [reader(part, f"{where}.{name}", element) for name, part in fields_of(hint).items()]

        def fields_of_all(value: Any) -> list[Any]:
            fields: list[Any] = []
            for read, part in zip(parts, value, strict=True):
                fields += read(part)
            return fields

        return fields_of_all

    wanted = element_of(hint) or element

    def fields_of_array(array: Any) -> Fields:
        if array is None and optional:
            return ABSENT
        found = getattr(array, "dtype", None)
        if found is not wanted and found != wanted:
            raise TypeError(f"{where} must be an array of {wanted}, not of {found or type(array).__name__}.")
        try:
            at = _address(_start(array))
        except (TypeError, ValueError, BufferError):
            return fields_of_view(array, where)
        shape = array.shape
        if len(shape) == 1:
            return at, shape[0], 1, 1
        columns = math.prod(shape[1:])
        return at, shape[0], columns, columns

    return fields_of_array


def fields_of_view(array: npt.NDArray[Any], where: str) -> Fields:
    """The fields of an array that is read-only, or has something between its rows."""
    at, stride = array.__array_interface__["data"][0], 1
    columns = math.prod(array.shape[1:])
    if array.flags.c_contiguous:
        stride = columns
    elif array.ndim > 1 and array[0].flags.c_contiguous and array.strides[0] % array.itemsize == 0:
        stride = array.strides[0] // array.itemsize
    else:
        raise TypeError(f"{where} must be contiguous but for its rows; its strides are {array.strides}.")
    return at, array.shape[0], columns, stride


@cache
def fields_of(hint: Any) -> dict[str, Any]:
    """The fields of a named tuple, and their types."""
    return typing.get_type_hints(hint)


@cache
def layout(hint: Any) -> type[ctypes.Structure]:
    """The struct of a named tuple, or of a tuple of results."""
    parts = fields_of(hint).items() if is_named_tuple(hint) else enumerate(typing.get_args(hint))
    fields = [(str(name), kind(without_none(part)[0])) for name, part in parts]
    return type(getattr(hint, "__name__", "tuple"), (ctypes.Structure,), {"_fields_": fields})


def kind(hint: Any) -> Any:
    """The type of a field in C."""
    if hint in NUMBERS:
        return NUMBERS[hint][0]
    return layout(hint) if is_named_tuple(hint) else Array


@cache
def packing(of: type[ctypes.Structure]) -> struct.Struct:
    """What packs the fields of a struct, and of those within it, given in a row."""
    code, end = "<", 0
    for start, field in leaves(of):
        code += f"{start - end}x{CODES[field]}"
        end = start + ctypes.sizeof(field)
    return struct.Struct(f"{code}{ctypes.sizeof(of) - end}x")


def leaves(of: type[ctypes.Structure], start: int = 0) -> Iterator[tuple[int, Any]]:
    """Where each field is, also those of structs within, and its type."""
    for name, field, *_ in of._fields_:
        offset = start + getattr(of, name).offset
        if issubclass(field, ctypes.Structure):
            yield from leaves(field, offset)
        else:
            yield offset, field


def without_none(hint: Any) -> tuple[Any, bool]:
    """A type without None and without NumPy's own numbers beside Python's, and whether there was None."""
    parts = typing.get_args(hint)
    if typing.get_origin(hint) is np.ndarray or (NoneType not in parts and int not in parts):
        return hint, False
    (only,) = (part for part in parts if part is not NoneType and part is not np.int64)
    return only, NoneType in parts


def is_named_tuple(hint: Any) -> bool:
    """Whether a type is a named tuple."""
    return isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields")


def element_of(hint: Any) -> Element | None:
    """The type of the elements of an array; None where that is left open."""
    (scalar,) = typing.get_args(typing.get_args(hint)[1])
    return np.dtype(scalar) if isinstance(scalar, type) and issubclass(scalar, np.generic) else None
