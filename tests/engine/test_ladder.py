"""Pairs that float64 cannot decide: near-duplicates and true ties, compared with Python's integers, step by step."""

import functools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tieproof as tp
from hard_sets import HARD_SETS
from tieproof.distances.cityblock import CityBlock
from tieproof.distances.cosine import Cosine
from tieproof.distances.dot import Dot
from tieproof.distances.euclidean import Euclidean
from tieproof.distances.exact import slices
from tieproof.distances.near_duplicates import NearDuplicates
from tieproof.distances.space import Space
from tieproof.engine import ranking, resolve

DISTANCES = ("cosine", "euclidean", "cityblock", "dot")
SETS = ("one ulp apart float32", "one ulp apart float64", "0.1, 0.2, 0.3 float32", "±0.1, 0 float64")

Integers = npt.NDArray[np.object_]


def as_integers(data: npt.NDArray[Any]) -> Integers:
    """The entries times a power of two that makes all of them integers."""
    exact = [[Fraction(float(value)) for value in row] for row in data]
    power = max(value.denominator for row in exact for value in row)
    return np.array([[int(value * power) for value in row] for row in exact], dtype=object)


def exact_nearness(x: Integers, distance: str) -> Integers:
    """Integers or fractions in the order of nearness, of all rows to all rows."""
    if distance == "cityblock":
        return np.array([[-np.abs(a - b).sum() for b in x] for a in x], dtype=object)
    products = x @ x.T
    squares = products.diagonal()
    if distance == "cosine":
        ratios = [[Fraction(s * abs(s), n) for s, n in zip(row, squares, strict=True)] for row in products]
        return np.array(ratios, dtype=object)
    return np.asarray(products if distance == "dot" else 2 * products - squares)


def dense_ranks(nearness: Integers) -> npt.NDArray[np.float64]:
    """Numbers with the order and the ties of each row."""
    return np.array([np.unique(row, return_inverse=True)[1] for row in nearness], dtype=np.float64)


def near_duplicates(name: str, shape: tuple[int, int]) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    random = np.random.default_rng(7)
    return HARD_SETS[name](random, shape), random.integers(0, 12, size=shape[0])


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("name", SETS)
def test_as_python_integers(name: str, distance: str) -> None:
    data, labels = near_duplicates(name, (220, 20))
    relevance = (labels[:, None] == labels).astype(np.int64)
    np.fill_diagonal(relevance, -1)
    scores = dense_ranks(exact_nearness(as_integers(data), distance))
    expected = tp.evaluate_scores(scores, relevance).to_dict()["measures"]
    assert tp.evaluate(data, labels, distance=distance).to_dict()["measures"] == expected


Patch = Callable[[pytest.MonkeyPatch], None]


def undecided_in_float64(patch: pytest.MonkeyPatch) -> None:
    """Every pair that a tile leaves undecided is passed to the next steps."""
    for space in (Cosine, Dot, NearDuplicates, Euclidean, CityBlock):
        patch.setattr(space, "keys", without_decisions(space.keys))


def without_decisions(keys: Callable[..., Any]) -> Callable[..., Any]:
    def changed(self: Space, rows: Any, columns: Any) -> tuple[Any, Any]:
        values, errors = keys(self, rows, columns)
        return values, np.where(errors > 0, 1e30, 0.0)

    return changed


FORCED: dict[str, Patch] = {
    "no sample": lambda patch: patch.setattr(resolve, "SAMPLE", 2**40),
    "a sample of one": lambda patch: patch.setattr(resolve, "SAMPLE", 1),
    "few pairs at a time": lambda patch: patch.setattr(resolve, "PAIRS", 30),
    "few pairs ranked at a time": lambda patch: patch.setattr(ranking, "PAIRS", 5),
    "few rows at a time": lambda patch: patch.setattr(slices, "LARGEST_BATCH", 500),
    "no sharp keys": lambda patch: patch.setattr(Cosine, "sharp_keys", Space.sharp_keys),
    "nothing decided in float64": undecided_in_float64,
}


@pytest.mark.parametrize("forced", FORCED)
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("name", [*SETS, "gaussian float32", "multiples", "int64 beyond float64"])
def test_forced_steps_change_nothing(name: str, distance: str, forced: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data, labels = near_duplicates(name, (90, 7))
    expected = tp.evaluate(data, labels, distance=distance).to_json()
    FORCED[forced](monkeypatch)
    assert tp.evaluate(data, labels, distance=distance).to_json() == expected


@pytest.mark.parametrize("varying", [(0, 1, 2, 3, 4), (2, 3, 4), (4,), (0, 4), ()])
def test_first_digits_are_in_the_order_of_the_keys(varying: tuple[int, ...]) -> None:
    """For each query, whatever digits its keys share; near zero, and near the smallest and the largest digit."""
    random = np.random.default_rng(len(varying))
    ends = np.array([0, 1, 2**30 - 1, 2**29, 12345])
    base = np.repeat([0, 40], 40)
    keys = np.repeat(random.choice(ends, size=(2, 5)), 40, axis=0)
    for digit in varying:
        keys[:, digit] = random.choice(ends, size=80)
    keys[:, 0] -= random.integers(0, 2, size=80 if 0 in varying else 1) << 30
    common, lead = np.empty((2, 80), dtype=np.int64)
    resolve.leading(keys, base, common, lead)
    numbers = [functools.reduce(lambda number, digit: (number << 30) + digit, row) for row in keys.tolist()]
    for a in range(80):
        for b in range(base[a], base[a] + 40):
            if lead[a] != lead[b]:
                assert (lead[a] > lead[b]) == (numbers[a] > numbers[b])
            elif varying and varying[-1] - varying[0] < 2:
                assert numbers[a] == numbers[b]
