"""Adjacent places of a leaderboard: how much of their difference is left by ties, and by the choice of queries."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import tieproof as tp
from studies.published.compact import read_judged, read_lists, tied_share, with_ties
from studies.published.findings import adjacent
from studies.published.rescored import RUNS, Number, evaluate


class Pair(NamedTuple):
    """The last system of a place and the first of the next one, and the verdict on their difference."""

    better: Number
    worse: Number
    verdict: str
    p_value: float


def compared(folder: Path, board: Sequence[Number]) -> Iterator[Pair]:
    """Compare all adjacent places of a leaderboard, on the queries that both systems answered."""
    runs = RUNS[board[0].runs]
    judged, lists = read_judged(folder / runs.name), read_lists(folder / runs.name)

    @cache
    def result(system: str) -> tp.Result:
        return evaluate(runs, judged, with_ties(lists[system].double), [runs.main])

    for better, worse in adjacent(board):
        pair = {each.system: result(each.system) for each in (better[-1], worse[0])}
        shared = set.intersection(*(set(each.query_ids.tolist()) for each in pair.values()))
        if any(len(each.query_ids) > len(shared) for each in pair.values()):
            both = {query: judged[query] for query in shared}
            pair = {system: evaluate(runs, both, with_ties(lists[system].double), [runs.main]) for system in pair}
        found = tp.compare(pair)[better[-1].system, worse[0].system, runs.main]
        yield Pair(better[-1], worse[0], found.verdict.name, found.p_value)


def with_zeros(folder: Path, numbers: Iterable[Number]) -> Iterator[tuple[Number, "tp.Estimate[float]"]]:
    """The means of systems if a query that they did not answer counts as 0."""
    for each in numbers:
        runs = RUNS[each.runs]
        judged, lists = read_judged(folder / runs.name), read_lists(folder / runs.name)
        scores = with_ties(lists[each.system].double)
        yield each, evaluate(runs._replace(missing="zero"), judged, scores, [each.measure])[each.measure]


def tied(folder: Path, numbers: Iterable[Number]) -> list[float]:
    """The share of the listed documents of systems that are tied with another one."""
    return [tied_share(read_lists(folder / each.runs)[each.system].double) for each in numbers]
