"""What people hand in, as NumPy arrays: embeddings, matrices, labels; checked and never copied needlessly."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from tieproof.errors import InputError

Embeddings = npt.NDArray[Any]

BLOCK_BYTES = 4 * 2**20
"""Size of a float64 block in a pass over the rows: small enough for a cache, large enough for NumPy."""


def as_array(values: Any, name: str) -> npt.NDArray[Any]:
    """`values` as a NumPy array, from NumPy, torch, DLPack, `__array__` or nested lists."""
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
        return np.asarray(values)
    except (ValueError, TypeError, RuntimeError, BufferError) as error:
        raise InputError(
            f"The {name} could not be read as an array ({error}). Pass a NumPy array, a torch tensor or rows "
            "of equal length."
        ) from None


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


def blocks(array: Embeddings) -> Iterator[tuple[int, npt.NDArray[np.float64]]]:
    """The rows of `array` in float64, block after block, each with the index of its first row."""
    size = max(1, BLOCK_BYTES // (8 * max(1, array.shape[1])))
    for start in range(0, len(array), size):
        yield start, np.ascontiguousarray(array[start : start + size], dtype=np.float64)


def as_labels(values: Any, count: int, name: str, items: str) -> npt.NDArray[Any]:
    """Labels of `count` items: integers or strings of shape (count,), or 0/1 of shape (count, classes)."""
    array = as_array(values, name)
    if array.ndim == 2 and array.shape[0] == 1 != count:
        array = array[0]
    if array.ndim not in (1, 2):
        raise InputError(
            f"The {name} must have the shape (items,) or (items, classes), and arrived with shape {array.shape}."
        )
    if len(array) != count:
        raise InputError(
            f"There are {len(array)} {name} for {count} {items}. Pass exactly one for each, in the same order."
        )
    if array.dtype.kind == "f":
        if not np.isfinite(array).all():
            first = int(np.argwhere(~np.isfinite(array))[0][0])
            raise InputError(
                f"The {name} must be integers or strings, and row {first} holds {array[first]}. "
                "Give every item a label; a label of its own where it has no class."
            )
        if (array != np.rint(array)).any():
            raise InputError(f"The {name} must be integers or strings, not fractions ({array.dtype.name}).")
    elif array.dtype.kind == "O":
        kinds = sorted({type(value).__name__ for value in array.ravel()})
        if not set(kinds) <= {"str"} and not set(kinds) <= {"int", "int64", "int32"}:
            raise InputError(
                f"The {name} must be all integers or all strings, and hold {', '.join(kinds)}. Convert them first."
            )
        array = array.astype(str) if kinds == ["str"] else array.astype(np.int64)
    elif array.dtype.kind not in "iubUS":
        raise InputError(f"The {name} must be integers or strings, not {array.dtype.name}.")
    if array.ndim == 2 and not np.isin(array, (0, 1)).all():
        raise InputError(
            f"The {name} have the shape {array.shape}: two dimensions mean one 0/1 column per class, and they "
            "hold other values. Pass one label per item in one dimension."
        )
    return array
