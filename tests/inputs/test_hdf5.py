"""Missing HDF5 data, which the library reads as zeros, is refused; names and strings may have any bytes."""

import atexit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt
import pytest

import tieproof as tp
from tieproof.inputs.readers import hdf5, read_embeddings, read_labels

VECTORS: npt.NDArray[Any] = np.arange(12, dtype=np.float32).reshape(4, 3)


def refusal(path: Path) -> str:
    with pytest.raises(tp.InputError) as caught:
        read_embeddings(path)
    assert str(caught.value).startswith(
        f"{path}:embeddings is not stored completely, and missing data would be read as"
    )
    return str(caught.value)


def virtual(path: Path, rows: int, *parts: tuple[slice, Any, Any]) -> None:
    """A virtual data set, whose rows come from given rows of sources."""
    with h5py.File(path, "a") as file:
        layout = h5py.VirtualLayout((rows, 3), "f4")
        for where, source, selected in parts:
            layout[where] = source if selected is None else source[selected]
        file.create_virtual_dataset("embeddings", layout)


def write(path: Path, name: str = "x", **options: Any) -> h5py.VirtualSource:
    """A file with vectors, which is the source of other files."""
    with h5py.File(path, "a") as file:
        file.create_dataset(name, data=VECTORS, **options)
    return h5py.VirtualSource(path.name, name, VECTORS.shape)


STORED: dict[str, dict[str, Any]] = {
    "contiguous": {},
    "in chunks": {"chunks": (3, 2)},
    "in chunks that can grow": {"chunks": (3, 2), "maxshape": (None, 3)},
    "packed": {"chunks": (1, 3), "compression": "gzip", "shuffle": True, "fletcher32": True},
    "beside a value for what is absent": {"chunks": (2, 2), "fillvalue": 7},
}


@pytest.mark.parametrize("options", STORED.values(), ids=STORED)
def test_what_is_stored_is_read(tmp_path: Path, options: dict[str, Any]) -> None:
    write(tmp_path / "data.h5", "embeddings", **options)
    assert np.array_equal(read_embeddings(tmp_path / "data.h5"), VECTORS)


def test_zeros_that_were_written_are_read(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file.create_dataset("embeddings", (50, 3), "f4", chunks=(7, 2), compression="gzip")[:] = 0
    assert np.array_equal(read_embeddings(tmp_path / "data.h5"), np.zeros((50, 3)))


def test_space_in_the_header_of_a_data_set(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "data.h5", "w") as file:
        created = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        created.set_layout(h5py.h5d.COMPACT)
        h5py.h5d.create(file.id, b"embeddings", h5py.h5t.NATIVE_FLOAT, h5py.h5s.create_simple((4, 3)), created)
        file["embeddings"][:] = VECTORS
    assert np.array_equal(read_embeddings(tmp_path / "data.h5"), VECTORS)


@pytest.mark.parametrize("options", STORED.values(), ids=STORED)
def test_data_sets_that_were_never_written(tmp_path: Path, options: dict[str, Any]) -> None:
    path = tmp_path / "data.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("embeddings", VECTORS.shape, "f4", **options)
    said = refusal(path)
    assert "created and never filled" in said or "0 of its" in said
    if "chunks" in options:
        with h5py.File(path, "a") as file:
            file["embeddings"][:1] = 1
        assert "chunks were written" in refusal(path)


def test_a_data_set_that_grew_further_than_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "data.h5"
    write(path, "embeddings", chunks=(2, 3), maxshape=(None, 3))
    with h5py.File(path, "a") as file:
        file["embeddings"].resize(7, axis=0)
    assert "2 of its 4 chunks were written" in refusal(path)


def test_strings_that_were_never_written(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file.create_dataset("labels", (4,), h5py.string_dtype())
    with pytest.raises(tp.InputError, match=r"data\.h5:labels is not stored completely"):
        read_labels(tmp_path / "data.h5")


def test_data_in_a_file_beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "data.h5"
    for present in (True, False):
        with h5py.File(path, "w") as file:
            file.create_dataset("embeddings", data=VECTORS, external=[("raw.bin", 0, 48)])
        if not present:
            (tmp_path / "raw.bin").unlink()
        assert "its data is in the separate file 'raw.bin': save it in one file" in refusal(path)


def test_a_virtual_data_set_with_all_its_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write(tmp_path / "source.h5", chunks=(2, 3))
    virtual(tmp_path / "data.h5", 4, (slice(0, 4, 2), source, slice(2)), (slice(1, 4, 2), source, slice(2, 4)))
    expected = VECTORS[[0, 2, 1, 3]]
    assert np.array_equal(read_embeddings(tmp_path / "data.h5"), expected)
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert np.array_equal(read_embeddings("../data.h5"), expected)
    (tmp_path / "source.h5").rename(tmp_path / "other" / "source.h5")  # from where the library looks, too
    assert np.array_equal(read_embeddings("../data.h5"), expected)


def test_a_virtual_data_set_of_its_own_file(tmp_path: Path) -> None:
    path = tmp_path / "data.h5"
    write(path)
    virtual(path, 4, (slice(None), h5py.VirtualSource(".", "x", VECTORS.shape), None))
    assert np.array_equal(read_embeddings(path), VECTORS)


BAD: dict[str, tuple[Callable[[Path], object], str]] = {
    "an absent file": (lambda path: path.unlink(), "its source 'x' of 'source.h5' is absent: give the file"),
    "another file": (lambda path: path.write_text("text"), "is absent"),
    "an absent data set": (lambda path: change(path, lambda file: file.move("x", "y")), "is absent or smaller"),
    "a group": (lambda path: change(path, lambda file: [file.move("x", "y"), file.create_group("x")]), "is absent"),
    "one that shrank": (
        lambda path: change(path, lambda file: file["x"].resize(3, axis=0)),
        "is absent or smaller: give it, or save a copy",
    ),
    "one of other axes": (
        lambda path: change(path, lambda file: [file.move("x", "y"), file.create_dataset("x", data=VECTORS[0])]),
        "is absent or smaller",
    ),
    "one that was not written": (
        lambda path: change(path, lambda file: file["x"].resize(9, axis=0)),
        "is not stored completely",
    ),
}


def change(path: Path, how: Callable[[Any], object]) -> None:
    with h5py.File(path, "a") as file:
        how(file)


@pytest.mark.parametrize("spoil, expected", BAD.values(), ids=BAD)  # noqa: PT006
@pytest.mark.parametrize("selected", [slice(4), None])
def test_a_virtual_data_set_without_a_source(
    tmp_path: Path, spoil: Callable[[Path], object], expected: str, selected: slice | None
) -> None:
    source = write(tmp_path / "source.h5", chunks=(1, 3), maxshape=(None, 3))
    virtual(tmp_path / "data.h5", 4, (slice(4), source, selected))
    assert np.array_equal(read_embeddings(tmp_path / "data.h5"), VECTORS)
    spoil(tmp_path / "source.h5")
    with pytest.raises(tp.InputError, match=expected):
        read_embeddings(tmp_path / "data.h5")


def test_a_virtual_data_set_with_gaps(tmp_path: Path) -> None:
    source = write(tmp_path / "source.h5")
    virtual(tmp_path / "data.h5", 5, (slice(4), source, None))
    assert "a part of this virtual data set has no source" in refusal(tmp_path / "data.h5")
    virtual(tmp_path / "large.h5", 10**12, (slice(4), source, None))
    with pytest.raises(tp.InputError, match="has no source"):
        read_embeddings(tmp_path / "large.h5")
    virtual(tmp_path / "none.h5", 5)
    with pytest.raises(tp.InputError, match=r"is not stored completely"):
        read_embeddings(tmp_path / "none.h5")


def test_virtual_data_sets_of_no_fixed_length(tmp_path: Path) -> None:
    write(tmp_path / "source.h5", maxshape=(None, 3), chunks=(1, 3))
    unlimited = h5py.h5s.UNLIMITED
    for name in (b"source.h5", b"source%b.h5"):
        path = tmp_path / f"{len(name)}.h5"
        with h5py.File(path, "w") as file:
            whole = h5py.h5s.create_simple((4, 3), (unlimited, 3))
            whole.select_hyperslab((0, 0), (unlimited, 1), None, (1, 3))
            part = h5py.h5s.create_simple((4, 3), (unlimited, 3))
            if b"%" not in name:
                part.select_hyperslab((0, 0), (unlimited, 1), None, (1, 3))
            else:
                part.select_hyperslab((0, 0), (1, 1), None, (1, 3))
            created = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            created.set_virtual(whole, name, b"x", part)
            h5py.h5d.create(file.id, b"embeddings", h5py.h5t.IEEE_F32LE, whole, created)
        with h5py.File(path) as file:
            empty = 0 in file["embeddings"].shape
        if not empty:
            assert "has no fixed length: save a copy that is not virtual" in refusal(path)


def test_a_virtual_data_set_of_itself(tmp_path: Path) -> None:
    path = tmp_path / "data.h5"
    virtual(path, 4, (slice(4), h5py.VirtualSource(".", "embeddings", (4, 3)), None))
    with pytest.raises(tp.InputError):
        read_embeddings(path)


def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "data.h5"
    with h5py.File(path, "w") as file:
        group = file.create_group(b"caf\xe9")
        group["embeddings"] = VECTORS
        group[b"\xff"] = [1, 2, 3, 4]
    assert np.array_equal(read_embeddings(path), VECTORS)
    assert read_labels(path).tolist() == [1, 2, 3, 4]
    assert np.array_equal(read_embeddings(f"{path}:caf\\xe9/embeddings"), VECTORS)
    with pytest.raises(tp.InputError, match=r"'caf\\xe9/\\xff' \(int64, shape \(4,\)\)"):
        read_labels(f"{path}:labels")


@pytest.mark.parametrize("dtype", [None, h5py.string_dtype(), h5py.string_dtype("ascii")])
def test_labels_of_bytes(tmp_path: Path, dtype: Any) -> None:
    path = tmp_path / "data.h5"
    for stored in (["ö".encode(), b"a"], [[b"b"], [b"a"]]):
        with h5py.File(path, "w") as file:
            file.create_dataset("labels", data=np.array(stored) if dtype is None else stored, dtype=dtype)
        assert read_labels(path).tolist() == [np.ravel(stored)[0].decode(), "a"]
    with h5py.File(path, "w") as file:
        file.create_dataset(
            "labels", data=np.array([b"a", b"\xff"]) if dtype is None else [b"a", b"\xff"], dtype=dtype
        )
    with pytest.raises(tp.InputError, match=r"data.h5:labels has b'\\xff' at \[1\], which is not UTF-8 text"):
        read_labels(path)


def test_an_open_data_set_is_looked_at_as_its_file_is(tmp_path: Path) -> None:
    labels = np.arange(8) % 2
    with h5py.File(tmp_path / "data.h5", "w") as file:
        whole = file.create_dataset("whole", data=np.random.default_rng(0).normal(size=(8, 4)), chunks=(4, 4))
        partly = file.create_dataset("partly", shape=(8, 4), chunks=(4, 4), dtype="f4")
        partly[:4] = 1.0
        assert tp.evaluate(whole, labels).to_json() == tp.evaluate(whole[:], labels).to_json()
        with pytest.raises(tp.InputError, match="1 of its 2 chunks were written"):
            tp.evaluate(partly, labels)
        with pytest.raises(tp.InputError, match="partly is not stored completely"):
            tp.evaluate(whole, labels, gallery=partly, gallery_labels=labels)


def test_a_process_has_one_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It asked to end one more at its exit for each data set that it read."""
    made: list[object] = []
    monkeypatch.setattr(atexit, "register", made.append)
    monkeypatch.setattr(hdf5, "_PROCESSES", {})
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = np.eye(3)
    for _ in range(3):
        read_embeddings(tmp_path / "a.h5")
    (reader,) = hdf5._PROCESSES.values()
    assert made == [reader.close]
    reader.close()
