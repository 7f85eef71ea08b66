"""Codes of rows, their arrangement in blocks, and tiles of codes and bits, in plain Python and NumPy."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]

FINER = 254


def encode(
    x: Array,
    first: Array,
    unit: FloatArray,
    scale: FloatArray,
    codes: Array,
    finer: Array,
    total: Array,
    lost: FloatArray,
) -> None:
    """The codes and the finer codes (one slice or two) of each row, the sums, and norms of what they lack."""
    codes[:], finer[:] = 0, 0
    for i, row in enumerate(first.tolist()):
        width, rests = codes.shape[1], []
        slices = [codes[i], *(finer[i, s * width : (s + 1) * width] for s in range(total.shape[1] - 1))]
        for d, number in enumerate(x[row].tolist()):
            rest, of_code, per_code = float(number) / float(unit[i]), float(scale[i]), 1 / float(scale[i])
            left = []
            for part in slices:
                part[d] = near = round(rest * per_code)
                rest -= of_code * near
                left.append(rest)
                of_code, per_code = of_code / FINER, per_code * FINER
            rests.append(left)
        total[i] = [int(part.sum(dtype=np.int64)) for part in slices]
        lost[i] = [math.sqrt(math.fsum(part * part for part in parts)) for parts in zip(*rests, strict=True)]


def arrange_codes(codes: Array, excess: int, blocks: Array) -> None:
    """Four codes of each of 16 items, then the next four of each."""
    for block, step, i, d in np.ndindex(len(blocks), codes.shape[1] // 4, 16, 4):
        item = 16 * block + i
        code = int(codes[item, 4 * step + d]) if item < len(codes) else 0
        blocks[block, 64 * step + 4 * i + d] = code + excess


def multiply_codes(
    rows: Array, row_scale: Array, items: Array, item_scale: Array, out: Array, slices: int = 1
) -> None:
    """Exact products of integers, converted to the type of `out` and then multiplied by both scales.

    Of several slices, a product of two slices has a weight of a power of 254, of which the smallest is 1.
    """
    x, y = (np.split(side.astype(np.int64), slices, axis=1) for side in (rows, items))
    products = np.zeros((len(rows), len(items)), dtype=np.int64)
    for s, t in np.ndindex(slices, slices):
        if s + t < slices:
            products += FINER ** (slices - 1 - s - t) * (x[s] @ y[t].T)
    out[:] = products.astype(out.dtype) * row_scale[:, None] * item_scale


def multiply_pairs_of_codes(
    x: Array, finer_x: Array, y: Array, finer_y: Array, rows: Array, columns: Array, out: FloatArray
) -> None:
    """The product of codes, with the digits that mixed products and products of finer codes add."""
    for i, (row, column) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
        code, finer = (part[row].astype(np.int64) for part in (x, finer_x))
        other, fine = (part[column].astype(np.int64) for part in (y, finer_y))
        mixed = int(code @ fine) + int(finer @ other)
        out[i] = int(code @ other) + (mixed + int(finer @ fine) / FINER) / FINER


def differing_tile(rows: Array, of_row: Array, items: Array, of_item: Array, each: float, out: Array) -> None:
    """The sum of the numbers of the row and of the item, `each` smaller for each bit that differs."""
    for i, row in enumerate(rows.view(np.uint8)):
        differing = np.bitwise_count(row ^ items.view(np.uint8)).sum(axis=1).astype(out.dtype)
        out[i] = of_row[i] + of_item - out.dtype.type(each) * differing
