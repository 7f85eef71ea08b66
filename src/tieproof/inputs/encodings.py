"""Ids of queries and documents in several encodings, and in several forms of Unicode."""

import unicodedata
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn, TypeVar

from tieproof.errors import InputError

Text = TypeVar("Text", str, bytes)

ENCODINGS = "utf-8", "latin-1", "cp1252"
"""The encodings in which files of text usually are."""


def refuse_encodings(what: str, of_qrels: bytes, of_run: bytes) -> NoReturn:
    """Refuse a run that has an id of the qrels only in another encoding."""
    raise InputError(
        f"The qrels and the run are in different encodings: {what} is {of_qrels!r} in the qrels and {of_run!r} in "
        "the run. Convert both to UTF-8, and to one form of Unicode, by unicodedata.normalize('NFC', …).",
        ("qrels", "run"),
    )


def written_otherwise(name: bytes) -> set[bytes]:
    """Return an id in other encodings and in the other forms of Unicode."""
    texts = _in_encodings(name.decode)
    texts |= {unicodedata.normalize(form, text) for form in ("NFC", "NFD") for text in texts}
    return set().union(*(_in_encodings(text.encode) for text in texts)) - {name}


def _in_encodings(convert: Callable[[str], Text]) -> set[Text]:
    """Return the conversions by all encodings that have every letter."""
    found: set[Text] = set()
    for encoding in ENCODINGS:
        with suppress(UnicodeError):
            found.add(convert(encoding))
    return found


def as_text(name: bytes) -> str | None:
    """Return the string that has this id; None if there is none."""
    try:
        return name.decode(errors="surrogatepass")
    except UnicodeDecodeError:
        return None
