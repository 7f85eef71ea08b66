"""Files are read as they were written, and unreadable files are refused by name."""

import json
import os
import pickle
import stat
import struct
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import save_file

from tieproof.errors import InputError, InputWarning, MissingExtraError
from tieproof.inputs.mapped import paths_of
from tieproof.inputs.readers import FILE_FORMATS, read_confidences, read_embeddings, read_labels
from tieproof.inputs.shards.shards import open as open_shards
from tieproof.whole_files import atomic_write

Array = npt.NDArray[Any]

FLOATS = ["float16", "float32", "float64"]
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
DTYPES = [*FLOATS, *INTEGERS, "bool"]


def write_npz(path: Path, **arrays: Array) -> None:
    np.savez(path, **arrays)  # type: ignore[arg-type]


def write_h5(path: Path, **arrays: Array) -> None:
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            file[name] = array.astype(object) if array.dtype.kind == "U" else array


def write_safetensors(path: Path, **arrays: Array) -> None:
    save_file(arrays, path)


def write_parquet(path: Path, **arrays: Array) -> None:
    pq.write_table(pa.table({name: list(array) for name, array in arrays.items()}), path)


ARCHIVES: dict[str, Callable[..., None]] = {
    ".npz": write_npz,
    ".h5": write_h5,
    ".hdf5": write_h5,
    ".safetensors": write_safetensors,
    ".parquet": write_parquet,
}
NO_STRINGS = (".safetensors",)


def vectors(dtype: str = "float32", n: int = 5, d: int = 3) -> Array:
    values = np.random.default_rng(7).integers(0, 100, size=(n, d))
    return (values / 7 if dtype in FLOATS else values % 2).astype(dtype)


def same(read: Array, written: Array) -> bool:
    return read.dtype == written.dtype and np.array_equal(read, written)


def refusal(read: Callable[[Any], Array], location: Any) -> str:
    """The message of the refusal: one line that names the file and says what to do."""
    with pytest.raises(InputError) as caught:
        read(location)
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith(".")
    assert Path(str(location)).name.partition(":")[0] in message
    assert any(word in message for word in (";", ". ", " must "))  # It says what arrived and what to do.
    return message


# Files are read as they were written.


@pytest.mark.parametrize("dtype", DTYPES)
def test_npy_keeps_every_type_and_is_not_mapped(tmp_path: Path, dtype: str) -> None:
    path = tmp_path / "embeddings.npy"
    np.save(path, vectors(dtype))
    read = read_embeddings(path)
    assert same(read, vectors(dtype))
    assert not list(paths_of(read))


@pytest.mark.parametrize("order", [">", "F"])
def test_npy_in_another_order_of_bytes_or_axes(tmp_path: Path, order: str) -> None:
    stored = vectors().astype(">f4") if order == ">" else np.asfortranarray(vectors())
    np.save(tmp_path / "x.npy", stored)
    assert same(read_embeddings(tmp_path / "x.npy"), vectors())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("extension", ARCHIVES)
def test_archives_keep_every_type(tmp_path: Path, extension: str, dtype: str) -> None:
    path = tmp_path / f"data{extension}"
    ARCHIVES[extension](path, embeddings=vectors(dtype))
    assert same(read_embeddings(path), vectors(dtype))
    assert same(read_embeddings(f"{path}:embeddings"), vectors(dtype))


@pytest.mark.parametrize("extension", [*ARCHIVES, ".npy"])
@pytest.mark.parametrize("labels", [[3, 1, 2**62], ["cat", "dög", "cat"]])
def test_labels_in_archives(tmp_path: Path, extension: str, labels: list[Any]) -> None:
    if extension in NO_STRINGS and isinstance(labels[0], str):
        pytest.skip("holds no strings")
    path = tmp_path / f"labels{extension}"
    if extension == ".npy":
        np.save(path, labels)
    else:
        ARCHIVES[extension](path, labels=np.array(labels))
    assert read_labels(path).tolist() == labels


def test_npz_compressed(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "data.npz", x=vectors(), y=np.arange(5))
    assert same(read_embeddings(tmp_path / "data.npz"), vectors())
    assert read_labels(tmp_path / "data.npz").tolist() == [0, 1, 2, 3, 4]


def test_bfloat16_becomes_float32_exactly(tmp_path: Path) -> None:
    bits = np.array([[0x3F80, 0xC049], [0x0001, 0x7F7F], [0x8000, 0x3DCD]], dtype="<u2")
    header = {"pad": ("U8", [1], 0, 1), "embeddings": ("BF16", [3, 2], 1, 13)}  # data at an odd address
    text = json.dumps(
        {name: {"dtype": t, "shape": s, "data_offsets": [a, b]} for name, (t, s, a, b) in header.items()}
    ).encode()
    path = tmp_path / "model.safetensors"
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"\0" + bits.tobytes())
    expected = [struct.unpack(">f", struct.pack(">HH", b, 0))[0] for b in bits.reshape(-1).tolist()]
    read = read_embeddings(path)
    assert read.dtype == np.float32
    assert read.reshape(-1).tolist() == expected


def test_float8_is_refused(tmp_path: Path) -> None:
    text = b'{"embeddings": {"dtype": "F8_E4M3", "shape": [1, 2], "data_offsets": [0, 2]}}'
    path = tmp_path / "model.safetensors"
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"\0\0")
    assert "save them as float32" in refusal(read_embeddings, path)


@pytest.mark.parametrize(("extension", "delimiter"), [(".csv", ","), (".tsv", "\t")])
def test_delimited_numbers_are_rounded_correctly(tmp_path: Path, extension: str, delimiter: str) -> None:
    rng = np.random.default_rng(3)
    bits = rng.integers(0, 2**63, size=(200, 4), dtype=np.int64)
    values = bits.view(np.float64)
    values[~np.isfinite(values)] = 0.1
    path = tmp_path / f"embeddings{extension}"
    path.write_text("\n".join(delimiter.join(map(repr, row)) for row in values.tolist()))
    assert same(read_embeddings(path), values)
    # halfway between two doubles, slightly above that, and more digits than a double has
    path.write_text(delimiter.join(["9007199254740993", "9007199254740993.0000000001", "0.1" + "0" * 400 + "1"]))
    assert read_embeddings(path).tolist() == [[2.0**53, 2.0**53 + 2, 0.1]]


HEADERS = {
    "none": ("1.5,2\n3,4\n", None),
    "names": ("f0,f1\n1.5,2\n3,4\n", None),
    "counted": ("0,1\n1.5,2.0\n3.0,4.0\n", None),
    "pandas index": (",0,1\n0,1.5,2\n1,3,4\n", None),
    "id and label": ("id,label,f0,f1\n7,cat,1.5,2\n8,dog,3,4\n", ["cat", "dog"]),
    "quoted": ('"f0","label","f1"\n"1.5","x, ""y""\nz","2"\n3,"dog",4\n', ['x, "y"\nz', "dog"]),
    "numbers as names": ("label,0,1\n5,1.5,2\n6,3,4\n", [5, 6]),
    "spaces": (" f0 , Label , f1 \n 1.5 , cat , 2 \n 3 , dog , 4 \n", ["cat", "dog"]),
    "windows": ("\ufefff0,f1\r\n1.5,2\r\n3,4\r\n\r\n", None),
}


@pytest.mark.parametrize("text, labels", HEADERS.values(), ids=HEADERS)  # noqa: PT006
def test_header_of_a_csv(tmp_path: Path, text: str, labels: list[Any] | None) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(text.encode())
    assert read_embeddings(path).tolist() == [[1.5, 2], [3, 4]]
    if labels:
        assert read_labels(path).tolist() == labels


SINGLE_COLUMNS = {
    "label\ncat\ndog\n": ["cat", "dog"],
    "Class\n0\n1\n": [0, 1],
    "id\n0\n1\n": [0, 1],
    "cat\ndog": ["cat", "dog"],
    "1\n0\n": [1, 0],
    "07\n7\n": ["07", "7"],
    "1\n7.0\n": ["1", "7.0"],
    "1\n1_0\n": ["1", "1_0"],
    "1\n١\n": ["1", "١"],
    "18446744073709551615\n1\n": [2**64 - 1, 1],
    "nan\nbaguette\n": ["nan", "baguette"],  # a kind of bread
}


@pytest.mark.parametrize("text, labels", SINGLE_COLUMNS.items())  # noqa: PT006
def test_labels_in_a_csv_of_one_column(tmp_path: Path, text: str, labels: list[Any]) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(text, encoding="utf-8")
    assert read_labels(path).tolist() == labels


def test_column_chosen_for_labels(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("f0,species,f1\n1,0,2\n3,1,4\n")
    assert read_labels(f"{path}:species").tolist() == [0, 1]
    assert read_embeddings(path, apart=[f"{path}:species"]).tolist() == [[1, 2], [3, 4]]
    for elsewhere in ([], [tmp_path / "missing.csv:species"]):
        with pytest.warns(InputWarning, match="'species' is read as a dimension, in addition to 2 numbered columns"):
            assert read_embeddings(path, apart=elsewhere).tolist() == [[1, 0, 2], [3, 1, 4]]
    path.write_text("1.5,2,3\n3,4,2\n")  # without a header columns are counted from 1
    assert read_labels(f"{path}:3").tolist() == [3, 2]
    assert read_embeddings(path, apart=[f"{path}:3"]).tolist() == [[1.5, 2], [3, 4]]
    path.write_text("species\n5\n6\n")
    assert read_labels(f"{path}:species").tolist() == [5, 6]


def test_columns_without_a_name(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text(",species,f0\n0,5,2\n1,6,4\n")  # the first is the index of pandas
    assert read_labels(f"{path}:species").tolist() == [5, 6]
    assert read_embeddings(path, apart=[f"{path}:species"]).tolist() == [[2], [4]]
    path.write_text("a,,c\n1,2,3\n")  # any other is data
    with pytest.warns(InputWarning, match="'a', '2', 'c' are read as dimensions"):
        assert read_embeddings(path).tolist() == [[1, 2, 3]]
    assert read_labels(f"{path}:2").tolist() == [2]


def test_parquet_of_columns(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    frame = pd.DataFrame({"id": [9, 8], "f1": [1, 2], "label": ["x", "y"], "f0": [0.5, 0.25]}, index=[4, 5])
    frame.to_parquet(path)
    assert read_embeddings(path).tolist() == [[1, 0.5], [2, 0.25]]
    assert read_labels(path).tolist() == ["x", "y"]
    assert read_embeddings(path, apart=[f"{path}:f1"]).tolist() == [[0.5], [0.25]]
    assert read_labels(f"{path}:f1").tolist() == [1, 2]


def test_parquet_with_a_column_of_lists(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    for type_ in (pa.list_(pa.float16()), pa.large_list(pa.float16()), pa.list_(pa.float16(), 3)):
        parts = [list(map(list, part)) for part in np.split(vectors("float16"), [2])]
        column = pa.chunked_array([pa.array(part, type_) for part in parts])
        kinds = pa.array(list("ababa")).dictionary_encode()
        pq.write_table(pa.table({"text": list("vwxyz"), "vec": column, "label": kinds}), path)
        assert same(read_embeddings(path), vectors("float16"))
        assert same(read_embeddings(f"{path}:vec"), vectors("float16"))
        assert read_labels(path).tolist() == list("ababa")


def test_parquet_never_rounds_an_integer(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    write_parquet(path, a=np.array([2**53 + 1]), b=np.array([0.5]))
    assert "2^53" in refusal(read_embeddings, path)
    write_parquet(path, f0=np.array([2**53 + 1]), f1=np.array([5], dtype=np.int8))
    assert read_embeddings(path).tolist() == [[2**53 + 1, 5]]


TEXT_LABELS = {
    "txt words": (".txt", "cat\r\n dog \ncat\n\n", ["cat", "dog", "cat"]),
    "txt integers": (".txt", "\ufeff1\n-2\n", [1, -2]),
    "json integers": (".json", "[1, 18446744073709551615]", [1, 2**64 - 1]),
    "json strings": (".json", '["1", "02"]', ["1", "02"]),
    "json bools": (".json", "[true, false]", [1, 0]),
    "json whole floats": (".json", "[1.0, 2.0]", [1, 2]),
}


@pytest.mark.parametrize("extension, text, labels", TEXT_LABELS.values(), ids=TEXT_LABELS)  # noqa: PT006
def test_labels_in_text(tmp_path: Path, extension: str, text: str, labels: list[Any]) -> None:
    path = tmp_path / f"labels{extension}"
    path.write_bytes(text.encode())
    assert read_labels(path).tolist() == labels


STORED_LABELS = {
    "row": ([[1, 2, 3]], [1, 2, 3]),
    "column": ([["a"], ["b"]], ["a", "b"]),
    "bytes": (np.array([b"a", "ö".encode()]), ["a", "ö"]),
    "bools": ([True, False], [1, 0]),
    "whole floats": ([1.0, -2.0], [1, -2]),
    "several classes": (np.array([[1, 0], [1, 1]], dtype=np.uint8), [[1, 0], [1, 1]]),
    "several classes, floats": ([[1.0, 0.0], [1.0, 1.0]], [[1, 0], [1, 1]]),
    "big-endian": (np.array([1, 2], dtype=">i8"), [1, 2]),
}


@pytest.mark.parametrize("stored, labels", STORED_LABELS.values(), ids=STORED_LABELS)  # noqa: PT006
def test_labels_are_integers_strings_or_classes(tmp_path: Path, stored: Any, labels: list[Any]) -> None:
    np.save(tmp_path / "labels.npy", stored)
    read = read_labels(tmp_path / "labels.npy")
    assert read.tolist() == labels
    assert read.dtype.kind in "iuU"
    assert read.dtype.isnative
    assert type(read) is np.ndarray


# The choice of the file and of the entry.


@pytest.mark.parametrize("extension", ARCHIVES)
def test_one_file_contains_both(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"data{extension}"
    ARCHIVES[extension](path, X=vectors(), targets=np.arange(5), ids=np.arange(5, 10))
    assert same(read_embeddings(path), vectors())
    assert read_labels(path).tolist() == [0, 1, 2, 3, 4]


def test_the_only_fitting_entry_is_meant(tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    np.savez(path, vectors(), np.arange(5))
    assert same(read_embeddings(path), vectors())
    assert read_labels(path).tolist() == [0, 1, 2, 3, 4]
    np.savez(path, np.arange(5).reshape(5, 1))
    assert read_labels(path).tolist() == [0, 1, 2, 3, 4]
    write_npz(path, labels=np.eye(2))
    assert "does not say which" in refusal(read_embeddings, path)


def test_names_in_hdf5_that_are_not_utf8(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file[b"caf\xe9"] = np.arange(5)
        file["embeddings"] = vectors()
    assert same(read_embeddings(tmp_path / "data.h5"), vectors())
    assert "'caf\\xe9'" in refusal(read_embeddings, f"{tmp_path}/data.h5:key")


def test_groups_of_hdf5(tmp_path: Path) -> None:
    path = tmp_path / "data.h5"
    write_h5(path, **{"test/embeddings": vectors(), "test/classes": np.array(["a", "b", "a", "ö", "a"])})
    assert same(read_embeddings(path), vectors())
    assert same(read_embeddings(f"{path}:/test/embeddings"), vectors())
    assert read_labels(f"{path}:test/classes").tolist() == ["a", "b", "a", "ö", "a"]
    write_h5(path, **{"test/embeddings": vectors(), "train/embeddings": vectors()})
    assert f"'{path}:test/embeddings'" in refusal(read_embeddings, path)


COLONS = ["a:b.npz", "C:x/data.npz", "data.npz:x", "data.npz:x.npz"]


@pytest.mark.parametrize("name", COLONS)
def test_colons_in_a_path(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as file:
        np.savez(file, a=vectors(), b=vectors() * 2)
    if path.suffix == ".npz":
        assert same(read_embeddings(f"{path}:b"), vectors() * 2)
        assert "no entry called 'c:d'" in refusal(read_embeddings, f"{path}:c:d")
    else:
        assert "extension" in refusal(read_embeddings, path)


def test_colons_in_the_name_of_an_entry(tmp_path: Path) -> None:
    write_npz(tmp_path / "data.npz", **{"a:b": vectors(), "c": vectors()})
    assert same(read_embeddings(f"{tmp_path}/data.npz:a:b"), vectors())


@pytest.mark.parametrize("location", ["C:\\data\\x.npz", "missing.npz", "missing.npz:key", "a:b/missing.npz:key"])
def test_missing_file(location: str) -> None:
    message = refusal(read_embeddings, location)
    assert message.startswith(location.removesuffix(":key") + " does not exist; check the path")


# Unreadable files are refused by name.


@pytest.mark.parametrize("extension", FILE_FORMATS)
@pytest.mark.parametrize("read", [read_embeddings, read_labels])
def test_empty_file(tmp_path: Path, read: Callable[[Any], Array], extension: str) -> None:
    path = tmp_path / f"data{extension}"
    path.touch()
    assert "is empty (0 bytes)" in refusal(read, path)


def test_folder(tmp_path: Path) -> None:
    assert "is a folder" in refusal(read_embeddings, tmp_path)


def test_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.npy")
    assert "not a regular file" in refusal(read_embeddings, tmp_path / "x.npy")


def test_strange_paths() -> None:
    assert "cannot be opened" in refusal(read_embeddings, "x\0.npy")
    assert "cannot be opened" in refusal(read_embeddings, "x" * 5000 + ".npy")


def test_permission_denied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.npy"
    np.save(path, vectors())

    def denied(*arguments: Any, **options: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)  # the superuser may read everything
    assert "permission denied" in refusal(read_embeddings, path)


@pytest.mark.parametrize("name", ["data.xyz", "data", "data.npy.gz"])
def test_unknown_extension(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("1")
    message = refusal(read_embeddings, tmp_path / name)
    assert all(extension in message for extension in FILE_FORMATS)


def test_extension_in_capitals(tmp_path: Path) -> None:
    (tmp_path / "X.CSV").write_text("1,2\n")
    assert read_embeddings(tmp_path / "X.CSV").tolist() == [[1, 2]]


@pytest.mark.parametrize("extension", [".txt", ".json"])
def test_embeddings_are_not_read_from_text(tmp_path: Path, extension: str) -> None:
    (tmp_path / f"x{extension}").write_text("[1]")
    assert "can only hold labels" in refusal(read_embeddings, tmp_path / f"x{extension}")


BINARY = [".npy", ".fbin", ".fvecs", *ARCHIVES]


def write(path: Path) -> None:
    if path.suffix == ".npy":
        np.save(path, vectors(n=50))
    elif path.suffix == ".fbin":
        path.write_bytes(struct.pack("<II", 50, 3) + vectors(n=50).tobytes())
    elif path.suffix == ".fvecs":
        path.write_bytes(b"".join(struct.pack("<i", 3) + row.tobytes() for row in vectors(n=50)))
    else:
        ARCHIVES[path.suffix](path, embeddings=vectors(n=50))


@pytest.mark.parametrize("extension", BINARY)
def test_truncated_file(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"data{extension}"
    write(path)
    whole = path.read_bytes()
    for size in [*range(1, 200, 7), len(whole) // 2, len(whole) - 1]:
        path.write_bytes(whole[:size])
        if extension == ".fvecs" and size % 16 == 0:
            assert same(
                read_embeddings(path), vectors(n=50)[: size // 16]
            )  # a whole number of vectors, and no header
            continue
        message = refusal(read_embeddings, path)
        assert "write or copy it again" in message or "cut short" in message
    path.write_bytes(whole)
    assert same(read_embeddings(path), vectors(n=50))


@pytest.mark.parametrize("old, new", [(b"(8, 3)", b"(-8,3)"), (b"NUMPY\1", b"NUMPY\7")])  # noqa: PT006
def test_npy_with_a_header_of_nothing(tmp_path: Path, old: bytes, new: bytes) -> None:
    path = tmp_path / "x.npy"
    np.save(path, np.zeros((8, 3)))
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    reads: tuple[Callable[[Any], Any], ...] = (read_embeddings, open_shards)
    for read in reads:
        assert "x.npy cannot be read as a NumPy array (.npy): it is damaged" in refusal(read, path)


def test_truncated_npy_says_how_much_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.save(path, vectors("float64", n=10, d=10))
    path.write_bytes(path.read_bytes()[: 128 + 300])
    message = refusal(read_embeddings, path)
    assert "float64, shape (10, 10) needs 800 bytes of data, but 300 are present" in message


FOREIGN = {
    "a PNG image": b"\x89PNG\r\n\x1a\n" + bytes(100),
    "an HDF5 file": b"\x89HDF\r\n\x1a\n" + bytes(100),
    "a zip archive": b"PK\x03\x04" + bytes(100),
    "a NumPy array": b"\x93NUMPY\x01\x00" + bytes(100),
    "a Python pickle": pickle.dumps([1, 2, 3]),
    "UTF-16 text": "1,2\n3,4\n".encode("utf-16"),
    "cannot be read as": b"this is text, caf\xe9\n",
}


@pytest.mark.parametrize("extension", sorted(set(FILE_FORMATS) - {".pt", ".pth"}))
@pytest.mark.parametrize("content", FOREIGN)
def test_foreign_content(tmp_path: Path, extension: str, content: str) -> None:
    path = tmp_path / f"data{extension}"
    path.write_bytes(FOREIGN[content])
    message = refusal(read_labels, path)
    assert "cannot be read as" in message
    if extension not in (".npy", ".npz", ".h5", ".hdf5"):
        assert content in message


@pytest.mark.parametrize("extension", BINARY)
def test_damage_is_refused_or_harmless(tmp_path: Path, extension: str) -> None:
    """After random changes of bytes, reading returns numbers or raises InputError, and never another exception."""
    path = tmp_path / f"data{extension}"
    write(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(5)
    for _ in range(60):
        damaged = bytearray(whole)
        for at in rng.integers(0, min(len(whole), 2000), size=3).tolist():
            damaged[at] = int(rng.integers(256))
        path.write_bytes(damaged)
        with suppress(InputError):
            assert read_embeddings(path).ndim == 2


class Bomb:
    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (Path("exploded"),))


@pytest.mark.parametrize("extension", [".npy", ".npz"])
def test_nothing_is_unpickled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, extension: str) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"bomb{extension}"
    bomb = np.array([Bomb(), None], dtype=object)
    np.save(path, bomb) if extension == ".npy" else write_npz(path, embeddings=bomb)
    for read in (read_embeddings, read_labels):
        message = refusal(read, path if extension == ".npy" else f"{path}:embeddings")
        assert "Python objects, which are never unpickled" in message
    path.write_bytes(pickle.dumps(Bomb()))
    assert "Python pickle (never loaded)" in refusal(read_embeddings, path)
    assert not (tmp_path / "exploded").exists()


BAD_EMBEDDINGS = {
    "a vector": (np.arange(3), "must have the shape (items, dimensions), not the shape (3,)"),
    "a number": (np.array(3), "shape ()"),
    "three axes": (np.zeros((2, 2, 2)), "shape (2, 2, 2)"),
    "no rows": (np.zeros((0, 4)), "must have at least one row and one column, not the shape (0, 4)"),
    "complex": (np.zeros((2, 2), dtype=complex), "must contain real numbers, not complex128"),
    "strings": (np.array([["a"]]), "must contain real numbers, not strings"),
    "dates": (np.zeros((2, 2), dtype="datetime64[s]"), "datetime64"),
    "structured": (np.zeros((2, 2), dtype=[("a", "f4")]), "must contain real numbers, not structured values"),
    "structured, named beyond Latin": (np.zeros(2, dtype=[("ж", "f4")]), "structured array; save one array"),
    "long doubles": (np.zeros((2, 2), dtype=np.longdouble), "longdouble"),
}


@pytest.mark.filterwarnings("ignore:Stored array in format 3.0")
@pytest.mark.parametrize("stored, expected", BAD_EMBEDDINGS.values(), ids=BAD_EMBEDDINGS)  # noqa: PT006
def test_bad_embeddings(tmp_path: Path, stored: Array, expected: str) -> None:
    np.save(tmp_path / "x.npy", stored)
    if expected == "longdouble":
        expected = str(np.dtype(np.longdouble))
        if expected == "float64":
            pytest.skip("long doubles are doubles here")
    assert expected in refusal(read_embeddings, tmp_path / "x.npy")


BAD_LABELS = {
    "NaN": ([1.0, np.nan], "must be integers or strings, but row 1 contains nan. Give every item"),
    "fractions": ([1.0, 0.5], "must be integers or strings, but row 1 contains 0.5"),
    "beyond 2^24 in float32": (
        np.array([1, 2**24 + 2], "f4"),
        "every integer only below 16777216, but row 1 contains",
    ),
    "classes that count": ([[0, 1], [0, 2]], "have the shape (2, 2): two dimensions mean one 0/1 column per class"),
    "three axes": (np.zeros((2, 2, 2)), "(2, 2, 2)"),
    "a number": (np.array(3), "must have the shape (items,) or (items, classes), not ()"),
    "none": (np.zeros(0, dtype=int), "contains no labels"),
    "dates": (np.zeros(2, dtype="datetime64[s]"), "must be integers or strings, not datetime64[s]"),
    "bytes": (np.array([b"a", b"\xff"]), "has b'\\xff' at [1], which is not UTF-8 text"),
    "no letters": (np.array([65, 0x110000], np.uint32).view("<U1"), "contain bytes at [1] that are not Unicode"),
    "no letters, big-endian": (
        np.array([65, 0x110000], ">u4").view(">U1"),
        "contain bytes at [1] that are not Unicode",
    ),
}


@pytest.mark.parametrize("stored, expected", BAD_LABELS.values(), ids=BAD_LABELS)  # noqa: PT006
def test_bad_labels(tmp_path: Path, stored: Any, expected: str) -> None:
    np.save(tmp_path / "y.npy", stored)
    assert expected in refusal(read_labels, tmp_path / "y.npy")


BROKEN = [b"cat", b"caf\xe9", b"cat"]


NO_TEXT = {".safetensors", ".pt", ".pth", ".fbin", ".u8bin", ".i8bin", ".ibin", ".fvecs", ".bvecs", ".ivecs", ".csr"}


@pytest.mark.parametrize("extension", sorted({*FILE_FORMATS} - NO_TEXT))
def test_labels_in_bytes_that_are_no_text(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"labels{extension}"
    if extension == ".npy":
        np.save(path, BROKEN)
    elif extension in (".npz", ".h5", ".hdf5"):
        ARCHIVES[extension](path, labels=np.array(BROKEN))
    elif extension == ".parquet":
        offsets = np.cumsum([0, *map(len, BROKEN)]).astype(np.int32)
        buffers = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(b"".join(BROKEN))]
        pq.write_table(pa.table({"label": pa.Array.from_buffers(pa.string(), 3, buffers)}), path)
    elif extension == ".json":
        path.write_bytes(b'["' + b'", "'.join(BROKEN) + b'"]')
    else:
        path.write_bytes(b"\n".join([b"label", *BROKEN]))
    message = refusal(read_labels, path)
    assert "not UTF-8" in message
    assert "damaged" not in message
    if extension in (".npy", *ARCHIVES):
        assert "b'caf\\xe9' at [1]" in message


def test_columns_whose_names_are_no_text(tmp_path: Path) -> None:
    schema = pa.schema([pa.field(b"caf\xe9", pa.float64())])
    pq.write_table(pa.table([pa.array([1.0])], schema=schema), tmp_path / "data.parquet")
    for read in (read_embeddings, read_labels):
        assert "the byte 0xe9 is not UTF-8" in refusal(read, tmp_path / "data.parquet")


def test_confidences_in_bytes(tmp_path: Path) -> None:
    np.save(tmp_path / "sure.npy", [[b"0.5", b"1"]])
    assert read_confidences(tmp_path / "sure.npy").tolist() == [0.5, 1]
    np.save(tmp_path / "sure.npy", [b"0.5", b"\xff"])
    assert "has b'\\xff' at [1]" in refusal(read_confidences, tmp_path / "sure.npy")


BAD_TEXT_LABELS = {
    "blank line": (".txt", "a\n\nb\n", "no label on line 2"),
    "blank file": (".txt", "\n\n", "contains no labels"),
    "not UTF-8": (".txt", b"caf\xe9\n", "cannot be read as UTF-8 text"),
    "object": (".json", '{"labels": [1]}', 'contains {"labels": [1]}; write a flat list'),
    "string": (".json", '"a"', 'contains "a"'),
    "null alone": (".json", "null", "contains null"),
    "nested": (".json", "[[1], [2]]", "has [1] at [0]; write a flat list"),
    "objects": (".json", '[1, {"a": 2}]', '{"a": 2} at [1]'),
    "mixed": (".json", '[1, "a"]', 'has "a" at [1] beside 1 at [0]'),
    "bools and integers": (".json", "[1, true]", "has true at [1] beside 1 at [0]"),
    "null": (".json", '["a", null]', 'has null at [1] beside "a" at [0]'),
    "NaN": (".json", "[1.0, NaN]", "row 1 contains nan"),
    "none": (".json", "[]", "contains no labels"),
    "cut": (".json", "[1, 2", "cannot be read as a JSON list"),
    "deep": (".json", "[" * 100_000, "cannot be read as a JSON list"),
    "large": (".json", f"[{2**64}]", "do not fit into one type of at most 64 bits"),
    "zero character": (".json", '["a", "a\\u0000"]', "a string that ends in a NUL character"),
}


@pytest.mark.parametrize("extension, text, expected", BAD_TEXT_LABELS.values(), ids=BAD_TEXT_LABELS)  # noqa: PT006
def test_bad_labels_in_text(tmp_path: Path, extension: str, text: str | bytes, expected: str) -> None:
    path = tmp_path / f"labels{extension}"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert expected in refusal(read_labels, path)


BAD_TABLES = {
    "ragged": ("a,b\n1,2\n3\n", "ragged row: line 3 has 1 cells, but the first row has 2"),
    "long": ("1,2\n3,4,5\n", "line 2 has 3 cells"),
    "all longer than the header": ("a,b\n1,2,3\n", "line 2 has 3 cells"),
    "a word": ("a,b\n1,2\n3,four\n", "'four' on line 3 in column 2 ('b'), where a number"),
    "a word at the start": ("1,two\n3,4\n", "'two' on line 1 in column 2, where a number"),
    "an empty cell": ("a,b\n1,\n", "an empty cell on line 2 in column 2 ('b')"),
    "underscore": ("1_000,2\n", "'1_000' on line 1 in column 1"),
    "digits of another script": ("1,2\n١,2\n", "'١' on line 2"),
    "a word behind a quoted line": ('a,label\n1,"x\ny"\nz,w\n', "'z' on line 4"),
    "header alone": ("a,b\n", "no rows under its header"),
    "blank": ("\n\n", "has no rows"),
    "labels alone": ("label\n1\n", "no columns of numbers, only label"),
    "one column with a gap": ("1\n\n2\n", "is blank on line 2"),
    "semicolons": ("1;2\n3;4\n", "'1;2' on line 1"),
}


@pytest.mark.parametrize("text, expected", BAD_TABLES.values(), ids=BAD_TABLES)  # noqa: PT006
def test_bad_tables(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text, encoding="utf-8")
    assert expected in refusal(read_embeddings, path)


BAD_LABEL_COLUMNS = {
    "empty": ("label,a\ncat,1\n,2\n", "no label on line 3 in column 1 ('label')"),
    "quoted and empty": ('label\ncat\n""\n', "no label on line 3"),
    "blank line": ("cat\n\ndog\n", "is blank on line 2"),
    "NaN among numbers": ("label\n1\nnan\n", "NaN in row 2 of column 1"),
    "ragged": ("label,a\ncat,1\ndog\n", "line 3 has 1 cells"),
    "perhaps a header": ("species\n0\n1\n", "'species' on line 1 above integers"),
    "several columns": ("a,b\n1,2\n", "Choose one by a colon and its name"),
    "quote left open": ('label\n"cat\ndog\n', "cannot be read as a table"),
}


@pytest.mark.parametrize("text, expected", BAD_LABEL_COLUMNS.values(), ids=BAD_LABEL_COLUMNS)  # noqa: PT006
def test_bad_label_columns(tmp_path: Path, text: str, expected: str) -> None:
    (tmp_path / "y.csv").write_text(text)
    assert expected in refusal(read_labels, tmp_path / "y.csv")


BAD_FRAMES: dict[str, tuple[dict[str, Any], str]] = {
    "a null": ({"a": [1.0, None]}, "data.parquet:a has a null in row 2 of 2"),
    "a null list": ({"embeddings": [[1.0], None]}, "null in row 1"),
    "a null in a list": ({"embeddings": [[1.0, 2.0], [3.0, None]]}, "null in row 1"),
    "lists of different lengths": ({"v": [[1.0], [2.0, 3.0]]}, "1 numbers in row 0 and 2 in row 1"),
    "lists of strings": ({"v": [["a"], ["b"]]}, "must contain real numbers, not strings"),
    "lists of lists": ({"v": [[[1.0]], [[2.0]]]}, "must contain real numbers, not objects"),
    "two columns of lists": ({"v": [[1.0]], "w": [[1.0]]}, "'v' (list<"),
    "strings": ({"a": [1.0], "text": ["x"]}, "data.parquet:text is a column of strings"),
    "no rows": ({"a": np.zeros(0)}, "must have at least one row"),
    "no lists": ({"v": pa.array([], pa.list_(pa.float32()))}, "must have at least one row"),
    "no dimensions": ({"label": [1]}, "no columns of numbers, only label"),
}


@pytest.mark.parametrize("columns, expected", BAD_FRAMES.values(), ids=BAD_FRAMES)  # noqa: PT006
def test_bad_parquet(tmp_path: Path, columns: dict[str, Any], expected: str) -> None:
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table(columns), path)
    assert expected in refusal(read_embeddings, path)


def test_parquet_labels_without_null_and_nan(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"label": ["a", None]}), path)
    assert "null in row 2" in refusal(read_labels, path)
    pq.write_table(pa.table({"label": [1.0, float("nan")]}), path)
    assert "row 1 contains nan" in refusal(read_labels, path)
    pq.write_table(pa.table({"label": [b"a"]}), path)
    assert "must be integers or strings, not objects" in refusal(read_labels, path)


@pytest.mark.parametrize("extension", ARCHIVES)
def test_missing_entry(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"data{extension}"
    ARCHIVES[extension](path, embeddings=vectors(), labels=np.arange(5))
    for key in ("emb", ""):
        message = refusal(read_embeddings, f"{path}:{key}")
        assert f"no entry called '{key}'" in message
        assert "'embeddings' (" in message
        assert "'labels' (" in message
        assert f"such as '{path}:embeddings'" in message


def test_ambiguous_entries_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    write_npz(path, train=vectors(), test=vectors("int8", 2, 2))
    message = refusal(read_embeddings, path)
    assert "'train' (float32, shape (5, 3)), 'test' (int8, shape (2, 2))" in message
    assert f"such as '{path}:train'" in message
    write_npz(path, **{f"a{i}": vectors() for i in range(30)})
    assert "and 10 more" in refusal(read_embeddings, path)
    write_npz(path, embeddings=vectors())
    assert "which of its entries are the labels" in refusal(read_labels, path)


def test_a_single_array_has_no_entries(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", vectors())
    assert "leave out ':key'" in refusal(read_embeddings, f"{tmp_path}/x.npy:key")


def test_no_arrays(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz")
    h5py.File(tmp_path / "x.h5", "w").close()
    for name in ("x.npz", "x.h5"):
        assert "contains no arrays" in refusal(read_embeddings, tmp_path / name)


EXTRAS = {".h5": "h5", ".safetensors": "safetensors", ".parquet": "parquet", ".pt": "torch", ".pth": "torch"}
MODULES = ("h5py", "safetensors", "pyarrow", "pyarrow.parquet", "torch")


@pytest.mark.parametrize("extension", EXTRAS)
def test_missing_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, extension: str) -> None:
    for module in MODULES:
        monkeypatch.setitem(sys.modules, module, None)
    path = tmp_path / f"x{extension}"
    path.write_bytes(b"1")
    for read in (read_embeddings, read_labels):
        with pytest.raises(MissingExtraError, match=rf"x{extension} needs .*\[{EXTRAS[extension]}\]"):
            read(path)


def test_import_loads_nothing_optional() -> None:
    optional = [*MODULES, "pandas"]
    script = f"import sys, tieproof.inputs.readers; sys.exit(str([m for m in {optional} if m in sys.modules] or ''))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert run.stderr.strip() == ""


def test_interrupts_and_lack_of_memory_are_not_swallowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(tmp_path / "x.npy", vectors())
    for error in (KeyboardInterrupt, MemoryError):

        def stop(*arguments: Any, error: type[BaseException] = error, **options: Any) -> Any:
            raise error

        monkeypatch.setattr(np, "empty", stop)
        with pytest.raises(error):
            read_embeddings(tmp_path / "x.npy")


# PyTorch.


@pytest.mark.heavy
@pytest.mark.parametrize(
    "dtype", [*FLOATS, "bfloat16", "float8_e4m3fn", "int8", "uint8", "int16", "int32", "int64", "bool"]
)
def test_pt_keeps_every_type(tmp_path: Path, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]).to(getattr(torch, dtype))
    torch.save(tensor, tmp_path / "x.pt")
    read = read_embeddings(tmp_path / "x.pt")
    assert read.dtype == (dtype if dtype in DTYPES else "float32")
    assert read.tolist() == [[0, 1], [1, 0], [1, 1]]
    assert read_labels(tmp_path / "x.pt").tolist() == [[0, 1], [1, 0], [1, 1]]


@pytest.mark.heavy
def test_pt_of_parameters_dicts_and_views(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    path = tmp_path / "data.pth"
    values = torch.arange(12.0).reshape(3, 4).T / 7
    saved = {"features": torch.nn.Parameter(values), "epoch": 3, "labels": torch.arange(4)[None]}
    torch.save(saved, path)
    assert same(read_embeddings(path), values.numpy())
    assert read_labels(path).tolist() == [0, 1, 2, 3]
    assert "'features' (float32, shape (4, 3))" in refusal(read_embeddings, f"{path}:epoch")
    torch.save(saved, path, _use_new_zipfile_serialization=False)
    assert same(read_embeddings(f"{path}:features"), values.numpy())
    torch.save(values.to_sparse(), path)
    assert same(read_embeddings(path), values.numpy())
    torch.save(values.bfloat16(), path)
    assert same(read_embeddings(path), values.bfloat16().float().numpy())
    torch.save([1, 2], path)
    assert "a list without tensors" in refusal(read_labels, path)


@pytest.mark.heavy
def test_pt_from_a_gpu(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    torch.save(torch.eye(2, device="cuda"), tmp_path / "x.pt")
    assert same(read_embeddings(tmp_path / "x.pt"), np.eye(2, dtype=np.float32))


@pytest.mark.heavy
def test_pt_is_never_unpickled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "bomb.pt"
    for zipped in (True, False):
        torch.save({"x": torch.eye(2), "bomb": Bomb()}, path, _use_new_zipfile_serialization=zipped)
        assert "never unpickled" in refusal(read_embeddings, path)
    path.write_bytes(pickle.dumps(Bomb()))
    refusal(read_embeddings, path)
    assert not (tmp_path / "exploded").exists()


@pytest.mark.heavy
def test_damaged_pt(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    path = tmp_path / "data.pt"
    torch.save(torch.eye(20), path)
    whole = path.read_bytes()
    for size in (*range(1, 200, 7), len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        refusal(read_embeddings, path)
    for content in FOREIGN.values():
        path.write_bytes(content)
        refusal(read_embeddings, path)


# Writing.


def test_atomic_write_replaces_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text("old")
    path.chmod(0o640)
    with atomic_write(str(path)) as unfinished:
        assert unfinished.parent == tmp_path
        assert unfinished.suffix == ".json"
        unfinished.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["result.json"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("old", ["old", None])
def test_atomic_write_leaves_nothing_behind(tmp_path: Path, error: type[BaseException], old: str | None) -> None:
    path = tmp_path / "result.json"
    if old:
        path.write_text(old)

    def fail() -> None:
        with atomic_write(path) as unfinished:
            unfinished.write_text("half")
            raise error

    with pytest.raises(error):
        fail()
    assert [file.read_text() for file in tmp_path.iterdir()] == ([old] if old else [])


def test_atomic_write_follows_links_and_keeps_to_the_umask(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "result.json")
    with atomic_write(tmp_path / "link") as unfinished:
        unfinished.write_text("new")
    (tmp_path / "plain").touch()
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "result.json").read_text() == "new"
    assert (tmp_path / "result.json").stat().st_mode == (tmp_path / "plain").stat().st_mode


def enter(path: Any) -> Array:
    with atomic_write(path):
        return np.zeros(0)


def test_atomic_write_refuses_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    assert "is a folder" in refusal(enter, tmp_path)
    assert "not a regular file" in refusal(enter, tmp_path / "pipe")
    assert "there is no folder" in refusal(enter, tmp_path / "missing" / "x.json")
    assert "there is no folder" in refusal(enter, tmp_path / "file" / "x.json")

    def denied(*arguments: Any, **options: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "touch", denied)
    assert "permission denied in the folder" in refusal(enter, tmp_path / "x.json")
