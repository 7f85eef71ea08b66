"""The kernels that count tiles, compared with counting item by item on made-up tiles, thresholds and masks."""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from thresholds import guided, masks_of
from tieproof.distances.exact.bounds import ARITHMETIC, UNIT_ROUNDOFF
from tieproof.distances.space import Error, NearnessForm
from tieproof.engine import counting, memory, pieces, resolve
from tieproof.engine.ranked import join
from tieproof.engine.ranking import runs_of
from tieproof.engine.structures import CONTINUED, Counts, Targets, Tile, TileColumns, TileMemory, Undecided, Work

Array = npt.NDArray[Any]
Random = np.random.Generator

WHERE = (40, 100)
"""The tile's first row and first item among all; they differ, so that confusing them is noticed."""


@dataclass
class Case:
    """A tile, its queries, and the true nearness of all items.

    exact : (rows, width) true nearness of each item, numbers that compare exactly
    heads : for each query the true nearness of its ties of relevant items, falling
    sizes : the number of relevant items of each of these ties
    """

    tile: Tile
    error: Error
    exact: Array
    row: list[int]  # of each query in the tile
    heads: list[list[Any]]
    sizes: list[list[int]]
    masked: list[list[int]]  # of each query, items in the tile
    reach: Array
    margin: Array
    keys: list[list[float]]

    @property
    def queries(self) -> int:
        return len(self.row)

    def work(self, room: int) -> Work:
        """Fresh counts, with `room` for undecided items."""
        length = np.array([sum(sizes) for sizes in self.sizes])
        stop = np.cumsum(length)
        key = [k for keys, sizes in zip(self.keys, self.sizes, strict=True) for k in np.repeat(keys, sizes)]
        gap = [g for sizes in self.sizes for size in sizes for g in [0, *[CONTINUED] * (size - 1)]]
        pairs = [(q, WHERE[1] + item) for q, items in enumerate(self.masked) for item in sorted(items)]
        query, item = np.array(pairs, dtype=np.int64).reshape(-1, 2).T.copy()
        thresholds = guided(stop - length, stop, np.array(key, dtype=np.float64), self.reach, self.margin)
        return Work(
            masks_of(query, item, self.queries)._replace(row=np.array(self.row) + WHERE[0]),
            thresholds,
            counting.limits_of(thresholds, self.tile.form.ratio, self.tile.entries.dtype),
            Counts(np.array(gap, dtype=np.int32), np.zeros(len(gap), dtype=np.int32)),
            Undecided(*(np.full(room, -7, dtype=np.int64) for _ in Undecided._fields)),
        )


def place_of(case: Case, q: int, item: int) -> tuple[int, bool]:
    """How many relevant items of the query are truly nearer than the item, and whether some are equally near."""
    exact, heads = case.exact[case.row[q], item], case.heads[q]
    nearer = bisect_left(heads, -exact, key=lambda head: -head)
    return sum(case.sizes[q][:nearer]), nearer < len(heads) and bool(heads[nearer] == exact)


def add(case: Case, work: Work, counts: Counts, q: int, item: int, sign: int, truly: tuple[int, bool]) -> None:
    """Count one item at its true position."""
    start, stop = work.thresholds.start[q], work.thresholds.stop[q]
    place, equal = truly
    weight = sign * int(case.tile.form.weight[item])
    if equal:
        counts.equal[start + place] += weight
        place += 1
        while start + place < stop and work.counts.gap[start + place] <= CONTINUED // 2:
            place += 1
    if start + place < stop:
        counts.gap[start + place] += weight


class Truth(NamedTuple):
    """The true position of each item of a query, and the true counts, which every method of counting must give."""

    places: dict[tuple[int, int], tuple[int, bool]]
    counts: Counts


def truth_of(case: Case) -> Truth:
    """Compute the truth item by item."""
    work, places = case.work(1), {}
    counts = Counts(work.counts.gap.copy(), work.counts.equal.copy())
    for q in range(case.queries):
        for item in set(range(case.exact.shape[1])) - set(case.masked[q]) if case.heads[q] else ():
            places[q, item] = place_of(case, q, item)
            add(case, work, counts, q, item, 1, places[q, item])
    return Truth(places, counts)


def check(case: Case, truth: Truth, count: Callable[[Work], Iterator[int]], room: int) -> int:
    """Check that decided and undecided items together give the true counts; return the number of undecided items."""
    work = case.work(room)
    expected = Counts(truth.counts.gap.copy(), truth.counts.equal.copy())
    seen = set()
    for used in count(work):
        assert used <= room
        for i in range(used):
            q, item, weight, first, last = (int(column[i]) for column in work.undecided)
            item -= WHERE[1]
            assert (q, item) not in seen
            seen.add((q, item))
            assert item not in case.masked[q]
            assert weight == case.tile.form.weight[item]
            place, equal = truth.places[q, item]
            assert 0 <= first <= place
            assert place < last if equal else place <= last
            assert last <= work.thresholds.stop[q] - work.thresholds.start[q]
            add(case, work, expected, q, item, -1, truth.places[q, item])
    assert (work.counts.gap == expected.gap).all()
    assert (work.counts.equal == expected.equal).all()
    return len(seen)


def by_rows(case: Case, dense: float) -> Callable[[Work], Iterator[int]]:
    def count(work: Work) -> Iterator[int]:
        with patched(counting, "DENSE", dense):
            limits = counting.limits_of(work.thresholds, case.tile.form.ratio, case.tile.entries.dtype)
        work, room = work._replace(limits=limits), room_of(case.tile, work)
        yield from pieces.in_pieces(
            lambda q, undecided: pieces.count_in_rows(case.tile, case.error, work, q, case.queries, undecided, room),
            *(0, case.queries, case.error, work, room, Lock()),
        )

    return count


def by_columns(case: Case) -> Callable[[Work], Iterator[int]]:
    turned = case.tile._replace(entries=counting.transposed(case.tile.entries))

    # In a transposed tile the queries' rows are columns, but `form` and `error` are those of items, `row` that of
    # the queries' first row.
    def count(work: Work) -> Iterator[int]:
        columns, room = columns_of(case, work), room_of(turned, work)
        yield from pieces.in_pieces(
            lambda item, undecided: pieces.count_in_columns(turned, case.error, work, columns, item, undecided, room),
            *(0, len(turned.entries), case.error, work, room, Lock()),
        )

    return count


def columns_of(case: Case, work: Work) -> TileColumns:
    """The columns of a transposed tile: the queries of all rows of the tile."""
    rows = slice(WHERE[0], WHERE[0] + len(case.tile.entries))
    return counting.columns_of(work.targets, work.limits, rows, 0, case.queries)


def room_of(tile: Tile, work: Work) -> TileMemory:
    """The smallest possible working memory, so that it is often full, with the remains of another tile."""
    with patched(memory, "LIST", 1), patched(memory, "PLACED", 1), patched(memory, "TALLY", 1):
        room = memory.make_room(max(tile.entries.shape), len(work.targets.row), work.thresholds, tile.entries.dtype)
    for array in (*room.listed, *room.placed, room.crowded, room.tally, *room.sorting, room.near):
        array[...] = 1
    return room


@contextmanager
def patched(module: Any, name: str, value: Any) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, name, value)
        yield


def check_all(case: Case) -> list[int]:
    """Check each method of counting with little and with much memory; return how many items each leaves undecided."""
    least = max(*case.exact.shape, case.queries)
    ways = [by_columns(case), *(by_rows(case, dense) for dense in (0.0, 0.4, 1e9))]
    truth = truth_of(case)
    return [check(case, truth, way, room) for way in ways for room in (least, 10**5)]


def queries_of(random: Random, rows: int, count: int, width: int) -> tuple[list[int], list[list[int]]]:
    """Ascending rows of queries, some shared and some without a query; and the items that each query masks."""
    row = sorted(random.integers(0, rows, size=count).tolist())
    masked = [np.flatnonzero(random.random(width) < random.choice([0, 0.02, 0.5, 0.9])).tolist() for _ in row]
    masked[0] = list(range(width))
    masked[-1] = [0, width - 1]
    return row, masked


def heads_of(random: Random, values: Array, beyond: list[Any], count: int) -> list[Any]:
    """Distinct descending true nearness of ties, for some of which the tile has items."""
    chosen = [*random.choice(values, size=count).tolist(), *beyond]
    return sorted(set(chosen), reverse=True)


def certain(rows: int, width: int) -> Error:
    return Error(0.0, np.zeros(rows), np.zeros(width), np.zeros(width), True)


def exact_case(
    random: Random, entries: Array, form: NearnessForm, exact: Array, per_query: int, ties: int = 3
) -> Case:
    """No errors: keys and entries show the true nearness."""
    rows, width = entries.shape
    row, masked = queries_of(random, rows, rows, width)
    heads = [heads_of(random, exact[r], [], per_query) for r in row]
    heads[len(heads) // 2] = []
    heads[1] = heads[1][:1]
    sizes = [random.integers(1, ties + 1, size=len(head)).tolist() for head in heads]
    keys = [[float(head) for head in head_row] for head_row in heads]
    largest = np.array([max([abs(k) for k in key], default=0.0) for key in keys])
    margin = 16 * UNIT_ROUNDOFF[entries.dtype] * np.sqrt(largest) if form.ratio else np.zeros(len(row))
    tile = Tile(entries, form, *WHERE)
    return Case(tile, certain(rows, width), exact, row, heads, sizes, masked, np.zeros(len(row)), margin, keys)


def plain_form(width: int, dtype: Any, random: Random, whole: bool) -> NearnessForm:
    ones = np.ones(width)
    weight = random.integers(1, 5, size=width).astype(np.int32)
    return NearnessForm(ones.astype(dtype), np.zeros(width, dtype), ones, False, whole, weight)


WIDTHS = (1, 7, 8, 61, 400)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("limit", [1, 5, 300, 3000, 100_000])
def test_whole_numbers(limit: int, dtype: Any, width: int) -> None:
    random = np.random.default_rng(limit)
    entries = random.integers(-limit, limit, size=(12, width)).astype(dtype)
    form = plain_form(width, dtype, random, True)
    form = form._replace(factor=2 * form.factor, shift=random.integers(0, limit, size=width).astype(dtype))
    exact = entries.astype(np.int64) * 2 - form.shift.astype(np.int64)
    assert not any(check_all(exact_case(random, entries, form, exact, min(width, 40))))


def test_whole_numbers_come_with_few_and_with_many_levels() -> None:
    def extent(limit: int) -> int:
        return 3 * limit

    assert extent(300) < memory.WHOLE_NUMBERS < extent(3000)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "values",
    [
        [0.1, 0.2, 0.3],
        [5e-324, 1e-323, 0.0, -5e-324, 1e-310],
        [1e-45, 0.0, 3e-45],
        [3e38, -3e38, 1.0],
        [1.7e308, -1.7e308],
    ],
    ids=["tenths", "subnormal", "subnormal in float32", "extent beyond float32", "extent beyond float64"],
)
def test_exact_numbers(values: list[float], dtype: Any, width: int) -> None:
    random = np.random.default_rng(width)
    with np.errstate(over="ignore", under="ignore"):
        few = np.array(values).astype(dtype)
    few = few[np.isfinite(few)]
    if not len(few):
        return
    spread = np.append(few, few[0] + np.linspace(0, 1, 9).astype(dtype) * (few[-1] / 2 - few[0] / 2))
    entries = random.choice(spread, size=(11, width)).astype(dtype)
    form = plain_form(width, dtype, random, False)
    assert not any(check_all(exact_case(random, entries, form, entries.astype(np.float64), min(width, 6))))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ratios(dtype: Any, width: int) -> None:
    random = np.random.default_rng(width)
    entries = random.integers(-12, 13, size=(10, width)).astype(dtype)
    square = random.integers(1, 30, size=width).astype(np.float64)
    form = plain_form(width, dtype, random, False)
    form = form._replace(factor=(1 / np.sqrt(square)).astype(dtype), square=square, ratio=True)
    exact = np.array(
        [[Fraction(int(s) * abs(int(s)), int(n)) for s, n in zip(row, square, strict=True)] for row in entries]
    )
    assert not any(check_all(exact_case(random, entries, form, exact, min(width, 20))))


def with_errors(random: Random, dtype: Any, width: int, size: float, reach: float, per_query: int) -> Case:
    """Entries and keys with nearly the largest allowed errors, although items and thresholds have true ties."""
    rows = 12
    entries = (random.normal(size=(rows, width)) * random.choice([1, 8])).astype(dtype)
    entries[:, ::3] = np.rint(entries[:, ::3])
    form = plain_form(width, dtype, random, False)
    form = form._replace(factor=2 * form.factor, shift=random.normal(size=width).astype(dtype))
    error = Error(
        relative=size + ARITHMETIC,
        row=size * random.random(rows),
        column=random.random(width),
        constant=size * random.random(width) * (random.random(width) < 0.5),
        certain=False,
    )
    shown = (entries * form.factor - form.shift).astype(np.float64)
    bound = error.relative * np.abs(shown) + error.row[:, None] * error.column + error.constant
    exact = shown + bound * random.choice([-0.99, 0, 0.7, 0.99], size=shown.shape)
    row, masked = queries_of(random, rows, 15, width)
    heads, keys, sizes, margin, reaches = [], [], [], [], []
    for r in row:
        found = heads_of(random, exact[r], random.normal(size=2).tolist(), per_query)
        falling = np.array(found) + reach * random.choice([-0.99, 0.0, 0.99], size=len(found))
        key = np.minimum.accumulate(falling)
        largest = np.abs(key).max()
        heads.append(found)
        keys.append(key.tolist())
        sizes.append(random.integers(1, 4, size=len(found)).tolist())
        reaches.append(reach + ARITHMETIC * largest if reach else 0.0)
        far = largest + reaches[-1]
        absolute = (error.row[r] * error.column.max() + error.constant.max()) * (1 + 2 * error.relative)
        margin.append(1.01 * (absolute + (2 * error.relative + 4 * UNIT_ROUNDOFF[np.dtype(dtype)]) * far))
    tile = Tile(entries, form, *WHERE)
    return Case(tile, error, exact, row, heads, sizes, masked, np.array(reaches), np.array(margin), keys)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("per_query", [1, 5, 60])
@pytest.mark.parametrize(("size", "reach"), [(1e-12, 1e-13), (1e-3, 1e-4), (1e-2, 1e-1), (0.0, 1e-6), (0.3, 0.3)])
def test_errors(size: float, reach: float, per_query: int, dtype: Any, width: int) -> None:
    random = np.random.default_rng(per_query)
    found = check_all(with_errors(random, dtype, width, size, reach, per_query))
    # All methods compare each remaining item by its own error; the items that they skip do not change this.
    assert len(set(found)) == 1
    if width == 400:
        assert found[0]


def test_keys_that_are_not_known_decide_nothing() -> None:
    random = np.random.default_rng(0)
    case = with_errors(random, np.float32, 61, 1e-3, 1e-3, 4)
    for keys in case.keys:
        keys[:] = [0.0] * len(keys)
    case.reach[:] = np.inf
    case.margin[:] = np.inf
    found = check_all(case)
    assert set(found) == {sum(61 - len(masked) for masked in case.masked)}


def test_an_unknown_error_leaves_all_items_undecided() -> None:
    random = np.random.default_rng(0)
    case = with_errors(random, np.float32, 61, 1e-3, 1e-3, 4)
    case.error.constant[:] = np.inf
    case.margin[:] = np.inf
    assert set(check_all(case)) == {sum(61 - len(masked) for masked in case.masked)}


def test_more_thresholds_than_buckets_can_number() -> None:
    random = np.random.default_rng(1)
    entries = random.integers(-500, 500, size=(2, 300)).astype(np.float32)
    case = exact_case(random, entries, plain_form(300, np.float32, random, False), entries.astype(np.int64), 30)
    case.row, case.masked = [0, 1], [[3, 4, 5], []]
    for length in (
        memory.MOST_THRESHOLDS - 1,
        memory.MOST_THRESHOLDS,
        memory.MOST_THRESHOLDS + 1,
        2 * memory.MOST_THRESHOLDS + 3,
    ):
        falling = (500 - np.arange(length) / 64).tolist()
        case.heads = case.keys = [falling, falling[:7]]
        case.sizes = [[1] * length, [1] * 7]
        assert not any(check_all(case))


def test_more_items_at_once_than_a_list_holds() -> None:
    random = np.random.default_rng(2)
    entries = random.integers(0, 50, size=(90, 200)).astype(np.float32)
    case = exact_case(random, entries, plain_form(200, np.float32, random, False), entries.astype(np.int64), 5)
    for q in range(case.queries):
        case.masked[q] = case.masked[q][:3]
    near = sum((case.exact[r] >= h[-1]).sum() for r, h in zip(case.row, case.heads, strict=True) if h)
    assert near > 2 * memory.LIST
    assert not any(check_all(case))


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (16, 16), (17, 33), (50, 3)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_transposed(dtype: Any, shape: tuple[int, int]) -> None:
    entries = np.random.default_rng(0).normal(size=shape).astype(dtype)
    found = counting.transposed(entries)
    assert (found == entries.T).all()
    assert found.flags.c_contiguous
    assert found.dtype == entries.dtype


def test_crowded_is_a_share_of_items_as_near_as_the_last_threshold() -> None:
    random = np.random.default_rng(3)
    entries = np.tile(np.arange(100, dtype=np.float32), (20, 1))
    case = exact_case(random, entries, plain_form(100, np.float32, random, False), entries.astype(np.int64), 5)
    case.row = list(range(20))
    case.heads = case.keys = [[200.0, 75.0]] * 20
    case.sizes = [[2, 2]] * 20
    columns = columns_of(case, case.work(1))

    def crowded(some: Array, share: float) -> bool:
        return counting.is_crowded(case.tile._replace(entries=counting.transposed(some.copy())), columns, share)

    # The first 16 items have nearness 0 … 15 only.
    assert not crowded(entries, 0.0)
    assert crowded(entries[:, ::-1], 0.99)
    assert not crowded(entries[:, ::-1], 1.0)
    assert crowded(entries[:, 75 - 4 : 75 + 12], 0.74)
    assert not crowded(entries[:, 75 - 4 : 75 + 12], 0.75)


def some_masks(random: Random) -> tuple[Targets, list[set[int]]]:
    masked = [set(np.flatnonzero(random.random(90) < share).tolist()) for share in (0.0, 0.03, 0.5, 1.0, 0.9)]
    query, item = np.array([(q, i) for q, items in enumerate(masked) for i in sorted(items)]).T.copy()
    return masks_of(query, item, 5), masked


def test_masks_in_every_part_of_the_items() -> None:
    targets, masked = some_masks(np.random.default_rng(5))
    for column, width in ((0, 90), (0, 20), (33, 1), (33, 40), (80, 10), (90, 5)):
        nearness = np.zeros((5, width), dtype=np.float32)
        resolve.hide_in_rows(targets.run, targets.first, targets.last, column, nearness)
        for q in range(5):
            left = np.array([item not in masked[q] for item in range(column, column + width)])
            assert nearness[q].tolist() == np.where(left, 0.0, -np.inf).tolist()


def test_runs_are_what_they_were_made_of() -> None:
    random = np.random.default_rng(6)
    for share in (0.0, 0.1, 0.7, 1.0):
        items = np.flatnonzero(random.random(60) < share)
        runs = runs_of(items)
        assert runs.dtype == np.int32
        assert runs.shape == (len(runs), 2)
        assert [i for first, last in runs.tolist() for i in range(first, last)] == items.tolist()
        # As few runs as possible: an item is missing between two runs.
        assert (runs[1:, 0] > runs[:-1, 1]).all()
    assert runs_of(np.array([0, 1, 5])).tolist() == [[0, 2], [5, 6]]


def items_of(parts: Targets, q: int) -> list[int]:
    return [i for first, last in parts.run[parts.first[q] : parts.last[q]].tolist() for i in range(first, last)]


def test_masks_and_their_parts_in_a_row() -> None:
    random = np.random.default_rng(7)
    wanted = [np.flatnonzero(random.random(30) < share).tolist() for share in (0, 0.1, 0, 0, 1, 0.6, 0.6, 0)]
    # If one query's last item and the next query's first item are adjacent, their runs are not merged.
    wanted[5:7] = [[3, 4, 5], [6, 7, 29]]
    parts = []
    for span in (slice(0, 3), slice(3, 4), slice(4, 8)):
        pairs = [(q, i) for q, items in enumerate(wanted[span]) for i in items]
        query, item = np.array(pairs, dtype=np.int64).reshape(-1, 2).T.copy()
        parts.append(masks_of(query, item, len(wanted[span])))
        assert [items_of(parts[-1], q) for q in range(len(wanted[span]))] == wanted[span]
    joined = join(parts)
    assert [items_of(joined, q) for q in range(len(wanted))] == wanted
    assert joined.run.dtype == np.int32


@pytest.mark.parametrize("count", [1, 15, 16, 100, 5000])
@pytest.mark.parametrize(
    "keys_of",
    [
        lambda random, count: random.normal(size=count),
        lambda random, count: random.normal(size=count) ** 9 * 1e200,
        lambda random, count: random.integers(0, 3, size=count) * 1.0,
        lambda random, count: 1 + random.integers(0, 2 * count, size=count) * 2.0**-52,
        lambda random, count: random.uniform(-1.7, 1.7, size=count) * 1e308,
        lambda random, count: np.full(count, 0.1),
        lambda random, count: random.integers(0, 9, size=count) * 5e-324,
    ],
)
def test_the_guide_leads_to_the_first_key_that_is_not_nearer(
    keys_of: Callable[[Random, int], Array], count: int
) -> None:
    random = np.random.default_rng(count)
    parts = [-np.sort(-keys_of(random, size)) for size in (count, 3, 0, count)]
    stop = np.cumsum([len(part) for part in parts])
    start = stop - [len(part) for part in parts]
    thresholds = guided(start, stop, np.concatenate(parts), np.zeros(4), np.zeros(4))
    for q, part in enumerate(parts):
        if not len(part):
            continue
        near = np.concatenate(
            [part, np.nextafter(part, np.inf), np.nextafter(part, -np.inf), [0.0, 1.7e308, -1.7e308]]
        )
        near = near[:: max(1, len(near) // 300)]
        form = plain_form(len(near), np.float64, random, False)
        tile = Tile(near.copy()[None], form, 7, 0)
        nobody = np.zeros(4, dtype=np.int64)
        targets = Targets(np.where(np.arange(4) == q, 7, 8), nobody, nobody, np.zeros((0, 2), dtype=np.int32))
        limits = counting.limits_of(thresholds, False, np.float64)._replace(few=np.full(4, np.inf))
        counts, expected = (Counts(*np.zeros((2, stop[-1]), dtype=np.int32)) for _ in range(2))
        work = Work(targets, thresholds, limits, counts, memory.room_for_items(10**4))
        room = memory.make_room(len(near), 4, thresholds, np.float64)
        counted = pieces.count_in_rows(tile, certain(1, len(near)), work, q, q + 1, 0, room)
        assert (counted.next, counted.undecided) == (q + 1, 0)
        pieces.add_up(work, room, counted.tallied, counted.placed, True)
        for value, weight in zip(near, form.weight, strict=True):
            nearer, equal = np.count_nonzero(part > value), np.count_nonzero(part == value)
            if nearer + equal < len(part):
                expected.gap[start[q] + nearer + equal] += weight
            if equal:
                expected.equal[start[q] + nearer] += weight
        assert (counts.gap == expected.gap).all()
        assert (counts.equal == expected.equal).all()
