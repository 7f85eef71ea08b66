"""What the bundles of several platforms hold: pages, a starting kit, baselines, columns of a leaderboard, a logo."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from tieproof.data import load_digits
from tieproof.errors import InputError, library
from tieproof.evaluation.result import flat_name
from tieproof.kit import Array, reading
from tieproof.trials.competition import texts
from tieproof.trials.competition.hosting import Hosted, HostedPhase
from tieproof.trials.competition.inspection.tasks import Numbers, Program, as_numbers
from tieproof.trials.competition.scoring import SHOWN, Scoring
from tieproof.trials.competition.truth import Truth, read_judgments, table

Files = dict[str, bytes | Path]  # the files of a bundle: for each path its content, or a file or folder to copy there

SAMPLE_ITEMS = 100  # of the starting kit
WIDTH = 16  # the number of dimensions of random vectors
LISTED = 100  # the number of documents that a random run lists for each query


def starting_kit(settings: Hosted, platform: str) -> Files:
    """The files of the starting kit, by their paths in its folder."""
    values = texts.fillings(settings, platform)
    files: Files = {
        "score.py": texts.filled("codabench.py.txt", values),
        "evaluation.html": texts.page("evaluation", values),
        "data.html": texts.page("data", values),
    }
    files |= {f"sample/{name}": content for name, content in _sample_of(settings.scoring).items()}
    if settings.scoring.task == "embeddings":
        for phase in settings.phases:  # the ids in the order of the rows of an .npy
            files[f"ids_{phase.codename}.txt"] = "".join(f"{each}\n" for each in phase.ids).encode()
    return files


def _sample_of(scoring: Scoring) -> Mapping[str, bytes]:
    """A sample submission and its truth, in the folders of the scoring program, and the items of the sample."""
    if scoring.task == "run":
        return {
            "input/ref/qrels.txt": b"q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 1\n",
            "input/res/run.txt": b"q1 Q0 d1 1 0.5 sample\nq1 Q0 d2 2 0.5 sample\nq2 Q0 d3 1 0.9 sample\n",
            "output/.keep": b"",
        }
    pixels, digits = load_digits()
    pixels = pixels[:SAMPLE_ITEMS]
    names = [sha256(f"sample {at}".encode()).hexdigest()[:12] for at in range(SAMPLE_ITEMS)]
    labels = Truth(tuple(names), tuple(map(str, digits[:SAMPLE_ITEMS].tolist()))).in_order()
    bright = (pixels > pixels.mean(axis=1, keepdims=True)).astype(np.float32)
    rows = [(name, *map(int, row)) for name, row in zip(names, pixels, strict=True)]
    return {
        "items.csv": table([("id", *range(pixels.shape[1])), *rows]).encode(),
        "input/ref/labels.csv": labels.to_csv().encode(),
        "input/res/embeddings.npz": _archive(names, bright),
        "output/.keep": b"",
    }


def _archive(ids: Sequence[str], vectors: Array) -> bytes:
    """A submission as an .npz; the same numbers give the same bytes."""
    written = BytesIO()
    np.savez(written, ids=np.array(ids, dtype=np.str_), embeddings=vectors)
    return written.getvalue()


def baseline_of(scoring: Scoring, phase: HostedPhase) -> tuple[str, bytes]:
    """The name and the content of a submission to a phase: the organizer's, or random numbers."""
    if phase.baseline is not None:
        name = "run.txt" if scoring.task == "run" else f"embeddings{phase.baseline.suffix.lower()}"
        return name, phase.baseline.read_bytes()
    random = np.random.default_rng(0)
    if scoring.task == "run":
        return "run.txt", _random_run(phase.judged, random)
    ids = phase.ids
    return "embeddings.npz", _archive(ids, random.normal(size=(len(ids), WIDTH)).astype(np.float32))


def _random_run(qrels: Path, random: np.random.Generator) -> bytes:
    """A run with random scores, for each query for at most `LISTED` of all judged documents."""
    judged = read_judgments(qrels)
    documents = sorted({document for query in judged.values() for document in query})
    lines = []
    for query in sorted(judged):
        chosen = random.permutation(len(documents))[:LISTED]
        ranked = enumerate(zip(chosen, np.sort(random.random(len(chosen)))[::-1].tolist(), strict=True), 1)
        lines += [f"{query} Q0 {documents[at]} {rank} {score} random\n" for rank, (at, score) in ranked]
    return "".join(lines).encode()


LONGEST = 36  # the most characters of a column's title and key on Codabench


def columns_of(scoring: Scoring) -> list[tuple[str, str]]:
    """The title and the key of each column in order; submissions are ranked by the first one."""
    columns = []
    for place, measure in enumerate(scoring.measures):
        for bound in SHOWN if place == 0 else SHOWN[:1]:
            column = f"{measure} {bound}", f"{flat_name(measure)}_{bound}"
            if max(map(len, column)) > LONGEST:
                raise InputError(
                    f"'{column[0]}' is longer than the {LONGEST} characters of a column's title or key. Give the "
                    "measure a shorter name, or leave it out.",
                    "measures",
                )
            columns.append(column)
    return columns


MOST_TEXT = 2**24  # the most bytes of a file of settings or of a program
MOST_NODES = 100_000  # the most keys and values of a YAML file, counted each time that an alias repeats them


def text_of(path: Path) -> str:
    """The text of a file of a bundle; InputError if it is too long, or not UTF-8."""
    with reading(path, "UTF-8 text"):
        if path.stat().st_size > MOST_TEXT:
            raise InputError(f"{path} has more than {MOST_TEXT:,} bytes. Shorten it.")
        return path.read_text(encoding="utf-8")


def json_of(path: Path) -> Any:
    """What a JSON file of a bundle contains."""
    text = text_of(path)
    with reading(path, "JSON"):
        return json.loads(text)


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file."""
    yaml = library("yaml", f"Reading {path}", "competition")
    text = text_of(path)
    with reading(path, "YAML"):
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        _check_nodes(node, path)
        content = None if node is None else loader.construct_document(node)
    if not isinstance(content, dict):
        raise InputError(f"{path} is not a YAML mapping. Write keys and values, as the platform documents them.")
    return content


def _check_nodes(node: Any, path: Path) -> None:
    """Raise InputError if a node of YAML, or its copies by aliases, contain too many others."""
    left, count = [node], 0
    while left:
        value = getattr(left.pop(), "value", None)
        if isinstance(value, list):
            inner = [each for item in value for each in (item if isinstance(item, tuple) else (item,))]
            count += len(inner)
            left += inner
        if count > MOST_NODES:
            raise InputError(f"{path} has more than {MOST_NODES:,} keys and values. Shorten it.")


def last_line(out: str) -> str:
    """The last line that a driver printed."""
    return out.strip().rpartition("\n")[2]


def printed_numbers(program: Program, out: str) -> Numbers:
    """The numbers in the last line that a driver printed."""
    return as_numbers(json.loads(last_line(out)))
