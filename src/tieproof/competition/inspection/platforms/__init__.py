"""The platforms whose bundles can be run: how a bundle is recognised, and how its tasks are found."""

import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tieproof.competition.inspection.tasks import Task, part_of
from tieproof.competition.platforms import codabench, evalai, grand_challenge, kaggle
from tieproof.errors import InputError
from tieproof.inputs.readers.damage import reading

ZIP = ".zip"


class Platform(NamedTuple):
    """A platform: the files by which its bundles are recognised, and the function that finds the tasks in a bundle.

    tasks : (folder of the bundle, folder for unpacked archives) → the tasks of the bundle
    """

    files: tuple[str, ...]
    tasks: Callable[[Path, Path], list[Task]]


PLATFORMS = {
    "codabench": Platform(("competition.yaml",), codabench.tasks),
    "evalai": Platform(("challenge_config.yaml",), evalai.tasks),
    "kaggle": Platform(("metric.py", "solution.csv"), kaggle.tasks),
    "grand-challenge": Platform(("Dockerfile", "evaluate.py"), grand_challenge.tasks),
}
"""All platforms, by the names that `tieproof.competition.new` accepts."""


def opened(bundle: Path, room: Path) -> tuple[str, Path]:
    """The platform that a bundle is for, and its folder; an archive is unpacked into `room`."""
    folder = bundle
    if bundle.is_file() and bundle.suffix.lower() == ZIP:
        folder = room / "bundle"
        with reading(bundle, "a bundle (.zip)"), zipfile.ZipFile(bundle) as archive:
            archive.extractall(folder)
    if not folder.is_dir():
        raise InputError(f"{bundle} is not a folder or .zip. Give the bundle that you would upload.", "bundle")
    for name, platform in PLATFORMS.items():
        if all((folder / file).is_file() for file in platform.files):
            refuse_links(folder)
            return name, folder
    known = "; ".join(f"{' and '.join(platform.files)} ({name})" for name, platform in PLATFORMS.items())
    raise InputError(f"{bundle} is not a bundle of a known platform; its top level needs {known}.", "bundle")


def refuse_links(bundle: Path) -> None:
    """Raise InputError if a link leads out of a bundle: whoever made the bundle would read files of the organiser."""
    for around, folders, files in os.walk(bundle):
        for path in (Path(around, name) for name in (*folders, *files)):
            if path.is_symlink():
                part_of(bundle, str(path.relative_to(bundle)))
