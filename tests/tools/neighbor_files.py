"""Files of nearest-neighbor benchmarks in the current folder, with the names that help texts use."""

import struct
from pathlib import Path

import h5py
import numpy as np

import tieproof as tp


def write_examples() -> None:
    """Write the lists of an index and the true neighbors, both for nearest neighbors and within a radius."""
    vectors = np.random.default_rng(6).integers(0, 4, (40, 6)).astype(np.uint8)
    squares = ((vectors[:8, None].astype(np.int64) - vectors[None]) ** 2).sum(axis=2)
    true = np.argsort(squares, axis=1, kind="stable")[:, :20].astype("<i4")
    far = np.sqrt(np.take_along_axis(squares, true, axis=1)).astype("<f4")
    inside = [np.flatnonzero(row < 10).astype("<i4") for row in squares]
    for name, width in (("index.hdf5", 10), ("sift-128-euclidean.hdf5", 20)):
        with h5py.File(name, "w") as file:
            file["neighbors"], file["distances"] = true[:, :width], far[:, :width]
    with h5py.File("ranges.hdf5", "w") as file:
        file["neighbors"], file["lims"] = np.concatenate(inside), np.cumsum([0, *map(len, inside)])
    np.save("found.npy", true[:, :10])
    for name, rows in (("query.u8bin", vectors[:8]), ("base.u8bin", vectors), ("found.ibin", true[:, :10])):
        Path(name).write_bytes(struct.pack("<II", *rows.shape) + rows.tobytes())
    Path("GT.public.1B.ibin").write_bytes(struct.pack("<II", *true.shape) + true.tobytes() + far.tobytes())
    lengths = [len(items) for items in inside]
    head = struct.pack(f"<ii{len(inside)}i", len(inside), sum(lengths), *lengths)
    Path("public.rangeres").write_bytes(head + np.concatenate(inside).tobytes() + bytes(4 * sum(lengths)))
    write_truth()


def write_truth() -> None:
    """Write vectors, their certified truth, and the truth of others."""
    random = np.random.default_rng(9)
    base, queries = (random.standard_normal((count, 6)).astype(np.float32) for count in (120, 8))
    for name, rows in (("base", base), ("queries", queries)):
        Path(f"{name}.fbin").write_bytes(struct.pack("<II", *rows.shape) + rows.tobytes())
        np.save(f"{name}.npy", rows)
    tp.truth(queries, base, 100, out="truth", distance="euclidean")
    found = tp.nearest(queries, base, 10, distance="euclidean")
    with h5py.File("theirs.hdf5", "w") as file:
        file["neighbors"], file["distances"] = found.ids.astype(np.int32), found.distances.astype(np.float32)
