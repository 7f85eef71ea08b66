"""`nearest` compared with sorting fractions, for all distances and on hard data, and what its result says."""

import zlib
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

import nearest_oracle
import tieproof as tp
from exact_oracle import fractions
from fnmr_oracle import DISTANCES, KEYS
from forced import FORCED, small_tiles
from hard_sets import HARD_SETS, NEAR_DUPLICATES
from tieproof.engine import neighbors

pytestmark = pytest.mark.filterwarnings("ignore::tieproof.InputWarning")


def assert_nearest(
    call: Callable[[int], tp.Neighbors],
    several: Sequence[int],
    queries: Any,
    gallery: Any = None,
    left_out: Sequence[set[int]] | None = None,
) -> None:
    """For several k, every field is that of the definition.

    left_out : the items that are not ranked, besides the query itself
    """
    results = [call(k) for k in several]
    rows = fractions(queries)
    items = rows if gallery is None else fractions(gallery)
    for found in results:
        assert found.n_items == len(items)
        assert found.duplicates == nearest_oracle.duplicates(items)
        assert found.ids.shape == found.distances.shape == (len(rows), found.k)
    for query, row in enumerate(rows):
        without = set(left_out[query]) if left_out is not None else set()
        without |= {query} if gallery is None else set()
        keys = nearest_oracle.keys(results[0].distance, row, items, without)
        for found in results:
            expected = nearest_oracle.nearest(found.distance, keys, found.k)
            listed = len(expected.ids)
            assert found.ids[query].tolist() == expected.ids + [-1] * (found.k - listed)
            assert found.distances[query, :listed].tolist() == expected.distances
            assert np.isnan(found.distances[query, listed:]).all()
            assert found.tie_starts[query] == expected.tie_start
            assert found.tie(query).tolist() == expected.tie
            assert found.n_ties[query] == expected.n_ties
            assert found.nearer[query].tolist() == expected.nearer + [-1] * (found.k - listed)


def seeded(name: str) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(name.encode()))


@pytest.mark.few(8)
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("name", HARD_SETS)
def test_hard_data(name: str, distance: str) -> None:
    rows = HARD_SETS[name](seeded(name), (24, 5))
    several = (1, 4, 30)
    assert_nearest(lambda k: tp.nearest(rows, k=k, distance=distance), several, rows)
    assert_nearest(lambda k: tp.nearest(rows[:6], rows[6:], k, distance=distance), several, rows[:6], rows[6:])


@pytest.mark.few(8)
@pytest.mark.parametrize("distance", ["cosine", "dot", "euclidean"])
@pytest.mark.parametrize("name", NEAR_DUPLICATES)
def test_near_duplicates(name: str, distance: str) -> None:
    rows = NEAR_DUPLICATES[name](seeded(name), (24, 6))
    groups = np.arange(24) % 5
    left_out = [set(np.flatnonzero(groups == own).tolist()) for own in groups]
    several = (1, 5, 30)
    alone = partial(tp.nearest, rows, distance=distance)
    assert_nearest(lambda k: alone(k=k), several, rows)
    assert_nearest(lambda k: alone(k=k, groups=groups), several, rows, left_out=left_out)
    for queries in (rows[:6], rows[:6].astype(np.float64)):
        beside = partial(tp.nearest, queries, rows[6:], distance=distance)
        assert_nearest(beside, several, queries, rows[6:])


@pytest.mark.parametrize(("distance", "exponent"), [("euclidean", -1030), ("sqeuclidean", -512), ("dot", -515)])
def test_subnormal_distances_are_rounded_once(distance: str, exponent: int) -> None:
    """Not to 53 bits first, which moves one of some hundred numbers by a unit."""
    rows = seeded(distance).normal(size=(60, 5)) * 2.0**exponent
    assert_nearest(lambda k: tp.nearest(rows[:20], rows[20:], k, distance=distance), (40,), rows[:20], rows[20:])


def test_no_distance_is_a_negative_zero() -> None:
    """Nor one that is rounded to 0, so that the bytes of a truth are those of equal numbers."""
    rows = seeded("zeros").normal(size=(30, 3)) * 2.0**-540
    found = tp.nearest(rows[:20], rows[20:], 10, distance="dot").distances
    assert not found.any()
    assert not np.signbit(found).any()


@pytest.mark.parametrize("distance", [*KEYS])
def test_groups_and_excluded_pairs(distance: str) -> None:
    random = seeded(distance)
    rows = random.integers(0, 2, size=(40, 4)).astype(np.int8 if distance != "hamming" else bool)
    groups, camera = random.integers(0, 3, size=40), random.integers(0, 3, size=30)
    pairs = np.unique(random.integers(0, 30, size=(200, 2)), axis=0)
    listed = [{int(item) for query, item in pairs if query == number} for number in range(40)]
    of_groups = [set(np.flatnonzero(groups == own).tolist()) for own in groups]
    left_out = [one | other for one, other in zip(listed, of_groups, strict=True)]
    alone = partial(tp.nearest, rows, distance=distance, groups=groups, exclude=pairs)
    assert_nearest(lambda k: alone(k=k), (1, 5, 20), rows, left_out=left_out)
    beside = partial(
        tp.nearest,
        rows[:10],
        rows[10:],
        distance=distance,
        groups=groups[:10],
        gallery_groups=camera,
        exclude=pairs[pairs[:, 0] < 10],
    )
    of_cameras = [set(np.flatnonzero(camera == own).tolist()) for own in groups[:10]]
    both = [one | other for one, other in zip(listed[:10], of_cameras, strict=True)]
    assert_nearest(beside, (1, 5, 20), rows[:10], rows[10:], both)


@pytest.mark.parametrize("length", [3, 13, 70])
def test_packed_bits(length: int) -> None:
    random = seeded("packed")
    bits = random.random((30, length)) < 0.5
    bits[20:] = bits[:10]
    packed, groups = np.packbits(bits, axis=1), np.arange(30) % 4
    left_out = [set(np.flatnonzero(groups == own).tolist()) for own in groups]
    several = (1, 4, 40)
    ranked = partial(tp.nearest, distance="hamming", bits=length)
    assert_nearest(lambda k: ranked(packed, k=k), several, bits)
    assert_nearest(lambda k: ranked(packed, k=k, groups=groups), several, bits, left_out=left_out)
    assert_nearest(lambda k: ranked(packed[:7], packed[7:], k=k), several, bits[:7], bits[7:])


@pytest.mark.parametrize("distance", DISTANCES)
def test_bfloat16(distance: str) -> None:
    """Numbers whose last digit decides, in the type of ml_dtypes."""
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    rows = (1 + seeded(distance).integers(-3, 4, size=(30, 3)) / 128).astype(bfloat16)
    numbers = rows.astype(np.float64)
    assert len(np.unique(numbers)) == 7
    several = (1, 5, 40)
    assert_nearest(lambda k: tp.nearest(rows, k=k, distance=distance), several, numbers)
    assert_nearest(lambda k: tp.nearest(rows[:7], rows[7:], k, distance=distance), several, numbers[:7], numbers[7:])


def test_a_function() -> None:
    rows = seeded("function").integers(-2, 3, size=(30, 2)).astype(np.float64)
    found = tp.nearest(rows, k=3, distance=lambda x, y: np.abs(x[:, None] - y[None]).sum(axis=2))
    named = tp.nearest(rows, k=3, distance="cityblock")
    assert found.distance == "function <lambda>"
    for field in ("ids", "distances", "tie_starts", "tie_indptr", "tie_ids", "n_ties"):
        assert np.array_equal(getattr(found, field), getattr(named, field))


def test_queries_that_rank_nothing() -> None:
    alone = tp.nearest([[1.0, 2.0]], k=2)
    assert alone.ids.tolist() == [[-1, -1]]
    assert np.isnan(alone.distances).all()
    assert [alone.tie_starts.tolist(), alone.tie(0).tolist(), alone.n_ties.tolist(), alone.ranked.tolist()] == [
        [0],
        [],
        [0],
        [0],
    ]
    without = tp.nearest([[1.0], [2.0]], [[1.0], [3.0]], k=1, distance="dot", exclude=[(0, 0), (0, 1)])
    assert without.ids.tolist() == [[-1], [1]]


def test_equal_integers_beyond_float64_are_duplicates() -> None:
    numbers = 2**62 + np.arange(100)[:, None] % 50
    assert tp.nearest(numbers, k=1, distance="euclidean").duplicates == 50


def test_multiples_are_tied_but_no_duplicates() -> None:
    found = tp.nearest([[1.0, 1.0]], [[1.0, 2.0], [2.0, 4.0], [1.0, 2.0]], k=1)
    assert found.tie(0).tolist() == [0, 1, 2]
    assert found.duplicates == 1


def test_columns() -> None:
    found = tp.nearest([[0.0], [4.0]], [[1.0], [3.0], [-1.0]], k=2, distance="euclidean", exclude=[(1, 0), (1, 1)])
    columns = {name: values.tolist() for name, values in found.columns().items()}
    assert columns == {"query": [0, 0, 1], "rank": [1, 2, 1], "id": [0, 2, 2], "distance": [1.0, 1.0, 5.0]}
    assert found.to_dict() == {
        "k": 2,
        "queries": 2,
        "n_items": 3,
        "distance": "euclidean",
        "queries_with_ties": 1,
        "queries_with_cut_ties": 0,
        "queries_with_fewer_items": 1,
        "ties": 1,
        "largest_tie": 2,
        "duplicates": 0,
    }


FIELDS = ("ids", "distances", "tie_starts", "tie_indptr", "tie_ids", "n_ties")


def assert_same(found: tp.Neighbors, other: tp.Neighbors) -> None:
    """Every bit is the same."""
    for field in FIELDS:
        assert getattr(found, field).tobytes() == getattr(other, field).tobytes(), field
    assert found.to_dict() == other.to_dict()


HARDEST = (
    "one ulp apart float32",
    "near one row",
    "0.1, 0.2, 0.3 float64",
    "multiples",
    "int8 few values",
    "gaussian float32",
)


@cache
def unforced(distance: str) -> list[tuple[Callable[..., tp.Neighbors], tp.Neighbors]]:
    """Calls on the hardest data, each with what it returns by the method that the engine chooses."""
    calls = []
    for name in HARDEST:
        rows = HARD_SETS[name](seeded(name), (30, 4))
        calls += [
            partial(tp.nearest, rows, k=3, distance=distance, groups=np.arange(30) // 4),
            partial(tp.nearest, rows, k=3, distance=distance, exclude=[(0, 1)]),
            partial(tp.nearest, rows[:8], rows[8:], 5, distance=distance),
        ]
    return [(call, call()) for call in calls]


@pytest.mark.few(8)
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("forced", FORCED)
def test_any_tiles_threads_and_memory(forced: str, distance: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = unforced(distance)
    monkeypatch.setattr(neighbors, "FEWEST_DIMENSIONS", 0)
    small_tiles(monkeypatch, 3)
    FORCED[forced](monkeypatch)
    for call, found in expected:
        assert_same(call(threads=2, memory="1B"), found)


@pytest.mark.parametrize("room", [1, 8])
@pytest.mark.parametrize("kind", ["random", "one row four times", "three rows", "near rows are far apart"])
def test_tiles_that_are_shown_to_rows_and_columns(kind: str, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Queries of a row in several stripes, stripes of one row, and stripes whose items find no room."""
    rows = seeded(kind).normal(size=(40, 40)).astype(np.float32)
    if kind == "one row four times":
        rows = np.repeat(rows[:10], 4, axis=0)
    elif kind == "three rows":
        rows = rows[np.arange(40) // 15]
    elif kind == "near rows are far apart":
        rows = np.concatenate([rows[:20], rows[:20] + np.float32(1e-3)])
    expected = tp.nearest(rows, rows, 3, distance="euclidean", exclude=np.stack([np.arange(40)] * 2, axis=1))
    monkeypatch.setattr(neighbors, "ROOM", room)
    monkeypatch.setattr(neighbors, "FEWEST", 0)
    seen: list[bool] = []
    shown = neighbors.NearestLoop.can_show_to_both

    def asked(search: neighbors.NearestLoop) -> bool:
        seen.append(shown(search))
        return seen[-1]

    monkeypatch.setattr(neighbors.NearestLoop, "can_show_to_both", asked)
    small_tiles(monkeypatch, 7)
    assert_same(tp.nearest(rows, k=3, distance="euclidean", threads=2), expected)
    assert seen == [True]
