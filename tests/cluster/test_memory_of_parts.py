"""A gallery four times as large as the budget of every process: what each takes at its peak."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import tieproof as tp

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning")]

MIB = 2**20
BUDGET, DIMENSIONS = 32 * MIB, 1024
COUNT = 4 * BUDGET // (4 * DIMENSIONS)


def write(folder: Path) -> None:
    """Shards of 16 MiB and their labels."""
    random = np.random.default_rng(0)
    for number, rows in enumerate(np.array_split(np.arange(COUNT), 8)):
        np.save(folder / f"part{number}.npy", random.standard_normal((len(rows), DIMENSIONS), dtype=np.float32))
    np.save(folder / "labels", random.integers(0, COUNT // 4, size=COUNT))


def resident(field: str) -> int:
    """Bytes that are (VmRSS), or at most were (VmHWM), resident in this process."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status[field].split()[0]) * 1024


def peak(folder: str) -> int:
    """Bytes over what was resident before, in a process of its own."""
    labels = np.load(Path(folder, "labels.npy"))
    shards = tp.open([str(path) for path in sorted(Path(folder).glob("part*.npy"))])
    queries, own = shards.read(0, 200) + 1, labels[:200]
    tp.evaluate(queries, own, gallery=queries - 1, gallery_labels=own)
    Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    tp.evaluate(queries, own, gallery=shards, gallery_labels=labels, memory=BUDGET, threads=1)
    return resident("VmHWM") - before


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="Linux counts pages")
def test_within_the_budget(tmp_path: Path) -> None:
    write(tmp_path)
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        assert pool.submit(peak, str(tmp_path)).result() <= BUDGET
