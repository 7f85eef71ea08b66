"""Data sets in shards that are not whole, not alike, or changed."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import tieproof as tp
from refusals.case import GOOD, LABELS, Case

Call = Callable[[Path], object]


def parts(folder: Path, *arrays: Any) -> Path:
    """Shards with these arrays, and a label for each row."""
    for part, array in enumerate(arrays):
        np.save(folder / f"part-{part}.npy", array)
        np.save(folder / f"part-{part}.labels.npy", LABELS[: len(array)])
    return folder


def opening(*arrays: Any, **options: Any) -> Call:
    """Open shards with these arrays."""
    return lambda folder: tp.open(parts(folder, *arrays), **options)


def after(change: Callable[[Path], object], *arrays: Any) -> Call:
    """Evaluate shards that were opened before something happened to the last one."""

    def call(folder: Path) -> object:
        shards = tp.open(parts(folder, *arrays))
        change(folder / f"part-{len(arrays) - 1}.npy")
        return tp.evaluate(shards)

    return call


def with_labels(values: Any) -> Call:
    """Open two shards, the second one with these labels."""

    def call(folder: Path) -> object:
        parts(folder, GOOD, GOOD)
        np.save(folder / "part-1.labels.npy", values)
        return tp.open(folder)

    return call


def lists(*rows: Any) -> Call:
    """Evaluate a Parquet file of lists."""

    def call(folder: Path) -> object:
        pq.write_table(pa.table({"vector": rows, "label": range(len(rows))}), folder / "part-0.parquet")
        return tp.evaluate(tp.open(folder))

    return call


def made(folder: Path) -> Path:
    """An empty folder."""
    folder.mkdir()
    return folder


def two_formats(folder: Path) -> object:
    folder = made(folder / "gallery")
    pq.write_table(pa.table({"vector": list(GOOD)}), folder / "part-1.parquet")
    return tp.open(parts(folder, GOOD))


bad = GOOD.copy()
bad[3, 1] = np.nan

CASES: dict[str, Case] = {
    "a pattern that no file matches": Case(
        lambda folder: tp.open(f"{folder}/*.parquet"), r"\*\.parquet matches no file; check the path", in_folder=True
    ),
    "a folder without vector files": Case(
        lambda folder: tp.open(made(folder / "gallery")),
        r"gallery is a folder without files of vectors \(\.npy, ",
        in_folder=True,
    ),
    "a folder with vector files in two formats": Case(
        two_formats, r"several formats \(\.npy, \.parquet\)", in_folder=True
    ),
    "a shard with another number of dimensions": Case(
        opening(GOOD, GOOD[:, :1]),
        r"part-1\.npy contains vectors of length 1, but .*part-0\.npy of length 2",
        in_folder=True,
    ),
    "a shard with another dtype": Case(
        opening(GOOD, GOOD.astype(np.float32)),
        r"part-1\.npy contains float32, but .*part-0\.npy contains float64",
        in_folder=True,
    ),
    "a shard stored column by column (Fortran order)": Case(
        opening(np.asfortranarray(GOOD)), r"part-0\.npy contains .* cannot be read row by row", in_folder=True
    ),
    "shards without a file of the labels that were named": Case(
        opening(GOOD, labels="species"), r"no file part-0\.species\.npy, \.txt or another format", in_folder=True
    ),
    "a shard with too few labels": Case(
        with_labels(LABELS[:5]), r"part-1\.npy has 6 rows, but .*part-1\.labels\.npy has 5 labels", in_folder=True
    ),
    "integer labels in one shard and string labels in another": Case(
        with_labels(list("aabbcc")),
        r"part-0\.labels\.npy are int64, but .* are strings, which are never",
        in_folder=True,
    ),
    "NaN in a shard": Case(
        after(lambda path: None, GOOD, bad),
        r"part-1\.npy contains nan in row 3 \(row 9 of all shards\)",
        in_folder=True,
    ),
    "a shard that was removed after it was opened": Case(
        after(os.remove, GOOD, GOOD), r"part-1\.npy was removed after it was opened", in_folder=True
    ),
    "a shard that was overwritten after it was opened": Case(
        after(lambda path: np.save(path, GOOD[:4]), GOOD, GOOD),
        r"part-1\.npy changed after it was opened: it had 224 bytes and has 192",
        in_folder=True,
    ),
    "a Parquet file with vectors of different lengths": Case(
        lists([1.0, 2.0], [1.0]), r"vector has lists of different lengths: 2 numbers in row 0", in_folder=True
    ),
    "a Parquet file with a null in a vector": Case(
        lists([1.0, 2.0], [1.0, None]), r"vector has a null in row 1", in_folder=True
    ),
    "a Parquet shard with one column per dimension": Case(
        lambda folder: (pq.write_table(pa.table({"f0": [1.0]}), folder / "a.parquet"), tp.open(folder)),
        r"a\.parquet has no column of lists",
        in_folder=True,
    ),
    "shards passed to a function that needs an array": Case(
        lambda folder: tp.collisions(tp.open(parts(folder, GOOD))), r"not shards.*\.read\(0, n\)", in_folder=True
    ),
}
