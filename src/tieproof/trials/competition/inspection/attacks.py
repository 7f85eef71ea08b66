"""An attack of `check`, and the attacks by systems that look at no item: blind systems, and those that know one fact.

The blind systems are those of an audit. Other systems read labels off public facts: the order and names of items, and
the sizes or dates of their files. Such a submission knows one fact, and puts items near each other that are alike in
it.
"""

import csv
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from tieproof.kit import FloatArray
from tieproof.trials.audit import ATTACKS as AUDITED
from tieproof.trials.audit.systems import BlindSystem, Dice
from tieproof.trials.competition.inspection.forms import SubmissionForm
from tieproof.trials.findings import told

# What the score of an attack is compared with: random systems (blind, leak), the undamaged sample, whose score it
# must not exceed (damage) or must equal (same), or what is shown if a guess is the truth (guessing, climbing).
Kind = Literal["blind", "leak", "damage", "same", "guessing", "climbing"]


class Secret(NamedTuple):
    """The truth that the platform keeps: the path of its file in the folder of the truth, and its rows of cells."""

    place: Path = Path()
    rows: Sequence[list[str]] = ()  # none if there is no file that could be changed


def secret_in(folder: Path) -> Secret:
    """The only table in the folder of the truth: a .csv, or a .txt with cells separated by spaces."""
    tables = [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in (".csv", ".txt")]
    with suppress(ValueError, csv.Error):
        (path,) = tables
        text = path.read_text(encoding="utf-8-sig", errors="replace")
        lines = [line for line in text.splitlines() if line.strip()]
        rows = list(csv.reader(lines)) if path.suffix.lower() == ".csv" else [line.split() for line in lines]
        return Secret(path.relative_to(folder), rows)
    return Secret()


class Material(NamedTuple):
    """The material of an attack's submission."""

    form: SubmissionForm  # of the sample
    random: np.random.Generator
    public: Mapping[str, Path]  # the files that participants get, by name; empty if the bundle has none
    task: str = ""
    secret: Secret = Secret()  # only guesses use it


WriteSubmission = Callable[[Path], object]  # a function that writes a submission into an empty folder


class FileAttack(NamedTuple):
    """One kind of submission that must gain nothing.

    name : as reports and options spell it
    make : makes the submission; None if what it needs is unknown
    does : the submission, in words
    why : the reason why it must gain nothing
    fixed : whether it contains no random numbers
    only : the name in `WHERE` of the samples whose form allows it
    """

    name: str
    make: Callable[[Material], WriteSubmission | None]
    does: str
    why: str
    kind: Kind = "damage"
    fixed: bool = True
    only: str = "everywhere"

    def submission(self, material: Material) -> WriteSubmission | None:
        """What writes the submission; None if the form of the sample does not allow it."""
        return self.make(material) if WHERE[self.only](material.form) else None


WHERE: dict[str, Callable[[SubmissionForm], bool]] = {
    "everywhere": lambda form: True,
    "ids": lambda form: form.names_rows,
    "vectors": lambda form: not form.is_run,
    "arrays": lambda form: not form.is_run and form.place.endswith((".npy", ".npz")),
    ".npy": lambda form: form.place.endswith(".npy"),
}
"""The samples that an attack applies to, by the names that attacks.toml has for them."""


def _make_blindly(system: BlindSystem, material: Material) -> WriteSubmission:
    """A submission of a blind system's rows: vectors, or the scores of a run."""
    count, width = material.form.rows.shape
    dice = Dice(material.random, "scores" if material.form.is_run else "leave-one-out", count)
    return material.form.handing_in(material.form.ids, system(dice, count, width))


random_system = partial(_make_blindly, Dice.plain)  # makes what the submissions of blind systems are compared with

BLIND = [
    FileAttack(attack.name, partial(_make_blindly, attack.rows), attack.does, attack.why, "blind", attack.fixed)
    for attack in AUDITED.values()
    if attack.rows is not None and not (attack.thorough or attack.wide)
]
"""The attacks by the blind systems of an audit."""

ARC = 1.0  # the angle over which ranks are spread, in radians; neighboring ranks are near under every distance
Fact = Callable[[Material], FloatArray | None]  # a number for each row, near for alike items; None if unknown


def _make_knowing(fact: Fact, material: Material) -> WriteSubmission | None:
    """A submission that knows one fact about each item; None if it is unknown."""
    if material.form.is_run:
        scores = _pairs(material, fact)
        return None if scores is None else material.form.handing_in(material.form.ids, scores[:, None])
    values = fact(material)
    if values is None:
        return None
    angles = ARC * _shares_of(values)
    rows = np.zeros((len(values), max(material.form.rows.shape[1], 2)))
    rows[:, 0], rows[:, 1] = np.cos(angles), np.sin(angles)
    return material.form.handing_in(material.form.ids, rows)


def _shares_of(values: FloatArray) -> FloatArray:
    """The ranks of values as shares of the largest rank; equal values have equal ranks."""
    _, ranks = np.unique(values, return_inverse=True)
    shares: FloatArray = ranks / max(ranks.max(), 1)
    return shares


def _pairs(material: Material, fact: Fact) -> FloatArray | None:
    """Scores of documents for queries, from how near the ranks of the two are in the fact."""
    form = material.form
    queries, documents = zip(*(each.split(" ", 1) for each in form.ids), strict=True)
    sides = []
    for names in (queries, documents):
        distinct = list(dict.fromkeys(names))
        values = fact(material._replace(form=form._replace(ids=tuple(distinct))))
        if values is None:
            return None
        share = dict(zip(distinct, _shares_of(values).tolist(), strict=True))
        sides.append(np.array([share[name] for name in names]))
    scores: FloatArray = -np.abs(sides[0] - sides[1])
    return scores


def _numbers_in_names(material: Material) -> FloatArray | None:
    numbers = [re.findall(r"\d+", name) for name in material.form.ids]
    if not material.form.names_rows or not all(numbers):
        return None
    return np.array([float(each[-1][-15:]) for each in numbers])


def _beginnings(cut: Callable[[str], str], material: Material) -> FloatArray | None:
    """A number for each beginning of a name; None if all of these are equal, or all are different."""
    words = list(map(cut, material.form.ids))
    distinct = sorted(set(words))
    if not material.form.names_rows or not 1 < len(distinct) < len(words):
        return None
    return np.array([float(distinct.index(word)) for word in words])


def _of_files(material: Material, measured: Callable[[os.stat_result], float]) -> FloatArray | None:
    """A number for each item's file; None if an item has no public file with its name, or all numbers are equal."""
    files = [file for name in material.form.ids if (file := material.public.get(name)) is not None]
    if len(files) < len(material.form.ids):
        return None
    values = np.array([float(measured(file.stat())) for file in files])
    return values if len(set(values.tolist())) > 1 else None


FACTS: dict[str, Fact] = {
    "order of the items": lambda material: np.arange(len(material.form.ids), dtype=np.float64),
    "numbers in names": _numbers_in_names,
    "words in names": partial(_beginnings, lambda name: re.split(r"[\d_\-./ ]", name, maxsplit=1)[0]),
    "first letters": partial(_beginnings, lambda name: name[:1]),
    "file sizes": lambda material: _of_files(material, lambda status: status.st_size),
    "file dates": lambda material: _of_files(material, lambda status: status.st_mtime),
}

# The attacks by one public fact.
LEAKS = [FileAttack(name, partial(_make_knowing, fact), **told(name, "check")) for name, fact in FACTS.items()]
