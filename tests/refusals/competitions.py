"""Competitions that cannot be held, systems that cannot be judged, and answers that cannot be scored."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import tieproof as tp
from competitions import LABELS, organize
from refusals.case import Case
from tieproof.trials.judge import Competition, judge, leaderboard


def read(spoil: Callable[[str], str] = str, **entries: Any) -> Callable[[Path], object]:
    """Read the file of a competition with other entries, or after a change of its text."""

    def call(folder: Path) -> object:
        place = organize(folder, **entries)
        place.write_text(spoil(place.read_text()))
        return Competition.read(place)

    return call


def judged(system: Any = "cat {lines}", spoil: Callable[[Path], object] = lambda folder: None, **entries: Any) -> Any:
    """Judge a system by a competition whose files are changed."""

    def call(folder: Path) -> object:
        place = organize(folder, **entries)
        spoil(folder)
        return judge(place, system, name="ours", out=folder / "judged")

    return call


def answers(values: Any, labels: Any = (0, 0, 1), **options: Any) -> Callable[[], tp.Result]:
    return lambda: tp.evaluate_answers(values, labels, **options)


def without_a_label(folder: Path) -> None:
    (folder / "labels.txt").write_text("".join(f"{label}\n" for label in LABELS[:-1]))


def tables(folder: Path) -> None:
    """Items and labels as tables with ids."""
    for name, column in (("items", "length"), ("labels", "label")):
        rows = "".join(f"{at},{at if name == 'items' else label}\n" for at, label in enumerate(LABELS))
        (folder / f"{name}.csv").write_text(f"id,{column}\n{rows}")


def unlabelled_folder(folder: Path) -> object:
    (folder / "images").mkdir()
    for name in ("a.png", "b.png"):
        (folder / "images" / name).touch()
    (folder / "images.csv").write_text("id,label\na,cat\n")
    return judged(phases_items="images", phases_labels="images.csv")(folder)


def two_boards(folder: Path) -> object:
    tp.evaluate(np.eye(4), [0, 0, 1, 1]).save(folder / "a.tieproof")
    tp.evaluate(np.eye(6), [0, 0, 1, 1, 2, 2]).save(folder / "b.tieproof")
    return leaderboard(folder)


CASES: dict[str, Case] = {
    "a competition file that is not valid TOML": Case(
        read(lambda text: "title = 'Words\n"),
        r"competition.toml is not valid TOML: .*\. Correct it there",
        in_folder=True,
    ),
    "a phase without labels": Case(
        read(phases_labels=None), r"has phases\[1\] without labels\. The task embeddings needs", in_folder=True
    ),
    "a misspelled key of the judge": Case(
        read(judge_second=5), r"has the unknown key judge\.second\. Did you mean judge\.seconds\?", in_folder=True
    ),
    "a string as judge.batch": Case(
        read(judge_batch="ten"), r"has judge\.batch = 'ten'\. Give a whole number of at least 1", in_folder=True
    ),
    "true as judge.batch": Case(
        read(judge_batch=True), r"has judge\.batch = True\. Give a whole number of at least 1", in_folder=True
    ),
    "judge.batch = 0": Case(
        read(judge_batch=0), r"has judge\.batch = 0\. Give a whole number of at least 1", in_folder=True
    ),
    "judge.seconds = 0": Case(
        read(judge_seconds=0), r"has judge\.seconds = 0\. Give a number of seconds above 0", in_folder=True
    ),
    "an unknown measure of a competition": Case(
        read(measures=["APP"]), r"has measures = \['APP'\]: Unknown measure 'APP'", in_folder=True
    ),
    "an unknown distance of a competition": Case(
        read(distance="manhatan"), r"competition\.toml has distance = 'manhatan': ", in_folder=True
    ),
    "the task distances with the key distance": Case(
        read(task="distances"),
        r"has the task distances and a distance, which applies only to embeddings",
        in_folder=True,
    ),
    "judge.symmetric with the task embeddings": Case(
        read(judge_symmetric=True), r"has judge\.symmetric, which only the task distances", in_folder=True
    ),
    "a phase whose gallery has no labels": Case(
        read(phases_gallery="gallery.txt"),
        r"has phases\[1\]\.gallery without gallery_labels\. Give both, or neither",
        in_folder=True,
    ),
    "the task run, passed to the judge": Case(
        judged(task="run", distance=None, phases_labels=None, phases_qrels="qrels.txt"),
        r"a judge asks systems for embeddings or distances\. Let participants hand in runs on a platform",
        in_folder=True,
    ),
    "a competition without a seed": Case(
        judged(judge_seed=None), r"lacks the key judge\.seed\. Give a file with a secret", in_folder=True
    ),
    "a phase without items, passed to the judge": Case(
        judged(phases_items=None),
        r"lacks the key phases\[1\]\.items\. Give its file; the judge needs it",
        in_folder=True,
    ),
    "the name of a phase that does not exist": Case(
        lambda folder: judge(organize(folder), "cat {lines}", name="ours", phase="First"),
        r"has no phase 'First'\. Give the name of the phase to judge: Final",
        in_folder=True,
    ),
    "a seed of two characters": Case(
        judged(spoil=lambda folder: (folder / "seed.txt").write_text("42\n")),
        r"The seed in .* has 2 characters, which can be guessed",
        in_folder=True,
    ),
    "a seed file that does not exist": Case(
        judged(spoil=lambda folder: (folder / "seed.txt").unlink()),
        r"The seed .*seed.txt cannot be read .* Make one and keep it",
        in_folder=True,
    ),
    "fewer labels than items in a test set": Case(
        judged(spoil=without_a_label), r"has labels of shape \(11,\), but .* has 12 items", in_folder=True
    ),
    "an image file without a label": Case(
        unlabelled_folder, r"'b' of .*images has no label in .*images\.csv", in_folder=True
    ),
    "a test set in which no two labels are equal": Case(
        judged(spoil=lambda folder: (folder / "labels.txt").write_text("".join(f"{at}\n" for at in range(12)))),
        r"No query has a relevant item",
        in_folder=True,
    ),
    "a JSON file as items": Case(
        judged(phases_items="labels.json"), r"must be a folder, or a file of lines \(\.txt\), of rows", in_folder=True
    ),
    "a system command without {items} or {lines}": Case(
        judged("cat"), r"The system must have \{items\} or \{lines\}", in_folder=True
    ),
    "a system command with the field {labels}": Case(
        judged("cat {items} {labels}"), r"and no fields other than \{items\}, \{lines\}", in_folder=True
    ),
    "rows of an array for a system command with {lines}": Case(
        judged(spoil=lambda folder: np.save(folder / "rows.npy", np.eye(12)), phases_items="rows.npy"),
        r"The system has \{lines\}, but items of .*rows\.npy contain line breaks, .* Put \{items\}, the path",
        in_folder=True,
    ),
    "a table of numbers for a system command with {lines}": Case(
        judged(spoil=tables, phases_items="items.csv", phases_labels="labels.csv"),
        r"The system has \{lines\}, but items of .*items\.csv contain line breaks",
        in_folder=True,
    ),
    "a system whose program does not exist": Case(
        judged("./absent {items}"), r"The program './absent' of the system does not exist", in_folder=True
    ),
    "options for podman in place of an image": Case(
        judged("podman:--privileged image {lines}"),
        r"The image '--privileged' is not the name of an image, as in podman:registry",
        in_folder=True,
    ),
    "a system command without {pairs} for the task distances": Case(
        judged(task="distances", distance=None), r"asks for distances, but the system lacks \{pairs\}", in_folder=True
    ),
    "a lambda function as system": Case(
        judged(lambda texts: texts), r"has no name by which another process could import it", in_folder=True
    ),
    "a number as system": Case(judged(7), r"The system must be a command, .* not 7", in_folder=True),
    "a leaderboard of records with different queries": Case(
        two_boards, r"2 of 6 queries of 'b' are missing from 'a'", in_folder=True
    ),
    "a leaderboard with data of an unknown record": Case(
        lambda: leaderboard(
            {"ours": tp.evaluate(np.eye(4), [0, 0, 1, 1])}, verify={"base": {"embeddings": np.eye(4)}}
        ),
        "verify has data for 'base', but the records are ours",
    ),
    "a leaderboard with data of another kind": Case(
        lambda: leaderboard({"ours": tp.evaluate(np.eye(4), [0, 0, 1, 1])}, verify={"ours": {"qrels": {}}}),
        "The data of 'ours': This is a record of evaluate, which needs one or two arguments",
    ),
    "answers with a distance function": Case(
        answers([[1.0], [2.0], [3.0]], distance=lambda x, y: x @ y.T),
        r"The distance of answers must be the name of a distance, not a function",
    ),
    "answers with labels in columns": Case(
        answers([[1.0], [2.0], [3.0]], [[1, 0], [0, 1], [1, 1]]), r"must have the shape \(n,\), but have 2 dimensions"
    ),
    "Hamming distance for answers with numbers other than 0 and 1": Case(
        answers([[1.0], [2.0], [3.0]], distance="hamming"),
        r"compared bit by bit, but contain numbers other than 0 and 1",
    ),
}
