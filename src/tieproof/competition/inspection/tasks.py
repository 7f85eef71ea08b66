"""A task of a bundle: what a platform runs for a submission to one phase, and where the score is."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from tieproof.competition.inspection.process import Layout

Numbers = dict[str, float]


class Task(NamedTuple):
    """A phase as its platform scores it.

    name : of the phase
    sample : a submission that is known to be good, a file or a folder; None where the bundle has none
    lay : (a new folder, the folder of a submission, the place of its file within) → what is run; it copies there what
        the platform would
    numbers : all numbers that a run has left, by their names
    key : the name of the one that ranks; None: the first one
    larger : whether larger is better
    public : the files that participants get, by their names without extension
    """

    name: str
    sample: Path | None
    lay: Callable[[Path, Path, str], Layout]
    numbers: Callable[[Layout, str], Numbers]
    key: str | None
    larger: bool
    public: Mapping[str, Path]


def files_by_name(folders: list[Path]) -> dict[str, Path]:
    """All files below some folders, by their names without extension; none where two have the same."""
    found: dict[str, Path] = {}
    paths = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    for path in paths:
        found[path.stem] = path
    return found if len(found) == len(paths) else {}


def as_numbers(found: object, prefix: str = "") -> Numbers:
    """The numbers in what a program wrote, those within others by their path.

    >>> as_numbers({"aggregates": {"ap": 0.5}, "title": "x"})
    {'aggregates.ap': 0.5}
    """
    if isinstance(found, dict):
        parts = [as_numbers(value, f"{prefix}.{key}" if prefix else str(key)) for key, value in found.items()]
        return {key: value for part in parts for key, value in part.items()}
    return {prefix: float(found)} if isinstance(found, int | float) and not isinstance(found, bool) else {}
