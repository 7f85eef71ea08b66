"""The assumptions of the bounds: the machine's matrix product, the kernels' arithmetic, the exact integers."""

import itertools
from fractions import Fraction
from threading import Thread
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from threadpoolctl import threadpool_info

import tieproof as tp
from exact_oracle import KEYS, ORDERS, fractions
from hard_sets import HARD_SETS, one_ulp_apart
from thresholds import guided
from tieproof.distances import DISTANCES, make_space
from tieproof.distances.exact import bounds
from tieproof.distances.exact.bounds import ARITHMETIC, SAFETY
from tieproof.distances.space import Resources, Space
from tieproof.engine.counting import lowest_entries
from tieproof.engine.plan import Plan
from tieproof.engine.problem import Budget


def test_this_machine_multiplies_as_promised() -> None:
    bounds.check_products()


def test_threads_of_blas_are_restored() -> None:
    def evaluate() -> None:
        tp.evaluate(np.eye(4), [0, 0, 1, 1])

    evaluate()
    before = [pool["num_threads"] for pool in threadpool_info()]
    with bounds.single_threaded():
        thread = Thread(target=evaluate)
        thread.start()
        thread.join()
        assert all(library.num_threads == 1 for library in bounds.libraries.lib_controllers)
    assert [pool["num_threads"] for pool in threadpool_info()] == before


class Interrupted:
    """A library that is interrupted when its number of threads is set for the given time."""

    def __init__(self, at: int) -> None:
        self.num_threads, self.times, self.at = 4, 0, at

    def set_num_threads(self, number: int) -> None:
        self.times += 1
        if self.times == self.at:
            raise KeyboardInterrupt
        self.num_threads = number


@pytest.mark.parametrize("at", [1, 2])
def test_threads_of_blas_are_restored_after_an_interruption(at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the step that limits them, or of the step that restores them."""
    library = Interrupted(at)
    monkeypatch.setattr(bounds, "libraries", SimpleNamespace(lib_controllers=[library]))
    with pytest.raises(KeyboardInterrupt), bounds.single_threaded():
        assert library.num_threads == 1
    assert library.num_threads == 4
    with bounds.single_threaded():
        assert library.num_threads == 1
    assert library.num_threads == 4


def test_few_rows_are_checked_by_few_and_more_by_a_whole_tile(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[int] = []
    monkeypatch.setattr(bounds, "check_products_of", checked.append)
    for rows in (5, 128, 129, 5000):
        bounds.check_products(rows)
    bounds.check_products()
    assert checked == [bounds.SMALL_HALF, bounds.SMALL_HALF, bounds.HALF, bounds.HALF, bounds.HALF]


@pytest.mark.parametrize("half", [bounds.HALF, bounds.SMALL_HALF])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_reduced_precision_is_refused(dtype: type, half: int) -> None:
    # Only as many bits of the mantissa as a TF32 (or a float32) product would keep.
    kept = 10 if dtype == np.float32 else 30
    probe = bounds.make_probe(np.dtype(dtype), half)
    left, right = probe.matrices(np.dtype(dtype))
    bounds.check_product(probe, left @ right.T, np.dtype(dtype))

    def short(matrix: npt.NDArray[Any]) -> npt.NDArray[Any]:
        mantissa, exponent = np.frexp(matrix)
        rounded: npt.NDArray[Any] = np.ldexp(np.rint(np.ldexp(mantissa, kept)), exponent - kept).astype(dtype)
        return rounded

    for x, y in ((short(left), short(right)), (short(left), right), (left, short(right))):
        with pytest.raises(tp.UnsafeProductError, match="reduced precision"):
            bounds.check_product(probe, x @ y.T, np.dtype(dtype))


@pytest.mark.parametrize("half", [bounds.HALF, bounds.SMALL_HALF])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_single_wrong_entry_is_seen(dtype: type, half: int) -> None:
    probe = bounds.make_probe(np.dtype(dtype), half)
    left, right = probe.matrices(np.dtype(dtype))
    product = left @ right.T
    true = left.astype(object) @ right.T.astype(object)[:, :3]
    assert (product[: half // 2, :3] == true[: half // 2]).all()
    quarter, last = half // 2, 2 * half - 1
    places = [(0, 0), (quarter - 1, half - 1), (half - 1, quarter + 3)]
    places += [(half, half), (last - 9, half + 9), (last, last)]
    for row, column in places:
        for wrong in (np.nextafter(product[row, column], dtype(np.inf)), dtype(np.nan), dtype(np.inf)):
            changed = product.copy()
            changed[row, column] = wrong
            with pytest.raises(tp.UnsafeProductError):
                bounds.check_product(probe, changed, np.dtype(dtype))


@pytest.mark.parametrize("half", [bounds.HALF, bounds.SMALL_HALF])
def test_strassen_is_refused(half: int) -> None:
    def strassen(a: npt.NDArray[np.float32], b: npt.NDArray[np.float32], levels: int) -> npt.NDArray[np.float32]:
        if not levels:
            return a @ b
        (a11, a12), (a21, a22) = (np.split(half, 2, axis=1) for half in np.split(a, 2))
        (b11, b12), (b21, b22) = (np.split(half, 2, axis=1) for half in np.split(b, 2))
        pairs = [
            (a11 + a22, b11 + b22),
            (a21 + a22, b11),
            (a11, b12 - b22),
            (a22, b21 - b11),
            (a11 + a12, b22),
            (a21 - a11, b11 + b12),
            (a12 - a22, b21 + b22),
        ]
        m1, m2, m3, m4, m5, m6, m7 = (strassen(x, y, levels - 1) for x, y in pairs)
        return np.block([[m1 + m4 - m5 + m7, m3 + m5], [m2 + m4, m1 - m2 + m3 + m6]])

    probe = bounds.make_probe(np.dtype(np.float32), half)
    left, right = probe.matrices(np.dtype(np.float32))
    for levels in (1, 2, 3):
        with pytest.raises(tp.UnsafeProductError, match="Strassen"):
            bounds.check_product(probe, strassen(left, np.ascontiguousarray(right.T), levels), np.dtype(np.float32))


def space_of(name: str, distance: str, dtype: type, chunk: int) -> tuple[Space, npt.NDArray[np.generic]]:
    """A space, and its rows before they are divided, from which a common row may have been subtracted."""
    data = HARD_SETS[name](np.random.default_rng(3), (14, 9))
    order = np.arange(len(data))
    space = make_space(DISTANCES[distance], data, None, (order, order), Resources(2**20, np.dtype(dtype), chunk))
    return space, space.items.embeddings


def nearness(space: Space, entries: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The nearness that the kernels compute from a tile of all rows and items."""
    form = space.form
    assert entries.dtype == space.tile_type == form.factor.dtype == form.shift.dtype
    if form.ratio:
        wide = entries.astype(np.float64)
        return np.asarray(wide * np.abs(wide) / form.square)
    return np.asarray(entries * form.factor - form.shift)


HARD = [(name, distance) for name in HARD_SETS for distance in ORDERS]
TILES = [(np.float32, 99), (np.float32, 2), (np.float64, 99)]


@pytest.mark.parametrize(("dtype", "chunk"), TILES)
@pytest.mark.parametrize("distance", ORDERS)
@pytest.mark.parametrize("name", HARD_SETS)
def test_tiles_and_pairs_keep_their_bounds(name: str, distance: str, dtype: type, chunk: int) -> None:
    space, data = space_of(name, distance, dtype, chunk)
    rows = fractions(data[space.items.first])
    everything = slice(0, len(rows))
    tile = nearness(space, space.tile(everything, everything))
    error = space.error()
    left, right = (index.ravel() for index in np.indices(tile.shape))
    keys, errors = space.keys(left, right)
    for i, x in enumerate(rows):
        for j, y in enumerate(rows):
            exact, power, slack = true_nearness(distance, space, i, j, x, y)
            value = float(tile[i, j])
            bound = error.relative * abs(value) + error.row[i] * error.column[j] + error.constant[j]
            assert encloses(value, float(bound) + slack * abs(value), exact, power)
            pair = i * len(rows) + j
            assert encloses(float(keys[pair]), float(errors[pair]) + slack * abs(value), exact, power)


@pytest.mark.parametrize(("dtype", "chunk"), TILES)
@pytest.mark.parametrize(("name", "distance"), HARD)
def test_key_blocks_keep_their_bounds(name: str, distance: str, dtype: type, chunk: int) -> None:
    space, data = space_of(name, distance, dtype, chunk)
    rows = fractions(data[space.items.first])
    everything = np.arange(len(rows))
    whole = space.fine().key_block(everything, slice(0, len(rows)))[0]
    # They are compared with tiles of the space itself, on its scale. A product of other rows may round differently.
    for some in (everything, everything[1::3]):
        keys, errors = space.fine().key_block(some, some)
        assert keys.dtype == np.float64
        assert errors.shape == some.shape
        assert np.isfinite(errors).all()
        for (i, j), key in np.ndenumerate(keys):
            exact, power, slack = true_nearness(
                distance, space, int(some[i]), int(some[j]), rows[some[i]], rows[some[j]]
            )
            assert encloses(float(key), float(errors[i]) + slack * abs(float(key)), exact, power)
        if space.integers:
            assert (keys == whole[np.ix_(some, some)]).all()


@pytest.mark.parametrize(("dtype", "chunk"), TILES)
@pytest.mark.parametrize(("name", "distance"), HARD)
def test_margins_cover_what_a_tile_shows(name: str, distance: str, dtype: type, chunk: int) -> None:
    space, data = space_of(name, distance, dtype, chunk)
    rows = fractions(data[space.items.first])
    count = len(rows)
    everything = slice(0, count)
    entries = space.tile(everything, everything)
    shown = entries * space.form.factor - space.form.shift
    ratio = space.form.ratio
    for half in (slice(0, count // 2 + 1), everything):
        keys, errors = space.fine().key_block(everything, half)
        # The entry of an item at a threshold in a tile, and the entries of other items of the same nearness.
        reach = np.where(errors > 0, errors * SAFETY + ARITHMETIC * np.abs(keys).max(axis=1), 0.0)
        margin = space.margins(np.arange(count), np.abs(keys).max(axis=1) + reach)
        assert np.isfinite(margin).all()
        pointer = np.arange(count + 1) * keys.shape[1]
        falling = -np.sort(-keys, axis=1)
        thresholds = guided(pointer[:-1], pointer[1:], falling.ravel(), reach, margin)
        near, far = falling + reach[:, None], falling - reach[:, None]
        if ratio:
            near, far = (np.copysign(np.sqrt(np.abs(end)), end) for end in (near, far))
        low, high = ((far - margin[:, None]).astype(shown.dtype), (near + margin[:, None]).astype(shown.dtype))
        assert (lowest_entries(thresholds, ratio).astype(shown.dtype) <= low[:, -1]).all()
        for i, j in np.ndindex(keys.shape):
            exact, power, _ = true_nearness(distance, space, i, j, rows[i], rows[j])
            power = 2 if ratio else power
            assert encloses(float(shown[i, j]), float(margin[i]), exact, power)
            t = int(np.flatnonzero(falling[i] == keys[i, j])[0])
            assert low[i, t] <= shown[i, j] <= high[i, t]


def test_some_hard_sets_are_ratios() -> None:
    found = set()
    for name, dtype in itertools.product(HARD_SETS, (np.float32, np.float64)):
        space, _ = space_of(name, "cosine", dtype, 99)
        if space.form.ratio:
            found.add((space.tile_type.name, space.error().certain))
    assert {("float32", True), ("float32", False), ("float64", False)} <= found


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", HARD_SETS)
def test_equal_ratios_and_no_others_have_equal_keys(name: str, dtype: type) -> None:
    space, data = space_of(name, "cosine", dtype, 99)
    if not space.form.ratio or not space.error().certain:
        return
    rows = fractions(data[space.items.first])
    everything = slice(0, len(rows))
    block, _ = space.fine().key_block(everything, everything)
    for keys in (block, nearness(space, space.tile(everything, everything))):
        for x, row in zip(rows, keys, strict=True):
            exact = [KEYS["cosine"](x, y) for y in rows]
            for j, k in itertools.combinations(range(len(rows)), 2):
                assert (row[j] > row[k]) == (exact[j] > exact[k])
                assert (row[j] == row[k]) == (exact[j] == exact[k])


@pytest.mark.parametrize("name", HARD_SETS)
def test_sharp_keys_keep_their_bounds(name: str) -> None:
    space, data = space_of(name, "cosine", np.float32, 99)
    rows = fractions(data[space.items.first])
    left, right = (index.ravel() for index in np.indices((len(rows), len(rows))))
    sharp = space.sharp_keys(left, right)
    if sharp is None:
        assert data.dtype.kind == "f"  # whose exponents are too far apart for float64
        return
    for i, j, key, error in zip(left, right, *sharp, strict=True):
        x, y = rows[i], rows[j]
        if np.isfinite(error):
            exact = KEYS["cosine"](x, y) / (KEYS["dot"](x, x) or 1) - 1
            assert abs(Fraction(float(key)) - exact) <= Fraction(float(error))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sharp_keys_tell_near_duplicates_apart(dtype: type) -> None:
    random = np.random.default_rng(0)
    data = one_ulp_apart(random, (40, 64), dtype)
    order = np.arange(len(data))
    space = make_space(DISTANCES["cosine"], data, None, (order, order), Resources(2**20, np.dtype(dtype), 64))
    sharp = space.sharp_keys(np.zeros(39, dtype=np.int64), np.arange(1, 40))
    assert sharp is not None
    keys, errors = sharp
    assert (np.diff(np.sort(keys)) > 2 * errors.max()).mean() > 0.9


def true_nearness(
    distance: str, space: Space, i: int, j: int, x: list[Fraction], y: list[Fraction]
) -> tuple[Fraction, int, float]:
    """Nearness as in exact/README.md, in fractions; 2 if that is its signed square; and the rounding error."""
    of_x, of_y = (Fraction(float(space.items.divisor[k])) for k in (i, j))
    if distance == "cosine" and space.integers and not space.form.ratio:
        # All norms are equal (except those of zero vectors), and do not affect the order.
        return KEYS["dot"](x, y) / (of_x * of_y), 1, 0.0
    if distance == "cosine" and space.integers:
        # The quotient is rounded; the comparisons show that different quotients stay different.
        return KEYS["cosine"](x, y) / of_x**2, 1, 2.0**-51
    if distance == "cosine":
        return KEYS["cosine"](x, y) / (KEYS["dot"](x, x) or 1), 2, 0.0
    if distance == "euclidean":
        return (2 * KEYS["dot"](x, y) - KEYS["dot"](y, y)) / (of_x * of_y), 1, 0.0
    return KEYS[distance](x, y) / (of_x * of_y if distance == "dot" else of_x), 1, 0.0


def encloses(value: float, bound: float, exact: Fraction, power: int) -> bool:
    """Whether |value - root| <= bound, for the signed root of `exact` where power is 2."""
    low, high = Fraction(value) - Fraction(bound), Fraction(value) + Fraction(bound)
    if power == 2:
        low, high = low * abs(low), high * abs(high)
    return low <= exact <= high


@pytest.mark.few(8)
@pytest.mark.parametrize("distance", ORDERS)
@pytest.mark.parametrize("name", HARD_SETS)
def test_exact_keys_have_the_exact_order(name: str, distance: str) -> None:
    space, data = space_of(name, distance, np.float32, 99)
    rows = fractions(data[space.items.first])
    for i, row in enumerate(rows):
        keys = [tuple(key) for key in space.exact_keys(np.full(len(rows), i), np.arange(len(rows)))]
        exact = [KEYS[distance](row, other) for other in rows]
        for j in range(len(rows)):
            for k in range(j):
                assert (keys[j] > keys[k]) == (exact[j] > exact[k])
                assert (keys[j] == keys[k]) == (exact[j] == exact[k])


def test_plans_cover_every_query_once() -> None:
    random = np.random.default_rng(0)
    for budget in (1, 2**20, 2**24, 2**30):
        pairs = random.integers(0, 5000, size=1000)
        parts = [part for block in Plan(Budget(budget, 2)).blocks(pairs) for part in block]
        assert np.concatenate([np.arange(1000)[part] for part in parts]).tolist() == list(range(1000))
