"""Checkpoints: counts are written completely or not at all, and a killed evaluation continues where it stopped."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from tieproof import engine
from tieproof.errors import InputError
from tieproof.evaluation.cluster import layout
from tieproof.inputs.shards.source import ArraySource

RANDOM = np.random.default_rng(1)
DATA, LABELS = RANDOM.normal(size=(80, 4)), RANDOM.integers(0, 9, size=80)
TASKS: dict[str, dict[str, Any]] = {
    "leave-one-out": {"embeddings": DATA, "labels": LABELS},
    "gallery": {
        "embeddings": DATA[:30],
        "labels": LABELS[:30],
        "gallery": ArraySource.of(DATA[30:], [7]),
        "gallery_labels": LABELS[30:],
    },
}
WHOLE: dict[str, Any] = {**TASKS["gallery"], "gallery": DATA[30:]}


class KilledError(Exception):
    """The exception that ends an evaluation in these tests."""


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "SMALLEST_BLOCK", 1)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each counted part; an evaluation is killed when the number of entries reaches the first entry."""
    found = [10**9]
    others_of = engine.others_of

    def noted(portion: Any, *given: Any) -> Any:
        if len(found) > found[0]:
            raise KilledError
        found.append(1)
        return others_of(portion, *given)

    monkeypatch.setattr("tieproof.evaluation.cluster.tasks.others_of", noted)
    return found


def expected(task: str, **options: Any) -> str:
    return tp.evaluate(**(WHOLE if task == "gallery" else TASKS[task]), **options).to_json()


@pytest.mark.parametrize("task", TASKS)
def test_killed_and_resumed(task: str, calls: list[int], tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    assert tp.evaluate(**TASKS[task], checkpoint=whole).to_json() == expected(task)
    total = len(calls) - 1
    folder, before = tmp_path / "done", 0
    for _ in range(3):
        calls[:] = [11]
        with pytest.raises(KilledError):
            tp.evaluate(**TASKS[task], checkpoint=folder)
        kept = len(list(folder.glob("*.npz")))
        assert kept > before
        before = kept
    calls[:] = [10**9]
    assert tp.evaluate(**TASKS[task], checkpoint=folder).to_json() == expected(task)
    assert 0 < len(calls) - 1 < total - 20
    assert sorted(path.name for path in folder.iterdir()) == sorted(path.name for path in whole.iterdir())
    calls[:] = [10**9]
    again = tp.evaluate(**TASKS[task], checkpoint=folder, measures=["P@3"])
    assert again.to_json() == expected(task, measures=["P@3"])
    assert len(calls) == 1


def test_blocks_of_a_checkpoint_are_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a gallery of 50 items of 4 dimensions, 400 products are those of two queries."""
    monkeypatch.setattr(layout, "STORED", 400)
    assert tp.evaluate(**TASKS["gallery"], checkpoint=tmp_path).to_json() == expected("gallery")
    assert len(list(tmp_path.glob("*.npz"))) == 15


def test_an_interrupt_says_what_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    others_of, calls = engine.others_of, list[int]()

    def interrupted(*given: Any) -> Any:
        calls.append(1)
        if len(calls) > 3:
            raise KeyboardInterrupt
        return others_of(*given)

    monkeypatch.setattr("tieproof.evaluation.cluster.tasks.others_of", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        tp.evaluate(**TASKS["leave-one-out"], checkpoint=tmp_path)  # eight blocks make 36 pairs
    said = f"{100 * 3 // 36} % is kept in {tmp_path}, and the same call or command continues it"
    assert caught.value.__notes__ == [said]


def test_a_file_that_was_begun_is_not_there(
    calls: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An evaluation that is killed while it writes leaves only whole files; other remains are not read."""

    def killed(path: Any, *arrays: Any) -> None:
        Path(path).write_bytes(b"PK")
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(np, "savez", killed)
        with pytest.raises(KilledError):
            tp.evaluate(**TASKS["leave-one-out"], checkpoint=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["tieproof.json"]
    (tmp_path / ".tieproof-0123456789abcdef.npz").write_bytes(b"PK")  # left by a driver that could not clean up
    found = tp.evaluate(**TASKS["leave-one-out"], checkpoint=tmp_path)
    assert found.to_json() == expected("leave-one-out")


def another_row() -> dict[str, Any]:
    data = DATA.copy()
    data[3, 1] = np.nextafter(data[3, 1], 9)
    return {"embeddings": data, "labels": LABELS}


OTHERS: dict[str, tuple[dict[str, Any], str]] = {
    "one number": (another_row(), "data"),
    "order": ({"embeddings": DATA[::-1], "labels": LABELS[::-1]}, "data"),
    "labels": ({"labels": np.roll(LABELS, 1)}, "data"),
    "exclude": ({"exclude": [[0, 1]]}, "data"),
    "distance": ({"distance": "euclidean"}, "distance"),
    "precision": ({"precision": "float16"}, "distance"),
    "gallery": (WHOLE, "data"),
}


@pytest.mark.parametrize("other", OTHERS)
def test_another_evaluation_is_refused(other: str, tmp_path: Path) -> None:
    tp.evaluate(**TASKS["leave-one-out"], checkpoint=tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    change, differs = OTHERS[other]
    with pytest.raises(InputError, match=f"belongs to another evaluation: it differs in the {differs}\\.") as caught:
        tp.evaluate(**TASKS["leave-one-out"] | change, checkpoint=tmp_path)
    assert caught.value.argument == "checkpoint"
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def with_memory(folder: Path) -> None:
    tp.evaluate(**TASKS["leave-one-out"], checkpoint=folder)
    title = json.loads((folder / "tieproof.json").read_text())
    (folder / "tieproof.json").write_text(json.dumps(title | {"memory": "else"}))


def damaged(folder: Path) -> None:
    tp.evaluate(**TASKS["leave-one-out"], checkpoint=folder)
    path = min(folder.glob("*.npz"))
    path.write_bytes(path.read_bytes()[:-30])


def pickled(folder: Path) -> None:
    tp.evaluate(**TASKS["leave-one-out"], checkpoint=folder)
    np.savez(min(folder.glob("*.npz")), np.array([print], dtype=object))


FOLDERS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "other files": (lambda folder: (folder / "notes.txt").touch(), "contains other files, such as notes.txt"),
    "another memory": (with_memory, "it differs in the memory"),
    "no title": (lambda folder: (folder / "tieproof.json").write_text("[]"), "tieproof.json cannot be read"),
    "a title of many levels": (
        lambda folder: (folder / "tieproof.json").write_text("[" * 200_000),
        "tieproof.json cannot be read",
    ),
    "damaged": (damaged, "cannot be read"),
    "pickled": (pickled, "cannot be read"),
}


@pytest.mark.parametrize("kind", FOLDERS)
def test_folders_that_are_no_checkpoint_of_this(kind: str, tmp_path: Path) -> None:
    make, says = FOLDERS[kind]
    make(tmp_path)
    with pytest.raises(InputError, match=says):
        tp.evaluate(**TASKS["leave-one-out"], checkpoint=tmp_path)


def test_a_damaged_file_is_counted_anew_once_it_is_removed(tmp_path: Path) -> None:
    damaged(tmp_path)
    min(tmp_path.glob("*.npz")).unlink()
    assert tp.evaluate(**TASKS["leave-one-out"], checkpoint=tmp_path).to_json() == expected("leave-one-out")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="could not be written"):
        tp.evaluate(**TASKS["leave-one-out"], checkpoint=tmp_path / "done")


def test_a_function_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="function product cannot be counted part by part") as caught:
        tp.evaluate(**TASKS["leave-one-out"], distance=product, checkpoint=tmp_path / "done")
    assert caught.value.argument == "distance"
    assert not (tmp_path / "done").exists()


def product(queries: Any, items: Any) -> Any:
    return -(queries @ items.T)


def test_nan_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    data = DATA.copy()
    data[7, 2] = np.nan
    with pytest.raises(InputError, match="embeddings must contain only finite numbers, but row 7 contains nan"):
        tp.evaluate(data, LABELS, checkpoint=tmp_path / "done")
    assert not (tmp_path / "done").exists()


def test_the_checkpoint_of_a_copy_goes_on(tmp_path: Path, calls: list[int]) -> None:
    tp.evaluate(**TASKS["leave-one-out"], checkpoint=tmp_path / "one")
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    calls[:] = [10**9]
    tp.evaluate(**TASKS["leave-one-out"], checkpoint=tmp_path / "two")
    assert len(calls) == 1


def test_a_folder_with_a_file_that_a_killed_driver_left(tmp_path: Path) -> None:
    (tmp_path / ".tieproof-0123.json").write_text('{"tiep')
    for _ in range(2):
        assert tp.evaluate(**TASKS["gallery"], checkpoint=tmp_path).to_json() == expected("gallery")
