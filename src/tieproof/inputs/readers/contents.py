"""Checks of arrays from files that are read as embeddings, labels or confidences."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.arrays import type_name
from tieproof.inputs.identities import exact_below, is_column_of_classes, not_whole
from tieproof.inputs.labels import MOST_BYTES, check_code_points, check_widths
from tieproof.inputs.readers.location import Location
from tieproof.ties import Array

FLOATS = ("float16", "float32", "float64")
MOST_SHOWN = 60


def holds(dtype: np.dtype[Any] | str, shape: Sequence[int]) -> str:
    """Return a type and a shape in words, for messages."""
    return f"{dtype if isinstance(dtype, str) else name_of(dtype)}, shape {tuple(shape)}"


def name_of(dtype: np.dtype[Any]) -> str:
    """Return the name of an array's type for messages."""
    return {"V": "structured values", "O": "Python objects"}.get(dtype.kind) or type_name(dtype)


def stored_embeddings(array: Array, where: Location) -> Array:
    """Return embeddings as they are stored, after checking their type and shape."""
    if array.dtype.kind not in "biu" and array.dtype.name not in FLOATS:
        raise InputError(
            f"{where} contains {_type(array)}; embeddings are numbers: "
            "save them as float16, float32, float64, integers or bools."
        )
    if array.ndim != 2:
        raise InputError(
            f"{where} has the shape {array.shape}; embeddings have the shape (n, d), one vector a row: reshape them."
        )
    if 0 in array.shape:
        raise InputError(
            f"{where} contains no vectors: its shape is {array.shape}; give at least one row and column."
        )
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def stored_labels(array: Array, where: Location, stored: str | None = None) -> Array:
    """Return labels as integers or strings, shape (n,), or as 0/1, shape (n, c).

    stored : the type of floats in the file, if it is not that of `array`
    """
    array = np.asarray(array)
    if array.size == 0:
        raise InputError(f"{where} contains no labels: its shape is {array.shape}; give at least one.")
    if array.ndim == 2 and len(array) == 1 != array.size:
        array = array.reshape(-1)
    if array.ndim not in (1, 2):
        raise InputError(
            f"{where} has the shape {array.shape}; labels have the shape (n,), or (n, c) of 0/1: reshape them."
        )
    kind = array.dtype.kind
    if kind == "U":
        check_code_points(array, f"The labels of {where}")
    if kind in "iuU":
        labels = np.array(array, dtype=array.dtype.newbyteorder("="))
    elif kind == "S":
        labels = _decoded(array, where)
    elif kind == "b":
        labels = array.astype(np.int8)
    elif kind == "f":
        _check_whole(array, where, stored or array.dtype.name)
        labels = array.astype(np.int64)
    else:
        raise InputError(
            f"{where} contains {_type(array)}; labels are integers or strings: convert them before saving."
        )
    if labels.shape[1:] == (1,) and not is_column_of_classes(labels):
        return labels.reshape(-1)
    if labels.ndim == 1:
        return labels
    if labels.dtype.kind == "U":
        raise InputError(
            f"{where} contains strings of the shape {labels.shape}; give one label per item, shape (n,)."
        )
    wrong = np.argwhere((labels != 0) & (labels != 1))
    if wrong.size:
        value = labels[tuple(wrong[0])]
        raise InputError(
            f"{where} has {value} at {_place(wrong[0])} of the shape {labels.shape}; labels of the "
            "shape (n, c) are 0 or 1: give those, or one label per item, shape (n,)."
        )
    return labels


def stored_confidences(array: Array, where: Location) -> Array:
    """Return numbers of shape (n,) as they are stored; numbers in text become the nearest float64."""
    if array.ndim == 2 and 1 in array.shape:
        array = array.reshape(-1)
    if array.ndim != 1:
        raise InputError(
            f"{where} has the shape {array.shape}; confidences have the shape (n,): give one for each query."
        )
    if array.dtype.kind == "S":
        array = _decoded(array, where)
    if array.dtype.kind == "U":
        check_code_points(array, f"The confidences of {where}")
        numbers = []
        for row, cell in enumerate(array.tolist()):
            try:
                numbers.append(float(cell))
            except ValueError:
                raise InputError(f"{where} has '{cell}' at [{row}]; confidences are numbers: correct it.") from None
        return np.array(numbers)
    if array.dtype.kind not in "biu" and array.dtype.name not in FLOATS:
        raise InputError(f"{where} contains {_type(array)}; confidences are numbers: convert them before saving.")
    return array


def from_text(cells: Sequence[str], where: Location) -> Array:
    """Return labels from text: integers if every label is written as an integer, otherwise strings."""
    try:
        integers = [int(cell) for cell in cells]
    except ValueError:
        return from_strings(cells, where)
    # 007 and 7 are two names, though one number.
    as_written = [str(integer) for integer in integers] == list(cells)
    return from_integers(integers, where) if as_written else from_strings(cells, where)


def from_integers(integers: Sequence[int], where: Location) -> Array:
    """Return labels that are integers, of 64 bits with or without a sign."""
    for limits in (np.iinfo(np.int64), np.iinfo(np.uint64)):
        if limits.min <= min(integers) and max(integers) <= limits.max:
            return np.array(integers, dtype=limits.dtype)
    raise InputError(f"{where} contains integers of more than 64 bits; number the labels, or write them as strings.")


def from_strings(strings: Sequence[str], where: Location) -> Array:
    """Return labels that are strings; a zero character at the end, which NumPy would drop, is refused."""
    for row, string in enumerate(strings):
        if string.endswith("\0"):
            raise InputError(f"{where} has a label that ends in a zero character at [{row}]; remove the character.")
    check_widths(strings, f"The labels of {where}")
    return np.array(strings, dtype=np.str_)


def from_bytes(cells: Sequence[bytes], where: Location) -> Array:
    """Return labels from bytes in UTF-8."""
    strings = []
    for row, cell in enumerate(cells):
        try:
            strings.append(cell.decode())
        except UnicodeDecodeError:
            raise InputError(
                f"{where} has {cell[:MOST_SHOWN]!r} at [{row}], which is not UTF-8 text; save strings instead of "
                "bytes."
            ) from None
    return from_strings(strings, where)


def _check_whole(array: Array, where: Location, stored: str) -> None:
    """Refuse floats as labels, except for integers saved as floats that cannot have been rounded."""
    missing = np.argwhere(np.isnan(array))
    if missing.size:
        raise InputError(f"{where} has NaN at {_place(missing[0])}; give every item a label, or leave the item out.")
    limit = exact_below(stored)
    wrong = np.argwhere(not_whole(array, limit))
    if wrong.size:
        value = array[tuple(wrong[0])]
        raise InputError(
            f"{where} has {value} at {_place(wrong[0])}; labels are integers or strings: "
            f"convert them (in {stored} they are below {limit}: larger ones may have been rounded), or give the "
            "location of the labels."
        )


def _decoded(array: Array, where: Location) -> Array:
    if array.nbytes <= MOST_BYTES // 4:
        with suppress(UnicodeDecodeError):
            return np.strings.decode(array, "utf-8")
    return from_bytes(array.reshape(-1).tolist(), where).reshape(array.shape)  # its message tells the position


def _place(index: Array) -> str:
    return f"[{', '.join(str(int(i)) for i in index)}]"


def _type(array: Array) -> str:
    return name_of(array.dtype) if array.dtype.kind in "USOV" else f"values of type {name_of(array.dtype)}"
