"""Parquet files: columns of numbers or strings, sparse rows, and a column of lists, read some rows at a time."""

from bisect import bisect_right
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import accumulate
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from tieproof.errors import InputError, import_extra
from tieproof.inputs.arrays import is_rounded, type_name
from tieproof.inputs.labels import from_objects
from tieproof.inputs.readers.columns import SPARSE_ROWS, Entry
from tieproof.inputs.readers.location import File, Location, reading
from tieproof.inputs.readers.sparse import of_columns
from tieproof.inputs.readers.text import from_bytes
from tieproof.ties import Array

PARQUET = "a Parquet file (.parquet)"

SPARSE = "indices", "values"  # the columns of lists that are sparse rows together
BATCH = 2**21  # the number of bytes that are decoded at a time


@contextmanager
def _opened(path: File) -> Iterator[Any]:
    """Open a file by its path, or a remote one by a stream of its bytes."""
    parquet = import_extra("pyarrow.parquet", f"Reading {path}", "parquet")
    with (
        reading(path, PARQUET),
        nullcontext(path) if isinstance(path, Path) else path.open("rb") as source,
        parquet.ParquetFile(source) as file,
    ):
        yield file


class _ListRows:
    """The rows of one column of lists, each decoded once if they are asked for in order.

    A row group can only be decoded from its start on. What was decoded last is kept, about twice as much as was ever
    asked for at once, because threads that read neighboring rows ask in any order.
    """

    def __init__(self, path: File, name: str) -> None:
        self.path, self.name = path, name
        self.where = Location(path, name)
        self.lock = Lock()
        self.ends: list[int] = []  # of the row groups
        self.width = 0
        self.batches: Iterator[tuple[int, Array]] = iter(())
        self.position = -1  # the row that the next batch begins with; -1: no batches
        self.kept: deque[tuple[int, Array]] = deque()
        self.most_asked = 0

    def __call__(self, start: int, stop: int) -> Array:
        """The rows start … stop-1."""
        with self.lock, reading(self.path, PARQUET):
            if not self.ends:
                self.look()
            parts: list[Array] = []
            done = start
            while not parts or done < stop:
                first, rows = self.batch_with(done)
                parts.append(rows[done - first : stop - first])
                done += len(parts[-1])
            answer = np.concatenate(parts)
            self.most_asked = max(self.most_asked, answer.nbytes)
            if stop == self.ends[-1]:  # the next read starts from the beginning
                self.rewind()
            return answer

    def look(self) -> None:
        """Note where row groups end, and how long a row is."""
        with _opened(self.path) as file:
            metadata = file.metadata
            groups = range(metadata.num_row_groups)
            batch = next(file.iter_batches(batch_size=1, columns=[self.name]))
            self.width = self.numbers(batch.column(0), 0).shape[1]
        self.ends = list(accumulate(metadata.row_group(number).num_rows for number in groups))

    def batch_with(self, row: int) -> tuple[int, Array]:
        """Return the decoded batch that contains this row, and the number of its first row."""
        for first, rows in self.kept:
            if first <= row < first + len(rows):
                return first, rows
        group = bisect_right(self.ends, row)
        begin = self.ends[group - 1] if group else 0
        if not 0 <= self.position <= row or begin > self.position:
            self.rewind()
            self.batches, self.position = self.decoded(group, begin), begin
        while True:
            first, rows = next(self.batches)
            self.position = first + len(rows)
            self.kept.append((first, rows))
            while len(self.kept) > 1 and sum(rows.nbytes for _, rows in self.kept) > 2 * self.most_asked + BATCH:
                self.kept.popleft()
            if row < self.position:
                return first, rows

    def rewind(self) -> None:
        """Drop all batches, and close the file."""
        self.batches, self.position = iter(()), -1
        self.kept.clear()

    def decoded(self, group: int, row: int) -> Iterator[tuple[int, Array]]:
        """The rows from a row group on, batch by batch, each with the number of its first row."""
        size = max(1, BATCH // (8 * max(1, self.width)))
        with _opened(self.path) as file:
            for batch in file.iter_batches(size, range(group, len(self.ends)), [self.name], use_threads=False):
                rows = self.numbers(batch.column(0), row)
                yield row, rows
                row += len(rows)

    def numbers(self, column: Any, row: int) -> Array:
        """Return lists as rows; a list that is null, contains a null, or has another length is refused."""
        if column.null_count:
            raise self.null(row + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False))))
        lengths = column.value_lengths().to_numpy(zero_copy_only=False)
        width = self.width or int(lengths[0])
        wrong = np.flatnonzero(lengths != width)
        if wrong.size:
            raise InputError(
                f"{self.where} has lists of different lengths: {width} numbers in row 0 and {lengths[wrong[0]]} in "
                f"row {row + wrong[0]}; give all vectors the same length."
            )
        values = column.flatten()
        if values.null_count:
            raise self.null(row + int(np.argmax(values.is_null().to_numpy(zero_copy_only=False))) // width)
        return _plain(self.path, values, self.name).reshape(len(column), width)

    def null(self, row: int) -> InputError:
        return InputError(f"{self.where} has a null in row {row}; fill it in, or leave the item out.")


def entries(path: File, named: Collection[str] = ()) -> list[Entry]:
    """Return the columns of the table; one of lists has two axes."""
    with _opened(path) as file:
        found = [_entry(path, field, file.metadata.num_rows) for field in file.schema_arrow]
    if not set(SPARSE) <= {entry.name for entry in found if len(entry.shape) == 2}:
        return found
    rows = _sparse(path, SPARSE, found[0].shape[0])
    return [rows if entry.name == rows.name else entry for entry in found if entry.name != SPARSE[0]]


def _sparse(path: File, columns: Sequence[str], count: int | None) -> Entry:
    """Return the sparse rows of a column of maps, or of the columns of terms and of weights."""

    def load() -> Any:
        with _opened(path) as file:
            table = file.read(columns=list(columns))
            return of_columns(path, columns[-1], [table.column(name).to_pylist() for name in columns])

    return Entry(columns[-1], (count, None), SPARSE_ROWS, load)


def _entry(path: File, field: Any, count: int) -> Entry:
    types = import_extra("pyarrow.types", f"Reading {path}", "parquet")
    if types.is_map(field.type):
        return _sparse(path, [field.name], count)
    if any(test(field.type) for test in (types.is_list, types.is_large_list, types.is_fixed_size_list)):
        rows = _ListRows(path, field.name)
        whole = (lambda: rows(0, count)) if count else lambda: np.zeros((0, 0))
        return Entry(field.name, (count, None), str(field.type), whole, rows=rows)

    def load() -> Array:
        with _opened(path) as file:
            return _as_numpy(path, file.read(columns=[field.name]).column(field.name), field.name)

    return Entry(field.name, (count,), str(field.type), load)


def matrix(path: File, named: Collection[str], taken: Sequence[int]) -> Array:
    """Return the columns at some positions, side by side; integers that would be rounded to floats are refused."""
    columns = []
    with _opened(path) as file:
        table = file.read()
        for at in taken:
            name = table.column_names[at]
            column = _as_numpy(path, table.column(at), name)
            if column.dtype.kind not in "biuf":
                raise InputError(
                    f"{Location(path, name)} is a column of {type_name(column.dtype)}, where numbers are expected; "
                    "leave the column out, or rename it to 'id'."
                )
            columns.append(column)
    common = np.result_type(*columns)
    if common.kind == "f" and any(map(is_rounded, columns)):
        raise InputError(
            f"{path} contains an integer beyond 2^53, which the float64 of its other columns cannot represent; "
            "save all columns with one type."
        )
    return np.stack([column.astype(common) for column in columns], axis=1)


def _as_numpy(path: File, column: Any, name: str) -> Array:
    """Return the values of a column; a null is refused."""
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy())) + 1
        raise InputError(
            f"{Location(path, name)} has a null in row {row} of {len(column)}; fill it in, or leave the item out."
        )
    return _plain(path, column, name)


def _plain(path: File, column: Any, name: str) -> Array:
    """Return values without nulls."""
    types = import_extra("pyarrow.types", f"Reading {path}", "parquet")
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if types.is_string(column.type) or types.is_large_string(column.type):
        try:
            strings = column.to_pylist()
        except UnicodeDecodeError:
            binary = import_extra("pyarrow", f"Reading {path}", "parquet").large_binary()
            return from_bytes(column.cast(binary).to_pylist(), Location(path, name))
        return from_objects(strings, f"labels of {Location(path, name)}")
    array: Array = np.asarray(column)
    return array
