"""Random draws that are the same each time, on each machine and with each version of NumPy.

They come from the raw bits of PCG64 with the seed 0, which NumPy promises to keep (NEP 19), and are read draw by
draw, so that it does not matter how many are made at a time.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from tieproof.ties import BoolArray, IntArray

SEED = 0

ROOM = 2**21
"""Numbers that are in memory at a time."""


def raw(draws: int, width: int, room: int) -> Iterator[npt.NDArray[np.uint64]]:
    """So many draws of `width` raw numbers each, some draws at a time: (c, width).

    room : the numbers that each draw needs room for meanwhile
    """
    source, step = np.random.PCG64(SEED), max(1, ROOM // max(1, room))
    for start in range(0, draws, step):
        count = min(step, draws - start)
        yield source.random_raw((count, width))


def below(numbers: npt.NDArray[np.uint64], limits: IntArray) -> IntArray:
    """Raw numbers as whole numbers from 0 to below the limits, all but equally likely: to one part in 2**32 / limit.

    The upper half of the raw number is multiplied by the limit, and the upper half of that taken (Lemire 2019).

    >>> below(np.array([0, 2**63, 2**64 - 1], dtype=np.uint64), np.array([10, 10, 10]))
    array([0, 5, 9])
    """
    half = np.uint64(32)
    scaled = ((numbers >> half) * limits.astype(np.uint64)) >> half
    return scaled.astype(np.int64)


def coins(draws: int, width: int, room: int) -> Iterator[BoolArray]:
    """So many draws of `width` fair coins each, some draws at a time: (c, width)."""
    for numbers in raw(draws, -(-width // 64), room):
        octets = numbers.astype("<u8").view(np.uint8)
        yield np.unpackbits(octets, axis=1, count=width).view(np.bool_)
