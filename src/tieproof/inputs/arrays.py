"""What people hand in, as NumPy arrays: embeddings, matrices, labels; checked and never copied needlessly."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tieproof.errors import InputError
from tieproof.inputs.checks import check_count
from tieproof.inputs.identities import (
    exact_below,
    is_column_of_classes,
    not_whole,
    stored_type,
)
from tieproof.inputs.rounded_integers import check_integers
from tieproof.inputs.strings import check_widths
from tieproof.inputs.tensors import from_tensor, is_tensor

Embeddings = npt.NDArray[Any]

BLOCK_BYTES = 4 * 2**20
"""Size of a float64 block in a pass over the rows: small enough for a cache, large enough for NumPy."""

SCALARS = (int, float, complex, str, bytes, np.generic)
"""What a list holds where it has no further levels."""


def as_array(values: Any, name: str) -> npt.NDArray[Any]:
    """`values` as a NumPy array, from NumPy, torch, DLPack, `__array__` or nested lists."""
    if is_masked(values):
        raise InputError(f"The {name} have masked entries. Leave these items out, or fill them with .filled(...).")
    if isinstance(values, np.ndarray):
        return np.asarray(values)
    if is_tensor(values):
        return from_tensor(values, name)
    if hasattr(values, "toarray"):
        raise InputError(f"The {name} are a sparse matrix ({type(values).__name__}). Convert it with .toarray().")
    if type(values).__module__.partition(".")[0] == "h5py":
        check_data_set(values)
    given = with_arrays(values, name)
    try:
        if not hasattr(given, "__array__") and hasattr(given, "__dlpack__"):
            return np.from_dlpack(given)
        array = np.asarray(given)
    except (ValueError, TypeError, RuntimeError, BufferError, OverflowError) as error:
        raise InputError(
            f"The {name} could not be read as an array ({error}). Pass a NumPy array, a torch tensor or rows "
            "of equal length."
        ) from None
    check_integers(given, array, name)
    return array


def is_masked(values: Any) -> bool:
    """Whether an array has entries that are masked; `numpy.ma` is loaded where there is such an array, and slowly."""
    return bool(
        "numpy.ma" in sys.modules and isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any()
    )


def check_data_set(data: Any) -> None:
    """Refuse an open data set of h5py that is not whole in its file, as the reader of such files does."""
    from tieproof.inputs.readers.hdf5_storage import check_stored
    from tieproof.inputs.readers.location import Location

    check_stored(data, Location(Path(data.file.filename), data.name))


def with_arrays(values: Any, name: str) -> Any:
    """Lists whose tensors, on whatever level, are arrays; anything else as it is."""
    if not isinstance(values, list | tuple) or all(issubclass(kind, SCALARS) for kind in set(map(type, values))):
        return values
    return [as_array(each, name) if is_tensor(each) else with_arrays(each, name) for each in values]


def as_numbers(values: Any, name: str) -> npt.NDArray[Any]:
    """`values` as an array of real numbers of at most 64 bits, in the machine's byte order."""
    array = as_array(values, name)
    if is_bfloat16(array):
        array = array.astype(np.float32)
    if array.dtype.kind not in "fiub":
        found, advice = type_name(array.dtype), "Convert them to floats first."
        if array.dtype.kind == "c":
            advice = "Pass their real and imaginary parts side by side."
        elif array.dtype.kind == "O" and any(np.ndim(each) for each in array.flat):
            advice = "Pass one array of numbers whose rows have equal length."
        elif array.dtype.kind == "O":
            kinds = {type(each) for each in array.flat}
            found = "strings" if kinds == {str} else f"objects ({', '.join(sorted(kind.__name__ for kind in kinds))})"
        raise InputError(f"The {name} must be real numbers, not {found}. {advice}")
    if array.dtype.itemsize > 8:
        raise InputError(
            f"The {name} are {array.dtype.name}; numbers of at most 64 bits are ranked exactly. "
            "Convert them with .astype('float64')."
        )
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return array


def is_bfloat16(array: npt.NDArray[Any]) -> bool:
    """Whether the numbers are of that type, which is none of NumPy's own."""
    return array.dtype.kind == "V" and array.dtype.name == "bfloat16"


def type_name(dtype: np.dtype[Any]) -> str:
    """What messages call a type; NumPy's own names of strings count their bits.

    >>> type_name(np.dtype("U21")), type_name(np.dtype("int8"))
    ('strings', 'int8')
    """
    return {"U": "strings", "S": "bytes", "O": "objects"}.get(dtype.kind, dtype.name)


def as_embeddings(values: Any, name: str = "embeddings") -> Embeddings:
    """`values` as an array of shape (n, d) with at least one row and one column.

    >>> as_embeddings([[0.5, 1.0], [2.0, 0.0]]).shape
    (2, 2)
    """
    array = as_numbers(values, name)
    if array.ndim != 2:
        raise InputError(
            f"The {name} must have the shape (items, dimensions), and arrived with {array.ndim} "
            f"dimension{'s' if array.ndim != 1 else ''}, shape {array.shape}. "
            "Reshape them to one row per item, for example with .reshape(len(x), -1)."
        )
    if 0 in array.shape:
        raise InputError(f"The {name} are empty: shape {array.shape}. At least one row and one column are needed.")
    return array


def rows_of_block(array: Embeddings) -> int:
    """How many rows make a block in float64."""
    return max(1, BLOCK_BYTES // (8 * max(1, int(array.shape[1]))))


def blocks(array: Embeddings) -> Iterator[tuple[int, npt.NDArray[np.float64]]]:
    """The rows of `array` in float64, block after block, each with the index of its first row."""
    size = rows_of_block(array)
    for start in range(0, len(array), size):
        yield start, np.ascontiguousarray(array[start : start + size], dtype=np.float64)


def as_finite_embeddings(values: Any, name: str = "embeddings") -> Embeddings:
    """Embeddings without NaN and infinity, refused by the first row that holds one."""
    array = as_embeddings(values, name)
    for start, block in blocks(array):
        finite = np.isfinite(block).all(axis=1)
        if not finite.all():
            row = int(np.argmin(finite))
            raise not_finite(name, start + row, block[row])
    return array


def not_finite(name: str, row: int, values: npt.NDArray[np.float64]) -> InputError:
    """What to say of the first row that holds NaN or infinity, of the embeddings, the queries or the gallery."""
    return InputError(
        f"The {name} must be finite numbers, and row {row} holds {values[~np.isfinite(values)][0]}. "
        "Find out why the model gave it, and leave the row out or repair it.",
        "gallery" if name == "gallery" else "embeddings",
    )


def as_labels(values: Any, count: int, name: str, items: str, columns: bool = True) -> npt.NDArray[Any]:
    """Labels of `count` items: integers or strings of shape (count,), or 0/1 of shape (count, classes).

    columns: whether columns of 0/1 are meant at all.
    """
    array = as_label_rows(values, count, name, items, columns)
    if array.shape[1:] == (1,) and not (columns and is_column_of_classes(array)):
        return array.ravel()
    if array.ndim == 2 and not (array.dtype.kind == "i" and np.isin(array, (0, 1)).all()):
        raise InputError(
            f"The {name} have the shape {array.shape}: two dimensions mean one 0/1 column per class, and they "
            "hold other values. Pass one label per item in one dimension."
        )
    return array


def as_label_rows(values: Any, count: int, name: str, items: str, columns: bool = True) -> npt.NDArray[Any]:
    """Labels of shape (count,) or (count, columns); whether columns hold 0/1 is not looked at."""
    array = as_label_array(values, name)
    if array.ndim == 2 and array.shape[0] == 1 != count:
        array = array.ravel()
    if array.ndim == 2 and array.size == count != len(array):
        raise InputError(f"The {name} are {len(array)} rows of {array.shape[1]}, as batches are. {JOIN}")
    if array.ndim not in (1, 2) or (array.ndim == 2 and not columns and array.shape[1] != 1):
        shapes = "(items,) or (items, classes)" if columns else "(items,)"
        raise InputError(f"The {name} must have the shape {shapes}, and arrived with shape {array.shape}.")
    check_count(len(array), name, count, items)
    return array


def as_label_array(values: Any, name: str) -> npt.NDArray[Any]:
    """Labels of any shape as int64, uint64 where they need it, str or bytes."""
    if isinstance(values, list | tuple | range):
        # Not by NumPy's rules, which make strings of integers beside strings, and floats of large integers.
        array = as_array(np.array(with_labels(values, name), dtype=object), name)
    else:
        array = as_array(values, name)
    limit: Any = None
    if array.dtype.kind == "O":
        limit = limits_of(array)
        array = from_objects(array, name)
    if array.dtype.kind == "f" or is_bfloat16(array):
        stored = stored_type(values, array)
        if is_bfloat16(array):
            array = array.astype(np.float32)
        check_whole(array, exact_below(stored) if limit is None else limit, name)
        return array.astype(np.int64)
    if array.dtype.kind not in "iubUS":
        raise InputError(f"The {name} must be integers or strings, not {type_name(array.dtype)}.")
    if array.dtype.kind in "iub" and not (array.dtype == np.uint64 and array.max(initial=0) >= 2**63):
        return array.astype(np.int64)
    return array


def with_labels(values: Any, name: str) -> list[Any]:
    """Labels as a list, in which arrays and tensors are lists of labels, checked in their own type."""
    if all(issubclass(kind, SCALARS) for kind in set(map(type, values))):
        return list(values)

    def labels_of(each: Any, place: int) -> Any:
        if isinstance(each, list | tuple):
            return with_labels(each, name)
        is_array = isinstance(each, np.ndarray) or is_tensor(each)
        return as_label_array(each, f"{name} at [{place}]").tolist() if is_array else each

    return [labels_of(each, place) for place, each in enumerate(values)]


def limits_of(objects: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Below which size each of some objects is known not to be rounded, by its own type if it is a float."""
    kinds = {type(each) for each in objects.flat}
    limits = {
        kind: exact_below(np.dtype(kind).name if issubclass(kind, np.floating) else "float64") for kind in kinds
    }
    return np.array([limits[type(each)] for each in objects.flat], np.int64).reshape(objects.shape)


def check_whole(array: npt.NDArray[Any], limit: Any, name: str) -> None:
    """Refuse floats as labels that are no whole numbers, or so large that they may have been rounded."""
    wrong = not_whole(array, limit)
    if not wrong.any():
        return
    place = tuple(np.argwhere(wrong)[0].tolist())
    value, row = array[place], f"row {place[0]}" if place else "it"
    if np.isfinite(value) and value == np.trunc(value):
        below = np.broadcast_to(limit, array.shape)[place]
        raise InputError(
            f"The {name} are floats that hold every integer only below {below}, and {row} holds {value}, "
            "which may have been rounded. Give the integers themselves, from before they became floats, or strings."
        )
    raise InputError(
        f"The {name} must be integers or strings, and {row} holds {value}. Give every item a "
        "whole number or a string; a label of its own where it has no class."
    )


JOIN = "Join them into one dimension, for example with torch.cat or numpy.concatenate."
"""What to do with labels that came batch by batch."""

INTEGERS = (bool, int, np.bool_, np.integer)

LABEL_TYPES: tuple[tuple[tuple[type, ...], str], ...] = (
    (INTEGERS, "iub"),
    ((float, np.floating, *INTEGERS), "f"),
    ((str,), "U"),
    ((bytes,), "S"),
)
"""Types of objects that may be labels together, and NumPy's letters for an array of them."""


def from_objects(array: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    """Objects that are all numbers, all strings or all bytes, as an array of that type."""
    values = array.ravel().tolist()
    for types, letters in LABEL_TYPES:
        if all(isinstance(value, types) for value in values):
            if letters in ("U", "S"):
                check_widths(values, f"The {name}")
            found = np.array(values).reshape(array.shape)
            if types is INTEGERS and found.dtype.kind not in letters:
                raise InputError(
                    f"The {name} hold integers from {min(values)} to {max(values)}, which no type of at most 64 bits "
                    "holds together. Number the labels from 0, or pass strings."
                )
            if found.dtype.kind in "US" and any(value[-1:] in ("\0", b"\0") for value in values):
                raise InputError(f"The {name} hold one that ends in a NUL character, which NumPy drops. Rename it.")
            if found.dtype.kind in letters:
                return found
    if all(isinstance(value, list) for value in values):
        raise InputError(f"The {name} are lists of different lengths, as batches are. {JOIN}")
    kinds = sorted({type(value).__name__ for value in values})
    raise InputError(
        f"The {name} must be all integers or all strings, and hold {', '.join(kinds)}. Convert them first."
    )
