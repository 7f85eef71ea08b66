"""Whether labels can be read off what everybody sees: the order of the items, their names, the sizes of their files.

Each submission knows nothing else, and puts items near each other that are alike in it.
"""

import re
from collections.abc import Callable, Sequence

import numpy as np

from tieproof.competition.inspection.attacks import FileAttack, Handed, Material, register
from tieproof.competition.inspection.blind_systems import write
from tieproof.ties import Array, FloatArray

ARC = 1.0
"""Radians over which ranks are laid out: neighbours are near under every distance."""

Seen = Callable[[Material], FloatArray | None]
"""A number for each row, alike where what is seen of the items is alike; None where nothing is seen."""


def leak(name: str, seen: Seen, does: str, why: str) -> None:
    """Register a submission that knows one thing of each item."""

    def make(material: Material) -> Handed | None:
        values = pairs(material, seen) if material.mould.is_run else seen(material)
        if values is None:
            return None
        rows = values[:, None] if material.mould.is_run else on_arc(values, material.mould.rows.shape[1])
        return lambda folder: write(material, rows, folder)

    register(FileAttack(name, "leak", does, why, make))


def on_arc(values: FloatArray, width: int) -> Array:
    """Vectors whose directions, and places, are in the order of the values; equal values are equal."""
    _, ranks = np.unique(values, return_inverse=True)
    angles = ARC * ranks / max(ranks.max(), 1)
    rows = np.zeros((len(values), max(width, 2)))
    rows[:, 0], rows[:, 1] = np.cos(angles), np.sin(angles)
    return rows


def pairs(material: Material, seen: Seen) -> FloatArray | None:
    """Scores of documents for queries: how alike the ranks of the two are in what is seen."""
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
    """The place of each item in the order of the sample."""
    return np.arange(len(material.mould.ids), dtype=np.float64)


def numbers_in_names(material: Material) -> FloatArray | None:
    """The last number in each name."""
    found = [re.findall(r"\d+", name) for name in material.mould.ids]
    if not material.mould.names_rows or not all(found):
        return None
    return np.array([float(each[-1][-15:]) for each in found])


def words_of_names(material: Material) -> FloatArray | None:
    """What each name begins with: its letters up to the first digit, or all but its last part."""
    return kinds_of(material, [re.split(r"[\d_\-./ ]", name, maxsplit=1)[0] for name in material.mould.ids])


def beginnings(material: Material) -> FloatArray | None:
    """The first letter of each name."""
    return kinds_of(material, [name[:1] for name in material.mould.ids])


def kinds_of(material: Material, words: Sequence[str]) -> FloatArray | None:
    """A number for each word; None where all words are alike, or as many as there are items."""
    distinct = sorted(set(words))
    if not material.mould.names_rows or not 1 < len(distinct) < len(words):
        return None
    return np.array([float(distinct.index(word)) for word in words])


def sizes(material: Material) -> FloatArray | None:
    """The size of the file of each item, where each has one that is called as it is."""
    return of_files(material, lambda path: float(path.stat().st_size))


def dates(material: Material) -> FloatArray | None:
    """When the file of each item was changed last."""
    return of_files(material, lambda path: float(path.stat().st_mtime))


def of_files(material: Material, measured: Callable[..., float]) -> FloatArray | None:
    """A number for the file of each item; None where there are no files, or all are alike."""
    files = [material.public.get(name) for name in material.mould.ids]
    known = [file for file in files if file is not None]
    if len(known) < len(files):
        return None
    values = np.array([measured(file) for file in known])
    return values if len(set(values.tolist())) > 1 else None


CARRIES = "What everybody sees of an item must not tell its label."

leak("order of the items", positions, "items near each other in the list are near each other", CARRIES)
leak("numbers in names", numbers_in_names, "items with near numbers in their names are near each other", CARRIES)
leak("words in names", words_of_names, "items whose names begin with the same word are the same", CARRIES)
leak("first letters", beginnings, "items whose names begin with the same letter are the same", CARRIES)
leak("file sizes", sizes, "items whose files have about the same size are near each other", CARRIES)
leak("file dates", dates, "items whose files were changed at about the same time are near each other", CARRIES)
