"""The sentences on the pages of a competition, made from its settings."""

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import numpy as np

from tieproof.competition import texts
from tieproof.competition.hosting import Hosted, HostedPhase
from tieproof.competition.scoring import Scoring
from tieproof.competition.truth import Truth, read_judgments, table
from tieproof.data import load_digits
from tieproof.installed import __version__
from tieproof.ties import Array

ASKED = {
    "embeddings": "You hand in a vector of numbers for each test item. Every item is a query, for which all other "
    "items are ranked by their distance to it; the relevant items are those with the same label. Only the organiser "
    "sees the labels.",
    "gallery": "You hand in a vector of numbers for each query and for each item of the gallery. For every query, "
    "the gallery is ranked by distance; the relevant items are those with the query's label. Only the organiser sees "
    "the labels.",
    "run": "You hand in documents with scores for each query; a larger score is better. Only the organiser sees the "
    "judgments.",
}
HOW = {
    "embeddings": "Each item of a phase queries all other items of that phase (leave-one-out), by {distance} "
    "distance. A measure is the mean over all items that share their label with at least one other item.",
    "gallery": "For each query of a phase, the whole gallery of that phase is ranked by {distance} distance; other "
    "queries are not ranked. A measure is the mean over all queries whose label occurs in the gallery.",
    "run": "A measure is the mean over all judged queries. A query without any document in the run scores 0. Only "
    "the scores count, not the order of the lines or the column of ranks.",
}
GROUPS = (
    " Each item belongs to a group, such as a camera; items with both the query's label and its group are excluded: "
    "they are neither relevant nor counted."
)
FILES = {
    "embeddings": "embeddings.npz with the arrays ids (strings) and embeddings (one row for each id); "
    "embeddings.npy, whose rows are in the order of the list of ids; or embeddings.csv, which begins with the line "
    "id,0,1,2,… Every id must have exactly one vector of at most {dimensions} finite numbers. The file may have at "
    "most {megabytes} MB.",
    "run": "run.txt, a TREC run with one line for each document of a query and the columns query, Q0, document, "
    "rank, score and tag. The file may have at most {megabytes} MB.",
}
HAND_IN = {
    "codabench": {task: f"Hand in a .zip with one file at its top level: {words}" for task, words in FILES.items()},
    "evalai": {task: f"Hand in one file: {words}" for task, words in FILES.items()},
    "kaggle": {
        "embeddings": "Hand in a .csv like sample_submission.csv: it begins with the line id,0,1,2,… and has one row "
        "for each id, with a vector of at most {dimensions} finite numbers.",
        "run": "Hand in a .csv like sample_submission.csv, with the columns id and documents. List the documents of "
        "each query from best to worst, separated by spaces. No document may be listed twice; no two are tied.",
    },
    "grand-challenge": {
        "embeddings": "Hand in an algorithm. It is given one item at a time and writes embedding.json, a list of at "
        "most {dimensions} finite numbers. All lists must have the same length.",
        "run": "Hand in an algorithm. It is given one query at a time and writes ranking.json, an object with a "
        "score for each document that it finds; a larger score is better.",
    },
}
"""How to hand in a submission, by platform and task."""

REFUSED = {
    "embeddings": "A submission is refused if it contains NaN or infinity, missing, repeated or unknown ids, vectors "
    "of different lengths, or Python objects (pickles), or if its file is too large.",
    "run": "A submission is refused if it contains NaN or infinity, a document twice for one query, or unknown "
    "queries, or if its file is too large.",
}
KIT = {
    "embeddings": "The ids of each phase are in ids_….txt. The sample was made from the handwritten digits in "
    "sample/items.csv, with one bit for each pixel. It has many ties: they are why lower and upper differ.",
    "run": "In the sample, two documents have the same score, and only one of them is relevant: an ambiguous tie.",
}


def fillings(settings: Hosted, platform: str) -> dict[str, str]:
    """The values of the names in the page templates, for a platform."""
    scoring, names = settings.scoring, settings.scoring._asdict()
    truth = settings.phases[0].truth
    kind = "gallery" if truth and truth.roles else scoring.task
    groups = GROUPS if truth and truth.groups else ""
    return {
        "title": settings.title,
        "description": settings.platform.description or settings.title,
        "organizer": settings.platform.organizer or "the organiser of this page",
        "contact": settings.platform.contact or "the forum of the competition",
        "phases": "; ".join(
            f"{phase.name}, {phase.start:%Y-%m-%d %H:%M} to {phase.end:%Y-%m-%d %H:%M}" for phase in settings.phases
        ),
        "measures": ", ".join(scoring.measures),
        "first": scoring.measures[0],
        "submissions": f"{settings.platform.submissions:,}",
        "per_day": f"{settings.platform.submissions_per_day:,}",
        "seconds": f"{settings.platform.seconds:,}",
        "digits": str(scoring.digits),
        "requirement": requirement(),
        "asked": ASKED[kind],
        "how": HOW[kind].format(**names) + groups,
        "hand_in": HAND_IN[platform][scoring.task].format(**names),
        "refused": REFUSED[scoring.task],
        "kit": KIT[scoring.task],
    }


def program_values(settings: Hosted) -> dict[str, str]:
    """The values of the names in the program templates."""
    scoring = settings.scoring
    return {
        "title": repr(settings.title),
        "scoring": written(scoring),
        "measure": scoring.measures[0],
        "version": __version__,
        "requirement": requirement(),
    }


def written(scoring: Scoring) -> str:
    """The Python expression that makes this scoring, with one line for each argument.

    >>> print(written(Scoring("run", ("AP",))))
    Scoring(
        task='run',
        measures=('AP',),
        distance='cosine',
        megabytes=100,
        dimensions=4096,
        digits=4,
    )
    """
    arguments = "".join(f"    {name}={value!r},\n" for name, value in scoring._asdict().items())
    return f"Scoring(\n{arguments})"


def requirement() -> str:
    """The requirement for pip: this version of tieproof if it is a published one, otherwise any version."""
    return f"tieproof=={__version__}" if re.fullmatch(r"[\d.]+", __version__) else "tieproof"


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
