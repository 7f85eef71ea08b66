"""Truths of shards that are searched piece by piece have the bits of one search of all rows."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tieproof as tp
from fnmr_oracle import KEYS
from tieproof.analyses.neighbors import search, sides
from tieproof.analyses.neighbors.certificate import read_truth
from tieproof.analyses.neighbors.formats import FORMATS
from tieproof.analyses.neighbors.nearest import neighbors_of
from tieproof.engine import NearestLists, merged_lists
from tieproof.evaluation.cluster.layout import groups_of
from tieproof.evaluation.cluster.tasks import Local
from tieproof.inputs.shards.source import ArraySource

Array = npt.NDArray[Any]
RANDOM = np.random.default_rng(320)
ROWS = RANDOM.integers(0, 3, size=(60, 4)).astype(np.float32)


def near_duplicates(dtype: Any) -> Array:
    """Rows whose distances from queries mostly differ by less than float64 shows."""
    rows = np.ones((60, 3), dtype=dtype)
    steps = RANDOM.integers(-2, 3, size=rows.shape)
    return np.asarray(rows + steps * np.finfo(dtype).eps, dtype=dtype)


DATA: dict[str, Callable[[], Array]] = {
    "ties": lambda: ROWS,
    "int8": lambda: ROWS.astype(np.int8) - 1,
    "uint8": lambda: ROWS.astype(np.uint8),
    "float16": lambda: ROWS.astype(np.float16),
    "one ulp": lambda: near_duplicates(np.float32),
    "one ulp of float64": lambda: near_duplicates(np.float64),
    "equal in float64": lambda: np.array([[1.0, 1e-9 * (place % 7)] for place in range(60)]),
    "constant": lambda: np.ones((60, 2)),
    "zeros of both signs": lambda: np.where(RANDOM.integers(0, 2, size=(60, 2)), -0.0, 0.0),
    "subnormal": lambda: RANDOM.integers(-3, 4, size=(60, 2)) * 5e-324,
    "overflow": lambda: RANDOM.integers(-3, 4, size=(60, 2)) * 1e200,
    "large integers": lambda: 2**62 + RANDOM.integers(0, 4, size=(60, 2)),
}


def in_shards(rows: Array, folder: Path, ends: tuple[int, ...]) -> tp.Shards:
    folder.mkdir()
    for number, part in enumerate(np.split(rows, ends)):
        np.save(folder / f"part-{number}.npy", part)
    return tp.open(folder)


def cut_into(size: int, monkeypatch: pytest.MonkeyPatch, queries: int = 1000) -> None:
    """Search pieces of so many items, and blocks of so many queries."""
    monkeypatch.setattr(search, "groups_of", lambda bounds, most: groups_of(bounds, size))
    monkeypatch.setattr(search, "QUERIES", queries)
    monkeypatch.setattr(search, "LISTED", 1)


def content(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in os.listdir(folder)}


@pytest.mark.few(8)
@pytest.mark.filterwarnings("ignore:.* queries are in the gallery, too")
@pytest.mark.parametrize("size", [1, 7, 25])
@pytest.mark.parametrize("distance", [*KEYS])
@pytest.mark.parametrize("kind", [*DATA])
def test_any_pieces(kind: str, distance: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = DATA[kind]()
    rows = rows > rows.mean() if distance == "hamming" else rows
    items, queries = rows, rows[::7]
    make = partial(tp.truth, k=5, distance=distance, threads=1)
    make(queries, items, out=tmp_path / "whole")
    cut_into(size, monkeypatch, 4)
    make(queries, in_shards(items, tmp_path / "items", (10, 11, 40)), out=tmp_path / "pieces")
    assert content(tmp_path / "pieces") == content(tmp_path / "whole")


def test_shards_of_queries_and_all_formats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    queries = ROWS[::3]
    tp.truth(queries, ROWS, 7, out=tmp_path / "whole", formats=[*FORMATS])
    cut_into(9, monkeypatch, 6)
    items, asked = in_shards(ROWS, tmp_path / "items", (30,)), in_shards(queries, tmp_path / "queries", (5, 6))
    tp.truth(asked, items, 7, out=tmp_path / "pieces", formats=[*FORMATS], memory="1MB")
    assert content(tmp_path / "pieces") == content(tmp_path / "whole")
    assert tp.verify_truth(tmp_path / "pieces", asked, items, sample=5)
    assert tp.verify_truth(tmp_path / "whole", asked, items, sample=None)
    found = tp.examine_truth(read_truth(tmp_path / "whole")[1].ids[:, ::-1], asked, items)
    assert found.right.all()
    assert (
        found.to_dict() == tp.examine_truth(read_truth(tmp_path / "whole")[1].ids[:, ::-1], queries, ROWS).to_dict()
    )


def test_a_small_memory_makes_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any patch of the layout: a gallery of 12 MiB within 16 MiB, half of which is for rows."""
    rows = np.random.default_rng(5).integers(0, 4, size=(6144, 512)).astype(np.float32)
    problems = []

    def counted(problem: Any, *given: Any) -> tp.Neighbors:
        problems.append(len(problem.gallery))
        return neighbors_of(problem, *given)

    monkeypatch.setattr(search, "neighbors_of", counted)
    tp.truth(rows[:9], in_shards(rows, tmp_path / "items", (1000, 1500)), 20, out=tmp_path / "out", memory="16MiB")
    assert sum(problems) == 6144
    assert max(problems) * 512 * 4 <= 2**23
    assert np.array_equal(read_truth(tmp_path / "out")[1].ids, tp.nearest(rows[:9], rows, 20).ids)


class KilledError(BaseException):
    """Ends a run as a signal does."""


def test_a_killed_run_is_continued_at_its_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    queries = ROWS[:10]
    tp.truth(queries, ROWS, 4, out=tmp_path / "whole")
    cut_into(20, monkeypatch, 5)
    items = in_shards(ROWS, tmp_path / "items", (30,))
    done: list[int] = []
    most = 3

    def killed(*given: Any) -> tp.Neighbors:
        if len(done) == most:
            raise KilledError
        done.append(1)
        return neighbors_of(*given)

    monkeypatch.setattr(search, "neighbors_of", killed)
    with pytest.raises(KilledError):
        tp.truth(queries, items, 4, out=tmp_path / "out")
    names = ["0-5-0-20.npz", "0-5-20-30.npz", "5-10-0-20.npz", "search.json"]
    assert sorted(os.listdir(tmp_path / "out" / "parts")) == names
    cut_into(30, monkeypatch, 5)
    with pytest.raises(tp.InputError, match="another search: it differs in the memory or the workers"):
        tp.truth(queries, items, 4, out=tmp_path / "out")
    cut_into(20, monkeypatch, 5)
    most = 8
    tp.truth(queries, items, 4, out=tmp_path / "out")
    assert len(done) == 8
    assert content(tmp_path / "out") == content(tmp_path / "whole")


def test_a_changed_shard_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut_into(20, monkeypatch)
    items = in_shards(ROWS, tmp_path / "items", (30,))

    def changing(*given: Any) -> tp.Neighbors:
        np.save(tmp_path / "items" / "part-1.npy", np.zeros((30, 4), np.float32))
        os.utime(tmp_path / "items" / "part-1.npy", (1, 1))
        return neighbors_of(*given)

    monkeypatch.setattr(search, "neighbors_of", changing)
    with pytest.raises(tp.InputError, match=r"part-1\.npy changed after it was opened"):
        tp.truth(ROWS[:3], items, 4, out=tmp_path / "out")
    monkeypatch.setattr(search, "neighbors_of", neighbors_of)
    with pytest.raises(tp.InputError, match="another search: it differs in the gallery"):
        tp.truth(ROWS[:3], tp.open(tmp_path / "items"), 4, out=tmp_path / "out")


def test_nan_in_a_shard_is_named(tmp_path: Path) -> None:
    rows = ROWS.copy()
    rows[31, 2] = np.nan
    with pytest.raises(tp.InputError, match=r"part-1\.npy contains nan in row 1 \(row 31 of all shards\)"):
        tp.truth(ROWS[:3], in_shards(rows, tmp_path / "items", (30,)), 4, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_duplicates_with_equal_digests_are_compared() -> None:
    """Digests that collide make no duplicates: rows are compared, also those behind the first row of a digest."""
    rows = np.array([[1.0], [2.0], [1.0], [2.0], [3.0], [-0.0], [0.0]])
    source = ArraySource.of(rows)
    own = sides.digests_of(source, Local(), 1)
    assert sides.duplicates_of(source, own) == 3
    assert sides.duplicates_of(source, np.zeros_like(own)) == 3
    assert sides.duplicates_of(ArraySource.of(rows[:1]), own[:1]) == 0


def test_ids_beyond_32_bits() -> None:
    """Lists of the pieces of a gallery of many billion items keep their ids."""
    first = tp.nearest([[0.0]], [[1.0], [2.0], [1.0]], k=2, distance="euclidean")
    own = {name: getattr(first, name) for name in NearestLists._fields[1:]}
    lists = [
        NearestLists(**{**own, "query": np.arange(1), "ids": first.ids + far, "tie_ids": first.tie_ids + far})
        for far in (2**40, 5, 2**33)
    ]

    def problem_of(queries: Array, items: Array) -> Any:
        both = sides.Sides.of(np.zeros((len(queries), 1)), np.ones((len(items), 1)))
        return both.search("euclidean", None, search.budget_of("1MiB", 1)).in_memory(search.budget_of("1MiB", 1))

    merged = merged_lists(lists, 4, problem_of, 10, lambda items: None)
    tied = [5, 7, 2**33, 2**33 + 2, 2**40, 2**40 + 2]
    assert merged.ids.tolist() == [tied[:4]]
    assert merged.tie_ids.tolist() == tied
    assert merged.ids.dtype == merged.tie_ids.dtype == np.int64
