"""Parts counted on Ray give the bits of one process, whatever happens to workers, shards and drivers."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from clusters import DATA, GALLERY, LABELS, MEMORY, Array, armed, expected, found, many_parts, running, same
from faulty_sources import AlwaysKilled, Faulty, KilledAtOnce, Killing, Refusing, Slow, Waiting
from tieproof.analyses.neighbors import search
from tieproof.analyses.neighbors import truth as truth_module
from tieproof.errors import ClusterError, InputError
from tieproof.evaluation.cluster import evaluation
from tieproof.inputs.shards.source import ArraySource

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning")]
ray = pytest.importorskip("ray")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    many_parts(monkeypatch)


@pytest.fixture(scope="module")
def three_nodes() -> Iterator[Any]:
    with running() as cluster:
        yield cluster


def cut(array: Array) -> ArraySource:
    return ArraySource.of(array, [3, 50])


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
    monkeypatch.setattr("tieproof.evaluation.cluster.on_ray.RETRIES", 1)
    with pytest.raises(
        ClusterError, match=r"lost a task repeatedly \(Worker.* with checkpoint= an evaluation, continues"
    ):
        found(lambda array: AlwaysKilled.over(array, tmp_path), False)


@pytest.mark.usefixtures("three_nodes", "small")
def test_an_error_that_nobody_expects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    armed(monkeypatch, tmp_path)
    with pytest.raises(ClusterError, match=r"failed to run a task \(ZeroDivisionError: a defect\)\. Remove"):
        found(lambda array: Refusing.over(array, tmp_path), False)


@pytest.mark.usefixtures("three_nodes", "small")
def test_a_shard_that_vanishes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        np.save(tmp_path / f"part{number}.npy", DATA[80 * number : 80 * number + 80])
    shards = tp.open(str(tmp_path / "*.npy"))
    count_all = evaluation.count_all

    def vanishing(*given: Any) -> Any:
        (tmp_path / "part1.npy").unlink()
        return count_all(*given)

    monkeypatch.setattr("tieproof.evaluation.cluster.evaluation.count_all", vanishing)
    with pytest.raises(InputError, match=r"part1\.npy") as caught:
        tp.evaluate(shards, LABELS, cluster="auto", memory=MEMORY)
    assert "\n" not in str(caught.value)


DRIVER = """
import sys
import numpy as np
import tieproof as tp
from tieproof.evaluation.cluster import layout

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
        ({"cluster": "127.0.0.1:9"}, r"connected to the Ray cluster at .*, but cluster='127.*names another"),
        ({"distance": lambda x, y: -(x @ y.T)}, "function <lambda> cannot be counted part by part"),
    ],
)
def test_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        tp.evaluate(DATA, LABELS, **{"cluster": "auto", **options})


# Truths

SELF_SEARCH = pytest.mark.filterwarnings("ignore:.* queries are in the gallery, too")


def truth_of(rows: Any, queries: Any, folder: Path, **options: Any) -> dict[str, bytes]:
    """The files of a truth."""
    tp.truth(queries, rows, 6, out=folder, distance="euclidean", **options)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def arm_the_search(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let sources fail once all rows were digested."""
    find = search.find

    def arming(*given: Any) -> Any:
        (folder / "armed").touch()
        return find(*given)

    monkeypatch.setattr(truth_module, "find", arming)


@SELF_SEARCH
@pytest.mark.usefixtures("three_nodes")
@pytest.mark.parametrize("kind", [None, Killing, KilledAtOnce, Slow, Waiting])
def test_a_truth_by_workers_some_of_which_are_killed(
    kind: type[Faulty] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task that never ends is repeated by another worker."""
    monkeypatch.setattr(search, "SMALLEST_PIECE", 10)
    monkeypatch.setattr(search, "SMALLEST_BLOCK", 10)
    monkeypatch.setattr(search, "QUERIES", 30)
    monkeypatch.setattr(search, "LISTED", 1)
    arm_the_search(monkeypatch, tmp_path)
    gallery = cut(DATA) if kind is None else kind.over(DATA, tmp_path)
    made = truth_of(gallery, DATA[:80], tmp_path / "truth", cluster="auto", memory=MEMORY)
    assert made == truth_of(DATA, DATA[:80], tmp_path / "whole")
    assert kind is None or (tmp_path / "gone wrong").exists()


@SELF_SEARCH
@pytest.mark.usefixtures("three_nodes")
def test_a_truth_whose_workers_were_all_killed_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "SMALLEST_PIECE", 10)
    monkeypatch.setattr(search, "SMALLEST_BLOCK", 10)
    monkeypatch.setattr("tieproof.evaluation.cluster.on_ray.RETRIES", 1)
    source = AlwaysKilled.over(DATA, tmp_path)
    find = search.find
    arm_the_search(monkeypatch, tmp_path)
    with pytest.raises(ClusterError, match=r"lost a task repeatedly .* a truth, and with checkpoint="):
        truth_of(source, DATA[:80], tmp_path / "truth", cluster="auto", memory=MEMORY)
    (tmp_path / "armed").unlink()
    monkeypatch.setattr(truth_module, "find", find)
    made = truth_of(source, DATA[:80], tmp_path / "truth", cluster="auto", memory=MEMORY)
    assert made == truth_of(DATA, DATA[:80], tmp_path / "whole")


@SELF_SEARCH
@pytest.mark.usefixtures("three_nodes")
@pytest.mark.parametrize("form", [".npz", ".jsonl"])
def test_a_truth_of_sparse_rows_in_shards(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each shard of lines has terms of its own; only the certificate tells the rows from dense ones."""
    sparse = pytest.importorskip("scipy.sparse")
    monkeypatch.setattr(search, "SMALLEST_PIECE", 10)
    monkeypatch.setattr(search, "SMALLEST_BLOCK", 10)
    random = np.random.default_rng(5)
    rows = (random.integers(-3, 4, (60, 12)) * (random.random((60, 12)) < 0.3)).astype(np.float32)
    (tmp_path / "shards").mkdir()
    for number, part in enumerate(np.split(rows, (1, 7, 40))):
        file = tmp_path / "shards" / f"part-{number}{form}"
        if form == ".npz":
            sparse.save_npz(file, sparse.csr_array(part))
        else:
            lines = [{"vector": {f"{at:02}": float(row[at]) for at in np.flatnonzero(row)}} for row in part]
            file.write_text("\n".join(map(json.dumps, lines)))
    gallery, queries = (tp.open(tmp_path / "shards" / name) for name in ("*", f"part-2{form}"))
    made = truth_of(gallery, queries, tmp_path / "truth", cluster="auto", memory=MEMORY)
    assert made == truth_of(gallery, queries, tmp_path / "whole")
    dense = truth_of(rows, rows[7:40], tmp_path / "dense")
    assert all(made[name] == content for name, content in dense.items() if name != "certificate.json")
