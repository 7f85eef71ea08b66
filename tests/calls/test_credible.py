"""Credible regions and the items inside: known quantiles, independent computations, single pairs in fractions."""

import itertools
import json
import math
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tieproof as tp
from peaks import peak_of
from tieproof.measures.confidence import Gaussian, VonMisesFisher, credible_region, credible_retrieval
from tieproof.measures.confidence.regions import squared_radius
from tieproof.measures.confidence.retrieval import by_product, decide, is_inside

Array = npt.NDArray[Any]

needs_scipy = pytest.mark.heavy


# Regions


@needs_scipy
@pytest.mark.parametrize("mass", [1e-9, 0.05, 0.5, 0.95, 1 - 1e-9])
def test_gaussian_quantiles(mass: float) -> None:
    # Two degrees of freedom: 1 - exp(-r² / 2); one: the error function.
    assert squared_radius(mass, 2) == pytest.approx(-2 * math.log1p(-mass), rel=1e-12)
    assert math.erf(math.sqrt(squared_radius(mass, 1) / 2)) == pytest.approx(mass, rel=1e-12)


@needs_scipy
def test_gaussian_region_holds_its_mass() -> None:
    random = np.random.default_rng(0)
    mean, scale = np.array([1.0, -2.0, 0.0]), np.array([0.1, 3.0, 1.0])
    region = credible_region(Gaussian(mean, scale), 0.8)
    samples = mean + scale * random.normal(size=(100_000, 3))
    assert region.contains(samples).mean() == pytest.approx(0.8, abs=0.005)
    assert region.contains([mean]).all()
    assert credible_region(Gaussian([0.0, 0.0], 2)).contains([[4.8, 0.0], [0.0, 4.9]]).tolist() == [True, False]


@needs_scipy
@pytest.mark.parametrize("concentration", [1e-6, 0.5, 7.0, 400.0, 1e9])
@pytest.mark.parametrize("mass", [0.01, 0.5, 0.95, 0.9999])
def test_cap_in_three_dimensions(mass: float, concentration: float) -> None:
    # The cosine's density is in proportion to exp(kappa t): 1 - cos = -log(1 - mass (1 - exp(-2 kappa))) / kappa.
    region = credible_region(VonMisesFisher([0, 3, 4], concentration), mass)
    height = -math.log1p(mass * math.expm1(-2 * concentration)) / concentration
    assert 2 * math.sin(region.angle / 2) ** 2 == pytest.approx(height, rel=1e-9)
    assert region.direction.tolist() == [0, 0.6, 0.8]


@needs_scipy
@pytest.mark.parametrize("dimensions", [2, 4, 5, 16, 512])
@pytest.mark.parametrize("concentration", [0.01, 3.0, 300.0])
def test_cap_by_another_integral(dimensions: int, concentration: float) -> None:
    from scipy.integrate import quad
    from scipy.special import ive

    angle = credible_region(VonMisesFisher(np.ones(dimensions), concentration), 0.9).angle

    def density(phi: float) -> float:
        return math.exp(concentration * (math.cos(phi) - 1)) * math.sin(phi) ** (dimensions - 2)

    half = dimensions / 2 - 1  # the whole integral is a Bessel function
    whole = math.sqrt(math.pi) * math.gamma(half + 0.5) if half < 150 else 0.0
    whole *= (2 / concentration) ** half * ive(half, concentration) if whole else 0.0
    inside = quad(density, 0, angle, epsabs=0, epsrel=1e-12, limit=500)[0]
    if whole:
        assert inside / whole == pytest.approx(0.9, rel=1e-9)
    beyond = quad(density, angle, math.pi, epsabs=0, epsrel=1e-12, limit=500)[0]
    assert inside / (inside + beyond) == pytest.approx(0.9, rel=1e-8)


@needs_scipy
def test_cap_holds_its_mass() -> None:
    from scipy.stats import vonmises_fisher

    direction = np.array([0.6, 0.0, -0.8, 0.0])
    samples = vonmises_fisher(direction, 12.0).rvs(50_000, random_state=1)
    region = credible_region(VonMisesFisher(7 * direction, 12), 0.7)
    assert region.contains(samples).mean() == pytest.approx(0.7, abs=0.01)
    assert region.contains(5 * samples).tolist() == region.contains(samples).tolist()
    assert (samples @ direction >= region.cosine).mean() == region.contains(samples).mean()


@needs_scipy
@pytest.mark.parametrize("mass", [0.001, 0.3, 0.9, 0.95])
def test_shortest_interval(mass: float) -> None:
    samples = np.random.default_rng(2).gamma(2.0, size=(101, 3))
    region = credible_region(samples, mass)
    inside = math.floor(mass * 101) + 1
    for column in range(3):
        values = np.sort(samples[:, column])
        shortest = min(high - low for low, high in zip(values, values[inside - 1 :], strict=False))
        assert region.high[column] - region.low[column] == shortest
    assert region.contains(samples).sum(axis=0).tolist() == [inside] * 3
    single = credible_region(samples[:, 1], mass)
    assert (single.low, single.high) == (region.low[1], region.high[1])


# Retrieval


def squared_distance(point: Array, center: Array, scale: Array) -> Fraction:
    """The squared distance from a center, in units of the scale, in fractions."""
    rows = zip(point.tolist(), center.tolist(), np.broadcast_to(scale, point.shape).tolist(), strict=True)
    return sum((((Fraction(x) - Fraction(m)) / Fraction(s)) ** 2 for x, m, s in rows), Fraction())


def by_definition(mean: Array, scale: Array, labels: Array, limit: float) -> list[tuple[int, int]]:
    """The numbers of items in the region, and of those that are of the class, for each query, in fractions."""
    found = []
    for query, item in itertools.product(range(len(mean)), repeat=2):
        if item == 0:
            found.append((0, 0))
        squared = squared_distance(mean[item], mean[query], scale[query])
        if query != item and squared <= Fraction(limit):
            found[-1] = found[-1][0] + 1, found[-1][1] + int(labels[query] == labels[item])
    return found


@needs_scipy
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
def test_retrieval_by_its_definition(dtype: str, shared: bool) -> None:
    random = np.random.default_rng(3)
    mean = random.integers(-3, 4, (40, 3)).astype(dtype)
    scale = random.integers(1, 4, 40 if shared else (40, 3)) / 2
    labels = random.integers(0, 5, 40)
    found = credible_retrieval(mean, scale, labels, (0.5, 0.9))
    for mass in (0.5, 0.9):
        wanted = by_definition(mean, scale.reshape(40, -1), labels, squared_radius(mass, 3))
        point = found[mass]
        assert list(zip(point.held.tolist(), point.relevant_held.tolist(), strict=True)) == wanted
        sizes = np.bincount(labels)[labels] - 1
        assert point.relevant.tolist() == sizes.tolist()
        shares = [part / max(whole, 1) for whole, part in wanted]
        assert point.precision == pytest.approx(np.mean(shares), rel=1e-12)
        assert point.recall == pytest.approx(
            np.mean([p / s for (_, p), s in zip(wanted, sizes, strict=True)]), rel=1e-12
        )
        assert point.coverage == sum(part for _, part in wanted) / sizes.sum()
        assert point.empty == sum(whole == 0 for whole, _ in wanted)


@needs_scipy
def test_items_without_a_class_are_no_queries() -> None:
    found = credible_retrieval([[0.0], [1.0], [0.5]], [1.0, 1.0, 1.0], ["a", "a", "b"], 0.9)
    assert (found.query_ids.tolist(), found.without_class) == ([0, 1], 1)
    assert found[0.9].held.tolist() == [2, 2]
    assert json.loads(found.to_json()) == {
        "queries": 2,
        "without_class": 1,
        "points": [{"mass": 0.9, "precision": 0.5, "recall": 1.0, "coverage": 1.0, "empty": 0}],
    }
    with pytest.raises(tp.InputError, match=r"has no mass 0\.5; it has 0\.9"):
        found[0.5]


@needs_scipy
def test_coverage_of_posteriors_that_tell_the_truth() -> None:
    # Items of a class are distributed around its center, and the posterior states how far apart two of them are.
    random = np.random.default_rng(4)
    labels = np.arange(2000) % 40
    centers = 50 * random.normal(size=(40, 8))
    mean = centers[labels] + random.normal(size=(2000, 8))
    found = credible_retrieval(mean, np.full(2000, math.sqrt(2)), labels, (0.5, 0.9))
    for mass in (0.5, 0.9):
        assert found[mass].coverage == pytest.approx(mass, abs=0.02)
        assert found[mass].precision > 0.99


@needs_scipy
def test_same_counts_in_any_order() -> None:
    random = np.random.default_rng(5)
    mean, scale = random.normal(size=(600, 20)), 0.5 + random.random((600, 20))
    labels = random.integers(0, 9, 600)
    given = credible_retrieval(mean, scale, labels, (0.3, 0.99))
    for _ in range(3):
        rows, columns = random.permutation(600), random.permutation(20)
        moved = credible_retrieval(mean[rows][:, columns], scale[rows][:, columns], labels[rows], (0.3, 0.99))
        assert moved.to_dict() == given.to_dict()
        assert moved[0.3].held.tolist() == given[0.3].held[rows].tolist()


def test_bound_of_the_product_holds() -> None:
    random = np.random.default_rng(6)
    for dimensions in (1, 3, 100):
        points = random.normal(size=(30, dimensions)) * 10.0 ** random.integers(-3, 4, (30, 1)) + 1e3
        centers = points[:5] * (1 + 1e-12)
        units = 10.0 ** random.uniform(-3, 3, (5, dimensions))
        for unit in (units, units[:, :1]):
            distances, error = by_product(points, points * points, centers, unit)
            for query, item in itertools.product(range(5), range(30)):
                exact = squared_distance(points[item], centers[query], unit[query])
                assert abs(Fraction(distances[query, item]) - exact) <= Fraction(error[query, item])


def test_points_on_the_edge_are_decided_in_fractions() -> None:
    # 0.1 and its float neighbors, near the exact edge of a circle whose squared radius is a float.
    center, unit = np.zeros(2), np.array([1.0, 1.0])
    for x in (np.nextafter(0.1, 0), 0.1, np.nextafter(0.1, 1)):
        point = np.array([x, 0.0])
        exact = Fraction(x) ** 2
        limit = float(exact)  # the float nearest to the square, which is above or below the square
        inside = exact <= Fraction(limit)
        assert is_inside(point, center, unit, limit) == inside
        assert decide(point[None], center[None], unit[None], limit).tolist() == [inside]
        assert decide(point[None], center[None], unit[None, :1], limit).tolist() == [inside]


@needs_scipy
def test_memory_is_that_of_a_tile() -> None:
    random = np.random.default_rng(7)
    mean, scale = random.normal(size=(20_000, 4)), np.ones(20_000)
    labels = np.arange(20_000) // 10
    credible_retrieval(mean[:100], scale[:100], labels[:100])
    peak = peak_of(lambda: credible_retrieval(mean, scale, labels))
    assert peak < 100e6  # the matrix would have 3.2e9 bytes


# Refusals


TWO: Any = (0.5, 0.9)

BAD_REGIONS: dict[str, tuple[Any, str]] = {
    "mean NaN": (
        lambda: Gaussian([0, np.nan], 1),
        r"means must contain only finite numbers, but contain nan at \[1\]",
    ),
    "no scale": (lambda: Gaussian([0, 0], 0), r"scales must be standard deviations of at least 1e-60, but contain 0"),
    "negative scale": (lambda: Gaussian([0, 0], [1, -1]), r"contain -1\.0 at \[1\]"),
    "scale infinite": (lambda: Gaussian([0, 0], np.inf), r"scales must contain only finite"),
    "scales": (lambda: Gaussian([0, 0], [1, 2, 3]), r"The number of scales is 3, but the number of means is 2"),
    "direction": (lambda: VonMisesFisher([0, 0], 1), r"nonzero vector of at least 2 dimensions, not \[0\.0, 0\.0\]"),
    "one dimension": (lambda: VonMisesFisher([1], 1), r"at least 2 dimensions"),
    "concentration": (lambda: VonMisesFisher([1, 0], 0), r"concentration must be a number larger than 0 .* not 0"),
    "concentration NaN": (lambda: VonMisesFisher([1, 0], float("nan")), r"concentration .* not nan"),
    "mass 0": (lambda: credible_region(Gaussian([0], 1), 0), r"mass must be larger than 0 and smaller than 1, not 0"),
    "mass 1": (lambda: credible_region([1, 2], 1.0), r"mass must be larger than 0 and smaller than 1, not 1"),
    "mass 2": (lambda: credible_region([1, 2], 2), r"A mass must be a number from 0 to 1, not 2"),
    "masses": (lambda: credible_region([1, 2], TWO), r"mass must be a single number, not 2"),
    "samples": (
        lambda: credible_region([1, np.nan]),
        r"samples must contain only finite numbers, but contain nan at \[1\]",
    ),
    "sample shape": (lambda: credible_region(np.zeros((2, 2, 2))), r"samples must have shape .* \(2, 2, 2\)"),
    "no samples": (lambda: credible_region([]), r"samples must have shape"),
}


@pytest.mark.parametrize("name", BAD_REGIONS)
def test_bad_regions(name: str) -> None:
    make, message = BAD_REGIONS[name]
    with pytest.raises(tp.InputError, match=message):
        make()


@needs_scipy
def test_bad_points() -> None:
    region = credible_region(Gaussian([0, 0], 1))
    with pytest.raises(tp.InputError, match=r"points must have shape \(n, 2\), not \(1, 3\)"):
        region.contains(np.zeros((1, 3)))
    with pytest.raises(tp.InputError, match=r"points must contain only finite numbers"):
        region.contains([[0, np.inf]])
    with pytest.raises(tp.InputError, match=r"points must be nonzero vectors, but row 1 is all zero"):
        credible_region(VonMisesFisher([1, 0], 1)).contains([[1, 0], [0, 0]])


BAD_RETRIEVAL: dict[str, tuple[Any, Any, Any, Any, str]] = {
    "NaN": (
        [[0.0], [np.nan]],
        [1, 1],
        [0, 0],
        0.9,
        r"means must contain only finite numbers, but contain nan at \[1, 0\]",
    ),
    "shape": ([0.0, 1.0], [1, 1], [0, 0], 0.9, r"means must have the shape \(items, dimensions\)"),
    "scale": ([[0.0], [1.0]], [1, 0], [0, 0], 0.9, r"scales must be standard deviations .* contain 0\.0 at \[1, 0\]"),
    "scale shape": ([[0.0, 1.0]] * 3, [1, 2], [0, 0, 0], 0.9, r"scales must have shape \(3,\) or \(3, 2\)"),
    "scale NaN": ([[0.0], [1.0]], [1, np.nan], [0, 0], 0.9, r"scales must contain only finite numbers"),
    "labels": ([[0.0], [1.0]], [1, 1], [0], 0.9, r"The number of labels is 1, but the number of means is 2"),
    "no class": ([[0.0], [1.0]], [1, 1], [0, 1], 0.9, r"No two items are of the same class"),
    "mass": ([[0.0], [1.0]], [1, 1], [0, 0], (0.5, 1), r"mass must be larger than 0 and smaller than 1"),
    "no mass": ([[0.0], [1.0]], [1, 1], [0, 0], (), r"A mass is missing"),
    "large": ([[0.0], [1e61]], [1, 1], [0, 0], 0.9, r"means contain 1e\+61 at \[1, 0\], larger than 1e\+60"),
}


@pytest.mark.parametrize("name", BAD_RETRIEVAL)
def test_bad_retrieval(name: str) -> None:
    *arguments, message = BAD_RETRIEVAL[name]
    with pytest.raises(tp.InputError, match=message):
        credible_retrieval(*arguments)


@pytest.mark.parametrize(
    ("module", "call"),
    [
        ("scipy.special", lambda: credible_region(Gaussian([0], 1))),
        ("scipy.optimize", lambda: credible_region(VonMisesFisher([0, 1], 1))),
        ("scipy.special", lambda: credible_retrieval([[0.0], [1.0]], [1, 1], [0, 0])),
        ("arviz_stats.base", lambda: credible_region([1.0, 2.0])),
    ],
)
def test_without_the_extra(module: str, call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(tp.MissingExtraError, match=r"pip install 'tieproof\[stats\]'"):
        call()
