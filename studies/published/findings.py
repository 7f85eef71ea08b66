"""What follows from the re-scored numbers of a leaderboard."""

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from studies.published.rescored import RUNS, Number
from studies.published.sets import NCF, SETS


class Headline(NamedTuple):
    """The counts over all sets, of the main measure of each.

    numbers, systems : how many are published
    wide : numbers whose interval is wider than the printed last digit
    reproduced, outside : numbers that the original tool's order gives, and numbers that no order of ties gives
    places, swaps : adjacent places of leaderboards, and how many of them could swap on ties alone
    """

    numbers: int
    systems: int
    wide: int
    reproduced: int
    outside: int
    places: int
    swaps: int


def main_numbers(numbers: Iterable[Number]) -> list[Number]:
    """The published numbers of the main measure of each set."""
    return [each for each in numbers if each.measure == RUNS[each.runs].main and each.runs != NCF.name]


def headline(numbers: Iterable[Number]) -> Headline:
    """Count over all sets."""
    mains = main_numbers(numbers)
    ranked = {runs.name for runs in SETS}
    places = [pair for board in boards(mains).values() for pair in adjacent(board)]
    return Headline(
        len(mains),
        sum(each.runs in ranked for each in mains),
        sum(each.wide for each in mains),
        sum(each.reproduced for each in mains),
        sum(not each.inside for each in mains),
        len(places),
        sum(could_swap(*pair) for pair in places),
    )


def boards(mains: Iterable[Number]) -> dict[str, list[Number]]:
    """The leaderboard of each set: its systems from the best published number to the worst."""
    found: dict[str, list[Number]] = {}
    for each in mains:
        found.setdefault(each.runs, []).append(each)
    return {
        name: sorted(found[name], key=lambda each: (-each.value, each.system))
        for name in (runs.name for runs in SETS)
        if name in found
    }


def adjacent(board: Sequence[Number]) -> list[tuple[list[Number], list[Number]]]:
    """Adjacent places of a leaderboard, the better one first; systems with one published number share a place."""
    return list(pairwise(list(place) for _, place in groupby(board, key=lambda each: each.value)))


def could_swap(better: Iterable[Number], worse: Iterable[Number]) -> bool:
    """Whether ties alone could put a system of the worse place before one of the better place."""
    return max(each.upper for each in worse) > min(each.lower for each in better)


def possible_places(board: Sequence[Number], system: Number) -> tuple[int, int]:
    """The best and the worst place of a system over all orders of the ties of all systems."""
    others = [each for each in board if each is not system]
    return (
        1 + sum(each.lower > system.upper for each in others),
        1 + sum(each.upper > system.lower for each in others),
    )


def place_of(board: Sequence[Number], system: Number) -> int:
    """The place of a system by published numbers."""
    return 1 + sum(each.value > system.value for each in board)


def widest(mains: Iterable[Number], count: int) -> list[Number]:
    """The numbers with the widest intervals, the widest first; one of systems whose numbers are all the same."""
    different = {(each.runs, each.published, each.lower, each.upper): each for each in reversed(list(mains))}
    return sorted(different.values(), key=lambda each: (-each.width, each.runs, each.system))[:count]
