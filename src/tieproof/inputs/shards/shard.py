"""`Shard`: one file of a data set as it was when it was opened, and how it is looked into."""

from typing import Any, NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.readers import entries_of
from tieproof.inputs.readers.contents import stored_embeddings
from tieproof.inputs.readers.entries import EMBEDDINGS, Entry, Rows, choose
from tieproof.inputs.readers.location import Location, check
from tieproof.inputs.readers.remote import File, state_of
from tieproof.inputs.shards.places import IN_BLOCKS


class Shard(NamedTuple):
    """One file as it was when it was opened.

    file, entry : where its vectors are
    rows : how many
    width, dtype : of its vectors; of no rows unknown
    size, changed : bytes of the file, and what says that it is another one
    """

    file: File
    entry: str
    rows: int
    width: int
    dtype: np.dtype[Any]
    size: int
    changed: str

    @property
    def name(self) -> str:
        """What errors call it."""
        return str(Location(self.file, self.entry or None))


def check_state(shard: Shard) -> None:
    """Refuse a file that is gone, or is not what it was."""
    try:
        size, changed = state_of(shard.file)
    except FileNotFoundError:
        raise InputError(
            f"{shard.file} is no longer there, and was when it was opened; put it back, or open what is there."
        ) from None
    if (size, changed) != (shard.size, shard.changed):
        how = f"it had {shard.size:,} bytes and has {size:,}" if size != shard.size else "it was written again"
        raise InputError(f"{shard.file} changed since it was opened: {how}; open it again when nothing writes to it.")


def shard_at(where: Location) -> Shard:
    """The shard in a file: what it says of its vectors, and what its first row is."""
    size, changed = state_before(where)
    entry = choose(vectors_of(where), where, EMBEDDINGS)
    rows, place = rows_of(entry, where.path), Location(where.path, entry.name or None)
    count = entry.shape[0] or 0
    if not count:
        return Shard(where.path, entry.name, 0, 0, np.dtype(np.float64), size, changed)
    first = stored_embeddings(rows(0, 1), place)
    return Shard(where.path, entry.name, count, first.shape[1], first.dtype, size, changed)


def state_before(where: Location) -> tuple[int, str]:
    """The state of a file; refused where there is none, or it may not be read."""
    check(where.path)
    return state_of(where.path)


def vectors_of(where: Location) -> list[Entry]:
    """What a file holds; refused where its rows cannot be read a few at a time."""
    if where.path.suffix.lower() not in IN_BLOCKS:
        raise InputError(
            f"{where.path} cannot be a shard: rows are read in blocks from {', '.join(IN_BLOCKS)}; save it as one of "
            "these, or evaluate the file alone."
        )
    entries = entries_of(where)
    if (
        where.path.suffix.lower() == ".parquet"
        and where.entry is None
        and all(len(each.shape) == 1 for each in entries)
    ):
        raise InputError(
            f"{where.path} has no column of lists, where a shard has its vectors; write them so, one list of numbers "
            "in each row, or evaluate the file alone."
        )
    return entries


def rows_again(shard: Shard) -> Rows:
    """How the rows of a shard are read, whoever opened it; refused where it is not what it was."""
    check_state(shard)
    entries = entries_of(Location(shard.file))
    return rows_of(next(entry for entry in entries if entry.name == shard.entry), shard.file)


def rows_of(entry: Entry, file: File) -> Rows:
    """How the rows of an entry are read; refused where they are none, or lie column after column."""
    where = Location(file, entry.name or None)
    if len(entry.shape) != 2:
        raise InputError(
            f"{where} has the shape {entry.shape}; embeddings have the shape (n, d), one vector a row: reshape them."
        )
    if entry.rows is None:
        raise InputError(
            f"{where} holds {entry.holds}, which cannot be read row after row; save it again as numbers, each row in "
            "one piece, for example with np.ascontiguousarray."
        )
    return entry.rows
