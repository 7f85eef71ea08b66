"""Promise 4, nothing blind wins: an embedding that ignores its input scores no more than a random one."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tieproof as tp

COUNT, CLASSES = 400, 8
MEASURES = ["AP", "AP@R", "Rprec", "P@1", "P@10", "R@10", "Success@1", "Success@10", "RR", "nDCG@10"]

BLIND: dict[str, Callable[[np.random.Generator], npt.NDArray[Any]]] = {
    "zeros": lambda _: np.zeros((COUNT, 4)),
    "a constant": lambda _: np.full((COUNT, 4), 0.3),
    "the largest float32": lambda _: np.full((COUNT, 4), np.finfo(np.float32).max),
    "subnormals": lambda _: np.full((COUNT, 4), 5e-324),
    "two vectors": lambda r: np.eye(4)[r.integers(2, size=COUNT)],
    "ten vectors": lambda r: r.normal(size=(10, 4))[r.integers(10, size=COUNT)],
    "one bit": lambda r: r.integers(2, size=(COUNT, 1)),
    "a constant or one ulp more": lambda r: np.where(r.random((COUNT, 4)) < 0.5, 0.3, np.nextafter(0.3, 1)),
}
LABELS = {
    "sorted": np.repeat(np.arange(CLASSES), COUNT // CLASSES),
    "interleaved": np.arange(COUNT) % CLASSES,
    "one large class": np.where(np.arange(COUNT) % 10 < 7, 0, np.arange(COUNT) % CLASSES),
}


def random_expectation(labels: npt.NDArray[np.int64], distance: str) -> tp.Result:
    """The expected score of embeddings without ties and without knowledge; embeddings that are all tied have it, too.

    Every ordering of the gallery is equally likely for both.
    """
    return tp.evaluate(np.zeros((COUNT, 1)), labels, distance=distance, measures=MEASURES)


@pytest.mark.parametrize("distance", ["cosine", "euclidean", "cityblock", "dot"])
@pytest.mark.parametrize("order", LABELS)
@pytest.mark.parametrize("name", BLIND)
def test_lower_bound_of_blind_embeddings(name: str, order: str, distance: str) -> None:
    labels = LABELS[order]
    result = tp.evaluate(BLIND[name](np.random.default_rng(7)), labels, distance=distance, measures=MEASURES)
    fair = random_expectation(labels, distance)
    for measure in MEASURES:
        assert result[measure].lower <= fair[measure].expected, measure


def test_expectation_is_that_of_random_embeddings() -> None:
    labels = LABELS["interleaved"]
    scores = [
        tp.evaluate(np.random.default_rng(seed).normal(size=(COUNT, 16)), labels, measures=["AP"])["AP"].lower
        for seed in range(20)
    ]
    fair = random_expectation(labels, "cosine")["AP"].expected
    assert abs(np.mean(scores) - fair) < 5 * np.std(scores) / np.sqrt(len(scores))


def test_zeros_score_less_than_random_embeddings_by_far() -> None:
    labels = LABELS["interleaved"]
    zeros = tp.evaluate(np.zeros((COUNT, 4)), labels, measures=MEASURES)
    for measure in MEASURES:
        assert zeros[measure].lower < zeros[measure].expected < zeros[measure].upper
    assert zeros["P@1"].lower == 0
    assert zeros["P@1"].upper == 1
