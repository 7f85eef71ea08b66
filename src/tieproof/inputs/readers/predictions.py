"""Runs and judgments in JSON, which may be packed by gzip, xz, bzip2 or zstd.

Lines of JSON (.jsonl) are predictions of sentence-transformers: the ranked documents of each query and their scores.
`InformationRetrievalEvaluator(write_predictions=True)` writes them, one line for each query and one file for each
score function. A file of one dictionary (.json) has the scores or grades of the documents of each query, as ranx and
pytrec_eval have them.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tieproof.errors import InputError
from tieproof.inputs.readers.lines import BYTE_ORDER_MARK, shown, unpacked
from tieproof.inputs.readers.location import Piped

_PACKED = ("", ".gz", ".xz", ".bz2", ".zst")
EXTENSIONS = tuple(f".jsonl{packed}" for packed in _PACKED)
DICTIONARIES = tuple(f".json{packed}" for packed in _PACKED)

EXPECTED = 'Each line of predictions is {"query_id": …, "query": …, "results": [{"corpus_id": …, "score": …}, …]}.'

Wrong = Callable[..., InputError]
"""Makes the error for a line, from what it has and what is expected."""


class PredictedRows(NamedTuple):
    """The rows of a file, one for each document of a query: ids, scores, and the line that each is on."""

    query: list[str]
    document: list[str]
    score: list[float]
    line: list[int]


def read(location: str | os.PathLike[str] | Piped) -> PredictedRows:
    """Read predictions; a malformed line is refused with its number."""
    path, content = unpacked(location)
    rows = PredictedRows([], [], [], [])
    text = content.tobytes().removeprefix(BYTE_ORDER_MARK)
    for number, line in enumerate(text.split(b"\n"), 1):
        if line.strip():
            _add(rows, path, number, line)
    if not rows.query:
        raise InputError(f"{path} has no documents of any query. {EXPECTED}")
    return rows


def read_dictionary(location: str | os.PathLike[str] | Piped, value: str) -> dict[str, Any]:
    """Read a file of one dictionary {query: {document: number}}; a key that is written twice is refused.

    value : what the numbers are, for messages
    """
    path, content = unpacked(location)
    expected = f"A file of JSON is {{query: {{document: {value}}}}}."

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
            raise InputError(f"{path} has '{twice}' twice in one dictionary. Keep one of them.")
        return found

    try:
        found = json.loads(content.tobytes().removeprefix(BYTE_ORDER_MARK), object_pairs_hook=once)
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is no JSON ({str(error).partition(chr(10))[0]}). {expected}") from None
    if not isinstance(found, dict) or not found:
        arrived = "an empty dictionary" if found == {} else f"of type {type(found).__name__}"
        raise InputError(f"{path} is {arrived}. {expected}")
    return found


def is_dictionary(pipe: Piped) -> bool:
    """Whether what came through a pipe, which has no extension, begins like a dictionary of JSON."""
    _, content = unpacked(pipe)
    return re.match(rb'\s*\{\s*"', content[:1024].tobytes().removeprefix(BYTE_ORDER_MARK)) is not None


def _add(rows: PredictedRows, path: Path | Piped, number: int, line: bytes) -> None:
    def wrong(what: str, expected: str = "") -> InputError:
        return InputError(f"{path} has {what} on line {number}{expected}. {EXPECTED}")

    try:
        prediction = json.loads(line)
    except (ValueError, RecursionError):
        raise wrong("no JSON", f": '{shown(line)}'") from None
    query = _field(prediction, "query_id", wrong)
    frame = "pandas.read_json(…, lines=True, dtype=False)"
    results = _field(prediction, "results", wrong, f" (for a line for each document, pass the data frame of {frame})")
    if not isinstance(results, list):
        raise wrong("results that are no list")
    documents, scores = (_of_each(results, name, wrong) for name in ("corpus_id", "score"))
    if set(map(type, documents)) != {str}:
        documents = [_as_id(name, "corpus_id", wrong) for name in documents]
    if set(map(type, scores)) != {float}:
        scores = [_as_score(score, wrong) for score in scores]
    rows.query.extend([_as_id(query, "query_id", wrong)] * len(results))
    rows.document.extend(documents)
    rows.score.extend(scores)
    rows.line.extend([number] * len(results))


def _of_each(results: list[Any], name: str, wrong: Wrong) -> list[Any]:
    try:
        return [result[name] for result in results]
    except (TypeError, KeyError):
        return [_field(result, name, wrong) for result in results]


def _field(values: Any, name: str, wrong: Wrong, expected: str = " where one is expected") -> Any:
    if not isinstance(values, dict) or name not in values:
        raise wrong(f"no field '{name}'", expected)
    return values[name]


def _as_id(name: Any, field: str, wrong: Wrong) -> str:
    """Return an id, which must be a string or an integer; 7 and "7" are the same."""
    if isinstance(name, str):
        return name
    if isinstance(name, int) and not isinstance(name, bool):
        return str(name)
    raise wrong(f"the {field} {json.dumps(name)}", ", where a string or an integer is expected")


def _as_score(score: Any, wrong: Wrong) -> float:
    """Return a score in float64; an integer must be exact in float64."""
    if isinstance(score, float):
        return score
    if isinstance(score, int) and not isinstance(score, bool) and abs(score) <= 2**53:
        return float(score)
    raise wrong(f"the score {json.dumps(score)}", ", where a number in float64 is expected")
