"""Read what MTEB wrote, and judgments: predictions query by query, because they may have hundreds of megabytes.

{Task}_predictions.json              {subset: {split: {query: {document: score}}}}, and the model as "mteb_model_meta"
{Task}_qrels.json                    {subset: {split: {query: {document: grade}}}}, as `write_qrels` writes it
{Task}/{subset}/{split}.tsv, .txt    judgments as lines of TREC or of BEIR; without {subset}/ for the subset "default"
{Task}.json                          the scores that MTEB printed
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from importlib import import_module
from json.decoder import JSONDecodeError
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from tieproof.errors import InputError
from tieproof.inputs.judged_runs import read_qrels
from tieproof.inputs.readers import trec
from tieproof.inputs.sources import decoded

SUFFIX = "_predictions.json"
MODEL, CONVENTIONS = "mteb_model_meta", "tieproof_conventions"
"""Members that are no subsets: the model of predictions, and the conventions that `write_qrels` wrote."""

_LARGEST = sys.float_info.max

_OTHER_VALUES = frozenset('["-0123456789tfnNI')
"""The first characters of JSON values that are not objects."""

Documents = Mapping[str, float]
Lists = Mapping[str, Documents]
"""The score of each listed document, by query: `results` of MTEB."""

Judgments = Mapping[str, Mapping[str, int]]
"""The grade of each judged document, by query: `qrels` or `relevant_docs` of MTEB."""

_LONGEST = 1000
"""The largest number of documents in a list of MTEB, unless a task has other `k_values`."""


class Conventions(NamedTuple):
    """How a task treats the lists of its queries.

    longest : a list with this many documents was cut off, a shorter list is complete; None if all lists are complete
    ignore_identical_ids : whether a document with the query's name is left out of the list
    skip_first_result : whether the first document of every list is left out, which may be any document that is tied
        at the top
    """

    longest: int | None = _LONGEST
    ignore_identical_ids: bool = False
    skip_first_result: bool = False

    def is_cut_off(self, documents: Documents) -> bool:
        """Whether a list was cut off."""
        return self.longest is not None and len(documents) >= self.longest


class NoRankingsError(InputError):
    """A file contains the predictions of a task that ranks nothing."""


class ListedQuery(NamedTuple):
    """A query and the scores of its documents."""

    subset: str
    split: str
    query: str
    documents: dict[str, float]


class _Cursor:
    """A position in a JSON text, which is parsed value by value."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise InputError(f"{path} cannot be read ({error.strerror or error}).") from error
        except UnicodeDecodeError as error:
            raise InputError(f"{path} is not written in UTF-8, as JSON is. Write or copy it again.") from error
        self.at = 0
        self.decoder = json.JSONDecoder(object_pairs_hook=self.distinct)

    def members(self) -> Iterator[str]:
        """Yield the names of the object that begins here; the caller reads each value before the next name."""
        self.take("{")
        if self.next() == "}":
            self.at += 1
            return
        while True:
            name = self.value()
            if not isinstance(name, str):
                self.refuse("the name of a member is expected")
            self.take(":")
            yield name
            if self.next() == "}":
                self.at += 1
                return
            self.take(",")

    def value(self) -> Any:
        self.next()
        try:
            value, self.at = self.decoder.raw_decode(self.text, self.at)
        except JSONDecodeError as error:
            self.at = error.pos
            self.refuse(error.msg)
        except RecursionError:
            self.refuse("objects are nested too deeply")
        return value

    def next(self) -> str:
        """Skip whitespace, and return the character at the position; "" at the end."""
        text, at = self.text, self.at
        while text[at : at + 1] in " \t\n\r" and at < len(text):
            at += 1
        self.at = at
        return text[at : at + 1]

    def take(self, letter: str) -> None:
        """Skip the expected character, or refuse another one."""
        if self.next() != letter:
            self.refuse(f"{letter!r} is expected")
        self.at += 1

    def end(self) -> None:
        """Refuse anything but whitespace before the end of the file."""
        if self.next():
            self.refuse("the file should end here")

    def distinct(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """The object as a dictionary; a repeated name is refused."""
        members = dict(pairs)
        if len(members) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for place, name in enumerate(names) if name in names[:place])
            raise InputError(f"{self.path}: '{twice}' occurs twice in one object. Keep one of them.")
        return members

    def refuse(self, reason: str) -> NoReturn:
        where = "at its end" if self.at >= len(self.text) else f"at character {self.at:,}"
        raise InputError(
            f"{self.path} is not a complete file as MTEB writes it: {reason}, {where}. It was cut short or changed; "
            "write or copy it again."
        )


class Predictions:
    """A file of predictions, or of judgments in the same shape.

    path : the path of the file
    advance : a function that is called with the number of characters read
    about : the members that are no subsets, as far as the file has been read

    Iteration yields the queries in the order of the file. It raises InputError with the name of the file if the file
    is damaged, and NoRankingsError if the task has no lists of documents.
    """

    def __init__(self, path: Path, advance: Callable[[int], object] = lambda count: None) -> None:
        self.path, self.advance = path, advance
        self.about: dict[str, Any] = {}

    @property
    def task(self) -> str:
        """The name of the task."""
        return self.path.name.removesuffix(SUFFIX)

    def __iter__(self) -> Iterator[ListedQuery]:
        """Yield the queries."""
        cursor = _Cursor(self.path)
        for subset in cursor.members():
            if subset in (MODEL, CONVENTIONS):
                self._check_object(cursor)
                self.about[subset] = cursor.value()
            else:
                yield from self._of_subset(cursor, subset)
        cursor.end()

    def _of_subset(self, cursor: _Cursor, subset: str) -> Iterator[ListedQuery]:
        self._check_object(cursor)
        for split in cursor.members():
            self._check_object(cursor)
            for query in cursor.members():
                before = cursor.at
                self._check_object(cursor)
                documents = cursor.value()
                if not set(map(type, documents.values())) <= {float, int}:
                    self._refuse()
                self._check_finite(query, documents)
                yield ListedQuery(subset, split, query, documents)
                self.advance(cursor.at - before)

    def _check_object(self, cursor: _Cursor) -> None:
        """Refuse a value that is no object, such as the lists of classes or embeddings of other tasks."""
        if cursor.next() in _OTHER_VALUES:
            self._refuse()

    def _check_finite(self, query: str, documents: Mapping[str, float]) -> None:
        if all(-_LARGEST <= number <= _LARGEST for number in documents.values()):
            return
        name, number = next(each for each in documents.items() if not -_LARGEST <= each[1] <= _LARGEST)
        value = number if isinstance(number, float) else "too large for a float"
        raise InputError(
            f"{self.path}: the number of document '{name}' for query '{query}' is {value}. Every score and grade "
            "must be a finite number; leave the document out if it has none."
        )

    def _refuse(self) -> NoReturn:
        """Raise NoRankingsError: the values are not lists of documents."""
        raise NoRankingsError(
            f"{self.path} does not contain {{subset: {{split: {{query: {{document: score}}}}}}}}, as predictions of "
            "tasks of retrieval and reranking do."
        )


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
            if (given := saved.about.get(CONVENTIONS)) is not None:
                try:
                    self.conventions = Conventions(
                        int(given["longest"]), bool(given["ignore_identical_ids"]), bool(given["skip_first_result"])
                    )
                except (TypeError, KeyError, ValueError):
                    raise InputError(
                        f"{path}: {CONVENTIONS} must have longest, ignore_identical_ids and skip_first_result, but "
                        f"is {given!r}. Write the file again with write_qrels of tieproof.integrations.mteb."
                    ) from None

    def judgments(self, subset: str, split: str) -> Judgments | None:
        """The judgments of a split."""
        if self.in_one_file is not None:
            return self.in_one_file.get((subset, split))
        folders = [self.folder / self.task / subset] + [self.folder / self.task] * (subset == "default")
        paths = [folder / f"{split}{ending}" for folder in folders for ending in (".tsv", ".txt")]
        return next((_grades_in(path) for path in paths if path.exists()), None)

    @property
    def absent(self) -> str:
        """The files that were looked for and do not exist."""
        return f"{self.folder} has neither {self.task}_qrels.json nor a file such as {self.task}/test.tsv"


def file_of(folder: Path, task: str) -> Path:
    """The path of the file with all judgments of a task."""
    return folder / f"{task}_qrels.json"


def _grades_in(path: Path) -> dict[str, dict[str, int]]:
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


class LibraryTask:
    """A task as MTEB knows it; MTEB is imported, if it is installed, when the task is first needed."""

    def __init__(self, name: str) -> None:
        self.name, self.absent = name, ""

    @cached_property
    def conventions(self) -> Conventions | None:
        """How the task treats its lists; None if MTEB cannot be imported, or has no such task that ranks anything."""
        try:
            library = import_module("tieproof.integrations.mteb")
        except ImportError as error:
            self.absent = f"mteb could not be imported ({error})"
            return None
        known: Conventions | None = library.library_conventions(self.name)
        if known is None:
            self.absent = f"mteb {library.mteb.__version__} has no task {self.name} that ranks anything"
        return known

    def judgments(self, subset: str, split: str) -> Judgments | None:
        """The judgments of a split; None if its data is not available."""
        if self.conventions is None:
            return None
        load = import_module("tieproof.integrations.mteb").library_judgments
        try:
            grades: Judgments = load(self.name, subset, split)
        except Exception as error:  # any error of the libraries that load the data
            reason = str(error).partition("\n")[0]
            self.absent = f"the data of {self.name} could not be loaded ({type(error).__name__}: {reason})"
            return None
        return grades


def read_printed(task: str, model: Mapping[str, Any], folder: Path) -> dict[tuple[str, str], Mapping[str, Any]]:
    """The scores that MTEB printed for a task, by subset and split; empty if the folder has none.

    The scores are in `{Task}.json`, or in `{model}/{revision}/{Task}.json` as in the cache of MTEB.

    Raises InputError if the file does not contain results of MTEB.
    """
    name, revision = (str(model.get(key, "")) for key in ("model_name", "revision"))
    within = Path(name.replace("/", "__").replace(" ", "_"), revision)
    places = (Path(), within, Path("results", within)) if name and revision else (Path(),)
    paths = [folder / place / f"{task}.json" for place in places]
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        return {}
    try:
        splits = json.loads(path.read_text(encoding="utf-8"))["scores"]
        return {(scores["hf_subset"], split): scores for split, several in splits.items() for scores in several}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{path} does not contain results of MTEB ({type(error).__name__}: {error}). Write it again, or put it "
            "elsewhere: the table then has no column with the scores of MTEB."
        ) from error
