"""How the arguments of a kernel are converted: arrays and numbers of Python to structs of C.

An array becomes the struct `Array`, and a named tuple of arrays and numbers a struct with the same fields in the same
order, to which the kernel receives a pointer. `argument` converts one argument, and names what is wrong with it.
`written_out` converts all arguments of a kernel that is called often, in half of the time.
"""

import ctypes
import math
import struct
import typing
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import chain
from operator import index
from types import NoneType
from typing import Annotated, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

T = TypeVar("T")

WRITTEN = "a kernel writes to it"
Output = Annotated[T, WRITTEN]
"""An array that a kernel writes to, or a named tuple of such arrays; a read-only array is refused."""

Element = np.dtype[Any]


class Array(ctypes.Structure):
    """An array as kernels receive it; `kernels/types.h` describes the fields."""

    _fields_ = (
        ("at", ctypes.c_void_p),
        ("length", ctypes.c_int64),
        ("columns", ctypes.c_int64),
        ("stride", ctypes.c_int64),
    )


Fields = tuple[int, int, int, int]
Converted = tuple[Any, Callable[[Any], Any]]
Convert = Callable[[tuple[Any, ...]], Any]

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


class Packed(NamedTuple):
    """A named tuple as kernels receive it: the element type of its generic arrays, if it has any, and its fields."""

    element: Element | None
    fields: bytes


FEW_CALLS = 8
"""So often arguments are converted one by one; writing a function takes as long as a hundred conversions."""


def converter(taken: Sequence[Converted], hints: tuple[Any, ...], element: Element | None) -> Convert:
    """The function that converts all arguments of a kernel.

    taken : what `argument` returns for each of them
    """
    calls = 0
    quick: Convert | None = None

    def convert(arguments: tuple[Any, ...]) -> Any:
        nonlocal calls, quick
        if calls < FEW_CALLS:
            calls += 1
        else:
            if quick is None:
                quick = written_out(hints, element)
            try:
                return quick(arguments)
            except UNUSUAL:
                pass  # the arguments are converted one by one, or refused by name
        return [one(value) for (_, one), value in zip(taken, arguments, strict=True)]

    return convert


def argument(hint: Any, where: str, element: Element | None) -> Converted:
    """The C type of an argument, and the function that converts a value; errors name the argument by `where`."""
    only, _ = without_none(hint)
    if only in NUMBERS:
        return NUMBERS[only]
    read = reader(hint, where, element)
    if not is_named_tuple(only):
        return Array, lambda array: _array_of(_pack_array(*read(array)))
    pack, wanted = packing(layout(only)).pack, None if path_to_generic(only) is None else element

    def struct_of(value: Any) -> bytes:
        known: Packed | None = getattr(value, "packed", None)
        return pack(*read(value)) if known is None or known.element != wanted else known.fields

    return ctypes.c_char_p, struct_of


UNUSUAL = (AttributeError, TypeError, ValueError, BufferError)
"""What a function of `written_out` raises for arrays that are read-only, or that `argument` refuses."""


@cache
def written_out(hints: tuple[Any, ...], element: Element | None) -> Convert:
    """A function that converts arguments as `argument` does, without loops and calls: in half of the time.

    It takes arrays that may be written to, with contiguous rows, and raises one of `UNUSUAL` for all others.
    """
    names: dict[str, Any] = {"address": _address, "start": _start, "prod": math.prod, "struct_of": _array_of}

    def name(what: Any = None) -> str:
        names[f"x{len(names)}"] = what
        return f"x{len(names) - 1}"

    def parts(hint: Any) -> tuple[str, list[str], list[str]]:
        """The target of a value, the statements that check its arrays, and the fields of its struct."""
        only, optional = without_none(hint)
        if is_named_tuple(only):
            targets, checks, fields = zip(*map(parts, _fields_of(only).values()), strict=True)
            return f"({', '.join(targets)},)", [*chain(*checks)], [*chain(*fields)]
        value, at, columns = name(), name(), name()
        if only in NUMBERS:
            return value, [], [value]
        wanted = element_of(only) or element
        assert wanted is not None
        statements = [
            f"{at} = address(start({value}))",
            f"if {value}.dtype is not {name(wanted)} or {at} & {wanted.alignment - 1}: raise TypeError",
            f"{columns} = 1 if {value}.ndim == 1 else prod({value}.shape[1:])",
        ]
        if optional:
            absent = f"if {value} is None: {value}, {at}, {columns} = (), 0, 1"
            statements = [absent, "else:", *(f" {statement}" for statement in statements)]
        return value, statements, [at, f"len({value})", columns, columns]

    def whole(hint: Any) -> tuple[str, list[str], str]:
        """The target of an argument, the statements that convert it, and the result."""
        only, _ = without_none(hint)
        target, statements, fields = parts(hint)
        if only in NUMBERS:
            return target, [], f"{name(NUMBERS[only][1])}({target})"
        if not is_named_tuple(only):
            return target, statements, f"struct_of({name(_pack_array)}({', '.join(fields)}))"
        value, wanted = name(), None if path_to_generic(only) is None else element
        statements = [f"{target} = {value}", *statements]
        statements.append(f"{value} = {name(packing(layout(only)).pack)}({', '.join(fields)})")
        return (
            value,
            [
                f"if type({value}) is {name(only)}:",
                *(f" {statement}" for statement in statements),
                f"elif {value}.packed.element is {name(wanted)}: {value} = {value}.packed.fields",
                "else: raise TypeError",
            ],
            value,
        )

    targets, statements, results = zip(*map(whole, hints), strict=True)
    body = [f"{', '.join(targets)}, = arguments", *chain(*statements), f"return {', '.join(results)},"]
    exec("def convert(arguments):\n " + "\n ".join(body), names)
    convert: Convert = names["convert"]
    return convert


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

    def fields_of_array(array: Any) -> Fields:
        if array is None and optional:
            return ABSENT
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
    """The fields of an array whose rows are contiguous."""
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
def path_to_generic(kind: Any) -> tuple[int, ...] | None:
    """The path of the first generic array in a named tuple of this kind, if it is the only argument."""
    return next(paths_to_generic((kind,)), None)


def paths_to_generic(hints: tuple[Any, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the paths of generic arrays in arguments and in the fields of named tuples."""
    for place, hint in enumerate(map(_unmarked, hints)):
        if is_array(hint) and element_of(hint) is None:
            yield (place,)
        elif is_named_tuple(hint):
            for path in paths_to_generic(tuple(_fields_of(hint).values())):
                yield (place, *path)


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
