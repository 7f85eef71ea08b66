"""The task of a bundle: the program that a platform runs for a submission to one phase, and its score."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from tieproof.competition.inspection.process import Ended, Layout
from tieproof.errors import InputError
from tieproof.sandbox.folders import opened_file

Numbers = dict[str, float]

MOST_BYTES = 2**20
"""The most bytes of a file of scores."""


class Task(NamedTuple):
    """A phase as its platform scores it.

    name : the name of the phase
    sample : a valid submission, a file or a folder; None if the bundle has none
    lay : (a new folder, the folder of a submission, the path of its file within) → the layout to run; it copies files
        into the new folder as the platform would
    numbers : reads all numbers that a run has left, by name
    key : the name of the number by which submissions are ranked; None for the first one
    larger : whether larger is better
    public : the files that participants get, by name without extension
    truth : the folder of the truth, by its name on the platform
    shown : all text of a run that a participant sees, printed or in files
    submissions : the most submissions of a participant; None if the bundle does not say
    """

    name: str
    sample: Path | None
    lay: Callable[[Path, Path, str], Layout]
    numbers: Callable[[Layout, str], Numbers]
    key: str | None
    larger: bool
    public: Mapping[str, Path]
    truth: str
    shown: Callable[[Layout, Ended], str]
    submissions: int | None = None


def part_of(bundle: Path, name: str) -> Path:
    """A file or folder of a bundle; InputError if its path or a link leads out of the bundle."""
    target = Path(os.path.realpath(bundle / name))
    if not target.is_relative_to(os.path.realpath(bundle)):
        raise InputError(
            f"{bundle / name} leads to {target}, outside of the bundle, whose program must not read it. Put a copy "
            "into the bundle.",
            "bundle",
        )
    return bundle / name


def files_by_name(folders: list[Path]) -> dict[str, Path]:
    """All files below some folders, by name without extension; empty if two files have the same name."""
    found: dict[str, Path] = {}
    paths = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    for path in paths:
        found[path.stem] = path
    return found if len(found) == len(paths) else {}


def written_text(path: Path) -> str:
    """The text of a file that a scoring program wrote; OSError unless it is a regular file, not a link, and short."""
    file = opened_file(path, MOST_BYTES)
    if file is None:
        raise OSError(f"{path.name} is not a regular file of at most {MOST_BYTES:,} bytes")
    with file:
        return file.read().decode("utf-8")


def as_numbers(found: object, prefix: str = "") -> Numbers:
    """The numbers in nested dicts, by their path.

    >>> as_numbers({"aggregates": {"ap": 0.5}, "title": "x"})
    {'aggregates.ap': 0.5}
    """
    if isinstance(found, dict):
        parts = [as_numbers(value, f"{prefix}.{key}" if prefix else str(key)) for key, value in found.items()]
        return {key: value for part in parts for key, value in part.items()}
    return {prefix: float(found)} if isinstance(found, int | float) and not isinstance(found, bool) else {}
