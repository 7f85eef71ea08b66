"""A disk that is full while a file is written: the old file stays, no part of a new one, and the error names it."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import bundles
import tieproof as tp
from command_line import exit_status
from tieproof.trials import competition
from tieproof.whole_files import PartsFolder

resource = pytest.importorskip("resource", reason="no limits of files there")

EMBEDDINGS, LABELS = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 4


@contextmanager
def full_disk(room: int = 100) -> Iterator[None]:
    """No file may become larger than so many bytes, as with `ulimit -f`."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


OUTPUTS = (
    *("--json old.json", "--per-query old.csv", "--per-query old.parquet", "--save old.tieproof"),
    *("--report old.html", "--plot old.svg", "--plot old.pdf"),
)


@pytest.mark.trials
def test_every_output_of_a_command_stays_as_it_was(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez("data.npz", features=EMBEDDINGS, labels=LABELS)
    for output in OUTPUTS:
        assert exit_status("evaluate", "data.npz", "-m", "AP", *output.split()) == 0
    before = contents(folder)
    capsys.readouterr()
    for output in OUTPUTS:
        with full_disk():
            status = exit_status("evaluate", "data.npz", "-m", "AP", *output.split())
        assert status == 2
        said = capsys.readouterr().err
        assert re.fullmatch(rf"Error: {output.split()[1]} could not be written \(.*File too large\)\.\n", said), said
        assert contents(folder) == before


def saved(path: Path) -> None:
    tp.evaluate(EMBEDDINGS, LABELS).save(path)


def kept(path: Path) -> None:
    PartsFolder(path.parent, "evaluation", {}, "title.json", "out", (path.name,)).write(path.stem, np.arange(100))


WRITERS: dict[str, Callable[[Path], None]] = {"old.tieproof": saved, "old.npz": kept}


@pytest.mark.parametrize("name", WRITERS)
def test_functions_of_python_name_the_file(folder: Path, name: str) -> None:
    (folder / name).write_bytes(b"old")
    (folder / "title.json").write_bytes(b"{}")
    before = contents(folder)
    with full_disk(), pytest.raises(tp.InputError, match=f"{name} could not be written"):
        WRITERS[name](folder / name)
    assert contents(folder) == before


@pytest.mark.parametrize("bundle", ["bundle", "bundle.zip"])
def test_a_bundle_is_made_whole_or_not_at_all(folder: Path, bundle: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "tieproof.trials.competition.platforms.check_baseline", lambda settings, phase: None
    )  # needs room elsewhere
    file = bundles.competition(folder)
    before = contents(folder)
    with full_disk(), pytest.raises(tp.InputError, match=rf"{bundle} could not be written \(File too large\)"):
        competition.new(file, bundle, platform="kaggle")
    assert contents(folder) == before


def test_a_disk_that_is_full_only_at_the_end(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    Path("old.json").write_text("old")
    np.savez("data.npz", features=EMBEDDINGS, labels=LABELS)
    before = contents(folder)
    assert exit_status("evaluate", "data.npz", "--json", "old.json") == 2
    assert contents(folder) == before


def test_a_path_with_a_zero_character(folder: Path) -> None:
    with pytest.raises(tp.InputError, match="contains a zero character"):
        tp.evaluate(EMBEDDINGS, LABELS).save("a\0b.tieproof")
    assert contents(folder) == {}
