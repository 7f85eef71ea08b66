"""Shards: many files are equal to one array, however they are divided and wherever they are stored."""

import gc
import json
import os
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

import tieproof as tp
from shard_files import WRITERS, contents, parquet, type_of, write
from tieproof.inputs.shards.files import in_natural_order

Array = npt.NDArray[Any]

LABELS = np.arange(40) % 7


def vectors(form: str = ".npy", n: int = 40, d: int = 5) -> Array:
    values = np.random.default_rng(3).integers(0, 100, (n, d))
    return (values / 7 if type_of(form) == "float32" else values).astype(type_of(form))


def same(found: Array, expected: Array) -> bool:
    return found.dtype == expected.dtype and found.flags.c_contiguous and np.array_equal(found, expected)


@pytest.fixture
def remote() -> Iterator[str]:
    """The URL of a folder in a storage in memory."""
    fsspec = pytest.importorskip("fsspec")
    storage = fsspec.filesystem("memory")
    storage.mkdir("/gallery")
    yield "memory://gallery"
    storage.rm("/gallery", recursive=True)


def put(url: str, files: dict[str, bytes]) -> str:
    import fsspec

    storage = fsspec.filesystem("memory")
    for name, content in files.items():
        storage.pipe_file(f"{url.removeprefix('memory:/')}/{name}", content)
    return url


# Shards are read as they were written.


@pytest.mark.parametrize("form", WRITERS)
def test_every_format_gives_rows_and_labels(tmp_path: Path, form: str) -> None:
    rows = vectors(form)
    write(tmp_path, form, rows, LABELS, cuts=[1, 15, 33])
    shards = tp.open(tmp_path, labels="train/label" if form in (".h5", ".hdf5") else "label")
    assert shards.shape == rows.shape
    assert len(shards) == len(rows)
    assert shards.dtype == rows.dtype
    assert shards.nbytes == rows.nbytes
    assert shards.bounds.tolist() == [0, 1, 15, 33, 40]
    assert [Path(name.partition(":")[0]).name for name in shards.names] == [f"part-{i}{form}" for i in range(4)]
    assert same(shards.read(0, 40), rows)
    assert same(shards.read(14, 34), rows[14:34])
    assert same(shards.take(np.array([39, 0, 0, 15, 14])), rows[[39, 0, 0, 15, 14]])
    assert shards.labels is not None
    assert shards.labels.tolist() == LABELS.tolist()


@pytest.mark.parametrize("form", WRITERS)
def test_every_format_in_a_storage_elsewhere(remote: str, form: str) -> None:
    rows = vectors(form)
    put(remote, contents(form, rows, LABELS, [10, 25]))
    for paths in (remote, f"{remote}/part-*{form}", [f"{remote}/part-{i}{form}" for i in range(3)]):
        shards = tp.open(paths, labels="train/label" if form in (".h5", ".hdf5") else "label")
        assert same(shards.read(5, 40), rows[5:])
        assert same(shards.take(np.array([30, 2])), rows[[30, 2]])
        assert shards.labels is not None
        assert shards.labels.tolist() == LABELS.tolist()


@pytest.mark.parametrize("form", [".npy", ".parquet", ".h5", ".safetensors"])
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_wherever_it_is_cut(tmp_path_factory: pytest.TempPathFactory, form: str, data: st.DataObject) -> None:
    rows = vectors()
    cuts = sorted(data.draw(st.sets(st.integers(1, 39), max_size=6)))
    start, stop = sorted(data.draw(st.tuples(st.integers(0, 40), st.integers(0, 40))))
    wanted = np.array(data.draw(st.lists(st.integers(0, 39), max_size=20)), np.int64)
    shards = tp.open(write(tmp_path_factory.mktemp("cut"), form, rows, cuts=cuts))
    assert same(shards.read(start, stop), rows[start:stop])
    assert same(shards.take(wanted), rows[wanted])
    assert same(shards.read(0, 40), rows)


@pytest.mark.parametrize("at", [0, 7, 20, 40])
def test_no_rows_may_be_read_anywhere_even_at_the_end(tmp_path: Path, at: int) -> None:
    rows = vectors()
    assert same(tp.open(write(tmp_path, ".npy", rows, cuts=[7, 20])).read(at, at), rows[at:at])


@pytest.mark.parametrize("group", [1, 3, 40])
@pytest.mark.parametrize("fixed", [True, False])
def test_lists_of_parquet_in_row_groups_of_any_size(tmp_path: Path, fixed: bool, group: int) -> None:
    rows = vectors()
    (tmp_path / "data.parquet").write_bytes(parquet(rows, LABELS, fixed, group))
    shards = tp.open(tmp_path)
    for start, stop in [(0, 40), (20, 30), (5, 6), (6, 40), (0, 3), (39, 40)]:
        assert same(shards.read(start, stop), rows[start:stop])


def test_rows_of_parquet_are_the_same_in_any_order_of_asking(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).standard_normal((9000, 64))  # several batches
    (tmp_path / "data.parquet").write_bytes(parquet(rows, None, group=5000))
    shards = tp.open(tmp_path)
    for start in np.random.default_rng(1).permutation(np.arange(0, 9000, 500)):
        assert same(shards.read(start, start + 500), rows[start : start + 500])


@pytest.mark.parametrize("dtype", ["float16", "float64", "int8", "uint8", "int16", "uint32", "int64", "bool"])
@pytest.mark.parametrize("form", [".npy", ".parquet", ".h5", ".safetensors"])
def test_every_type_is_kept(tmp_path: Path, form: str, dtype: str) -> None:
    rows = (vectors() > 7).astype(dtype)
    assert same(tp.open(write(tmp_path, form, rows, cuts=[9])).read(3, 20), rows[3:20])


def test_the_other_order_of_bytes_becomes_the_machine_s(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", vectors().astype(">f4"))
    np.save(tmp_path / "b.npy", vectors())
    shards = tp.open(tmp_path)
    assert same(shards.read(30, 50), np.concatenate([vectors(), vectors()])[30:50])


def test_bfloat16_of_safetensors_becomes_float32(tmp_path: Path) -> None:
    bits = np.array([[0x3F80, 0xC049], [0x0001, 0x7F7F], [0x8000, 0x3DCD]], dtype="<u2")
    header = json.dumps({"x": {"dtype": "BF16", "shape": [3, 2], "data_offsets": [0, 12]}}).encode()
    (tmp_path / "x.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bits.tobytes())
    expected = (bits.astype(np.uint32) << 16).view(np.float32)
    assert same(tp.open(tmp_path).read(1, 3), expected[1:])


# The choice of the files, and their order.


@given(st.lists(st.integers(0, 10**12), unique=True))
def test_numbers_in_names_count_as_numbers(numbers: list[int]) -> None:
    names = [f"a1/part-{number}.npy" for number in numbers]
    assert sorted(names, key=in_natural_order) == [f"a1/part-{number}.npy" for number in sorted(numbers)]


def test_names_of_equal_numbers_are_in_the_order_of_text() -> None:
    names = ["part-10.npy", "part-2.npy", "part-02.npy"]
    assert sorted(names, key=in_natural_order) == names[::-1]


def test_a_folder_and_a_pattern_are_in_natural_order_and_a_list_as_it_is(tmp_path: Path) -> None:
    write(tmp_path, ".npy", vectors(), LABELS, cuts=list(range(3, 36, 3)))
    names = [f"part-{part}.npy" for part in range(12)]
    for paths in (tmp_path, f"{tmp_path}/part-*.npy", f"file://{tmp_path}/*.npy"):
        assert [Path(name).name for name in tp.open(paths).names] == names
    assert [Path(name).name for name in tp.open([tmp_path / name for name in names[::-1]]).names] == names[::-1]
    assert [Path(name).name for name in tp.open([f"{tmp_path}/part-1*.npy", tmp_path / "part-0.npy"]).names] == [
        "part-1.npy",
        "part-10.npy",
        "part-11.npy",
        "part-0.npy",
    ]


def test_other_files_in_a_folder_are_left_out(tmp_path: Path) -> None:
    write(tmp_path, ".parquet", vectors(), LABELS, cuts=[20])
    for name in ("_SUCCESS", ".part-0.parquet.crc", "_metadata.parquet", "readme.md", "labels.txt"):
        (tmp_path / name).write_text("nothing")
    (tmp_path / "folder.parquet").mkdir()
    assert len(tp.open(tmp_path)) == 40


def test_a_file_whose_name_looks_like_a_pattern_is_opened(tmp_path: Path) -> None:
    np.save(tmp_path / "part[0].npy", vectors())
    np.save(tmp_path / "part0.npy", vectors()[:3])
    assert len(tp.open(tmp_path / "part[0].npy")) == 40


def test_files_without_rows_are_left_out(tmp_path: Path) -> None:
    write(tmp_path, ".parquet", vectors(), LABELS, cuts=[0, 20, 20, 40])
    shards = tp.open(tmp_path, labels="label", groups="label")
    assert shards.bounds.tolist() == [0, 20, 40]
    assert same(shards.read(0, 40), vectors())
    assert shards.labels is not None
    assert len(shards.labels) == 40
    assert len(shards.column("label")) == 40


def test_one_of_several_columns_is_named_behind_a_colon(tmp_path: Path) -> None:
    for part in range(2):
        table = {"image": list(vectors()), "text": list(2 * vectors()), "label": LABELS}
        pq.write_table(pa.table(table), tmp_path / f"{part}.parquet")
    shards = tp.open(f"{tmp_path}/*.parquet:text")
    assert same(shards.read(0, 40), 2 * vectors())
    assert shards.names[0].endswith("0.parquet:text")


# Labels.


def test_labels_of_usual_names_need_no_name(tmp_path: Path) -> None:
    for form in (".npy", ".parquet", ".h5", ".safetensors"):
        shards = tp.open(write(tmp_path / form, form, vectors(), LABELS, cuts=[11, 12]))
        assert shards.labels is not None
        assert shards.labels.tolist() == LABELS.tolist()
        assert shards.groups is None


def test_without_labels_there_are_none(tmp_path: Path) -> None:
    for form in WRITERS:
        assert tp.open(write(tmp_path / form, form, vectors(form), cuts=[11, 12])).labels is None


def test_strings_of_different_lengths_in_different_shards(tmp_path: Path) -> None:
    words = np.array(["a", "bee", "c" * 30, "dö"] * 10)
    for form in (".parquet", ".h5", ".npy"):
        shards = tp.open(write(tmp_path / form, form, vectors(), words, cuts=[2, 3, 30]))
        assert shards.labels is not None
        assert shards.labels.tolist() == words.tolist()


def test_integers_of_different_types_in_different_shards(tmp_path: Path) -> None:
    for part, dtype in enumerate(["int8", "uint64", "bool"]):
        np.save(tmp_path / f"{part}.npy", vectors()[:2])
        np.save(tmp_path / f"{part}.labels.npy", np.array([0, 1], dtype))
    labels = tp.open(tmp_path).labels
    assert labels is not None
    assert labels.dtype == np.int64
    np.save(tmp_path / "1.labels.npy", np.array([2**63, 1], np.uint64))
    labels = tp.open(tmp_path).labels
    assert labels is not None
    assert labels.tolist() == [0, 1, 2**63, 1, 0, 1]


@pytest.mark.parametrize("form", [".txt", ".json", ".npy", ".csv"])
def test_labels_beside_in_any_format(tmp_path: Path, remote: str, form: str) -> None:
    words = ["cat", "dog", "dög"]
    text = {".txt": "\n".join(words), ".json": json.dumps(words), ".csv": "\n".join(["label", *words])}
    for place in range(2):
        np.save(tmp_path / f"{place}.npy", vectors()[:3])
        if form == ".npy":
            np.save(tmp_path / f"{place}.species.npy", np.array(words))
        else:
            (tmp_path / f"{place}.species{form}").write_text(text[form], encoding="utf-8")
    put(remote, {path.name: path.read_bytes() for path in tmp_path.iterdir()})
    for folder in (str(tmp_path), remote):
        shards = tp.open(folder, labels="species")
        assert len(shards.names) == 2
        assert shards.labels is not None
        assert shards.labels.tolist() == words * 2


def test_labels_in_files_of_their_own(tmp_path: Path) -> None:
    write(tmp_path / "vectors", ".npy", vectors(), cuts=[10, 30])
    for part, own in enumerate(np.split(LABELS, [10, 30])):
        np.save(tmp_path / f"labels-{part}.npy", own)
    np.save(tmp_path / "all.npy", LABELS)
    for labels in (
        f"{tmp_path}/labels-*.npy",
        [tmp_path / f"labels-{part}.npy" for part in range(3)],
        tmp_path / "all.npy",
    ):
        found = tp.open(tmp_path / "vectors", labels=labels).labels
        assert found is not None
        assert found.tolist() == LABELS.tolist()


def test_groups_and_other_columns(tmp_path: Path) -> None:
    for part, rows in enumerate((slice(0, 25), slice(25, 40))):
        kinds = ["x"] * len(LABELS[rows])
        table = {"v": list(vectors()[rows]), "label": LABELS[rows], "camera": (LABELS % 3)[rows], "kind": kinds}
        pq.write_table(pa.table(table), tmp_path / f"{part}.parquet")
    shards = tp.open(tmp_path, groups="camera")
    assert shards.groups is not None
    assert shards.groups.tolist() == (LABELS % 3).tolist()
    assert shards.column("kind").tolist() == ["x"] * 40


def test_several_labels_an_item(tmp_path: Path) -> None:
    columns = np.eye(4, dtype=np.int8)[LABELS % 4]
    shards = tp.open(write(tmp_path, ".npy", vectors(), columns, cuts=[20]))
    assert shards.labels is not None
    assert np.array_equal(shards.labels, columns)


# Sources can be pickled, and describe themselves.


@pytest.mark.parametrize("form", [".npy", ".parquet", ".h5"])
def test_a_source_travels_as_the_names_of_its_files(tmp_path: Path, form: str) -> None:
    shards = tp.open(write(tmp_path, form, vectors(n=40), LABELS, cuts=[20]))
    shards.read(0, 30)  # files are open now
    again = pickle.loads(pickle.dumps(shards))
    assert same(again.read(10, 30), vectors()[10:30])
    assert again.labels.tolist() == LABELS.tolist()
    alone = pickle.dumps(shards.rows)
    assert len(alone) < 1500
    assert same(pickle.loads(alone).read(10, 30), vectors()[10:30])


def test_a_data_set_says_what_it_is(tmp_path: Path) -> None:
    shards = tp.open(write(tmp_path, ".npy", vectors(), LABELS, cuts=[20]))
    first, last = tmp_path / "part-0.npy", tmp_path / "part-1.npy"
    assert repr(shards) == f"Shards(40 rows × 5 float32, 800 bytes, in 2 files, {first} … {last}, with labels)"


def test_files_of_this_machine_need_no_library_for_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    write(tmp_path, ".npy", vectors())
    assert len(tp.open(f"file://{tmp_path}")) == 40
    with pytest.raises(tp.MissingExtraError, match=r"memory://gallery needs the extra 'remote'"):
        tp.open("memory://gallery")


def test_headers_are_parsed_by_one_thread_at_a_time(tmp_path: Path) -> None:
    """Python's parser fails if several threads use it while the garbage collector runs and calls its callbacks."""
    shards = write(tmp_path, ".npy", vectors(), LABELS, cuts=list(range(1, 40)))
    told, threshold, interval = [0], gc.get_threshold(), sys.getswitchinterval()

    def tell(phase: str, info: dict[str, int]) -> None:
        for _ in range(50):
            told[0] += 1

    gc.callbacks.append(tell)
    gc.set_threshold(20, 2, 2)
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(5):
            assert len(tp.open(shards)) == 40
    finally:
        gc.callbacks.remove(tell)
        gc.set_threshold(*threshold)
        sys.setswitchinterval(interval)
    assert told[0]


def test_many_files_are_not_kept_open(tmp_path: Path) -> None:
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("nobody counts open files here")
    shards = tp.open(write(tmp_path, ".parquet", vectors(), cuts=list(range(1, 40))))
    before = len(os.listdir("/proc/self/fd"))
    for row in range(40):
        shards.read(row, row + 1)
    assert len(os.listdir("/proc/self/fd")) <= before + 1


def test_only_what_is_asked_for_is_read(tmp_path: Path) -> None:
    """A shard whose rows are not read may even be missing."""
    shards = tp.open(write(tmp_path, ".npy", vectors(), cuts=[20]))
    os.remove(tmp_path / "part-1.npy")
    assert same(shards.read(0, 20), vectors()[:20])
    with pytest.raises(tp.InputError, match=r"part-1.npy was removed after it was opened"):
        shards.read(10, 21)


def test_unused_names_stay_unused(tmp_path: Path) -> None:
    """An archive that contains only vectors has no labels, and its vectors are not read as labels."""
    for part in range(2):
        save_file({"v": vectors()}, tmp_path / f"{part}.safetensors")
        with h5py.File(tmp_path / f"{part}.h5", "w") as file:
            file["v"] = vectors()[:, :1]
    assert tp.open(f"{tmp_path}/*.safetensors").labels is None
    assert tp.open(f"{tmp_path}/*.h5").labels is None
