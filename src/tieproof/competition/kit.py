"""The files for participants: the starting kit with a sample to score, and a baseline."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import numpy as np

from tieproof.competition import texts
from tieproof.competition.hosting import Hosted, HostedPhase
from tieproof.competition.scoring import Scoring
from tieproof.competition.truth import Truth, read_judgments, table
from tieproof.competition.words import fillings, program_values
from tieproof.data import load_digits
from tieproof.ties import Array

Files = dict[str, bytes | Path]
"""The files of a bundle: for each path its content, or a file or folder to copy there."""

SAMPLE_ITEMS = 100
WIDTH = 16
"""The number of dimensions of random vectors."""

LISTED = 100
"""The number of documents that a random run lists for each query."""


def kit_files(settings: Hosted, folder: str, platform: str) -> Files:
    """The files of the starting kit, in a folder of the bundle for a platform."""
    values = fillings(settings, platform)
    files: Files = {
        f"{folder}/score.py": texts.filled("codabench.py.txt", program_values(settings)),
        f"{folder}/evaluation.html": texts.page("evaluation", values),
        f"{folder}/data.html": texts.page("data", values),
    }
    sample = sample_of(settings.scoring)
    files |= {f"{folder}/sample/{name}": content for name, content in sample.items()}
    if settings.scoring.task == "embeddings":
        files |= {f"{folder}/ids_{phase.codename}.txt": ids_of(phase) for phase in settings.phases}
    return files


def handed_out(phase: HostedPhase, folder: str) -> Files:
    """The files of a phase that participants get, in a folder of the bundle."""
    return {f"{folder}/{place.name}": place for place in phase.public}


def ids_of(phase: HostedPhase) -> bytes:
    """The ids of a phase, one per line, in the order of the rows of an .npy."""
    return "".join(f"{each}\n" for each in phase.ids).encode()


def sample_of(scoring: Scoring) -> Mapping[str, bytes]:
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
        "input/res/embeddings.npz": archive(names, bright),
        "output/.keep": b"",
    }


def archive(ids: Sequence[str], vectors: Array) -> bytes:
    """A submission as an .npz; the same numbers give the same bytes."""
    written = BytesIO()
    np.savez(written, ids=np.array(ids, dtype=np.str_), embeddings=vectors)
    return written.getvalue()


def baseline_of(scoring: Scoring, phase: HostedPhase) -> tuple[str, bytes]:
    """The name and the content of a submission to a phase: the organiser's, or random numbers."""
    if phase.baseline is not None:
        name = "run.txt" if scoring.task == "run" else f"embeddings{phase.baseline.suffix.lower()}"
        return name, phase.baseline.read_bytes()
    random = np.random.default_rng(0)
    if scoring.task == "run":
        return "run.txt", random_run(phase.judged, random)
    ids = phase.ids
    return "embeddings.npz", archive(ids, random.normal(size=(len(ids), WIDTH)).astype(np.float32))


def random_run(qrels: Path, random: np.random.Generator) -> bytes:
    """A run with random scores, for each query for at most `LISTED` of all judged documents."""
    judged = read_judgments(qrels)
    documents = sorted({document for query in judged.values() for document in query})
    lines = []
    for query in sorted(judged):
        chosen = random.permutation(len(documents))[:LISTED]
        scores = np.sort(random.random(len(chosen)))[::-1]
        lines += [
            f"{query} Q0 {documents[at]} {rank} {score} random\n"
            for rank, (at, score) in enumerate(zip(chosen, scores.tolist(), strict=True), 1)
        ]
    return "".join(lines).encode()
