"""The kernels that make and merge the ends of distances under noise, compared with the expected results."""

import numpy as np
import pytest

from kernel_levels import LEVELS, at
from kernels import shifted as reference
from tieproof.engine import shifted
from tieproof.engine.ranked import RoomToSort

levels = pytest.mark.parametrize("level", LEVELS)
seeds = pytest.mark.parametrize("seed", range(6))

DISTANCES = [0.0, -0.0, 1.0, np.nextafter(1.0, 2.0), -3.5, 5e-324, 1e20, 0.1, 7.0]


@levels
@seeds
def test_ends_are_multiples_of_steps_on_the_safe_side(seed: int, level: str) -> None:
    random = np.random.default_rng(seed)
    steps = shifted.PossibleEnds(2.0**-30, 16.0)
    for count in (0, 1, 40):
        least = random.choice(DISTANCES, count)
        most = np.where(random.random(count) < 0.5, least, np.nextafter(least, np.inf) + random.choice([0.0, 1e-9]))
        radius = random.choice([0.0, 1e-12, 2.0**-31, 0.5, 1e300], count)
        ends, unsure = np.empty((2, count)), np.empty(count, dtype=np.int64)
        found = at(level, shifted.step_ends)(least, most, radius, steps, ends, unsure)
        columns = (least.tolist(), most.tolist(), radius.tolist())
        expected = [
            [reference.ends_of(end, by, *steps) for end in (low, high)]
            for low, high, by in zip(*columns, strict=True)
        ]
        assert list(zip(*ends.tolist(), strict=True)) == [of_least for of_least, _ in expected]
        assert unsure[:found].tolist() == [i for i, (low, high) in enumerate(expected) if low != high]


@levels
@seeds
@pytest.mark.parametrize("by_key", [False, True])
@pytest.mark.parametrize("in_order", [False, True])
def test_ends_are_merged_with_ties(in_order: bool, by_key: bool, seed: int, level: str) -> None:
    """Each of the lists falls, or they are in any order; many keys are equal."""
    random = np.random.default_rng(seed)
    length = random.choice([0, 1, 2, 30], 9)
    ties = np.minimum(length, random.integers(0, 31, 9))
    count = int(length.sum())
    end = random.integers(0, 20, (2, count)) / 4
    if in_order:
        ends = np.cumsum(length)
        for first, last in zip(ends - length, ends, strict=True):
            end[:, first:last].sort(axis=1)
    key = -np.floor(end)
    tie_key = np.concatenate([-np.sort(random.integers(0, 6, n)) for n in ties]).astype(np.float64)
    room = RoomToSort.of(3 * 30)
    unmerged = shifted.Unmerged(length, ties, tie_key, end, key)
    size, both = 2 * count, 2 * count + int(ties.sum())
    merged = shifted.Merged(
        np.empty(size), np.empty(size, np.bool_), np.empty(size), np.empty(both), np.empty(both, np.bool_)
    )
    at(level, shifted.merge_ends)(unmerged, by_key, room, merged)
    expected = reference.merge_ends(length.tolist(), ties.tolist(), tie_key.tolist(), end, key, by_key)
    columns = [column.tolist() for column in merged]
    assert list(zip(*columns[:3], strict=True)) == expected[0]
    assert list(zip(*columns[3:], strict=True)) == expected[1]
