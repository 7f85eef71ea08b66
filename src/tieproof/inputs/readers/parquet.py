"""Parquet files (.parquet): one column for each dimension, or one column of lists."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.readers.contents import MOST_EXACT, from_bytes, from_strings, name_of
from tieproof.inputs.readers.damage import library
from tieproof.inputs.readers.entries import Entry
from tieproof.inputs.readers.location import Location
from tieproof.inputs.readers.parquet_rows import ListRows, opened
from tieproof.inputs.readers.remote import File
from tieproof.ties import Array


def entries(path: File, named: Collection[str] = ()) -> list[Entry]:
    """Return the columns of the table; one of lists has two axes."""
    with opened(path) as file:
        return [_entry(path, field, file.metadata.num_rows) for field in file.schema_arrow]


def matrix(path: File, named: Collection[str], taken: Sequence[int]) -> Array:
    """Return the columns at some positions, side by side."""
    with opened(path) as file:
        table = file.read()
        named_columns = [(table.column_names[at], table.column(at)) for at in taken]
        columns = [_numbers(_as_numpy(path, column, name), Location(path, name)) for name, column in named_columns]
    return _stack(columns, path)


def _entry(path: File, field: Any, rows: int) -> Entry:
    def load() -> Array:
        with opened(path) as file:
            column = file.read(columns=[field.name]).column(field.name)
            return convert(path, column, field.name)

    if not _is_list(path, field):
        convert = _as_numpy
        return Entry(field.name, (rows,), str(field.type), load)
    convert = _from_lists
    return Entry(field.name, (rows, None), str(field.type), load, rows=ListRows(path, field.name))


def _as_numpy(path: File, column: Any, name: str) -> Array:
    types = library("pyarrow.types", path, "parquet")
    _check_nulls(path, column, name)
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if types.is_string(column.type) or types.is_large_string(column.type):
        try:
            strings = column.to_pylist()
        except UnicodeDecodeError:
            binary = library("pyarrow", path, "parquet").large_binary()
            return from_bytes(column.cast(binary).to_pylist(), Location(path, name))
        return from_strings(strings, Location(path, name))
    array: Array = column.to_numpy()
    return array


def _from_lists(path: File, column: Any, name: str) -> Array:
    compute = library("pyarrow.compute", path, "parquet")
    _check_nulls(path, column, name)
    lengths = compute.list_value_length(column).to_numpy()
    wrong = np.flatnonzero(lengths != lengths[:1])
    if wrong.size:
        raise InputError(
            f"{Location(path, name)} has lists of different lengths: {lengths[0]} numbers in row 1 and "
            f"{lengths[wrong[0]]} in row {wrong[0] + 1}; give all vectors the same length."
        )
    values = _as_numpy(path, compute.list_flatten(column), name)
    return values.reshape(len(lengths), -1) if len(lengths) else values.reshape(0, 0)


def _check_nulls(path: File, column: Any, name: str) -> None:
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy())) + 1
        raise InputError(
            f"{Location(path, name)} has a null in row {row} of {len(column)}; fill it in, or leave the item out."
        )


def _numbers(column: Array, where: Location) -> Array:
    if column.dtype.kind not in "biuf":
        raise InputError(
            f"{where} is a column of {name_of(column.dtype)}, where numbers are expected; "
            "leave the column out, or rename it to 'id'."
        )
    return column


def _stack(columns: Sequence[Array], path: File) -> Array:
    """Put the columns side by side; if their types differ, integers that would be rounded are refused."""
    common = np.result_type(*columns)
    for column in columns:
        rounds = common.kind == "f" and column.dtype.kind in "iu" and column.size
        if rounds and (column.max() > MOST_EXACT or column.min() < -MOST_EXACT):
            raise InputError(
                f"{path} contains an integer beyond 2^53, which the float64 of its other columns cannot represent; "
                "save all columns with one type."
            )
    return np.stack([column.astype(common) for column in columns], axis=1)


def _is_list(path: File, field: Any) -> bool:
    types = library("pyarrow.types", path, "parquet")
    tests = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    return any(test(field.type) for test in tests)
