"""Bundles for Kaggle: the metric is called once for each part of the solution."""

import csv
import json
import shutil
from functools import partial
from pathlib import Path

from tieproof.competition.inspection.platforms.drivers import KAGGLE, last_line
from tieproof.competition.inspection.process import Ended, Layout
from tieproof.competition.inspection.tasks import Numbers, Task, as_numbers, files_by_name

SAMPLES = ("data/sample_submission.csv", "sample_submission.csv")
METRIC, SUBMISSION = "/kaggle_metric", "/kaggle_submission"


def tasks(bundle: Path, room: Path) -> list[Task]:
    """One task for each part of the solution, Public and Private, or one for all of it."""
    with (bundle / "solution.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    usages = sorted({row["Usage"] for row in rows}, reverse=True) if rows and "Usage" in rows[0] else ["all"]
    sample = next((bundle / each for each in SAMPLES if (bundle / each).is_file()), None)
    public = files_by_name([bundle / "data"])
    return [
        Task(usage, sample, partial(lay, bundle, usage), numbers, "score", True, public, METRIC, shown)
        for usage in usages
    ]


def lay(bundle: Path, usage: str, room: Path, submission: Path, place: str) -> Layout:
    """The folders of a run: the metric with the solution, and the submission."""
    (room / "metric").mkdir()
    for name in ("metric.py", "solution.csv"):
        shutil.copyfile(bundle / name, room / "metric" / name)
    shutil.move(submission, room / "submission")
    (room / "work").mkdir()
    paths = [f"{METRIC}/metric.py", f"{METRIC}/solution.csv", f"{SUBMISSION}/{place}", usage]
    folders = {METRIC: room / "metric", SUBMISSION: room / "submission", "/kaggle_work": room / "work"}
    return Layout(["python3", "-c", KAGGLE, *paths], folders, "/kaggle_work")


def shown(layout: Layout, ended: Ended) -> str:
    """The number that the metric returned; Kaggle shows nothing that it printed."""
    return last_line(ended.out)


def numbers(layout: Layout, out: str) -> Numbers:
    """The number that the metric returned."""
    return as_numbers(json.loads(last_line(out)))
