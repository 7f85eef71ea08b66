"""Ids of queries and documents: strings or bytes, and the bytes in other encodings and other forms of Unicode."""

import unicodedata
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn, TypeVar

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.readers.trec import Numbers
from tieproof.ties import IntArray

Text = TypeVar("Text", str, bytes)

ENCODINGS = "utf-8", "latin-1", "cp1252"  # in which files of text usually are


def numbered(names: list[Any], queries: Numbers, owner: str) -> IntArray:
    """Return the numbers of queries, which are assigned in the order of first use."""
    ids = (name.encode(errors="surrogatepass") for name in as_ids(names, owner, "query"))
    return np.fromiter(map(queries.__getitem__, ids), np.int64, len(names))


def as_ids(names: list[Any], owner: str, what: str) -> list[str]:
    """Return names, which are strings or integers, as strings; 7 and "7" are the same."""
    kinds = set(map(type, names))
    for kind in kinds - {str, int}:
        wrong = next(name for name in names if type(name) is kind)
        if isinstance(wrong, bool) or not isinstance(wrong, str | int | np.integer):
            is_whole = isinstance(wrong, float | np.floating) and (np.isnan(wrong) or wrong == np.rint(wrong))
            how = ".astype(str)"
            if is_whole:
                how = ".astype(int), as pandas makes floats of integers beside missing ones"
            raise InputError(
                f"{owner} must name every {what} by a string or an integer, but one name is {wrong!r}. Leave out "
                f"rows without a name, and convert the names with {how}."
            )
    return names if kinds == {str} else list(map(str, names))


def decoded(name: bytes) -> str:
    """Return the id of a query as text."""
    if name.endswith(b"\0"):
        raise InputError(
            f"The query {name.decode(errors='replace')!r} ends in a NUL character, which NumPy drops. Rename it."
        )
    try:
        return name.decode()
    except UnicodeDecodeError:
        raise InputError(
            f"The query '{name.decode(errors='replace')}' is not encoded in UTF-8. Convert the file to UTF-8."
        ) from None


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
