"""Labels and confidences from files, checked as those that are handed in; and what an array holds, in words."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.arrays import as_array, type_name
from tieproof.inputs.identities import exact_below
from tieproof.inputs.labels import MOST_BYTES, as_labels, check_code_points, check_unrounded, from_objects
from tieproof.inputs.readers.location import Location
from tieproof.ties import Array

MOST_SHOWN = 60


def holds(dtype: np.dtype[Any] | str, shape: Sequence[int]) -> str:
    """Return a type and a shape in words, for messages."""
    return f"{dtype if isinstance(dtype, str) else type_name(dtype)}, shape {tuple(shape)}"


def stored_labels(array: Array, where: Location, stored: str | None = None) -> Array:
    """Return labels (n,) as integers or strings, or 0/1 (n, c); `stored` is the type of other floats in the file."""
    name = f"labels of {where}"
    array = as_array(array, name)
    array = np.asarray(array, array.dtype.newbyteorder("="))
    if array.size == 0:
        raise InputError(f"{where} contains no labels: its shape is {array.shape}; give at least one.")
    if array.ndim == 2 and len(array) == 1 != array.size:
        array = array.reshape(-1)
    if array.dtype.kind == "U":
        check_code_points(array, f"The {name}")
    elif array.dtype.kind == "S":
        array = _decoded(array, where)
    elif array.dtype.kind == "f" and stored:
        check_unrounded(array, exact_below(stored), name)
    elif array.dtype.kind not in "biuf":
        raise InputError(f"The {name} must be integers or strings, not {type_name(array.dtype)}. Convert them first.")
    return as_labels(array, array.shape[0] if array.ndim else 0, name, "items")


def stored_confidences(array: Array, where: Location) -> Array:
    """Return numbers as stored, a single row or column as one axis; text becomes the nearest float64."""
    array = as_array(array, f"confidences of {where}")
    if array.ndim == 2 and 1 in array.shape:
        array = array.reshape(-1)
    if array.dtype.kind == "S":
        array = _decoded(array, where)
    if array.dtype.kind != "U":
        return array
    check_code_points(array, f"The confidences of {where}")
    numbers = []
    for row, cell in enumerate(array.reshape(-1).tolist()):
        try:
            numbers.append(float(cell))
        except ValueError:
            raise InputError(f"{where} has '{cell}' at [{row}]; confidences are numbers: correct it.") from None
    return np.array(numbers).reshape(array.shape)


def from_text(cells: Sequence[str], where: Location) -> Array:
    """Return labels from text: integers if every label is written as an integer, otherwise strings."""
    try:
        integers = [int(cell) for cell in cells]
    except ValueError:
        integers = []
    # 007 and 7 are two names, though one number.
    as_written = [str(integer) for integer in integers] == list(cells)
    return from_objects(integers if as_written else cells, f"labels of {where}")


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
    return from_objects(strings, f"labels of {where}")


def _decoded(array: Array, where: Location) -> Array:
    if array.nbytes <= MOST_BYTES // 4:
        with suppress(UnicodeDecodeError):
            return np.strings.decode(array, "utf-8")
    return from_bytes(array.reshape(-1).tolist(), where).reshape(array.shape)  # its message tells the position
