"""Shards larger than memory: only the rows that are read take memory, not their files."""

import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import tieproof as tp
from shard_files import parquet, write

MIB = 2**20


@pytest.mark.parametrize("form", [".npy", ".parquet", ".h5", ".safetensors"])
def test_reading_takes_little_more_than_the_rows(tmp_path: Path, form: str) -> None:
    """20 MiB of vectors are read by 1 MiB. The memory of Parquet is not Python's, and is measured below."""
    rows = np.random.default_rng(0).standard_normal((20_000, 128))
    shards = tp.open(write(tmp_path, form, rows, cuts=[7_000]))
    del rows
    tracemalloc.start()
    try:
        total = sum(len(shards.read(start, start + 1_000)) for start in range(0, 20_000, 1_000))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert total == 20_000
    assert peak < 4 * MIB


PEAK = """
import resource, sys
import tieproof as tp
shards = tp.open(sys.argv[1])
shards.read(0, 10)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
total = sum(len(shards.read(start, start + 2_000)) for start in range(0, 40_000, 2_000))
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(total, after - before)
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss counts kilobytes on Linux")
@pytest.mark.parametrize("form", [".npy", ".parquet", ".h5", ".safetensors"])
def test_a_process_that_reads_stays_small(tmp_path: Path, form: str) -> None:
    """80 MiB of vectors in one file (in one row group of Parquet) are read in steps of 4 MiB."""
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
    assert grown < 40 * 1024  # kilobytes: 4 MiB, and what pyarrow and its pool of memory take
