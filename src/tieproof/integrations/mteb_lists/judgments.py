"""Read judgments, and the conventions by which a task treats its lists, from a folder of files.

{Task}_qrels.json                      {subset: {split: {query: {document: grade}}}}, as `write_qrels` writes it
{Task}/{subset}/{split}.tsv or .txt    lines of TREC or of BEIR; without {subset}/ for the subset "default"
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from tieproof.errors import InputError
from tieproof.inputs.judged_runs import read_qrels
from tieproof.inputs.readers import trec
from tieproof.inputs.run_sources import decoded
from tieproof.integrations.mteb_lists.predictions import CONVENTIONS, NoRankingsError, Predictions
from tieproof.integrations.mteb_lists.scores import Conventions, Judgments

DEFAULT_SUBSET = "default"
ENDINGS = (".tsv", ".txt")


class TaskSource(Protocol):
    """A source of a task's judgments."""

    @property
    def conventions(self) -> Conventions | None:
        """How the task treats its lists; None if unknown."""

    def judgments(self, subset: str, split: str) -> Judgments | None:
        """The judgments of a split; None if the source has none."""

    @property
    def absent(self) -> str:
        """Why there are no judgments: where they were looked for."""


class FolderOfQrels:
    """The judgments of a task in a folder of files; raises InputError with the name of a file that is damaged."""

    def __init__(self, folder: Path, task: str) -> None:
        self.folder, self.task = folder, task
        self.conventions: Conventions | None = None
        self.in_one_file: dict[tuple[str, str], dict[str, dict[str, int]]] | None = None
        path = file_of(folder, task)
        if path.exists():
            saved = Predictions(path)
            self.in_one_file = {}
            try:
                for subset, split, query, grades in saved:
                    self.in_one_file.setdefault((subset, split), {})[query] = grades  # type: ignore[assignment]
            except NoRankingsError:
                raise InputError(
                    f"{path} does not contain {{subset: {{split: {{query: {{document: grade}}}}}}}}. Write it again "
                    "with write_qrels of tieproof.integrations.mteb."
                ) from None
            self.conventions = as_conventions(saved.about.get(CONVENTIONS), path)

    def judgments(self, subset: str, split: str) -> Judgments | None:
        """The judgments of a split."""
        if self.in_one_file is not None:
            return self.in_one_file.get((subset, split))
        path = next((path for path in self.files_of(subset, split) if path.exists()), None)
        return None if path is None else grades_in(path)

    def files_of(self, subset: str, split: str) -> Iterator[Path]:
        """The files that may have the judgments of a split, in the order in which they are tried."""
        folders = [Path(self.task, subset)] + [Path(self.task)] * (subset == DEFAULT_SUBSET)
        for folder in folders:
            yield from (self.folder / folder / f"{split}{ending}" for ending in ENDINGS)

    @property
    def absent(self) -> str:
        """The files that were looked for and do not exist."""
        return f"{self.folder} has neither {self.task}_qrels.json nor a file such as {self.task}/test.tsv"


def file_of(folder: Path, task: str) -> Path:
    """The path of the file with all judgments of a task."""
    return folder / f"{task}_qrels.json"


def grades_in(path: Path) -> dict[str, dict[str, int]]:
    """The judgments in a file of TREC or BEIR."""
    numbers = trec.numbering()
    judged = read_qrels(path, numbers)
    grades: dict[str, dict[str, int]] = {decoded(name): {} for name in numbers}
    queries = [*grades]
    rows = range(len(judged.grade))
    for query, document, grade in zip(
        judged.documents.query.tolist(), judged.names(rows), judged.grade.tolist(), strict=True
    ):
        if document is not None:  # None is a name that no document of a prediction can have
            grades[queries[query]][document] = grade
    return grades


def as_conventions(saved: Any, path: Path) -> Conventions | None:
    """The conventions in a file of judgments; None if it has none."""
    if saved is None:
        return None
    try:
        return Conventions(
            int(saved["longest"]), bool(saved["ignore_identical_ids"]), bool(saved["skip_first_result"])
        )
    except (TypeError, KeyError, ValueError):
        raise InputError(
            f"{path}: {CONVENTIONS} must have longest, ignore_identical_ids and skip_first_result, but is "
            f"{saved!r}. Write the file again with write_qrels of tieproof.integrations.mteb."
        ) from None
