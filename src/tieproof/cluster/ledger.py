"""Where counts are kept until all of them are there: in memory, or written down in a folder."""

import hashlib
import json
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol

import numpy as np

from tieproof.cluster.layout import Unit
from tieproof.engine import Others
from tieproof.errors import InputError
from tieproof.whole_files import UNFINISHED, atomic_write

TITLE = "tieproof.json"
"""The file of a checkpoint that says what it is of."""


class Ledger(Protocol):
    """Counts of units, each of which is kept once."""

    def __contains__(self, unit: Unit) -> bool:
        """Whether the counts of a unit are here already."""
        ...

    def keep(self, unit: Unit, counts: list[Others]) -> None:
        """Keep what a unit counted, for each of its blocks."""
        ...

    def of_block(self, block: int) -> Others:
        """The sum of all counts of a block."""
        ...


class MemoryLedger:
    """Sums in memory."""

    def __init__(self) -> None:
        self.sums: dict[int, Others] = {}

    def __contains__(self, unit: Unit) -> bool:
        """Nothing is here that was not counted just now."""
        return False

    def keep(self, unit: Unit, counts: list[Others]) -> None:
        """Add up what a unit counted."""
        for block, found in zip(unit.blocks, counts, strict=True):
            self.sums[block] = self.sums[block] + found if block in self.sums else found

    def of_block(self, block: int) -> Others:
        """The sum of all counts of a block, which is forgotten."""
        return self.sums.pop(block)


class FolderLedger:
    """A file for each unit, which is there whole or not at all."""

    def __init__(self, folder: Path, units: Iterable[Unit]) -> None:
        self.folder = folder
        self.files = {unit: folder / f"{unit}.npz" for unit in units}
        self.of = {block: [unit for unit in self.files if block in unit.blocks] for block in self.blocks()}

    def blocks(self) -> set[int]:
        """All blocks that are counted for."""
        return {block for unit in self.files for block in unit.blocks}

    def __contains__(self, unit: Unit) -> bool:
        """Whether the file of a unit is there."""
        return self.files[unit].exists()

    def keep(self, unit: Unit, counts: list[Others]) -> None:
        """Write what a unit counted."""
        with atomic_write(self.files[unit]) as unfinished:
            np.savez(unfinished, *counts)

    def of_block(self, block: int) -> Others:
        """The sum of what the files have of a block."""
        total: Others | None = None
        for unit in self.of[block]:
            found = self.read(unit, f"arr_{unit.blocks.index(block)}")
            total = found if total is None else total + found
        assert total is not None
        return total

    def read(self, unit: Unit, name: str) -> Others:
        """One array of a file."""
        path = self.files[unit]
        try:
            with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
                found = file[name]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise InputError(
                f"{path} of the checkpoint cannot be read ({error}). Remove this file, and run the same again: what "
                "it held is counted anew.",
                "checkpoint",
            ) from None
        return np.asarray(found, dtype=np.int64)


def open_checkpoint(folder: Path, title: Mapping[str, str], units: Iterable[Unit]) -> FolderLedger:
    """The checkpoint in a folder, which is new, or of just this evaluation; refused where it is of another one.

    title : what the evaluation is known by; each entry must be what it was
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"The checkpoint must be a folder, and {folder} is a file. Name another one.", "checkpoint")
    path = folder / TITLE
    if path.exists():
        check_title(path, title)
    elif folder.exists() and not all(found.name.startswith(UNFINISHED) for found in folder.iterdir()):
        raise InputError(
            f"The folder {folder} holds other files and no checkpoint. Name an empty folder or a new one.",
            "checkpoint",
        )
    else:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"The folder {folder} for the checkpoint cannot be made ({error.strerror}). Name another one.",
                "checkpoint",
            ) from None
        with atomic_write(path) as unfinished:
            unfinished.write_text(json.dumps(title, indent=2), "utf-8")
    return FolderLedger(folder, units)


def check_title(path: Path, title: Mapping[str, str]) -> None:
    """Refuse the checkpoint of another evaluation by what differs first."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict):
        raise InputError(f"{path} is not readable as that of a checkpoint. Name an empty folder.", "checkpoint")
    differing = [name for name, value in title.items() if found.get(name) != value]
    if differing:
        raise InputError(
            f"The checkpoint in {path.parent} is of another evaluation: it differs in the {differing[0]}. "
            "Go on with just what it was begun with (measures may change), or name an empty folder.",
            "checkpoint",
        )


def digest(*parts: bytes) -> str:
    """SHA-256 of several parts, in 64 digits."""
    found = hashlib.sha256()
    for part in parts:
        found.update(len(part).to_bytes(8, "little"))
        found.update(part)
    return found.hexdigest()
