"""`Result.std_of_one_order` is the standard deviation over all orders of the gallery, up to its standard error."""

from collections.abc import Callable, Sequence
from itertools import permutations
from statistics import fmean, pstdev
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from tieproof.errors import InputError

RANDOM = np.random.default_rng(7)
VECTORS, LABELS = RANDOM.integers(0, 2, (6, 2)), RANDOM.integers(0, 2, 6)
QUERIES, QUERY_LABELS = RANDOM.integers(0, 2, (3, 2)), np.array([0, 1, 1])
SCORES, GRADES = RANDOM.integers(0, 2, (4, 5)), RANDOM.integers(0, 2, (4, 5))
GRADES[:, 0], GRADES[1, 2] = 1, -1


def average_precision(distances: Sequence[float], grades: Sequence[int], order: Sequence[int]) -> float:
    """AP of the items whose grade is not below 0, by distance, then by their places in an order."""
    ranked = sorted((distance, order[at], grades[at]) for at, distance in enumerate(distances) if grades[at] >= 0)
    hits = [rank for rank, (_, _, grade) in enumerate(ranked, 1) if grade > 0]
    return fmean(found / rank for found, rank in enumerate(hits, 1))


def of_all_orders(distances: Any, grades: Any) -> float:
    rows = list(zip(np.asarray(distances).tolist(), np.asarray(grades).tolist(), strict=True))
    orders = permutations(range(len(rows[0][0])))
    return pstdev(fmean(average_precision(*row, order) for row in rows) for order in orders)


def by_euclid(queries: Any, gallery: Any) -> Any:
    return ((queries[:, None] - gallery[None]) ** 2).sum(axis=2)


OWN = np.where(np.eye(6, dtype=bool), -1, LABELS[:, None] == LABELS)
CASES: dict[str, tuple[Callable[..., tp.Result], dict[str, Any], Any, Any]] = {
    "leave one out": (
        tp.evaluate,
        {"embeddings": VECTORS, "labels": LABELS, "distance": "euclidean"},
        by_euclid(VECTORS, VECTORS),
        OWN,
    ),
    "gallery": (
        tp.evaluate,
        {
            "embeddings": QUERIES,
            "labels": QUERY_LABELS,
            "gallery": VECTORS,
            "gallery_labels": LABELS,
            "distance": "euclidean",
        },
        by_euclid(QUERIES, VECTORS),
        QUERY_LABELS[:, None] == LABELS,
    ),
    "scores": (tp.evaluate_scores, {"scores": SCORES, "relevance": GRADES}, -SCORES, GRADES),
    "distances": (
        tp.evaluate_distances,
        {"distances": by_euclid(VECTORS, VECTORS), "labels": LABELS},
        by_euclid(VECTORS, VECTORS),
        OWN,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_std_is_that_of_all_orders(case: str) -> None:
    call, data, distances, grades = CASES[case]
    result = call(**data, measures=["AP"])
    found, expected = result.std_of_one_order("AP", draws=400, **data), of_all_orders(distances, grades)
    assert 0 < found.standard_error < expected / 10
    assert abs(found.std - expected) < 3 * found.standard_error
    assert abs(result["AP"].std - expected) > 2 * found.standard_error  # these queries do move together
    few, again, other = (result.std_of_one_order("AP", draws=5, seed=seed, **data) for seed in (0, 0, 1))
    assert few == again != other


def test_no_ties_no_spread() -> None:
    data: dict[str, Any] = {"scores": [[3, 2, 1]] * 2, "relevance": [[0, 1, 0]] * 2}
    assert tp.evaluate_scores(**data).std_of_one_order("RR", draws=5, **data) == (0.0, 0.0, 5)


def test_standard_error_is_that_of_repeated_simulations() -> None:
    call, data, *_ = CASES["scores"]
    result = call(**data, measures=["AP"])
    found = [result.std_of_one_order("AP", draws=30, seed=seed, **data) for seed in range(20)]
    assert 0.6 < pstdev(each.std for each in found) / fmean(each.standard_error for each in found) < 1.6


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"draws": 1}, "draws must be a whole number of at least 2, not 1"),
        ({"seed": -1}, "seed must be a whole number of at least 0, not -1"),
        ({"scores": -SCORES}, "The data is not that of the result"),
        ({"scores": None}, "One of the arguments"),
    ],
)
def test_refused(change: dict[str, Any], said: str) -> None:
    data: dict[str, Any] = {"scores": SCORES, "relevance": GRADES}
    with pytest.raises(InputError, match=said):
        tp.evaluate_scores(**data).std_of_one_order("AP", **(data | change))


def test_lists_without_common_items_are_refused() -> None:
    data: dict[str, Any] = {"scores": [[2, 1], [1, 1, 1]], "relevance": [[1, 0], [0, 1, 0]]}
    with pytest.raises(InputError, match="needs a matrix of scores with the same items in each row"):
        tp.evaluate_scores(**data).std_of_one_order("RR", **data)
