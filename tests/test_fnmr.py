"""FNMR at FMR: the examples of its source, the definition in fractions, the same bits, refusals, memory."""

import tracemalloc
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import fnmr_oracle as oracle
import tieproof as tp
from exact_oracle import fractions
from hard_sets import HARD_SETS
from tieproof.pooled import counting, pool
from tieproof.pooled.rates import METHODS, between, linear_place, tied_estimate

Array = npt.NDArray[Any]

DISTANCES = ("cosine", "euclidean", "sqeuclidean", "cityblock", "dot")
RATES = ("0", "0.05", "0.1", "0.35", "0.5", "0.9", "1")
FMR = tuple(map(float, RATES))
MIB = 2**20

# The examples of OpenMetricLearning


def test_example_of_the_source() -> None:
    relevant, others = [0, 0, 1, 1, 2, 2, 5, 5, 9, 9], [3, 3, 4, 4, 6, 6, 7, 7, 8, 8]
    rates = tp.fnmr_at_fmr_of_distances(np.array(relevant), np.array(others), fmr=(0.1, 0.5))
    assert [rates[0.1].upper, rates[0.5].upper] == [0.4, 0.2]
    assert rates[0.1] == tp.Estimate(0.4, 0.4, 0.4, 0.0)
    assert [point.threshold for point in rates.points] == [3.0, 6.0]
    assert (rates.relevant_pairs, rates.other_pairs) == (10, 10)


# Distances that are given


@pytest.mark.parametrize("seed", range(20))
def test_given_distances_as_numpy_has_them(seed: int) -> None:
    random = np.random.default_rng(seed)
    size = int(random.integers(1, 60))
    draw: Callable[[int], Array] = (
        (lambda n: random.normal(size=n)) if seed % 2 else (lambda n: random.integers(0, 6, size=n))
    )
    relevant, others = draw(40), draw(size)
    fmr = (*FMR, *random.random(20).tolist())
    rates = tp.fnmr_at_fmr_of_distances(relevant, others, fmr=fmr)
    for point in rates.points:
        threshold = np.quantile(others, point.fmr)
        assert point.threshold == threshold
        assert point.fnmr == tp.Estimate(*[np.mean(relevant >= threshold)] * 3, 0.0)


def test_quantiles_as_numpy_has_them() -> None:
    random = np.random.default_rng(0)
    for count in (1, 2, 3, 10, 1001):
        values = np.sort(random.normal(size=count) * 10.0 ** random.integers(-3, 4))
        for fmr in (0.0, 1.0, *random.random(200), *(np.arange(11) / 10)):
            first, second, part = linear_place(float(fmr), count)
            assert between(values[first], values[second], part) == np.quantile(values, fmr)


@pytest.mark.parametrize("seed", range(20))
def test_exact_given_distances_by_enumeration(seed: int) -> None:
    random = np.random.default_rng(seed)
    relevant, others = random.integers(0, 4, size=9), random.integers(0, 4, size=11)
    rates = tp.fnmr_at_fmr_of_distances(relevant / 8, others / 8, fmr=FMR, method="exact")
    keys = [[Fraction(int(value), 8) for value in values] for values in (relevant, others)]
    check_exact(rates, keys[0], keys[1], float)


@pytest.mark.parametrize("tied", range(5))
@pytest.mark.parametrize("others", range(1, 6))
def test_tied_pairs_by_enumeration(tied: int, others: int) -> None:
    for place in range(1, others + 1):
        behind = oracle.behind_by_enumeration(tied, others, place)
        assert Counter(behind) == oracle.behind(tied, others, place)
        values = np.array(behind) + 3
        found = tied_estimate(3, tied, tied + 4, place, others)
        assert found.lower == values.min() / (tied + 4)
        assert found.upper == values.max() / (tied + 4)
        assert found.expected == pytest.approx(values.mean() / (tied + 4), rel=1e-12)
        assert found.std == pytest.approx(values.std() / (tied + 4), rel=1e-12, abs=1e-15)


# Embeddings, against the definition in fractions


def check_exact(
    rates: tp.ErrorRates, relevant: list[Fraction], others: list[Fraction], distance: Callable[[Fraction], float]
) -> None:
    for point, written in zip(rates.points, RATES, strict=True):
        key, lower, mean, upper, variance = oracle.exact(relevant, others, written)
        assert point.threshold == distance(key)
        assert (point.fnmr.lower, point.fnmr.upper) == (float(lower), float(upper))
        assert point.fnmr.expected == float(mean)
        assert point.fnmr.std == pytest.approx(float(variance) ** 0.5, rel=1e-12, abs=1e-15)


def check(
    data: Array, distance: str, counted: list[tuple[int, int, bool]], gallery: Array | None = None, **options: Any
) -> None:
    """Both methods, at all rates; where a threshold passes the largest float64 an error says so."""
    rows = fractions(data)
    items = rows if gallery is None else fractions(gallery)
    relevant, others = oracle.pairs(distance, rows, items, counted)

    def run(method: str, fmr: Any) -> tp.ErrorRates:
        return tp.fnmr_at_fmr(data, gallery=gallery, distance=distance, fmr=fmr, method=method, **options)  # type: ignore[arg-type]

    with np.errstate(all="ignore"):
        expected = [oracle.linear(distance, relevant, others, fmr) for fmr in FMR]
    if not np.isfinite([threshold for threshold, _ in expected]).all():
        for method in METHODS:
            with pytest.raises(tp.InputError, match="passes the largest float64"):
                run(method, FMR)
        return
    rates = run("linear", FMR)
    assert [(point.threshold, point.fnmr.upper) for point in rates.points] == expected
    assert (rates.relevant_pairs, rates.other_pairs) == (len(relevant), len(others))
    check_exact(run("exact", FMR), relevant, others, lambda key: oracle.distance(distance, key))


def leave_one_out(labels: Array) -> list[tuple[int, int, bool]]:
    count = len(labels)
    return [(q, i, bool(labels[q] == labels[i])) for q in range(count) for i in range(count) if q != i]


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("name", HARD_SETS)
def test_leave_one_out_by_the_definition(name: str, distance: str) -> None:
    random = np.random.default_rng(7)
    data = HARD_SETS[name](random, (9, 3))
    labels = random.integers(0, 3, size=9)
    check(data, distance, leave_one_out(labels), labels=labels)
