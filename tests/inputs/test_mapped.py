"""A memory-mapped file that changes during the evaluation is refused, and so is a truncated one.

The files of the command line are not mapped, so that none of them can end the process.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from tieproof.cli import main
from tieproof.engine import ties_of
from tieproof.inputs.mapped import Copies, unchanged_files
from tieproof.inputs.readers import npy

VALUES = np.arange(24.0, dtype=np.float32).reshape(12, 2) ** 2
LABELS = np.arange(12) % 3
NEEDS_UNIX = pytest.mark.skipif(os.name != "posix", reason="elsewhere no mapped file can be cut short")
CHANGED = r"data\.npy changed while it was evaluated"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return saved(tmp_path / "data.npy", VALUES)


def saved(path: Path, values: Any) -> Path:
    """A file with an old modification time, so that every change gives it another time."""
    np.save(path, values)
    os.utime(path, (1, 1))
    return path


def mapped(path: Path) -> Any:
    return np.load(path, mmap_mode="r")


def rewritten(path: Path) -> None:
    """Rewrite the file with one number changed."""
    with path.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\x41")


def longer(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"more")
    os.utime(path, (1, 1))


def cut_short(path: Path) -> None:
    os.truncate(path, 0)


def removed(path: Path) -> None:
    path.unlink()


def replaced(path: Path) -> None:
    np.save(path.with_name("new.npy"), VALUES + 1)
    os.replace(path.with_name("new.npy"), path)


def read(path: Path) -> None:
    path.read_bytes()


def cityblock_with(event: Callable[[Path], None], path: Path) -> Callable[[Any, Any], Any]:
    """A distance function that changes the file when it computes its first block."""
    done: list[bool] = []

    def distance(x: Any, y: Any) -> Any:
        if not done:
            done.append(True)
            event(path)
        return np.abs(x[:, None].astype(float) - y[None].astype(float)).sum(axis=2)

    return distance


CALLS: dict[str, Callable[..., object]] = {
    "evaluate": lambda values, **options: tp.evaluate(values, LABELS, **options),
    "precision": lambda values, **options: tp.evaluate(values, LABELS, precision="float16", **options),
    "collisions": lambda values, **options: tp.collisions(values, LABELS, **options),
    "fnmr": lambda values, **options: tp.fnmr_at_fmr(values, LABELS, **options),
}


@pytest.mark.parametrize("event", [rewritten, longer, pytest.param(cut_short, marks=NEEDS_UNIX)])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_change_is_refused(call: Callable[..., object], event: Callable[[Path], None], path: Path) -> None:
    with pytest.raises(tp.InputError, match=CHANGED):
        call(mapped(path), distance=cityblock_with(event, path))


@pytest.mark.parametrize("event", [read, removed, replaced])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_events_that_do_not_change_the_mapped_file(
    call: Callable[..., Any], event: Callable[[Path], None], path: Path
) -> None:
    found = call(mapped(path), distance=cityblock_with(event, path))
    assert found.to_json().replace("function distance", "cityblock") == call(VALUES, distance="cityblock").to_json()


VIEWS: dict[str, Callable[[Any], Any]] = {
    "a slice": lambda values: values[2:],
    "a slice of a slice": lambda values: values[1:][1:],
    "every other row": lambda values: values[::2],
    "transposed twice": lambda values: values.T.T,
    "a plain array": np.asarray,
    "a view of another type": lambda values: values.view(np.int32),
    "a list of rows": list,
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_views(view: Callable[[Any], Any], path: Path) -> None:
    values = view(mapped(path))
    with pytest.raises(tp.InputError, match=CHANGED):
        tp.evaluate(values, [0] * len(values), distance=cityblock_with(rewritten, path))


@NEEDS_UNIX
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_copy_of_a_view(view: Callable[[Any], Any], path: Path) -> None:
    """It has the same numbers, whatever happens to the file; one that was cut short before is refused."""
    values = view(mapped(path))
    copied = Copies(2**20).of(values)
    cut_short(path)
    assert np.array_equal(copied, view(VALUES))
    with pytest.raises(tp.InputError, match=r"was cut short while it was read \(Bad address\)"):
        Copies(2**20).of(values)


@NEEDS_UNIX
def test_copies_are_within_the_memory(path: Path) -> None:
    """They take at most a quarter of it, together, and that much less is left for the rest."""
    copies = Copies(VALUES.nbytes + 1)
    values = mapped(path)
    assert [copies.of(each) is each for each in (values, values)] == [False, True]
    assert copies.room == 1
    seen: list[tuple[int, bool]] = []

    @unchanged_files
    def call(*arrays: Any, memory: str | int = "400B") -> None:
        seen.extend((int(memory), isinstance(each, np.memmap)) for each in arrays)

    call(values, values)
    call(values, memory="384B")
    call(values, memory=383)
    assert seen == [(304, False), (304, True), (288, False), (383, True)]


def test_the_other_arguments(path: Path) -> None:
    for name in ("labels", "groups"):
        options = {"labels": LABELS} | {name: mapped(saved(path, LABELS))[:]}
        with pytest.raises(tp.InputError, match=CHANGED):
            tp.evaluate(VALUES, **options, distance=cityblock_with(rewritten, path))
    saved(path, VALUES + 1)
    with pytest.raises(tp.InputError, match=CHANGED):
        tp.evaluate(
            VALUES, LABELS, gallery=mapped(path), gallery_labels=LABELS, distance=cityblock_with(rewritten, path)
        )


def test_an_error_that_the_change_explains(path: Path) -> None:
    def half_written(path: Path) -> None:
        rewritten(path)
        raise tp.InputError("a number that makes no sense")

    with pytest.raises(tp.InputError, match=CHANGED):
        tp.evaluate(mapped(path), LABELS, distance=cityblock_with(half_written, path))


def test_other_errors_stay(path: Path) -> None:
    with pytest.raises(tp.InputError, match="number of labels is 3, but the number of embeddings is 12"):
        tp.evaluate(mapped(path), LABELS[:3])


CUT_SHORT: dict[str, Callable[[Any], object]] = {
    "evaluate": lambda values: tp.evaluate(values, LABELS),
    "a gallery": lambda values: tp.evaluate(VALUES, LABELS, gallery=values[:], gallery_labels=LABELS),
    "collisions": lambda values: tp.collisions(values),
    "fnmr": lambda values: tp.fnmr_at_fmr(values, LABELS),
    "distances of pairs": lambda values: tp.fnmr_at_fmr_of_distances(values[:6], values[6:]),
    "pcf": lambda values: tp.pcf(values),
    "scores": lambda values: tp.evaluate_scores(values, np.ones(values.shape)),
    "distances": lambda values: tp.evaluate_distances(np.ones(values.shape), values),
    "credible regions": lambda values: tp.confidence.credible_retrieval(values, np.ones(12), LABELS),
    "an Evaluator": lambda values: tp.Evaluator().update(values, LABELS),
}


@pytest.mark.parametrize("call", CUT_SHORT.values(), ids=CUT_SHORT)
def test_cut_short_before(call: Callable[[Any], object], path: Path) -> None:
    values = mapped(path)
    os.truncate(path, 100)
    with pytest.raises(
        tp.InputError, match=r"data\.npy was cut short after it was mapped: the array needs 224 bytes"
    ):
        call(values)


def test_values_that_were_not_flushed_before_the_call(path: Path) -> None:
    values = np.memmap(path.with_name("new.bin"), np.float32, "w+", shape=VALUES.shape)
    values[:] = VALUES  # not flushed
    assert tp.evaluate(values, LABELS).to_json() == tp.evaluate(VALUES, LABELS).to_json()


def evaluate(path: Path, labels: Path, status: int) -> None:
    with pytest.raises(SystemExit) as done:
        main(["evaluate", str(path), str(labels)])
    assert done.value.code == status


def test_the_command_line(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """It reads files before it evaluates them, so that later changes do not matter; a change meanwhile is refused."""
    labels = saved(path.with_name("labels.npy"), LABELS)
    evaluate(path, labels, status=0)
    expected = capsys.readouterr().out
    fill = npy.fill

    def cut_short(*arguments: Any) -> Any:
        os.truncate(path, 100)
        return ties_of(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr("tieproof.evaluation.embeddings.ties_of", cut_short)
        evaluate(path, labels, status=0)
    assert path.stat().st_size == 100
    assert capsys.readouterr().out == expected

    def meanwhile(file: Any, start: int, room: Any) -> int:
        done = fill(file, start, room)
        if file == path:
            rewritten(path)
        return done

    saved(path, VALUES)
    monkeypatch.setattr(npy, "fill", meanwhile)
    evaluate(path, labels, status=2)
    error = capsys.readouterr().err
    assert f"{path} changed while it was read; read it again when nothing writes to it" in error
