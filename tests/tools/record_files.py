"""Records of every kind of result, and records that are not as tieproof writes them."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import tieproof as tp

RANDOM = np.random.default_rng(5)
EMBEDDINGS = RANDOM.integers(-1, 2, (24, 4)).astype(np.float32)
LABELS = np.arange(24) % 8
LONG = np.array([f"{'a long name ' * (label % 3)}{label}" for label in LABELS.tolist()])
CONFIDENCE = RANDOM.integers(0, 5, 24).astype(np.float16)

QRELS = {"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d3": 1, "d9": 1}, "Zürich": {"d1": 1}, "none": {"d1": 0}}
RUN = {
    "q1": {"d1": 0.5, "d2": 0.25, "d4": 0.5},
    "q2": {"d1": 1.5, "d3": 0.125},
    "q9": {"d1": 1.0},
    "none": {"d": 1.0},
}


def by_evaluator() -> tp.Result:
    evaluator = tp.Evaluator(measures=["AP", "P@1"])
    evaluator.update(EMBEDDINGS, LONG, indices=np.arange(24) * 10**15)
    return evaluator.compute()


RESULTS: dict[str, Callable[[], tp.Result]] = {
    "labels": lambda: tp.evaluate(EMBEDDINGS, LABELS),
    "strings": lambda: tp.evaluate(EMBEDDINGS, LONG, categories=LONG, average="macro", distance="euclidean"),
    "bytes as categories": lambda: tp.evaluate(EMBEDDINGS, LABELS, categories=LONG.astype("S")),
    "integers as categories": lambda: tp.evaluate(EMBEDDINGS, LABELS, categories=LABELS % 2),
    "confidences": lambda: tp.evaluate(EMBEDDINGS, LABELS, confidence=CONFIDENCE, measures=["nDCG(gain=exp)@10"]),
    "nothing relevant, skipped": lambda: tp.evaluate(EMBEDDINGS, [*LABELS[:-1], 99], categories=LONG),
    "nothing relevant, kept": lambda: tp.evaluate(EMBEDDINGS, [*LABELS[:-1], 99], empty="nan"),
    "nothing relevant, one": lambda: tp.evaluate(EMBEDDINGS, [*LABELS[:-1], 99], empty="one"),
    "gallery": lambda: tp.evaluate(
        EMBEDDINGS[:8], LABELS[:8], gallery=EMBEDDINGS[8:], gallery_labels=LABELS[8:], precision="float16"
    ),
    "packed codes": lambda: tp.evaluate(
        np.packbits(EMBEDDINGS > 0, axis=1), LABELS, distance="hamming", bits=4, measures=["AP"]
    ),
    "answers": lambda: tp.evaluate_answers(np.where(np.arange(len(LABELS))[:, None] % 5, EMBEDDINGS, np.nan), LABELS),
    "triples": lambda: tp.evaluate(EMBEDDINGS, relevance=[[0, 1, 2], [1, 0, 1]], exclude=[[0, 2]]),
    "evaluator": by_evaluator,
    "scores": lambda: tp.evaluate_scores([[2, 1, 1], [1, 2, 2]], [[1, 0, 2], [0, 1, 0]]),
    "distances cut off": lambda: tp.evaluate_distances([[2, 1, 1], [1, 2, 2]], [[1, 0, 1], [0, 1, 0]], n_relevant=5),
    "run": lambda: tp.evaluate_run(QRELS, RUN),
    "run, other policies": lambda: tp.evaluate_run(
        QRELS, RUN, missing="skip", empty="zero", truncated=True, n_items=100, measures=["AP", "RR"]
    ),
    "run with categories": lambda: tp.evaluate_run(
        QRELS, RUN, categories={"q1": "a|b", "q2": "<b>", "Zürich": "a|b", "none": "c"}, average="macro"
    ),
}


def parts_of(path: Path) -> dict[str, bytes]:
    """The parts of a record."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(
    path: Path, parts: dict[str, bytes] | list[tuple[str, bytes]], compression: int = zipfile.ZIP_STORED
) -> Path:
    """An archive of these parts."""
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in parts.items() if isinstance(parts, dict) else parts:
            archive.writestr(name, content)
    return path


def as_npy(array: Any, **options: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


def from_npy(content: bytes) -> Any:
    return np.load(io.BytesIO(content))


def record(path: Path) -> Path:
    """A record with all parts."""
    found = tp.evaluate(
        EMBEDDINGS, [*LABELS[:-1], 99], categories=LONG, confidence=CONFIDENCE, measures=["AP", "P@1"]
    )
    found.save(path)
    return path


def with_part(folder: Path, name: str, change: Callable[[Any], Any]) -> Path:
    """A record with one array replaced, and the checksum updated, as anyone could write it."""
    parts = parts_of(record(folder / "run.tieproof"))
    parts[f"{name}.npy"] = as_npy(change(from_npy(parts[f"{name}.npy"])))
    return packed(folder / "run.tieproof", parts)


def with_facts(folder: Path, **changed: Any) -> Path:
    """A record with some facts replaced."""
    parts = parts_of(record(folder / "run.tieproof"))
    facts = json.loads(parts["record.json"]) | changed
    return packed(folder / "run.tieproof", parts | {"record.json": json.dumps(facts).encode()})
