"""Bounds of embeddings under noise: certain, close to the definition, and the same bits however they are computed."""

import math
from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import tieproof as tp
from exact_oracle import fractions
from fnmr_oracle import KEYS
from forced import FORCED, no_integers
from fuzzing import Data, data_sets, fuzz
from hard_sets import HARD_SETS

pytestmark = pytest.mark.filterwarnings("ignore::tieproof.InputWarning")

DISTANCES = ("cosine", "euclidean", "sqeuclidean", "cityblock", "dot", "hamming")
OUT_OF_RANGE = "noise needs distances between"
ITEMS = 13
RANKS = [f"R@{k}" for k in range(1, ITEMS)]
"""The measures that tell at which ranks hits are."""

ROUNDING = 1 + 1e-12
"""The rounding of a measure, which may be computed in other ways for ties."""

Array = np.ndarray[Any, Any]


def real(name: str, key: Fraction) -> Fraction:
    """The distance of a key, with 60 digits."""
    root = Decimal(abs(key).numerator)
    if name in ("euclidean", "cosine"):
        context = Context(prec=80, Emax=10**7, Emin=-(10**7))
        root = context.sqrt(context.divide(root, Decimal(key.denominator)))
        return Fraction(root) if name == "euclidean" else 1 + (1 if key > 0 else -1) * Fraction(root)
    return key


def shares(others: list[int], ranks: int) -> list[float]:
    """The share of relevant items up to each rank, if so many others are before the first, second, … of them."""
    places = [count + place for place, count in enumerate(sorted(others))]
    return [sum(place < k for place in places) / len(places) for k in range(1, ranks + 1)]


def data(name: str, seed: int = 5) -> Array:
    random = np.random.default_rng(seed)
    return HARD_SETS[name](random, (ITEMS, 6))


LABELS = np.arange(ITEMS) % 3


@pytest.mark.parametrize("with_gallery", [False, True])
@pytest.mark.parametrize("distance", DISTANCES[:-1])
@pytest.mark.parametrize("name", HARD_SETS)
def test_bounds_contain_all_possible_rankings_and_little_more(name: str, distance: str, with_gallery: bool) -> None:
    rows = data(name)
    sides: tuple[Array, Array, Array | None, Array | None] = (rows, LABELS, None, None)
    if with_gallery:
        sides = (rows[:5], LABELS[:5], rows[5:], LABELS[5:])
    check_bounds(*sides, distance)


def check_bounds(
    queries: Array, of_queries: Array, gallery: Array | None, of_gallery: Array | None, distance: str
) -> None:
    """Compare the bounds of several noises with counts of real numbers; only a slack beyond the bounds is allowed."""
    options: dict[str, Any] = {"distance": distance, "measures": RANKS}
    items, of_items = queries, of_queries
    if gallery is not None and of_gallery is not None:
        items, of_items = gallery, of_gallery
        options |= {"gallery": gallery, "gallery_labels": of_gallery}
    distances = [[real(distance, KEYS[distance](x, y)) for y in fractions(items)] for x in fractions(queries)]
    sizes = sorted(abs(each) for row in distances for each in row)
    largest = sizes[-1]
    noises = {float(min(each, Fraction(1e300))) for each in (sizes[len(sizes) // 4] / 8, largest / 4, largest * 3)}
    for noise in {0.0, *noises}:
        if not 1e-240 < largest < 1e240 and largest:
            with pytest.raises(tp.InputError, match=OUT_OF_RANGE):
                tp.evaluate(queries, of_queries, noise=noise, **options)
            return
        result = tp.evaluate(queries, of_queries, noise=noise, **options)
        worst = np.stack([result.per_query(each).noise.lower for each in RANKS], axis=1)
        best = np.stack([result.per_query(each).noise.upper for each in RANKS], axis=1)
        first, second = (float(np.abs(side.astype(np.float64)).max()) for side in (queries, items))
        slack = Fraction(extent(distance, first, second, queries.shape[1])) / 2**30 + largest / 10**40
        for place, query in enumerate(result.query_ids.tolist()):
            ranked = [item for item in range(len(items)) if gallery is not None or item != query]
            relevant = of_items == of_queries[query]
            for found, sign in ((worst[place], 1), (best[place], -1)):
                ends = []
                for by in (0, slack):
                    shift = Fraction(noise) * 2 + by
                    others = [
                        count(distances[query], ranked, relevant, item, sign, shift)
                        for item in ranked
                        if relevant[item]
                    ]
                    ends.append(shares(others, len(RANKS)))
                for value, exact, loose in zip(found.tolist(), *ends, strict=True):
                    low, high = sorted((exact, loose))
                    assert low - 1e-12 <= value <= high + 1e-12, (noise, query, found, ends)


@pytest.mark.few(2)
@pytest.mark.parametrize("distance", DISTANCES[:-1])
def test_bounds_of_random_data(distance: str) -> None:
    @fuzz
    @given(data_sets(largest=8))
    def check(drawn: Data) -> None:
        gallery = None if drawn.gallery is None else np.array(drawn.gallery_labels)
        labels = np.array(drawn.labels)
        of_items = labels if gallery is None else gallery
        ranked = [np.count_nonzero(of_items == label) - (gallery is None) for label in labels]
        if any(ranked):
            check_bounds(drawn.rows, labels, drawn.gallery, gallery, distance)

    check()


def count(distances: list[Fraction], items: list[int], relevant: Array, item: int, sign: int, shift: Fraction) -> int:
    """How many others may stand before an item (sign 1), or must (sign -1)."""
    end = distances[item] + sign * shift
    others = [distances[other] for other in items if not relevant[other]]
    return sum(each <= end if sign > 0 else each < end for each in others)


def extent(distance: str, first: float, second: float, dimensions: int) -> float:
    """The largest distance of rows with such largest entries."""
    if distance == "cosine":
        return 2.0
    if distance == "dot":
        return dimensions * first * second
    largest = first + second
    factor = {"euclidean": math.sqrt(dimensions), "sqeuclidean": dimensions * largest, "cityblock": dimensions}
    return factor[distance] * largest


def measured(result: tp.Result) -> list[tuple[list[float], list[float]]]:
    """The noise of all queries, by their ids."""
    order = np.argsort(result.query_ids)
    return [
        (noise.lower[order].tolist(), noise.upper[order].tolist())
        for noise in (result.per_query(name).noise for name in result.measures)
    ]


def groups(count: int, seed: int) -> tuple[Array, Array]:
    """Rows near a few centers, some of them equal, as float32."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 6, size=count)
    rows = random.normal(size=(6, 12))[labels] + random.normal(size=(count, 12))
    rows[1::7] = rows[0::7][: len(rows[1::7])]
    return rows.astype(np.float32), labels


SIMILAR: dict[str, Callable[[], tuple[Array, Array]]] = {
    "floats": lambda: groups(90, 1),
    "integers": lambda: (np.rint(2 * groups(90, 2)[0]), groups(90, 2)[1]),
    "bits": lambda: (groups(90, 3)[0] > 0, groups(90, 3)[1]),
    "near-duplicates": lambda: (1 + 1e-6 * groups(60, 4)[0], groups(60, 4)[1]),
}
RADII = {"cosine": 0.05, "euclidean": 0.3, "sqeuclidean": 2.0, "cityblock": 1.0, "dot": 1.5, "hamming": 1.0}


def radii(kind: str, distance: str) -> tuple[float, ...]:
    scale = 1e-6 if kind == "near-duplicates" else 1.0
    return RADII[distance] * scale, 1e-12, RADII[distance] * scale**2


@pytest.mark.few(3)
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("kind", SIMILAR)
def test_the_same_bits_by_all_methods(kind: str, distance: str) -> None:
    rows, labels = SIMILAR[kind]()
    if distance == "hamming" and kind != "bits":
        return
    options: dict[str, Any] = {"distance": distance, "measures": ["AP", "P@3", "RR"]}
    order = np.random.default_rng(0).permutation(len(rows))
    for noise in radii(kind, distance):
        first = tp.evaluate(rows, labels, noise=noise, **options)
        exact = tp.evaluate(rows, labels, **options)
        for name in options["measures"]:
            assert (first.per_query(name).lower == exact.per_query(name).lower).all()
            assert (first.per_query(name).upper == exact.per_query(name).upper).all()
        expected = measured(first)
        assert measured(tp.evaluate(rows, labels, noise=noise, threads=3, memory="1MiB", **options)) == expected
        turned = tp.evaluate(rows[order][:, ::-1], labels[order], noise=noise, **options)
        assert measured(turned.named(order)) == expected
        for method in FORCED.values():
            with pytest.MonkeyPatch.context() as patch:
                method(patch)
                result = tp.evaluate(rows, labels, noise=noise, **options)
            if method is not no_integers:  # the bounds of whole numbers are tighter
                assert measured(result) == expected, method


def test_leave_one_out_is_a_gallery_without_the_query() -> None:
    for kind in SIMILAR:
        rows, labels = SIMILAR[kind]()
        itself = [(item, item) for item in range(len(rows))]
        for distance in DISTANCES[:-1]:
            options: dict[str, Any] = {"distance": distance, "noise": radii(kind, distance)[0], "measures": ["AP"]}
            alone = tp.evaluate(rows, labels, **options)
            beside = tp.evaluate(rows, labels, gallery=rows, gallery_labels=labels, exclude=itself, **options)
            assert measured(alone) == measured(beside)


def test_functions_are_bounded_as_lists() -> None:
    rows, labels = groups(40, 6)

    def distance(x: Array, y: Array) -> Array:
        return np.asarray(np.abs(x[:, None] - y).max(axis=2))

    found = tp.evaluate(rows, labels, distance=distance, noise=0.1, measures=["AP"])
    matrix = distance(rows, rows)
    expected = tp.evaluate_distances(matrix, labels=labels, noise=0.1, measures=["AP"])
    assert measured(found) == measured(expected)


FORMATS: dict[str, Callable[[Array], Array]] = {
    "float16": lambda rows: rows.astype(np.float16).astype(np.float32),
    "bfloat16": lambda rows: as_bfloat16(rows),
    "int8": lambda rows: as_int8(rows),
}


def as_bfloat16(rows: Array) -> Array:
    bits = rows.astype(np.float32).view(np.uint32)
    return np.asarray(((bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)).view(np.float32))


def as_int8(rows: Array) -> Array:
    scale = np.abs(rows).max(axis=1, keepdims=True) / 127
    return np.asarray(np.rint(rows / scale) * scale)


def assert_inside(inner: tp.Result, outer: tp.Result) -> None:
    for name in inner.measures:
        values, bounds = inner.per_query(name), outer.per_query(name).noise
        assert (bounds.lower <= values.lower * ROUNDING).all()
        assert (values.upper <= bounds.upper * ROUNDING).all()


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("distance", DISTANCES[:-1])
def test_rounded_embeddings_and_their_originals_are_inside_the_bounds_of_each_other(distance: str, name: str) -> None:
    rows, labels = groups(80, 7)
    rounded = FORMATS[name](rows)
    options: dict[str, Any] = {"distance": distance, "measures": ["AP", "P@5", "nDCG@10"]}
    of_rows = tp.evaluate(rows, labels, noise=name, **options)
    of_rounded = tp.evaluate(rounded, labels, noise=name, **options)
    again, back = (
        tp.evaluate(*pair, noise=other, **options)
        for pair, other in (((rows, labels), rounded), ((rounded, labels), rows))
    )
    for outer in (of_rows, again):
        assert_inside(of_rounded, outer)
        assert outer["AP"].noise.lower < outer["AP"].lower
    for outer in (of_rounded, back):
        assert_inside(of_rows, outer)
    between = tp.evaluate(0.25 * rows + 0.75 * rounded.astype(np.float64), labels, **options)
    for outer in (again, back):
        assert_inside(between, outer)
    sides: dict[str, Any] = {"gallery": rows[40:], "gallery_labels": labels[40:], **options}
    apart = tp.evaluate(rows[:40], labels[:40], noise=(rounded[:40], rounded[40:]), **sides)
    sides |= {"gallery": rounded[40:]}
    assert_inside(tp.evaluate(rounded[:40], labels[:40], **sides), apart)


@pytest.mark.parametrize("distance", DISTANCES[:-1])
def test_moved_embeddings_never_leave_the_bounds(distance: str) -> None:
    """Every row moves by up to its own radius, at random or toward another row."""
    rows, labels = groups(60, 8)
    rows = rows.astype(np.float64)
    random = np.random.default_rng(9)
    moved = rows + random.normal(size=rows.shape) * random.choice([0.0, 0.01, 0.1], size=(len(rows), 1))
    options: dict[str, Any] = {"distance": distance, "measures": ["AP", "P@5"]}
    outer = tp.evaluate(rows, labels, noise=moved, **options)
    if distance == "cosine":  # what counts is the angle
        rows, moved = (each / lengths(each, distance) for each in (rows, moved))
    radius = 0.999 * lengths(moved - rows, distance)
    for attempt in range(60):
        step = random.normal(size=rows.shape) if attempt % 2 else rows[random.permutation(len(rows))] - rows
        now = rows + radius * np.divide(step, lengths(step, distance), out=np.zeros_like(rows), where=step != 0)
        if distance == "cosine":
            now /= lengths(now, distance)
            farther = lengths(now - rows, distance) > radius / 0.999
            now = np.where(farther, rows, now)
        assert_inside(tp.evaluate(now, labels, **options), outer)


def lengths(rows: Array, distance: str) -> Array:
    """The lengths of rows in the norm of the distance, (n, 1)."""
    return np.asarray(np.linalg.norm(rows, ord=1 if distance == "cityblock" else 2, axis=1, keepdims=True))


def moved_rows(count: int, seed: int) -> tuple[Array, Array, Array]:
    """Rows that moved a little, except for a few that moved far, and their labels."""
    rows, labels = groups(count, seed)
    random = np.random.default_rng(seed)
    moved = rows + random.normal(size=rows.shape) * 0.001
    moved[[10, 41]] += 0.4
    return rows.astype(np.float64), moved, labels


@pytest.mark.parametrize("distance", ["euclidean", "cityblock", "dot"])
@pytest.mark.parametrize("with_gallery", [False, True])
def test_few_items_that_moved_far_widen_their_own_ranges_alone(with_gallery: bool, distance: str) -> None:
    """The definition: the radius of others is the largest among those that moved far, or among all the others."""
    rows, moved, labels = moved_rows(80, 12)
    order = 1 if distance == "cityblock" else 2
    queries = slice(0, 30) if with_gallery else slice(None)
    move, norm = np.linalg.norm(moved - rows, ord=order, axis=1), np.linalg.norm(rows, axis=1)
    options: dict[str, Any] = {"noise": moved}
    if with_gallery:
        options = {"gallery": rows, "gallery_labels": labels, "noise": (moved[queries], moved)}
    ranks = [f"R@{k}" for k in range(1, 80)]
    result = tp.evaluate(rows[queries], labels[queries], distance=distance, measures=ranks, **options)
    bounds = [result.per_query(name).noise for name in ranks]
    far = np.isin(np.arange(80), [10, 41])
    for place, query in enumerate(result.query_ids.tolist()):
        if distance == "dot":
            first, second = move[query], norm[query] + move[query]
            largest = [first * norm[of].max() + second * move[of].max() for of in (~far, far)]
            distances = -rows @ rows[query]
        else:
            largest = [move[query] + move[of].max() for of in (~far, far)]
            distances = np.linalg.norm(rows - rows[query], ord=order, axis=1)
        others, ranked = labels != labels[query], np.arange(80) != (-1 if with_gallery else query)
        relevant = ~others & ranked
        own = move[query] + move[relevant].max()
        if distance == "dot":
            own = first * norm[relevant].max() + second * move[relevant].max()
        shift = np.where(far, largest[1], largest[0]) + own
        worst = [int((others & (distances - shift <= each)).sum()) for each in distances[relevant]]
        best = [int((others & (distances + shift < each)).sum()) for each in distances[relevant]]
        assert [each.lower[place] for each in bounds] == pytest.approx(shares(worst, 79), abs=1e-12)
        assert [each.upper[place] for each in bounds] == pytest.approx(shares(best, 79), abs=1e-12)


@pytest.mark.parametrize("distance", DISTANCES[:-1])
def test_items_that_moved_far_are_counted_alike_by_all_methods(distance: str) -> None:
    rows, moved, labels = moved_rows(80, 13)
    options: dict[str, Any] = {"distance": distance, "measures": ["AP", "P@3"]}
    first = tp.evaluate(rows, labels, noise=moved, **options)
    exact = tp.evaluate(rows, labels, **options)
    for name in options["measures"]:
        assert (first.per_query(name).lower == exact.per_query(name).lower).all()
        assert (first.per_query(name).upper == exact.per_query(name).upper).all()
    assert_inside(tp.evaluate(moved, labels, **options), first)
    expected = measured(first)
    order = np.random.default_rng(1).permutation(len(rows))
    turned = tp.evaluate(rows[order], labels[order], noise=moved[order], threads=3, memory="1MiB", **options)
    assert measured(turned.named(order)) == expected
    itself = [(item, item) for item in range(len(rows))]
    beside = tp.evaluate(
        rows, labels, gallery=rows, gallery_labels=labels, exclude=itself, **options | {"noise": (moved, moved)}
    )
    assert measured(beside) == expected
    for method in FORCED.values():
        with pytest.MonkeyPatch.context() as patch:
            method(patch)
            assert measured(tp.evaluate(rows, labels, noise=moved, **options)) == expected, method
