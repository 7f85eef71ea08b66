"""Clusters of Ray on this machine, and small evaluations that are cut into many parts for them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import faulty_sources
import tieproof as tp
from tieproof.engine.problem import ShardedProblem
from tieproof.evaluation.cluster import evaluation, layout

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"

Array = npt.NDArray[Any]
MEMORY = "64MiB"
STORE = 80 * 2**20
RANDOM = np.random.default_rng(2)
DATA, LABELS = RANDOM.integers(-3, 4, size=(240, 6)).astype(np.float32), RANDOM.integers(0, 30, size=240)
GALLERY = pytest.mark.parametrize("gallery", [False, True], ids=["leave-one-out", "gallery"])


@contextmanager
def running(nodes: int = 3, cpus: int = 1) -> Iterator[Any]:
    """A cluster of some nodes. The first one runs the driver, and has no workers if there are other nodes."""
    import ray
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


def many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut an evaluation into many parts of few rows."""

    def of(_: ShardedProblem, __: int) -> layout.Sizes:
        return layout.Sizes(70, 10**9)

    monkeypatch.setattr(layout.Sizes, "of", of)
    monkeypatch.setattr(layout, "SMALLEST_BLOCK", 1)
    monkeypatch.setattr("tieproof.evaluation.cluster.layout.fits", lambda _: False)


def task(whole: Any, gallery: bool) -> dict[str, Any]:
    """The arguments of `evaluate`; `whole` converts the array of each side."""
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


def armed(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let sources fail once all rows were surveyed."""
    count_all = evaluation.count_all

    def arming(*given: Any) -> Any:
        (folder / "armed").touch()
        return count_all(*given)

    monkeypatch.setattr("tieproof.evaluation.cluster.evaluation.count_all", arming)
