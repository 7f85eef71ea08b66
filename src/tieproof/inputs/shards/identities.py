"""Which rows of a source are the same, found with little memory, wherever they lie.

Every row has a digest of 128 bits. Rows whose digests differ are different; rows that share one are read again and
compared, so that no digest ever decides that two rows are the same. The keys of the digests are drawn anew each time:
nobody can prepare different rows that share one, and which rows are the same does not depend on the keys.
"""

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from tieproof.inputs.digests import Words, as_digested, digest_rows
from tieproof.inputs.shards.blocks import blocks
from tieproof.inputs.shards.source import RowSource
from tieproof.ties import Array, BoolArray, IntArray

RECORD = np.dtype([("first", "<u8"), ("second", "<u8"), ("row", "<i8")])
"""What is noted of a row: its digest and its number."""

BYTES_PER_ROW = 128
"""What a row takes at most while those of a part are sorted by their digests, and settled."""

MOST_PARTS = 256
"""Files that are written at a time."""

Sameness = Callable[[Array, Array], BoolArray]


def as_they_are(rows: Array) -> Array:
    """Rows that are the same where they are equal."""
    return rows


def equal(rows: Array, others: Array) -> BoolArray:
    """Whether rows are equal as numbers."""
    return np.asarray((rows == others).all(axis=1))


def identities(
    source: RowSource,
    budget: int,
    canonical: Callable[[Array], Array] = as_they_are,
    same: Sameness = equal,
) -> IntArray:
    """For each row (n,) the number of the first row that is the same.

    budget : bytes to work with, beside the answer
    canonical : of some rows as many others, which are equal where the rows are the same; they need not differ where
        the rows do
    same : of as many rows and other rows, whether each is the same as the other

    Where the digests of all rows are too many for the budget they go to temporary files (24 bytes a row), each with
    the rows of some of the digests, and one file after the other is looked at.

    >>> import tieproof as tp
    >>> with TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/0.npy", [[1.0, 2.0], [3.0, 4.0]])
    ...     np.save(f"{folder}/1.npy", [[1.0, 2.0]])
    ...     identities(tp.open(folder), 2**20).tolist()
    [0, 1, 0]
    """
    first = np.arange(source.shape[0])
    with closing(parts_of(source, budget, canonical)) as parts:
        for records in parts:
            settle(first, sharing(records), source, budget, same)
    return first


def parts_of(source: RowSource, budget: int, canonical: Callable[[Array], Array]) -> Generator[Array, None, None]:
    """The records of all rows, those of one digest in one part; as many parts as the budget asks for."""
    count = source.shape[0]
    needed = -(-count * BYTES_PER_ROW // max(1, budget // 2))
    if needed <= 1:
        records = np.empty(count, RECORD)
        for start, found in digested(source, budget, canonical):
            records[start : start + len(found)] = found
        yield records
        return
    files = min(needed, count, MOST_PARTS)
    with TemporaryDirectory(prefix="tieproof-") as folder:
        paths = [Path(folder, str(number)) for number in range(files)]
        with ExitStack() as stack:
            buffer = min(max(budget // 8 // files, 2**9), 2**13)
            streams = [stack.enter_context(path.open("wb", buffer)) for path in paths]
            for _, found in digested(source, budget, canonical):
                file = part_of(found, files)
                order = np.argsort(file, kind="stable")
                ends = np.searchsorted(file[order], np.arange(files + 1))
                for stream, low, high in zip(streams, ends[:-1], ends[1:], strict=True):
                    stream.write(found[order[low:high]].tobytes())
        for path in paths:
            yield np.fromfile(path, RECORD)
            path.unlink()


def part_of(records: Array, parts: int) -> IntArray:
    """The part of each record, by the upper bits of its digest."""
    return ((records["first"] >> np.uint64(32)) * np.uint64(parts) >> np.uint64(32)).astype(np.int64)


def digested(source: RowSource, budget: int, canonical: Callable[[Array], Array]) -> Iterator[tuple[int, Array]]:
    """The records of all rows, block after block, each with the number of its first row."""
    keys: Words | None = None
    with closing(blocks(source, budget // 4)) as found:
        for start, rows in found:
            taken = as_digested(canonical(rows))
            if keys is None:
                width = taken.shape[1]
                keys = np.frombuffer(os.urandom(8 * (width + 2 - width % 2)), np.uint64)
            words = np.empty((len(rows), 2), np.uint64)
            digest_rows(taken, keys, np.zeros(len(rows), np.uint64), words)
            records = np.empty(len(rows), RECORD)
            records["first"], records["second"] = words.T
            records["row"] = np.arange(start, start + len(rows))
            yield start, records


def sharing(records: Array) -> Array:
    """The records of rows that share their digest with another one, sorted by digest and then by row."""
    order = np.lexsort((records["row"], records["second"], records["first"]))
    ordered = records[order]
    alike = (ordered["first"][1:] == ordered["first"][:-1]) & (ordered["second"][1:] == ordered["second"][:-1])
    shares = np.zeros(len(ordered), np.bool_)
    shares[1:] |= alike
    shares[:-1] |= alike
    return ordered[shares]


def settle(first: IntArray, records: Array, source: RowSource, budget: int, same: Sameness) -> None:
    """Write for each of these rows which is the first that is the same, by reading them again.

    Of the rows of one digest that are not settled yet the first one leads; those that are not the same as it are
    compared among themselves in the next round.
    """
    while len(records):
        changes = np.ones(len(records), np.bool_)
        changes[1:] = (records["first"][1:] != records["first"][:-1]) | (
            records["second"][1:] != records["second"][:-1]
        )
        leader = records["row"][np.flatnonzero(changes)][np.cumsum(changes) - 1]
        member = records["row"]
        others = np.flatnonzero(member != leader)
        others = others[np.argsort(member[others])]
        matched = compared(source, member[others], leader[others], budget, same)
        first[member[others[matched]]] = leader[others[matched]]
        records = records[np.sort(others[~matched])]


def compared(source: RowSource, rows: IntArray, others: IntArray, budget: int, same: Sameness) -> BoolArray:
    """Whether rows are the same as others, some at a time."""
    width = max(1, source.shape[1])
    size = max(1, budget // 4 // (4 * width * source.dtype.itemsize + 64 * width))
    matched = np.empty(len(rows), np.bool_)
    for start in range(0, len(rows), size):
        span = slice(start, start + size)
        matched[span] = same(source.take(rows[span]), source.take(others[span]))
    return matched
