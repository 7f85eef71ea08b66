"""Read files of predictions that MTEB wrote, query by query, because they may have hundreds of megabytes.

A file `{Task}_predictions.json` is {subset: {split: {query: {document: score}}}}, with the model as another member,
"mteb_model_meta". Only one query at a time is parsed.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from json.decoder import JSONDecodeError
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from tieproof.errors import InputError

SUFFIX = "_predictions.json"
MODEL, CONVENTIONS = "mteb_model_meta", "tieproof_conventions"
"""Members that are no subsets: the model of predictions, and the conventions that `write_qrels` wrote."""

LARGEST = sys.float_info.max

WHITESPACE = " \t\n\r"

OTHER_VALUES = frozenset('["-0123456789tfnNI')
"""The first characters of JSON values that are not objects."""


class NoRankingsError(InputError):
    """A file contains the predictions of a task that ranks nothing."""


class ListedQuery(NamedTuple):
    """A query and the scores of its documents."""

    subset: str
    split: str
    query: str
    documents: dict[str, float]


class Cursor:
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
        """The value that begins here."""
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
        while text[at : at + 1] in WHITESPACE and at < len(text):
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
        """Raise InputError with the reason and the position in the file."""
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

    def __init__(self, path: Path, advance: Callable[[int], None] = lambda count: None) -> None:
        self.path, self.advance = path, advance
        self.about: dict[str, Any] = {}

    @property
    def task(self) -> str:
        """The name of the task."""
        return self.path.name.removesuffix(SUFFIX)

    def __iter__(self) -> Iterator[ListedQuery]:
        """Yield the queries."""
        cursor = Cursor(self.path)
        for subset in cursor.members():
            if subset in (MODEL, CONVENTIONS):
                self.check_object(cursor)
                self.about[subset] = cursor.value()
            else:
                yield from self.of_subset(cursor, subset)
        cursor.end()

    def of_subset(self, cursor: Cursor, subset: str) -> Iterator[ListedQuery]:
        """The queries of all splits of a subset."""
        self.check_object(cursor)
        for split in cursor.members():
            self.check_object(cursor)
            for query in cursor.members():
                before = cursor.at
                self.check_object(cursor)
                documents = cursor.value()
                if not set(map(type, documents.values())) <= {float, int}:
                    self.refuse()
                self.check_finite(query, documents)
                yield ListedQuery(subset, split, query, documents)
                self.advance(cursor.at - before)

    def check_object(self, cursor: Cursor) -> None:
        """Refuse a value that is no object, such as the lists of classes or embeddings of other tasks."""
        if cursor.next() in OTHER_VALUES:
            self.refuse()

    def check_finite(self, query: str, documents: Mapping[str, float]) -> None:
        """Refuse a score that is NaN, infinite or too large for a float."""
        if all(-LARGEST <= number <= LARGEST for number in documents.values()):
            return
        name, number = next(each for each in documents.items() if not -LARGEST <= each[1] <= LARGEST)
        value = number if isinstance(number, float) else "too large for a float"
        raise InputError(
            f"{self.path}: the number of document '{name}' for query '{query}' is {value}. Every score and grade "
            "must be a finite number; leave the document out if it has none."
        )

    def refuse(self) -> NoReturn:
        """Raise NoRankingsError: the values are not lists of documents."""
        raise NoRankingsError(
            f"{self.path} does not contain {{subset: {{split: {{query: {{document: score}}}}}}}}, as predictions of "
            "tasks of retrieval and reranking do."
        )
