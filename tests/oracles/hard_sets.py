"""Small embeddings that are hard to rank, by names that say why."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Random = np.random.Generator


def normalized(rows: Array, dtype: type) -> Array:
    """Each row divided by its norm in `dtype`, as models do."""
    values: Array = rows.astype(dtype)
    norms = np.sqrt((values * values).sum(axis=1, keepdims=True))
    return np.asarray(np.divide(values, norms, out=np.zeros_like(values), where=norms > 0))


def one_ulp_apart(random: Random, shape: tuple[int, int], dtype: type) -> Array:
    """One random row, every entry moved by -1, 0 or 1 unit in the last place."""
    base: Array = random.normal(size=shape[1]).astype(dtype)
    steps = random.integers(-1, 2, size=shape)
    up, down = np.nextafter(base, dtype(np.inf)), np.nextafter(base, dtype(-np.inf))
    return np.where(steps > 0, up, np.where(steps < 0, down, base)).astype(dtype)


def multiples(random: Random, shape: tuple[int, int]) -> Array:
    """A few rows, and small multiples of them."""
    few = random.normal(size=(3, shape[1])).astype(np.float32).round(2).astype(np.float32)
    factors = random.choice([1, 2, 3, 0.5, -1], size=shape[0]).astype(np.float32)
    return few[random.integers(3, size=shape[0])] * factors[:, None]


def near_one_row(random: Random, shape: tuple[int, int], dtype: type, size: float) -> Array:
    """Rows at a relative distance of about `size` from the first one, whose entries have several magnitudes."""
    center = random.normal(size=shape[1]) * 10.0 ** random.integers(-3, 4, size=shape[1])
    rows = center * (1 + size * random.uniform(-1, 1, size=shape))
    rows[0] = center
    return np.asarray(rows, dtype=dtype)


def some_twice(random: Random, rows: Array) -> Array:
    """Rows of which about half are copies of others."""
    chosen = random.random(len(rows)) < 0.5
    rows[chosen] = rows[random.integers(len(rows), size=chosen.sum())]
    return rows


NEAR_DUPLICATES: dict[str, Callable[[Random, tuple[int, int]], Array]] = {
    "float32": lambda r, s: near_one_row(r, s, np.float32, 1e-6),
    "float64": lambda r, s: near_one_row(r, s, np.float64, 1e-12),
    "float64, wide": lambda r, s: near_one_row(r, s, np.float64, 0.3),
    "float16": lambda r, s: (r.normal(size=s[1]) * (1 + 0.01 * r.normal(size=s))).astype(np.float16),
    "one ulp float32": lambda r, s: one_ulp_apart(r, s, np.float32),
    "one ulp float64": lambda r, s: one_ulp_apart(r, s, np.float64),
    "huge": lambda r, s: near_one_row(r, s, np.float64, 1e-9) * 2.0**900,
    "tiny": lambda r, s: near_one_row(r, s, np.float64, 1e-9) * 2.0**-900,
    "subnormal differences": lambda r, s: near_one_row(r, s, np.float64, 1e-12) * 2.0**-1000,
    "multiples": lambda r, s: near_one_row(r, s, np.float64, 1e-9) * np.linspace(0.8, 1.2, s[0])[:, None],
    "multiples of one row": lambda r, s: (
        r.normal(size=s[1]).astype(np.float32) * r.choice([1, 1.25, 1.5], size=(s[0], 1))
    ),
    "duplicates": lambda r, s: some_twice(r, near_one_row(r, s, np.float32, 1e-6)),
    "zeros beside": lambda r, s: near_one_row(r, s, np.float64, 1e-12) * (np.arange(s[1]) != 1),
    "one far row": lambda r, s: near_one_row(r, s, np.float64, 1e-12) * np.append(np.ones(s[0] - 1), -1)[:, None],
}
"""Rows near the first one, which are ranked by their differences from it."""

LARGEST, LARGEST32 = float(np.finfo(np.float64).max), float(np.finfo(np.float32).max)

HARD_SETS: dict[str, Callable[[Random, tuple[int, int]], Array]] = {
    "gaussian float32": lambda r, s: r.normal(size=s).astype(np.float32),
    "gaussian float64": lambda r, s: r.normal(size=s),
    "0/1": lambda r, s: r.integers(0, 2, size=s).astype(np.float32),
    "±1": lambda r, s: r.choice([-1.0, 1.0], size=s).astype(np.float32),
    "±1/sqrt(d) float32": lambda r, s: (r.choice([-1.0, 1.0], size=s) / np.sqrt(s[1])).astype(np.float32),
    "0/1 normalized float32": lambda r, s: normalized(r.integers(0, 2, size=s), np.float32),
    "0/1 normalized float64": lambda r, s: normalized(r.integers(0, 2, size=s), np.float64),
    "0.1, 0.2, 0.3 float32": lambda r, s: r.choice([0.1, 0.2, 0.3], size=s).astype(np.float32),
    "0.1, 0.2, 0.3 float64": lambda r, s: r.choice([0.1, 0.2, 0.3], size=s),
    "±0.1, 0 float64": lambda r, s: r.choice([-0.1, 0.0, 0.1], size=s),
    "one ulp apart float32": lambda r, s: one_ulp_apart(r, s, np.float32),
    "one ulp apart float64": lambda r, s: one_ulp_apart(r, s, np.float64),
    "near one row": lambda r, s: some_twice(r, near_one_row(r, s, np.float32, 1e-6)),
    "duplicates": lambda r, s: r.normal(size=(4, s[1])).astype(np.float32)[r.integers(4, size=s[0])],
    "multiples": multiples,
    "1e37": lambda r, s: (r.normal(size=s) * 1e37).astype(np.float32),
    "1e300": lambda r, s: r.normal(size=s) * 1e300,
    "1e300 few values": lambda r, s: r.choice([1e300, -1e300, 2e300, 0.0], size=s),
    "largest float64": lambda r, s: r.choice([LARGEST, -LARGEST, 0.75 * LARGEST, 2.0**51, 1.0, 0.0], size=s),
    "largest float32": lambda r, s: r.choice([LARGEST32, -LARGEST32, 2.0**100, 1.0, 0.0], size=s).astype(np.float32),
    "1e-40": lambda r, s: (r.normal(size=s) * 1e-40).astype(np.float32),
    "1e-310": lambda r, s: r.normal(size=s) * 1e-310,
    "1e-310 and zero rows": lambda r, s: r.normal(size=s) * 1e-310 * (r.random(size=(s[0], 1)) < 0.6),
    "far apart, far below one": lambda r, s: r.normal(size=s) * 2.0 ** r.choice([-390, -380, 300], size=(s[0], 1)),
    "sixty orders of magnitude": lambda r, s: r.normal(size=s) * 10.0 ** r.integers(-30, 31, size=s),
    "rows over sixty orders": lambda r, s: r.normal(size=s) * 10.0 ** r.integers(-30, 31, size=(s[0], 1)),
    "sixty orders float32": lambda r, s: (r.normal(size=s) * 10.0 ** r.integers(-30, 31, size=s)).astype(np.float32),
    "six hundred orders": lambda r, s: r.normal(size=s) * 10.0 ** r.integers(-300, 301, size=s),
    "all zero": lambda r, s: np.zeros(s),
    "some rows zero": lambda r, s: r.normal(size=s) * (r.random(size=(s[0], 1)) < 0.6),
    "sparse": lambda r, s: r.normal(size=s) * (r.random(size=s) < 0.3),
    "sparse, nothing negative": lambda r, s: abs(r.normal(size=s)).astype(np.float32) * (r.random(size=s) < 0.3),
    "a constant": lambda r, s: np.full(s, 0.1),
    "constant rows": lambda r, s: np.repeat(r.normal(size=(s[0], 1)), s[1], axis=1),
    "negative zeros": lambda r, s: r.choice([-0.0, 0.0, 1.0, -1.0], size=s),
    "int8": lambda r, s: r.integers(-128, 128, size=s).astype(np.int8),
    "int8 few values": lambda r, s: r.integers(-2, 3, size=s).astype(np.int8),
    "uint8": lambda r, s: r.integers(0, 256, size=s).astype(np.uint8),
    "int32 large": lambda r, s: r.integers(-(2**31), 2**31, size=s).astype(np.int32),
    "int64 like int8": lambda r, s: r.integers(-128, 128, size=s),
    "int64 of 9 bits, multiples": lambda r, s: (
        r.integers(-300, 301, size=(3, s[1]))[r.integers(3, size=s[0])] * r.choice([1, 2, 3, -1], size=(s[0], 1))
    ),
    "int64 of both signs beyond 2^53": lambda r, s: r.choice([-(2**63), 2**63 - 1, -(2**53) - 1, -1, 1, 0], size=s),
    "int64 around 2^53": lambda r, s: 2**53 + r.integers(-3, 3, size=s),
    "int64 up to 2^53 + 1": lambda r, s: r.choice([2**53 + 1, 2**53 - 2, 0, 3], size=s),
    "int64 beyond float64": lambda r, s: r.integers(2**62, 2**62 + 3, size=s),
    "uint64 largest": lambda r, s: np.uint64(2**64 - 1) - r.integers(0, 3, size=s).astype(np.uint64),
    "bool": lambda r, s: r.random(size=s) < 0.5,
    "float16": lambda r, s: r.normal(size=s).astype(np.float16),
    "float16 coarse": lambda r, s: (r.integers(-4, 5, size=s) / 4).astype(np.float16),
}
