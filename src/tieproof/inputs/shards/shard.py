"""`Shard`: one file of a data set, with its state when it was opened."""

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
    """One file, with its state when it was opened.

    file, entry : the location of its vectors
    rows : the number of vectors
    width, dtype : the length and the type of its vectors; unknown without rows
    size, changed : the bytes of the file, and a mark that differs if the file has changed
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
        """The name of the shard in messages."""
        return str(Location(self.file, self.entry or None))


def check_state(shard: Shard) -> None:
    """Refuse a file that is gone or has changed."""
    try:
        size, changed = state_of(shard.file)
    except FileNotFoundError:
        raise InputError(
            f"{shard.file} was removed after it was opened; put it back, or open the remaining files."
        ) from None
    if (size, changed) != (shard.size, shard.changed):
        how = f"it had {shard.size:,} bytes and has {size:,}" if size != shard.size else "it was written again"
        raise InputError(f"{shard.file} changed after it was opened: {how}; open it again when nothing writes to it.")


def shard_at(where: Location) -> Shard:
    """Open the shard in a file, reading its header and its first row."""
    size, changed = state_before(where)
    entry = choose(vectors_of(where), where, EMBEDDINGS)
    rows, place = rows_of(entry, where.path), Location(where.path, entry.name or None)
    count = entry.shape[0] or 0
    if not count:
        return Shard(where.path, entry.name, 0, 0, np.dtype(np.float64), size, changed)
    first = stored_embeddings(rows(0, 1), place)
    return Shard(where.path, entry.name, count, first.shape[1], first.dtype, size, changed)


def state_before(where: Location) -> tuple[int, str]:
    """Return the state of a file; a file that does not exist or may not be read is refused."""
    check(where.path)
    return state_of(where.path)


def vectors_of(where: Location) -> list[Entry]:
    """Return the entries of a file; a file whose rows cannot be read in blocks is refused."""
    if where.path.suffix.lower() not in IN_BLOCKS:
        raise InputError(
            f"{where.path} cannot be a shard, because rows can be read in blocks only from {', '.join(IN_BLOCKS)}; "
            "save it in one of these formats, or evaluate the file alone."
        )
    entries = entries_of(where)
    if (
        where.path.suffix.lower() == ".parquet"
        and where.entry is None
        and all(len(each.shape) == 1 for each in entries)
    ):
        raise InputError(
            f"{where.path} has no column of lists, which contains the vectors of a shard; write one list of numbers "
            "in each row, or evaluate the file alone."
        )
    return entries


def rows_again(shard: Shard) -> Rows:
    """Return the function that reads the rows of a shard; a file that has changed is refused."""
    check_state(shard)
    entries = entries_of(Location(shard.file))
    return rows_of(next(entry for entry in entries if entry.name == shard.entry), shard.file)


def rows_of(entry: Entry, file: File) -> Rows:
    """Return the function that reads the rows of an entry; it is refused if it has no rows in one piece."""
    where = Location(file, entry.name or None)
    if len(entry.shape) != 2:
        raise InputError(
            f"{where} has the shape {entry.shape}; embeddings have the shape (n, d), one vector a row: reshape them."
        )
    if entry.rows is None:
        raise InputError(
            f"{where} contains {entry.holds}, which cannot be read row by row; save it again as numbers, with each "
            "row in one piece, for example with np.ascontiguousarray."
        )
    return entry.rows
