"""The predictions of sentence-transformers, JSON line by line: the ranked documents of each query and their scores.

`InformationRetrievalEvaluator(write_predictions=True)` writes them, one line for each query and one file for each
score function. A file may be packed by gzip.
"""

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from tieproof.errors import InputError
from tieproof.inputs.readers.pipes import Piped
from tieproof.inputs.readers.trec import BYTE_ORDER_MARK, checked, shown, unpacked

EXTENSIONS = ".jsonl", ".jsonl.gz"

EXPECTED = 'Each line of predictions is {"query_id": …, "query": …, "results": [{"corpus_id": …, "score": …}, …]}.'


class PredictedRows(NamedTuple):
    """The rows of a file, one for each document of a query: ids, scores, and the line that each is on."""

    query: list[str]
    document: list[str]
    score: list[float]
    line: list[int]


def is_called_so(location: str | os.PathLike[str]) -> bool:
    """Whether a file has the name of predictions.

    >>> is_called_so("Information-Retrieval_evaluation_predictions_cosine.jsonl"), is_called_so("run.txt")
    (True, False)
    """
    return os.fsdecode(location).lower().endswith(EXTENSIONS)


def read(location: str | os.PathLike[str] | Piped) -> PredictedRows:
    r"""Read predictions; a malformed line is refused with its number.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "predictions.jsonl")
    ...     _ = path.write_text('{"query_id": "q1", "results": [{"corpus_id": "d1", "score": 0.5}]}\n')
    ...     read(path)
    PredictedRows(query=['q1'], document=['d1'], score=[0.5], line=[1])
    """
    path = checked(location)
    rows = PredictedRows([], [], [], [])
    text = unpacked(path).tobytes().removeprefix(BYTE_ORDER_MARK)
    for number, line in enumerate(text.split(b"\n"), 1):
        if line.strip():
            add(rows, path, number, line)
    if not rows.query:
        raise InputError(f"{path} has no documents of any query. {EXPECTED}")
    return rows


def add(rows: PredictedRows, path: Path | Piped, number: int, line: bytes) -> None:
    """Add the documents of one query."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise InputError(f"{path} has no JSON on line {number}: '{shown(line)}'. {EXPECTED}") from None
    query = of_field(found, "query_id", path, number)
    results = of_field(found, "results", path, number)
    if not isinstance(results, list):
        raise InputError(f"{path} has results that are no list on line {number}. {EXPECTED}")
    documents, scores = (of_each(results, name, path, number) for name in ("corpus_id", "score"))
    if set(map(type, documents)) != {str}:
        documents = [as_id(name, "corpus_id", path, number) for name in documents]
    if set(map(type, scores)) != {float}:
        scores = [as_score(score, path, number) for score in scores]
    rows.query.extend([as_id(query, "query_id", path, number)] * len(results))
    rows.document.extend(documents)
    rows.score.extend(scores)
    rows.line.extend([number] * len(results))


def of_each(results: list[Any], name: str, path: Path | Piped, number: int) -> list[Any]:
    """Return the value of a field of each result."""
    try:
        return [result[name] for result in results]
    except (TypeError, KeyError):
        return [of_field(result, name, path, number) for result in results]


def of_field(found: Any, name: str, path: Path | Piped, number: int) -> Any:
    """Return the value of a field; a missing field is refused."""
    if not isinstance(found, dict) or name not in found:
        raise InputError(f"{path} has no field '{name}' on line {number} where one is expected. {EXPECTED}")
    return found[name]


def as_id(name: Any, field: str, path: Path | Piped, number: int) -> str:
    """Return an id, which must be a string or an integer; 7 and "7" are the same."""
    if isinstance(name, str):
        return name
    if isinstance(name, int) and not isinstance(name, bool):
        return str(name)
    raise InputError(
        f"{path} has the {field} {json.dumps(name)} on line {number}, where a string or an integer is expected. "
        f"{EXPECTED}"
    )


def as_score(score: Any, path: Path | Piped, number: int) -> float:
    """Return a score in float64; an integer must be exact in float64."""
    if isinstance(score, float):
        return score
    if isinstance(score, int) and not isinstance(score, bool) and abs(score) <= 2**53:
        return float(score)
    raise InputError(
        f"{path} has the score {json.dumps(score)} on line {number}, where a number in float64 is expected. "
        f"{EXPECTED}"
    )
