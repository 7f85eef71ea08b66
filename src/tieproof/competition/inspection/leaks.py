"""Attacks that read labels off public facts: the order and names of items, and the sizes or dates of their files.

Each submission knows only one such fact, and puts items near each other that are alike in it.
"""

import re
from collections.abc import Callable, Sequence

import numpy as np

from tieproof.competition.inspection.attacks import FileAttack, Handed, Material, register
from tieproof.competition.inspection.blind_systems import write
from tieproof.ties import Array, FloatArray

ARC = 1.0
"""The angle, in radians, over which ranks are spread, so that neighbouring ranks are near under every distance."""

Seen = Callable[[Material], FloatArray | None]
"""A function that returns a number for each row, near for items that are alike in a fact; None if it is unknown."""


def leak(name: str, seen: Seen, does: str, why: str) -> None:
    """Register an attack that knows one fact about each item."""

    def make(material: Material) -> Handed | None:
        values = pairs(material, seen) if material.mould.is_run else seen(material)
        if values is None:
            return None
        rows = values[:, None] if material.mould.is_run else on_arc(values, material.mould.rows.shape[1])
        return lambda folder: write(material, rows, folder)

    register(FileAttack(name, "leak", does, why, make))


def on_arc(values: FloatArray, width: int) -> Array:
    """Vectors whose directions are in the order of the values; equal values get equal vectors."""
    _, ranks = np.unique(values, return_inverse=True)
    angles = ARC * ranks / max(ranks.max(), 1)
    rows = np.zeros((len(values), max(width, 2)))
    rows[:, 0], rows[:, 1] = np.cos(angles), np.sin(angles)
    return rows


def pairs(material: Material, seen: Seen) -> FloatArray | None:
    """Scores of documents for queries, from how near the ranks of the two are in the fact."""
    mould = material.mould
    queries, documents = zip(*(each.split(" ", 1) for each in mould.ids), strict=True)
    sides = []
    for names in (queries, documents):
        distinct = list(dict.fromkeys(names))
        values = seen(material._replace(mould=mould._replace(ids=tuple(distinct))))
        if values is None:
            return None
        _, ranks = np.unique(values, return_inverse=True)
        share = dict(zip(distinct, (ranks / max(ranks.max(), 1)).tolist(), strict=True))
        sides.append(np.array([share[name] for name in names]))
    scores: FloatArray = -np.abs(sides[0] - sides[1])
    return scores


def positions(material: Material) -> FloatArray:
    """The position of each item in the sample."""
    return np.arange(len(material.mould.ids), dtype=np.float64)


def numbers_in_names(material: Material) -> FloatArray | None:
    """The last number in each name."""
    found = [re.findall(r"\d+", name) for name in material.mould.ids]
    if not material.mould.names_rows or not all(found):
        return None
    return np.array([float(each[-1][-15:]) for each in found])


def words_of_names(material: Material) -> FloatArray | None:
    """The beginning of each name, up to the first digit or separator, as a number."""
    return kinds_of(material, [re.split(r"[\d_\-./ ]", name, maxsplit=1)[0] for name in material.mould.ids])


def beginnings(material: Material) -> FloatArray | None:
    """The first letter of each name, as a number."""
    return kinds_of(material, [name[:1] for name in material.mould.ids])


def kinds_of(material: Material, words: Sequence[str]) -> FloatArray | None:
    """A number for each word; None if all words are equal, or all are different."""
    distinct = sorted(set(words))
    if not material.mould.names_rows or not 1 < len(distinct) < len(words):
        return None
    return np.array([float(distinct.index(word)) for word in words])


def sizes(material: Material) -> FloatArray | None:
    """The size of each item's file, if each item has a public file with its name."""
    return of_files(material, lambda path: float(path.stat().st_size))


def dates(material: Material) -> FloatArray | None:
    """The time when each item's file was last changed."""
    return of_files(material, lambda path: float(path.stat().st_mtime))


def of_files(material: Material, measured: Callable[..., float]) -> FloatArray | None:
    """A number for each item's file; None if an item has no file, or all numbers are equal."""
    files = [material.public.get(name) for name in material.mould.ids]
    known = [file for file in files if file is not None]
    if len(known) < len(files):
        return None
    values = np.array([measured(file) for file in known])
    return values if len(set(values.tolist())) > 1 else None


CARRIES = "Public facts about an item must not reveal its label."

leak("order of the items", positions, "near vectors for items that are near in the list", CARRIES)
leak("numbers in names", numbers_in_names, "near vectors for items with near numbers in their names", CARRIES)
leak("words in names", words_of_names, "equal vectors for items whose names begin with the same word", CARRIES)
leak("first letters", beginnings, "equal vectors for items whose names begin with the same letter", CARRIES)
leak("file sizes", sizes, "near vectors for items whose files have about the same size", CARRIES)
leak("file dates", dates, "near vectors for items whose files were changed at about the same time", CARRIES)
