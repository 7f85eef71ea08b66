"""Platforms that host competitions, one file each: what their bundles hold, how a bundle is recognized and run."""

import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tieproof.competition.hosting import Hosted
from tieproof.competition.inspection.tasks import Task, part_of
from tieproof.competition.kit import Files
from tieproof.competition.platforms import codabench, evalai, grand_challenge, kaggle
from tieproof.errors import InputError
from tieproof.inputs.readers.damage import reading

ZIP = ".zip"
MOST_BYTES, MOST_FILES = 8 * 2**30, 100_000
"""The most bytes and files that an archive of a bundle may hold."""

BUNDLES: dict[str, Callable[[Hosted], Files]] = {
    "codabench": codabench.files,
    "evalai": evalai.files,
    "kaggle": kaggle.files,
    "grand-challenge": grand_challenge.files,
}
"""The functions that make the files of a bundle from the settings, by the name of the platform."""


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
            members = archive.infolist()
            if len(members) > MOST_FILES or sum(member.file_size for member in members) > MOST_BYTES:
                raise InputError(
                    f"{bundle} holds more than {MOST_FILES:,} files or {MOST_BYTES // 2**30} GiB. Unpack it "
                    "and give the folder.",
                    "bundle",
                )
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
    """Raise InputError if a link leads out of a bundle, or to a folder, which might be its own."""
    for around, folders, files in os.walk(bundle):
        for path in (Path(around, name) for name in (*folders, *files)):
            if path.is_symlink():
                part_of(bundle, str(path.relative_to(bundle)))
                if path.is_dir():
                    raise InputError(f"{path} is a link to a folder. Put the folder itself there.", "bundle")
