"""Section 1.1: "the 32 bit limitation of modern GPU computing", tried: products in float32, TF32 and bfloat16.

Every operation is one of IEEE single precision, in a stated order, so the bits are the same on every machine.
Libraries and GPUs add in orders of their own; tensor cores multiply entries of fewer bits, and add in float32.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import tieproof as tp
from studies.common import table
from studies.nicolaou2018.straightforward import FloatArray, IntArray, estimate

Singles = npt.NDArray[np.float32]

PRECISIONS = {"float32": 24, "TF32": 11, "bfloat16": 8}
"""The significant bits of the entries that are multiplied."""

ORDERS, BLOCKS = 12, (8, 64)
"""Orders of the dimensions, of which the first is that of the file; and sizes of blocks that are summed first."""


class Way(NamedTuple):
    """How products are added: the order of the dimensions, and how many are summed before these sums are added."""

    order: IntArray
    block: int = 1


def ways(dimensions: int, orders: int) -> list[Way]:
    """The dimensions in several orders, each added one by one; and the first of them in blocks."""
    random = np.random.default_rng(0)
    shuffled = [random.permutation(dimensions) for _ in range(orders - 1)]
    given = np.arange(dimensions)
    return [*(Way(order) for order in (given, *shuffled)), *(Way(given, block) for block in BLOCKS)]


def rounded(values: Singles, bits: int) -> Singles:
    """Numbers with so many significant bits, the nearest ones, ties to even.

    >>> rounded(np.array([1.00390625, 257.0, -3.0], dtype=np.float32), 8).tolist()
    [1.0, 256.0, -3.0]
    """
    significand, exponent = np.frexp(values)
    return np.asarray(np.ldexp(np.rint(np.ldexp(significand, bits)), exponent - bits), dtype=np.float32)


def products(rows: Singles, way: Way) -> Singles:
    """The products of all pairs of rows, (n, n), in float32."""
    columns = np.ascontiguousarray(rows.T)
    total, part, term = (np.zeros((len(rows),) * 2, dtype=np.float32) for _ in range(3))
    for place, at in enumerate(way.order, start=1):
        np.multiply(columns[at][:, None], columns[at], out=term)
        part += term
        if place % way.block == 0 or place == len(way.order):
            total += part
            part[:] = 0
    return total


def cosine_distances(embeddings: Any, bits: int, way: Way) -> Singles:
    """Cosine distances by products of rows that were divided by their norms, all in float32."""
    rows = np.asarray(embeddings, dtype=np.float32)
    squares = np.zeros(len(rows), dtype=np.float32)
    for at in way.order:
        squares += rows[:, at] * rows[:, at]
    unit = (rows / np.sqrt(squares)[:, None]).astype(np.float32)
    return np.float32(1) - products(rounded(unit, bits), way)


class Found(NamedTuple):
    """What products of a precision gave.

    scores : the mAP of each way
    error : the largest difference of a distance from the one in double precision
    measured, proven : mAP over all rankings that are possible if distances are off by that error, and by the bound
    """

    scores: list[tp.Estimate[float]]
    error: float
    measured: tp.Bounds[float]
    proven: tp.Bounds[float]

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest mAP."""
        return min(score.lower for score in self.scores), max(score.upper for score in self.scores)


def measure(embeddings: Any, labels: npt.NDArray[Any], double: FloatArray, orders: int = ORDERS) -> dict[str, Found]:
    """Try each precision: float32 in several orders of the dimensions, the others in that of the file."""
    found = {}
    for name, bits in PRECISIONS.items():
        scores, error = [], 0.0
        for way in ways(embeddings.shape[1], orders if name == "float32" else 1):
            distances = cosine_distances(embeddings, bits, way)
            scores.append(estimate(distances, labels))
            error = max(error, float(np.abs(distances - double).max()))
        bounds = [under_noise(embeddings, labels, noise) for noise in (error, f"{name.lower()} products")]
        found[name] = Found(scores, error, *bounds)
    return found


def under_noise(embeddings: Any, labels: npt.NDArray[Any], noise: float | str) -> tp.Bounds[float]:
    """The mAP over all rankings that are possible under this noise."""
    bounds: tp.Bounds[float] = tp.evaluate(embeddings, labels, measures=["AP"], noise=noise)["AP"].noise
    return bounds


def shown(low: float, high: float) -> str:
    """A range.

    >>> shown(0.95, 0.96)
    '0.950000 to 0.960000'
    """
    return f"{low:.6f} to {high:.6f}"


def claim(found: dict[str, Found], exact: tp.Estimate[float]) -> tuple[str, str, str]:
    """The claim on what causes the unpredictability."""
    low, high = found["float32"].range
    return (
        '"possibly attributed to the 32 bit limitation of modern GPU computing" (section 1.1)',
        f"products in float32, in {len(found['float32'].scores)} orders and blocks: {low:.4%} to {high:.4%}",
        f"right in kind: orders of addition move the exact {exact.lower:.4%} by up to "
        f"{max(high - exact.upper, exact.lower - low):.4%}, because near items change places. The paper's own values "
        "have other causes, which the rows above explain",
    )


def section(found: dict[str, Found]) -> str:
    """The table of all precisions, and what it shows."""
    headings: Sequence[str] = (
        "products",
        "ways of adding",
        "mAP",
        "largest error",
        "noise= this error",
        "noise= the products' name",
    )
    rows = [
        (
            name,
            str(len(each.scores)),
            shown(*each.range),
            f"{each.error:.1e}",
            shown(each.measured.lower, each.measured.upper),
            shown(each.proven.lower, each.proven.upper),
        )
        for name, each in found.items()
    ]
    return (
        "The last table shows distances as programs compute them: rows divided by their norms, and a matrix product, "
        f"all in float32. Products are added in {ORDERS} orders of the dimensions and in blocks of {BLOCKS[0]} and "
        f"{BLOCKS[1]}; for TF32 and bfloat16, entries are rounded to {PRECISIONS['TF32']} and "
        f"{PRECISIONS['bfloat16']} bits before they are multiplied, as tensor cores do. The rows of float32 in the "
        "table above, where distances are rounded only once, show nothing of this. The last two columns are the "
        "bounds over all rankings that are possible if distances are off by the largest error seen, and by what is "
        'proven for every order (`noise="float32 products"`, docs/guides/reproducible.md):\n\n'
        + table(headings, rows)
    )
