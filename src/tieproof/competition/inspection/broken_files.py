"""Attacks by invalid files and by a changed sample: a submission may be refused, but must not gain."""

import io
import os
import pickle
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

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


MARK = "was_executed_by_a_submission"
"""The file that the pickle creates if it is loaded."""

EXECUTED = f"""
import os
for folder in ("/app/output", "/output", "."):
    try:
        open(os.path.join(folder, {MARK!r}), "w").close()
    except OSError:
        pass
"""

GIANT = 64 * 10**9
"""The apparent size of a giant file in bytes; they are not stored."""

CLIMBED, INSIDE = "climbed_out_of_a_submission", "stayed_in_a_submission"
"""Two files of an archive: the path of the first leads out of its folder."""

STEPS = "../" * 8


class Payload:
    """An object that creates a file when it is unpickled; a real attack could do anything instead."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Create a file in the folder where the program runs, and in its output folders."""
        return exec, (EXECUTED,)


def file_attack(name: str, content: Callable[[Material], bytes | None], does: str, why: str) -> None:
    """Register an attack by a file with other content."""

    def make(material: Material) -> Handed | None:
        found = content(material)
        if found is None:
            return None

        def write(folder: Path) -> None:
            place = folder / material.mould.place
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(found)

        return write

    register(FileAttack(name, "damage", does, why, make))


def as_sample(material: Material) -> bytes:
    """The bytes of the sample's file."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, Path(material.mould.place).name)
        material.mould.write(place, material.mould.ids, material.mould.rows)
        return place.read_bytes()


def pickled(material: Material) -> bytes | None:
    """An array of Python objects, which run code when they are unpickled, or a pickle of such an object."""
    place, written = material.mould.place, io.BytesIO()
    objects = np.array([[Payload()] for _ in material.mould.ids], dtype=object)
    if place.endswith(".npz"):
        np.savez(written, ids=np.array(material.mould.ids), embeddings=objects)
    elif place.endswith(".npy"):
        np.save(written, objects, allow_pickle=True)
    else:
        return pickle.dumps(Payload())
    return written.getvalue()


def climbing(material: Material) -> bytes:
    """An archive with files whose names lead out of its folder, and a link to the truth."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr(Path(material.mould.place).name, as_sample(material))
        archive.writestr(INSIDE, "")
        for place in ("../", "../../", f"{STEPS}app/output/", f"{STEPS}output/", f"{STEPS}challenge_work/"):
            archive.writestr(place + CLIMBED, "")
        link = zipfile.ZipInfo("link")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, f"{STEPS}app/input/ref")
    return written.getvalue()


def lying(material: Material) -> bytes | None:
    """An array whose header announces far more data than the file has."""
    if not material.mould.place.endswith(".npy"):
        return None
    written = io.BytesIO()
    header = {"descr": "<f4", "fortran_order": False, "shape": (10**9, 10**4)}
    np.lib.format.write_array_header_1_0(written, header)
    return written.getvalue()


def giant(material: Material) -> Handed:
    """A file whose apparent size is far larger than any memory."""

    def write(folder: Path) -> None:
        place = folder / material.mould.place
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(as_sample(material))
        os.truncate(place, GIANT)

    return write


def nothing(material: Material) -> Handed:
    """No file at all."""
    return lambda folder: None


NEVER = "Nothing in a submission may be executed."
WHOLE = "An incomplete file is not a submission."

file_attack("pickle", pickled, "an array of Python objects that run code when they are unpickled", NEVER)
file_attack("climbing archive", climbing, "an archive with files that would be written outside of its folder", NEVER)
file_attack("cut short", lambda material: as_sample(material)[:-20], "the sample without its last 20 bytes", WHOLE)
file_attack("empty file", lambda material: b"", "an empty file", WHOLE)
file_attack("no text", lambda material: bytes(range(256)) * 4, "bytes in no known file format", WHOLE)
file_attack("lying header", lying, "an array whose header announces 40 TB", ASKED)
register(FileAttack("giant file", "damage", "a file with an apparent size of 64 GB", ASKED, giant))
register(FileAttack("no file", "damage", "a submission without a file", WHOLE, nothing))
