"""Clusters of every size that lose a node or run out of space; how clusters are found, started and stopped."""

import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from clusters import DATA, GALLERY, LABELS, MEMORY, armed, expected, found, many_parts, running, same
from faulty_sources import Waiting
from tieproof.errors import InputError
from tieproof.evaluation.cluster.on_ray import connect
from tieproof.inputs.shards.source import ArraySource

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning")]
ray = pytest.importorskip("ray")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    many_parts(monkeypatch)


@pytest.mark.usefixtures("small")
def test_one_two_and_five_workers() -> None:
    with running(1, 5):
        for threads in (5, 2, 1):
            for gallery in (False, True):
                assert found(same, gallery, threads=threads) == expected(gallery)


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
    """The blocks that wait to be counted have 125 MB together, but the store has room only for 80 MiB."""
    random = np.random.default_rng(3)
    queries, labels = random.integers(-9, 9, size=(480, 2**16)).astype(np.float32), np.arange(480) % 5
    gallery, gallery_labels = queries[:5] + 1, np.arange(5)
    given: dict[str, Any] = {"labels": labels, "gallery": gallery, "gallery_labels": gallery_labels}
    expected = tp.evaluate(queries, **given).to_json()
    with running(1):
        found = tp.evaluate(ArraySource.of(queries, [200]), **given, cluster="auto", memory="512MiB").to_json()
        from ray._private.internal_api import memory_summary

        assert "Spilled" in memory_summary(stats_only=True)
    assert found == expected


@pytest.mark.usefixtures("small")
def test_paths_begin_in_the_folder_of_the_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(tmp_path / "part-0.npy", DATA)
    with running(1):  # its workers start in another folder
        monkeypatch.chdir(tmp_path)
        shards = tp.open("part-*.npy")
        assert tp.evaluate(shards, LABELS, cluster="auto", memory=MEMORY).to_json() == expected(False)


def test_no_cluster_at_an_address() -> None:
    with pytest.raises(InputError, match=r"No Ray cluster answers at 127\.0\.0\.1:9"):
        tp.evaluate(DATA, LABELS, cluster="127.0.0.1:9")


@pytest.mark.parametrize(("noted", "address"), [("127.0.0.1:9", "local"), ("", "auto"), ("no address", "auto")])
def test_a_noted_cluster_that_is_gone(
    noted: str, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray notes the address of the last cluster in a file, would wait for it, and then end the process."""
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    (tmp_path / "ray").mkdir()
    (tmp_path / "ray" / "ray_current_cluster").write_text(noted)
    given: list[str] = []
    connect(SimpleNamespace(init=lambda address, **_: given.append(address)), "auto")
    assert given == [address]


def test_a_cluster_that_is_started_is_stopped() -> None:
    assert tp.evaluate(DATA, LABELS, cluster="local", memory=MEMORY).to_json() == expected(False)
    assert not ray.is_initialized()
