"""The rows of a source block after block, the next ones read while one is looked at."""

from collections.abc import Generator, Iterator
from contextlib import closing

from tieproof.inputs.shards.source import RowSource
from tieproof.native.threads import in_order
from tieproof.ties import Array

READERS = 2
"""Threads that read."""

AT_ONCE = 3 * READERS + 2
"""Blocks that memory must hold: those being read, which may take three times their size, and two that are waiting."""

LARGEST = 2**24
"""Bytes of a block that nothing is gained beyond."""


def blocks(source: RowSource, memory: int) -> Generator[tuple[int, Array], None, None]:
    """All rows, in blocks of one shard each, with the number of their first row.

    memory : bytes for all blocks that are there at a time, read ahead or looked at

    Whoever stops early closes it, so that no thread goes on reading.
    """
    size = min(LARGEST, memory // AT_ONCE) // max(1, source.shape[1] * source.dtype.itemsize)
    with closing(in_order(lambda span: source.read(*span), spans(source, max(1, size)), READERS)) as found:
        start = 0
        for rows in found:
            yield start, rows
            start += len(rows)


def spans(source: RowSource, size: int) -> Iterator[tuple[int, int]]:
    """Consecutive rows, at most `size` and of one shard each: the first, and the one behind the last."""
    for begin, end in zip(source.bounds[:-1].tolist(), source.bounds[1:].tolist(), strict=True):
        for start in range(begin, end, size):
            yield start, min(start + size, end)
