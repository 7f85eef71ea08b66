"""Folders of true neighbors: what they contain, resumption, forgery, recall by them, and faults of others."""

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Callable
from contextlib import nullcontext
from math import comb
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from pyarrow import parquet

import nearest_oracle
import tieproof as tp
from exact_oracle import fractions
from fnmr_oracle import KEYS
from tieproof.analyses.neighbors import search
from tieproof.analyses.neighbors.certificate import NAME, _digest, read_truth, sha256_of
from tieproof.analyses.neighbors.formats import FORMATS
from tieproof.analyses.neighbors.nearest import neighbors_of
from tieproof.inputs.readers.ann_benchmarks import read_neighbors

RANDOM = np.random.default_rng(31)
GALLERY = RANDOM.integers(0, 3, size=(60, 4)).astype(np.float32)
QUERIES = RANDOM.integers(0, 3, size=(25, 4)).astype(np.float32)
NEIGHBORS = ("ids", "distances", "nearer", "tie_starts", "tie_indptr", "tie_ids", "n_ties")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tp.truth(QUERIES, GALLERY, 7, out=tmp_path / "truth", distance="euclidean")
    return tmp_path / "truth"


def arrays_of(folder: Path) -> dict[str, Any]:
    with np.load(folder / "truth.npz") as file:
        return dict(file)


def assert_equal(one: tp.Neighbors, other: tp.Neighbors) -> None:
    assert all(np.array_equal(getattr(one, name), getattr(other, name)) for name in NEIGHBORS)
    assert one.to_dict() == other.to_dict()


def vectors(path: Path, dtype: str, width: int) -> Any:
    """The rows of a file .ivecs or .fvecs, by its definition."""
    rows = np.fromfile(path, dtype="<i4").reshape(-1, width + 1)
    assert (rows[:, 0] == width).all()
    return rows[:, 1:].copy().view(dtype)


@pytest.mark.parametrize("distance", [*KEYS])
def test_all_formats(distance: str, tmp_path: Path) -> None:
    import pyarrow.parquet

    gallery, queries = (GALLERY > 1, QUERIES > 1) if distance == "hamming" else (GALLERY, QUERIES)
    found = tp.nearest(queries, gallery, 7, distance=distance)
    out = tmp_path / "truth"
    certificate = tp.truth(queries, gallery, 7, out=out, distance=distance, formats=[*FORMATS], threads=1)
    assert_equal(read_truth(out)[1], found)
    assert sorted(os.listdir(out)) == sorted([NAME, *certificate.files])
    for name in ("truth.npz", "truth.hdf5", "truth.ibin"):
        read = read_neighbors(out / name)
        assert np.array_equal(read.ids, found.ids)
        kind = np.float32 if name == "truth.ibin" else np.float64
        assert np.array_equal(np.asarray(read.distances), found.distances.astype(kind))
    assert np.array_equal(vectors(out / "neighbors.ivecs", "<i4", 7), found.ids)
    assert np.array_equal(vectors(out / "distances.fvecs", "<f4", 7), found.distances.astype(np.float32))
    table = pyarrow.parquet.read_table(out / "truth.parquet").to_pydict()
    assert table["id"] == list(range(25))
    assert table["neighbors_id"] == found.ids.tolist()
    assert table["tie_ids"] == [found.tie(query).tolist() for query in range(25)]
    with h5py.File(out / "truth.hdf5") as file:
        assert np.array_equal(file["train"][:], gallery)
        assert np.array_equal(file["test"][:], queries)
        assert file.attrs["distance"] == ("angular" if distance == "cosine" else distance)


def test_what_is_certified(folder: Path) -> None:
    certificate, found = read_truth(folder)
    assert certificate.ties == {
        name: found.to_dict()[name] for name in ("queries_with_ties", "queries_with_cut_ties", "ties", "largest_tie")
    }
    assert certificate.duplicates == nearest_oracle.duplicates(fractions(GALLERY))
    assert [certificate.k, certificate.listed, certificate.distance] == [7, 7, "euclidean"]
    assert certificate.files["truth.ibin"] == hashlib.sha256((folder / "truth.ibin").read_bytes()).hexdigest()
    assert "the tie at rank 7" in certificate.to_text(width=200)
    assert repr(certificate).startswith("<Certificate of 25 queries: 7 nearest of 60 items")


def test_a_certificate_of_version_1_is_read_and_verified() -> None:
    """Written by tieproof 1.0.0. Items 1 and 2 are equal, and the tie of the first query continues behind rank 2."""
    gallery, queries = np.array([[0.0], [1.0], [1.0], [3.0], [4.0]]), np.array([[0.0], [4.0]])
    old = Path(__file__).with_name("records") / "truth-1"
    assert read_truth(old)[0].version == "1.0.0"
    assert tp.verify_truth(old, queries, gallery, sample=None).agrees
    assert tp.neighbor_recall([[0, 2], [4, 3]], str(old), k=2)[2] == tp.Estimate(0.75, 0.875, 1.0, 0.125)


def test_any_order_has_the_same_digests(folder: Path, tmp_path: Path) -> None:
    items, rows = RANDOM.permutation(60), RANDOM.permutation(25)
    own = read_truth(folder)[0]
    other = tp.truth(QUERIES[rows], GALLERY[items], 7, out=tmp_path / "other", distance="l2", memory="1MB", threads=2)
    assert other.neighbors == own.neighbors
    assert other.gallery.fingerprint == own.gallery.fingerprint != own.queries.fingerprint
    assert other.gallery.in_order != own.gallery.in_order
    moved = GALLERY.copy()
    moved[3, 0] += 1
    third = tp.truth(QUERIES, moved, 7, out=tmp_path / "third", distance="euclidean")
    assert third.neighbors != own.neighbors
    assert third.gallery.fingerprint != own.gallery.fingerprint


def test_a_small_gallery_is_listed_whole(tmp_path: Path) -> None:
    certificate = tp.truth(QUERIES, GALLERY[:3], 100, out=tmp_path / "truth")
    assert [certificate.k, certificate.listed] == [100, 3]
    assert "100 were asked for, but the gallery has only 3 items: all are listed." in certificate.to_text(width=200)
    assert read_truth(tmp_path / "truth")[1].ids.shape == (25, 3)
    assert tp.verify_truth(tmp_path / "truth", QUERIES, GALLERY[:3])


EXTREME = np.array([[0.0, -0.0], [5e-324, 0.0], [1e200, 1.0], [-1e200, 1.0], [-0.0, 0.0], [1.0, np.nextafter(1, 2)]])


@pytest.mark.parametrize("distance", ["euclidean", "sqeuclidean", "cosine", "dot", "cityblock"])
@pytest.mark.parametrize(
    "kind", ["int8", "uint8", "int64", "bfloat16", "float16", "float32", "float64", "extreme", "constant"]
)
def test_all_types_of_numbers(kind: str, distance: str, tmp_path: Path) -> None:
    special = {"extreme": EXTREME, "constant": np.ones((9, 2))}
    if kind == "bfloat16":
        special[kind] = GALLERY.astype(pytest.importorskip("ml_dtypes").bfloat16)
    rows = special[kind] if kind in special else GALLERY.astype(kind)
    tp.truth(rows[:5], rows, 4, out=tmp_path / "truth", distance=distance, formats=[*FORMATS])
    assert_equal(read_truth(tmp_path / "truth")[1], tp.nearest(rows[:5], rows, 4, distance=distance))
    assert tp.verify_truth(tmp_path / "truth", rows[:5], rows)
    found = tp.nearest(rows[:5], rows, 4, distance=distance).ids
    assert tp.examine_truth(found, rows[:5], rows, distance=distance).right.all()
    assert tp.neighbor_recall(found, tmp_path / "truth", k=(1, 4))[4].upper == 1


def test_one_item_and_one_query(tmp_path: Path) -> None:
    tp.truth([[1.0]], [[2.0]], out=tmp_path / "truth", distance="euclidean")
    assert tp.verify_truth(tmp_path / "truth", [[1.0]], [[2.0]])
    assert tp.neighbor_recall([[0]], tmp_path / "truth", k=1)[1] == tp.Estimate(1.0, 1.0, 1.0, 0.0)


# Runs that end early


class KilledError(BaseException):
    """Ends a run as a signal does."""


def kill_after(number: int, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Make the search of a part fail after so many; the list grows with each part that is computed."""
    done: list[int] = []

    def searched(*given: Any) -> tp.Neighbors:
        if len(done) == number:
            raise KilledError
        done.append(1)
        return neighbors_of(*given)

    monkeypatch.setattr(search, "QUERIES", 4)
    monkeypatch.setattr(search, "LISTED", 1)
    monkeypatch.setattr(search, "neighbors_of", searched)
    return done


def test_a_killed_run_is_continued(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "again"
    kill_after(3, monkeypatch)
    with pytest.raises(KilledError):
        tp.truth(QUERIES, GALLERY, 7, out=out, distance="euclidean")
    assert os.listdir(out) == ["parts"]
    with pytest.raises(tp.InputError, match=r"has no certificate\.json"):
        tp.verify_truth(out, QUERIES, GALLERY)
    done = kill_after(99, monkeypatch)
    tp.truth(QUERIES, GALLERY, 7, out=out, distance="euclidean")
    assert len(done) == 7 - 3
    assert {name: (out / name).read_bytes() for name in os.listdir(out)} == {
        name: (folder / name).read_bytes() for name in os.listdir(folder)
    }


def test_parts_are_as_large_as_blocks_of_a_checkpoint(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts have some queries at least, and else at most so many products of numbers."""
    for stored, blocks in ((1, 13), (60 * 4 * 10, 3), (2**41, 1)):
        done = kill_after(99, monkeypatch)
        monkeypatch.setattr(search, "QUERIES", 2)
        monkeypatch.setattr(search, "LISTED", 2**20)
        monkeypatch.setattr(search, "STORED", stored)
        tp.truth(QUERIES, GALLERY, 7, out=tmp_path / f"{blocks}", distance="euclidean")
        assert len(done) == blocks
        assert files_of(tmp_path / f"{blocks}") == files_of(folder)


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_an_interrupted_run_says_what_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    kill_after(0, monkeypatch)
    with pytest.raises(KilledError) as caught:
        tp.truth(QUERIES, GALLERY, 7, out=out, distance="euclidean")
    assert caught.value.__notes__ == ["no part was finished, so nothing is kept"]
    assert not out.exists()
    kill_after(2, monkeypatch)
    with pytest.raises(KilledError) as caught:
        tp.truth(QUERIES, GALLERY, 7, out=out, distance="euclidean")
    assert caught.value.__notes__ == [f"32 % is kept in {out}, and the same call or command continues it"]


def test_another_search_is_not_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kill_after(1, monkeypatch)
    given: dict[str, Any] = {"gallery": GALLERY, "queries": QUERIES, "k": 7, "distance": "euclidean"}
    with pytest.raises(KilledError):
        tp.truth(**given, out=tmp_path / "out")
    changed = GALLERY.copy()
    changed[0, 0] += 1
    for name, value in (
        ("gallery", changed),
        ("gallery", GALLERY[::-1]),
        ("queries", QUERIES[:-1]),
        ("k", 8),
        ("distance", "sqeuclidean"),
        ("exclude", [(0, 1)]),
    ):
        with pytest.raises(tp.InputError, match=f"another search: it differs in the {name}"):
            tp.truth(**{**given, name: value}, out=tmp_path / "out")


@pytest.mark.parametrize("call", range(1, 7))
def test_a_full_disk_leaves_no_half_file(call: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The write of each file fails in turn; the same call then finishes the truth."""
    synced = os.fsync
    calls = []

    def fsync(descriptor: int) -> None:
        calls.append(1)
        if len(calls) == call:
            raise OSError(errno.ENOSPC, "No space left on device")
        synced(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    out = tmp_path / "truth"
    with pytest.raises(tp.InputError, match=r"could not be written \(No space left on device\)"):
        tp.truth(QUERIES, GALLERY, 7, out=out, distance="euclidean")
    left = [path.name for path in out.rglob("*") if path.is_file()]
    assert NAME not in left
    assert not [name for name in left if name.startswith(".")]
    tp.truth(QUERIES, GALLERY, 7, out=out, distance="euclidean")
    assert tp.verify_truth(out, QUERIES, GALLERY)


def test_bad_input_leaves_no_folder(tmp_path: Path) -> None:
    bad = GALLERY.copy()
    bad[5, 1] = np.nan
    for given, argument in (
        ((QUERIES, bad), "gallery"),
        ((np.full((1, 4), np.inf), GALLERY), "queries"),
        ((QUERIES[:, :3], GALLERY), ("queries", "gallery")),
        ((QUERIES, np.zeros((0, 4))), "gallery"),
        ((np.zeros((0, 4)), GALLERY), "queries"),
    ):
        with pytest.raises(tp.InputError) as caught:
            tp.truth(*given, out=tmp_path / "truth")
        assert caught.value.argument == argument
    assert os.listdir(tmp_path) == []


def test_the_order_of_arguments_before_version_2(folder: Path, tmp_path: Path) -> None:
    """The gallery came first; shapes tell so of a truth that exists, and many queries are a reason for a warning."""
    swapped = "The queries come first, and then the gallery"
    with pytest.raises(tp.InputError, match=f"The truth is of 25 queries and 60 items, but 60 .* and 25 .*{swapped}"):
        tp.verify_truth(folder, GALLERY, QUERIES)
    ids = read_truth(folder)[1].ids
    with pytest.raises(
        tp.InputError, match=f"The number of true lists is 25, as that of items, but that of queries is 60. {swapped}"
    ):
        tp.examine_truth(ids, GALLERY, QUERIES)
    with pytest.warns(tp.InputWarning, match=f"There are 60 queries, but only 6 items. {swapped}"):
        tp.truth(GALLERY, QUERIES[:6], 3, out=tmp_path / "many")
    tp.truth(GALLERY, QUERIES[:7], 3, out=tmp_path / "fewer")


# Verification


def test_verification(folder: Path) -> None:
    whole = tp.verify_truth(folder, QUERIES, GALLERY, sample=None)
    assert str(whole) == "Every bit agrees.\nAll 25 queries were computed again."
    some = tp.verify_truth(folder, QUERIES, GALLERY, sample=5, seed=1, memory="1MB", threads=1)
    assert some.agrees
    assert some.checked == 5
    assert "5 of 25 queries, chosen at random" in str(some)
    assert some.escapes(0.04) == 20 / 25
    assert some.escapes(0.5) == comb(12, 5) / comb(25, 5)
    assert some.escapes(1) == 0
    assert whole.escapes(0.001) == 0
    assert whole.to_dict()["escapes"] == {"0.01": 0.0, "0.001": 0.0}


def test_data_that_is_not_that_of_the_truth(folder: Path) -> None:
    for gallery, queries, says in (
        (GALLERY[::-1], QUERIES, "The gallery has the rows of the truth in another order"),
        (GALLERY, QUERIES[::-1], "The queries have the rows of the truth in another order"),
        (GALLERY + 1, QUERIES, "The gallery is not the data of the truth: 60 rows of 4 float32 with"),
        (GALLERY, QUERIES[:9], "The queries are not the data of the truth: 9 rows"),
    ):
        found = tp.verify_truth(folder, queries, gallery)
        assert not found
        assert found.checked == 0
        assert says in found.differences[0]


def certified_again(folder: Path, **changes: Any) -> None:
    """Write a certificate whose digests are those of the changed files."""
    content = json.loads((folder / NAME).read_text())
    del content["digest"]
    content = {**content, **changes, "files": {name: sha256_of(folder / name) for name in content["files"]}}
    (folder / NAME).write_text(json.dumps({**content, "digest": _digest(content)}))


def with_arrays(folder: Path, **changes: Any) -> None:
    np.savez(folder / "truth.npz", **{**arrays_of(folder), **changes})


def an_edited_number(folder: Path) -> None:
    path = folder / NAME
    path.write_text(path.read_text().replace('"duplicates": ', '"duplicates": 1'))


def a_changed_file(folder: Path) -> None:
    with (folder / "truth.ibin").open("r+b") as file:
        file.seek(8)
        file.write(b"\1\0\0\0")


def a_missing_file(folder: Path) -> None:
    (folder / "distances.fvecs").unlink()


def counts_that_are_not_those_of_the_file(folder: Path) -> None:
    ties = json.loads((folder / NAME).read_text())["ties"]
    certified_again(folder, ties={**ties, "ties": 0})


def ids_out_of_range(folder: Path) -> None:
    ids = arrays_of(folder)["neighbors"]
    ids[0, 0] = 60
    with_arrays(folder, neighbors=ids)
    certified_again(folder)


def an_item_twice(folder: Path) -> None:
    ids = arrays_of(folder)["neighbors"]
    ids[0, 0] = ids[0, 1]
    with_arrays(folder, neighbors=ids)
    certified_again(folder)


def other_shapes(folder: Path) -> None:
    with_arrays(folder, n_ties=np.zeros((25, 1), dtype=np.int64))
    certified_again(folder)


def another_version(folder: Path) -> None:
    certified_again(folder, format=2)


def no_field(folder: Path) -> None:
    certified_again(folder, queries={"rows": 25})


def a_text_as_a_number(folder: Path) -> None:
    certified_again(folder, k="7")


def more_neighbors_than_were_asked_for(folder: Path) -> None:
    certified_again(folder, k=1)


def fewer_neighbors_than_were_asked_for(folder: Path) -> None:
    certified_again(folder, k=100)


def no_archive(folder: Path) -> None:
    (folder / "truth.npz").write_bytes(b"PK\3\4")
    certified_again(folder)


REFUSED: dict[Callable[[Path], None], str] = {
    an_edited_number: "was changed after it was written: its digest differs",
    a_changed_file: r"truth\.ibin was changed after it was certified: its SHA-256 differs",
    a_missing_file: r"distances\.fvecs, which the certificate names, cannot be read",
    counts_that_are_not_those_of_the_file: r"contradicts its certificate or itself: it has .*'ties'",
    ids_out_of_range: "ids are not positions in the gallery",
    an_item_twice: "an item is listed twice",
    other_shapes: r"n_ties has the shape \(25, 1\)",
    another_version: "has the format 2, but tieproof .* reads 1",
    no_field: "lacks fields of a certificate",
    a_text_as_a_number: "or has other types",
    more_neighbors_than_were_asked_for: "it has 7 neighbors of each query, though 1 of 60 items",
    fewer_neighbors_than_were_asked_for: "it has 7 neighbors of each query, though 100 of 60 items",
    no_archive: r"truth\.npz cannot be read as an archive of NumPy arrays",
}


@pytest.mark.parametrize("forge", REFUSED, ids=[each.__name__ for each in REFUSED])
def test_a_forged_truth_is_refused(forge: Callable[[Path], None], folder: Path) -> None:
    forge(folder)
    with pytest.raises(tp.InputError, match=REFUSED[forge]):
        tp.verify_truth(folder, QUERIES, GALLERY)
    with pytest.raises(tp.InputError, match=REFUSED[forge]):
        tp.neighbor_recall(QUERIES.astype(int), folder, k=1)


def test_a_truth_of_other_neighbors_is_found_by_computing_them_again(folder: Path, tmp_path: Path) -> None:
    """A forger who writes all digests anew: with the neighbors of other data, or with one other neighbor."""
    other = tmp_path / "other"
    moved = GALLERY.copy()
    moved[:9] = 1 - moved[:9]
    tp.truth(QUERIES, moved, 7, out=other, distance="euclidean")
    certificate, _ = read_truth(folder)
    certified_again(other, gallery=certificate.to_dict()["gallery"], neighbors=certificate.neighbors)
    found = tp.verify_truth(other, QUERIES, GALLERY, sample=None)
    assert not found
    assert any(text.startswith("The ids of ") for text in found.differences)


def test_a_tie_that_lacks_an_item_is_found(folder: Path) -> None:
    _, stored = read_truth(folder)
    assert stored.tie_sizes[-1] > 7 - stored.tie_starts[-1]
    pointer, ids = stored.tie_indptr.copy(), stored.tie_ids
    pointer[-1] -= 1
    with_arrays(folder, tie_ids=ids[:-1], tie_indptr=pointer)
    again = tp.Neighbors(**{**vars(stored), "tie_ids": ids[:-1], "tie_indptr": pointer})
    ties = json.loads((folder / NAME).read_text())["ties"]
    certified_again(folder, ties={name: again.to_dict()[name] for name in ties})
    found = tp.verify_truth(folder, QUERIES, GALLERY, sample=None)
    assert "The digest of the neighbors is not that of the certificate." in found.differences
    assert "The tie at the last rank of 1 query differs, first of query 24." in found.differences


# Recall


@pytest.mark.parametrize("distance", ["euclidean", "cosine", "cityblock"])
def test_recall_by_a_truth_is_that_by_vectors(distance: str, tmp_path: Path) -> None:
    tp.truth(QUERIES, GALLERY, 9, out=tmp_path / "truth", distance=distance)
    found = np.array([RANDOM.permutation(60)[:20] for _ in QUERIES])
    found[:12, :9] = tp.nearest(QUERIES, GALLERY, 9, distance=distance).ids[:12, ::-1]
    found[3, 2:5] = -1
    found[4, 2] = found[4, 1]
    several: tuple[dict[str, Any], ...] = {"k": (1, 3, 9)}, {"k": (1, 9), "among": 20}
    for options in several:
        given = {"queries": QUERIES, "gallery": GALLERY, "distance": distance, **options}
        own, expected = tp.neighbor_recall(found, tmp_path / "truth", **options), tp.neighbor_recall(found, **given)
        for name, column in expected.columns().items():
            assert np.array_equal(own.columns()[name], column), name
        assert own.to_dict() == expected.to_dict()


def test_ties_that_only_rounding_makes(tmp_path: Path) -> None:
    """Two items at different distances that are equal in float64 are no tie, at every k."""
    gallery = np.array([[1.0, 0.0], [1.0, 1e-9], [3.0, 0.0]])
    tp.truth(np.zeros((1, 2)), gallery, 3, out=tmp_path / "truth", distance="euclidean")
    found = tp.neighbor_recall([[1, 0]], tmp_path / "truth", k=1)
    assert found[1] == tp.Estimate(0.0, 0.0, 0.0, 0.0)
    assert read_truth(tmp_path / "truth")[1].distances[0, :2].tolist() == [1.0, 1.0]


# Truths of others


def test_a_right_truth(folder: Path) -> None:
    found = tp.nearest(QUERIES, GALLERY, 7, distance="euclidean")
    ids = found.ids.copy()
    for query in range(25):  # other items of the last tie, in another order
        start = found.tie_starts[query]
        ids[query, start:] = found.tie(query)[::-1][: 7 - start]
    result = tp.examine_truth(ids, QUERIES, GALLERY, distance="euclidean")
    assert result.right.all()
    assert not result.unordered.any()
    assert result.examples == ()
    assert np.array_equal(result.cut, found.cut)
    assert result.duplicates == found.duplicates


@pytest.mark.parametrize("distance", [*KEYS])
def test_faults_by_definition(distance: str) -> None:
    random = np.random.default_rng(5)
    gallery: Any = GALLERY[:20]
    queries: Any = QUERIES[:12]
    if distance == "hamming":
        gallery, queries = gallery > 1, queries > 1
    ids = tp.nearest(queries, gallery, 5, distance=distance).ids.copy()
    for query in range(12):
        for _ in range(query % 4):
            ids[query, random.integers(5)] = random.integers(-2, 23)
    found = tp.examine_truth(ids.astype(np.int32), queries, gallery, distance=distance)
    items, rows = fractions(gallery), fractions(queries)
    for query, row in enumerate(ids.tolist()):
        keys = [KEYS[distance](rows[query], item) for item in items]
        last = sorted(keys)[4]
        inside = [item for item in row if 0 <= item < 20]
        once = [item for place, item in enumerate(inside) if item not in inside[:place]]
        assert found.out_of_range[query] == 5 - len(inside)
        assert found.repeated[query] == len(inside) - len(once)
        assert found.wrong[query] == sum(keys[item] > last for item in once)
        assert found.missing[query] == sum(key < last and item not in once for item, key in enumerate(keys))
        near = [keys[item] for item in inside]
        assert found.unordered[query] == (near != sorted(near))
    assert found.right.sum() == found.to_dict()["right"]
    assert len(found.columns()["query"]) == 12


@pytest.mark.parametrize("distance", [*KEYS])
@pytest.mark.parametrize("memory", ["1GiB", "16MiB"])
def test_the_order_of_wrong_items_by_definition(memory: str, distance: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists of any items: wrong and repeated ones, ties, distances that float64 rounds to one, -1 behind them."""
    random = np.random.default_rng(6)
    gallery = np.array(
        [[1.0, 1e-9 * (place % 5)] for place in range(12)] + [[-1.0, 1e-9 * place] for place in range(8)]
    )
    queries = random.integers(-2, 3, size=(40, 2)) * np.array([1.0, 2.0**-40])
    rows: Any = queries, gallery
    if distance == "hamming":
        rows = random.integers(0, 2, (40, 4)) > 0, random.integers(0, 2, (20, 4)) > 0
    keys = [[KEYS[distance](row, item) for item in fractions(rows[1])] for row in fractions(rows[0])]
    lists = random.integers(20, size=(40, 6)).tolist()
    lists[::2] = [sorted(row, key=of.__getitem__) for row, of in zip(lists[::2], keys[::2], strict=True)]
    lists[::4] = [[*row[: 6 - cut % 3], *[-1] * (cut % 3)] for cut, row in enumerate(lists[::4])]
    if memory == "16MiB":  # few pairs at a time
        monkeypatch.setattr(search.SearchInParts, "most_compared", 7)
    found = tp.examine_truth(np.array(lists), *rows, distance=distance, memory=memory)
    expected = []
    for row, of in zip(lists, keys, strict=True):
        listed = [of[item] for item in row if item >= 0]
        expected.append(listed != sorted(listed))
    assert found.unordered.tolist() == expected
    assert 5 < sum(expected) <= 20
    assert (found.wrong > 1).any()


def test_the_order_of_wrong_items_by_a_function() -> None:
    def far(queries: Any, items: Any) -> Any:
        return np.abs(queries - items.T)

    found = tp.examine_truth([[3, 2], [2, 3], [1, 1]], [[0.0]] * 3, [[0.0], [1.0], [5.0], [9.0]], distance=far)  # type: ignore[arg-type]
    assert found.unordered.tolist() == [True, False, False]


def test_texts_of_an_examination() -> None:
    gallery, queries = [[0.0], [5.0], [1.0], [-1.0], [-1.0]], [[0.0]] * 4
    truth = [[0, 2], [0, 9], [2, 3], [1, 0]]
    found = tp.examine_truth(truth, queries, gallery, distance="euclidean")
    assert found.examples == (
        "Query 1 lists 9, which is not a position in the gallery, at rank 2.",
        "Query 3 lists item 1 at distance 5, but its 2 nearest end at distance 1.",
        "Query 2 does not list item 0, at distance 0, though its 2 nearest end at distance 1.",
    )
    near = tp.examine_truth([[1]], [[0.0]], [[1.0], [1.0 + 2.0**-40]], distance="euclidean")
    assert near.examples == ("Query 0 lists item 1 at distance 1.000000000001, but its 1 nearest end at distance 1.",)
    assert "1 item of the gallery is equal to an earlier one." in found.to_text()
    assert repr(found) == "<TruthExamination: 1 of 4 lists right>"
    first = tp.examine_truth(truth, queries, gallery, k=1, distance="euclidean")
    assert first.right.tolist() == [True, True, False, False]


# Files that were changed together with their digests


def with_a_byte(at: float) -> Callable[[Path], None]:
    """Change one byte of a file, at a share of its length."""

    def change(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[int(at * len(content))] ^= 1
        path.write_bytes(content)

    return change


def longer(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\0")


def shorter(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def in_hdf5(name: str) -> Callable[[Path], None]:
    """Change the last number of a data set."""

    def change(path: Path) -> None:
        with h5py.File(path, "r+") as file:
            file[name][-1, -1] += 1

    return change


def another_distance(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        file.attrs["distance"] = "angular"


def another_data_set(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        file["more/neighbors"] = [[1]]


def in_parquet(name: str) -> Callable[[Path], None]:
    """Reverse a column."""

    def change(path: Path) -> None:
        table = parquet.read_table(path)
        place = table.column_names.index(name)
        parquet.write_table(table.set_column(place, name, table[name][::-1]), path)

    return change


CHANGED: dict[str, list[Callable[[Path], None]]] = {
    **{
        name: [*map(with_a_byte, (0, 0.3, 0.6, 0.999)), longer, shorter]
        for name in ("truth.ibin", "neighbors.ivecs", "distances.fvecs")
    },
    "truth.hdf5": [*map(in_hdf5, ("train", "test", "neighbors", "distances")), another_distance, another_data_set],
    "truth.parquet": [*map(in_parquet, ("neighbors_id", "distances", "nearer", "tie_ids")), shorter],
}


def test_no_changed_file_agrees(tmp_path: Path) -> None:
    """Whoever changes a file that other programs read can write its digest into the certificate, too."""
    folder, before = tmp_path / "truth", tmp_path / "before"
    tp.truth(QUERIES, GALLERY, 4, out=folder, distance="euclidean", formats=[*FORMATS])
    shutil.copytree(folder, before)
    for name, changes in CHANGED.items():
        for change in changes:
            change(folder / name)
            certified_again(folder)
            found = tp.verify_truth(folder, QUERIES, GALLERY, sample=1)
            assert found.differences == (f"{name} is not what the neighbors and the data give.",)
            shutil.copytree(before, folder, dirs_exist_ok=True)
    assert tp.verify_truth(folder, QUERIES, GALLERY).agrees


def test_files_that_the_certificate_does_not_name(folder: Path) -> None:
    content = json.loads((folder / NAME).read_text())
    del content["files"]["truth.ibin"]
    (folder / NAME).write_text(json.dumps(content))
    certified_again(folder)
    found = tp.verify_truth(folder, QUERIES, GALLERY)
    assert found.differences == ("The folder has truth.ibin, which the certificate does not name.",)


def test_every_field_of_the_rows_is_compared(folder: Path) -> None:
    gallery = json.loads((folder / NAME).read_text())["gallery"]
    for field, value in (("type", "int8"), ("dimensions", 9), ("rows", 60)):
        certified_again(folder, gallery=gallery | {field: value})
        found = tp.verify_truth(folder, QUERIES, GALLERY)
        assert found.agrees == (field == "rows")
    certified_again(folder, version="9.9")
    with pytest.raises(tp.InputError, match=r"was written by tieproof 9\.9, but this is"):
        tp.verify_truth(folder, QUERIES, GALLERY)


def test_a_candidate_counts_as_its_release(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tieproof.analyses.neighbors.verification.__version__", "1.0.0")
    for version, reads in (("1.0.0rc1", True), ("1.1.0rc1", False), ("rc1", False)):
        certified_again(folder, version=version)
        with nullcontext() if reads else pytest.raises(tp.InputError, match=f"tieproof {version}, but this is 1"):
            assert tp.verify_truth(folder, QUERIES, GALLERY).agrees
