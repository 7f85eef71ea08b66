"""Truths of sparse rows: by fractions, of any form of the rows, with the bytes of dense rows, and in shards."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tieproof as tp
from hard_sets import HARD_SETS
from sparse_oracle import WEIGHTS, Row, product, ranked, rows_of
from tieproof.analyses.neighbors import search, verification
from tieproof.analyses.neighbors.certificate import read_truth
from tieproof.cli import main
from tieproof.evaluation.cluster.layout import groups_of
from tieproof.inputs.readers import read_embeddings

sparse = pytest.importorskip("scipy.sparse")

pytestmark = [
    pytest.mark.filterwarnings("ignore::tieproof.InputWarning"),
    pytest.mark.filterwarnings("ignore:Sparse CSR tensor support:UserWarning"),
]

Array = npt.NDArray[Any]
DISTANCES = ("dot", "cosine", "euclidean")
every = pytest.mark.parametrize("distance", DISTANCES)


def as_dictionaries(rows: Array) -> list[Any]:
    """Integers as terms, each row in another order than its columns."""
    return [{int(at): float(row[at]) for at in np.flatnonzero(row)[::-1]} for row in rows]


def as_words(rows: Array) -> list[Row]:
    return [{f"term {at:03}": float(row[at]) for at in np.flatnonzero(row)[::-1]} for row in rows]


def some_rows(count: int, seed: int, share: float = 0.3) -> Array:
    """Weights of one digit, of which many are zero; the first row has entries at both ends, and the last has none."""
    random = np.random.default_rng(seed)
    rows = (random.integers(-3, 4, (count, 12)) * (random.random((count, 12)) < share)).astype(np.float32)
    rows[0, [0, -1]], rows[-1] = 1, 0
    return rows


QUERIES, GALLERY = some_rows(9, 1), some_rows(60, 2)
SIDES = sparse.csr_array(QUERIES), sparse.csr_array(GALLERY)


def content(folder: Path) -> bytes:
    return (folder / "truth.npz").read_bytes()


@pytest.mark.few(24)
@pytest.mark.parametrize("k", [1, 5, 17, 40])
@every
@pytest.mark.parametrize("kind", WEIGHTS)
def test_fractions(kind: str, distance: str, k: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gallery, queries = rows_of(kind, 40, seed=1), rows_of(kind, 7, seed=2)
    cut_into(9, monkeypatch)
    tp.truth(queries, gallery, k, out=tmp_path, distance=distance)
    found = read_truth(tmp_path)[1]
    for query, x in enumerate(queries):
        ids, starts, tie = ranked(distance, x, dict(enumerate(gallery)), k)
        assert found.ids[query].tolist() == ids
        assert found.tie_starts[query] == starts
        assert found.tie(query).tolist() == tie
        if distance == "dot":
            assert found.distances[query].tolist() == [float(-product(x, gallery[item])) for item in ids]
    assert found.duplicates == 40 - len({frozenset(row.items()) for row in gallery})


@pytest.mark.few(12)
@every
@pytest.mark.parametrize("name", HARD_SETS)
def test_the_bytes_of_dense_rows(name: str, distance: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    rows = HARD_SETS[name](random, (26, 7))
    rows = np.where(random.random(rows.shape) < 0.4, rows, np.zeros_like(rows))
    rows[random.integers(26, size=4)] = rows[random.integers(26, size=4)]
    rows = rows.astype(np.float32) if rows.dtype == np.float16 else rows
    if rows.dtype.kind in "iu" and max(map(abs, rows.ravel().tolist())) > 2**53:
        return
    tp.truth(rows[:8], rows[8:], 6, out=tmp_path / "dense", distance=distance)
    for size in (18, 5):
        cut_into(size, monkeypatch)
        own = sparse.csr_array(rows)
        tp.truth(own[:8], own[8:], 6, out=tmp_path / f"{size}", distance=distance)
        assert content(tmp_path / f"{size}") == content(tmp_path / "dense")


@pytest.mark.heavy
@every
def test_forms_of_the_same_rows(distance: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    tp.truth(QUERIES, GALLERY, 7, out=tmp_path / "dense", distance=distance)
    unsorted = [
        sparse.csr_array((side.data[::-1], side.indices[::-1], side.nnz - side.indptr[::-1]), side.shape)
        for side in SIDES
    ]
    zeros = [sparse.csr_array((np.zeros(5, np.float32), (range(5), range(5))), side.shape) + side for side in SIDES]
    forms: dict[str, tuple[Any, Any]] = {
        "csr": SIDES,
        "csc": (sparse.csc_matrix(QUERIES), sparse.csc_matrix(GALLERY)),
        "coo": (sparse.coo_array(QUERIES), sparse.coo_array(GALLERY)),
        "explicit zeros": (zeros[0], zeros[1]),
        "float64": (sparse.csr_array(QUERIES.astype(float)), SIDES[1]),
        "torch coo": (torch.tensor(QUERIES).to_sparse(), torch.tensor(GALLERY).to_sparse()),
        "torch csr": (torch.tensor(QUERIES).to_sparse_csr(), torch.tensor(GALLERY).to_sparse_csr()),
        "dictionaries": (as_dictionaries(QUERIES), as_dictionaries(GALLERY)),
        "words": (as_words(QUERIES), as_words(GALLERY)),
    }
    neighbors = set()
    for name, form in forms.items():
        made = tp.truth(*form, 7, out=tmp_path / name, distance=distance)
        assert content(tmp_path / name) == content(tmp_path / "dense"), name
        neighbors.add((made.neighbors, made.gallery.fingerprint, made.gallery.in_order, made.queries.in_order))
        assert tp.verify_truth(tmp_path / "csr", *form), name
        assert tp.verify_truth(tmp_path / name, *SIDES, sample=5), name
    assert len(neighbors) == 1
    again = unsorted[0][::-1], unsorted[1][::-1]
    assert tp.verify_truth(tmp_path / "csr", *again)


def test_other_rows_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = tp.truth(*SIDES, 5, out=tmp_path / "truth", distance="dot")
    assert made.gallery.type == "sparse float32"
    words = as_words(GALLERY)
    changed = [{**words[0], "term 003": 0.5}, *words[1:]]
    moved = sparse.csr_array(np.roll(GALLERY, 1, axis=1))
    for gallery, said in (
        (sparse.csr_array(GALLERY[::-1]), "has the rows of the truth in another order"),
        (moved, "is not the data of the truth"),
    ):
        found = tp.verify_truth(tmp_path / "truth", SIDES[0], gallery)
        assert not found
        assert said in found.differences[0]
    assert "is not the data" in tp.verify_truth(tmp_path / "truth", as_words(QUERIES), changed).differences[0]
    assert "not the data" in tp.verify_truth(tmp_path / "truth", QUERIES, GALLERY).differences[0]
    lists = np.array(read_truth(tmp_path / "truth")[1].ids)
    lists[2, 4] = lists[2, 3]
    certificate, stored = read_truth(tmp_path / "truth")
    monkeypatch.setattr(verification, "read_truth", lambda _: (certificate, replace(stored, ids=lists)))
    assert not tp.verify_truth(tmp_path / "truth", *SIDES)


@every
def test_lists_of_others(distance: str, tmp_path: Path) -> None:
    tp.truth(*SIDES, 6, out=tmp_path, distance=distance)
    ids = np.array(read_truth(tmp_path)[1].ids)
    ids[3, 2], ids[4, 1] = ids[3, 1], 60
    far = tp.nearest(*SIDES, 60, distance=distance).ids[0, -1]
    ids[0, 5] = far
    for sides in (SIDES, (as_dictionaries(QUERIES), as_dictionaries(GALLERY))):
        found = tp.examine_truth(ids, *sides, distance=distance)
        assert found.to_dict() == tp.examine_truth(ids, QUERIES, GALLERY, distance=distance).to_dict()
        assert found.repeated.tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 0]
        assert found.wrong[0] == 1


def test_lists_in_the_order_of_another_distance(tmp_path: Path) -> None:
    found = tp.nearest(*SIDES, 10, distance="euclidean")
    with pytest.warns(tp.InputWarning, match="in the order of euclidean distance, not of dot"):
        tp.examine_truth(found.ids, *SIDES, distance="dot")


class KilledError(BaseException):
    """Ends a run as a signal does."""


def test_a_killed_run_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tp.truth(*SIDES, 4, out=tmp_path / "whole", distance="dot")
    cut_into(25, monkeypatch)
    searched, done = search.searched, list[Any]()

    def killed(of: Any, part: Any, progress: Any) -> Any:
        if len(done) == 2:
            raise KilledError
        done.append(part)
        return searched(of, part, progress)

    monkeypatch.setattr(search, "searched", killed)
    with pytest.raises(KilledError):
        tp.truth(*SIDES, 4, out=tmp_path / "truth", distance="dot")

    def noted(*given: Any) -> Any:
        done.append(given[1])
        return searched(*given)

    monkeypatch.setattr(search, "searched", noted)
    with pytest.raises(tp.InputError, match="differs in the gallery"):
        tp.truth(SIDES[0], SIDES[1][::-1], 4, out=tmp_path / "truth", distance="dot")
    tp.truth(as_dictionaries(QUERIES), as_dictionaries(GALLERY), 4, out=tmp_path / "truth", distance="dot")
    assert len(done) == len(set(done)) == 3
    assert content(tmp_path / "truth") == content(tmp_path / "whole")


def cut_into(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Search pieces of so many items."""
    monkeypatch.setattr(search, "groups_of", lambda bounds, most: groups_of(bounds, size))


def test_excluded_pairs(tmp_path: Path) -> None:
    exclude = np.argwhere(np.random.default_rng(4).random((9, 60)) < 0.8)
    tp.truth(*SIDES, 12, out=tmp_path / "sparse", distance="dot", exclude=exclude)
    tp.truth(QUERIES, GALLERY, 12, out=tmp_path / "dense", distance="dot", exclude=exclude)
    assert content(tmp_path / "sparse") == content(tmp_path / "dense")
    assert tp.verify_truth(tmp_path / "sparse", *SIDES, exclude=exclude)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"gallery": GALLERY}, "must both be sparse, or both be dense"),
        ({"gallery": as_words(GALLERY)}, "Only one side is dictionaries"),
        ({"queries": as_words(QUERIES), "gallery": as_dictionaries(GALLERY)}, "all strings or all integers"),
        ({"distance": "cityblock"}, "cityblock takes no sparse rows"),
        ({"distance": "hamming"}, "hamming takes no sparse rows"),
        ({"formats": ["vecs", "hdf5"]}, "must not be sparse rows. Leave hdf5 out"),
        ({"gallery": sparse.csr_array(np.where(GALLERY, np.inf, 0))}, "gallery must contain only finite numbers"),
    ],
)
def test_refused(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    given: dict[str, Any] = {"queries": SIDES[0], "gallery": SIDES[1], "distance": "dot"} | change
    with pytest.raises(tp.InputError, match=words):
        tp.truth(**given, out=tmp_path / "truth")
    assert not (tmp_path / "truth").exists()


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(each) for each in arguments])
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_files_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, rows in (("queries", QUERIES), ("gallery", GALLERY)):
        for form, write in WRITERS.items():
            write(tmp_path / f"{name}{form}", rows)
    tp.truth(QUERIES, GALLERY, 5, out=tmp_path / "dense", distance="dot")
    for form in WRITERS:
        files = [tmp_path / f"{name}{form}" for name in ("queries", "gallery")]
        assert run("truth", *files, "-k", 5, "-d", "dot", "--out", tmp_path / form[1:]) == 0
        assert content(tmp_path / form[1:]) == content(tmp_path / "dense")
        assert run("verify", tmp_path / "npz", *files) == 0
        assert run("truth", *files, "-d", "dot", "--check", tmp_path / "dense" / "neighbors.ivecs") == 0
        assert "9 lists are right" in capsys.readouterr().out


def npz(path: Path, rows: Array) -> None:
    sparse.save_npz(path, sparse.csr_array(rows))


def csr(path: Path, rows: Array) -> None:
    """The format of big-ann-benchmarks."""
    own = sparse.csr_array(rows)
    header = np.array([*own.shape, own.nnz], "<i8")
    parts = header, own.indptr.astype("<i8"), own.indices.astype("<i4"), own.data.astype("<f4")
    path.write_bytes(b"".join(map(bytes, parts)))


def jsonl(path: Path, rows: Array) -> None:
    lines = [json.dumps({"id": at, "vector": row}) for at, row in enumerate(as_words(rows))]
    path.write_text("\n".join(lines) + "\n")


def parquet(path: Path, rows: Array) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    pairs = [[*row.items()] for row in as_dictionaries(rows)]
    column = pyarrow.array(pairs, pyarrow.map_(pyarrow.int64(), pyarrow.float32()))
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table({"vector": column}), path)


WRITERS: dict[str, Callable[[Path, Array], None]] = {".npz": npz, ".csr": csr, ".jsonl": jsonl, ".parquet": parquet}


def in_shards(rows: Array, folder: Path, form: str) -> tp.Shards:
    folder.mkdir()
    for number, part in enumerate(np.split(rows, (1, 7, 40))):
        if len(part):
            WRITERS[form](folder / f"part-{number}{form}", part)
    return tp.open(folder)


@pytest.mark.few(4)
@pytest.mark.parametrize("size", [60, 7])
@every
@pytest.mark.parametrize("form", WRITERS)
def test_shards(form: str, distance: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tp.truth(QUERIES, GALLERY, 7, out=tmp_path / "dense", distance=distance)
    tp.truth(*SIDES, 7, out=tmp_path / "whole", distance=distance)
    items, asked = (in_shards(*each, form) for each in ((GALLERY, tmp_path / "g"), (QUERIES, tmp_path / "q")))
    cut_into(size, monkeypatch)
    tp.truth(asked, items, 7, out=tmp_path / "pieces", distance=distance, memory="1MiB")
    assert content(tmp_path / "pieces") == content(tmp_path / "dense")
    assert tp.verify_truth(tmp_path / "whole", asked, items, sample=4)
    assert tp.verify_truth(tmp_path / "pieces", *SIDES)
    ids = read_truth(tmp_path / "whole")[1].ids
    assert tp.examine_truth(ids, asked, items, distance=distance).right.all()


@pytest.mark.parametrize("form", WRITERS)
def test_shards_are_evaluated(form: str, tmp_path: Path) -> None:
    labels, shards = np.arange(60) % 5, in_shards(GALLERY, tmp_path / "g", form)
    assert shards.shape == (60, 12)
    expected = tp.evaluate(GALLERY, labels, distance="dot").to_flat_dict()
    assert tp.evaluate(shards, labels, distance="dot").to_flat_dict() == expected
    stored = tp.evaluate(shards, labels, distance="dot", checkpoint=tmp_path / "parts")
    assert stored.to_flat_dict() == expected
    queries = tmp_path / f"queries{form}"
    WRITERS[form](queries, QUERIES)
    sides: dict[str, Any] = {"gallery_labels": labels, "distance": "dot"}
    dense = tp.evaluate(QUERIES, labels[:9], gallery=GALLERY, **sides).to_flat_dict()
    assert tp.evaluate(read_embeddings(queries), labels[:9], gallery=shards, **sides).to_flat_dict() == dense


@pytest.mark.parametrize(
    ("forms", "words"),
    [
        ((".csr", ".jsonl"), "sparse rows of named terms, but .* sparse rows whose dimensions are numbers"),
        ((".csr", ".npy"), "contains dense rows, but .* sparse rows"),
        ((".npz", "wide.npz"), "vectors of length 13, but .* length 12"),
    ],
)
def test_shards_that_differ(forms: tuple[str, str], words: str, tmp_path: Path) -> None:
    writers: dict[str, Any] = {
        **WRITERS,
        ".npy": np.save,
        "wide.npz": lambda path, rows: npz(path, np.pad(rows, ((0, 0), (0, 1)))),
    }
    files = [tmp_path / f"part-{number}{form}" for number, form in enumerate(forms)]
    for file, form in zip(files, forms, strict=True):
        writers[form](file, GALLERY)
    with pytest.raises(tp.InputError, match=words):
        tp.open(files)


def test_labels_beside_shards(tmp_path: Path) -> None:
    npz(tmp_path / "part-0.npz", GALLERY)
    np.save(tmp_path / "part-0.labels.npy", np.arange(60))
    shards = tp.open(tmp_path)
    assert shards.labels is not None
    assert (len(shards), shards.labels.tolist()) == (60, [*range(60)])


@pytest.mark.parametrize("form", [".csr", ".parquet", ".npz"])
def test_shards_without_rows(form: str, tmp_path: Path) -> None:
    for number, part in enumerate((GALLERY[:0], GALLERY, GALLERY[:0])):
        WRITERS[form](tmp_path / f"part-{number}{form}", part)
    shards = tp.open(tmp_path)
    assert (len(shards), len(shards.opened), len(shards.names)) == (60, 3, 1)


def test_shards_take_no_noise(tmp_path: Path) -> None:
    with pytest.raises(tp.InputError, match="noise cannot be combined with sparse rows"):
        tp.evaluate(in_shards(GALLERY, tmp_path / "g", ".csr"), np.arange(60) % 5, noise=0.1)


def test_the_ids_of_shards_are_no_labels(tmp_path: Path) -> None:
    jsonl(tmp_path / "part-0.jsonl", GALLERY)
    assert tp.open(tmp_path).labels is None


@pytest.mark.parametrize(("at", "value"), [(0, 1), (60, 10)], ids=["behind the first entry", "before the last one"])
def test_a_shard_with_entries_of_no_row(at: int, value: int, tmp_path: Path) -> None:
    path, rows = tmp_path / "part-0.csr", GALLERY * 0
    rows[:, :11] = np.arange(60)[:, None] == 59  # all entries are those of the last row
    rows[0, 0] = 1
    WRITERS[".csr"](path, rows)
    with path.open("r+b") as file:
        file.seek(24 + 8 * at)
        file.write(value.to_bytes(8, "little"))
    for read in (tp.open, read_embeddings):
        with pytest.raises(tp.InputError, match="contradict each other"):
            read(path)


def test_a_shard_whose_rows_start_far_beyond_its_end(tmp_path: Path) -> None:
    path, header = tmp_path / "part-0.csr", 24
    WRITERS[".csr"](path, GALLERY)
    with path.open("r+b") as file:
        file.seek(header + 8 * len(GALLERY))
        file.write((10**17).to_bytes(8, "little"))
    with pytest.raises(tp.InputError, match="its parts contradict each other"):
        tp.open(path)
