"""`tieproof evaluate` of shards: a folder, a pattern in quotes, or a URL in place of a file."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from command_line import Outcome, the_line
from shard_files import write
from tieproof import cli

Array = npt.NDArray[Any]
Run = Callable[..., Outcome]

LABELS = np.random.default_rng(1).integers(0, 40, 300)


def vectors() -> Array:
    return np.random.default_rng(0).integers(-2, 3, (300, 4)).astype(np.float32)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line."""

    def call(*arguments: Any) -> Outcome:
        with pytest.raises(SystemExit) as caught:
            cli.main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return Outcome(int(caught.value.code or 0), printed.out, printed.err)

    return call


def test_the_command_line_takes_patterns_and_folders(tmp_path: Path, run: Run) -> None:
    write(tmp_path / "parquet", ".parquet", vectors(), LABELS, [100, 101])
    write(tmp_path / "npy", ".npy", vectors(), LABELS, [200])
    np.save(tmp_path / "x.npy", vectors())
    np.save(tmp_path / "y.npy", LABELS)
    expected = run("evaluate", tmp_path / "x.npy", tmp_path / "y.npy", "--json", "-").out
    for arguments in (
        [f"{tmp_path}/parquet/*.parquet", "label", "--memory", "1MB"],
        [f"{tmp_path}/parquet"],
        [f"{tmp_path}/parquet/*.parquet:vector", f"{tmp_path}/y.npy"],
        [f"{tmp_path}/npy"],
        [f"file://{tmp_path}/npy/part-*.npy", f"{tmp_path}/npy/part-*.label.npy"],
    ):
        ran = run("evaluate", *arguments, "--json", "-")
        assert ran.err == ""
        assert ran.out == expected


def test_the_command_line_takes_a_gallery_in_shards(tmp_path: Path, run: Run) -> None:
    write(tmp_path / "gallery", ".parquet", vectors(), LABELS, [100, 101])
    np.savez(tmp_path / "queries.npz", x=vectors()[:9] + 1, y=LABELS[:9])
    np.savez(tmp_path / "gallery.npz", x=vectors(), y=LABELS)
    queries, options = tmp_path / "queries.npz", ("-m", "AP", "--json", "-")
    expected = run("evaluate", queries, "--gallery", tmp_path / "gallery.npz", *options).out
    assert run("evaluate", queries, "--gallery", f"{tmp_path}/gallery/*", *options).out == expected


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["{}/*.parquet"], "matches no file; check the path"),
        (["{}/bare"], "has no labels: no column, and no file next to each shard, has a usual name"),
        (["{}/good", "species"], "has no entry called 'species'"),
        (["memory://nothing/*.npy"], "matches no file"),
        (["{}/mixed"], "files of several formats"),
        (["{}/good", "--report", "{}/r.html"], "not shards"),
    ],
)
def test_the_command_line_refuses_in_one_line(tmp_path: Path, run: Run, arguments: list[str], says: str) -> None:
    write(tmp_path / "good", ".parquet", vectors(), LABELS, [100])
    write(tmp_path / "bare", ".npy", vectors(), None, [100])
    write(tmp_path / "mixed", ".npy", vectors(), LABELS)
    write(tmp_path / "mixed", ".h5", vectors(), LABELS)
    ran = run("evaluate", *(argument.replace("{}", str(tmp_path)) for argument in arguments))
    assert says in the_line(ran)
    assert not (tmp_path / "r.html").exists()
