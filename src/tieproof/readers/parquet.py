"""Parquet files (.parquet): a column a dimension, or one column of lists."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.readers.arrays import MOST_EXACT, Array, from_strings
from tieproof.readers.damage import library, reading
from tieproof.readers.entries import COLUMN_LABEL_NAMES, ID_NAMES, Entry
from tieproof.readers.location import Location

KIND = "a Parquet file (.parquet)"
NO_DIMENSION = {*COLUMN_LABEL_NAMES, *ID_NAMES}


def entries(path: Path, entry: str | None) -> list[Entry]:
    """Return the columns of the table; one of lists has two axes."""
    return [_entry(path, field) for field in _fields(path)]


def matrix(path: Path, labels: str | None) -> Array | None:
    """Return the columns that are dimensions; None where the table has a column of lists."""
    fields = _fields(path)
    dimensions = [field.name for field in fields if not _is_left_out(field.name, labels)]
    if any(_is_list(path, field) for field in fields):
        return None
    if not dimensions:
        raise InputError(
            f"{path} has no columns of numbers, only {', '.join(field.name for field in fields)}; "
            "give a table with one column a dimension, or a column of lists."
        )
    parquet = library("pyarrow.parquet", path, "parquet")
    with reading(path, KIND), parquet.ParquetFile(path) as file:
        table = file.read()
        columns = [
            _numbers(_as_numpy(path, table.column(at), name), Location(path, name))
            for at, name in enumerate(table.column_names)
            if name in dimensions
        ]
    return _stack(columns, path)


def _fields(path: Path) -> list[Any]:
    parquet = library("pyarrow.parquet", path, "parquet")
    with reading(path, KIND), parquet.ParquetFile(path) as file:
        return list(file.schema_arrow)


def _entry(path: Path, field: Any) -> Entry:
    def load() -> Array:
        parquet = library("pyarrow.parquet", path, "parquet")
        with reading(path, KIND), parquet.ParquetFile(path) as file:
            column = file.read(columns=[field.name]).column(field.name)
            return convert(path, column, field.name)

    axes, convert = (2, _from_lists) if _is_list(path, field) else (1, _as_numpy)
    return Entry(field.name, axes, str(field.type), load)


def _as_numpy(path: Path, column: Any, name: str) -> Array:
    types = library("pyarrow.types", path, "parquet")
    _check_nulls(path, column, name)
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if types.is_string(column.type) or types.is_large_string(column.type):
        return from_strings(column.to_pylist(), Location(path, name))
    array: Array = column.to_numpy()
    return array


def _from_lists(path: Path, column: Any, name: str) -> Array:
    compute = library("pyarrow.compute", path, "parquet")
    _check_nulls(path, column, name)
    lengths = compute.list_value_length(column).to_numpy()
    wrong = np.flatnonzero(lengths != lengths[:1])
    if wrong.size:
        raise InputError(
            f"{Location(path, name)} has lists of different lengths: {lengths[0]} numbers in row 1 and "
            f"{lengths[wrong[0]]} in row {wrong[0] + 1}; give every vector as many."
        )
    values = _as_numpy(path, compute.list_flatten(column), name)
    return values.reshape(len(lengths), -1) if len(lengths) else values.reshape(0, 0)


def _check_nulls(path: Path, column: Any, name: str) -> None:
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy())) + 1
        raise InputError(
            f"{Location(path, name)} has a null in row {row} of {len(column)}; fill it in, or leave the item out."
        )


def _numbers(column: Array, where: Location) -> Array:
    if column.dtype.kind not in "biuf":
        raise InputError(
            f"{where} is a column of type {column.dtype}, where numbers are expected; "
            "leave the column out, or call it 'id' or 'label'."
        )
    return column


def _stack(columns: Sequence[Array], path: Path) -> Array:
    """Put the columns side by side; where their types differ, no integer may be rounded."""
    common = np.result_type(*columns)
    for column in columns:
        rounds = common.kind == "f" and column.dtype.kind in "iu" and column.size
        if rounds and (column.max() > MOST_EXACT or column.min() < -MOST_EXACT):
            raise InputError(
                f"{path} holds an integer beyond 2^53, which the float64 of its other columns cannot hold; "
                "save all columns as one type."
            )
    return np.stack([column.astype(common) for column in columns], axis=1)


def _is_left_out(name: str, labels: str | None) -> bool:
    return name == labels or name.strip().lower() in NO_DIMENSION


def _is_list(path: Path, field: Any) -> bool:
    types = library("pyarrow.types", path, "parquet")
    tests = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    return any(test(field.type) for test in tests)
