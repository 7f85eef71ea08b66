"""Attacks by invalid files: pickles, giant files, archives that write outside their folder, links, and fragments."""

import io
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tieproof.competition.inspection.attacks import FileAttack, Handed, Material, register
from tieproof.competition.inspection.damage import ASKED

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
