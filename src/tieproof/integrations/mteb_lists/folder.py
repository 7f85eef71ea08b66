"""What ties and the cut leave open in a whole folder of predictions; a damaged file does not stop the others."""

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from tieproof.calls.progress import progress_bar
from tieproof.errors import InputError
from tieproof.integrations.mteb_lists.judgments import FolderOfQrels, TaskSource, file_of
from tieproof.integrations.mteb_lists.predictions import SUFFIX, NoRankingsError, Predictions
from tieproof.integrations.mteb_lists.scores import Conventions, Judgments
from tieproof.integrations.mteb_lists.splits import SplitTies, split_ties
from tieproof.measures import Measure


@dataclass(frozen=True)
class FolderTies:
    """What the lists of a folder leave open.

    splits : of all tasks, by the names of their files
    no_rankings : files of tasks that rank nothing, or without any query
    damaged : what is wrong with the others that could not be read
    """

    splits: Sequence[SplitTies]
    no_rankings: Sequence[str]
    damaged: Sequence[str]

    def to_json(self) -> str:
        """Everything, every float in full."""
        whole = {
            "splits": [each.to_dict() for each in self.splits],
            "no_rankings": list(self.no_rankings),
            "damaged": list(self.damaged),
        }
        return json.dumps(whole, indent=2, allow_nan=False)


class LibraryTask:
    """What MTEB knows of a task, where it is installed: it is imported when it is asked for the first time."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.found: Any = None
        self.absent = ""

    def asked(self) -> Any:
        """The task; None without the library."""
        if self.found is None and not self.absent:
            try:
                self.found = import_module("tieproof.integrations.mteb.tasks").TaskOfLibrary(self.name)
            except ImportError as error:
                self.absent = f"mteb could not be imported ({error})"
        return self.found

    @property
    def conventions(self) -> Conventions | None:
        """How the task treats its lists."""
        task = self.asked()
        known: Conventions | None = task and task.conventions
        return known

    def judgments(self, subset: str, split: str) -> Judgments | None:
        """The judgments of a split, if its data is there."""
        task = self.asked()
        found: Judgments | None = task and task.judgments(subset, split)
        self.absent = task.absent if task else self.absent
        return found


def folder_ties(
    place: Path,
    measures: Sequence[Measure],
    qrels: Path | None = None,
    results: Path | None = None,
    longest: int | None = None,
    progress: bool = False,
) -> FolderTies:
    """What the lists in a folder leave open, or those in one file.

    place : a file {Task}_predictions.json, or a folder with such files, also in folders within
    measures : to be evaluated where there are judgments
    qrels : a folder of judgments (`judgments.py`); None: that of each file. Those of tasks that it lacks come from
        mteb, where it is installed.
    results : a folder with what MTEB printed (`printed.py`); None: that of each file
    longest : documents that a list holds at most; None: what MTEB printed or knows of the task, or 1,000
    progress : show how many megabytes are read, after two seconds

    Raises InputError where there are no such files.
    """
    splits: list[SplitTies] = []
    no_rankings: list[str] = []
    damaged: list[str] = []
    paths = files_in(place)
    size = sum(path.stat().st_size for path in paths if path.exists())  # a link may lead nowhere
    bar: AbstractContextManager[Callable[[int], None]] = (
        progress_bar(size, "megabytes", 1e6) if progress else nullcontext(lambda count: None)
    )
    with bar as advance:
        for path in paths:
            predictions = Predictions(path, advance)
            try:
                beside = FolderOfQrels(qrels or path.parent, predictions.task)
                sources: list[TaskSource] = [beside, LibraryTask(predictions.task)]
                found = list(split_ties(predictions, sources, measures, results or path.parent, longest))
                splits += found
                no_rankings += [] if found else [str(path)]
            except NoRankingsError:
                no_rankings.append(str(path))
            except InputError as error:
                damaged.append(said(error, path))
    return FolderTies(splits, no_rankings, damaged)


def files_in(place: Path) -> list[Path]:
    """The files of predictions in a folder, by name, or the one file."""
    if not place.exists():
        raise InputError(f"{place} does not exist. Give the prediction_folder of mteb.evaluate, or a file in it.")
    if place.is_file() and not place.name.endswith(SUFFIX):
        raise InputError(f"{place} is no file of predictions: their names end in {SUFFIX}. Give one of these.")
    paths = sorted(place.rglob(f"*{SUFFIX}")) if place.is_dir() else [place]
    if not paths:
        raise InputError(
            f"{place} has no file that ends in {SUFFIX}. Pass prediction_folder= to mteb.evaluate, which writes them."
        )
    return paths


def files_beside(path: Path, qrels: Path | None = None, results: Path | None = None) -> list[Path]:
    """The files that may be read together with predictions, whether or not they are there."""
    task = path.name.removesuffix(SUFFIX)
    return [path, file_of(qrels or path.parent, task), (results or path.parent) / f"{task}.json"]


def said(error: InputError, path: Path) -> str:
    """What is wrong, with the name of the file."""
    message = str(error)
    return message if str(path) in message else f"{path}: {message}"
