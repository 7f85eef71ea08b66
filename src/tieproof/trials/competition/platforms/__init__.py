"""Platforms that host competitions, one file each: what their bundles hold, how a bundle is recognized and run.

`new` makes a bundle from the file of a competition; the bundle is written completely or not at all.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from tieproof.errors import InputError, MissingExtraError
from tieproof.kit import check_choice
from tieproof.trials.competition.hosting import Hosted, HostedPhase, hosted
from tieproof.trials.competition.inspection.tasks import Task, Unpacker, part_of
from tieproof.trials.competition.platforms import codabench, evalai, grand_challenge, kaggle
from tieproof.trials.competition.platforms.layout import Files, baseline_of, bundle_of
from tieproof.trials.competition.scoring import TRUTH, scored
from tieproof.trials.competition.settings import Competition
from tieproof.trials.competition.submissions import SubmissionError
from tieproof.trials.sandbox.folders import below
from tieproof.whole_files import naming

ZIP = ".zip"
DATE = 315_532_800  # the date of all files, in seconds since 1970: the first day of 1980, as in the archives
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


def new(
    competition: Competition | str | os.PathLike[str], bundle: str | os.PathLike[str], *, platform: str = "codabench"
) -> Path:
    r"""Make the bundle of a competition for a platform, from one small file.

    Parameters
    ----------
    competition : a `Competition`, or the path of its TOML file
        `docs/guides/competitions.md` describes its keys.
    bundle : path of the folder to make, or of a .zip to upload; it must not exist yet
    platform : "codabench", "evalai", "kaggle" or "grand-challenge"

    Returns
    -------
    Path
        The path of the bundle.

    Raises
    ------
    InputError
        A key of the file is unknown, missing or wrong; a file that it names is missing or invalid; or `bundle` exists
        already.
    MissingExtraError
        The extra `competition`, which writes the YAML for Codabench and EvalAI, is not installed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "labels.csv").write_text("id,label\na,1\nb,1\nc,2\n")
    ...     _ = Path(folder, "competition.toml").write_text('''
    ...         title = "Letters"
    ...         task = "embeddings"
    ...         phases = [{name = "Final", start = 2027-01-10, end = 2027-02-10, labels = "labels.csv"}]
    ...     ''')
    ...     made = new(f"{folder}/competition.toml", f"{folder}/bundle", platform="kaggle")
    ...     sorted(path.name for path in made.iterdir())
    ['data', 'metric.py', 'pages', 'solution.csv']

    """
    check_choice("platform", platform, PLATFORMS)
    target = Path(bundle)
    if os.path.lexists(target):
        raise InputError(f"{target} exists already. Give another folder or .zip, or remove this one.", "bundle")
    if not target.absolute().parent.is_dir():
        raise InputError(
            f"{target} cannot be created: the folder {target.parent} does not exist. Create it.", "bundle"
        )
    if not isinstance(competition, Competition):
        competition = Competition.read(competition)
    settings = hosted(competition)
    for phase in settings.phases:
        check_baseline(settings, phase)
    files = PLATFORMS[platform].files(settings)
    unfinished = target.with_name(f".tieproof-{os.urandom(8).hex()}")
    try:
        with naming(target):
            if target.suffix.lower() == ZIP:
                with ZipFile(unfinished, "w") as archive:  # the same files give the same bytes
                    for name, content in _contents(files):
                        entry = ZipInfo(name)
                        entry.compress_type = ZIP_DEFLATED
                        archive.writestr(entry, content)
            else:
                _write_folder(unfinished, files)
            os.rename(unfinished, target)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.unlink(missing_ok=True)
        raise
    return target


def check_baseline(settings: Hosted, phase: HostedPhase) -> None:
    """Score the baseline of a phase; InputError if the scoring program would refuse the baseline or the truth."""
    name, content = baseline_of(settings.scoring, phase)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, name).write_bytes(content)
        truth = Path(folder, TRUTH[settings.scoring.task])
        truth.write_bytes(phase.content)
        try:
            scored(settings.scoring, truth, Path(folder))
        except SubmissionError as error:
            raise InputError(
                f"The baseline of the phase {phase.name} would be refused: {error}", "baseline"
            ) from error


def _write_folder(folder: Path, files: Files) -> None:
    """Write the files into a folder, all with one date, because the dates of items often reveal their classes."""
    for name, content in _contents(files):
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    for place in folder.rglob("*"):
        os.utime(place, (DATE, DATE))


def _contents(files: Files) -> Iterator[tuple[str, bytes]]:
    """The path and the content of each file, one at a time, of folders too."""
    for name, content in files.items():
        if isinstance(content, bytes):
            yield name, content
            continue
        within = sorted(path for path in content.rglob("*") if path.is_file()) if content.is_dir() else [content]
        for path in within:
            yield str(PurePosixPath(name, path.relative_to(content).as_posix())), path.read_bytes()


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
