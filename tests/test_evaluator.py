"""The accumulating form gives the result of all data at once, to the last bit, however it is cut up."""

import pickle
from typing import Any

import numpy as np
import pytest

import tieproof as tp

RANDOM = np.random.default_rng(0)
DATA = (RANDOM.integers(0, 4, size=(90, 5)) * 0.1).astype(np.float32)
LABELS = RANDOM.integers(0, 12, size=90)


def whole(**options: Any) -> tp.Result:
    return tp.evaluate(DATA, LABELS, **options)


def fill(evaluator: tp.Evaluator, order: Any, sizes: list[int]) -> tp.Evaluator:
    for part in np.split(order, np.cumsum(sizes)):
        if len(part):
            evaluator.update(DATA[part], LABELS[part], indices=part)
    return evaluator


@pytest.mark.parametrize("sizes", [[], [45], [1, 2, 3, 4], [10] * 8])
@pytest.mark.parametrize("shuffled", [False, True])
def test_batches_in_any_order_and_size(sizes: list[int], shuffled: bool) -> None:
    order = RANDOM.permutation(90) if shuffled else np.arange(90)
    found = fill(tp.Evaluator(), order, sizes).compute()
    expected = whole()
    assert found.to_json() == expected.to_json()
    assert (found.query_ids == expected.query_ids).all()
    assert (found.per_query("AP").lower == expected.per_query("AP").lower).all()


def test_without_indices_items_are_numbered() -> None:
    evaluator = tp.Evaluator()
    evaluator.update(DATA[:50], LABELS[:50])
    evaluator.update(DATA[50:], LABELS[50:])
    assert len(evaluator) == 90
    assert evaluator.compute().to_json() == whole().to_json()
    assert (evaluator.compute().query_ids == whole().query_ids).all()


def test_an_index_given_twice_counts_once() -> None:
    evaluator = fill(tp.Evaluator(), np.arange(90), [30])
    fill(evaluator, np.array([3, 50, 3, 89]), [2])
    assert evaluator.compute().to_json() == whole().to_json()


@pytest.mark.parametrize(
    ("embeddings", "labels", "what"), [(DATA[:1] + 1, LABELS[:1], "embeddings"), (DATA[:1], LABELS[:1] + 1, "labels")]
)
def test_an_index_given_twice_with_different_data(embeddings: Any, labels: Any, what: str) -> None:
    evaluator = fill(tp.Evaluator(), np.arange(90), [])
    evaluator.update(embeddings, labels, indices=[0])
    with pytest.raises(tp.InputError, match=f"Index 0 was given twice, with different {what}"):
        evaluator.compute()


def test_merging_processes() -> None:
    parts = [fill(tp.Evaluator(), np.arange(90)[rank::3], [7]) for rank in range(3)]
    total = tp.Evaluator()
    for part in reversed(parts):
        total.merge(pickle.loads(pickle.dumps(part)))
    assert total.compute().to_json() == whole().to_json()


def test_items_come_once_in_the_order_of_their_indices() -> None:
    evaluator = fill(tp.Evaluator(), np.array([5, 3, 9, 3]), [2])
    indices, embeddings, labels, categories = evaluator.items()
    assert indices.tolist() == [3, 5, 9]
    assert (embeddings == DATA[indices]).all()
    assert (labels == LABELS[indices]).all()
    assert categories is None


def test_reset_and_options() -> None:
    evaluator = tp.Evaluator(distance="cityblock", measures=["P@1"], empty="zero")
    evaluator.update(DATA[:3] + 1, LABELS[:3])
    evaluator.reset()
    evaluator.update(DATA, LABELS)
    assert evaluator.compute().to_json() == whole(distance="cityblock", measures=["P@1"], empty="zero").to_json()


def test_later_changes_of_a_batch_do_not_matter() -> None:
    evaluator, batch = tp.Evaluator(), DATA.copy()
    evaluator.update(batch, LABELS)
    batch[:] = 0
    assert evaluator.compute().to_json() == whole().to_json()


def test_refused() -> None:
    with pytest.raises(tp.InputError, match="nothing to evaluate"):
        tp.Evaluator().compute()
    with pytest.raises(tp.InputError, match="unknown measure"):
        tp.Evaluator(measures=["Quality"])
    evaluator = tp.Evaluator()
    evaluator.update(DATA, LABELS)
    with pytest.raises(tp.InputError, match=r"shape \(90, 4\)"):
        evaluator.update(DATA[:, :4], LABELS)
    with pytest.raises(tp.InputError, match="float64"):
        evaluator.update(DATA.astype(float), LABELS)
    with pytest.raises(tp.InputError, match="must be 90 integers"):
        evaluator.update(DATA, LABELS, indices=[1])
    with pytest.raises(tp.InputError, match="2 labels for 90 embeddings"):
        evaluator.update(DATA, LABELS[:2])
