"""The storage of counts until all of them are complete: in memory or in a folder."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

from tieproof.engine import Others
from tieproof.errors import about
from tieproof.evaluation.cluster.layout import Unit
from tieproof.whole_files import PartsFolder


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
    """A ledger in a folder, with a part for each unit."""

    def __init__(self, parts: PartsFolder, units: Iterable[Unit]) -> None:
        self.parts, self.of = parts, defaultdict[int, list[Unit]](list)
        for unit in units:
            for block in unit.blocks:
                self.of[block].append(unit)

    def __contains__(self, unit: Unit) -> bool:
        """Whether the counts of a unit are stored."""
        return str(unit) in self.parts

    def keep(self, unit: Unit, counts: list[Others]) -> None:
        """Write the counts of a unit."""
        self.parts.write(str(unit), *counts)

    def of_block(self, block: int) -> Others:
        """The sum of the counts of a block in all parts."""
        total: Any = 0
        for unit in self.of[block]:
            with about("checkpoint"), self.parts.opened(str(unit)) as arrays:
                total = total + np.asarray(arrays[f"arr_{unit.blocks.index(block)}"], dtype=np.int64)
        return np.asarray(total)


Ledger = MemoryLedger | FolderLedger
"""The counts of units, each of which is stored once."""


def digest(*parts: bytes) -> str:
    """The SHA-256 digest of several parts, as 64 hexadecimal digits."""
    hashed = hashlib.sha256()
    for part in parts:
        hashed.update(len(part).to_bytes(8, "little"))
        hashed.update(part)
    return hashed.hexdigest()
