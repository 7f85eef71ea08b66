"""Relevant items that were ranked for one portion are reused by others with any scale."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tieproof.distances import find_distance
from tieproof.distances.space import KeyScale
from tieproof.engine import Portion, ranking
from tieproof.engine.portions import others_of, ranked_of, steps_between
from tieproof.engine.problem import Budget, Problem
from tieproof.inputs.relevance import Labels

Array = npt.NDArray[Any]
RANDOM = np.random.default_rng(4)
LABELS = RANDOM.integers(0, 5, size=60)
GAUSSIAN = RANDOM.normal(size=(60, 6)).astype(np.float32)
WHOLE = RANDOM.integers(-3, 4, size=(60, 6)).astype(np.float32)
WHOLE[:20] *= np.array([1, 1, 1, 1, 1, 2], np.float32)
DISTANCES = pytest.mark.parametrize("distance", ["cosine", "euclidean", "dot", "cityblock"])


def portion(distance: str, queries: Array, own: Array, items: Array, others: Array, counted: int) -> Portion:
    relevance = Labels.of(own, others)
    problem = Problem(queries, items, find_distance(distance), distance, 6, relevance, Budget(2**24, 1))
    return Portion(problem, (counted,))


def counted(distance: str, data: Array, rest: Array) -> tuple[Array, Array]:
    """The counts of twenty queries among `rest` and all relevant items: with reused rankings, and ranked again."""
    queries, items = data[:20], np.concatenate([rest, data[20:]])
    labels = np.concatenate([np.full(len(rest), 99), LABELS[20:]])
    ranked = ranked_of(portion(distance, queries, LABELS[:20], data[20:], LABELS[20:], 40))
    whole = portion(distance, queries, LABELS[:20], items, labels, len(rest))
    [found] = others_of(whole, [ranked], lambda _: None)
    [again] = others_of(whole, [ranked._replace(scale=None)], lambda _: None)
    return found, again


@DISTANCES
@pytest.mark.parametrize("size", [1.0, 40.0, 2.0**-50])
def test_nothing_is_ranked_again(distance: str, size: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if the other items are larger or smaller, so that keys have another scale."""
    rest = (size * RANDOM.normal(size=(30, 6))).astype(np.float32)
    calls: list[int] = []
    exact_order = ranking.exact_order

    def noted(*given: Any) -> Any:
        calls.append(1)
        return exact_order(*given)

    monkeypatch.setattr(ranking, "exact_order", noted)
    found, again = counted(distance, GAUSSIAN, rest)
    assert (found == again).all()
    assert found.any() or size > 1
    assert len(calls) == 2  # in the first ranking, and when that ranking was not to be reused


@DISTANCES
@pytest.mark.parametrize("rest", [WHOLE[:20] * 0.5, GAUSSIAN[:20], WHOLE[20:40], 2.0**30 * GAUSSIAN[:20]])
def test_another_kind_of_keys(distance: str, rest: Array) -> None:
    """Integers in a portion with another unit, or with other numbers, too, and equal rows."""
    found, again = counted(distance, WHOLE, rest)
    assert (found == again).all()


def test_scales() -> None:
    assert steps_between(KeyScale(("floats",), 3), KeyScale(("floats",), -2)) == 5
    assert steps_between(KeyScale(("floats",), 300), KeyScale(("floats",), -2)) is None
    assert steps_between(KeyScale(("integers", 0.5)), KeyScale(("integers", 0.25))) is None
    assert steps_between(None, KeyScale(("floats",), 3)) is steps_between(KeyScale(("floats",), 3), None) is None
