"""Small competitions: files for `tieproof.trials.competition.new`, and a bundle as an organizer writes it by hand."""

import csv
import io
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

SETTINGS = """
title = "Letters & <digits>"
task = "{task}"
measures = ["AP", "P@1"]
dimensions = 64

[platform]
description = "Find items of the same class."
organizer = "Jane Doe"
contact = "jane@example.org"
image = "docker.io/jane/scoring:1"
submissions_per_day = 3
megabytes = 1
"""

PHASE = """
[[phases]]
name = "{name}"
start = {start}
end = {end}
{truth}
items = "{items}"
"""

TIMES = {"Development": ("2027-01-10", "2027-02-10"), "Final": ("2027-02-11T12:30:00", "2027-02-20")}


def competition(folder: Path, phases: Sequence[str] = ("Final",), items: int = 40, classes: int = 4) -> Path:
    """A competition of embeddings; ids are drawn at random, and the table of labels is sorted by class."""
    random = np.random.default_rng(3)
    text = SETTINGS.format(task="embeddings")
    for name in phases:
        ids = [random.bytes(5).hex() for _ in range(items)]
        write_table(
            folder / f"{name}.csv", [("id", "label"), *((each, at * classes // items) for at, each in enumerate(ids))]
        )
        (folder / f"{name}_items").mkdir()
        for each in ids:
            (folder / f"{name}_items" / f"{each}.txt").write_text("a text of the same length as the others")
        start, end = TIMES[name]
        text += PHASE.format(name=name, start=start, end=end, truth=f'labels = "{name}.csv"', items=f"{name}_items")
    return written(folder, text)


def competition_of_runs(folder: Path) -> Path:
    """A competition of runs: 12 queries, each with 3 of 36 documents, all of them judged."""
    lines = [f"q{query} 0 d{at:02} {int(at // 3 == query)}" for query in range(12) for at in range(36)]
    (folder / "qrels.txt").write_text("\n".join(lines) + "\n")
    (folder / "queries.txt").write_text("some queries\n")
    text = SETTINGS.format(task="run")
    return written(
        folder,
        text
        + PHASE.format(
            name="Final", start="2027-01-01", end="2027-01-02", truth='qrels = "qrels.txt"', items="queries.txt"
        ),
    )


def written(folder: Path, text: str) -> Path:
    path = folder / "competition.toml"
    path.write_text(text)
    return path


def write_table(path: Path, rows: Sequence[Sequence[object]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)


# A typical script of organizers: a ranking by argsort, with ties in the order of the file.
USUAL_SCRIPT = """
import os, sys, zipfile
import numpy as np
{before}
given, made = sys.argv[1:]
labels = np.loadtxt(os.path.join(given, "ref", "labels.txt"), dtype=int)
x = {load}
x = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
distances = 1 - x @ x.T
np.fill_diagonal(distances, np.inf)
scores = []
for query, row in enumerate(distances):
    order = np.argsort(row, kind="stable")[:-1]
    found = labels[order] == labels[query]
    precision = np.cumsum(found) / np.arange(1, len(found) + 1)
    scores.append(precision[found].mean())
with open(os.path.join(made, "scores.json"), "w") as file:
    file.write('{{"map": %r}}' % float(np.mean(scores)))
"""

LOAD = 'np.load(os.path.join(given, "res", "x.npy"){more}).astype(float)'

USUAL_YAML = """
version: 2
title: By hand
image: logo.png
terms: terms.md
pages: [{title: Overview, file: terms.md}]
tasks: [{index: 0, name: Only, scoring_program: program.zip, reference_data: truth/}]
solutions: [{index: 0, path: good/, tasks: [0]}]
phases: [{index: 0, name: Only, start: 2027-01-10, tasks: [0]}]
leaderboards: [{title: Results, key: main, columns: [{title: mAP, key: map, index: 0, sorting: desc}]}]
"""


def by_hand(folder: Path, in_order: bool = True, before: str = "", more: str = "") -> Path:
    """A bundle for Codabench with the usual script.

    in_order : whether the items are sorted by class
    before : lines of the script before it reads anything
    more : further arguments of np.load
    """
    random = np.random.default_rng(5)
    labels = np.repeat(np.arange(4), 10)
    labels = labels if in_order else random.permutation(labels)
    bundle = folder / "by_hand"
    for name in ("truth", "good"):
        (bundle / name).mkdir(parents=True)
    np.savetxt(bundle / "truth" / "labels.txt", labels, fmt="%d")
    np.save(bundle / "good" / "x.npy", random.normal(size=(40, 8)).astype(np.float32))
    (bundle / "competition.yaml").write_text(USUAL_YAML)
    program = io.BytesIO()
    with zipfile.ZipFile(program, "w") as archive:
        archive.writestr("score.py", USUAL_SCRIPT.format(before=before, load=LOAD.format(more=more)))
        archive.writestr("metadata", "command: python $program/score.py $input $output\n")
    (bundle / "program.zip").write_bytes(program.getvalue())
    return bundle
