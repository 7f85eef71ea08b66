"""Platforms that host competitions, one file each: what their bundles hold, how a bundle is recognized and run."""

import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tieproof.competition.hosting import Hosted
from tieproof.competition.inspection.tasks import Task, part_of
from tieproof.competition.platforms import codabench, evalai, grand_challenge, kaggle
from tieproof.competition.platforms.files import Files
from tieproof.errors import InputError
from tieproof.inputs.readers.location import reading

ZIP = ".zip"
MOST_BYTES, MOST_FILES = 8 * 2**30, 100_000
"""The most bytes and files that an archive of a bundle may hold."""


class BundleFormat(NamedTuple):
    """The bundles of a platform.

    recognized_by : the files by which its bundles are recognized
    files : makes the files of a bundle from the settings
    tasks : (folder of the bundle, folder for unpacked archives) → the tasks of the bundle
    """

    recognized_by: tuple[str, ...]
    files: Callable[[Hosted], Files]
    tasks: Callable[[Path, Path], list[Task]]


PLATFORMS = {
    "codabench": BundleFormat(("competition.yaml",), codabench.files, codabench.tasks),
    "evalai": BundleFormat(("challenge_config.yaml",), evalai.files, evalai.tasks),
    "kaggle": BundleFormat(("metric.py", "solution.csv"), kaggle.files, kaggle.tasks),
    "grand-challenge": BundleFormat(("Dockerfile", "evaluate.py"), grand_challenge.files, grand_challenge.tasks),
}
"""The bundles of all platforms, by the names that `tieproof.competition.new` accepts."""


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
        if all((folder / file).is_file() for file in platform.recognized_by):
            _refuse_links(folder)
            return name, folder
    known = "; ".join(f"{' and '.join(platform.recognized_by)} ({name})" for name, platform in PLATFORMS.items())
    raise InputError(f"{bundle} is not a bundle of a known platform; its top level needs {known}.", "bundle")


def _refuse_links(bundle: Path) -> None:
    """Raise InputError if a link leads out of a bundle, or to a folder, which might be its own."""
    for around, folders, files in os.walk(bundle):
        for path in (Path(around, name) for name in (*folders, *files)):
            if path.is_symlink():
                part_of(bundle, str(path.relative_to(bundle)))
                if path.is_dir():
                    raise InputError(f"{path} is a link to a folder. Put the folder itself there.", "bundle")
