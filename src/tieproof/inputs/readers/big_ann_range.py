"""True items within a radius in the files of big-ann-benchmarks (.rangeres and others), memory-read.

A file is two int32, the number of queries n and of all items in the lists, then n int32, how many each list holds,
then the ids as int32, and the distances as float32, list after list, all little-endian.
"""

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.range_lists import RangeLists
from tieproof.inputs.readers.big_ann import HEADER, KIND, check_size, read, read_counts
from tieproof.inputs.readers.remote import File


def read_range(path: File) -> RangeLists:
    """Read the items of each query that are within the radius."""
    counts = read_counts(path, "the number of queries and of all items in their lists")
    n_queries, total = counts.first, counts.second
    start = HEADER + 4 * n_queries
    what = f"for {n_queries:,} lists that hold {total:,} ids as int32 and as many distances as float32"
    check_size(path, counts, start + 8 * total, what)
    lengths = np.asarray(read(path, "<i4", HEADER, (n_queries,)), dtype=np.int64)
    if (lengths < 0).any() or lengths.sum() != total:
        raise InputError(
            f"{path} cannot be read as {KIND}: the lengths of its lists add up to {lengths.sum():,} items, the "
            f"shortest is {lengths.min():,}, but its header has {total:,} items; write or copy it again."
        )
    return RangeLists(np.append(0, np.cumsum(lengths)), read(path, "<i4", start, (total,)))
