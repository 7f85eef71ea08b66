"""An `InputError` has the name of the wrong argument, also in another process."""

import pickle
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from tieproof.errors import AbsentMeasureError, CountError

VECTORS = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
LABELS = [0, 0, 1]
NAN = np.full((3, 2), np.nan)

EVALUATED: dict[str, tuple[tuple[Any, Any], dict[str, Any], Any]] = {
    "embeddings": ((NAN, LABELS), {}, "embeddings"),
    "queries": ((NAN, LABELS), {"gallery": VECTORS, "gallery_labels": LABELS}, "embeddings"),
    "gallery": ((VECTORS, LABELS), {"gallery": NAN, "gallery_labels": LABELS}, "gallery"),
    "dimensions": ((VECTORS, LABELS), {"gallery": VECTORS[:, :1]}, ("embeddings", "gallery")),
    "labels": ((VECTORS, [0.5, 1, 2]), {}, "labels"),
    "few labels": ((VECTORS, [0, 1]), {}, ("labels", "embeddings")),
    "gallery labels": ((VECTORS, LABELS), {"gallery": VECTORS, "gallery_labels": [0]}, ("gallery_labels", "gallery")),
    "no gallery labels": ((VECTORS, LABELS), {"gallery": VECTORS}, "gallery_labels"),
    "types": ((VECTORS, LABELS), {"gallery": VECTORS, "gallery_labels": list("abc")}, ("labels", "gallery_labels")),
    "groups": ((VECTORS, LABELS), {"groups": [0]}, ("groups", "embeddings")),
    "gallery groups": (
        (VECTORS, LABELS),
        {"gallery": VECTORS, "gallery_labels": LABELS, "groups": LABELS, "gallery_groups": [0.5] * 3},
        "gallery_groups",
    ),
    "exclude": ((VECTORS, LABELS), {"exclude": [(0, 9)]}, "exclude"),
    "relevance": ((VECTORS, None), {"relevance": [(0, 9)]}, "relevance"),
    "categories": ((VECTORS, LABELS), {"categories": [0]}, ("categories", "embeddings")),
    "average": ((VECTORS, LABELS), {"average": "mean"}, "average"),
    "confidence": ((VECTORS, LABELS), {"confidence": [np.nan] * 3}, "confidence"),
    "nothing relevant": ((VECTORS, [0, 1, 2]), {}, ("labels", "embeddings")),
    "distance": ((VECTORS, LABELS), {"distance": lambda queries, items: np.zeros(1)}, "distance"),
}


@pytest.mark.parametrize("name", EVALUATED)
def test_of_an_evaluation(name: str) -> None:
    given, options, argument = EVALUATED[name]
    with pytest.raises(tp.InputError) as caught:
        tp.evaluate(*given, **options)
    assert caught.value.argument == argument


def test_of_a_run() -> None:
    run = {"q1": {"d1": 0.5}}
    for qrels, scores, categories, argument in (
        ({"q1": {"d1": np.nan}}, run, None, "qrels"),
        ({"q1": {"d1": 1}}, {"q1": {"d1": np.nan}}, None, "run"),
        ({"q1": {"d1": 1}}, run, {"q2": "dogs"}, "categories"),
        ({"q2": {"d1": 1}}, run, None, None),
    ):
        with pytest.raises(tp.InputError) as caught:
            tp.evaluate_run(qrels, scores, categories=categories)
        assert caught.value.argument == argument


def test_of_lists_that_were_cut_off() -> None:
    qrels, run = {"q": {"a": 1, "b": 0, "c": 1}}, {"q": {"a": 1.0, "b": 0.0}}
    for n_items in (2, 0):
        with pytest.raises(tp.InputError) as caught:
            tp.evaluate_run(qrels, run, truncated=True, n_items=n_items)
        assert caught.value.argument == "n_items"
    with pytest.raises(tp.InputError, match="n_relevant is 0 for query 0") as caught:
        tp.evaluate_scores([[2, 1]], [[1, 0]], n_relevant=0)
    assert caught.value.argument == "n_relevant"


def test_of_labels_for_scores() -> None:
    with pytest.raises(tp.InputError, match="number of gallery labels is 2") as caught:
        tp.evaluate_scores([[3, 2, 1]], labels=[0], gallery_labels=[0, 1])
    assert caught.value.argument == ("gallery_labels", "scores")


@pytest.mark.parametrize("kind", [tp.InputError, AbsentMeasureError, CountError])
def test_it_is_kept(kind: type[tp.InputError]) -> None:
    for error in (kind("Nothing."), kind("Too few.", "labels"), kind("Neither fits.", ("labels", "embeddings"))):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), again.argument) == (kind, str(error), error.argument)
    assert kind("Nothing.").argument is None
