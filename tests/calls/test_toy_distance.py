"""The recipe "Add a distance" of CONTRIBUTING.md, for a toy distance: the largest |x - y| of float16 numbers."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import exact_oracle
import fnmr_oracle
import tieproof as tp
from checks import assert_found, assert_scores, check_rates, expected_ties
from exact_oracle import Vector, fractions, mean_average_precision
from rounding_oracle import distance as real_distance
from rounding_oracle import rounded
from tieproof.distances import DISTANCES, Distance, our_name
from tieproof.distances.exact.bounds import UNIT_ROUNDOFF
from tieproof.distances.exact.rows import Rows
from tieproof.distances.gauge import SpaceGauge
from tieproof.distances.space import Entries, Error, Resources, Space
from tieproof.errors import InputError
from tieproof.inputs.arrays import Embeddings, as_embeddings
from tieproof.ties import FloatArray, IntArray

# 1. The definition in fractions, for the oracles


def largest_difference(x: Vector, y: Vector) -> Fraction:
    return max(abs(a - b) for a, b in zip(x, y, strict=True))


# 2. The content of `distances/chebyshev.py`


class Chebyshev(Space):
    """Keys are minus the distances, which float64 represents exactly: multiples of 2^-24 below 2^17."""

    integers = False

    def __init__(self, queries: Rows, items: Rows, resources: Resources) -> None:
        self.queries, self.items = queries, items
        self.x, self.y = (side.embeddings[side.first].astype(np.float64) for side in (queries, items))
        self.choose_tiles(resources)

    def tile(self, rows: slice | IntArray, columns: slice | IntArray) -> Entries:
        """Minus the largest differences, rounded once to the tile's type."""
        differences = np.abs(self.x[rows][:, None] - self.y[columns][None])
        tile: Entries = -differences.max(axis=2).astype(self.tile_type)
        return tile

    def error(self) -> Error:
        """The error of that rounding, which is 0 in float64."""
        exact = self.tile_type == np.float64
        return self.make_error(relative=0.0 if exact else 2 * UNIT_ROUNDOFF[self.tile_type])

    def keys(self, rows: IntArray, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        """Minus the distances, and no errors."""
        return -np.abs(self.x[rows] - self.y[columns]).max(axis=1), np.zeros(len(rows))

    def exact_keys(self, rows: IntArray, columns: IntArray) -> IntArray:
        """Minus the distances in units of 2^-24."""
        return (self.keys(rows, columns)[0] * 2.0**24).astype(np.int64)[:, None]


class ChebyshevGauge(SpaceGauge):
    """The distance: float64 tiles are exact."""

    space: Chebyshev

    def values(self, rows: slice | IntArray, columns: slice | IntArray) -> FloatArray:
        """The distances."""
        return -self.space.tile(rows, columns).astype(np.float64)

    def exact(self, values: FloatArray, rows: IntArray, columns: IntArray) -> list[Any]:
        """The values as fractions."""
        return [Fraction(value) for value in values.tolist()]

    def sharp(self, rows: IntArray, columns: IntArray) -> None:
        """No sharper bounds exist."""


def as_halves(values: Any, name: str, bits: int | None) -> Embeddings:
    """Convert the embeddings to float16."""
    embeddings = as_embeddings(values, name)
    if embeddings.dtype != np.float16:
        raise InputError(f"The {name} are {embeddings.dtype}, and this distance takes float16. Convert them first.")
    return embeddings


CHEBYSHEV = Distance(
    meaning="max |x - y|",
    space=Chebyshev,
    gauge=ChebyshevGauge,
    other_names=("l_infinity", "maximum"),
    takes=as_halves,
)

# 3. Its line in the registry, and its name in the oracles


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setitem(DISTANCES, "chebyshev", CHEBYSHEV)
        patch.setitem(exact_oracle.KEYS, "chebyshev", lambda x, y: -largest_difference(x, y))
        patch.setitem(fnmr_oracle.KEYS, "chebyshev", largest_difference)
        yield
    assert "chebyshev" not in DISTANCES
    with pytest.raises(tp.InputError, match="Unknown distance 'chebyshev'"):
        our_name("chebyshev")


Array = npt.NDArray[Any]


def few_values(random: np.random.Generator, shape: tuple[int, int]) -> Array:
    return random.integers(-3, 4, size=shape) / 8


def tiny_beside_large(random: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Differences that float32 rounds to the same number: 1000 less a few times 2^-24."""
    return random.choice([0.0, 2.0**-24, 2.0**-23, 1000.0], size=shape)


def any_values(random: np.random.Generator, shape: tuple[int, int]) -> Array:
    return random.normal(size=shape) * 10.0 ** random.integers(-4, 4, size=shape)


SETS = {"few values": few_values, "tiny beside large": tiny_beside_large, "any values": any_values}


def data_of(name: str, count: int, dimensions: int = 3) -> tuple[Array, npt.NDArray[np.int64]]:
    random = np.random.default_rng(count)
    return SETS[name](random, (count, dimensions)).astype(np.float16), random.integers(0, 3, size=count)


@pytest.mark.parametrize("name", SETS)
def test_rankings(name: str) -> None:
    data, labels = data_of(name, 30)
    found = tp.evaluate(data, labels, distance="chebyshev", measures=["AP"])["AP"]
    expected = mean_average_precision("chebyshev", data, labels.tolist())
    for value, exact in zip((found.lower, found.expected, found.upper), expected, strict=True):
        assert abs(Fraction(value) - exact) <= Fraction(1, 10**12)
    found = tp.evaluate(
        data[:9], labels[:9], gallery=data[9:], gallery_labels=labels[9:], distance="L-infinity", measures=["AP"]
    )["AP"]
    expected = mean_average_precision("chebyshev", data[:9], labels[:9].tolist(), data[9:], labels[9:].tolist())
    for value, exact in zip((found.lower, found.expected, found.upper), expected, strict=True):
        assert abs(Fraction(value) - exact) <= Fraction(1, 10**12)


@pytest.mark.parametrize("name", SETS)
def test_the_same_bits(name: str) -> None:
    data, labels = data_of(name, 200)
    expected = tp.evaluate(data, labels, distance="chebyshev", threads=1).to_json()
    order = np.random.default_rng(1).permutation(200)
    assert tp.evaluate(data[order], labels[order], distance="chebyshev").to_json() == expected
    for threads, memory in ((1, "1KiB"), (2, "32MiB"), (3, "4GiB")):
        found = tp.evaluate(data, labels, distance="chebyshev", threads=threads, memory=memory)
        assert found.to_json() == expected


@pytest.mark.parametrize("precision", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("name", SETS)
def test_rounded_distances(name: str, precision: str) -> None:
    data, labels = data_of(name, 12)
    rows = fractions(data)
    expected = [[rounded(precision, real_distance("chebyshev", x, y)) for y in rows] for x in rows]
    result = tp.evaluate(data, labels, distance="chebyshev", precision=precision, measures=["AP"], empty="zero")
    assert_scores(result, expected, labels)


@pytest.mark.parametrize("epsilon", [0.0, 2.0**-24, 0.125, 10.0])
@pytest.mark.parametrize("name", SETS)
def test_collisions(name: str, epsilon: float) -> None:
    data, labels = data_of(name, 15)
    found = tp.collisions(data, labels, distance="chebyshev", epsilon=epsilon)
    assert_found(found, expected_ties("chebyshev", data, labels, epsilon))


@pytest.mark.parametrize("name", SETS)
def test_error_rates(name: str) -> None:
    data, labels = data_of(name, 12)
    pairs = [(q, i, bool(labels[q] == labels[i])) for q in range(12) for i in range(12) if q != i]
    check_rates(data, "chebyshev", pairs, labels=labels)


def test_what_it_takes_and_how_it_is_named() -> None:
    assert our_name("Maximum") == "chebyshev"
    data, labels = data_of("few values", 10)
    with pytest.raises(tp.InputError, match=r"are float64, and this distance takes float16\. Convert them first\."):
        tp.evaluate(data.astype(np.float64), labels, distance="chebyshev")
    result = tp.evaluate(data, labels, distance="chebyshev", empty="zero")
    text = " ".join(result.to_text(explain=True).split())
    assert "under chebyshev distance" in text
