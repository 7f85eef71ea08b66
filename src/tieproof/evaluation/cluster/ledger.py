"""The storage of counts until all of them are complete: in memory or in a folder."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from tieproof.engine import Others
from tieproof.errors import InputError
from tieproof.evaluation.cluster.layout import Unit
from tieproof.whole_files import UNFINISHED, atomic_write

TITLE = "tieproof.json"
"""The file of a checkpoint that identifies its evaluation."""


class MemoryLedger:
    """A ledger in memory, which keeps the sums of blocks."""

    def __init__(self) -> None:
        self.sums: dict[int, Others] = {}

    def __contains__(self, unit: Unit) -> bool:
        """Always False: nothing is stored from an earlier evaluation."""
        return False

    def keep(self, unit: Unit, counts: list[Others]) -> None:
        """Add the counts of a unit to the sums of its blocks."""
        for block, added in zip(unit.blocks, counts, strict=True):
            self.sums[block] = self.sums[block] + added if block in self.sums else added

    def of_block(self, block: int) -> Others:
        """The sum of all counts of a block, which is then removed."""
        return self.sums.pop(block)


class FolderLedger:
    """A ledger in a folder, with a file for each unit, which is written whole or not at all."""

    def __init__(self, folder: Path, units: Iterable[Unit]) -> None:
        self.folder = folder
        self.files = {unit: folder / f"{unit}.npz" for unit in units}
        blocks = {block for unit in self.files for block in unit.blocks}
        self.of = {block: [unit for unit in self.files if block in unit.blocks] for block in blocks}

    def __contains__(self, unit: Unit) -> bool:
        """Whether the file of a unit exists."""
        return self.files[unit].exists()

    def keep(self, unit: Unit, counts: list[Others]) -> None:
        """Write the counts of a unit."""
        with atomic_write(self.files[unit]) as unfinished:
            np.savez(unfinished, *counts)

    def of_block(self, block: int) -> Others:
        """The sum of the counts of a block in all files."""
        total: Others | None = None
        for unit in self.of[block]:
            counts = self.read(unit, f"arr_{unit.blocks.index(block)}")
            total = counts if total is None else total + counts
        assert total is not None
        return total

    def read(self, unit: Unit, name: str) -> Others:
        """One array of a file."""
        path = self.files[unit]
        try:
            with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
                return np.asarray(file[name], dtype=np.int64)
        except MemoryError:
            raise
        except Exception as error:  # of damaged archives: OSError, ValueError, KeyError, zlib.error, …
            raise InputError(
                f"{path} of the checkpoint cannot be read ({error}). Remove this file and run the same again; its "
                "counts will be computed again.",
                "checkpoint",
            ) from None


Ledger = MemoryLedger | FolderLedger
"""The counts of units, each of which is stored once."""


def open_checkpoint(folder: Path, title: Mapping[str, str], units: Iterable[Unit]) -> FolderLedger:
    """Open a new checkpoint, or an existing one of the same evaluation; InputError if it belongs to another one.

    title : the properties that identify the evaluation; each of them must be equal
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"The checkpoint must be a folder, but {folder} is a file. Name a folder.", "checkpoint")
    path = folder / TITLE
    if path.exists():
        try:
            written = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            written = None
        if not isinstance(written, dict):
            raise InputError(f"{path} is not a readable file of a checkpoint. Name an empty folder.", "checkpoint")
        differing = [name for name, value in title.items() if written.get(name) != value]
        if differing:
            raise InputError(
                f"The checkpoint in {folder} belongs to another evaluation: it differs in the {differing[0]}. "
                "Continue with the same data and options (measures may change), or name an empty folder.",
                "checkpoint",
            )
    elif folder.exists() and not all(file.name.startswith(UNFINISHED) for file in folder.iterdir()):
        raise InputError(
            f"The folder {folder} contains other files but no checkpoint. Name an empty folder or a new one.",
            "checkpoint",
        )
    else:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"The folder {folder} for the checkpoint cannot be created ({error.strerror}). Name another one.",
                "checkpoint",
            ) from None
        with atomic_write(path) as unfinished:
            unfinished.write_text(json.dumps(title, indent=2), "utf-8")
    return FolderLedger(folder, units)


def digest(*parts: bytes) -> str:
    """The SHA-256 digest of several parts, as 64 hexadecimal digits."""
    hashed = hashlib.sha256()
    for part in parts:
        hashed.update(len(part).to_bytes(8, "little"))
        hashed.update(part)
    return hashed.hexdigest()
