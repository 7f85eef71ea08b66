"""The ties and truncated lists in a whole folder of predictions; a damaged file does not stop the others."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import astuple, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from tieproof.errors import InputError
from tieproof.evaluation.progress import progress_bar
from tieproof.integrations.mteb_lists.judgments import FolderOfQrels, TaskSource, file_of
from tieproof.integrations.mteb_lists.predictions import SUFFIX, NoRankingsError, Predictions
from tieproof.integrations.mteb_lists.scores import Conventions, Judgments
from tieproof.integrations.mteb_lists.splits import SplitTies, split_ties
from tieproof.measures import Measure
from tieproof.show.parts import NARROWEST, WIDTH, Row, count, paragraph, table


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


COUNTS = ("lists", "tied", "cut off", "in a tie", "ambiguous")
VALUES = ("MTEB", "lower", "expected", "upper")

LEGEND = (
    "'tied' counts lists in which documents have equal scores. 'cut off' counts lists that have as many documents as "
    "a list may have, and 'in a tie' those of them whose last documents have equal scores. 'ambiguous' counts lists "
    "with a tie that mixes relevant and other documents."
)
OPEN = (
    "A document that was not returned may have the same score as the last document of a list that was cut off, and "
    "so be tied with it. 'lower' and 'upper' cover every possible continuation of the last tie; 'expected' is the "
    "value of the list as it was saved."
)
HEADLINE = "The score to report is 'lower': no order of tied documents scores less."
NEEDED = (
    "Measures need judgments. Either load the data of the MTEB task once while connected to the network, or pass as "
    "--qrels a folder with {Task}_qrels.json, written by write_qrels(task, folder) of tieproof.integrations.mteb, or "
    "with {Task}/{split}.tsv in the format of BEIR or TREC."
)


def render(found: FolderTies, width: int | None = None, color: bool = False) -> str:
    """Two tables, one of how many lists have ties and one of the measures, with an explanation of the columns.

    width : the width of the text in columns; None for 80
    color : use the escape sequences of a terminal
    """
    width = max(width or WIDTH, NARROWEST)
    several = len({each.model for each in found.splits}) > 1
    heads = (("model",) if several else ()) + ("task", "subset", "split")
    measured = [each for each in found.splits if each.estimates]
    parts = []
    if found.splits:
        rows = [(*place(each, several), *counts(each)) for each in found.splits]
        parts.append(table((*heads, *COUNTS), [rows], width, color, COUNTS))
    if measured:
        sections = [[*values(each, several)] for each in measured]
        parts.append(table((*heads, "measure", *VALUES), sections, width, color, VALUES))
    parts.append("\n".join(paragraph(text, width) for text in sentences(found, measured, several)))
    return "\n\n".join(parts)


def place(each: SplitTies, with_model: bool) -> tuple[str, ...]:
    """The names of the model, task, subset and split."""
    return ((each.model,) if with_model else ()) + (each.task, each.subset, each.split)


def counts(each: SplitTies) -> Row:
    """The cells that count lists with ties."""
    numbers = (each.lists, each.lists_with_ties, each.lists_cut_off, each.lists_cut_off_in_a_tie)
    return [*(f"{number:,}" for number in numbers), f"{each.ambiguous:,}" if each.judged else "?"]


def values(each: SplitTies, with_model: bool) -> Iterator[Row]:
    """A row for each measure."""
    names = place(each, with_model)
    for measure, estimate in each.estimates.items():
        printed = each.printed.get(measure)
        three = (f"{value:.4f}" for value in astuple(estimate)[:3])
        yield (*names, measure, "" if printed is None else f"{printed:.4f}", *three)
        names = ("",) * len(names)


def sentences(found: FolderTies, measured: Sequence[SplitTies], with_model: bool) -> Iterator[str]:
    """The explanations below the tables, and what the tables do not include."""
    if found.splits:
        yield LEGEND
        for longest in sorted({each.longest for each in found.splits if each.longest and each.lists_cut_off}):
            yield f"A list may hold {count(longest, 'document')}."
    if any(each.open_ends for each in measured):
        yield OPEN
    if measured:
        yield HEADLINE
    without = [each for each in found.splits if not each.judged]
    for each in without:
        yield f"No measures of {' '.join(place(each, with_model))}: {each.why}."
    if without:
        yield NEEDED
    if found.no_rankings:
        left_out = count(len(found.no_rankings), "file")
        yield f"Left out: {left_out} without lists of documents, such as files of tasks that rank nothing."
