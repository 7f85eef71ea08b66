"""Arrays from whatever libraries call an array, and the checks of numbers that every input needs."""

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tieproof.errors import CountError, InputError
from tieproof.ties import Array, FloatArray

Embeddings = Array

LARGEST = 2.0**53  # float64 represents every integer up to this size

INEXACT_GRADE = (
    "The relevance contains a grade beyond 2^53, which float64 cannot represent exactly. Pass smaller grades."
)

BLOCK_BYTES = 4 * 2**20  # of a float64 block in a pass over the rows: small enough for a cache, large for NumPy

SCALARS = (int, float, complex, str, bytes, np.generic)  # of elements of a list that is not nested further


DICTIONARIES = "dictionaries"  # what messages call sparse rows {term: weight}
NOT_SHARDS = "which only tp.evaluate, tp.truth, tp.verify_truth and tp.examine_truth read block by block"


def as_array(values: Any, name: str) -> Array:
    """Convert NumPy, torch or DLPack arrays, objects with `__array__`, or nested lists to a NumPy array.

    Numbers that do not begin at a multiple of their size in memory, as in a part of a buffer of bytes, are copied,
    because kernels and processors rely on that.
    """
    array = _with_any_alignment(values, name)
    return array if array.flags.aligned else array.copy()


def _with_any_alignment(values: Any, name: str) -> Array:
    if isinstance(values, str | os.PathLike):
        raise InputError(
            f"The {name} must be an array, not {values!r}. If this is a file, load it first, by numpy.load or "
            "pandas; the commands of tieproof (tieproof --help) take files."
        )
    # `numpy.ma` is slow to import, and is only used if it is already loaded.
    if "numpy.ma" in sys.modules and isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        raise InputError(
            f"The {name} must not have masked entries. Leave these items out, or fill them with .filled(...)."
        )
    form = sparse_form(values)
    if form:
        raise InputError(
            f"The {name} must not be {form}. Make dense rows, as .toarray() and .to_dense() do. Only tp.evaluate, "
            "tp.nearest, tp.truth, tp.examine_truth, tp.knn_accuracy, tp.collisions, tp.neighbor_recall and "
            "Evaluator rank sparse embeddings: one matrix of all rows (scipy.sparse.vstack, torch.stack), or "
            "dictionaries."
        )
    if isinstance(values, np.ndarray):
        return np.asarray(values)
    if is_tensor(values):
        return _from_tensor(values, name)
    if is_source(values):
        raise InputError(
            f"The {name} must be an array in memory, not shards ({values!r}), {NOT_SHARDS}. If all rows fit into "
            "memory, pass shards.read(0, n)."
        )
    if type(values).__name__ == "LazyFrame":
        raise InputError(f"The {name} must not be a lazy frame (LazyFrame), which has no rows yet. Call .collect().")
    if type(values).__name__ == "MultiVectors":
        raise _of_several(name, repr(values))
    if type(values).__module__.partition(".")[0] == "h5py":
        from tieproof.inputs.readers.hdf5_storage import check_stored
        from tieproof.inputs.readers.location import Location

        check_stored(values, Location(Path(values.file.filename), values.name))
    given = _with_arrays(values, name)
    try:
        if not hasattr(given, "__array__") and hasattr(given, "__dlpack__"):
            return np.from_dlpack(given)
        array = np.asarray(given)
    except (ValueError, TypeError, RuntimeError, BufferError, OverflowError) as error:
        if isinstance(values, list | tuple) and {getattr(each, "ndim", 0) for each in values} == {2}:
            raise _of_several(name, "a list of arrays of different shapes") from None
        if isinstance(values, list) and values and isinstance(values[0], list) and list in map(type, values[0]):
            raise InputError(
                f"The {name} must not be lists of lists of different lengths. For items of several vectors "
                "(distance='maxsim'), pass a list with an array (vectors, dimensions) of each item, by numpy.array."
            ) from None
        raise InputError(
            f"The {name} could not be read as an array ({error}). Pass a NumPy array, a torch tensor, or rows of "
            "equal length."
        ) from None
    _check_integers(given, array, name)
    return array


def _of_several(name: str, what: str) -> InputError:
    """The refusal of items of several vectors."""
    return InputError(
        f"The {name} must have one vector for each item, not several ({what}), which only tp.evaluate, tp.nearest, "
        "tp.knn_accuracy and Evaluator rank, by distance='maxsim' or 'meanmaxsim'. Pass one vector for each item."
    )


def is_tensor(values: Any) -> bool:
    """Whether this is a tensor of torch, or of a subclass."""
    return any(kind.__module__ == "torch" and kind.__name__ == "Tensor" for kind in type(values).__mro__)


def sparse_form(values: Any) -> str:
    """The form of sparse rows, as messages call it; "" of anything else."""
    if type(values).__name__ == "SparseRows":
        return "sparse rows"
    if hasattr(values, "toarray"):
        return f"a sparse matrix ({type(values).__name__})"
    if str(getattr(values, "layout", "")).startswith("torch.sparse"):
        return f"a tensor of the layout {str(values.layout).removeprefix('torch.')}"
    several = isinstance(values, list | tuple) or (
        isinstance(values, np.ndarray) and values.dtype == object and values.ndim > 0
    )
    return DICTIONARIES if several and len(values) and all(isinstance(each, Mapping) for each in values) else ""


def _from_tensor(tensor: Any, name: str) -> Array:
    """Return the numbers of a tensor on any device; bfloat16 becomes float32, which is exact."""
    reason = not_readable(tensor)
    if reason:
        raise InputError(f"The {name} cannot be {reason}")
    try:
        plain = tensor.detach().cpu().resolve_conj().resolve_neg()
        if str(plain.dtype) == "torch.bfloat16":
            plain = plain.float()  # exact: a bfloat16 is a float32 with fewer digits
        return np.asarray(plain.numpy())
    except (TypeError, RuntimeError, NotImplementedError) as error:
        said = str(error).strip().partition("\n")[0]
        raise InputError(
            f"The {name} cannot be a tensor of type {tensor.dtype}, which NumPy cannot read ({said}). Pass a dense "
            "tensor of numbers that is stored in memory."
        ) from None


def not_readable(tensor: Any) -> str:
    """Return why a tensor cannot be read as an array, and what to do about it; "" if it can be read."""
    if tensor.is_meta:
        return (
            "a tensor on the device 'meta', which has no numbers. Pass a tensor that was computed on a real device."
        )
    if tensor.is_nested:
        return "a nested tensor, whose rows may differ in length. Pass rows of equal length, as torch.stack gives."
    if str(tensor.layout) != "torch.strided":
        return f"a tensor of the layout {str(tensor.layout).removeprefix('torch.')}. Convert it with .to_dense()."
    if tensor.is_quantized:
        return f"quantized ({tensor.dtype}). Convert them with .dequantize(), or to their integers with .int_repr()."
    if str(tensor.dtype).startswith("torch.float8"):
        return f"{tensor.dtype}, which NumPy does not have. Convert them with .float(), which is exact."
    return ""


def is_source(values: Any) -> bool:
    """Whether a value is a `RowSource` (`shards/source.py`)."""
    return all(hasattr(values, part) for part in ("read", "take", "bounds"))


def _with_arrays(values: Any, name: str) -> Any:
    """Convert the tensors in nested lists to arrays; return anything else as it is."""
    if not isinstance(values, list | tuple) or all(issubclass(kind, SCALARS) for kind in set(map(type, values))):
        return values
    return [as_array(each, name) if is_tensor(each) else _with_arrays(each, name) for each in values]


def _check_integers(values: Any, array: Array, name: str) -> None:
    """Refuse lists and data frames with integers that were rounded in `array`, which was made of them."""
    if array.dtype.kind != "f" or float(np.finfo(array.dtype).max) < LARGEST or not (np.abs(array) >= LARGEST).any():
        return
    if any(is_rounded(part) for part in _parts(values)):
        raise InputError(
            f"The {name} must not mix integers that float64 cannot represent exactly with floats or integers of "
            "another type. Pass one NumPy array of int64 or uint64."
        )


def _parts(values: Any) -> Iterator[Array]:
    """Yield the parts of an array in their original types: columns of a data frame, entries of a list."""
    if isinstance(values, list | tuple):
        yield np.array(values, dtype=object).ravel()
        for each in values:
            if hasattr(each, "columns"):
                yield from _parts(each)
    elif hasattr(values, "iloc") and hasattr(values, "columns"):  # pandas
        for place in range(len(values.columns)):
            yield np.asarray(values.iloc[:, place])
    elif hasattr(values, "columns") and hasattr(values, "to_pandas"):  # polars, pyarrow
        columns = values.get_columns() if hasattr(values, "get_columns") else values.columns
        for column in columns:
            yield np.asarray(column.to_numpy())


def is_rounded(part: Array) -> bool:
    """Whether float64 cannot represent every integer of an array.

    >>> is_rounded(np.array([2**60, -(2**53)])), is_rounded(np.array([2**60 + 1])), is_rounded(np.array([0.5]))
    (False, True, False)
    """
    if part.dtype.kind == "O":
        values = (value.item() if isinstance(value, np.ndarray) and not value.ndim else value for value in part.flat)
        return any(isinstance(value, int | np.integer) and int(float(value)) != int(value) for value in values)
    if part.dtype.kind not in "iu":
        return False
    size = np.where(part < 0, np.negative(part), part).astype(np.uint64)
    lowest_bit = size & (~size + np.uint64(1))
    return bool((size // np.maximum(lowest_bit, np.uint64(1)) > np.uint64(LARGEST)).any())


def as_numbers(values: Any, name: str) -> Array:
    """Convert `values` to an array of real numbers of at most 64 bits, in the machine's byte order."""
    array = as_array(values, name)
    if is_bfloat16(array):
        array = array.astype(np.float32)
    if array.dtype.kind not in "fiub":
        what, advice = type_name(array.dtype), "Convert them to floats first."
        if array.dtype.kind == "c":
            advice = "Pass their real and imaginary parts side by side."
        elif array.dtype.kind == "O" and any(np.ndim(each) for each in array.flat):
            advice = "Pass one array of numbers whose rows have equal length."
        elif array.dtype.kind == "O":
            kinds = {type(each) for each in array.flat}
            what = "strings" if kinds == {str} else f"objects ({', '.join(sorted(kind.__name__ for kind in kinds))})"
        raise InputError(f"The {name} must contain real numbers, not {what}. {advice}")
    if array.dtype.itemsize > 8:
        raise InputError(
            f"The {name} must contain numbers of at most 64 bits, because only these are ranked exactly, not numbers "
            f"of type {array.dtype.name}. Convert them with .astype('float64')."
        )
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return array


def is_bfloat16(array: Array) -> bool:
    """Whether the numbers are bfloat16, which is not a type of NumPy itself."""
    return array.dtype.kind == "V" and array.dtype.name == "bfloat16"


def type_name(dtype: np.dtype[Any]) -> str:
    """Return the name of a type for messages; NumPy's names of strings contain their size in bits."""
    names = {"U": "strings", "S": "bytes", "O": "objects"}
    return "structured values" if dtype.names else names.get(dtype.kind, dtype.name)


def as_embeddings(values: Any, name: str = "embeddings") -> Embeddings:
    """Convert `values` to an array of shape (n, d) with at least one row and one column."""
    array = as_numbers(values, name)
    if array.ndim != 2:
        several = (
            "; for items of several vectors (distance='maxsim'), pass tp.MultiVectors.padded(x, mask), or a file .npz"
            " with `vectors` and `offsets`"
        )
        raise InputError(
            f"The {name} must have the shape (items, dimensions), not the shape {array.shape} of {array.ndim} "
            f"dimension{'s' if array.ndim != 1 else ''}. Reshape them to one row per item, for example with "
            f".reshape(len(x), -1){several if array.ndim == 3 else ''}."
        )
    if 0 in array.shape:
        raise InputError(f"The {name} must have at least one row and one column, not the shape {array.shape}.")
    return array


def as_finite_embeddings(values: Any, name: str = "embeddings") -> Embeddings:
    """Convert `values` to embeddings, and refuse NaN and infinity; the message names the first such row."""
    array = as_embeddings(values, name)
    for start, block in blocks(array):
        row = first_true(np.asarray(~np.isfinite(block).all(axis=1)))
        if row is not None:
            raise not_finite(name, start + row, block[row])
    return array


def not_finite(name: str, row: int, values: FloatArray) -> InputError:
    """Return the error for the first row of the embeddings, queries or gallery that contains NaN or infinity."""
    return InputError(
        f"The {name} must contain only finite numbers, but row {row} contains {values[~np.isfinite(values)][0]}. "
        "Find out why the model returned it, and leave the row out or repair it.",
        "gallery" if name == "gallery" else "embeddings",
    )


def blocks(array: Embeddings) -> Iterator[tuple[int, FloatArray]]:
    """Yield the rows of `array` in float64, block after block, each with the index of its first row."""
    size = max(1, BLOCK_BYTES // (8 * max(1, int(array.shape[1]))))
    for start in range(0, len(array), size):
        yield start, np.ascontiguousarray(array[start : start + size], dtype=np.float64)


def check_count(arrived: int, name: str, count: int, items: str) -> None:
    """Refuse unless there is exactly one of `name` for each of the `items`."""
    if arrived != count:
        raise CountError(
            f"The number of {name} is {arrived}, but the number of {items} is {count}. Pass exactly one for each, in "
            "the same order."
        )


def first_true(wrong: Array) -> int | None:
    """The position of the first of some bools (n,) that is true, often that of an error; None if none is."""
    return int(np.argmax(wrong)) if wrong.any() else None


def check_finite(array: Array, name: str) -> None:
    """Refuse NaN and infinity; the message names the first position."""
    wrong = np.argwhere(~np.isfinite(array))
    if len(wrong):
        place = tuple(wrong[0].tolist())
        raise InputError(
            f"The {name} must contain only finite numbers, but contain {array[place]} at {list(place)}. Find out "
            "where it comes from, and leave the item out or repair it."
        )
