"""The ties and truncated lists in a whole folder of predictions; a damaged file does not stop the others."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from tieproof.errors import InputError
from tieproof.evaluation.progress import progress_bar
from tieproof.integrations.mteb_lists.files import (
    SUFFIX,
    FolderOfQrels,
    LibraryTask,
    NoRankingsError,
    Predictions,
    file_of,
)
from tieproof.integrations.mteb_lists.scores import SplitTies, split_ties
from tieproof.measures import Measure
from tieproof.show.parts import NARROWEST, WIDTH, Row, count, paragraph, table
from tieproof.show.shown import AsJson


@dataclass(frozen=True)
class FolderTies(AsJson):
    """The ties in the lists of a folder, and the intervals that they cause.

    splits : the splits of all tasks, in the order of their files' names
    no_rankings : files of tasks that rank nothing, and files without any query
    damaged : the error messages of files that could not be read
    """

    splits: Sequence[SplitTies]
    no_rankings: Sequence[str]
    damaged: Sequence[str]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain numbers, strings, lists and dictionaries."""
        return {
            "splits": [each.to_dict() for each in self.splits],
            "no_rankings": list(self.no_rankings),
            "damaged": list(self.damaged),
        }

    def to_text(self, width: int | None = None, color: bool = False) -> str:
        """Two tables, of how many lists have ties and of the measures, with an explanation of the columns.

        width : the width of the text in columns; None for 80
        color : whether to use the escape sequences of a terminal
        """
        width = max(width or WIDTH, NARROWEST)
        several = len({each.model for each in self.splits}) > 1
        heads = (("model",) if several else ()) + ("task", "subset", "split")
        measured = [each for each in self.splits if each.estimates]
        parts = []
        if self.splits:
            rows = [(*_place(each, several), *_counts(each)) for each in self.splits]
            parts.append(table((*heads, *_COUNTS), [rows], width, color, _COUNTS))
        if measured:
            sections = [[*_values(each, several)] for each in measured]
            parts.append(table((*heads, "measure", *_VALUES), sections, width, color, _VALUES))
        parts.append("\n".join(paragraph(text, width) for text in _sentences(self, measured, several)))
        return "\n\n".join(parts)


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
    qrels : a folder of judgments (`files.py`); None for the folder of each file. If it has no judgments of a
        task, they are loaded by mteb, if that is installed.
    results : a folder with the scores of MTEB (`files.py`); None for the folder of each file
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
                sources: list[FolderOfQrels | LibraryTask] = [beside, LibraryTask(predictions.task)]
                of_file = list(split_ties(predictions, sources, measures, results or path.parent, longest))
                splits += of_file
                no_rankings += [] if of_file else [str(path)]
            except NoRankingsError:
                no_rankings.append(str(path))
            except InputError as error:
                message = str(error)
                damaged.append(message if str(path) in message else f"{path}: {message}")
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


_COUNTS = ("lists", "tied", "cut off", "in a tie", "ambiguous")
_VALUES = ("MTEB", "lower", "expected", "upper")

_LEGEND = (
    "'tied' counts lists in which documents have equal scores. 'cut off' counts lists that have as many documents as "
    "a list may have, and 'in a tie' those of them whose last documents have equal scores. 'ambiguous' counts lists "
    "with a tie that mixes relevant and other documents."
)
_OPEN = (
    "A document that was not returned may have the same score as the last document of a list that was cut off, and "
    "so be tied with it. 'lower' and 'upper' cover every possible continuation of the last tie; 'expected' is the "
    "value of the list as it was saved."
)
_HEADLINE = "The score to report is 'lower': no order of tied documents scores less."
_NEEDED = (
    "Measures need judgments. Either load the data of the MTEB task once while connected to the network, or pass as "
    "--qrels a folder with {Task}_qrels.json, written by write_qrels(task, folder) of tieproof.integrations.mteb, or "
    "with {Task}/{split}.tsv in the format of BEIR or TREC."
)


def _place(each: SplitTies, with_model: bool) -> tuple[str, ...]:
    return ((each.model,) if with_model else ()) + (each.task, each.subset, each.split)


def _counts(each: SplitTies) -> Row:
    numbers = (each.lists, each.lists_with_ties, each.lists_cut_off, each.lists_cut_off_in_a_tie)
    return [*(f"{number:,}" for number in numbers), f"{each.ambiguous:,}" if each.judged else "?"]


def _values(each: SplitTies, with_model: bool) -> Iterator[Row]:
    names = _place(each, with_model)
    for measure, estimate in each.estimates.items():
        printed = each.printed.get(measure)
        three = (f"{value:.4f}" for value in astuple(estimate)[:3])
        yield (*names, measure, "" if printed is None else f"{printed:.4f}", *three)
        names = ("",) * len(names)


def _sentences(folder: FolderTies, measured: Sequence[SplitTies], with_model: bool) -> Iterator[str]:
    """The explanations below the tables, and what the tables do not include."""
    if folder.splits:
        yield _LEGEND
        for longest in sorted({each.longest for each in folder.splits if each.longest and each.lists_cut_off}):
            yield f"A list may hold {count(longest, 'document')}."
    if any(each.open_ends for each in measured):
        yield _OPEN
    if measured:
        yield _HEADLINE
    without = [each for each in folder.splits if not each.judged]
    for each in without:
        yield f"No measures of {' '.join(_place(each, with_model))}: {each.why}."
    if without:
        yield _NEEDED
    if folder.no_rankings:
        left_out = count(len(folder.no_rankings), "file")
        yield f"Left out: {left_out} without lists of documents, such as files of tasks that rank nothing."
