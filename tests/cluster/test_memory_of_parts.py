"""The peak memory of each process for a gallery four times as large as the budget of a process."""

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

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


def status_of(process: int | str) -> dict[str, str]:
    """The status of a process, as Linux reports it."""
    return dict(line.split(":", 1) for line in Path(f"/proc/{process}/status").read_text().splitlines())


def resident(field: str, process: int | str = "self") -> int:
    """The resident memory of a process in bytes: the present (VmRSS) or the largest (VmHWM)."""
    return int(status_of(process)[field].split()[0]) * 1024


def peak(folder: str) -> int:
    """The peak of the resident memory in bytes, minus the memory before, in a separate process."""
    labels = np.load(Path(folder, "labels.npy"))
    shards = tp.open([str(path) for path in sorted(Path(folder).glob("part*.npy"))])
    queries, own = shards.read(0, 200) + 1, labels[:200]
    tp.evaluate(queries, own, gallery=queries - 1, gallery_labels=own)
    Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    tp.evaluate(queries, own, gallery=shards, gallery_labels=labels, memory=BUDGET, threads=1)
    return resident("VmHWM") - before


def peak_of_a_truth(folder: str) -> int:
    """The peak of a truth of shards, as of an evaluation."""
    paths = [str(path) for path in sorted(Path(folder).glob("part*.npy"))]
    shards = tp.open(paths)
    queries = shards.read(0, 200) + 1
    tp.truth(queries, queries - 1, 10, out=Path(folder, "first"), memory=BUDGET, threads=1)
    Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    tp.truth(queries, shards, 10, out=Path(folder, "truth"), memory=BUDGET, threads=1)
    return resident("VmHWM") - before


def children(process: int) -> list[int]:
    """The processes that a process has started."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if int(status_of(path.name)["PPid"]) == process:
                found.append(int(path.name))
    return found


def workers() -> set[int]:
    """The workers of the cluster that this process has started."""
    own = [worker for child in children(os.getpid()) for worker in children(child)]
    return {worker for worker in own if Path(f"/proc/{worker}/cmdline").read_bytes().startswith(b"ray::")}


@contextmanager
def watched(peaks: dict[int, int]) -> Iterator[None]:
    """Record, many times a second, the largest private memory of this process and of each worker."""
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(0.02):
            for process in (os.getpid(), *workers()):
                with suppress(OSError, KeyError):
                    peaks[process] = max(resident("RssAnon", process), peaks.get(process, 0))

    watcher = threading.Thread(target=look)
    watcher.start()
    yield
    ended.set()
    watcher.join()


def peaks_on_ray(folder: str) -> dict[str, int]:
    """The memory in bytes of the driver and of each Ray worker, minus that of a worker without a task."""
    import ray

    labels = np.load(Path(folder, "labels.npy"))
    shards = tp.open([str(path) for path in sorted(Path(folder).glob("part*.npy"))])
    queries, own = shards.read(0, 200) + 1, labels[:200]
    given: dict[str, Any] = {"labels": own, "gallery": shards, "gallery_labels": labels, "memory": BUDGET}
    size: dict[str, Any] = {"object_store_memory": 2**27, "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
    ray.init(num_cpus=2, log_to_driver=False, logging_level="ERROR", **size)
    peaks: dict[int, int] = {}
    try:
        while not workers():
            time.sleep(0.05)
        idle = min(resident("RssAnon", process) for process in workers())
        before = resident("RssAnon")
        with watched(peaks):
            tp.evaluate(queries, **given, cluster="auto")
    finally:
        ray.shutdown()
    driver = os.getpid()
    return {str(process): peak - (before if process == driver else idle) for process, peak in peaks.items()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("Linux counts pages")
    write(tmp_path)
    return tmp_path


def apart(call: Callable[[str], Any], folder: Path) -> Any:
    """The answer of a separate process."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(call, str(folder)).result()


def test_within_the_budget(folder: Path) -> None:
    assert apart(peak, folder) <= BUDGET


def test_a_truth_does_not_hold_the_gallery(folder: Path) -> None:
    assert apart(peak_of_a_truth, folder) <= BUDGET


def test_no_process_of_a_cluster_holds_the_gallery(folder: Path) -> None:
    """In addition to its budget, each process loads NumPy, its BLAS, tieproof, and the parts of Ray."""
    pytest.importorskip("ray")
    peaks = apart(peaks_on_ray, folder)
    assert len(peaks) > 2
    assert all(peak < 4 * BUDGET for peak in peaks.values()), peaks
