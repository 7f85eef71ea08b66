"""A bundle for Kaggle: the metric, the solution with a public and a private part, and a sample submission.

Kaggle calls the metric once for the rows of each part. Its notebooks lack tieproof: attach its wheel to the metric.
"""

from collections.abc import Iterator

import numpy as np

from tieproof.competition import texts
from tieproof.competition.kit import LISTED, WIDTH, Files, kit_files
from tieproof.competition.settings import Phase, Settings, slug
from tieproof.competition.truth import read_judgments, read_labels, table
from tieproof.competition.words import fillings, program_values
from tieproof.errors import InputError

USAGES = ("Public", "Private")
"""What Kaggle calls the part that the leaderboard shows during the competition, and the one that decides."""

PAGES = ("overview", "evaluation", "data", "terms")
COLUMNS = {"embeddings": "label", "run": "relevant"}


def files(settings: Settings) -> Files:
    """All files of the bundle, by their places in it."""
    if len(settings.phases) > len(USAGES):
        raise InputError(
            f"Kaggle has a public and a private part, and there are {len(settings.phases)} phases. Give one or two.",
            "phases",
        )
    values = fillings(settings, "kaggle")
    found: Files = {
        "metric.py": texts.filled("kaggle.py.txt", program_values(settings)),
        "solution.csv": solution(settings).encode(),
        "data/sample_submission.csv": sample(settings).encode(),
    }
    found |= {f"pages/{name}.html": texts.page(name, values) for name in PAGES}
    found |= kit_files(settings, "data/starting_kit", "kaggle")
    if settings.terms is not None:
        found["pages/terms.html"] = settings.terms
    found |= {f"data/{slug(phase.name)}/{phase.items.name}": phase.items for phase in settings.phases if phase.items}
    return found


def rows_of(settings: Settings, phase: Phase) -> Iterator[tuple[str, str]]:
    """The ids of a phase, and what is true of each."""
    if settings.scoring.task == "run":
        for query, grades in sorted(read_judgments(phase.truth).items()):
            yield query, " ".join(document for document, grade in grades.items() if grade > 0)
    else:
        labels = read_labels(phase.truth)
        yield from zip(labels.ids, labels.labels, strict=True)


def solution(settings: Settings) -> str:
    """The table that Kaggle keeps: ids, what is true, and the part that they belong to."""
    usages = USAGES[-len(settings.phases) :]
    rows = [
        (*row, usage)
        for usage, phase in zip(usages, settings.phases, strict=True)
        for row in rows_of(settings, phase)
    ]
    if len({row[0] for row in rows}) < len(rows):
        raise InputError(
            "An id is in two phases, and Kaggle has one table of all. Give every item an id of its own.", "truth"
        )
    return table([("id", COLUMNS[settings.scoring.task], "Usage"), *sorted(rows)])


def sample(settings: Settings) -> str:
    """A valid submission: random numbers, or documents in a random order."""
    ids = sorted(row[0] for phase in settings.phases for row in rows_of(settings, phase))
    random = np.random.default_rng(0)
    if settings.scoring.task == "run":
        grades = [query for phase in settings.phases for query in read_judgments(phase.truth).values()]
        documents = np.array(sorted({document for query in grades for document in query}))
        return table(
            [("id", "documents"), *((each, " ".join(random.permutation(documents)[:LISTED])) for each in ids)]
        )
    numbers = random.normal(size=(len(ids), WIDTH)).astype(np.float32)
    return table([("id", *range(WIDTH)), *((each, *row) for each, row in zip(ids, numbers.tolist(), strict=True))])
