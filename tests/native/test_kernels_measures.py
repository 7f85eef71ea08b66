"""The kernels of the measures, compared with loops in Python, bit by bit."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest

from kernel_levels import LEVELS, at
from kernels import cascade as cascades
from kernels import first_and_last, largest_precisions, precision_terms, sums_by_query, trapezoid_terms, weighted_sums
from kernels import running_sums as loops
from tieproof.measures import precision_sums
from tieproof.measures.families import cascade, interpolated, relevant_ranks, weighted_ranks
from tieproof.measures.numbers import Pair, running_sums, sum_inside_blocks
from tieproof.measures.rank_weights import LOGARITHMIC, LONG, SUMMED, Geometric, WeightTables
from tieproof.ties import Ties

IntArray = npt.NDArray[np.int64]
RANKS = 20_000
HARMONIC = running_sums(lambda i: Pair.of(1.0) / i, RANKS + 1)
SQUARES = running_sums(lambda i: Pair.of(1.0) / (Pair.of(i) * i), RANKS + 1)


def table(sums: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.concatenate([np.zeros((2, 1)), sums], axis=1)


TABLES = WeightTables(table(HARMONIC), table(SQUARES), 0.0)


def columns(ties: list[tuple[int, int, int, int, int]]) -> tuple[IntArray, ...]:
    """k, n, l, m and s of ties."""
    return tuple(np.ascontiguousarray(np.array(ties, dtype=np.int64).reshape(-1, 5).T))


def random_ties(seed: int, deepest: int, longest: int) -> Iterator[tuple[int, int, int, int, int]]:
    random = np.random.default_rng(seed)
    for _ in range(150):
        k = int(random.integers(deepest + 1))
        l = int(random.integers(1, longest + 1))
        m = int(random.choice([1, int(random.integers(l)) + 1, l]))
        yield k, int(random.integers(k + 1)), l, m, int(random.choice([l, int(random.integers(l)) + 1]))


EDGES = [
    (k, n, l, m, s)
    for k in (0, 1, 7000)
    for n in {0, k}
    for l in (1, 2, 3, 4, 31, 32, 33, 34, 64, 65, 70)
    for m in sorted({1, 2, l - 1, l})
    for s in sorted({1, l - 1, l})
    if 1 <= m <= l and s
]
TIES = {
    "none": [],
    "edges": EDGES,
    "shallow": list(random_ties(1, 5, 12)),
    "long": list(random_ties(2, 300, 400)),
    "deep": list(random_ties(3, 15_000, 80)),
}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("ties", TIES)
def test_precision_terms(ties: str, level: str) -> None:
    k, n, l, m, s = columns(TIES[ties])
    room, expected, found = np.empty((3, s.max(initial=0))), np.empty((4, len(k))), np.empty((4, len(k)))
    precision_terms.precision_terms(k, n, l, m, s, TABLES, room, expected)
    at(level, precision_sums.precision_terms)(k, n, l, m, s, TABLES, room, found)
    assert (found == expected).all()
    assert (LONG, SUMMED) == (precision_terms.LONG, weighted_sums.SUMMED)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("ties", TIES)
def test_trapezoid_terms(ties: str, level: str) -> None:
    k, n, l, m, _ = columns([tie for tie in TIES[ties] if tie[2] > 1])
    room, expected, found = np.empty((3, l.max(initial=0))), np.empty((4, len(k))), np.empty((4, len(k)))
    trapezoid_terms.trapezoid_terms(k, n, l, m, TABLES, room, expected)
    at(level, precision_sums.trapezoid_terms)(k, n, l, m, TABLES, room, found)
    assert (found == expected).all()


def ties_of_queries(seed: int, queries: int, sizes: list[int], gaps: list[int]) -> Ties:
    """Queries of up to eleven ties, of which some are equal."""
    random = np.random.default_rng(seed)
    starts = np.append(0, np.cumsum(random.integers(0, 12, queries)))
    query = np.repeat(np.arange(queries), np.diff(starts))
    l = random.choice(sizes, starts[-1])
    m = np.minimum(l, random.choice([1, 1, 2, 5, 3000], starts[-1]))
    gap, first = random.choice(gaps, starts[-1]), starts[query]
    before, relevant = np.cumsum(gap + l) - l, np.cumsum(m) - m
    k, n = before - (before - gap)[first], relevant - relevant[first]
    n_relevant = np.bincount(query, m, minlength=queries).astype(np.int64) + random.integers(0, 2, queries)
    return Ties(query, k, n, l, m, n_relevant, n_items=n_relevant)


QUERIES = {
    "none": ties_of_queries(0, 0, [1], [0]),
    "one": ties_of_queries(1, 1, [1, 3], [0, 2]),
    "short": ties_of_queries(2, 60, [1, 1, 2, 5], [0, 1, 3]),
    "edges": ties_of_queries(3, 60, [1, 31, 32, 33, 34, 63, 64, 65, 66], [0, 0, 300]),
    "long": ties_of_queries(4, 25, [1, 2, 999], [0, 7]),
}


def last_of(ties: Ties) -> IntArray:
    return np.random.default_rng(5).choice([0, 1, 5, 40, 700, np.iinfo(np.int64).max], ties.n_queries)


WEIGHTS = {
    "uniform": WeightTables(None, None, 0.0),
    "harmonic": TABLES,
    "logarithmic": LOGARITHMIC.tables(RANKS, RANKS),
    "geometric": Geometric(0.8).tables(RANKS, RANKS),
    "geometric, slow": Geometric(0.9999).tables(RANKS, RANKS),
}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", QUERIES)
def test_sum_precisions(name: str, level: str) -> None:
    ties = QUERIES[name]
    room, divisors = np.empty((3, ties.largest)), ties.n_relevant / 3.0
    columns = (ties.starts, ties.k, ties.n, ties.l, ties.m, last_of(ties), TABLES, room, divisors)
    expected, found = np.zeros((2, 4, ties.n_queries))
    sums_by_query.sum_precisions(*columns, expected)
    at(level, relevant_ranks.sum_precisions)(*columns, found)
    assert (found == expected).all()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", QUERIES)
def test_add_trapezoids(name: str, level: str) -> None:
    ties = QUERIES[name]
    several = np.random.default_rng(0).random((4, len(ties.several)))
    expected, found = np.zeros((2, 4, ties.n_queries))
    sums_by_query.add_trapezoids(ties.starts, ties.k, ties.n, ties.l, several, expected)
    at(level, relevant_ranks.add_trapezoids)(ties.starts, ties.k, ties.n, ties.l, several, found)
    assert (found == expected).all()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("name", QUERIES)
def test_sum_weights(name: str, weights: str, level: str) -> None:
    ties = QUERIES[name]
    bounds = ties.n_relevant.astype(np.float64)
    columns = (ties.starts, ties.k, ties.l, ties.m, last_of(ties), WEIGHTS[weights], bounds, bounds / 3.0)
    expected, found = np.zeros((2, 4, ties.n_queries))
    weighted_sums.sum_weights(*columns, expected)
    at(level, weighted_ranks.sum_weights)(*columns, found)
    assert (found == expected).all()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", QUERIES)
def test_first_and_last(name: str, level: str) -> None:
    ties = QUERIES[name]
    queries = np.random.default_rng(6).permutation(ties.n_queries)
    columns = (queries, ties.starts, ties.k, ties.l, ties.m, last_of(ties))
    expected, found = np.zeros((2, 3, 4, ties.n_queries))
    first_and_last.find_successes(*columns, expected[0])
    at(level, relevant_ranks.find_successes)(*columns, found[0])
    first_and_last.find_first_reciprocals(*columns, TABLES, expected[1])
    at(level, relevant_ranks.find_first_reciprocals)(*columns, TABLES, found[1])
    whole = (queries, ties.starts, ties.k, ties.n, ties.l, ties.m, ties.n_relevant)
    first_and_last.find_last_reciprocals(*whole, expected[2])
    at(level, relevant_ranks.find_last_reciprocals)(*whole, found[2])
    assert (found == expected).all()


@pytest.mark.parametrize("level", LEVELS)
def test_sum_inside_blocks(level: str) -> None:
    random = np.random.default_rng(7)
    for count, block in ((0, 256), (1, 256), (255, 256), (256, 256), (257, 256), (600, 256), (20, 1), (20, 7)):
        high = random.normal(size=count) * 2.0 ** random.integers(-60, 60, count)
        terms = np.stack([high, high * 2.0**-54 * random.uniform(-1, 1, count)])
        expected, found = terms.copy(), terms.copy()
        loops.sum_inside_blocks(expected, block)
        at(level, sum_inside_blocks)(found, block)
        assert (found == expected).all()


STOPS: dict[str, list[float]] = {
    "alike": [0.25],
    "mixed": [0.9375, 0.25, 0.0625],
    "few": [0.3, 1e-9],
    "all": [0.5, 1.0],
}


@pytest.mark.parametrize("ties", ["none", "edges", "shallow"])
@pytest.mark.parametrize("chances", STOPS)
def test_cascade_terms(chances: str, ties: str) -> None:
    """Ties in which the probability of continuing is neglected at once, and ties in which all hits count."""
    k, _, l, m, s = columns([tie for tie in TIES[ties] if tie[2] < 5 or (tie[:2] == (1, 0) and tie[2] < 34)])
    random, first = np.random.default_rng(1), np.cumsum(m) - m
    drawn = [np.sort(random.choice(STOPS[chances], count))[::-1] for count in m.tolist()]
    stops = np.concatenate([np.zeros(0), *drawn])
    s[::7] = 0
    expected = np.empty((5, len(k)))
    cascades.cascade_terms(k, l, m, s, first, stops, expected)
    for level in LEVELS:
        most = at(level, cascade.most_hits)(k, l, m, s, first, stops)
        rooms = np.empty((4, most.alike + 1)), np.empty((4 * (most.mixed + 1) + 2, most.mixed + 1))
        found = np.empty((5, len(k)))
        at(level, cascade.cascade_terms)(k, l, m, s, first, stops, *rooms, found)
        assert (found == expected).all(), level


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", QUERIES)
def test_add_cascades(name: str, level: str) -> None:
    starts = QUERIES[name].starts
    terms = np.random.default_rng(2).random((5, int(starts[-1])))
    expected, found = np.zeros((2, 4, len(starts) - 1))
    cascades.add_cascades(starts, terms, expected)
    at(level, cascade.add_cascades)(starts, terms, found)
    assert (found == expected).all()


@pytest.mark.parametrize("level", LEVELS)
def test_chances_of_precisions(level: str) -> None:
    """Values are those of hits, numbers between these, and numbers that no precision reaches."""
    random = np.random.default_rng(4)
    for k, n, l, m, _ in [*list(random_ties(4, 20, 16))[:60], *EDGES[::97]]:
        first = int(random.integers(m)) + 1
        hit = random.integers(1, m + 1, size=40)
        values = (n + hit) / (k + hit + random.integers(0, l - m + 1, size=40))
        values = np.unique(np.concatenate([values, random.random(10), [2.0]]))
        expected, found, room = np.empty((2, len(values))), np.empty((2, len(values))), np.empty((m + 1, 16))
        largest_precisions.chances_of_precisions(k, n, l, m, first, values, room, expected)
        at(level, interpolated.chances_of_precisions)(k, n, l, m, first, values, room, found)
        assert (found == expected).all()
