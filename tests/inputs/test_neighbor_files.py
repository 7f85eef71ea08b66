"""Files of nearest-neighbor benchmarks are read correctly, and inconsistent files are refused by name."""

import struct
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt
import pytest

import tieproof as tp
from tieproof.errors import InputError, MissingExtraError
from tieproof.inputs.readers import read_embeddings
from tieproof.inputs.readers.ann_benchmarks import read_neighbors, read_ranges

Array = npt.NDArray[Any]

RANDOM = np.random.default_rng(8)
IDS = RANDOM.permutation(40).reshape(4, 10).astype(np.int32)
DISTANCES = np.sort(RANDOM.random((4, 10)).astype(np.float32), axis=1)


def binary(path: Path, *arrays: Array, header: tuple[int, int] | None = None) -> Path:
    """A file as its format is described, byte by byte."""
    n, d = header or arrays[0].shape
    path.write_bytes(struct.pack("<II", n, d) + b"".join(array.tobytes() for array in arrays))
    return path


def ranges(path: Path, lengths: list[int], total: int | None = None) -> Path:
    count = sum(lengths) if total is None else total
    ids, distances = np.arange(count, dtype="<i4"), np.arange(count, dtype="<f4") / 2
    head = struct.pack(f"<ii{len(lengths)}i", len(lengths), count, *lengths)
    path.write_bytes(head + ids.tobytes() + distances.tobytes())
    return path


VECTORS = {
    ".fbin": RANDOM.normal(size=(5, 3)).astype("<f4"),
    ".u8bin": RANDOM.integers(0, 256, (5, 3)).astype(np.uint8),
    ".i8bin": RANDOM.integers(-128, 128, (5, 3)).astype(np.int8),
    ".ibin": RANDOM.integers(-(2**31), 2**31, (5, 3)).astype("<i4"),
}


@pytest.mark.parametrize("extension", VECTORS)
def test_vectors_are_read(tmp_path: Path, extension: str) -> None:
    path = binary(tmp_path / f"base{extension}", VECTORS[extension])
    read = read_embeddings(path)
    assert read.dtype == VECTORS[extension].dtype
    assert (read == VECTORS[extension]).all()
    assert not isinstance(read, np.memmap)


VECS = {".fvecs": VECTORS[".fbin"], ".bvecs": VECTORS[".u8bin"], ".ivecs": VECTORS[".ibin"]}


def vecs(path: Path, *rows: Array) -> Path:
    """A file in which the number of dimensions stands before each row."""
    path.write_bytes(b"".join(struct.pack("<i", len(row)) + row.tobytes() for row in rows))
    return path


@pytest.mark.parametrize("extension", VECS)
def test_vectors_after_their_lengths(tmp_path: Path, extension: str) -> None:
    read = read_embeddings(vecs(tmp_path / f"base{extension}", *VECS[extension]))
    assert read.dtype == VECS[extension].dtype
    assert (read == VECS[extension]).all()
    assert not isinstance(read, np.memmap)


def test_vectors_of_different_lengths(tmp_path: Path) -> None:
    """Two vectors of 3 and one of 7 dimensions have as many bytes as four vectors of 3."""
    rows = [np.ones(length, "<f4") for length in (3, 3, 7)]
    with pytest.raises(
        InputError, match=r"base\.fvecs has vectors of different lengths: row 0 has 3 .* row 2 has 7;"
    ):
        read_embeddings(vecs(tmp_path / "base.fvecs", *rows))
    for wrong in (struct.pack("<i", 0), struct.pack("<i", -1) + bytes(8), struct.pack("<if", 2, 1.0), b"\1"):
        (tmp_path / "base.fvecs").write_bytes(wrong)
        with pytest.raises(
            InputError, match=r"base\.fvecs cannot be read as vectors of float32, each after its leng"
        ):
            read_embeddings(tmp_path / "base.fvecs")


def test_neighbors_after_their_number(tmp_path: Path) -> None:
    """The files that a truth is written to are read again; they have no distances beside the ids."""
    gallery, queries = RANDOM.normal(size=(30, 3)), RANDOM.normal(size=(4, 3))
    tp.truth(queries, gallery, k=5, out=tmp_path / "truth", distance="euclidean")
    found = tp.nearest(queries, gallery, k=5, distance="euclidean")
    read = read_neighbors(tmp_path / "truth" / "neighbors.ivecs")
    assert (read.ids == found.ids).all()
    assert read.distances is None
    assert (read_embeddings(tmp_path / "truth" / "distances.fvecs") == found.distances.astype(np.float32)).all()


def test_vectors_are_evaluated(tmp_path: Path) -> None:
    labels = [0, 0, 1, 1, 1]
    read = read_embeddings(binary(tmp_path / "base.fbin", VECTORS[".fbin"]))
    assert tp.evaluate(read, labels).to_dict() == tp.evaluate(VECTORS[".fbin"], labels).to_dict()


@pytest.mark.parametrize("name", ["truth.ibin", "truth.bin", "step1.gt100", "bigann-10M"])
def test_truth_of_big_ann(tmp_path: Path, name: str) -> None:
    read = read_neighbors(binary(tmp_path / name, IDS, DISTANCES))
    assert (read.ids == IDS).all()
    assert read.distances is not None
    assert (read.distances == DISTANCES).all()
    assert read.distances.dtype == np.float32
    assert not isinstance(read.ids, np.memmap)
    assert not isinstance(read.distances, np.memmap)


def test_ids_alone_of_big_ann(tmp_path: Path) -> None:
    read = read_neighbors(binary(tmp_path / "found.ibin", IDS))
    assert (read.ids == IDS).all()
    assert read.distances is None


def test_truth_is_no_embeddings(tmp_path: Path) -> None:
    path = binary(tmp_path / "truth.ibin", IDS, DISTANCES)
    with pytest.raises(InputError, match=r"does not say which of its entries are the embeddings: .*'neighbors'"):
        read_embeddings(path)
    assert (read_embeddings(f"{path}:distances") == DISTANCES).all()


def write_hdf5(path: Path, group: str = "", **arrays: Array) -> Path:
    with h5py.File(path, "a") as file:
        for name, array in arrays.items():
            file[f"{group}/{name}"] = array
    return path


def test_files_of_ann_benchmarks(tmp_path: Path) -> None:
    """A data set with its truth, and results with padding, as its `store_results` writes them."""
    data = write_hdf5(
        tmp_path / "data.hdf5",
        train=np.ones((7, 2), np.float32),
        test=np.ones((4, 2), np.float32),
        neighbors=IDS.astype(np.int64),
        distances=DISTANCES.astype(np.float64),
    )
    read = read_neighbors(data)
    assert (read.ids == IDS).all()
    assert read.distances is not None
    assert read.distances.dtype == np.float64
    assert read_embeddings(f"{data}:train").shape == (7, 2)
    padded = np.where(np.arange(10) < 8, IDS, -1)
    far = np.where(np.arange(10) < 8, DISTANCES, np.inf).astype(np.float32)
    found = read_neighbors(write_hdf5(tmp_path / "run.hdf5", times=np.ones(4), neighbors=padded, distances=far))
    assert (found.ids == padded).all()
    assert found.distances is not None
    assert np.isinf(found.distances[:, 8:]).all()


def test_groups_of_vibe(tmp_path: Path) -> None:
    path = write_hdf5(tmp_path / "run.hdf5", "ef_10", neighbors=IDS, distances=DISTANCES)
    assert (read_neighbors(path).ids == IDS).all()
    write_hdf5(path, "ef_20", neighbors=IDS[:, ::-1], distances=DISTANCES)
    with pytest.raises(InputError, match=r"lists of neighbors in several groups: .*Choose one .*:ef_10'"):
        read_neighbors(path)
    assert (read_neighbors(f"{path}:ef_20").ids == IDS[:, ::-1]).all()
    assert read_neighbors(f"{path}:ef_20/neighbors").distances is not None


def test_arrays_of_numpy(tmp_path: Path) -> None:
    np.save(tmp_path / "found.npy", IDS)
    read = read_neighbors(tmp_path / "found.npy")
    assert (read.ids == IDS).all()
    assert read.distances is None
    assert not isinstance(read.ids, np.memmap)
    np.savez(tmp_path / "found.npz", keys=IDS, neighbors=IDS[:, ::-1], distances=DISTANCES)
    assert (read_neighbors(tmp_path / "found.npz").ids == IDS[:, ::-1]).all()
    assert (read_neighbors(f"{tmp_path}/found.npz:keys").ids == IDS).all()
    np.savez(tmp_path / "found.npz", ids=IDS, distances=DISTANCES)
    assert (read_neighbors(tmp_path / "found.npz").ids == IDS).all()


def test_ranges_of_big_ann(tmp_path: Path) -> None:
    lims, ids = read_ranges(ranges(tmp_path / "truth.rangeres", [2, 0, 3]))
    assert lims.tolist() == [0, 2, 2, 5]
    assert ids.tolist() == [0, 1, 2, 3, 4]
    assert not isinstance(ids, np.memmap)
    assert read_ranges(ranges(tmp_path / "none.rangeres", [0, 0]))[0].tolist() == [0, 0, 0]


def test_ranges_in_archives(tmp_path: Path) -> None:
    lims, ids = np.array([0, 2, 3]), np.array([5, 7, 9])
    path = write_hdf5(tmp_path / "run.hdf5", neighbors=ids, lims=lims, distances=np.ones(3))
    assert [read.tolist() for read in read_ranges(path)] == [[0, 2, 3], [5, 7, 9]]
    assert read_ranges(ranges(tmp_path / "truth.bin", [1, 1]))[0].tolist() == [0, 1, 2]
    np.savez(tmp_path / "run.npz", neighbors=ids)
    refused(
        read_ranges, tmp_path / "run.npz", "has ids but no 'lims', which tell where the list of each query begins"
    )


# What does not fit.


def refused(read: Any, path: Path, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        read(path)
    message = str(caught.value)
    assert path.name in message
    assert "\n" not in message
    assert message.endswith(".")


@pytest.mark.parametrize("change", ["cut short", "too long"])
@pytest.mark.parametrize("extension", VECTORS)
def test_vectors_of_another_size(tmp_path: Path, extension: str, change: str) -> None:
    path = binary(tmp_path / f"base{extension}", VECTORS[extension])
    content = path.read_bytes()
    path.write_bytes(content[:-1] if change == "cut short" else content + b"\0")
    size, has = len(content), path.stat().st_size
    says = rf"is {change}.* it has {has} bytes, but its header promises {size}"
    refused(read_embeddings, path, says)


def test_headers_that_say_nothing(tmp_path: Path) -> None:
    path = tmp_path / "base.fbin"
    path.write_bytes(b"\1\0\0\0\2\0")
    refused(read_embeddings, path, "has 6 bytes, but its header.* needs 8")
    path.write_bytes(struct.pack("<II", 0, 3))
    refused(read_embeddings, path, "is empty: its header contains 0 and 3")
    path.write_bytes(struct.pack("<II", 3, 0))
    refused(read_embeddings, path, "must have at least one row and one column")
    path.write_bytes(struct.pack("<II", 2**32 - 1, 2**32 - 1) + b"\0" * 100)
    refused(read_embeddings, path, "is cut short")
    path.write_bytes(b"")
    refused(read_embeddings, path, "is empty")


def test_truth_of_another_size(tmp_path: Path) -> None:
    path = binary(tmp_path / "truth.bin", IDS, DISTANCES[:, 1:])
    refused(read_neighbors, path, r"for 10 ids as int32 and as many distances as float32 of each of 4 queries")
    path = binary(tmp_path / "truth.ibin", IDS, DISTANCES, header=(4, 11))
    refused(read_neighbors, path, "is cut short")


def test_ranges_that_do_not_add_up(tmp_path: Path) -> None:
    refused(read_ranges, ranges(tmp_path / "a.bin", [2, 3], total=6), "add up to 5 items.* but its header has 6")
    refused(read_ranges, ranges(tmp_path / "b.bin", [7, -2]), "the shortest is -2")
    path = ranges(tmp_path / "c.bin", [2, 3])
    path.write_bytes(path.read_bytes()[:-4])
    refused(read_ranges, path, "is cut short")


def test_files_without_neighbors(tmp_path: Path) -> None:
    path = write_hdf5(tmp_path / "data.hdf5", train=np.ones((2, 2)))
    refused(read_neighbors, path, r"no lists called 'neighbors' or 'ids': it contains 'train'")
    np.save(tmp_path / "x.npy", np.ones((2, 2)))
    refused(read_neighbors, tmp_path / "x.npy", "contains float64, shape .*ids, integers of the shape")
    refused(read_neighbors, tmp_path / "absent.ibin", "does not exist")
    (tmp_path / "run.hdf5").write_bytes(b"no such thing")
    refused(read_neighbors, tmp_path / "run.hdf5", "cannot be read as an HDF5 file")


def test_hdf5_needs_its_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_hdf5(tmp_path / "data.hdf5", neighbors=IDS)
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(MissingExtraError, match=r"tieproof\[h5\]"):
        read_neighbors(path)
