"""Random draws that are the same each time, on each machine and with each version of NumPy.

The draws are made from the raw bits of PCG64 with the seed 0, which NumPy promises not to change (NEP 19). The bits
are read draw by draw, so it does not matter how many draws are made at a time.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from tieproof.ties import BoolArray, IntArray

SEED = 0

ROOM = 2**21
"""How many numbers are in memory at a time."""


def raw(draws: int, width: int, room: int) -> Iterator[npt.NDArray[np.uint64]]:
    """Yield draws of `width` raw numbers each, `draws` in all, in blocks (c, width).

    room : how many numbers the caller keeps in memory for each draw
    """
    source, step = np.random.PCG64(SEED), max(1, ROOM // max(1, room))
    for start in range(0, draws, step):
        count = min(step, draws - start)
        yield source.random_raw((count, width))


def below(numbers: npt.NDArray[np.uint64], limits: IntArray) -> IntArray:
    """Map raw numbers to whole numbers from 0 to limit - 1, equally likely up to a relative limit / 2**32.

    The result is the upper half of the product of the raw number's upper half and the limit (Lemire 2019).

    >>> below(np.array([0, 2**63, 2**64 - 1], dtype=np.uint64), np.array([10, 10, 10]))
    array([0, 5, 9])
    """
    half = np.uint64(32)
    scaled = ((numbers >> half) * limits.astype(np.uint64)) >> half
    return scaled.astype(np.int64)


def coins(draws: int, width: int, room: int) -> Iterator[BoolArray]:
    """Yield draws of `width` fair coins each, `draws` in all, in blocks (c, width)."""
    for numbers in raw(draws, -(-width // 64), room):
        octets = numbers.astype("<u8").view(np.uint8)
        yield np.unpackbits(octets, axis=1, count=width).view(np.bool_)
