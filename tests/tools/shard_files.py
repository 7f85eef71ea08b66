"""Embeddings written as shards: files of every format that `tieproof.open` reads, cut at given rows."""

import io
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from safetensors.numpy import save

Array = npt.NDArray[Any]


def npy(vectors: Array, labels: Array | None) -> bytes:
    stream = io.BytesIO()
    np.save(stream, vectors)
    return stream.getvalue()


def big_ann(vectors: Array, labels: Array | None) -> bytes:
    return np.array(vectors.shape, "<u4").tobytes() + vectors.tobytes()


def vecs(vectors: Array, labels: Array | None) -> bytes:
    """The number of dimensions before each row."""
    return b"".join(np.array(len(row), "<i4").tobytes() + row.tobytes() for row in vectors)


def h5(vectors: Array, labels: Array | None) -> bytes:
    stream = io.BytesIO()
    with h5py.File(stream, "w") as file:
        file["train/vectors"] = vectors
        if labels is not None:
            file["train/label"] = labels.astype(object) if labels.dtype.kind == "U" else labels
    return stream.getvalue()


def safetensors(vectors: Array, labels: Array | None) -> bytes:
    return bytes(save({"vectors": vectors} | ({} if labels is None else {"label": labels})))


def parquet(vectors: Array, labels: Array | None, fixed: bool = True, group: int = 7) -> bytes:
    lists = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
    columns = {"vector": lists if fixed else lists.cast(pa.list_(lists.type.value_type))}
    if labels is not None:
        columns["label"] = pa.array(labels)
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream, row_group_size=group, use_dictionary=False, compression=None)
    return stream.getvalue()


WRITERS: dict[str, Callable[[Array, Array | None], bytes]] = {
    ".npy": npy,
    ".fbin": big_ann,
    ".u8bin": big_ann,
    ".i8bin": big_ann,
    ".fvecs": vecs,
    ".bvecs": vecs,
    ".h5": h5,
    ".hdf5": h5,
    ".safetensors": safetensors,
    ".parquet": parquet,
}

ALONE = (".npy", ".fbin", ".u8bin", ".i8bin", ".fvecs", ".bvecs")
"""Formats that contain only vectors; the labels are in a file next to them."""

TYPES = {".u8bin": "uint8", ".i8bin": "int8", ".bvecs": "uint8"}


def type_of(form: str) -> str:
    """A number type that a format can store."""
    return TYPES.get(form, "float32")


def contents(form: str, vectors: Array, labels: Array | None, cuts: Sequence[int]) -> dict[str, bytes]:
    """The files, by their names, of vectors cut at these rows."""
    bounds = [0, *cuts, len(vectors)]
    files = {}
    for part, (start, stop) in enumerate(pairwise(bounds)):
        own = None if labels is None else labels[start:stop]
        files[f"part-{part}{form}"] = WRITERS[form](vectors[start:stop], own)
        if own is not None and form in ALONE:
            files[f"part-{part}.label.npy"] = npy(own, None)
    return files


def write(folder: Path, form: str, vectors: Array, labels: Array | None = None, cuts: Sequence[int] = ()) -> Path:
    """Write the files into a folder, which is returned."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents(form, vectors, labels, cuts).items():
        (folder / name).write_bytes(content)
    return folder
