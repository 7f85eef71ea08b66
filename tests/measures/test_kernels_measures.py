"""The kernels of the measures against loops of Python, bit by bit."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest

from kernel_levels import LEVELS, at
from kernels import arrangements, precision_terms, sums_by_query
from tieproof.measures.arrangements import trapezoid_variances
from tieproof.measures.numbers import Pair, running_sums
from tieproof.measures.precision_terms import FAR, LONG
from tieproof.measures.precision_terms import precision_terms as terms_of_ties
from tieproof.measures.sums_by_query import add_precisions, certain_hits

IntArray = npt.NDArray[np.int64]
RANKS = 20_000
HARMONIC = running_sums(lambda i: Pair.of(1.0) / i, RANKS + 1)
SQUARES = running_sums(lambda i: Pair.of(1.0) / (Pair.of(i) * i), RANKS + 1)


def table(sums: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.concatenate([np.zeros((2, 1)), sums], axis=1)


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
    sums, squares = table(HARMONIC), table(SQUARES)
    room, expected, found = np.empty((3, s.max(initial=0))), np.empty((4, len(k))), np.empty((4, len(k)))
    precision_terms.precision_terms(k, n, l, m, s, sums, squares, room, expected)
    at(level, terms_of_ties)(k, n, l, m, s, sums, squares, room, found)
    assert (found == expected).all()
    assert (LONG, FAR) == (precision_terms.LONG, precision_terms.FAR)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("ties", TIES)
def test_trapezoid_variances(ties: str, level: str) -> None:
    k, n, l, m, s = columns([tie for tie in TIES[ties] if tie[2] > 1])
    room, expected, found = np.empty((3, s.max(initial=0))), np.empty(len(k)), np.empty(len(k))
    arrangements.trapezoid_variances(k, n, l, m, s, room, expected)
    at(level, trapezoid_variances)(k, n, l, m, s, room, found)
    assert (found == expected).all()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("queries", [0, 1, 2, 60])
@pytest.mark.parametrize("trapezoid", [False, True])
def test_sums_by_query(queries: int, trapezoid: bool, level: str) -> None:
    random = np.random.default_rng(queries)
    starts = np.append(0, np.cumsum(random.integers(0, 12, queries)))
    l = random.choice([1, 1, 1, 2, 9], starts[-1])
    m = random.integers(1, l + 1)
    first = np.repeat(starts[:-1], np.diff(starts))
    k = (np.cumsum(l) - l) - (np.cumsum(l) - l)[first] if len(l) else l
    n = (np.cumsum(m) - m) - (np.cumsum(m) - m)[first] if len(l) else l
    last = random.choice([0, 1, 5, 40, np.iinfo(np.int64).max], queries)
    several = random.random(len(l))
    expected, found = np.zeros(queries), np.zeros(queries)
    sums_by_query.add_precisions(trapezoid, starts, k, n, l, last, several, expected)
    at(level, add_precisions)(trapezoid, starts, k, n, l, last, several, found)
    assert (found == expected).all()
    hits, compiled_hits = np.zeros(queries, dtype=np.int64), np.zeros(queries, dtype=np.int64)
    sums_by_query.certain_hits(starts, k, l, m, last, hits)
    at(level, certain_hits)(starts, k, l, m, last, compiled_hits)
    assert (compiled_hits == hits).all()
