"""The kernels that rank items and decide undecided items, compared with the expected results item by item."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernel_levels import LEVELS, at
from kernels import digits as digits_reference
from kernels import ladder as reference
from kernels import ranking as ranking_reference
from thresholds import masks_of
from tieproof.engine import ranked, ranking, resolve
from tieproof.engine.ranked import Block, RoomToSort
from tieproof.engine.ranking import runs_of
from tieproof.engine.structures import CONTINUED, Counts, Undecided
from tieproof.inputs.relevance import RelevantBlock

Random = np.random.Generator
IntArray = npt.NDArray[np.int64]

levels = pytest.mark.parametrize("level", LEVELS)
seeds = pytest.mark.parametrize("seed", range(6))


@levels
@seeds
def test_intervals_fall(seed: int, level: str) -> None:
    random = np.random.default_rng(seed)
    for count in (0, 1, 2, 40):
        query = np.sort(random.integers(0, 5, count))
        low = random.choice([-np.inf, -1.5, -0.0, 0.0, 1.0, 5e-324, 2.0], count)
        high = np.maximum(low, random.choice([-np.inf, -0.0, 0.0, 1.0, np.inf], count))
        found = low.copy(), high.copy()
        expected = found[0].copy(), found[1].copy()
        reference.make_falling(*expected, query)
        at(level, resolve.make_falling)(*found, query)
        assert (np.array(found) == np.array(expected)).all()


def relevant_block(random: Random, n_items: int) -> RelevantBlock:
    """Relevant and excluded items of some queries, in any order; some queries have none."""
    items, excluded = [], []
    for shares in random.choice([0.0, 0.1, 0.5, 0.9], (9, 2)):
        is_relevant = random.random(n_items) < shares[0]
        items.append(random.permutation(np.flatnonzero(is_relevant)))
        excluded.append(random.permutation(np.flatnonzero(~is_relevant & (random.random(n_items) < shares[1]))))
    pointer, excluded_pointer = (np.cumsum([0, *map(len, lists)]) for lists in (items, excluded))
    grades = random.choice([1.0, 2.0], pointer[-1]) if random.random() < 0.5 else None
    return RelevantBlock(pointer, np.concatenate(items), grades, excluded_pointer, np.concatenate(excluded))


@levels
@seeds
@pytest.mark.parametrize("n_items", [1, 12, 150])
def test_pairs_of_distinct_items(n_items: int, seed: int, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(seed)
    block = relevant_block(random, n_items)
    identity = np.unique(random.integers(0, random.choice([2, n_items]), n_items), return_inverse=True)[1]
    weight = np.bincount(identity)
    monkeypatch.setattr(ranked, "pair_up", at(level, ranked.pair_up))
    space: Any = SimpleNamespace(items=SimpleNamespace(identity=identity, weight=weight))
    found = ranked.paired_rows(space, np.arange(len(block.pointer) - 1), block, ranked.room_for(block))
    expected = ranking_reference.pair_up(block, identity, weight)
    assert np.array(found.pairs).T.tolist() == [list(pair) for pair in expected.pairs]
    assert found.of_item.tolist() == ([] if block.grades is None else expected.of_item)
    assert np.array(found.partial).T.tolist() == [list(item) for item in expected.partial]
    for q, masked in enumerate(expected.masked):
        runs = found.targets.run[found.targets.first[q] : found.targets.last[q]]
        assert runs.tolist() == runs_of(np.array(masked, dtype=np.int64)).tolist()


KEYS: dict[str, Any] = {
    "any": lambda random, count: random.standard_normal(count),
    "few": lambda random, count: random.choice([-1.0, -0.0, 0.0, 5e-324, 1.0], count),
    "close": lambda random, count: 1.0 + random.integers(0, 40, count) * 2.0**-52,
    "large": lambda random, count: random.choice([-1.7e308, 1.0, 1.7e308], count),
}
ERRORS: dict[str, Any] = {
    "none": lambda random, count: np.zeros(count),
    "some": lambda random, count: random.choice([0.0, 2.0**-52, 1e-3], count),
    "endless": lambda random, count: random.choice([0.0, 1e-3, np.inf], count),
}


@levels
@pytest.mark.parametrize("errors", ERRORS)
@pytest.mark.parametrize("keys", KEYS)
def test_pairs_in_order_become_entries(keys: str, errors: str, level: str) -> None:
    random = np.random.default_rng(len(keys) + len(errors))
    for longest in (1, 5, 60):
        length = random.integers(0, longest + 1, 12)
        count = int(length.sum())
        query = np.repeat(np.arange(12), length)
        key, error = KEYS[keys](random, count), ERRORS[errors](random, count)
        pairs = ranked.Pairs(query, random.permutation(count), *random.integers(1, 4, (2, count)))
        room = RoomToSort.of(longest)
        found = ranking.Ordered(
            np.empty_like(query), np.empty(count), np.empty(count), np.empty(count, dtype=np.bool_)
        )
        is_open = at(level, ranking.sort_by_key)(query, key, error, room, found)
        ends = np.cumsum(length)
        size = np.zeros(12, dtype=np.int64)
        np.add.at(size, query, pairs.relevant)
        places = random.permutation(12)
        block = Block.of(size[np.argsort(places)] + 1, False)
        at(level, ranking.put_entries)(pairs, found, room, places, block)
        expected_open = False
        for q, (start, stop) in enumerate(zip(ends - length, ends, strict=True)):
            own = slice(start, stop)
            assert sorted(found.order[own]) == list(range(start, stop))
            assert found.key[own].tolist() == sorted(key[own], reverse=True) == key[found.order[own]].tolist()
            assert found.error[own].tolist() == error[found.order[own]].tolist()
            falling, errors_of_pairs, starts_tie = (column[own].tolist() for column in found[1:])
            if start < stop:
                starts, some_open = ranking_reference.starts_of_ties(falling, errors_of_pairs)
                assert starts_tie == starts
                expected_open |= some_open
            chosen = [tuple(pair) for pair in np.array(pairs).T[found.order[own]].tolist()]
            entries, reach = ranking_reference.entries_of(falling, errors_of_pairs, starts_tie, chosen)
            place = places[q]
            written = slice(block.start[place], block.stop[place])
            columns = (block.key, block.gap, block.equal, block.item)
            assert list(zip(*(column[written].tolist() for column in columns), strict=True)) == entries
            assert block.reach[place] == reach
            assert block.known[place]
        assert is_open == expected_open


@levels
@seeds
def test_items_that_are_left_out(seed: int, level: str) -> None:
    random = np.random.default_rng(seed)
    is_masked = random.random((7, 90)) < random.choice([0.0, 0.05, 0.5, 0.95, 1.0], (7, 1))
    query, item = np.nonzero(is_masked)
    masks = masks_of(query, item, 7)
    for start, width in ((0, 90), (0, 1), (33, 17), (80, 10), (89, 1)):
        expected, found = np.zeros((2, 7, width), dtype=np.float32)
        reference.hide_in_rows(masks.run, masks.first, masks.last, start, expected)
        at(level, resolve.hide_in_rows)(masks.run, masks.first, masks.last, start, found)
        assert (found == expected).all()
        assert ((found < 0) == is_masked[:, start : start + width]).all()


@levels
@pytest.mark.parametrize("length", [1, 2, 3, 8, 9, 40])
def test_keys_that_queries_share(length: int, level: str) -> None:
    random = np.random.default_rng(length)
    keys = np.sort(random.choice([-np.inf, -2.0, -0.0, 0.0, 1e-9, 1.0, 1.0 + 1e-9, 3.0], (30, length + 2)), axis=1)
    keys[::3] = np.sort(random.standard_normal(keys[::3].shape), axis=1)
    keys = np.maximum(keys, np.append([-np.inf] * 2, [-5.0] * length))
    reach = random.choice([0.0, 1e-12, 1e-9, 0.1], 30)
    start = random.permutation(30) * length
    before = random.integers(0, 3, 30 * length).astype(np.int32)
    found: list[npt.NDArray[Any]] = [np.zeros(30 * length), before.copy(), np.zeros(30, dtype=np.bool_)]
    expected = [column.copy() for column in found]
    reference.reverse(keys, length, reach, start, *expected)
    at(level, ranking.reverse)(keys, length, reach, start, *found)
    for a, b in zip(found, expected, strict=True):
        assert a.tobytes() == b.tobytes()


def thresholds(random: Random, queries: int) -> tuple[IntArray, IntArray, IntArray]:
    """The positions of the queries' thresholds, and a number for each: descending, and equal in ties."""
    length = random.integers(0, 30, queries)
    stops = np.cumsum(length + 2)
    starts = stops - length
    ties = np.zeros(stops[-1], dtype=np.int64)
    for start, stop in zip(starts, stops, strict=True):
        ties[start:stop] = -np.cumsum(random.choice([0, 1, 2], stop - start))
    return starts, stops, ties


def undecided(random: Random, starts: IntArray, stops: IntArray, count: int) -> Undecided:
    """Items and the thresholds that they may be equal to."""
    query = np.sort(random.integers(0, len(starts), count))
    ends = np.sort(random.integers(0, (stops - starts)[query] + 1, (2, count)), axis=0)
    return Undecided(query, random.integers(0, 99, count), random.integers(1, 4, count), *ends)


def gaps_of(random: Random, starts: IntArray, stops: IntArray, ties: IntArray) -> npt.NDArray[np.int32]:
    """Counts so far, with marks for thresholds that continue a tie."""
    gap = random.integers(0, 5, len(ties)).astype(np.int32)
    gap[1:][ties[1:] == ties[:-1]] = CONTINUED
    gap[starts[starts < stops]] = 3
    return gap


@levels
@seeds
def test_places_by_intervals(seed: int, level: str) -> None:
    random = np.random.default_rng(seed)
    starts, stops, ties = thresholds(random, 9)
    items = undecided(random, starts, stops, 203)
    width = random.choice([0.0, 0.5, 3.0])
    center = ties + random.choice([0.0, 0.25])
    own = -random.integers(0, 60, 203) / 2.0
    own[::5] -= 0.25
    low, high = (
        np.concatenate([own + sign * random.choice([0.0, 0.5], 203), center + sign * width]) for sign in (-1, 1)
    )
    origin = 203 + starts[items.query]
    gap = random.integers(0, 5, len(ties)).astype(np.int32)
    expected = gap.copy()
    left = reference.place_intervals(low, high, origin, items, starts, stops, expected)
    rest = at(level, resolve.place_intervals)(low, high, origin, items, starts, stops, gap)
    assert gap.tolist() == expected.tolist()
    assert np.array([column[:rest] for column in items]).T.tolist() == left


@levels
@seeds
@pytest.mark.parametrize("length", [1, 2, 3, 5])
def test_places_by_exact_keys(length: int, seed: int, level: str) -> None:
    random = np.random.default_rng(seed)
    starts, stops, ties = thresholds(random, 9)
    items = undecided(random, starts, stops, 200)
    # Keys that differ in any digit, and items at a threshold or between two thresholds.
    unit = 1 << 30 * int(random.integers(length)) + int(random.integers(25))
    middle = int(random.integers(-(2**20), 2**20))
    numbers = [middle * 2 ** (30 * (length - 1)) // 2**5 + 3 * unit * int(tie) for tie in ties]
    at_threshold = random.integers(starts[items.query], np.maximum(stops, starts + 1)[items.query])
    own = [numbers[place] + unit * int(random.integers(-1, 2)) for place in at_threshold]
    for i, q in enumerate(items.query):
        falling = numbers[starts[q] : stops[q]]
        items.first[i] = random.integers(sum(number > own[i] for number in falling) + 1)
        items.last[i] = random.integers(sum(number >= own[i] for number in falling), len(falling) + 1)
    keys = np.array([digits_reference.digits_of(number, length) for number in [*own, *numbers]])
    origin, base = 200 + starts[items.query], 200 + np.concatenate([starts[items.query], np.zeros_like(ties)])
    for start, stop in zip(starts, stops, strict=True):
        base[200 + start : 200 + stop] = 200 + start
    common, lead = np.empty((2, len(keys)), dtype=np.int64)
    at(level, resolve.leading)(keys, base, common, lead)
    for q, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        compared = [*np.flatnonzero(items.query == q), *range(200 + start, 200 + stop)]
        order_of_keys = sorted(compared, key=lambda place: digits_reference.number_of(keys[place]))
        assert (np.diff(lead[order_of_keys]) >= 0).all()
    gap = gaps_of(random, starts, stops, ties)
    counts = Counts(gap, random.integers(0, 5, len(ties)).astype(np.int32))
    expected = Counts(counts.gap.copy(), counts.equal.copy())
    reference.place(keys, origin, items, starts, stops, *expected)
    at(level, resolve.place_by_keys)(keys, lead, origin, items, starts, stops, counts)
    assert counts.gap.tolist() == expected.gap.tolist()
    assert counts.equal.tolist() == expected.equal.tolist()


@levels
def test_leading_digits_are_as_many_as_fit(level: str) -> None:
    random = np.random.default_rng(0)
    keys = np.concatenate([random.integers(-(2**30), 2**30, (200, 1)), random.integers(0, 2**30, (200, 6))], axis=1)
    keys[50:] = keys[50]
    keys[60:, 3:] = random.integers(0, 2**30, (140, 4))
    base = np.where(np.arange(200) < 50, 7, 50)
    common, lead = np.empty((2, 200), dtype=np.int64)
    at(level, resolve.leading)(keys, base, common, lead)
    numbers = [digits_reference.number_of(key[:2] - keys[7, :2]) for key in keys[:50]]
    assert lead[:50].tolist() == numbers
    assert lead[50:].tolist() == [digits_reference.number_of((key - keys[50])[:5]) for key in keys[50:]]
