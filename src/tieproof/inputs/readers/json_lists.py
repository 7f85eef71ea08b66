"""Runs, judgments and tables in JSON, which may be packed by gzip, xz, bzip2 or zstd.

A file is one dictionary or one list, as ranx, pytrec_eval, MTEB and rank_llm write it, or has a query on each line;
`inputs/responses.py` knows what these hold.
`InformationRetrievalEvaluator(write_predictions=True)` of sentence-transformers writes such lines.
"""

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

from tieproof.errors import InputError
from tieproof.inputs.readers.lines import BYTE_ORDER_MARK, shown, unpacked
from tieproof.inputs.readers.location import Piped

EXTENSIONS = tuple(f".json{lines}{packed}" for lines in ("", "l") for packed in ("", ".gz", ".xz", ".bz2", ".zst"))

BEGINNING = re.compile(rb'\s*(\{\s*["}]|\[\s*(["\[{\]]|-?\d[\d.eE+-]*\s*,))')
"""How a dictionary or a list begins, unlike a name such as {7} or [7] in a file of TREC."""

EXPECTED = (
    "A file of JSON is {query: {document: number}}, or {query: [document, …]}; a line of JSON is "
    '{"query_id": …, "results": [{"corpus_id": …, "score": …}, …]}.'
)


def read(location: str | os.PathLike[str] | Piped) -> tuple[Any, list[int]]:
    """Return the dictionary or list of a file; or the contents of its lines, and their numbers."""
    path, content = unpacked(location)
    return contents(path, content.tobytes(), EXPECTED)


def contents(path: Path | Piped, content: bytes, expected: str) -> tuple[Any, list[int]]:
    """Return what `read` does, of whole dictionaries without repeated keys; `expected` is for messages."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
            raise InputError(f"{path} has '{twice}' twice in one dictionary. Keep one of them.")
        return found

    text = content.removeprefix(BYTE_ORDER_MARK)
    lines = {number: line for number, line in enumerate(text.split(b"\n"), 1) if line.strip()}
    in_lines = re.search(r"\.jsonl", os.fsdecode(path.name), re.IGNORECASE) or _begins_with_a_whole_line(lines)
    found: Any = []
    at = 0
    try:
        if not in_lines:
            found = json.loads(text, object_pairs_hook=once)
        else:
            for at, line in lines.items():  # noqa: B007 (the line of an error)
                found.append(json.loads(line, object_pairs_hook=once))
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        if in_lines:
            raise InputError(f"{path} has no JSON on line {at}: '{shown(lines[at])}'. {expected}") from None
        raise InputError(f"{path} is no JSON ({str(error).partition(chr(10))[0]}). {expected}") from None
    if not isinstance(found, dict | list) or not found:
        empty: dict[type, str] = {dict: "an empty dictionary", list: "an empty list"}
        arrived = empty.get(type(found), f"of type {type(found).__name__}")
        raise InputError(f"{path} {'has no lines' if in_lines else f'is {arrived}'}. {expected}")
    return found, list(lines) if in_lines else []


def read_dictionary(location: str | os.PathLike[str] | Piped) -> dict[str, Any]:
    """Return the dictionary of a file, which may not be a list."""
    found, _ = read(location)
    if not isinstance(found, dict):
        raise InputError(f"{location} is a list, which has no subsets and splits. Pass a file with a dictionary.")
    return found


def is_json(content: bytes) -> bool:
    """Whether a content, such as what came through a pipe, begins like a dictionary or a list of JSON."""
    return BEGINNING.match(content.removeprefix(BYTE_ORDER_MARK)) is not None


def _begins_with_a_whole_line(lines: dict[int, bytes]) -> bool:
    """Whether there are several lines, of which the first is a whole dictionary."""
    if len(lines) < 2:
        return False
    try:
        return isinstance(json.loads(next(iter(lines.values()))), dict)
    except (ValueError, RecursionError):
        return False
