"""`Evaluator` gives the same bits as a single evaluation, however the data is divided into batches."""

import pickle
import sys
import warnings
from types import SimpleNamespace
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


GALLERY = (RANDOM.integers(0, 4, size=(70, 5)) * 0.1).astype(np.float32)
GALLERY_LABELS = RANDOM.integers(0, 12, size=70)


def with_gallery(**options: Any) -> tp.Result:
    return tp.evaluate(DATA, LABELS, gallery=GALLERY, gallery_labels=GALLERY_LABELS, **options)


def sides(order: Any, items: Any, sizes: list[int]) -> tp.Evaluator:
    """Queries and gallery, in alternating batches."""
    evaluator = tp.Evaluator()
    queries, gallery = (np.array_split(part, len(sizes)) for part in (order, items))
    for own, others in zip(queries, gallery, strict=True):
        evaluator.update(GALLERY[others], GALLERY_LABELS[others], indices=others, side="gallery")
        evaluator.update(DATA[own], LABELS[own], indices=own, side="queries")
    return evaluator


@pytest.mark.parametrize("count", [1, 3, 70])
@pytest.mark.parametrize("shuffled", [False, True])
def test_queries_and_gallery(count: int, shuffled: bool) -> None:
    arrange = RANDOM.permutation if shuffled else np.arange
    evaluator = sides(arrange(90), arrange(70), [1] * count)
    found, expected = evaluator.compute(), with_gallery()
    assert len(evaluator) == 160
    assert found.to_json() == expected.to_json()
    assert (found.query_ids == expected.query_ids).all()
    assert (found.per_query("AP").lower == expected.per_query("AP").lower).all()


def test_an_index_counts_once_for_each_side() -> None:
    evaluator = sides(np.arange(90), np.arange(70), [1])
    evaluator.update(DATA[:3], LABELS[:3], indices=np.arange(3), side="queries")
    evaluator.update(GALLERY[5:9], GALLERY_LABELS[5:9], indices=np.arange(5, 9), side="gallery")
    assert evaluator.compute().to_json() == with_gallery().to_json()
    evaluator.update(GALLERY[:1] + 1, GALLERY_LABELS[:1], indices=[69], side="gallery")
    with pytest.raises(tp.InputError, match="Index 69 was given twice among the gallery, with different embeddings"):
        evaluator.compute()


def test_sides_are_numbered_each_by_itself() -> None:
    evaluator = tp.Evaluator()
    for part in (slice(0, 40), slice(40, 90)):
        evaluator.update(DATA[part], LABELS[part], side="queries")
        evaluator.update(GALLERY[part], GALLERY_LABELS[part], side="gallery")
    assert evaluator.compute().to_json() == with_gallery().to_json()


def test_categories_are_those_of_queries() -> None:
    evaluator = tp.Evaluator(average="macro")
    evaluator.update(GALLERY, GALLERY_LABELS, side="gallery")
    evaluator.update(DATA[:50], LABELS[:50], categories=LABELS[:50] % 3, side="queries")
    evaluator.update(DATA[50:], LABELS[50:], categories=LABELS[50:] % 3, side="queries")
    assert evaluator.compute().to_json() == with_gallery(average="macro", categories=LABELS % 3).to_json()


def test_merging_processes_with_sides_and_reset() -> None:
    parts = [tp.Evaluator() for _ in range(3)]
    for rank, part in enumerate(parts):
        if rank:  # the first process has no gallery items
            part.update(
                GALLERY[rank - 1 :: 2], GALLERY_LABELS[rank - 1 :: 2], np.arange(70)[rank - 1 :: 2], side="gallery"
            )
        part.update(DATA[rank::3], LABELS[rank::3], np.arange(90)[rank::3], side="queries")
    total = tp.Evaluator()
    for part in parts:
        total.merge(pickle.loads(pickle.dumps(part)))
    assert total.compute().to_json() == with_gallery().to_json()
    total.reset()
    total.update(DATA, LABELS)
    assert total.compute().to_json() == whole().to_json()


def test_merging_with_itself_changes_nothing() -> None:
    evaluator = fill(tp.Evaluator(), np.arange(90), [30])
    evaluator.merge(evaluator)
    assert evaluator.compute().to_json() == whole().to_json()


def test_sides_refused() -> None:
    evaluator = tp.Evaluator()
    with pytest.raises(tp.InputError, match=r"Unknown side='query'\. Known: queries, gallery"):
        evaluator.update(DATA, LABELS, side="query")  # type: ignore[arg-type]
    with pytest.raises(tp.InputError, match="Only queries have categories"):
        evaluator.update(DATA, LABELS, categories=LABELS, side="gallery")
    evaluator.update(DATA, LABELS, side="queries")
    with pytest.raises(tp.InputError, match=r"nothing to evaluate as gallery: call update\(.*side='gallery'\)"):
        evaluator.compute()
    with pytest.raises(tp.InputError, match="Some batches have a side and others have none"):
        evaluator.update(DATA, LABELS)
    without = fill(tp.Evaluator(), np.arange(90), [])
    with pytest.raises(tp.InputError, match="Some batches have a side and others have none"):
        without.merge(evaluator)
    gallery = tp.Evaluator()
    gallery.update(DATA, LABELS, side="gallery")
    with pytest.raises(tp.InputError, match="nothing to evaluate as queries"):
        gallery.compute()
    evaluator.update(DATA[:, :4], LABELS, side="gallery")
    with pytest.raises(tp.InputError, match="dimensions is 5 for the queries, but 4 for the gallery"):
        evaluator.compute()


def test_labels_in_one_column_are_judged_together() -> None:
    column = LABELS[:, None]
    evaluator = tp.Evaluator()
    for part in np.split(np.argsort(LABELS), [20]):  # the first batch has only small labels
        evaluator.update(DATA[part], column[part], indices=part)
    assert evaluator.compute().to_json() == whole().to_json()
    binary = (column > 5).astype(int)
    evaluator.reset()
    evaluator.update(DATA[:50], binary[:50])
    evaluator.update(DATA[50:], binary[50:])
    with pytest.warns(tp.InputWarning, match="labels are one column of 0/1"):
        found = evaluator.compute()
    assert found.query_ids.tolist() == np.flatnonzero(LABELS > 5).tolist()


@pytest.mark.parametrize("index", [2**63, 2**64 - 1])
def test_indices_do_not_wrap(index: int) -> None:
    evaluator = tp.Evaluator()
    with pytest.raises(tp.InputError, match=f"indices contain {index}, but must be below 2\\^63"):
        evaluator.update(DATA[:2], LABELS[:2], indices=np.array([1, index], np.uint64))
    evaluator.update(DATA[:2], LABELS[:2], indices=np.array([1, 2**63 - 1], np.uint64))
    assert evaluator.items().indices.tolist() == [1, 2**63 - 1]


def test_refused() -> None:
    with pytest.raises(tp.InputError, match="nothing to evaluate"):
        tp.Evaluator().compute()
    with pytest.raises(tp.InputError, match="Unknown measure"):
        tp.Evaluator(measures=["Quality"])
    evaluator = tp.Evaluator()
    evaluator.update(DATA, LABELS)
    with pytest.raises(tp.InputError, match=r"shape \(90, 4\)"):
        evaluator.update(DATA[:, :4], LABELS)
    with pytest.raises(tp.InputError, match="float64"):
        evaluator.update(DATA.astype(float), LABELS)
    with pytest.raises(tp.InputError, match=r"\(MultiVectors\), but .* \(ndarray\)"):
        evaluator.update(tp.MultiVectors(DATA, range(91)), LABELS)
    with pytest.raises(tp.InputError, match=r"embeddings of batch 1 must contain .* row 7 contains inf") as caught:
        evaluator.update(np.where(np.arange(90)[:, None] == 7, np.inf, DATA.astype(np.float32)), LABELS)
    assert caught.value.argument == "embeddings"
    assert len(evaluator) == 90
    with pytest.raises(tp.InputError, match="must be 90 integers"):
        evaluator.update(DATA, LABELS, indices=[1])
    with pytest.raises(tp.InputError, match="number of labels is 2, but the number of embeddings is 90"):
        evaluator.update(DATA, LABELS[:2])


def test_calling_it_adds_a_batch_and_evaluates_it_alone() -> None:
    random = np.random.default_rng(0)
    vectors, labels = random.normal(size=(30, 4)), random.integers(0, 3, size=30)
    evaluator = tp.Evaluator(measures=["AP"], distance="euclidean")
    for part in (slice(0, 12), slice(12, 30)):
        alone = tp.evaluate(vectors[part], labels[part], measures=["AP"], distance="euclidean")
        assert evaluator(vectors[part], labels[part])["AP"] == alone["AP"]
    whole = tp.evaluate(vectors, labels, measures=["AP"], distance="euclidean")
    assert evaluator.compute()["AP"] == whole["AP"]
    with pytest.raises(tp.InputError):
        evaluator(vectors[:2], labels[:3])
    assert len(evaluator) == 30


def test_a_process_that_was_not_joined_with_the_others_is_warned(monkeypatch: pytest.MonkeyPatch) -> None:
    """torch.distributed is replaced by what it says in one of two processes."""
    said = {"is_available": True, "is_initialized": True, "get_world_size": 2}
    monkeypatch.setitem(
        sys.modules,
        "torch.distributed",
        SimpleNamespace(**{name: lambda value=value: value for name, value in said.items()}),
    )
    mine, other = tp.Evaluator(measures=["AP"]), tp.Evaluator(measures=["AP"])
    mine.update([[1.0, 0.0], [0.0, 1.0]], [0, 0], indices=[0, 2])
    other.update([[1.0, 1.0]], [0], indices=[1])
    with pytest.warns(
        tp.InputWarning, match="that of the 2 items of this process alone, but .* has 2 processes. Join"
    ):
        mine.compute()
    mine.merge(other)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(mine.compute().query_ids) == 3
        mine([[1.0, 0.0], [0.0, 1.0]], [0, 0])  # the result of a batch alone is what was asked for
    mine.reset()
    mine.update([[1.0, 0.0], [0.0, 1.0]], [0, 0])
    with pytest.warns(tp.InputWarning, match="Join the evaluators"):
        mine.compute()
