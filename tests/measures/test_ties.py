"""The properties of `Ties`, compared with their definitions; and the thread pool that evaluates measures."""

# ruff: noqa: E741  (k, n, l, m: the paper's letters)

import threading
import time
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest

from tieproof.measures import REGISTRY, parse
from tieproof.native.threads import for_each, in_order
from tieproof.ties import Ties


def random_ties(seed: int, count: int = 40) -> Ties:
    """Queries with no tie, one tie or many, and with missing items."""
    random = np.random.default_rng(seed)
    query, k, n, l, m, n_relevant, n_items = [], [], [], [], [], [], []
    for q in range(count):
        nearer = relevant = 0
        for _ in range(random.choice([0, 1, 9])):
            nearer += int(random.choice([0, 3, 64]))
            size = int(random.choice([1, 2, 7]))
            here = int(random.integers(1, size + 1))
            query.append(q)
            k.append(nearer)
            n.append(relevant)
            l.append(size)
            m.append(here)
            nearer, relevant = nearer + size, relevant + here
        n_relevant.append(relevant + int(random.integers(0, 2)))
        n_items.append(nearer + 5)
    return ties_of(query, k, n, l, m, n_relevant, n_items)


def ties_of(*columns: list[int]) -> Ties:
    query, k, n, l, m, n_relevant, n_items = (np.array(column, dtype=np.int64) for column in columns)
    return Ties(query, k, n, l, m, n_relevant, n_items)


@pytest.mark.parametrize("seed", range(5))
def test_ties_find_what_they_say(seed: int) -> None:
    ties = random_ties(seed)
    of_query = [np.flatnonzero(ties.query == q).tolist() for q in range(ties.n_queries)]
    assert any(not of for of in of_query)
    assert [list(range(*ends)) for ends in pairwise(ties.starts.tolist())] == of_query
    ends = [(k + l, l) for k, l in zip(ties.k.tolist(), ties.l.tolist(), strict=True)]
    assert ties.depth == max(end for end, _ in ends)
    assert ties.depth_of_several == max(end for end, l in ends if l > 1)
    assert ties.largest == max(ties.l)
    assert ties.several.tolist() == [t for t in range(len(ties.k)) if ties.l[t] > 1]
    assert ties.listed.tolist() == [sum(ties.m[of].tolist()) for of in of_query]
    assert ties.missing.tolist() == (ties.n_relevant - ties.listed).tolist()
    assert ties.missing.any()


@pytest.mark.parametrize("queries", [0, 2])
def test_no_ties(queries: int) -> None:
    ties = ties_of([], [], [], [], [], [2] * queries, [3] * queries)
    assert ties.starts.tolist() == [0] * (queries + 1)
    assert (ties.depth, ties.depth_of_several, ties.largest) == (0, 0, 0)
    assert ties.listed.tolist() == [0] * queries
    assert not len(ties.several)


def test_measures_leave_ties_as_they_are() -> None:
    ties = random_ties(0)
    before = dict(vars(ties))
    for definition in REGISTRY.values():
        if not definition.smaller_is_better:  # a rank, which refuses queries whose relevant items are all missing
            parse(definition.name + ("@5" if definition.cutoff == "required" else ""))(ties)
    assert vars(ties).keys() == before.keys()
    assert all(vars(ties)[name] is value for name, value in before.items())


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_work_comes_back_in_order(threads: int) -> None:
    def slow_at_first(i: int) -> int:
        time.sleep(0.02 if i % 4 == 0 else 0)
        return i * i

    assert list(in_order(slow_at_first, range(23), threads)) == [i * i for i in range(23)]
    assert list(in_order(slow_at_first, [], threads)) == []


@pytest.mark.parametrize("threads", [1, 3])
def test_few_items_are_taken_ahead(threads: int) -> None:
    taken = []

    def items() -> Iterator[int]:
        for i in range(50):
            taken.append(i)
            yield i

    for done, _ in enumerate(in_order(abs, items(), threads)):
        assert len(taken) <= done + threads + 1


@pytest.mark.parametrize("threads", [1, 2])
def test_an_exception_arrives_and_ends_the_work(threads: int) -> None:
    started, lock = [], threading.Lock()

    def fails_at_five(i: int) -> int:
        with lock:
            started.append(i)
        if i == 5:
            raise ValueError("five")
        return i

    found: list[int] = []
    with pytest.raises(ValueError, match="five"):
        found.extend(in_order(fails_at_five, range(1000), threads))
    assert found == [0, 1, 2, 3, 4]
    assert max(started) <= 5 + threads + 1


def test_who_takes_no_more_ends_the_work() -> None:
    started = []
    results = in_order(lambda i: started.append(i), range(1000), 2)
    next(results)
    results.close()
    assert len(started) <= 4


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_a_single_item_needs_no_thread(count: int) -> None:
    done: list[tuple[int, bool]] = []
    for_each(lambda i: done.append((i, threading.current_thread() is threading.main_thread())), range(count), 2)
    assert sorted(done) == [(i, count == 1) for i in range(count)]


@pytest.mark.parametrize("count", [1, 3])
def test_items_are_closed_after_an_error(count: int) -> None:
    closed = []

    def items() -> Iterator[int]:
        try:
            yield from range(count)
        finally:
            closed.append(True)

    given = items()
    with pytest.raises(ZeroDivisionError):
        for_each(lambda i: 1 // (i - i), given, 2)  # type: ignore[arg-type]
    assert closed == [True]
