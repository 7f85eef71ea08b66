"""What an evaluation may use: memory and threads, as people write them."""

import os
import re
from numbers import Integral

from tieproof.errors import InputError

FACTORS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
BINARY = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def parse_memory(size: str | int) -> int:
    """Bytes of a memory size.

    >>> parse_memory("256MiB"), parse_memory("1.5 GB"), parse_memory(4096)
    (268435456, 1500000000, 4096)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)(b?)\s*", str(size), re.IGNORECASE)
    count = 0
    if match and not (match[3] and not match[2]):
        factors = BINARY if match[3] else FACTORS
        count = int(float(match[1]) * factors[match[2].lower()])
    if count < 1 or isinstance(size, bool):
        raise InputError(
            f"The memory size must be a number of bytes such as '1GiB', '256MiB' or 2000000000, not {size!r}."
        )
    return count


def parse_threads(threads: int | None) -> int:
    """A number of threads; None: one for each processor that this process may use."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(threads, bool) or not isinstance(threads, Integral) or threads < 1:
        raise InputError(f"The number of threads must be a whole number of at least 1, not {threads!r}.")
    return int(threads)
