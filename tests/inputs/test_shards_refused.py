"""Shards that are missing, short, changed, of another kind or not finite: refused by name, never read as numbers."""

import os
import re
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import save_file

import tieproof as tp
from shard_files import WRITERS, contents, type_of, write
from tieproof.errors import InputError

Array = npt.NDArray[Any]

VECTORS = np.arange(120.0, dtype=np.float32).reshape(40, 3)
LABELS = np.arange(40) % 7


def refusal(call: Callable[[], object], argument: str | None = None) -> str:
    """The message, which is one line that ends with what to do."""
    with pytest.raises(InputError) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith(".")
    assert any(word in message for word in (";", ". ", " must "))
    assert argument is None or caught.value.argument == argument
    return message


def listed(paths: dict[str, Array], folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    for name, array in paths.items():
        np.save(folder / name, array)
    return folder


# Checks when shards are opened.


@pytest.mark.parametrize(
    ("paths", "says"),
    [
        (np.zeros((2, 2)), r"a list of paths, not array\(\[\[0"),
        ("absent", "absent does not exist; check the path"),
        ("absent/*.npy", r"absent/\*.npy matches no file"),
        ("absent.npy", "absent.npy does not exist"),
        ([], r"a list of paths, not \[\]"),
        (7, "a list of paths, not 7"),
        (["a.npy", 7], "or a list of paths, not"),
        ([""], "or a list of paths, not"),
    ],
)
def test_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, paths: Any, says: str) -> None:
    monkeypatch.chdir(tmp_path)
    message = refusal(lambda: tp.open(paths), "paths")
    assert re.search(says, message)


def test_a_file_twice(tmp_path: Path) -> None:
    write(tmp_path, ".npy", VECTORS, cuts=[20])
    message = refusal(lambda: tp.open([tmp_path, tmp_path / "part-1.npy"]), "paths")
    assert "part-1.npy would be read twice; give each file only once" in message


def test_formats_without_rows(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=VECTORS)
    assert "a.npz cannot be a shard, because rows can be read in blocks only from .npy" in refusal(
        lambda: tp.open(tmp_path / "a.npz"), "paths"
    )
    (tmp_path / "a.xyz").write_text("?")
    assert "a.xyz cannot be a shard" in refusal(lambda: tp.open(tmp_path / "a.xyz"))


def test_what_is_no_vectors(tmp_path: Path) -> None:
    listed({"flat.npy": LABELS, "cube.npy": VECTORS[None], "text.npy": np.full((4, 2), "a")}, tmp_path)
    listed({"complex.npy": VECTORS.astype(complex), "none.npy": VECTORS[:0]}, tmp_path)
    for name, says in {
        "flat.npy": "has the shape (40,)",
        "cube.npy": "has the shape (1, 40, 3)",
        "text.npy": "must contain real numbers, not strings",
        "complex.npy": "must contain real numbers, not complex128",
        "none.npy": "contains no vectors",
    }.items():
        assert f"{name} {says}" in refusal(partial(tp.open, tmp_path / name), "paths")


@pytest.mark.parametrize("form", WRITERS)
def test_widths_differ(tmp_path: Path, form: str) -> None:
    rows = VECTORS.astype(type_of(form))
    write(tmp_path, form, rows, cuts=[20])
    (tmp_path / f"part-1{form}").write_bytes(WRITERS[form](rows[:, :2], None))
    message = refusal(lambda: tp.open(tmp_path), "paths")
    assert f"part-1{form}" in message
    assert "contains vectors of length 2, but" in message
    assert "of length 3; all shards must come from the same model" in message


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize("kept", [0, 3, 20, -1])
def test_short_files(tmp_path: Path, form: str, kept: int) -> None:
    write(tmp_path, form, VECTORS.astype(type_of(form)), cuts=[20])
    path = tmp_path / f"part-1{form}"
    path.write_bytes(path.read_bytes()[:kept])
    message = refusal(lambda: tp.open(tmp_path).read(0, 40))
    assert f"part-1{form}" in message


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize("kept", [3, -1])
def test_short_files_elsewhere(form: str, kept: int) -> None:
    storage = pytest.importorskip("fsspec").filesystem("memory")
    for name, content in contents(form, VECTORS.astype(type_of(form)), None, [20]).items():
        storage.pipe_file(f"/short/{name}", content[:kept] if name.startswith("part-1") else content)
    try:
        message = refusal(lambda: tp.open("memory://short").read(0, 40))
    finally:
        storage.rm("/short", recursive=True)
    assert f"part-1{form}" in message


def test_lists_of_other_lengths(tmp_path: Path) -> None:
    lists = [[1.0, 2.0]] * 10
    pq.write_table(pa.table({"v": [*lists, [1.0]]}), tmp_path / "one.parquet", row_group_size=5)
    message = refusal(lambda: tp.open(tmp_path / "one.parquet").read(0, 11))
    assert "one.parquet:v has lists of different lengths: 2 numbers in row 0 and 1 in row 10" in message
    pq.write_table(pa.table({"v": [*lists, [1.0], [1.0, 2.0, 3.0]]}), tmp_path / "two.parquet")
    message = refusal(lambda: tp.open(tmp_path / "two.parquet").read(0, 12))
    assert "two.parquet:v has lists of different lengths: 2 numbers in row 0 and 1 in row 10" in message


@pytest.mark.parametrize("length", [-1, 2])
@pytest.mark.parametrize("wrong", [None, [1.0, None]])
def test_nulls_in_lists(tmp_path: Path, wrong: Any, length: int) -> None:
    column = pa.array([[1.0, 2.0]] * 10 + [wrong] + [[3.0, 4.0]], pa.list_(pa.float32(), length))
    try:
        pq.write_table(pa.table({"v": column}), tmp_path / "a.parquet")
    except pa.ArrowNotImplementedError:
        pytest.skip("this version of pyarrow cannot write a null in place of a list of fixed length")
    assert "a.parquet:v has a null in row 10; fill it in" in refusal(lambda: tp.open(tmp_path).read(0, 12))


def test_parts_of_hdf5_that_were_never_written(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("v", (40, 3), "f4", chunks=(10, 3))[:10] = 1
    assert "1 of its 4 chunks were written" in refusal(lambda: tp.open(tmp_path))


def test_unknown_storages_are_refused() -> None:
    pytest.importorskip("fsspec")
    assert "cannot be opened by its URL (Protocol not known: nowhere)" in refusal(
        lambda: tp.open("nowhere://a/b.npy"), "paths"
    )
    assert "does not exist" in refusal(lambda: tp.open("memory://nowhere/b.npy"), "paths")


FORMS = (
    "{}://a/b.npy",
    "{}://",
    "{}:///b.npy",
    "{}://a/*.npy",
    "{}://a/b.npy::memory://c",
    "simplecache::{}://a/b.npy",
)


def no_network(*_: object, **__: object) -> None:
    raise OSError("there is no network")


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # storages that were not made completely
@pytest.mark.parametrize("form", FORMS)
def test_urls_of_every_scheme_are_refused(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = pytest.importorskip("fsspec.registry")
    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, no_network)
    monkeypatch.setattr(socket, "getaddrinfo", no_network)
    for scheme in registry.known_implementations:
        with pytest.raises((InputError, tp.MissingExtraError)) as caught:
            tp.open(form.format(scheme))
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("place", ["__init__", "isdir", "info", "_open", "ls"])
def test_a_storage_with_errors_of_its_own(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec = pytest.importorskip("fsspec")

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("the token\nhas expired")

    def info(_: object, path: str, **__: object) -> dict[str, object]:
        return {"name": path, "size": 9, "type": "directory" if path == "a" else "file"}

    storage = type("Storage", (fsspec.AbstractFileSystem,), {"info": info, place: fail})
    monkeypatch.setitem(pytest.importorskip("fsspec.registry")._registry, "toy", storage)
    location = "toy://a" if place == "ls" else "toy://a/b.npy"
    assert "(the token has expired)" in refusal(lambda: tp.open(location), "paths")


# Labels.


def test_labels_that_are_absent(tmp_path: Path) -> None:
    write(tmp_path / "a", ".npy", VECTORS, LABELS, cuts=[20])
    message = refusal(lambda: tp.open(tmp_path / "a", labels="species"), "labels")
    assert "part-0.npy contains only vectors, and its folder has no file part-0.species.npy" in message
    os.remove(tmp_path / "a/part-1.label.npy")
    assert "part-1.npy has none; give labels for all shards" in refusal(lambda: tp.open(tmp_path / "a"), "labels")
    assert "no file part-1.label.npy" in refusal(lambda: tp.open(tmp_path / "a", labels="label"), "labels")
    write(tmp_path / "b", ".parquet", VECTORS, LABELS, cuts=[20])
    assert "part-0.parquet has no entry called 'species'" in refusal(
        lambda: tp.open(tmp_path / "b", labels="species"), "labels"
    )
    assert "has no entry called 'camera'" in refusal(lambda: tp.open(tmp_path / "b", groups="camera"), "groups")


@pytest.mark.parametrize("labels", ["", [], 7, [0, 1], LABELS])
def test_labels_that_name_no_files(tmp_path: Path, labels: Any) -> None:
    write(tmp_path, ".npy", VECTORS)
    message = refusal(lambda: tp.open(tmp_path, labels=labels), "labels")
    assert message.startswith("The files of labels must be a folder")
    assert ", or a list of paths, not " in message


def test_labels_elsewhere_in_a_format_of_this_machine(tmp_path: Path) -> None:
    storage = pytest.importorskip("fsspec").filesystem("memory")
    np.savez(tmp_path / "labels.npz", labels=LABELS)
    storage.pipe_file("/labels/labels.npz", (tmp_path / "labels.npz").read_bytes())
    try:
        shards = write(tmp_path / "x", ".npy", VECTORS)
        message = refusal(lambda: tp.open(shards, labels="memory://labels/labels.npz"), "labels")
    finally:
        storage.rm("/labels", recursive=True)
    assert ".npz files are read only from this machine; copy it here" in message


def test_labels_beside_in_two_files(tmp_path: Path) -> None:
    write(tmp_path, ".npy", VECTORS, LABELS)
    (tmp_path / "part-0.label.txt").write_text("1\n" * 40)
    message = refusal(lambda: tp.open(tmp_path, labels="label"), "labels")
    assert "Both part-0.label.npy and part-0.label.txt belong to" in message


def test_labels_that_are_too_few(tmp_path: Path) -> None:
    write(tmp_path, ".npy", VECTORS, LABELS, cuts=[20])
    np.save(tmp_path / "part-1.label.npy", LABELS[:19])
    message = refusal(lambda: tp.open(tmp_path), "labels")
    assert "part-1.npy has 20 rows, but" in message
    assert "part-1.label.npy has 19 labels; give one for each row" in message
    np.save(tmp_path / "all.npy", LABELS[:-1])
    message = refusal(lambda: tp.open(f"{tmp_path}/part*.npy", labels=tmp_path / "all.npy"), "labels")
    assert "2 shards have 40 rows, but" in message
    message = refusal(lambda: tp.open([tmp_path / "part-0.npy"], labels=[tmp_path / "all.npy"] * 1), "labels")
    assert "part-0.npy has 20 rows, but" in message
    np.save(tmp_path / "more.npy", LABELS)
    np.save(tmp_path / "most.npy", LABELS)
    many = [tmp_path / f"{name}.npy" for name in ("all", "more", "most")]
    assert "There are 3 files of labels for 2 shards" in refusal(
        lambda: tp.open(f"{tmp_path}/part*.npy", labels=many), "labels"
    )


def test_labels_of_different_shapes_and_sizes(tmp_path: Path) -> None:
    write(tmp_path, ".npy", VECTORS, LABELS, cuts=[20])
    np.save(tmp_path / "part-1.label.npy", np.eye(20, dtype=int))
    assert "part-1.label.npy have (20, 20); give all shards the same number of columns" in refusal(
        lambda: tp.open(tmp_path), "labels"
    )
    np.save(tmp_path / "part-0.label.npy", np.full(20, -1))
    np.save(tmp_path / "part-1.label.npy", np.full(20, 2**63, np.uint64))
    assert "contain integers from -1 to 9223372036854775808" in refusal(lambda: tp.open(tmp_path), "labels")


def test_labels_that_no_label_is(tmp_path: Path) -> None:
    save_file({"x": VECTORS, "label": np.full(40, 0.5)}, tmp_path / "a.safetensors")
    assert "a.safetensors:label must be integers or strings, but" in refusal(lambda: tp.open(tmp_path), "labels")


# Checks when rows are read.


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("form", [".npy", ".fbin", ".parquet", ".h5", ".safetensors"])
def test_numbers_that_are_not_finite(tmp_path: Path, form: str, value: float) -> None:
    rows = VECTORS.copy()
    rows[27, 1] = value
    shards = tp.open(write(tmp_path, form, rows, cuts=[20]))
    assert len(shards.read(0, 27)) == 27
    for read in (lambda: shards.read(0, 40), lambda: shards.take(np.array([3, 27]))):
        message = refusal(read)
        assert f"part-1{form}" in message
        assert f"contains {np.float32(value)} in row 7 (row 27 of all shards)" in message


def written_again(path: Path) -> None:
    state = path.stat()
    path.write_bytes(path.read_bytes())
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns + 1000))


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-4])


def replaced(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes() + b" ")
    os.replace(other, path)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (written_again, "changed after it was opened: it was written again; open it again"),
        (cut_short, r"changed after it was opened: it had"),
        (replaced, r"changed after it was opened: it had"),
        (os.remove, "was removed after it was opened"),
    ],
)
@pytest.mark.parametrize("read_before", [False, True])
@pytest.mark.parametrize("form", [".npy", ".fbin", ".parquet", ".h5", ".safetensors"])
def test_files_that_change(
    tmp_path: Path, form: str, read_before: bool, change: Callable[[Path], None], says: str
) -> None:
    shards = tp.open(write(tmp_path, form, VECTORS, cuts=[20]))
    if read_before:
        shards.read(0, 30)
    change(tmp_path / f"part-1{form}")
    message = refusal(lambda: shards.read(19, 40))
    assert f"part-1{form} {says}" in message


def test_files_elsewhere_that_change() -> None:
    storage = pytest.importorskip("fsspec").filesystem("memory")
    files = contents(".npy", VECTORS, None, [20])
    for name, content in files.items():
        storage.pipe_file(f"/changing/{name}", content)
    shards = tp.open("memory://changing")
    try:
        storage.pipe_file("/changing/part-1.npy", files["part-1.npy"])
        assert "part-1.npy changed after it was opened: it was written again" in refusal(lambda: shards.read(20, 21))
        storage.rm("/changing/part-0.npy")
        assert "part-0.npy was removed after it was opened" in refusal(lambda: shards.read(0, 1))
    finally:
        storage.rm("/changing", recursive=True)


def test_rows_that_there_are_not(tmp_path: Path) -> None:
    shards = tp.open(write(tmp_path, ".npy", VECTORS))
    with pytest.raises(IndexError):
        shards.read(0, 41)
    with pytest.raises(IndexError):
        shards.take(np.array([-1]))
