"""Platforms that host competitions, one file each: what their bundles hold, how a bundle is recognized and run."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tieproof.errors import InputError, MissingExtraError
from tieproof.trials.competition.hosting import Hosted
from tieproof.trials.competition.inspection.tasks import Task, Unpacker, part_of
from tieproof.trials.competition.platforms import codabench, evalai, grand_challenge, kaggle
from tieproof.trials.competition.platforms.layout import Files, bundle_of
from tieproof.trials.sandbox.folders import below

ZIP = ".zip"
MOST_BYTES, MOST_FILES = 8 * 2**30, 100_000  # the most bytes and files that the archives of a bundle may hold
MOST_TOLD = 200  # the letters of another library's message that are told


class BundleFormat(NamedTuple):
    """The bundles of a platform."""

    title: str  # the name of the platform
    recognized_by: tuple[str, ...]  # the files by which its bundles are recognized
    files: Callable[[Hosted], Files]  # makes the files of a bundle from the settings
    tasks: Callable[[Path, Unpacker], list[Task]]  # of the folder of a bundle and what unpacks its archives


PLATFORMS = {
    "codabench": BundleFormat("Codabench", ("competition.yaml",), codabench.files, codabench.tasks_in),
    "evalai": BundleFormat("EvalAI", ("challenge_config.yaml",), partial(bundle_of, "evalai"), evalai.tasks_in),
    "kaggle": BundleFormat("Kaggle", ("metric.py", "solution.csv"), kaggle.files, kaggle.tasks_in),
    "grand-challenge": BundleFormat(
        "Grand Challenge",
        ("Dockerfile", "evaluate.py"),
        partial(bundle_of, "grand-challenge", own=grand_challenge.MAKERS),
        grand_challenge.tasks_in,
    ),
}
"""The bundles of all platforms, by the names that `tieproof.trials.competition.new` accepts."""


def tasks_of(bundle: Path, room: Path) -> tuple[str, list[Task]]:
    """The platform that a bundle is for, and its tasks; archives are unpacked into folders of `room`."""
    unpack = Unpacker(room, MOST_BYTES, MOST_FILES)
    folder = unpack(bundle) if bundle.is_file() and bundle.suffix.lower() == ZIP else bundle
    if not folder.is_dir():
        raise InputError(f"{bundle} is not a folder or .zip. Give the bundle that you would upload.")
    for name, platform in PLATFORMS.items():
        if all((folder / file).is_file() for file in platform.recognized_by):
            _check_files(folder)
            try:
                return name, platform.tasks(folder, unpack)
            except (InputError, MissingExtraError, MemoryError):
                raise
            except Exception as error:  # whatever is in the files of a stranger
                told = " ".join(repr(error).split())[:MOST_TOLD]
                raise InputError(f"{bundle} is not as {platform.title} expects it: {told}.") from error
    known = "; ".join(f"{' and '.join(platform.recognized_by)} ({name})" for name, platform in PLATFORMS.items())
    raise InputError(f"{bundle} is not a bundle of a known platform; its top level needs {known}.")


def _check_files(bundle: Path) -> None:
    """Raise InputError if a link leads out of a bundle, or to a folder, which might be its own; and as `below`."""
    for path in below(bundle):
        if path.is_symlink():
            part_of(bundle, str(path.relative_to(bundle)))
            if path.is_dir():
                raise InputError(f"{path} is a link to a folder. Put the folder itself there.")
