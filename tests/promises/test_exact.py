"""Promise 1, exact: orders and ties are those of real arithmetic, on data chosen to be hard."""

from fractions import Fraction
from random import Random
from typing import Any, Literal

import hypothesis
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tieproof as tp
from exact_oracle import ORDERS, mean_average_precision
from hard_sets import HARD_SETS
from tieproof.distances.exact import slices

pytestmark = pytest.mark.filterwarnings("ignore:.* of which every bit is set about half of the time")
"""Some data is random bytes, which look like packed codes."""

SHAPES = {"two items": (2, 3), "one dimension": (9, 1), "few": (11, 4), "more": (16, 23)}


def close(value: float, exact: Fraction) -> bool:
    return abs(Fraction(value) - exact) <= Fraction(1, 10**12) * exact


def assert_exact(result: tp.Result, expected: tuple[Fraction, Fraction, Fraction]) -> None:
    estimate = result["AP"]
    values = (estimate.lower, estimate.expected, estimate.upper)
    assert all(close(*pair) for pair in zip(values, expected, strict=True)), (values, [float(x) for x in expected])


def labels_of(random: np.random.Generator, count: int, classes: int) -> npt.NDArray[np.int64]:
    labels = random.integers(0, classes, size=count)
    labels[:2] = 0  # at least one query has a relevant item
    return labels


@pytest.mark.parametrize("distance", ORDERS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("name", HARD_SETS)
def test_leave_one_out(name: str, shape: tuple[int, int], distance: str) -> None:
    for seed in range(3):
        random = np.random.default_rng([seed, shape[0]])
        data = HARD_SETS[name](random, shape)
        labels = labels_of(random, shape[0], (3, 1, shape[0] // 2)[seed])
        result = tp.evaluate(data, labels, distance=distance, measures=["AP"])
        assert_exact(result, mean_average_precision(distance, data, labels.tolist()))


@pytest.mark.parametrize("distance", ORDERS)
@pytest.mark.parametrize("name", HARD_SETS)
def test_query_and_gallery(name: str, distance: str) -> None:
    for seed in range(2):
        random = np.random.default_rng(seed)
        data = HARD_SETS[name](random, (22, 6))
        queries, gallery = data[:7], data[7:]
        labels = labels_of(random, len(queries), 3)
        gallery_labels = labels_of(random, len(gallery), 3)
        result = tp.evaluate(
            queries, labels, gallery=gallery, gallery_labels=gallery_labels, distance=distance, measures=["AP"]
        )
        expected = mean_average_precision(distance, queries, labels.tolist(), gallery, gallery_labels.tolist())
        assert_exact(result, expected)


@pytest.mark.parametrize("distance", ORDERS)
def test_queries_and_gallery_of_other_types(distance: str) -> None:
    random = np.random.default_rng(5)
    queries = random.integers(-3, 4, size=(6, 5)).astype(np.int8)
    gallery = (random.integers(-3, 4, size=(15, 5)) * 0.1).astype(np.float32)
    labels, gallery_labels = labels_of(random, 6, 3), labels_of(random, 15, 3)
    result = tp.evaluate(
        queries, labels, gallery=gallery, gallery_labels=gallery_labels, distance=distance, measures=["AP"]
    )
    expected = mean_average_precision(distance, queries, labels.tolist(), gallery, gallery_labels.tolist())
    assert_exact(result, expected)


@pytest.mark.parametrize("distance", ORDERS)
@pytest.mark.parametrize("types", [("uint8", "int64"), ("int64", "uint16"), ("bool", "int64"), ("uint64", "uint8")])
def test_integers_beyond_2_53_beside_integers_of_another_type(types: tuple[str, str], distance: str) -> None:
    small, large = [[1, 0], [0, 1], [1, 1]], [[2**53 + 1, 1], [2**53, 1], [2**53 + 1, 0]]
    swapped = types[0] in ("int64", "uint64")
    queries, gallery = (
        np.array(rows, kind) for rows, kind in zip((large, small) if swapped else (small, large), types, strict=True)
    )
    result = tp.evaluate(
        queries, [0, 1, 0], gallery=gallery, gallery_labels=[0, 1, 0], distance=distance, measures=["AP"]
    )
    whole = [side.astype(np.int64) for side in (queries, gallery)]
    expected = mean_average_precision(distance, whole[0], [0, 1, 0], whole[1], [0, 1, 0])
    assert_exact(result, expected)


SIGNED_INTEGERS: list[tuple[list[list[int]], list[list[int]] | None]] = [
    ([[-4000]], [[170], [171]]),
    ([[22, -61], [66, -183], [323, 0], [1, 0]], None),
    ([[-1, -2, 2, 2]], [[2, -2, 1, 2], [1, -1, 0, 1], [0, 0, 0, -1], [0, 0, 0, -1]]),
]
"""Queries and gallery in Python's integers, whose signs were once lost in a conversion to float64 in two halves."""


@pytest.mark.parametrize("distance", ORDERS)
@pytest.mark.parametrize(("queries", "gallery"), SIGNED_INTEGERS)
def test_signed_integers_of_64_bits(queries: list[list[int]], gallery: list[list[int]] | None, distance: str) -> None:
    labels, gallery_labels = [0, 0, 1, 0][: len(queries)], [0, 1, 0, 1][: len(gallery or [])]
    if gallery is None:
        result = tp.evaluate(queries, labels, distance=distance, measures=["AP"])
        expected = mean_average_precision(distance, np.array(queries), labels)
    else:
        result = tp.evaluate(
            queries, labels, gallery=gallery, gallery_labels=gallery_labels, distance=distance, measures=["AP"]
        )
        expected = mean_average_precision(distance, np.array(queries), labels, np.array(gallery), gallery_labels)
    assert_exact(result, expected)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_halves_of_integers_add_up_and_have_their_sign(dtype: type) -> None:
    edges = [2**power + step for power in (0, 1, 31, 32, 33, 52, 53, 62, 63) for step in (-1, 0, 1)]
    limits = np.iinfo(dtype)
    numbers = [x for x in {*edges, *(-edge for edge in edges)} if limits.min <= x <= limits.max]
    high, low = slices.parts(np.array([numbers], dtype=dtype), halved=True)
    for number, *halves in zip(numbers, high[0].tolist(), low[0].tolist(), strict=True):
        assert sum(map(int, halves)) == number
        assert all(abs(half) <= abs(number) and half * number >= 0 for half in halves)


@pytest.mark.parametrize("bits", [1, 7, 8, 64, 65, 130])
def test_hamming(bits: int) -> None:
    random = np.random.default_rng(bits)
    codes = random.random(size=(24, bits)) < 0.5
    labels = labels_of(random, 24, 4)
    expected = mean_average_precision("hamming", codes, labels.tolist())
    assert_exact(tp.evaluate(codes, labels, distance="hamming", measures=["AP"]), expected)
    packed = np.packbits(codes, axis=1)
    assert_exact(tp.evaluate(packed, labels, distance="hamming", bits=bits, measures=["AP"]), expected)


@pytest.mark.long
@pytest.mark.parametrize("distance", ORDERS)
def test_millions_of_dimensions(distance: str) -> None:
    # The bound of a float32 sum of so many terms decides nothing; all but eight dimensions are zero.
    few = np.random.default_rng(0).normal(size=(4, 8)).astype(np.float32)
    few[3] = 0
    many = np.zeros((4, 2**23 - 10), dtype=np.float32)
    many[:, :8] = few
    labels, gallery_labels = [0], [0, 1, 0]
    expected = mean_average_precision(distance, few[:1], labels, few[1:], gallery_labels)
    options: dict[str, Any] = {"gallery": many[1:], "gallery_labels": gallery_labels, "distance": distance}
    assert_exact(tp.evaluate(many[:1], labels, measures=["AP"], **options), expected)


def test_hamming_of_more_bits_than_float32_counts() -> None:
    bits = 2**24 + 8
    gallery = np.arange(bits)[None] < np.array([[2**24], [2**24 + 1]])
    found = tp.evaluate(
        np.zeros((1, bits), bool), [1], gallery=gallery, gallery_labels=[1, 0], distance="hamming", measures=["AP"]
    )
    assert found["AP"].lower == 1


@pytest.mark.parametrize("distance", ORDERS)
def test_a_query_does_not_depend_on_the_others(distance: str) -> None:
    random = np.random.default_rng(0)
    queries, gallery = random.normal(size=(13, 3)) * 2.0**-380, random.normal(size=(40, 3)) * 2.0**-390
    queries[0] *= 2.0**680
    labels, gallery_labels = np.arange(13), random.integers(0, 13, size=40)
    all_queries, without_first = (
        tp.evaluate(
            queries[first:],
            labels[first:],
            gallery=gallery,
            gallery_labels=gallery_labels,
            distance=distance,
            measures=["AP"],
            empty="zero",
        )
        for first in (0, 1)
    )
    assert (all_queries.per_query("AP").lower[1:] == without_first.per_query("AP").lower).all()


@pytest.mark.parametrize("distance", ORDERS)
@pytest.mark.parametrize("classes", [1, 2, 20], ids=["one class", "two classes", "many classes"])
def test_more_thresholds_than_are_compared_one_by_one(classes: int, distance: str) -> None:
    random = np.random.default_rng(classes)
    data = random.integers(-2, 3, size=(90, 3)) * np.float32(0.1)
    labels = labels_of(random, 90, classes)
    result = tp.evaluate(data, labels, distance=distance, measures=["AP"])
    assert_exact(result, mean_average_precision(distance, data, labels.tolist()))


@pytest.mark.parametrize("distance", ORDERS)
def test_a_class_of_rows_whose_squares_vanish_beside_the_others(distance: str) -> None:
    # Squared norms below the smallest float64, in a class large enough to be ranked by a matrix of keys.
    random = np.random.default_rng(8)
    queries, gallery = random.normal(size=(6, 3)), random.normal(size=(60, 3))
    labels, gallery_labels = np.ones(6, dtype=np.int64), np.repeat([0, 1, 2], 20)
    gallery[20:] *= 1e-200
    result = tp.evaluate(
        queries, labels, gallery=gallery, gallery_labels=gallery_labels, distance=distance, measures=["AP"]
    )
    expected = mean_average_precision(distance, queries, labels.tolist(), gallery, gallery_labels.tolist())
    assert_exact(result, expected)


def matrices(width: Literal[32, 64]) -> st.SearchStrategy[npt.NDArray[np.floating]]:
    """Small matrices of any finite floats, with few distinct values so that ties are common."""
    finite = st.floats(allow_nan=False, allow_infinity=False, width=width)
    entry = st.lists(finite, min_size=1, max_size=6).flatmap(st.sampled_from)
    rows = st.integers(1, 4).flatmap(
        lambda d: st.lists(st.lists(entry, min_size=d, max_size=d), min_size=3, max_size=7)
    )
    return rows.map(lambda values: np.array(values, dtype=np.float32 if width == 32 else np.float64))


@pytest.mark.few(3)
@pytest.mark.parametrize("distance", ORDERS)
@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("number", range(5))
def test_any_finite_floats(number: int, width: Literal[32, 64], distance: str) -> None:
    @hypothesis.seed(number)
    @settings(max_examples=30, deadline=None, database=None)
    @given(matrices(width), st.randoms(use_true_random=False))
    def check(data: npt.NDArray[np.floating], random: Random) -> None:
        labels = [0, 0, *(random.randrange(2) for _ in range(len(data) - 2))]
        result = tp.evaluate(data, labels, distance=distance, measures=["AP"])
        assert_exact(result, mean_average_precision(distance, data, labels))

    check()
