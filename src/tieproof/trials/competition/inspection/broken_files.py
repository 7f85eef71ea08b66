"""Attacks by invalid files and by a changed sample: a submission may be refused, but must not gain."""

import io
import os
import pickle
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tieproof.kit import Array
from tieproof.trials.competition.inspection.attacks import FileAttack, Material, WriteSubmission
from tieproof.trials.findings import told

KEPT = 10  # one in this many items is kept
WIDE, MOST_NUMBERS = (100_000, 50_000_000)  # dimensions of too wide vectors, and the most numbers in all of them
Rows = tuple[Sequence[str], Array]  # ids and rows of a submission


def _changed(change: Callable[[Material], Rows]) -> Callable[[Material], WriteSubmission]:
    """A function that makes the sample with other ids or rows."""
    return lambda material: lambda folder: material.form.handing_in(*change(material))(folder)


def _missing(material: Material) -> Rows:
    form = material.form
    units = [name.partition(" ")[0] if form.is_run else name for name in form.ids]
    distinct = sorted(set(units))
    kept = set(distinct[:: max(1, min(KEPT, len(distinct) // 2))])
    rows = [at for at, unit in enumerate(units) if unit in kept]
    return [form.ids[at] for at in rows], form.rows[rows]


def _strangers(material: Material) -> Rows:
    form, digits = material.form, all(name.isdigit() for name in material.form.ids)
    first = max(map(int, form.ids)) + 1 if digits else 0
    name = "{0}" if digits else "stranger{0} d{0}" if form.is_run else "stranger{0}"
    names = [name.format(first + at) for at in range(len(form.ids))]
    return [*form.ids, *names], np.concatenate([form.rows, form.rows[::-1]])


def _shuffled(material: Material) -> Rows:
    order = material.random.permutation(len(material.form.ids))
    return [material.form.ids[at] for at in order], material.form.rows[order]


def _copy(material: Material) -> Rows:
    """The rows in another order, if they have ids, with all numbers times two."""
    ids, rows = _shuffled(material) if material.form.names_rows else (material.form.ids, material.form.rows)
    return ids, rows * 2


def _wide(material: Material) -> Rows:
    form = material.form
    zeros = np.zeros((len(form.ids), min(WIDE, MOST_NUMBERS // len(form.ids))), dtype=form.rows.dtype)
    return form.ids, np.concatenate([form.rows, zeros], axis=1)


MARK = "was_executed_by_a_submission"  # the file that the pickle creates if it is loaded
EXECUTED = f"""
import os
for folder in ("/app/output", "/output", "."):
    try:
        open(os.path.join(folder, {MARK!r}), "w").close()
    except OSError:
        pass
"""

GIANT = 64 * 10**9  # the apparent size of a giant file in bytes; they are not stored
CLIMBED, INSIDE = "climbed_out_of_a_submission", "stayed_in_a_submission"  # files of an archive; the first leads out
STEPS = "../" * 8


class Payload:
    """An object that creates a file when it is unpickled; a real attack could do anything instead."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Create a file in the folder where the program runs, and in its output folders."""
        return exec, (EXECUTED,)


def _with_content(content: Callable[[Material], bytes]) -> Callable[[Material], WriteSubmission]:
    """A function that makes a file with other content."""
    return lambda material: lambda folder: material.form.place_in(folder).write_bytes(content(material))


def _as_sample(material: Material) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, Path(material.form.place).name)
        material.form.write(place, material.form.ids, material.form.rows)
        return place.read_bytes()


def _pickled(material: Material) -> bytes:
    """An array of Python objects, which run code when they are unpickled, or a pickle of such an object."""
    place, written = material.form.place, io.BytesIO()
    objects = np.array([[Payload()] for _ in material.form.ids], dtype=object)
    if place.endswith(".npz"):
        np.savez(written, ids=np.array(material.form.ids), embeddings=objects)
    elif place.endswith(".npy"):
        np.save(written, objects, allow_pickle=True)
    else:
        return pickle.dumps(Payload())
    return written.getvalue()


def _climbing(material: Material) -> bytes:
    """An archive with files whose names lead out of its folder, and a link to the truth."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr(Path(material.form.place).name, _as_sample(material))
        archive.writestr(INSIDE, "")
        for place in ("../", "../../", f"{STEPS}app/output/", f"{STEPS}output/", f"{STEPS}challenge_work/"):
            archive.writestr(place + CLIMBED, "")
        link = zipfile.ZipInfo("link")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, f"{STEPS}app/input/ref")
    return written.getvalue()


def _lying(material: Material) -> bytes:
    written = io.BytesIO()
    header = {"descr": "<f4", "fortran_order": False, "shape": (10**9, 10**4)}
    np.lib.format.write_array_header_1_0(written, header)
    return written.getvalue()


def _giant(material: Material) -> WriteSubmission:
    def write(folder: Path) -> None:
        place = material.form.place_in(folder)
        place.write_bytes(_as_sample(material))
        os.truncate(place, GIANT)

    return write


MAKERS: dict[str, Callable[[Material], WriteSubmission]] = {
    "missing ids": _changed(_missing),
    "one missing": _changed(lambda material: (material.form.ids[:-1], material.form.rows[:-1])),
    "duplicate ids": _changed(lambda material: (material.form.ids * 2, np.concatenate([material.form.rows] * 2))),
    "contradicting ids": _changed(
        lambda material: (material.form.ids * 2, np.concatenate([material.form.rows, -material.form.rows[::-1]]))
    ),
    "additional ids": _changed(_strangers),
    "wrong types": _changed(lambda material: (material.form.ids, np.full(material.form.rows.shape, "one"))),
    "too wide": _changed(_wide),
    "other order": _changed(_shuffled),
    "copy": _changed(_copy),
    "other dimensions": _changed(lambda material: (material.form.ids, material.form.rows[:, ::-1])),
    "pickle": _with_content(_pickled),
    "climbing archive": _with_content(_climbing),
    "cut short": _with_content(lambda material: _as_sample(material)[:-20]),
    "empty file": _with_content(lambda material: b""),
    "no text": _with_content(lambda material: bytes(range(256)) * 4),
    "lying header": _with_content(_lying),
    "giant file": _giant,
    "no file": lambda material: lambda folder: None,
}

ATTACKS = [FileAttack(name, make, **told(name, "check")) for name, make in MAKERS.items()]
