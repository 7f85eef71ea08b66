"""What people hand in, as NumPy arrays: embeddings, matrices, labels; checked and never copied needlessly."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from tieproof.errors import InputError
from tieproof.strings import check_widths

Embeddings = npt.NDArray[Any]

BLOCK_BYTES = 4 * 2**20
"""Size of a float64 block in a pass over the rows: small enough for a cache, large enough for NumPy."""


def as_array(values: Any, name: str) -> npt.NDArray[Any]:
    """`values` as a NumPy array, from NumPy, torch, DLPack, `__array__` or nested lists."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        raise InputError(f"The {name} have masked entries. Leave these items out, or fill them with .filled(...).")
    if isinstance(values, np.ndarray):
        return np.asarray(values)
    if type(values).__module__.split(".")[0] == "torch":
        values = values.detach().cpu()
        if str(values.dtype) == "torch.bfloat16":
            values = values.float()  # exact: a bfloat16 is a float32 with fewer digits
        return np.asarray(values.numpy())
    try:
        if not hasattr(values, "__array__") and hasattr(values, "__dlpack__"):
            return np.from_dlpack(values)
        array = np.asarray(values)
    except (ValueError, TypeError, RuntimeError, BufferError, OverflowError) as error:
        raise InputError(
            f"The {name} could not be read as an array ({error}). Pass a NumPy array, a torch tensor or rows "
            "of equal length."
        ) from None
    # NumPy makes floats of lists that mix integers of both signs beyond 63 bits, or integers with floats.
    if isinstance(values, list | tuple) and array.dtype.kind == "f" and np.any(np.abs(array) >= 2.0**53):
        exact = np.array(values, dtype=object).ravel()
        if any(isinstance(value, int) and int(float(value)) != value for value in exact):
            raise InputError(
                f"The {name} hold integers that float64 does not hold exactly. Pass a NumPy array of int64 or uint64."
            )
    return array


def as_numbers(values: Any, name: str) -> npt.NDArray[Any]:
    """`values` as an array of real numbers of at most 64 bits, in the machine's byte order."""
    array = as_array(values, name)
    if array.dtype.name == "bfloat16":
        array = array.astype(np.float32)
    if array.dtype.kind not in "fiub":
        advice = {
            "c": "Pass their real and imaginary parts side by side.",
            "O": "Pass one array of numbers whose rows have equal length.",
        }.get(array.dtype.kind, "Convert them to floats first.")
        raise InputError(f"The {name} must be real numbers, not {array.dtype.name}. {advice}")
    if array.dtype.itemsize > 8:
        raise InputError(
            f"The {name} are {array.dtype.name}; numbers of at most 64 bits are ranked exactly. "
            "Convert them with .astype('float64')."
        )
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return array


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


def not_finite(name: str, row: int, values: npt.NDArray[np.float64]) -> InputError:
    """What to say of the first row that holds NaN or infinity."""
    return InputError(
        f"The {name} must be finite numbers, and row {row} holds {values[~np.isfinite(values)][0]}. "
        "Find out why the model gave it, and leave the row out or repair it."
    )


def as_labels(values: Any, count: int, name: str, items: str, columns: bool = True) -> npt.NDArray[Any]:
    """Labels of `count` items: integers or strings of shape (count,), or 0/1 of shape (count, classes).

    columns: whether columns of 0/1 are meant at all.
    """
    array = as_label_array(values, name)
    if array.ndim == 2 and (array.shape[0] == 1 != count or array.shape[1] == 1):
        array = array.ravel()
    if array.ndim not in ((1, 2) if columns else (1,)):
        shapes = "(items,) or (items, classes)" if columns else "(items,)"
        raise InputError(f"The {name} must have the shape {shapes}, and arrived with shape {array.shape}.")
    if len(array) != count:
        raise InputError(
            f"There are {len(array)} {name} for {count} {items}. Pass exactly one for each, in the same order."
        )
    if array.ndim == 2 and not (array.dtype.kind == "i" and np.isin(array, (0, 1)).all()):
        raise InputError(
            f"The {name} have the shape {array.shape}: two dimensions mean one 0/1 column per class, and they "
            "hold other values. Pass one label per item in one dimension."
        )
    return array


def as_label_array(values: Any, name: str) -> npt.NDArray[Any]:
    """Labels of any shape as int64, uint64 where they need it, str or bytes."""
    if isinstance(values, list | tuple | range):
        # Not by NumPy's rules, which make strings of integers beside strings, and floats of large integers.
        array = as_array(np.array(list(values), dtype=object), name)
    else:
        array = as_array(values, name)
    if array.dtype.kind == "O":
        array = from_objects(array, name)
    if array.dtype.kind == "f":
        wrong = ~(np.isfinite(array) & (array == np.rint(array)) & (np.abs(array) <= 2.0**53))
        if wrong.any():
            row = int(np.argwhere(wrong)[0][0])
            raise InputError(
                f"The {name} must be integers or strings, and row {row} holds {array[wrong][0]}. Give every item a "
                "whole number or a string; a label of its own where it has no class."
            )
        return array.astype(np.int64)
    if array.dtype.kind not in "iubUS":
        raise InputError(f"The {name} must be integers or strings, not {array.dtype.name}.")
    if array.dtype.kind in "iub" and not (array.dtype == np.uint64 and array.max(initial=0) >= 2**63):
        return array.astype(np.int64)
    return array


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
            if found.dtype.kind in "US" and any(value[-1:] in ("\0", b"\0") for value in values):
                raise InputError(f"The {name} hold one that ends in a NUL character, which NumPy drops. Rename it.")
            if found.dtype.kind in letters:
                return found
    kinds = sorted({type(value).__name__ for value in values})
    raise InputError(
        f"The {name} must be all integers of at most 64 bits or all strings, and hold {', '.join(kinds)}. "
        "Convert them first."
    )
