"""Shards larger than memory: rows are read in blocks, and the same rows are found among them, within a budget."""

import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tieproof as tp
from shard_files import parquet, write
from tieproof.exact.rows import by_largest, equal, proportional
from tieproof.inputs.shards import identities as module
from tieproof.inputs.shards.blocks import blocks
from tieproof.inputs.shards.identities import identities

Array = npt.NDArray[Any]

MIB = 2**20


class InMemory:
    """Rows of an array, cut at bounds, as a source."""

    def __init__(self, rows: Array, cuts: Any = ()) -> None:
        self.rows, self.shape, self.dtype = rows, rows.shape, rows.dtype
        self.bounds = np.array([0, *cuts, len(rows)], np.int64)
        self.names = tuple(f"part {number}" for number in range(len(self.bounds) - 1))
        self.threads: set[str] = set()
        self.ahead, self.asked = 0, 0

    def read(self, start: int, stop: int) -> Array:
        self.threads.add(threading.current_thread().name)
        self.asked = max(self.asked, stop)
        return np.ascontiguousarray(self.rows[start:stop])

    def take(self, rows: Array) -> Array:
        return np.ascontiguousarray(self.rows[rows])


def first_same(rows: Array, same: Callable[[Array, Array], Array]) -> list[int]:
    """For each row the first that is the same, one by one."""
    single = [rows[i : i + 1] for i in range(len(rows))]
    return [next(j for j, other in enumerate(single) if same(row, other).all()) for row in single]


# Blocks.


@given(st.integers(1, 60), st.sets(st.integers(0, 60)), st.integers(1, 20_000))
@settings(deadline=None, max_examples=40)
def test_blocks_are_all_rows_in_order_and_of_one_shard_each(n: int, cuts: set[int], memory: int) -> None:
    rows = np.arange(3.0 * n).reshape(n, 3)
    source = InMemory(rows, sorted(cut for cut in cuts if 0 < cut < n))
    found = list(blocks(source, memory))
    assert np.array_equal(np.concatenate([block for _, block in found]), rows)
    starts = [start for start, _ in found]
    assert starts == [0, *np.cumsum([len(block) for _, block in found])[:-1].tolist()]
    assert set(source.bounds[:-1].tolist()) <= set(starts)
    assert all(len(block) == 1 or 8 * block.nbytes <= memory for _, block in found)


def test_blocks_are_read_by_threads_and_not_far_ahead() -> None:
    source = InMemory(np.zeros((1000, 4)))
    with closing(blocks(source, 8 * 32 * 10)) as found:  # ten rows a block
        for start, _ in found:
            assert source.asked <= start + 50
    assert threading.current_thread().name not in source.threads
    assert len(source.threads) <= 2


def test_an_error_of_a_block_comes_to_whoever_reads_it(tmp_path: Path) -> None:
    rows = np.zeros((100, 4))
    rows[70, 1] = np.nan
    shards = tp.open(write(tmp_path, ".npy", rows, cuts=[50]))
    with pytest.raises(tp.InputError, match=r"part-1.npy holds nan in row 20 \(row 70 of all shards\)"):
        list(blocks(shards, 8 * 32 * 10))


@pytest.mark.parametrize("form", [".npy", ".parquet", ".h5", ".safetensors"])
def test_reading_takes_no_more_memory_than_it_may(tmp_path: Path, form: str) -> None:
    """20 MiB of vectors, read with 4 MiB; of Parquet, whose memory is not Python's, in a process of its own below."""
    rows = np.random.default_rng(0).standard_normal((20_000, 128))
    shards = tp.open(write(tmp_path, form, rows, cuts=[7_000]))
    del rows
    tracemalloc.start()
    try:
        total = sum(len(block) for _, block in blocks(shards, 4 * MIB))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert total == 20_000
    assert peak < 4 * MIB


PEAK = """
import resource, sys
import tieproof as tp
from tieproof.inputs.shards.blocks import blocks
shards = tp.open(sys.argv[1])
for start, block in blocks(shards, 2**20):
    break
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
total = sum(len(block) for _, block in blocks(shards, 8 * 2**20))
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(total, after - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss counts kilobytes on Linux")
@pytest.mark.parametrize("form", [".npy", ".parquet", ".h5", ".safetensors"])
def test_a_process_that_reads_stays_small(tmp_path: Path, form: str) -> None:
    """80 MiB of vectors in one file, of Parquet in one row group, read with 8 MiB."""
    rows = np.random.default_rng(0).standard_normal((40_000, 512), dtype=np.float32)
    if form == ".parquet":
        (tmp_path / "0.parquet").write_bytes(parquet(rows, None, group=40_000))
    else:
        write(tmp_path, form, rows)
    ran = subprocess.run(
        [sys.executable, "-c", PEAK, f"{tmp_path}/*{form}"], capture_output=True, text=True, check=True
    )
    total, grown = map(int, ran.stdout.split())
    assert total == 40_000
    assert grown < 40 * 1024  # kilobytes: 8 MiB, and what pyarrow and its pool of memory take


# Identities.

NUMBERS = st.sampled_from([0.0, -0.0, 1.0, 2.0, -1.0, 0.5, 3.0, 1e-300, 5e-324])


@given(st.lists(st.lists(NUMBERS, min_size=2, max_size=2), min_size=1, max_size=30), st.sampled_from([1, 200, 10**9]))
@settings(deadline=None, max_examples=30)
def test_identities_are_those_of_rows_compared_one_by_one(values: list[list[float]], budget: int) -> None:
    rows = np.array(values)
    source = InMemory(rows, range(1, len(rows), 3))
    assert identities(source, budget).tolist() == first_same(rows, equal)
    assert identities(source, budget, by_largest, proportional).tolist() == first_same(rows, proportional)


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "uint8", "int64", "uint64", "bool"])
def test_identities_of_every_type(dtype: str) -> None:
    rows = np.random.default_rng(0).integers(0, 2, (200, 4)).astype(dtype)
    assert identities(InMemory(rows), 1).tolist() == first_same(rows, equal)
    assert identities(InMemory(rows), 10**9, by_largest, proportional).tolist() == first_same(rows, proportional)


def test_integers_that_float64_rounds_are_different() -> None:
    rows = np.array([[2**53], [2**53 + 1], [2**53]])
    assert identities(InMemory(rows), 10**9).tolist() == [0, 1, 0]
    assert identities(InMemory(rows), 10**9, by_largest, proportional).tolist() == [0, 1, 0]


def test_rows_that_differ_by_less_than_the_quotient_shows() -> None:
    """(1, 1/3 rounded) and (3, 1): the quotients are the same float64, and the rows are not proportional."""
    rows = np.array([[1.0, 1 / 3], [3.0, 1.0], [2.0, 2 / 3]])
    assert np.array_equal(by_largest(rows)[0], by_largest(rows)[1])
    assert identities(InMemory(rows), 10**9, by_largest, proportional).tolist() == [0, 1, 0]


def test_a_digest_alone_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Digests that are all the same, and such that few are."""

    def all_the_same(rows: Array, keys: Array, labels: Array, digests: Array) -> None:
        digests[:] = 7

    def of_the_first_number(rows: Array, keys: Array, labels: Array, digests: Array) -> None:
        digests[:, 0], digests[:, 1] = rows[:, 0].astype(np.uint64), 1

    rows = np.random.default_rng(0).integers(0, 3, (60, 3)).astype(float)
    for digest in (all_the_same, of_the_first_number):
        monkeypatch.setattr(module, "digest_rows", digest)
        for budget in (1, 10**9):
            assert identities(InMemory(rows), budget).tolist() == first_same(rows, equal)


def test_duplicates_across_shards_with_a_tiny_budget(tmp_path: Path) -> None:
    """30,000 rows in five files, whose digests do not fit into 256 KiB, as those of the whole array."""
    rng = np.random.default_rng(5)
    rows = rng.standard_normal((30_000, 8)).astype(np.float32)
    copies = rng.choice(30_000, (2, 4_000), replace=False)
    rows[copies[0]] = rows[copies[1]] * rng.choice([1, 2, 4], 4_000)[:, None].astype(np.float32)
    shards = tp.open(write(tmp_path, ".npy", rows, cuts=[10, 9_000, 15_000, 29_000]))
    expected = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
    tracemalloc.start()
    try:
        found = identities(shards, 2**18)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2**18 + 2 * found.nbytes + 2**17  # the answer, and what files of 117 parts have as buffers
    assert (found <= np.arange(30_000)).all()
    assert np.array_equal(np.unique(found, return_inverse=True)[1], np.unique(found[found], return_inverse=True)[1])
    first = np.full(expected.max() + 1, 30_000)
    np.minimum.at(first, expected, np.arange(30_000))
    assert np.array_equal(found, first[expected])
    up_to_factor = identities(shards, 2**18, by_largest, proportional)
    assert np.count_nonzero(up_to_factor != np.arange(30_000)) >= 4_000


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Temporary files are removed, also where a row is refused."""
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    rows = np.zeros((100, 4))
    shards = tp.open(write(tmp_path / "good", ".npy", rows))
    assert identities(shards, 1).tolist() == [0] * 100
    rows[99] = np.nan
    with pytest.raises(tp.InputError, match="holds nan"):
        identities(tp.open(write(tmp_path / "bad", ".npy", rows)), 1)
    assert list((tmp_path / "scratch").iterdir()) == []
