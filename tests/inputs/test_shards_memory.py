"""Shards larger than memory: rows are read in blocks, within a budget."""

import subprocess
import sys
import threading
import tracemalloc
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
from tieproof.inputs.shards.blocks import blocks

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
