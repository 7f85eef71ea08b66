"""Parts counted on Ray: the bits of one process, whatever happens to workers, nodes, memory and drivers."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import faulty_sources
import tieproof as tp
from faulty_sources import AlwaysKilled, Faulty, KilledAtOnce, Killing, Refusing, Slow, Waiting
from tieproof.cluster import evaluation, layout
from tieproof.errors import ClusterError, InputError
from tieproof.inputs.shards.arrays import ArraySource
from tieproof.problem import ShardedProblem

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning")]
ray = pytest.importorskip("ray")
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"

Array = npt.NDArray[Any]
MEMORY = "64MiB"
STORE = 80 * 2**20
RANDOM = np.random.default_rng(2)
DATA, LABELS = RANDOM.integers(-3, 4, size=(240, 6)).astype(np.float32), RANDOM.integers(0, 30, size=240)


@contextmanager
def running(nodes: int = 3, cpus: int = 1) -> Iterator[Any]:
    """A cluster of some nodes, the first of which has the driver and no workers if there are others."""
    from ray.cluster_utils import Cluster

    size = {"object_store_memory": STORE, "memory": 2**30, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0 if nodes > 1 else cpus, **size})
    for _ in range(nodes if nodes > 1 else 0):
        cluster.add_node(num_cpus=cpus, object_store_memory=STORE, memory=2**30)
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    ray.cloudpickle.register_pickle_by_value(faulty_sources)
    try:
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


@pytest.fixture(scope="module")
def three_nodes() -> Iterator[Any]:
    with running() as cluster:
        yield cluster


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of few rows, so that there are many."""

    def of(_: ShardedProblem, __: int) -> layout.Sizes:
        return layout.Sizes(70, 10**9)

    monkeypatch.setattr(layout.Sizes, "of", of)
    monkeypatch.setattr(layout, "SMALLEST_BLOCK", 1)


def task(whole: Any, gallery: bool) -> dict[str, Any]:
    """What `evaluate` takes, each side made of an array by `whole`."""
    if not gallery:
        return {"embeddings": whole(DATA), "labels": LABELS}
    return {
        "embeddings": whole(DATA[:80]),
        "labels": LABELS[:80],
        "gallery": whole(DATA[80:]),
        "gallery_labels": LABELS[80:],
    }


def same(array: Array) -> Array:
    return array


def expected(gallery: bool, **options: Any) -> str:
    return tp.evaluate(**task(same, gallery), **options).to_json()


def found(whole: Any, gallery: bool, **options: Any) -> str:
    return tp.evaluate(**task(whole, gallery), cluster="auto", memory=MEMORY, **options).to_json()


def cut(array: Array) -> ArraySource:
    return ArraySource.of(array, [3, 50])


GALLERY = pytest.mark.parametrize("gallery", [False, True], ids=["leave-one-out", "gallery"])


@GALLERY
@pytest.mark.usefixtures("three_nodes", "small")
@pytest.mark.parametrize("distance", ["cosine", "euclidean", "cityblock", "dot"])
def test_three_workers(distance: str, gallery: bool) -> None:
    assert found(cut, gallery, distance=distance) == expected(gallery, distance=distance)


@GALLERY
@pytest.mark.usefixtures("three_nodes", "small")
def test_every_option(gallery: bool, tmp_path: Path) -> None:
    count = 80 if gallery else 240
    options: dict[str, Any] = {
        "groups": np.arange(count) % 5,
        "exclude": [[0, 5], [7, 9]],
        "categories": np.arange(count) % 3,
        "average": "macro",
        "precision": "float16",
        "empty": "zero",
    }
    if gallery:
        options["gallery_groups"] = np.arange(160) % 4
    assert found(cut, gallery, **options, checkpoint=tmp_path / "done") == expected(gallery, **options)


@pytest.mark.usefixtures("small")
def test_one_two_and_five_workers() -> None:
    with running(1, 5):
        for threads in (5, 2, 1):
            for gallery in (False, True):
                assert found(same, gallery, threads=threads) == expected(gallery)


def armed(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let sources go wrong once all rows were surveyed."""
    count_all = evaluation.count_all

    def arming(*given: Any) -> Any:
        (folder / "armed").touch()
        return count_all(*given)

    monkeypatch.setattr("tieproof.cluster.count_all", arming)


@GALLERY
@pytest.mark.usefixtures("three_nodes", "small")
@pytest.mark.parametrize("kind", [Killing, KilledAtOnce, Slow])
def test_workers_that_are_killed_and_slow_ones(
    kind: type[Faulty], gallery: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    armed(monkeypatch, tmp_path)
    assert found(lambda array: kind.over(array, tmp_path), gallery) == expected(gallery)
    assert (tmp_path / "gone wrong").exists()


@pytest.mark.usefixtures("three_nodes", "small")
def test_a_task_that_is_killed_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    armed(monkeypatch, tmp_path)
    monkeypatch.setattr("tieproof.cluster.on_ray.RETRIES", 1)
    with pytest.raises(ClusterError, match=r"The cluster lost a task for good: .* with checkpoint= it goes on"):
        found(lambda array: AlwaysKilled.over(array, tmp_path), False)


@pytest.mark.usefixtures("three_nodes", "small")
def test_an_error_that_nobody_expects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    armed(monkeypatch, tmp_path)
    with pytest.raises(ClusterError, match=r"A task failed on the cluster: ZeroDivisionError: a defect\. Look for"):
        found(lambda array: Refusing.over(array, tmp_path), False)


@GALLERY
@pytest.mark.usefixtures("small")
def test_a_node_that_is_removed(gallery: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    armed(monkeypatch, tmp_path)
    with running() as cluster:

        def remove() -> None:
            said = tmp_path / "node"
            while not (said.exists() and said.read_text()):
                time.sleep(0.05)
            [node] = [node for node in cluster.list_all_nodes() if node.node_id == said.read_text()]
            cluster.remove_node(node, allow_graceful=False)

        remover = threading.Thread(target=remove)
        remover.start()
        assert found(lambda array: Waiting.over(array, tmp_path), gallery) == expected(gallery)
        remover.join()


@pytest.mark.usefixtures("small")
def test_an_object_store_that_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 24 MB, many times what a store of 80 MiB holds."""
    random = np.random.default_rng(3)
    queries, labels = random.integers(-9, 9, size=(1200, 2**16)).astype(np.float32), np.arange(1200) % 5
    gallery, gallery_labels = queries[:5] + 1, np.arange(5)
    given: dict[str, Any] = {"labels": labels, "gallery": gallery, "gallery_labels": gallery_labels}
    expected = tp.evaluate(queries, **given).to_json()
    with running():
        found = tp.evaluate(ArraySource.of(queries, [500]), **given, cluster="auto", memory="512MiB").to_json()
        from ray._private.internal_api import memory_summary

        assert "Spilled" in memory_summary(stats_only=True)
    assert found == expected


@pytest.mark.usefixtures("three_nodes", "small")
def test_a_shard_that_vanishes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        np.save(tmp_path / f"part{number}.npy", DATA[80 * number : 80 * number + 80])
    shards = tp.open(str(tmp_path / "*.npy"))
    count_all = evaluation.count_all

    def vanishing(*given: Any) -> Any:
        (tmp_path / "part1.npy").unlink()
        return count_all(*given)

    monkeypatch.setattr("tieproof.cluster.count_all", vanishing)
    with pytest.raises(InputError, match=r"part1\.npy") as caught:
        tp.evaluate(shards, LABELS, cluster="auto", memory=MEMORY)
    assert "\n" not in str(caught.value)


DRIVER = """
import sys
import numpy as np
import tieproof as tp
from tieproof.cluster import layout

layout.SMALLEST_BLOCK = 1
layout.Sizes.of = classmethod(lambda *_: layout.Sizes(70, 10**9))
with np.load(sys.argv[1]) as data:
    tp.evaluate(data["x"], data["y"], cluster=sys.argv[2], checkpoint=sys.argv[3], memory="64MiB")
"""


@pytest.mark.usefixtures("small")
def test_a_driver_that_is_killed(three_nodes: Any, tmp_path: Path) -> None:
    np.savez(tmp_path / "data.npz", x=DATA, y=LABELS)
    done = tmp_path / "done"
    command = [sys.executable, "-c", DRIVER, str(tmp_path / "data.npz"), three_nodes.address, str(done)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as driver:
        while not list(done.glob("*-*.npz")):
            assert driver.poll() is None
            time.sleep(0.01)
        driver.kill()
    before = {path: path.stat().st_mtime_ns for path in done.glob("[0-9]*.npz")}
    assert found(same, False, checkpoint=done) == expected(False)
    assert before == {path: path.stat().st_mtime_ns for path in before}


@pytest.mark.usefixtures("three_nodes")
@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"threads": 2}, "No machine of the cluster has 2 processors"),
        ({"memory": "3GiB"}, "No machine of the cluster has 1 processors and 3,221,225,472 bytes"),
        ({"cluster": "ray://127.0.0.1:10001"}, "not 'ray://127.0.0.1:10001'"),
        ({"cluster": 3}, "not 3"),
        ({"cluster": "127.0.0.1:9"}, r"connected to the Ray cluster at .* and cluster='127.*names another"),
        ({"distance": lambda x, y: -(x @ y.T)}, "function <lambda> cannot be counted part by part"),
    ],
)
def test_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        tp.evaluate(DATA, LABELS, **{"cluster": "auto", **options})


def test_no_cluster_at_an_address() -> None:
    ray.shutdown()
    with pytest.raises(InputError, match=r"No Ray cluster answers at 127\.0\.0\.1:9"):
        tp.evaluate(DATA, LABELS, cluster="127.0.0.1:9")


def test_a_cluster_that_is_started_is_stopped() -> None:
    ray.shutdown()
    assert tp.evaluate(DATA, LABELS, cluster="local", memory=MEMORY).to_json() == expected(False)
    assert not ray.is_initialized()
