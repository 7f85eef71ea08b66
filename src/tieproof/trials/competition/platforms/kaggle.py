"""Kaggle: a bundle for it, and its metric called once for each part of the solution."""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tieproof.errors import InputError
from tieproof.kit import reading
from tieproof.trials.competition.hosting import Hosted, HostedPhase
from tieproof.trials.competition.inspection import tasks
from tieproof.trials.competition.platforms.layout import LISTED, WIDTH, BundlePlan, Files, bundle_of, text
from tieproof.trials.competition.truth import GROUP, ID, LABEL, read_judgments, table

USAGES = ("Public", "Private")  # the part that the leaderboard shows during the competition, and the one that decides


def files(settings: Hosted) -> Files:
    """All files of the bundle, by their paths in it."""
    if len(settings.phases) > len(USAGES):
        raise InputError(
            f"Kaggle has a public and a private part, but there are {len(settings.phases)} phases. Give one or two.",
            "phases",
        )
    return bundle_of("kaggle", settings, {"solution": _solution, "sample": _sample})


def _solution(plan: BundlePlan, *_: object) -> bytes:
    """The table that Kaggle keeps: the ids, their truth, and the part that they belong to."""
    phases = plan.settings.phases
    usages = USAGES[-len(phases) :]
    header: Sequence[str] = ()
    rows: list[Sequence[object]] = []
    for usage, phase in zip(usages, phases, strict=True):
        columns = _true_columns(phase)
        header = (*columns, "Usage")
        rows += [(*row, usage) for row in zip(*columns.values(), strict=True)]
    if len({row[0] for row in rows}) < len(rows):
        raise InputError(
            "An id occurs in two phases, but Kaggle has one table for all. Give every item an id of its own.", "truth"
        )
    return table([header, *sorted(rows, key=lambda row: str(row[0]))]).encode()


def _true_columns(phase: HostedPhase) -> dict[str, Sequence[object]]:
    """The ids of a phase, with their truth."""
    if phase.truth is None:
        judged = read_judgments(phase.judged)
        grades = (judged[query].items() for query in phase.ids)
        cells = [" ".join(f"{document}={grade}" for document, grade in pairs) for pairs in grades]
        return {ID: phase.ids, "relevant": cells}
    columns: dict[str, Sequence[object]] = {**phase.truth.columns}
    for name in (LABEL, GROUP):  # become numbers, because pandas reads 1 and 01 as equal, and NA as missing
        if name in columns:
            columns[name] = np.unique(np.array(columns[name]), return_inverse=True)[1].tolist()
    return columns


def _sample(plan: BundlePlan, *_: object) -> bytes:
    """A valid submission, with random numbers or with documents in random order."""
    phases, random = plan.settings.phases, np.random.default_rng(0)
    ids = sorted(each for phase in phases for each in phase.ids)
    if plan.settings.scoring.task == "run":
        grades = [query for phase in phases for query in read_judgments(phase.judged).values()]
        documents = np.array(sorted({document for query in grades for document in query}))
        lists = [(each, " ".join(random.permutation(documents)[:LISTED])) for each in ids]
        return table([("id", "documents"), *lists]).encode()
    numbers = random.normal(size=(len(ids), WIDTH)).astype(np.float32)
    rows = [(each, *row) for each, row in zip(ids, numbers.tolist(), strict=True)]
    return table([("id", *range(WIDTH)), *rows]).encode()


MOST_BYTES = 500 * 10**6  # the most bytes of a submission; a larger one is refused before anything reads it
SAMPLES = ("data/sample_submission.csv", "sample_submission.csv")
METRIC, PROGRAM = "/kaggle_metric", ("metric.py", "solution.csv")


def tasks_in(bundle: Path, unpack: tasks.Unpacker) -> list[tasks.Task]:
    """One task for each part of the solution, Public and Private, or one for all of it."""
    path = bundle / "solution.csv"
    with reading(path, "a table (.csv)"), path.open(encoding="utf-8-sig", newline="") as file:
        usages = sorted({row.get("Usage", "all") or "" for row in csv.DictReader(file)}, reverse=True) or ["all"]
    if "" in usages:
        raise InputError("solution.csv has a row without Usage. Give each row one, such as Public.")
    sample = next((bundle / each for each in SAMPLES if (bundle / each).is_file()), None)
    public, driver = tasks.files_by_name([bundle / "data"]), text("kaggle_driver.py.txt")
    command = ["python3", "-c", driver, *(f"{METRIC}/{name}" for name in PROGRAM), tasks.HANDED_IN]
    return [
        tasks.Task(
            usage,
            sample,
            [*command, usage, str(MOST_BYTES)],
            "/kaggle_work",
            {METRIC: None, "/kaggle_work": None, **{f"{METRIC}/{name}": bundle / name for name in PROGRAM}},
            "/kaggle_submission",
            tasks.printed_numbers,
            "score",
            True,
            public,
            METRIC,
            # What the metric returned; Kaggle shows nothing that it printed.
            lambda program, run: tasks.last_line(run.out),
        )
        for usage in usages
    ]
