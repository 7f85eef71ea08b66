"""Tiles of int8 codes: their bounds hold, and they change no result, on every hard set of the exactness promise."""

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tieproof as tp
from forced import FORCED, small_tiles
from hard_sets import HARD_SETS
from tieproof.distances import codes, find_distance, long_codes, make_space
from tieproof.distances.inner_space import InnerSpace
from tieproof.distances.space import FLOAT32, INT8, Resources

DISTANCES = ("cosine", "dot", "euclidean")
LARGE = ("gaussian float32", "sparse", "some rows zero", "sixty orders float32", "int8", "±1")
SMALL = [pytest.param(name, 5, marks=pytest.mark.long if name == "six hundred orders" else ()) for name in HARD_SETS]

Patch = pytest.MonkeyPatch


def clustered(name: str, shape: tuple[int, int]) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    random = np.random.default_rng(3)
    return HARD_SETS[name](random, shape), random.integers(0, 9, size=shape[0])


@pytest.mark.few(8)
@pytest.mark.filterwarnings("ignore:.* of which every bit is set about half of the time")
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize(("name", "dimensions"), [*SMALL, *((name, 150) for name in LARGE)])
def test_codes_change_nothing(name: str, dimensions: int, distance: str, monkeypatch: Patch) -> None:
    data, labels = clustered(name, (50, dimensions))
    tasks: list[dict[str, Any]] = [
        {"embeddings": data, "labels": labels},
        {"embeddings": data[:20], "labels": labels[:20], "gallery": data[20:], "gallery_labels": labels[20:]},
    ]
    results = []
    for forced in (
        "no_codes",
        "codes_sifted",
        "codes_written",
        "codes_by_loop",
        "codes_out_of_memory",
        "two slices",
        "three slices",
    ):
        with monkeypatch.context() as patch:
            small_tiles(patch, 17)
            FORCED[forced](patch)
            results.append([tp.evaluate(**task, distance=distance).to_json() for task in tasks])
    assert results[1:] == results[:1] * 6


def test_large_data_are_encoded(monkeypatch: Patch) -> None:
    """Where relevant items are clearly nearer than most others, and the processor multiplies codes."""
    monkeypatch.setattr(codes, "multiplies_codes", lambda: True)
    encoded = []
    encode = codes.encode

    def noted(*call: Any) -> None:
        encoded.append(len(call))
        encode(*call)

    monkeypatch.setattr(codes, "encode", noted)
    random = np.random.default_rng(0)
    labels = np.arange(2100) // 3
    data = random.normal(size=(700, 64))[labels] + 0.3 * random.normal(size=(2100, 64))
    tp.evaluate(data, labels, measures=["AP"])
    assert encoded
    encoded.clear()
    tp.evaluate(data[:1500], labels[:1500], measures=["AP"])
    assert not encoded


def fractions_of(rows: Any) -> list[list[Fraction]]:
    """The distinct rows, divided exactly."""
    raw, divisor = rows.raw(slice(None)), rows.divisor.tolist()
    return [
        [Fraction(value) / Fraction(unit) for value in row] for row, unit in zip(raw.tolist(), divisor, strict=True)
    ]


def nearness(distance: str, x: list[Fraction], y: list[Fraction]) -> Fraction:
    """The key in real numbers, a cosine to 60 digits."""
    product, square = sum(a * b for a, b in zip(x, y, strict=True)), sum(b * b for b in y)
    if distance == "dot":
        return Fraction(product)
    if distance == "euclidean":
        return Fraction(2 * product - square)
    other = sum(a * a for a in x)
    if not square or not other:
        return Fraction(0)
    with localcontext() as context:
        context.prec = 400
        root = (Decimal((square * other).numerator) / Decimal((square * other).denominator)).sqrt()
        return Fraction(product) / Fraction(root)


def test_codes_of_normal_vectors() -> None:
    """What exact/README.md says of their size at 512 dimensions."""
    data = np.random.default_rng(0).normal(size=(300, 512))
    order = np.arange(300)
    resources = Resources(2**30, INT8, 2**16)
    space = make_space(find_distance("cosine"), data, None, (order, order), resources)
    assert isinstance(space, InnerSpace)
    assert space.codes is not None
    assert np.median(space.codes[1].lost[0]) == pytest.approx(0.007, abs=0.001)
    assert np.median(space.product_errors) == pytest.approx(0.018, abs=0.001)


REAL = [name for name in HARD_SETS if not name.startswith(("int", "uint", "bool"))]


@pytest.mark.parametrize("kind", [INT8, *long_codes.SLICES], ids=str)
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("name", REAL)
def test_bounds_of_entries(name: str, distance: str, kind: np.dtype[Any], monkeypatch: Patch) -> None:
    """No entry of a tile, and no key of a pair, is farther from the real number than its bound says."""
    data, _ = clustered(name, (14, 9))
    order = np.arange(14)
    resources = Resources(2**30, FLOAT32, 2**16)
    space = make_space(find_distance(distance), data, None, (order, order), resources)
    if space.integers:
        pytest.skip("integers have no error")
    if kind != INT8:
        monkeypatch.setattr(codes, "fastest_way", lambda: codes.MATRIX_UNIT)
    space = space.variant(kind, 2**16)
    assert isinstance(space, InnerSpace)
    assert space.codes is not None
    space.keep_rows()
    count = len(space.items)
    rows, columns = np.divmod(np.arange(count**2), count)
    quick = space.quick_keys(rows, columns)
    assert (quick is not None) == (kind == INT8)
    entries, _ = space.key_block(slice(0, count), slice(0, count))
    error = space.all_errors
    bounds = error.relative * np.abs(entries) + error.row[:, None] * error.column + error.constant
    exact = fractions_of(space.items)
    for i in range(count):
        for j in range(count):
            real, at = nearness(distance, exact[i], exact[j]), i * count + j
            assert abs(Fraction(entries[i, j].item()) - real) <= Fraction(bounds[i, j].item())
            assert quick is None or abs(Fraction(quick[0][at].item()) - real) <= Fraction(quick[1][at].item())


@pytest.mark.parametrize(("kind", "slices"), [(np.int16, 2), (np.int32, 3)])
def test_what_is_left_out_may_reach_the_bound(kind: Any, slices: int, monkeypatch: Patch) -> None:
    """Of rows that slices represent exactly, all products that are left out have one sign."""
    monkeypatch.setattr(codes, "fastest_way", lambda: codes.MATRIX_UNIT)
    FORCED["no_integers"](monkeypatch)
    numbers = np.full((2, 500), float(sum(126 * 254**s for s in range(slices))))
    numbers[:, 0] = 127 * 254.0 ** (slices - 1)  # the largest code is 127, and lacks nothing
    numbers[1, 1] = 0.0
    order = np.arange(2)
    space = make_space(find_distance("dot"), numbers, None, (order, order), Resources(2**30, FLOAT32, 2**16))
    space = space.variant(np.dtype(kind), 2**16)
    assert isinstance(space, InnerSpace)
    entry = Fraction(float(space.tile(slice(0, 1), slice(1, 2))[0, 0]))
    x, y = fractions_of(space.items)
    error, bound = abs(entry - nearness("dot", x, y)), space.all_errors
    most = Fraction(bound.row[0] * bound.column[1] + bound.constant[1])
    assert error <= most
    assert float(error / most) > 0.9


def test_long_codes_are_for_a_matrix_unit(monkeypatch: Patch) -> None:
    """Which takes so many codes of a row, all slices together."""
    monkeypatch.setattr(codes, "fastest_way", lambda: codes.MATRIX_UNIT)
    assert [long_codes.multiplies(dimensions, 3) for dimensions in (1, 2048, 2049)] == [True, True, False]
    assert long_codes.multiplies(3072, 2)
    assert not long_codes.multiplies(3073, 2)
    monkeypatch.setattr(codes, "fastest_way", lambda: 2)
    assert not long_codes.multiplies(64, 2)
