"""FNMR at FMR: the examples of its source, the definition in fractions, the same bits, refusals, memory."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import fnmr_oracle as oracle
import tieproof as tp
from checks import FMR, check_exact_rates, check_rates
from hard_sets import HARD_SETS
from peaks import peak_of
from tieproof.analyses.rates import counting, pool
from tieproof.analyses.rates.fnmr import between, linear_place
from tieproof.analyses.rates.result import METHODS, tied_estimate
from tieproof.distances import gauge

Array = npt.NDArray[Any]

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
        share = float(np.mean(relevant >= threshold))
        assert point.fnmr == tp.Estimate(share, share, share, 0.0)


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
    check_exact_rates(rates, keys[0], keys[1], float)


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


# Embeddings, compared with the definition in fractions


def leave_one_out(labels: Array) -> list[tuple[int, int, bool]]:
    count = len(labels)
    return [(q, i, bool(labels[q] == labels[i])) for q in range(count) for i in range(count) if q != i]


@pytest.mark.few(8)
@pytest.mark.parametrize("distance", oracle.DISTANCES)
@pytest.mark.parametrize("name", HARD_SETS)
def test_leave_one_out_by_the_definition(name: str, distance: str) -> None:
    random = np.random.default_rng(7)
    data = HARD_SETS[name](random, (9, 3))
    labels = random.integers(0, 3, size=9)
    check_rates(data, distance, leave_one_out(labels), labels=labels)


@pytest.mark.parametrize("distance", oracle.DISTANCES)
@pytest.mark.parametrize("name", ["gaussian float64", "0.1, 0.2, 0.3 float32", "int8", "sparse", "largest float32"])
def test_gallery_by_the_definition(name: str, distance: str) -> None:
    random = np.random.default_rng(8)
    data = HARD_SETS[name](random, (14, 4))
    labels = random.integers(0, 3, size=14)
    counted = [(q, i, bool(labels[q] == labels[5 + i])) for q in range(5) for i in range(9)]
    check_rates(data[:5], distance, counted, data[5:], labels=labels[:5], gallery_labels=labels[5:])


def test_who_is_relevant_and_who_is_excluded() -> None:
    random = np.random.default_rng(9)
    data = random.integers(-2, 3, size=(10, 2))
    labels, groups = random.integers(0, 2, size=10), random.integers(0, 2, size=10)
    everyone = leave_one_out(labels)
    same_group = [(q, i, r) for q, i, r in everyone if not (labels[q] == labels[i] and groups[q] == groups[i])]
    check_rates(data, "cityblock", same_group, labels=labels, groups=groups)
    check_rates(data, "euclidean", [pair for pair in everyone if pair[:2] != (3, 4)], labels=labels, exclude=[(3, 4)])
    triples = [(0, 1, 1), (1, 0, 0), (0, 2, -1), (5, 6, 3)]
    judged = [(q, i, (q, i) in ((0, 1), (5, 6))) for q, i, _ in everyone if (q, i) != (0, 2)]
    check_rates(data, "cosine", judged, relevance=triples)
    columns = random.integers(0, 2, size=(10, 3))
    shared = [(q, i, bool((columns[q] & columns[i]).any())) for q, i, _ in everyone]
    check_rates(data, "dot", shared, labels=columns)


@pytest.mark.parametrize("bits", [1, 70])
def test_hamming_by_the_definition(bits: int) -> None:
    random = np.random.default_rng(bits)
    codes, labels = random.random(size=(12, bits)) < 0.5, np.arange(12) % 3
    check_rates(codes, "hamming", leave_one_out(labels), labels=labels)


def test_a_function_gives_the_distances() -> None:
    random = np.random.default_rng(1)
    data, labels = random.integers(-9, 9, size=(600, 2)), random.integers(0, 5, size=600)

    def distance(x: Array, y: Array) -> Array:
        return np.asarray(np.abs(x[:, None] - y).sum(axis=2))

    for method in METHODS:
        found = tp.fnmr_at_fmr(data, labels, distance=distance, fmr=FMR, method=method)  # type: ignore[arg-type]
        named = tp.fnmr_at_fmr(data, labels, distance="cityblock", fmr=FMR, method=method)  # type: ignore[arg-type]
        assert found.points == named.points


# The same bits


SETS = ("gaussian float32", "0.1, 0.2, 0.3 float32", "one ulp apart float32", "duplicates", "multiples", "0/1")


@pytest.mark.long
@pytest.mark.parametrize("distance", ["cosine", "euclidean", "cityblock"])
@pytest.mark.parametrize("name", SETS)
def test_order_memory_and_threads(name: str, distance: str) -> None:
    random = np.random.default_rng(11)
    data, labels = HARD_SETS[name](random, (70, 5)), random.integers(0, 6, size=70)
    for method in METHODS:

        def run(data: Array, labels: Array, method: Any = method, **options: Any) -> str:
            return tp.fnmr_at_fmr(data, labels, distance=distance, fmr=FMR[1:4], method=method, **options).to_json()

        expected = run(data, labels, threads=1)
        items, dimensions = random.permutation(len(data)), random.permutation(data.shape[1])
        assert run(data[items][:, dimensions], labels[items], threads=2, memory="1KiB") == expected
        assert run(data, labels, threads=3, memory="4GiB", relevance=None) == expected


@pytest.mark.parametrize("name", ["gaussian float64", "0.1, 0.2, 0.3 float64", "0/1", "sparse"])
@pytest.mark.parametrize(("few", "rows", "margin"), [(1, 2, 0.0), (5, 10**9, 0.01), (10**9, 3, 0.5), (40, 64, 1e-9)])
def test_guesses_decide_nothing(
    name: str, few: int, rows: int, margin: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(5)
    data, labels = HARD_SETS[name](random, (90, 4)), random.integers(0, 5, size=90)
    expected = [tp.fnmr_at_fmr(data, labels, fmr=FMR, method=method).to_json() for method in ("linear", "exact")]
    monkeypatch.setattr(counting, "FEW_PAIRS", few)
    monkeypatch.setattr(counting, "SAMPLE_ROWS", rows)
    monkeypatch.setattr(counting, "SAMPLE_MARGIN", margin)
    monkeypatch.setattr(gauge, "COLUMNS", 7)
    monkeypatch.setattr(gauge, "CHUNK_PAIRS", 7)
    monkeypatch.setattr(pool, "LARGEST_STRIPE", 11)
    found = [tp.fnmr_at_fmr(data, labels, fmr=FMR, method=method).to_json() for method in ("linear", "exact")]
    assert found == expected


def test_many_pairs_as_their_distances() -> None:
    random = np.random.default_rng(12)
    data, labels = random.integers(-40, 41, size=(900, 6)), random.integers(0, 30, size=900)
    matrix = ((data[:, None] - data) ** 2).sum(axis=2)
    same, itself = labels[:, None] == labels, np.eye(900, dtype=bool)
    for method in METHODS:
        given = tp.fnmr_at_fmr_of_distances(matrix[same & ~itself], matrix[~same], fmr=FMR, method=method)  # type: ignore[arg-type]
        found = tp.fnmr_at_fmr(data, labels, distance="sqeuclidean", fmr=FMR, method=method)  # type: ignore[arg-type]
        assert found.points == given.points


@pytest.mark.long
@pytest.mark.parametrize(
    ("make", "classes"),
    [
        (lambda r, s: r.normal(size=s), 500),
        (lambda r, s: r.normal(size=s), 3),
        (lambda r, s: np.zeros(s), 3),
        (lambda r, s: r.choice([-1, 1], size=(s[0], 24)), 500),
    ],
    ids=["few relevant", "many relevant", "zeros", "many ties"],
)
def test_pairs_are_not_kept(make: Callable[..., Array], classes: int) -> None:
    random = np.random.default_rng(0)
    data, labels = make(random, (2400, 8)), random.integers(0, classes, size=2400)
    tp.fnmr_at_fmr(data[:100], labels[:100] % 3)  # loads libraries
    peak = peak_of(lambda: tp.fnmr_at_fmr(data, labels, memory="32MiB", threads=2))
    assert peak <= 32 * MIB  # 5.76 million pairs would take 46 MB


# Refused by name

GOOD, LABELS = np.arange(12.0).reshape(6, 2), [0, 0, 1, 1, 2, 2]


def rates(data: Any = GOOD, labels: Any = LABELS, **options: Any) -> Callable[[], tp.ErrorRates]:
    return lambda: tp.fnmr_at_fmr(data, labels, **options)


def given(relevant: Any = (1, 2), others: Any = (2, 3), **options: Any) -> Callable[[], tp.ErrorRates]:
    return lambda: tp.fnmr_at_fmr_of_distances(relevant, others, **options)


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "NaN": (rates(np.full((6, 2), np.nan)), r"embeddings must contain only finite numbers, but row 0 contains nan"),
    "too few labels": (rates(labels=LABELS[:4]), r"number of labels is 4, but the number of embeddings is 6"),
    "no labels": (rates(labels=None), r"either labels or relevance="),
    "unknown distance": (rates(distance="jaccard"), r"Unknown distance 'jaccard'"),
    "unknown method": (rates(method="cubic"), r"Unknown method='cubic'. Known: linear, exact"),
    "a rate above 1": (rates(fmr=1.5), r"false match rate must be a number from 0 to 1, not 1.5"),
    "a negative rate": (rates(fmr=(0.1, -0.1)), r"from 0 to 1, not -0.1"),
    "a rate that is NaN": (rates(fmr=np.nan), r"from 0 to 1, not nan"),
    "a rate in words": (rates(fmr="0.1"), r"from 0 to 1, not '0.1'"),
    "no rate": (rates(fmr=()), r"false match rate is missing"),
    "every label once": (rates(labels=range(6)), r"No pair is relevant"),
    "one label": (rates(labels=[0] * 6), r"Every pair is relevant or excluded"),
    "memory": (rates(memory="much"), r"memory size must be"),
    "threads": (rates(threads=0), r"threads must be"),
    "overflow": (rates(GOOD * 1e300, distance="dot"), r"exceeds the largest float64. Divide all embeddings"),
    "given NaN": (
        given([1, np.nan]),
        r"relevant distances must contain only finite numbers, but contain nan at \[1\]",
    ),
    "given infinity": (
        given(others=[np.inf]),
        r"other distances must contain only finite numbers, but contain inf at \[0\]",
    ),
    "given integers": (given([2**53 + 1]), r"relevant distances contain an integer beyond 2\^53"),
    "given words": (given(["a"]), r"relevant distances must contain real numbers"),
    "nothing relevant given": (given([]), r"No pair is relevant"),
    "no others given": (given(others=[]), r"Every pair is relevant or excluded"),
    "a rate that was not asked for": (lambda: given()()[0.5], r"have no FMR 0.5; they have 0.1"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    call, message = REFUSED[name]
    with pytest.raises(tp.InputError, match=message):
        call()
