"""The kernels that count tiles against their references in Python, at every level of processor."""

import copy
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from kernel_levels import LEVELS, at
from kernels import buckets as of_buckets
from kernels import finding as of_finding
from kernels import levels as of_levels
from kernels import placing as of_placing
from kernels import ranked as of_ranked
from tieproof.distances.space import Error, Form
from tieproof.engine import buckets, counting, exact_counting, finding, guide, intervals, levels, placing, ranked
from tieproof.engine.masks import masks_of
from tieproof.engine.structures import (
    CONTINUED,
    Counts,
    NearEntries,
    Placed,
    Targets,
    Thresholds,
    Tile,
    Undecided,
)

Random = np.random.Generator
Values = Callable[[Random, int], npt.NDArray[np.float64]]

SPECIAL = np.array([0.0, -0.0, 5e-324, -5e-324, 1e-45, 1e-38, 1.0, np.nextafter(1.0, 2.0), -1.0, 3e38, -3e38])

VALUES: dict[str, Values] = {
    "spread": lambda random, count: random.normal(size=count),
    "whole": lambda random, count: random.integers(-20, 20, size=count) * 1.0,
    "far apart": lambda random, count: random.integers(-4000, 4000, size=count) * 1.0,
    "few": lambda random, count: random.choice([0.1, 0.2, 0.30000001, -0.0, 0.0], size=count),
    "all equal": lambda random, count: np.full(count, 0.1),
    "one unit apart": lambda random, count: 1 + random.integers(0, 40, size=count) * 2.0**-23,
    "special": lambda random, count: random.choice(SPECIAL, size=count),
    "infinite": lambda random, count: random.choice([np.inf, 1.0, 0.5, -np.inf], size=count),
}
FORMS = ("plain", "shifted", "ratio", "whole")
WIDTHS = (1, 8, 63, 64, 65, 300)


class Made(NamedTuple):
    """A tile and what it is counted for."""

    tile: Tile
    error: Error
    targets: Targets
    thresholds: Thresholds
    gap: npt.NDArray[np.int32]


def form_of(kind: str, width: int, dtype: Any, random: Random) -> Form:
    """How entries become nearness."""
    ones, weight = np.ones(width), random.integers(1, 4, size=width).astype(np.int32)
    square = random.integers(1, 9, size=width) * 1.0
    form = Form(ones.astype(dtype), np.zeros(width, dtype), ones, False, kind == "whole", weight)
    if kind == "shifted":
        return form._replace(factor=(2 * ones).astype(dtype), shift=random.normal(size=width).astype(dtype))
    if kind == "ratio":
        return form._replace(factor=(1 / np.sqrt(square)).astype(dtype), square=square, ratio=True)
    return form


def falling(
    nearness: npt.NDArray[np.float64], random: Random, count: int, kind: str, dtype: Any
) -> npt.NDArray[np.float64]:
    """Keys of thresholds: of items, some twice, and between them; as tiles without errors can have them."""
    known = nearness[np.isfinite(nearness)] if np.isfinite(nearness).any() else np.zeros(1)
    away = random.choice([0, 0, 0, 1.0 if kind == "whole" else 0.01], size=count)
    with np.errstate(over="ignore"):
        keys = random.choice(known, size=count) + away
    return -np.sort(-(keys if kind == "ratio" else keys.astype(dtype).astype(np.float64)))


def make(
    values: str, kind: str, dtype: Any, width: int, size: float, most: int, rows: int = 6, seed: int = 0
) -> Made:
    """Queries of all rows, some of them with a row of their own and some of one row; `size` is that of errors."""
    random = np.random.default_rng(seed + width)
    with np.errstate(over="ignore"):
        entries = VALUES[values](random, rows * width).reshape(rows, width).astype(dtype)
    if kind in ("whole", "ratio"):
        entries = np.rint(np.nan_to_num(entries, posinf=40, neginf=-40).clip(-4000, 4000))
    form = form_of(kind, width, dtype, random)
    row = np.sort(np.append(np.arange(rows), random.integers(0, rows, size=3)))
    length = random.choice([0, 1, 2, most // 2, most, 3 * most], size=len(row))
    stop = np.cumsum(length)
    nearness = np.array(
        [[of_placing.nearness_of(form, entry, i) for i, entry in enumerate(line)] for line in entries]
    )
    keys = [falling(nearness[r], random, count, kind, dtype) for r, count in zip(row, length, strict=True)]
    key = np.concatenate(keys)
    starts = np.concatenate([np.append(True, part[1:] != part[:-1])[: len(part)] for part in keys])
    certain = size == 0.0
    largest = np.array([np.abs(part).max(initial=0.0) for part in keys])
    bound = size * (1 + largest)
    margin = (np.sqrt(largest) * 1e-6 if kind == "ratio" else 2 * bound) + 0.0
    error = Error(
        size / 4, size * random.random(rows), random.random(width), size * random.random(width) / 4, certain
    )
    pairs = np.argwhere(random.random((len(row), width)) < random.choice([0, 0.05, 0.9], size=(len(row), 1)))
    inner = np.array([[q, i] for q in (1, 4) for i in range(width // 3, width)], dtype=np.int64).reshape(-1, 2)
    query, item = np.unique(np.concatenate([pairs, inner]), axis=0).T
    reach = np.where(certain, 0.0, size / 10) * np.ones(len(row))
    return Made(
        Tile(entries, form, 40, 100),
        error,
        Targets(row + 40, *masks_of(query.copy(), item + 100, len(row))),
        guide.guided(stop - length, stop, key, reach, margin),
        np.where(starts, 0, CONTINUED).astype(np.int32),
    )


CASES = [
    (values, kind, size)
    for values in VALUES
    for kind in FORMS
    for size in (0.0, 1e-9, 1e-2)
    if values in ("spread", "far apart") or (kind == "plain" and size < 1e-2)
]


def every_case(dtype: Any, width: int) -> Iterator[Made]:
    """Made tiles of a type and a width."""
    for values, kind, size in CASES:
        with np.errstate(over="ignore", invalid="ignore"):
            yield make(values, kind, dtype, width, size, 40 if width > 8 else 3)


def room_of(made: Made, side: int) -> counting.Room:
    """Room that is full of what another tile left there."""
    room = counting.make_room(side, len(made.targets.row), made.thresholds, made.tile.entries.dtype)
    for array in (*room.listed, *room.placed, room.crowded, *room.tally, *room.sorting, *room.exact):
        array[...] = 1
    return room


def same(found: NearEntries | Undecided | Placed, expected: NearEntries | Undecided | Placed, count: int) -> None:
    for ours, theirs in zip(found, expected, strict=True):
        assert (ours[:count] == theirs[:count]).all()


every_level = pytest.mark.parametrize("level", LEVELS)
both_types = pytest.mark.parametrize("dtype", [np.float32, np.float64])
every_width = pytest.mark.parametrize("width", WIDTHS)


@every_level
@both_types
@every_width
def test_finding_in_rows(width: int, dtype: Any, level: str) -> None:
    for made in every_case(dtype, width):
        limits = counting.limits_of(made.thresholds, made.tile.form.ratio, dtype)
        stop = len(made.targets.row)
        for few in (limits.few, np.where(limits.few < 0, -1.0, 2.0), np.where(limits.few < 0, -1.0, np.inf)):
            limits = limits._replace(few=few)
            room, expected = room_of(made, width), room_of(made, width)
            some = expected.listed._replace(query=expected.listed.query[: 2 * width])
            query = 0
            while query < stop:
                arguments = made.tile, made.targets, limits, query, stop
                wanted = of_finding.find_in_rows(*arguments, None, expected.crowded, some)
                listed = room.listed._replace(query=room.listed.query[: 2 * width])
                given = at(level, finding.find_in_rows)(*arguments, room.sorting.close, room.crowded, listed)
                assert given == wanted
                same(room.listed, expected.listed, wanted[1])
                assert (room.crowded[: wanted[2]] == expected.crowded[: wanted[2]]).all()
                query = wanted[0]


@every_level
@both_types
@every_width
def test_finding_in_columns(width: int, dtype: Any, level: str) -> None:
    for made in every_case(dtype, width):
        limits = counting.limits_of(made.thresholds, made.tile.form.ratio, dtype)
        columns = finding.columns_of(made.targets, limits, slice(40, 46), 0, len(made.targets.row))
        tile = made.tile._replace(entries=np.ascontiguousarray(made.tile.entries.T))
        room, expected = room_of(made, max(6, width)), room_of(made, max(6, width))
        item = 0
        while item < width:
            arguments = tile, made.targets, limits, columns, item
            some = NearEntries(*(part[:20] for part in expected.listed))
            wanted = of_finding.find_in_columns(*arguments, None, some)
            some = NearEntries(*(part[:20] for part in room.listed))
            assert at(level, finding.find_in_columns)(*arguments, room.sorting.close, some) == wanted
            same(room.listed, expected.listed, wanted[1])
            item = wanted[0]


def some_listed(made: Made, random: Random) -> NearEntries:
    """Items of queries that have thresholds, in any order."""
    length = made.thresholds.stop - made.thresholds.start
    query = random.choice(np.flatnonzero(length), size=77)
    row = made.targets.row[query] - made.tile.row
    item = random.integers(0, made.tile.entries.shape[1], size=77)
    return NearEntries(query, row, item, made.tile.entries[row, item])


@every_level
@both_types
@every_width
def test_placing(width: int, dtype: Any, level: str) -> None:
    random = np.random.default_rng(width)
    for made in every_case(dtype, width):
        if not len(made.thresholds.key) or not np.isfinite(made.tile.entries).all():
            continue
        listed = some_listed(made, random)
        room, expected = (
            (Placed(*np.zeros((2, 154), dtype=np.int64)), Undecided(*np.zeros((5, 77), dtype=np.int64)))
            for _ in range(2)
        )
        arguments = listed, made.tile.form, made.error, 100, made.thresholds
        wanted = of_placing.place_listed(*arguments, *expected)
        assert at(level, placing.place_listed)(*arguments, *room) == wanted
        same(room[0], expected[0], wanted[0])
        same(room[1], expected[1], wanted[1])
        counts, others = (Counts(made.gap.copy(), np.zeros_like(made.gap)) for _ in range(2))
        placed = Placed(*(part[: wanted[0]] for part in room[0]))
        of_placing.add_placed(placed, counts)
        at(level, placing.add_placed)(placed, others)
        assert (counts.gap == others.gap).all()
        assert (counts.equal == others.equal).all()


@every_level
@both_types
@every_width
def test_settling(width: int, dtype: Any, level: str) -> None:
    random = np.random.default_rng(width)
    for made in every_case(dtype, width):
        if not len(made.thresholds.key) or not np.isfinite(made.tile.entries).all():
            continue
        listed, thresholds = some_listed(made, random), made.thresholds
        length = (thresholds.stop - thresholds.start)[listed.query]
        item = np.arange(len(length))
        undecided = Undecided(listed.query, item, item % 3 + 1, item * 0, length)
        nearness = listed.entry.astype(np.float64)
        bound = random.choice([0.0, 1e-9, 0.1], size=len(length)) * (made.thresholds.reach.max() > 0)
        counts, others = (Counts(made.gap.copy(), np.zeros_like(made.gap)) for _ in range(2))
        expected, found = (Undecided(*(part.copy() for part in undecided)) for _ in range(2))
        arguments = nearness - bound, nearness + bound, *thresholds[:4]
        rest = of_placing.settle(*arguments, counts, expected)
        assert at(level, intervals.settle)(*arguments, others, found) == rest
        same(found, expected, rest)
        assert (counts.gap == others.gap).all()
        assert (counts.equal == others.equal).all()


@every_level
@both_types
@every_width
def test_counting_crowded_rows(width: int, dtype: Any, level: str) -> None:
    for made in every_case(dtype, width):
        length = made.thresholds.stop - made.thresholds.start
        left = np.flatnonzero(length)
        while len(left):
            room, expected = room_of(made, width), room_of(made, width)
            listed, theirs = (NearEntries(*(part[: 2 * width] for part in r.listed)) for r in (room, expected))
            arguments = made.tile, made.targets, made.thresholds
            if made.error.certain:
                rest = made.gap, left, room.sorting, room.exact
                wanted = of_buckets.count_exactly(*arguments, *rest, expected.tally, theirs)
                given = at(level, exact_counting.count_exactly)(*arguments, *rest, room.tally, listed)
            else:
                wanted = of_buckets.count_crowded(*arguments, left, room.sorting, expected.tally, theirs)
                given = at(level, buckets.count_crowded)(*arguments, left, room.sorting, room.tally, listed)
            assert given == wanted
            same(listed, theirs, wanted[1])
            done = left[: wanted[0]]
            counts, others = (Counts(made.gap.copy(), np.zeros_like(made.gap)) for _ in range(2))
            arguments = done, made.thresholds
            of_buckets.add_tally(*arguments, expected.tally, made.error.certain, counts)
            at(level, buckets.add_tally)(*arguments, room.tally, made.error.certain, others)
            assert (counts.gap == others.gap).all()
            assert (counts.equal == others.equal).all()
            left = left[len(done) :]


@every_level
@pytest.mark.parametrize("words", [1, 2, 3, 8])
@pytest.mark.parametrize("kind", ["random", "few", "equal", "opposite"])
def test_hamming_levels(kind: str, words: int, level: str) -> None:
    random = np.random.default_rng(words)
    for count in (0, 1, 5, 63, 64, 200, levels.BLOCK + 70 if words == 1 else 300):
        codes = random.integers(0, 2**64, size=(count + 4, words), dtype=np.uint64, endpoint=False)
        if kind == "few":
            codes = codes[random.integers(0, 2, size=len(codes))]
        if kind in ("equal", "opposite"):
            codes[:] = codes[0]
        if kind == "opposite":
            codes[::2] = ~codes[::2]
        queries, items = codes[:4], codes[4:].copy()
        start = np.array([0, count // 3, count // 3, count])
        stop = np.array([count, count // 2, count // 3, count])
        expected = np.zeros((8, 64 * words + 1), dtype=np.int64)
        found = expected.copy()
        of_levels.count_levels(queries, items, start, stop, None, None, expected)
        room = np.empty(levels.BLOCK, dtype=np.uint32), np.zeros((4, 64 * words + 1), dtype=np.int64)
        at(level, levels.count_levels)(queries, items, start, stop, *room, found)
        assert (found == expected).all()
        ties, theirs = np.zeros((2, 5, np.count_nonzero(expected[:4])), dtype=np.int64)
        of_levels.ties_of_levels(expected, theirs)
        at(level, levels.ties_of_levels)(expected, ties)
        assert (ties == theirs).all()


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
        rooms = [guide.room(len(gap), len(thresholds.start)) for _ in range(2)]
        queries = np.arange(len(thresholds.start))[::-1].copy()
        at(level, guide.fill)(queries, *span, thresholds.key, *rooms[0])
        of_ranked.fill(queries, *span, thresholds.key, *rooms[1])
        assert all((ours == theirs).all() for ours, theirs in zip(*rooms, strict=True))


@every_level
@both_types
def test_transposing(dtype: Any, level: str) -> None:
    random = np.random.default_rng(0)
    for shape in ((1, 1), (1, 40), (64, 64), (65, 130), (50, 3)):
        entries = random.normal(size=shape).astype(dtype)
        out = np.empty(shape[::-1], dtype=dtype)
        at(level, finding.transpose)(entries, out)
        assert (out == entries.T).all()


def test_arguments_are_left_as_they_were() -> None:
    made = make("spread", "plain", np.float32, 65, 1e-9, 40)
    before = copy.deepcopy((made.tile, made.targets, made.thresholds))
    room = room_of(made, 65)
    asking = np.flatnonzero(made.thresholds.stop > made.thresholds.start)
    buckets.count_crowded(*before, asking, room.sorting, room.tally, room.listed)
    for ours, theirs in zip(before[2], made.thresholds, strict=True):
        assert (ours == theirs).all()
