"""Kaggle: a bundle for it, and its metric called once for each part of the solution."""

import csv
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from tieproof.errors import InputError
from tieproof.kit import reading
from tieproof.trials.competition.hosting import Hosted, HostedPhase
from tieproof.trials.competition.inspection.tasks import Program, Task, Unpacker, files_by_name
from tieproof.trials.competition.platforms.files import LISTED, WIDTH, Files, last_line, printed_numbers
from tieproof.trials.competition.platforms.layout import BundlePlan, bundle_of
from tieproof.trials.competition.truth import GROUP, ID, LABEL, read_judgments, table

USAGES = ("Public", "Private")
"""Kaggle's names for the part that the leaderboard shows during the competition, and for the part that decides."""


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
    """The ids of a phase, with their truth.

    Labels and groups are replaced by numbers, because pandas reads 1 and 01 as equal, and NA as missing.
    """
    if phase.truth is None:
        judged = read_judgments(phase.judged)
        relevant = [
            " ".join(f"{document}={grade}" for document, grade in judged[query].items()) for query in phase.ids
        ]
        return {ID: phase.ids, "relevant": relevant}
    columns: dict[str, Sequence[object]] = {**phase.truth.columns}
    for name in (LABEL, GROUP):
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


MOST_BYTES = 500 * 10**6
"""The most bytes of a submission; a larger one is refused before anything reads it."""

DRIVER = """
import json, os, sys
import pandas as pd
metric, solution, submission, usage, most = sys.argv[1:]
namespace = {"__name__": "metric"}
exec(compile(open(metric).read(), metric, "exec"), namespace)
solution = pd.read_csv(solution)
try:
    size = os.path.getsize(submission)
    if size > int(most):
        sys.exit(f"Kaggle refuses the submission: it has {size:,} bytes, but at most {int(most):,} are allowed")
    submission = pd.read_csv(submission)
except Exception as error:
    sys.exit(f"Kaggle cannot read the submission as a table: {error}")
row_id = solution.columns[0]
if "Usage" in solution.columns:
    others = set(solution[row_id][solution["Usage"] != usage])
    solution = solution[solution["Usage"] == usage].drop(columns="Usage").reset_index(drop=True)
    submission = submission[[each not in others for each in submission[row_id]]].reset_index(drop=True)
found = namespace["score"](solution.copy(), submission.copy(), row_id)
print()
print(json.dumps({"score": float(found)}))
"""
"""Calls score(solution, submission, row_id) for the rows of one part; prints the answer."""

SAMPLES = ("data/sample_submission.csv", "sample_submission.csv")
METRIC, SUBMISSION = "/kaggle_metric", "/kaggle_submission"


def tasks(bundle: Path, unpack: Unpacker) -> list[Task]:
    """One task for each part of the solution, Public and Private, or one for all of it."""
    path = bundle / "solution.csv"
    with reading(path, "a table (.csv)"), path.open(encoding="utf-8-sig", newline="") as file:
        usages = sorted({row.get("Usage", "all") or "" for row in csv.DictReader(file)}, reverse=True) or ["all"]
    if "" in usages:
        raise InputError("solution.csv has a row without Usage. Give each row one, such as Public.", "bundle")
    sample = next((bundle / each for each in SAMPLES if (bundle / each).is_file()), None)
    public = files_by_name([bundle / "data"])
    return [
        Task(
            usage,
            sample,
            partial(_lay, bundle, usage),
            printed_numbers,
            "score",
            True,
            public,
            METRIC,
            lambda program, run: last_line(run.out),  # what the metric returned; Kaggle shows nothing that it printed
        )
        for usage in usages
    ]


def _lay(bundle: Path, usage: str, room: Path, submission: Path, place: str) -> Program:
    """The folders of a run: the metric with the solution, and the submission."""
    (room / "metric").mkdir()
    for name in ("metric.py", "solution.csv"):
        shutil.copyfile(bundle / name, room / "metric" / name)
    shutil.move(submission, room / "submission")
    (room / "work").mkdir()
    paths = [f"{METRIC}/metric.py", f"{METRIC}/solution.csv", f"{SUBMISSION}/{place}", usage, str(MOST_BYTES)]
    folders = {METRIC: room / "metric", SUBMISSION: room / "submission", "/kaggle_work": room / "work"}
    return Program(["python3", "-c", DRIVER, *paths], folders, "/kaggle_work")
