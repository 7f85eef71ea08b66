"""Sparse rows in files: archives of SciPy's save_npz, .csr of big-ann-benchmarks, JSON on lines, and Parquet.

A .csr file is three int64, the numbers of rows, of dimensions and of entries; then where the rows begin as int64, the
dimensions of the entries as int32, and their weights as float32, all little-endian.

A line of JSON is {"id": …, "vector": {term: weight}}, as Anserini, Pyserini and the scripts of SPLADE write it. A
Parquet file has a column of maps from terms to weights, or the lists `indices` and `values`.
"""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.arrays import as_array
from tieproof.inputs.labels import from_objects
from tieproof.inputs.readers import json_lists, tables
from tieproof.inputs.readers.columns import SPARSE_ROWS, Entry, refuse_scores
from tieproof.inputs.readers.location import AGAIN, File, broken, reading, state_of
from tieproof.inputs.sparse_forms import as_sparse, of_parts
from tieproof.ties import Array

KIND = "sparse rows of big-ann-benchmarks (.csr)"

PARTS = ("indptr", "indices", "data", "shape", "format")  # the arrays in which SciPy stores rows

IN_LINES = "JSON on lines (.jsonl)"
EXPECTED = 'Write {"id": …, "vector": {term: weight}} on each line, with the same fields.'

HEADER = 24  # bytes of three numbers


def of_archive(path: File, entries: Mapping[str, Entry]) -> Entry:
    """The rows of a sparse matrix of SciPy."""

    def load() -> Any:
        parts: dict[str, Array] = {name: np.asarray(entries[name].load()) for name in PARTS if name in entries}
        form = bytes(parts["format"]).rstrip(b"\0").decode(errors="replace")
        if form not in ("csr", "csc") or len(parts) < len(PARTS):
            raise InputError(
                f"{path} contains a sparse matrix in the format {form!r}, not rows. Convert it by .tocsr(), and save "
                "it again."
            )
        starts, terms, shape = parts["indptr"], parts["indices"], tuple(parts["shape"].tolist())
        if form == "csr":
            return _checked(path, starts, terms, parts["data"], shape)
        return _checked(path, starts, terms, parts["data"], shape[::-1]).transposed()

    shape = entries["shape"]
    return Entry("", tuple(shape.load()) if shape.shape == (2,) else (None, None), SPARSE_ROWS, load)


def csr(path: File, named: Collection[str] = ()) -> list[Entry]:
    """Return the rows of a .csr file."""
    with reading(path, KIND), path.open("rb") as file:
        beginning = file.read(HEADER)
    rows, width, entries = np.frombuffer(beginning.ljust(HEADER, b"\0"), "<i8").tolist()
    present, expected = state_of(path)[0], HEADER + 8 * (rows + 1) + 8 * entries
    if min(rows, width, entries) < 0 or present != expected:
        why = f"it has {present:,} bytes, but its header promises {expected:,}; {AGAIN}"
        raise InputError(broken(path, KIND, beginning, why))

    def read(start: int, stop: int) -> Any:
        with reading(path, KIND), path.open("rb") as file:

            def part(at: int, kind: str, count: int) -> Array:
                file.seek(at)
                return np.frombuffer(file.read(max(0, count) * int(kind[-1])), kind)

            starts = part(HEADER + 8 * start, "<i8", stop - start + 1)
            begin, end = int(starts[0]) if start else 0, int(starts[-1]) if stop < rows else entries
            first, count = min(max(0, begin), entries), min(end - begin, entries)
            before = HEADER + 8 * (rows + 1) + 4 * first
            terms, weights = part(before, "<i4", count), part(before + 4 * entries, "<f4", count)
        return _checked(path, starts - begin, terms, weights, (stop - start, width), start)

    return [Entry("", (rows, width), SPARSE_ROWS, lambda: read(0, rows), rows=read)]


def lines(path: Path, named: Collection[str] = ()) -> list[Entry]:
    """Return the fields of the dictionaries on the lines of a file."""
    with reading(path, IN_LINES), path.open(encoding="utf-8") as file:
        content = file.read().encode()
    if not json_lists.is_json(content):
        raise InputError(broken(path, IN_LINES, content, f"it begins with no dictionary. {EXPECTED[:-1]}"))
    rows, numbers = json_lists.contents(path, content, EXPECTED)
    for number, row in zip(numbers, rows, strict=True):
        if not isinstance(row, dict) or row.keys() != rows[0].keys():
            raise InputError(f"{path} has other fields on line {number} than on line {numbers[0]}. {EXPECTED}")
    if not any(isinstance(value, dict | list) for value in rows[0].values()) or "results" in rows[0]:
        refuse_scores(path, tables.read(path).columns)

    def entry(name: str, values: list[Any]) -> Entry:
        kind = next((type(value) for value in values if isinstance(value, dict | list)), None)

        def load() -> Any:
            if kind is None:
                return from_objects(values, f"{name} of {path}")
            for number, value in zip(numbers, values, strict=True):
                if type(value) is not kind:
                    raise InputError(f"{path} has a '{name}' of another form on line {number}. {EXPECTED}")
            return of_dictionaries(path, name, values) if kind is dict else as_array(values, f"{name} of {path}")

        shape = (len(rows),) if kind is None else (len(rows), None)
        return Entry(name, shape, SPARSE_ROWS if kind is dict else "values", load)

    return [entry(name, [row[name] for row in rows]) for name in rows[0]]


def of_dictionaries(path: File, name: str, values: list[Any]) -> Any:
    """Return the rows of dictionaries {term: weight}; errors name the file."""
    try:
        return as_sparse(values, name)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def of_columns(path: File, name: str, columns: list[list[Any]]) -> Any:
    """Return the dictionaries of a column of maps, as lists of pairs, or of a column of terms and one of weights."""
    rows = []
    for number, parts in enumerate(zip(*columns, strict=True)):
        if None not in parts and len({*map(len, parts)}) > 1:
            raise InputError(
                f"{path} has {len(parts[0])} indices but {len(parts[1])} values in row {number}. Write a value for "
                "each index."
            )
        pairs = [] if None in parts else parts[0] if len(parts) == 1 else list(zip(*parts, strict=True))
        try:
            row = dict(pairs)
        except TypeError:
            raise InputError(f"{path}:{name} must have terms that are strings or integers. Convert them.") from None
        if None in (*parts, *row, *row.values()):
            raise InputError(f"{path}:{name} has a null in row {number}. Fill it in, or leave the item out.")
        if len(row) < len(pairs):
            raise InputError(f"{path}:{name} has a term twice in row {number}. Add up its weights first.")
        rows.append(row)
    return of_dictionaries(path, name, rows)


def _checked(path: File, starts: Array, terms: Array, weights: Array, shape: tuple[int, ...], before: int = 0) -> Any:
    """Return the rows; errors name the file."""
    if len(shape) != 2 or len(terms) != len(weights) or starts[-1:] != len(terms):
        raise InputError(f"{path} is damaged: its parts contradict each other. Write or copy it again.")
    try:
        return of_parts(starts, terms, weights, shape, "embeddings", before=before)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
