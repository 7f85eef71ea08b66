"""The ties and truncated lists in a whole folder of predictions; a damaged file does not stop the others."""

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
    """The ties in the lists of a folder, and the intervals that they cause.

    splits : the splits of all tasks, in the order of their files' names
    no_rankings : files of tasks that rank nothing, and files without any query
    damaged : the error messages of files that could not be read
    """

    splits: Sequence[SplitTies]
    no_rankings: Sequence[str]
    damaged: Sequence[str]

    def to_json(self) -> str:
        """Everything as JSON, with floats in full precision."""
        whole = {
            "splits": [each.to_dict() for each in self.splits],
            "no_rankings": list(self.no_rankings),
            "damaged": list(self.damaged),
        }
        return json.dumps(whole, indent=2, allow_nan=False)


class LibraryTask:
    """A task as MTEB knows it; MTEB is imported, if it is installed, when the task is first needed."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.found: Any = None
        self.absent = ""

    def asked(self) -> Any:
        """The task; None if MTEB cannot be imported."""
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
        """The judgments of a split; None if its data is not available."""
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
    """Find the ties in the lists of a folder, or of one file, and evaluate the lists.

    place : a file {Task}_predictions.json, or a folder with such files, also in subfolders
    measures : the measures to evaluate for tasks with judgments
    qrels : a folder of judgments (`judgments.py`); None for the folder of each file. If it has no judgments of a
        task, they are loaded by mteb, if that is installed.
    results : a folder with the scores of MTEB (`printed.py`); None for the folder of each file
    longest : the largest number of documents in a list; None takes it from MTEB's scores or the task, or 1,000
    progress : show after two seconds how many megabytes are read

    Raises InputError if there are no such files.
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
    """The files of predictions in a folder, sorted by name, or the one file."""
    if not place.exists():
        raise InputError(f"{place} does not exist. Pass the prediction_folder of mteb.evaluate, or a file in it.")
    if place.is_file() and not place.name.endswith(SUFFIX):
        raise InputError(
            f"{place} is not a file of predictions: the names of these files end in {SUFFIX}. Pass such a file."
        )
    paths = sorted(place.rglob(f"*{SUFFIX}")) if place.is_dir() else [place]
    if not paths:
        raise InputError(
            f"{place} has no file that ends in {SUFFIX}. Pass prediction_folder= to mteb.evaluate, which writes them."
        )
    return paths


def files_beside(path: Path, qrels: Path | None = None, results: Path | None = None) -> list[Path]:
    """The files that may be read together with predictions, whether they exist or not."""
    task = path.name.removesuffix(SUFFIX)
    return [path, file_of(qrels or path.parent, task), (results or path.parent) / f"{task}.json"]


def said(error: InputError, path: Path) -> str:
    """The message of an error, with the name of the file."""
    message = str(error)
    return message if str(path) in message else f"{path}: {message}"
