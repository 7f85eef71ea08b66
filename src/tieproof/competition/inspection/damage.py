"""Attacks by a changed sample: the submission may be refused, but must not gain."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from tieproof.competition.inspection.attacks import FileAttack, Handed, Kind, Material, register
from tieproof.competition.inspection.moulds import Mould
from tieproof.ties import Array

KEPT = 10
"""One in this many items is kept."""

WIDE, MOST_NUMBERS = 100_000, 50_000_000
"""The dimensions of vectors that are too wide, and the most numbers in all of them together."""

Changed = Callable[[Material], tuple[Sequence[str], Array] | None]
"""A function that returns other ids and rows; None if the form of the sample does not allow them."""


def changed(name: str, change: Changed, does: str, why: str, kind: Kind = "damage") -> None:
    """Register an attack by the sample with other ids or rows."""

    def make(material: Material) -> Handed | None:
        found = change(material)
        if found is None:
            return None
        ids, rows = found

        def write(folder: Path) -> None:
            place = folder / material.mould.place
            place.parent.mkdir(parents=True, exist_ok=True)
            material.mould.write(place, ids, rows)

        return write

    register(FileAttack(name, kind, does, why, make))


def unit(mould: Mould, name: str) -> str:
    """The item of a row or, for runs, its query."""
    return name.partition(" ")[0] if mould.is_run else name


def missing(material: Material) -> tuple[Sequence[str], Array]:
    """One in ten of the items, or of the queries."""
    mould = material.mould
    units = sorted({unit(mould, name) for name in mould.ids})
    kept = set(units[:: max(1, min(KEPT, len(units) // 2))])
    rows = [at for at, name in enumerate(mould.ids) if unit(mould, name) in kept]
    return [mould.ids[at] for at in rows], mould.rows[rows]


def one_missing(material: Material) -> tuple[Sequence[str], Array]:
    """All but the last row."""
    return material.mould.ids[:-1], material.mould.rows[:-1]


def duplicates(material: Material) -> tuple[Sequence[str], Array]:
    """Every row twice."""
    mould = material.mould
    return [*mould.ids, *mould.ids], np.concatenate([mould.rows, mould.rows])


def contradicting(material: Material) -> tuple[Sequence[str], Array] | None:
    """Every id twice, with other numbers."""
    mould = material.mould
    if not mould.names_rows:
        return None
    return [*mould.ids, *mould.ids], np.concatenate([mould.rows, -mould.rows[::-1]])


def strangers(material: Material) -> tuple[Sequence[str], Array] | None:
    """The rows, and as many more for items or queries that are not in the test set."""
    mould = material.mould
    if not mould.names_rows:
        return None
    count = len(mould.ids)
    digits = all(name.isdigit() for name in mould.ids)
    longest = max(map(int, mould.ids)) + 1 if digits else 0
    names = [
        str(longest + at) if digits else f"stranger{at} d{at}" if mould.is_run else f"stranger{at}"
        for at in range(count)
    ]
    return [*mould.ids, *names], np.concatenate([mould.rows, mould.rows[::-1]])


def shuffled(material: Material) -> tuple[Sequence[str], Array] | None:
    """The rows in another order."""
    mould = material.mould
    if not mould.names_rows:
        return None
    order = material.random.permutation(len(mould.ids))
    return [mould.ids[at] for at in order], mould.rows[order]


def copy(material: Material) -> tuple[Sequence[str], Array]:
    """The rows in another order, if they have ids, with all numbers times two."""
    ids, rows = shuffled(material) or (material.mould.ids, material.mould.rows)
    return ids, rows * 2


def rotated(material: Material) -> tuple[Sequence[str], Array] | None:
    """The dimensions in reverse."""
    mould = material.mould
    return None if mould.is_run else (mould.ids, mould.rows[:, ::-1])


def texts(material: Material) -> tuple[Sequence[str], Array] | None:
    """Texts in place of numbers."""
    mould = material.mould
    return None if mould.is_run else (mould.ids, np.full(mould.rows.shape, "one"))


def wide(material: Material) -> tuple[Sequence[str], Array] | None:
    """The sample with zeros appended to every vector."""
    mould = material.mould
    if mould.is_run or not mould.place.endswith((".npy", ".npz")):
        return None
    zeros = np.zeros((len(mould.ids), min(WIDE, MOST_NUMBERS // len(mould.ids))), dtype=mould.rows.dtype)
    return mould.ids, np.concatenate([mould.rows, zeros], axis=1)


FEWER = "Among fewer items, relevant items are easier to find; leaving items out must not gain."
TWICE = "An item that occurs twice finds its own copy; that must not gain."
ASKED = "The competition does not ask for this."

changed("missing ids", missing, "one in ten of the items or queries", FEWER)
changed("one missing", one_missing, "all rows but one", FEWER)
changed("duplicate ids", duplicates, "every row twice", TWICE)
changed("contradicting ids", contradicting, "every id twice, with other numbers", TWICE)
changed("additional ids", strangers, "as many more ids that are not in the test set", ASKED)
changed("wrong types", texts, "texts instead of numbers", ASKED)
changed("too wide", wide, f"vectors of {WIDE:,} dimensions, almost all of them zeros", ASKED)
changed("other order", shuffled, "the rows in another order", "The order of rows must not matter.", "same")
changed("copy", copy, "a copy in another order, with all numbers doubled", "A copy must not gain.", "same")
changed("other dimensions", rotated, "the dimensions in reverse order", "Distances do not change.", "same")
