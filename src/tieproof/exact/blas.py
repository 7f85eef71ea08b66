"""The matrix product of this machine: the check that it is as exact as its type promises, and its threads."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

from tieproof.errors import UnsafeProductError
from tieproof.exact import bounds

SIZE = 256

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
    for name in ("float32", "float64"):
        dtype = np.dtype(name)
        for x, y in probes(dtype):
            check_product(x, y, x @ y.T, dtype)


def probes(dtype: np.dtype[Any]) -> list[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
    """Pairs of matrices: full mantissas, and rows whose scales differ by many powers of two.

    A product with shortened mantissas loses digits of the first. A product that adds rows of different scale
    before it multiplies (Strassen) loses the small rows of the second.
    """
    digits = np.finfo(dtype).nmant
    steps = np.arange(SIZE * SIZE, dtype=np.float64).reshape(SIZE, SIZE)
    full = 1 + (steps * 2654435761 % 2**digits) * 2.0**-digits
    scales = 2.0 ** -np.linspace(0, digits, SIZE).round()
    return [
        (full.astype(dtype), np.ascontiguousarray(full[::-1]).astype(dtype)),
        ((full * scales[:, None]).astype(dtype), (full * scales[::-1, None]).astype(dtype)),
    ]


def check_product(x: npt.NDArray[Any], y: npt.NDArray[Any], product: npt.NDArray[Any], dtype: np.dtype[Any]) -> None:
    """Raise where `product` is farther from x @ y.T than any order of summation in `dtype` may be."""
    reference = sum_of_products(x, y)
    bound = bounds.gamma(x.shape[1] + 4, bounds.UNIT_ROUNDOFF[dtype])
    if not (np.abs(product.astype(np.float64) - reference) <= bound * reference).all():
        raise UnsafeProductError(
            f"NumPy's {dtype.name} matrix product on this machine is less exact than {dtype.name}: a reduced "
            "precision (TF32, bfloat16) or a fast algorithm (Strassen) is switched on. Switch it off in the "
            "BLAS library that NumPy uses; its name is in numpy.show_config()."
        )


def sum_of_products(x: npt.NDArray[Any], y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """The product of positive matrices without any matrix product: sums of float64 products in one order."""
    columns = zip(x.T.astype(np.float64), y.T.astype(np.float64), strict=True)
    total = np.zeros((len(x), len(y)))
    for a, b in columns:
        total += a[:, None] * b
    return total
