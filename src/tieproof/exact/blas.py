"""The matrix product of this machine: the check that it is as exact as its type promises, and its threads."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

from tieproof.errors import UnsafeProductError
from tieproof.ties import FloatArray, IntArray

HALF, DIMENSIONS = 504, 64
"""Of the matrices that the check multiplies: twice as many rows, as a tile has, for a large product may be made
otherwise than a small one."""

libraries = ThreadpoolController().select(user_api="blas")  # NumPy's among them: it is loaded with NumPy
_lock = threading.Lock()
_users = 0
_limits: list[Any] = []


@contextmanager
def single_threaded() -> Iterator[None]:
    """Hold matrix products to one thread each; the last of all that hold them at a time restores what was.

    Not to be held across a `yield`: whoever takes the results may never come back for the next one.
    """
    global _users
    with _lock:
        if not _users:
            _limits.append(libraries.limit(limits=1))
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users:
                _limits.pop().restore_original_limits()


@cache
def check_products() -> None:
    """Multiply matrices made to tell TF32, bfloat16 and Strassen-like products from true ones; refuse those."""
    with single_threaded():
        for dtype in (np.dtype(np.float32), np.dtype(np.float64)):
            probe = make_probe(dtype)
            left, right = probe.matrices(dtype)
            check_product(probe, left @ right.T, dtype)


class Probe(NamedTuple):
    """Matrices whose product is exact in whatever order its sums are made, where a long row meets a short one.

    long : (HALF, DIMENSIONS) odd integers: half of the rows as long as the sums allow, the others of all digits
    short : (HALF, DIMENSIONS) half of the rows signs, the others with a single sign
    exponent : (2 HALF,) of the power of two by which each row is multiplied
    """

    long: IntArray
    short: IntArray
    exponent: IntArray

    def matrices(self, dtype: np.dtype[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """The long rows above the short ones, and the short above the long: each half of both meets the other."""
        left, right = np.concatenate([self.long, self.short]), np.concatenate([self.short, self.long])
        scale = np.ldexp(1.0, self.exponent)[:, None]
        return (left * scale).astype(dtype), (right * scale).astype(dtype)


def make_probe(dtype: np.dtype[Any]) -> Probe:
    """A product with shortened mantissas loses the last digits of long rows, be they on the left or on the right.

    One that adds rows before it multiplies them (Strassen) loses digits of those that are smaller by powers of two.
    """
    random = np.random.default_rng(0)
    digits = np.finfo(dtype).nmant + 1
    quarter = HALF // 2
    length = np.repeat([digits - DIMENSIONS.bit_length(), digits], quarter)[:, None]
    long = random.integers(2 ** (length - 1), 2**length, size=(HALF, DIMENSIONS)) | 1
    short = random.choice(np.array([-1, 1]), size=(HALF, DIMENSIONS))
    short[quarter:] *= np.arange(DIMENSIONS) == random.integers(DIMENSIONS, size=(quarter, 1))
    return Probe(long, short, -np.linspace(0, digits, 2 * HALF).astype(np.int64))


def check_product(probe: Probe, product: npt.NDArray[Any], dtype: np.dtype[Any]) -> None:
    """Raise where the product of the probe's matrices has a wrong entry."""
    scale = np.ldexp(1.0, -probe.exponent)
    whole = product * scale[:, None] * scale
    if not (is_product(probe, whole[:HALF, :HALF]) and is_product(probe, whole[HALF:, HALF:].T)):
        raise UnsafeProductError(
            f"NumPy's {dtype.name} matrix product on this machine is less exact than {dtype.name}: a reduced "
            "precision (TF32, bfloat16) or a fast algorithm (Strassen) is switched on. Switch it off in the "
            "BLAS library that NumPy uses; its name is in numpy.show_config()."
        )


def is_product(probe: Probe, product: FloatArray) -> bool:
    """Whether this is long short^T, but for long rows of all digits with short rows of many signs.

    Freivalds 1977: a product times a vector is compared with the factors times it, which takes no matrix product.
    Integers are added up modulo 2^64; an entry that is wrong, by an integer below 2^54, and has a random odd factor
    leaves a chance of at most 2^-10 that its row looks right.
    """
    quarter = HALF // 2
    factors = np.random.default_rng(1).integers(-(2**63), 2**63, size=HALF, dtype=np.int64) | 1
    for rows, columns in ((slice(quarter), slice(HALF)), (slice(quarter, HALF), slice(quarter, HALF))):
        found, factor = product[rows, columns], factors[columns]
        if not (np.abs(found) < 2.0**53).all():
            return False
        integers = found.astype(np.int64)
        expected = probe.long[rows] @ (probe.short[columns].T @ factor)
        if (integers != found).any() or (integers @ factor != expected).any():
            return False
    return True
