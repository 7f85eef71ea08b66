"""The kernels that count tiles, compared with their references in Python at every processor level."""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from kernel_levels import LEVELS, at
from kernels import levels as of_levels
from kernels import ranked as of_ranked
from kernels.placing import count_tile, nearness_of
from kernels.placing import settle as settle_one_by_one
from thresholds import guided, masks_of
from tieproof.distances.codes import arrange_codes as codes_in_blocks
from tieproof.distances.space import Error, NearnessForm
from tieproof.engine import counting, levels, memory, pieces, ranked, resolve
from tieproof.engine.pieces import NearPairs
from tieproof.engine.structures import CONTINUED, Counts, Targets, Thresholds, Tile, TileMemory, Undecided, Work

Random = np.random.Generator
Values = Callable[[Random, int], npt.NDArray[Any]]

SPECIAL = np.array([0.0, -0.0, 5e-324, -5e-324, 1e-45, 1e-38, 1.0, np.nextafter(1.0, 2.0), -1.0, 3e38, -3e38])

VALUES: dict[str, Values] = {
    "spread": lambda random, count: random.normal(size=count),
    "whole": lambda random, count: random.integers(-20, 20, size=count) * 1.0,
    "far apart": lambda random, count: random.integers(-4000, 4000, size=count) * 1.0,
    "few": lambda random, count: random.choice([0.1, 0.2, 0.30000001, -0.0, 0.0], size=count),
    "all equal": lambda random, count: np.full(count, 0.1),
    "one unit apart": lambda random, count: 1 + random.integers(0, 40, size=count) * 2.0**-23,
    "special": lambda random, count: random.choice(SPECIAL, size=count),
}
FORMS = ("plain", "shifted", "ratio", "whole")
WIDTHS = (1, 8, 63, 64, 65, 78, 303)


class Made(NamedTuple):
    """A tile and the queries that it is counted for."""

    tile: Tile
    error: Error
    targets: Targets
    thresholds: Thresholds
    gap: npt.NDArray[np.int32]


def form_of(kind: str, width: int, dtype: Any, random: Random) -> NearnessForm:
    """The form that converts entries to nearness."""
    ones, weight = np.ones(width), random.integers(1, 4, size=width).astype(np.int32)
    square = random.integers(1, 9, size=width).astype(np.float64)
    form = NearnessForm(ones.astype(dtype), np.zeros(width, dtype), ones, False, kind == "whole", weight)
    if kind == "shifted":
        return form._replace(factor=(2 * ones).astype(dtype), shift=random.normal(size=width).astype(dtype))
    if kind == "ratio":
        return form._replace(factor=(1 / np.sqrt(square)).astype(dtype), square=square, ratio=True)
    return form


def falling(
    nearness: npt.NDArray[np.float64], random: Random, count: int, kind: str, dtype: Any
) -> npt.NDArray[np.float64]:
    """Descending keys of thresholds, as in tiles without errors: nearness of items, some repeated, and others."""
    known = nearness[np.isfinite(nearness)] if np.isfinite(nearness).any() else np.zeros(1)
    away = random.choice([0, 0, 0, 1.0 if kind == "whole" else 0.01], size=count)
    with np.errstate(over="ignore"):
        keys = random.choice(known, size=count) + away
    return -np.sort(-(keys if kind == "ratio" else keys.astype(dtype).astype(np.float64)))


def make(
    values: str, kind: str, dtype: Any, width: int, size: float, most: int, rows: int = 6, seed: int = 0
) -> Made:
    """Queries for all rows, some of which share a row; `size` is the size of errors."""
    random = np.random.default_rng(seed + width)
    with np.errstate(over="ignore"):
        entries = VALUES[values](random, rows * width).reshape(rows, width).astype(dtype)
    if kind in ("whole", "ratio"):
        entries = np.rint(np.nan_to_num(entries, posinf=40, neginf=-40).clip(-4000, 4000))
    form = form_of(kind, width, dtype, random)
    row = np.sort(np.append(np.arange(rows), random.integers(0, rows, size=3)))
    length = random.choice([0, 1, 2, most // 2, most, 3 * most], size=len(row))
    stop = np.cumsum(length)
    nearness = np.array([[nearness_of(form, entry, i) for i, entry in enumerate(line)] for line in entries])
    keys = [falling(nearness[r], random, count, kind, dtype) for r, count in zip(row, length, strict=True)]
    key = np.concatenate(keys)
    starts = np.concatenate([np.append(True, part[1:] != part[:-1])[: len(part)] for part in keys])
    certain = size == 0.0
    error = Error(size, size * random.random(rows), random.random(width), size * random.random(width), certain)
    reach = np.full(len(row), size / 10)
    largest = np.array([np.abs(part).max(initial=0.0) for part in keys]) + reach
    # The relative error, two other errors of at most `size`, and the rounding to the type of tiles.
    rounding = 4 * np.finfo(dtype).eps
    bound = 1.1 * (2 * size + (size + rounding) * largest) / (1 - size)
    margin = 4 * rounding * np.sqrt(largest) if kind == "ratio" else bound * (not certain)
    pairs = np.argwhere(random.random((len(row), width)) < random.choice([0, 0.05, 0.9], size=(len(row), 1)))
    inner = np.array([[q, i] for q in (1, 4) for i in range(width // 3, width)], dtype=np.int64).reshape(-1, 2)
    query, item = np.unique(np.concatenate([pairs, inner]), axis=0).T
    return Made(
        Tile(entries, form, 40, 100),
        error,
        masks_of(query.copy(), item + 100, len(row))._replace(row=row + 40),
        guided(stop - length, stop, key, reach, margin),
        np.where(starts, 0, CONTINUED).astype(np.int32),
    )


CASES = [
    (values, kind, size)
    for values in VALUES
    for kind in FORMS
    for size in (0.0, 1e-9, 1e-2)
    if (values in ("spread", "far apart") or (kind == "plain" and size < 1e-2)) and (kind != "ratio" or not size)
]


class Known(NamedTuple):
    """A made-up tile, the counts of the reference, and the items that it leaves undecided."""

    made: Made
    counts: Counts
    undecided: list[Any]


@cache
def every_case(dtype: Any, width: int) -> list[Known]:
    """Made-up tiles of a type and a width; cached, because the reference is slow and serves all levels."""
    known = []
    for values, kind, size in CASES:
        with np.errstate(over="ignore", invalid="ignore"):
            made = make(values, kind, dtype, width, size, 40 if width > 8 else 3)
            counts = Counts(made.gap.copy(), np.zeros_like(made.gap))
            undecided = sorted(count_tile(made.tile, made.error, made.targets, made.thresholds, counts))
        for array in (*counts, made.tile.entries, made.gap, made.thresholds.key):
            array.flags.writeable = False
        known.append(Known(made, counts, undecided))
    return known


def room_of(made: Made, work: Work, side: int) -> TileMemory:
    """The smallest possible working memory, filled with the remains of another tile."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("LIST", "PLACED", "TALLY"):
            patch.setattr(memory, name, 1)
        room = memory.make_room(side, len(made.targets.row), work.thresholds, made.tile.entries.dtype)
    for array in (*room.listed, *room.placed, room.crowded, room.tally, *room.sorting, room.near):
        array[...] = 1
    positions = np.ones(len(room.sorting.open) + 8, dtype=np.uint32)
    return room._replace(sorting=room.sorting._replace(open=positions[:-8]))


Way = Callable[[Work, TileMemory], Iterator[int]]


def check(known: Known, few: float | None, way: Way) -> None:
    """Whether counts and undecided items are those of the reference; `few` items do not crowd a row, if given."""
    made = known.made
    with np.errstate(over="ignore"):
        limits = counting.limits_of(made.thresholds, made.tile.form.ratio, made.tile.entries.dtype)
    if few is not None:
        limits = limits._replace(few=np.where(limits.few < 0, -1.0, few))
    side = max(made.tile.entries.shape[1], len(made.targets.row))
    found = Counts(made.gap.copy(), np.zeros_like(made.gap))
    work = Work(made.targets, made.thresholds, limits, found, memory.room_for_items(side))
    room, undecided = room_of(made, work, side), []
    for used in way(work, room):
        undecided += list(zip(*(part[:used].tolist() for part in work.undecided), strict=True))
    assert (np.asarray(room.sorting.open.base)[-8:] == 1).all(), "positions are written behind their room"
    assert sorted(undecided) == known.undecided
    assert (found.gap == known.counts.gap).all()
    assert (found.equal == known.counts.equal).all()


every_level = pytest.mark.parametrize("level", LEVELS)
both_types = pytest.mark.parametrize("dtype", [np.float32, np.float64])
every_width = pytest.mark.parametrize("width", WIDTHS)


@pytest.fixture
def counting_at(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `pieces` call the kernels of a level."""
    for kernel in (pieces.count_in_rows, pieces.count_in_columns, pieces.count_near, pieces.add_up):
        monkeypatch.setattr(pieces, kernel.__name__, at(level, kernel))


@pytest.mark.usefixtures("counting_at")
@every_level
@both_types
@every_width
@pytest.mark.parametrize("few", [None, 0.0, 3.0, np.inf])
def test_rows(few: float | None, width: int, dtype: Any) -> None:
    for known in every_case(dtype, width):

        def count(work: Work, room: TileMemory, made: Made = known.made) -> Iterator[int]:
            stop = len(made.targets.row)
            return pieces.in_pieces(
                lambda q, undecided: pieces.count_in_rows(made.tile, made.error, work, q, stop, undecided, room),
                *(0, stop, made.error, work, room, Lock()),
            )

        check(known, few, count)


@pytest.mark.usefixtures("counting_at")
@every_level
@both_types
@every_width
def test_columns(width: int, dtype: Any) -> None:
    for known in every_case(dtype, width):
        made = known.made
        tile = made.tile._replace(entries=np.ascontiguousarray(made.tile.entries.T))

        def count(work: Work, room: TileMemory, made: Made = made, tile: Tile = tile) -> Iterator[int]:
            rows = slice(made.tile.row, made.tile.row + len(made.tile.entries))
            columns = counting.columns_of(made.targets, work.limits, rows, 0, len(made.targets.row))
            return pieces.in_pieces(
                lambda at, undecided: pieces.count_in_columns(tile, made.error, work, columns, at, undecided, room),
                *(0, len(tile.entries), made.error, work, room, Lock()),
            )

        check(known, None, count)


@pytest.mark.usefixtures("counting_at")
@every_level
@both_types
@every_width
def test_near_pairs(width: int, dtype: Any) -> None:
    """Pairs that a tile of codes lists, with or without some that are not near."""
    for known, share in product(every_case(dtype, width), (0.0, 0.5)):

        def count(work: Work, room: TileMemory, made: Made = known.made, share: float = share) -> Iterator[int]:
            tile = made.tile
            rows = slice(tile.row, tile.row + len(tile.entries))
            columns = counting.columns_of(made.targets, work.limits, rows, 0, len(made.targets.row))
            with np.errstate(over="ignore", invalid="ignore"):
                near = tile.entries * tile.form.factor - tile.form.shift >= columns.lowest[:, None]
            row, item = np.nonzero(near | (np.random.default_rng(1).random(near.shape) < share))
            pairs = NearPairs(row.astype(np.int32), item.astype(np.int32), tile.entries[row, item])
            unwritten = tile._replace(entries=tile.entries[:0])
            first, error = columns.first, made.error
            return pieces.in_pieces(
                lambda at, undecided: pieces.count_near(pairs, unwritten, error, work, first, at, undecided, room),
                *(0, len(row), error, work, room, Lock()),
            )

        check(known, None, count)


@every_level
@both_types
@every_width
def test_settling(width: int, dtype: Any, level: str) -> None:
    random = np.random.default_rng(width)
    for made, *_ in every_case(dtype, width):
        if not len(made.thresholds.key) or not np.isfinite(made.tile.entries).all():
            continue
        thresholds = made.thresholds
        query = random.choice(np.flatnonzero(thresholds.stop - thresholds.start), size=77)
        length = (thresholds.stop - thresholds.start)[query]
        first = random.integers(0, length + 1)
        item = np.arange(len(length))
        undecided = Undecided(query, item, item % 3 + 1, first, random.integers(first, length + 1))
        nearness = random.choice(made.tile.entries.ravel(), size=77).astype(np.float64)
        bound = random.choice([0.0, 1e-9, 0.1], size=len(length)) * (made.thresholds.reach.max() > 0)
        counts, others = (Counts(made.gap.copy(), np.zeros_like(made.gap)) for _ in range(2))
        expected, found = (Undecided(*(part.copy() for part in undecided)) for _ in range(2))
        arguments = nearness - bound, nearness + bound, *thresholds[:4]
        rest = settle_one_by_one(*arguments, counts, expected)
        assert at(level, resolve.settle)(*arguments, others, found) == rest
        assert all((ours[:rest] == theirs[:rest]).all() for ours, theirs in zip(found, expected, strict=True))
        assert (counts.gap == others.gap).all()
        assert (counts.equal == others.equal).all()


@every_level
@pytest.mark.parametrize("way", [0, 1])
@pytest.mark.parametrize("width", [4, 8, 20, 64])
@pytest.mark.parametrize("kind", ["random", "few", "equal", "opposite"])
@pytest.mark.parametrize("by_table", [False, True])
def test_levels_of_codes(by_table: bool, kind: str, width: int, way: int, level: str) -> None:
    random = np.random.default_rng(width)
    for count in (0, 1, 5, 31, 32, 33, 64, 300, 1100):
        codes = random.integers(-128, 128, size=(count + 14, width)).astype(np.int8)
        if kind == "few":
            codes = codes[random.integers(0, 2, size=len(codes))]
        if kind in ("equal", "opposite"):
            codes[:] = codes[0]
        if kind == "opposite":
            codes[::2] = ~codes[::2]
        queries, items, offset = codes[:14], codes[14:], random.integers(0, 5, count).astype(np.int32)
        start, stop = np.sort(random.integers(0, count + 1, (2, 14)), axis=0)
        start[:4], stop[:4] = (0, count // 3, count // 3, count), (count, count // 2, count // 3, count)
        square, table = np.zeros(14, np.int32), np.empty(0, np.uint16)
        if by_table:
            square = random.integers(-6, 1, 14).astype(np.int32)
            table = random.integers(0, 2**16, size=4 * width + 6).astype(np.uint16)
        expected = of_levels.levels_of(queries, items, offset, square, table)
        blocks = np.empty((-(-count // 16), 16 * width), dtype=np.uint8)
        at(level, codes_in_blocks)(items, 0, blocks)
        by_level = levels.Levels(offset, square, table, 2**16 if by_table else 8 * width + 5)
        for some in (np.flatnonzero(start < stop), np.arange(14)):
            own = np.array([expected[q][start[q]] for q in some if len(some) < 14], dtype=np.int64)
            members = levels.RelevantMembers(start[some], stop[some], own)
            theirs = of_levels.ties_of_levels([expected[q] for q in some], *members)
            ties = np.zeros((5, len(theirs)), dtype=np.int64)
            room = np.zeros(levels.TOGETHER * by_level.room, dtype=np.uint32)
            of_some = by_level._replace(square=square[some])
            assert at(level, levels.count_levels)(queries[some], blocks, of_some, members, way, room, ties) == len(
                theirs
            )
            assert list(map(tuple, ties.T.tolist())) == theirs
            assert not room.any()


@every_level
@pytest.mark.parametrize("values", VALUES)
def test_ties_and_guides(values: str, level: str) -> None:
    for width in (1, 65):
        with np.errstate(over="ignore", invalid="ignore"):
            made = make(values, "plain", np.float64, width, 0.0, 60)
        thresholds, equal = made.thresholds, np.arange(len(made.gap), dtype=np.int32)
        gap = np.where(made.gap == CONTINUED, CONTINUED, equal % 5).astype(np.int32)
        ties, expected = np.zeros((2, 5, len(gap)), dtype=np.int64)
        span = thresholds.start, thresholds.stop
        assert at(level, ranked.ties_of)(*span, gap, equal, ties) == of_ranked.ties_of(*span, gap, equal, expected)
        assert (ties == expected).all()
        rooms = [ranked.room_for_guides(len(gap), len(thresholds.start)) for _ in range(2)]
        queries = np.arange(len(thresholds.start))[::-1].copy()
        at(level, ranked.fill_guides)(queries, *span, thresholds.key, *rooms[0])
        of_ranked.fill_guides(queries, *span, thresholds.key, *rooms[1])
        assert all((ours == theirs).all() for ours, theirs in zip(*rooms, strict=True))


@every_level
@both_types
def test_transposing(dtype: Any, level: str) -> None:
    random = np.random.default_rng(0)
    for shape in ((1, 1), (1, 40), (64, 64), (65, 130), (50, 3)):
        entries = random.normal(size=shape).astype(dtype)
        out = np.empty(shape[::-1], dtype=dtype)
        at(level, counting.transpose)(entries, out)
        assert (out == entries.T).all()
