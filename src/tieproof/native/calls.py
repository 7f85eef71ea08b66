"""How Python calls a kernel: a stub has annotations and a docstring; `native` converts the arguments and calls.

An array of any dtype is passed as the struct `Array`. A named tuple of arrays and numbers is passed as a pointer to a
struct with the same fields in the same order. Several results are returned as a struct. If an array of `Any` is among
the arguments or their fields, the kernel is generic: it exists for several element types, all such arrays have the
same type, and the type is the end of its name (`find_in_rows_float`). Arrays that a kernel writes to are annotated as
`Output`.
"""

import ctypes
import math
import struct
import typing
from collections.abc import Callable, Iterator
from functools import cache, wraps
from operator import index
from types import NoneType
from typing import Annotated, Any, NamedTuple, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from tieproof.native.loading import best_library

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
Named = TypeVar("Named", bound=tuple[Any, ...])

WRITTEN = "a kernel writes to it"
Output = Annotated[T, WRITTEN]
"""An array that a kernel writes to, or a named tuple of such arrays; a read-only array is refused."""

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
"""The element types and their names in C: a `Doubles` has elements of type double."""


class Array(ctypes.Structure):
    """An array as kernels receive it; `kernels/array.h` describes the fields."""

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
_start = (ctypes.c_char * 0).from_buffer  # an eighth of the time of `array.ctypes.data`


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


class Packed(NamedTuple):
    """A named tuple as kernels receive it: the element type of its generic arrays, if it has any, and its fields."""

    element: Element | None
    fields: bytes


def packed(value: Named) -> Named:
    """A copy of a named tuple that is converted once and can be passed to many calls of kernels."""
    kind: Any = type(value)
    path = _path_to_generic(kind)
    element = None if path is None else _element_at((value,), path)
    made: Any = _with_room_for_packed(kind)._make(value)
    made.packed = Packed(element, packing(layout(kind)).pack(*reader(kind, kind.__name__, element)(value)))
    copied: Named = made
    return copied


@cache
def _with_room_for_packed(kind: Any) -> Any:
    """A subclass of this named tuple that can also store its packed form."""
    return type(kind.__name__, (kind,), {"__doc__": kind.__doc__})


def resolved(function: Callable[..., Any], of: ctypes.CDLL) -> Callable[[tuple[Any, ...]], Any]:
    """The kernel of a stub in a library, which takes its arguments as one tuple."""
    hints = typing.get_type_hints(function, include_extras=True)
    returned, name = hints.pop("return"), function.__name__
    path = next(paths_to_generic(tuple(hints.values())), None)
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


@cache
def _path_to_generic(kind: Any) -> tuple[int, ...] | None:
    """The path of the first generic array in a named tuple of this kind, if it is the only argument."""
    return next(paths_to_generic((kind,)), None)


def _element_at(values: Any, path: tuple[int, ...]) -> Element:
    """The element type of the array at this path in arguments and the fields of named tuples."""
    for place in path:
        values = values[place]
    element: Element = values.dtype
    return element


def paths_to_generic(hints: tuple[Any, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the paths of generic arrays in arguments and in the fields of named tuples."""
    for place, hint in enumerate(map(_unmarked, hints)):
        if is_array(hint) and element_of(hint) is None:
            yield (place,)
        elif is_named_tuple(hint):
            for path in paths_to_generic(tuple(_fields_of(hint).values())):
                yield (place, *path)


def _prototype(
    kernel: Any, hints: dict[str, Any], returned: Any, element: Element | None
) -> Callable[[tuple[Any, ...]], Any]:
    """Declare the types of a C function, and return a function that calls it; generic arrays have type `element`."""
    taken = [argument(hint, f"{kernel.__name__}: {name}", element) for name, hint in hints.items()]
    kernel.argtypes = [kind for kind, _ in taken]
    made: Callable[..., Any] | None = None
    if returned is NoneType:
        kernel.restype = None
    elif returned in NUMBERS:
        kernel.restype = NUMBERS[returned][0]
    else:
        kernel.restype = layout(returned)
        made = returned._make if is_named_tuple(returned) else tuple

    def call(arguments: tuple[Any, ...]) -> Any:
        converted = []
        for (kind, convert), value in zip(taken, arguments, strict=True):
            one = convert(value)
            converted.append(_array_of(_pack_array(*one)) if kind is Array else one)
        result = kernel(*converted)
        return result if made is None else made([getattr(result, field[0]) for field in result._fields_])

    return call


def argument(hint: Any, where: str, element: Element | None) -> tuple[Any, Callable[[Any], Any]]:
    """The C type of an argument, and the function that converts a value; errors name the argument by `where`.

    An array is converted to its fields, because one loop makes the structs of all arguments faster.
    """
    only, _ = without_none(hint)
    if only in NUMBERS:
        return NUMBERS[only]
    read = reader(hint, where, element)
    if not is_named_tuple(only):
        return Array, read
    pack, wanted = packing(layout(only)).pack, None if _path_to_generic(only) is None else element

    def struct_of(value: Any) -> bytes:
        known: Packed | None = getattr(value, "packed", None)
        return pack(*read(value)) if known is None or known.element != wanted else known.fields

    return ctypes.c_char_p, struct_of


@cache
def reader(hint: Any, where: str, element: Element | None, is_written: bool = False) -> Callable[[Any], Any]:
    """The function that converts an array or a named tuple to a flat list of the fields of all structs in it."""
    is_written |= hint is not _unmarked(hint)
    hint, optional = without_none(hint)
    if is_named_tuple(hint):
        parts = [
            None if without_none(part)[0] in NUMBERS else reader(part, f"{where}.{name}", element, is_written)
            for name, part in _fields_of(hint).items()
        ]

        def fields_of_all(value: Any) -> list[Any]:
            fields: list[Any] = []
            for read, part in zip(parts, value, strict=True):
                if read is None:
                    fields.append(part)
                else:
                    fields += read(part)
            return fields

        return fields_of_all

    wanted = element_of(hint) or element
    between = 0 if wanted is None else wanted.alignment - 1  # the bits of an address between two elements

    def fields_of_array(array: Any) -> Fields:
        if array is None and optional:
            return ABSENT
        try:
            if array.dtype is wanted and not (at := _address(_start(array))) & between:
                if array.ndim == 1:
                    return at, len(array), 1, 1
                columns = math.prod(array.shape[1:])
                return at, len(array), columns, columns
        except (AttributeError, TypeError, ValueError, BufferError):
            pass  # this is no array, or it is read-only, or its rows are not contiguous
        given = getattr(array, "dtype", None)
        if given != wanted:
            raise TypeError(f"{where} must be an array of {wanted}, not of {given or type(array).__name__}.")
        if is_written and not array.flags.writeable:
            raise TypeError(f"{where} is written to, but the array is read-only.")
        if not array.flags.aligned:
            raise TypeError(f"{where} must be aligned in memory; copy the array.")
        return _fields_of_view(array, where)

    return fields_of_array


def _fields_of_view(array: npt.NDArray[Any], where: str) -> Fields:
    """The fields of an array that is read-only, or whose rows are not contiguous."""
    at, stride = array.__array_interface__["data"][0], 1
    columns = math.prod(array.shape[1:])
    if array.flags.c_contiguous:
        stride = columns
    elif array.ndim > 1 and array[0].flags.c_contiguous and array.strides[0] % array.itemsize == 0:
        stride = array.strides[0] // array.itemsize
    else:
        raise TypeError(f"{where} must have contiguous rows; its strides are {array.strides}.")
    return at, array.shape[0], columns, stride


@cache
def _fields_of(hint: Any) -> dict[str, Any]:
    """The fields of a named tuple, and their types."""
    return typing.get_type_hints(hint, include_extras=True)


@cache
def layout(hint: Any) -> type[ctypes.Structure]:
    """The struct of a named tuple, or of a tuple of results."""
    parts = _fields_of(hint).items() if is_named_tuple(hint) else enumerate(typing.get_args(hint))
    fields = [(str(name), kind(without_none(part)[0])) for name, part in parts]
    return type(getattr(hint, "__name__", "tuple"), (ctypes.Structure,), {"_fields_": fields})


def kind(hint: Any) -> Any:
    """The type of a field in C."""
    if hint in NUMBERS:
        return NUMBERS[hint][0]
    return layout(hint) if is_named_tuple(hint) else Array


@cache
def packing(of: type[ctypes.Structure]) -> struct.Struct:
    """The packer of a flat list of the fields of a struct and of nested structs."""
    code, end = "<", 0
    for start, field in leaves(of):
        code += f"{start - end}x{CODES[field]}"
        end = start + ctypes.sizeof(field)
    return struct.Struct(f"{code}{ctypes.sizeof(of) - end}x")


def leaves(of: type[ctypes.Structure], start: int = 0) -> Iterator[tuple[int, Any]]:
    """Yield the offset and the type of each field, including the fields of nested structs."""
    for name, field, *_ in of._fields_:
        offset = start + getattr(of, name).offset
        if issubclass(field, ctypes.Structure):
            yield from leaves(field, offset)
        else:
            yield offset, field


def _unmarked(hint: Any) -> Any:
    """A type without the mark that a kernel writes to it."""
    return typing.get_args(hint)[0] if typing.get_origin(hint) is Annotated else hint


def without_none(hint: Any) -> tuple[Any, bool]:
    """A type without None and without NumPy's integers in a union with Python's, and whether it included None."""
    hint = _unmarked(hint)
    parts = typing.get_args(hint)
    if is_array(hint) or (NoneType not in parts and int not in parts):
        return hint, False
    (only,) = (part for part in parts if part is not NoneType and part is not np.int64)
    return only, NoneType in parts


def is_named_tuple(hint: Any) -> bool:
    """Whether a type is a named tuple."""
    return isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields")


def is_array(hint: Any) -> bool:
    """Whether a type is an array."""
    return typing.get_origin(_without_alias(hint)) is np.ndarray


def _without_alias(hint: Any) -> Any:
    """A type without aliases: from NumPy 2.5 on, `NDArray[np.int64]` is an alias of `np.ndarray[…]`."""
    alias = typing.get_origin(hint)
    return alias.__value__[typing.get_args(hint)] if hasattr(alias, "__value__") else hint


@cache
def element_of(hint: Any) -> Element | None:
    """The element type of an array; None for a generic array."""
    (scalar,) = typing.get_args(typing.get_args(_without_alias(hint))[1])
    return np.dtype(scalar) if isinstance(scalar, type) and issubclass(scalar, np.generic) else None
