"""Near-duplicates minus one of them: exact differences, bounds that hold, and the same results as without them."""

from fractions import Fraction
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tieproof as tp
from hard_sets import NEAR_DUPLICATES, one_ulp_apart
from shard_files import write
from tieproof.distances import DISTANCES, euclidean, make_space, near_duplicates
from tieproof.distances.exact.rows import Rows, distinct_rows
from tieproof.distances.near_duplicates import NearDuplicates, centered
from tieproof.distances.space import Resources

Array = npt.NDArray[Any]

MUCH = 2**20


def rows_of(array: Array) -> Rows:
    return distinct_rows(array, "embeddings", False, np.arange(len(array)))


def near_rows(count: int, dtype: type, dimensions: int = 6) -> Array:
    random = np.random.default_rng(0)
    center = random.normal(size=dimensions)
    rows: Array = (center + 1e-6 * random.normal(size=(count, dimensions)) * np.abs(center)).astype(dtype)
    rows[3] = rows[5]
    return rows


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("step", [1.0, 0.5, 2.0])
def test_differences_are_exact(dtype: type, step: float) -> None:
    data = near_rows(40, dtype)
    data[7] = data[0] * dtype(step)
    found = centered((rows_of(data),), MUCH, 1)
    assert found is not None
    (side,), center = found
    for row, difference in zip(data.tolist(), side.embeddings.tolist(), strict=True):
        exact = [Fraction(x) - Fraction(c) for x, c in zip(row, center.tolist(), strict=True)]
        assert [Fraction(x) for x in difference] == exact
    assert side.identity.tolist() == rows_of(data).identity.tolist()
    assert side.weight.tolist() == rows_of(data).weight.tolist()


def far_at_the_end(data: Array) -> Array:
    data[-1, 2] *= -1
    return data


def more_than_twice(data: Array) -> Array:
    data[-1, 2] = np.nextafter(2 * data[0, 2], data[0, 2] * 9)
    return data


def less_than_half(data: Array) -> Array:
    data[1, 2] = np.nextafter(data[0, 2] / 2, 0)
    return data


def huge(data: Array) -> Array:
    data[:, 0] = np.finfo(data.dtype).max
    return data


def odd_subnormal(data: Array) -> Array:
    data[:, 0] = 5e-324
    return data


@pytest.mark.parametrize("change", [far_at_the_end, more_than_twice, less_than_half, huge, odd_subnormal, np.rint])
def test_rows_that_are_not_near(change: Any) -> None:
    data = change(near_rows(40, np.float64))
    assert centered((rows_of(data if change is not np.rint else data.astype(np.int64)),), MUCH, 1) is None


def test_sides_of_two_types_or_beyond_the_memory() -> None:
    one, other = rows_of(near_rows(9, np.float32)), rows_of(near_rows(9, np.float64))
    assert centered((one, other), MUCH, 1) is None
    assert centered((one, one), 2 * one.embeddings.nbytes, 1) is not None
    assert centered((one, one), 2 * one.embeddings.nbytes - 1, 1) is None


CALLS: dict[str, Any] = {
    "leave-one-out": lambda data, labels, **options: tp.evaluate(data, labels, **options),
    "float16": lambda data, labels, **options: tp.evaluate(data, labels, precision="float16", **options),
    "collisions": lambda data, labels, **options: tp.collisions(data, labels, **options),
    "collisions, epsilon": lambda data, labels, **options: tp.collisions(data, labels, epsilon=1e-9, **options),
    "gallery": lambda data, labels, **options: tp.evaluate(
        data[:40], labels[:40], gallery=data[40:], gallery_labels=labels[40:], **options
    ),
}


WHERE = {"euclidean": euclidean, "sqeuclidean": euclidean, "dot": near_duplicates, "cosine": near_duplicates}
"""The module that calls `centered` for each distance."""


@pytest.mark.parametrize("distance", WHERE)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", ["noise float32", "noise float64", "one ulp"])
def test_results_are_the_same(call: str, kind: str, distance: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    data = {
        "noise float32": lambda: near_rows(120, np.float32),
        "noise float64": lambda: near_rows(120, np.float64),
        "one ulp": lambda: one_ulp_apart(random, (120, 6), np.float32),
    }[kind]()
    labels = random.integers(0, 9, size=120)
    found = CALLS[call](data, labels, distance=distance).to_json()
    calls: list[object] = []

    def never(*arguments: Any) -> None:
        calls.append(arguments)

    monkeypatch.setattr(WHERE[distance], "centered", never)
    assert CALLS[call](data, labels, distance=distance).to_json() == found
    ranks_floats = call in ("leave-one-out", "gallery") and kind != "one ulp"  # which are integers of 24 bits
    assert bool(calls) == (WHERE[distance] is euclidean or ranks_floats)


@pytest.mark.parametrize("distance", ["euclidean", "dot", "cosine"])
@pytest.mark.parametrize("far", [0, 1, 100])
def test_parts_with_different_centers_and_with_none(
    far: int, distance: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part may have another center than the part that it counts, or none."""
    data, labels = near_rows(300, np.float32), np.random.default_rng(1).integers(0, 40, 300)
    data[300 - far :] *= -1
    folder = write(tmp_path, ".npy", data, labels, [77, 150, 299])
    with monkeypatch.context() as patch:
        patch.setattr(WHERE[distance], "centered", lambda *_: None)
        expected = tp.evaluate(data, labels, distance=distance).to_json()
    assert tp.evaluate(data, labels, distance=distance).to_json() == expected
    for memory in (1000, "1GiB"):
        assert tp.evaluate(tp.open(folder), distance=distance, memory=memory).to_json() == expected


def test_the_center_is_no_zero_vector() -> None:
    data = near_rows(20, np.float32)
    order, resources = np.arange(20), Resources(MUCH, np.dtype(np.float32), 2**16)
    space = make_space(DISTANCES["euclidean"], data, None, (order, order), resources)
    assert space.queries.largest[0] == 0
    assert space.zero_vectors == 0


BOUNDED = [name for name in NEAR_DUPLICATES if name not in ("float16", "one far row")]
"""Rows whose differences from the first one are exact."""


def exact_roots(rows: list[list[Fraction]], distance: str) -> list[list[Fraction]]:
    """For all rows to all rows, x.y; or x.y / |y| with 60 digits more than float64 has."""

    def root(square: Fraction) -> Fraction:
        shift = 400 + square.denominator.bit_length()
        return Fraction(isqrt((square.numerator << 2 * shift) // square.denominator), 1 << shift)

    products = [[sum((a * b for a, b in zip(x, y, strict=True)), Fraction(0)) for y in rows] for x in rows]
    if distance == "dot":
        return products
    norms = [root(products[i][i]) for i in range(len(rows))]
    return [[product / norm for product, norm in zip(line, norms, strict=True)] for line in products]


@pytest.mark.parametrize("distance", ["dot", "cosine"])
@pytest.mark.parametrize("name", BOUNDED)
@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.float64])
def test_bounds_hold(name: str, distance: str, dtype: type) -> None:
    """Differences of two items' nearness are those of exact numbers, times a number that all pairs share."""
    data = NEAR_DUPLICATES[name](np.random.default_rng(2), (12, 9))
    order, resources = np.arange(len(data)), Resources(MUCH, np.dtype(dtype), 2**16)
    space = make_space(DISTANCES[distance], data, None, (order, order), resources).of_near_duplicates()
    if name == "multiples of one row" and distance == "cosine":
        assert len(space.items) == 1
        return
    assert isinstance(space, NearDuplicates)
    own = [[Fraction(x) for x in row] for row in data[space.as_passed.items.first].tolist()]
    exact, count = exact_roots(own, distance), len(own)
    rows, columns = (each.ravel() for each in np.indices((count, count)))
    tile, tile_error = space.key_block(slice(0, count), slice(0, count))
    keys, errors = (each.reshape(count, count) for each in space.keys(rows, columns))
    assert space.scale is not None
    unit = Fraction(2) ** (space.scale.exponent - 2)
    for i in range(count):
        factor = 1 / unit
        if distance == "cosine":  # the query is stretched to the plane through the first row
            along = sum((a * b for a, b in zip(own[i], own[0], strict=True)), Fraction(0))
            factor *= exact[0][0] ** 3 / along
        for j in range(count):
            nearness = (exact[i][j] - exact[i][0]) * factor
            for found, error in ((tile[i], tile_error[i] * np.ones(count)), (keys[i], errors[i])):
                off = Fraction(float(found[j])) - Fraction(float(found[0])) - nearness
                assert abs(off) <= Fraction(float(error[j])) + Fraction(float(error[0]))
