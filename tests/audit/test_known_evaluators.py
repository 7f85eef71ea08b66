"""Evaluators of other libraries that are audited by their names, and evaluators that want tensors of torch."""

from typing import Any

import numpy as np
import pytest

import tieproof as tp
from tieproof.trials.audit.cases import Case
from tieproof.trials.audit.targets import TABLE, known_of, prepared

FEW: dict[str, Any] = {"attacks": ["zeros", "permuting items"], "items": 60, "queries": 60}

OF_AVERAGE_PRECISION = {
    "sklearn.metrics:average_precision_score": "score",
    "sklearn.metrics:label_ranking_average_precision_score": "score",
    "torchmetrics.functional.retrieval:retrieval_average_precision": "score",
    "torchmetrics.retrieval:RetrievalMAP": "score",
    "ranx:evaluate": "map",
    "pytrec_eval:RelevanceEvaluator": "map",
    "ir_measures:calc_aggregate": "AP",
    "ir_measures:AP": "score",
    "tieproof.compat.beir:EvaluateRetrieval": "MAP@100",
}
"""The name of the mean average precision among the numbers of each."""

FREE = ("tieproof.compat.beir:EvaluateRetrieval",)
"""Those that need no other library."""


def average_precision(scores: Any, relevance: Any) -> float:
    values = []
    for row, relevant in zip(scores, relevance, strict=True):
        places = np.flatnonzero(relevant[np.argsort(-row)]) + 1
        values.append(np.mean(np.arange(1, len(places) + 1) / places))
    return float(np.mean(values))


@pytest.mark.filterwarnings("ignore:.*unsafe cast from uint64")  # of numba, when it compiles ranx
@pytest.mark.parametrize(
    "name", [name if name in FREE else pytest.param(name, marks=pytest.mark.heavy) for name in OF_AVERAGE_PRECISION]
)
def test_known_evaluators_are_called_as_they_expect(name: str) -> None:
    scores, labels, asked = np.random.default_rng(0).random((30, 5)), np.arange(30) % 5, np.arange(5)
    evaluator, convention = prepared(name, None)
    found = convention.call(evaluator, Case(scores, labels, query_labels=asked), {})
    numbers = {str(key): value for key, value in found.items()} if hasattr(found, "items") else {"score": found}
    expected = average_precision(scores.T, asked[:, None] == labels)
    assert float(numbers[OF_AVERAGE_PRECISION[name]]) == pytest.approx(expected, 1e-4)


@pytest.mark.heavy
def test_a_class_of_embeddings_is_called_as_it_expects() -> None:
    name = "pytorch_metric_learning.utils.accuracy_calculator:AccuracyCalculator"
    case = Case(np.eye(4, 8, dtype=np.float32).repeat(3, axis=0), np.arange(4).repeat(3))
    evaluator, convention = prepared(name, None)
    assert convention.call(evaluator, case, {}) == dict.fromkeys(TABLE_OF_PML, 1.0)


TABLE_OF_PML = TABLE["known"]["pytorch_metric_learning"]["AccuracyCalculator"]["given"]["include"]


@pytest.mark.heavy
def test_audits_of_known_evaluators() -> None:
    """By a name, with a dot for the colon, as a function, as a class and as an instance."""
    metrics, retrieval = pytest.importorskip("sklearn.metrics"), pytest.importorskip("torchmetrics.retrieval")
    by_name, by_function = (tp.audit(each, **FEW) for each in ("sklearn.metrics.ndcg_score", metrics.ndcg_score))
    assert by_name.held
    assert "as ndcg_score(relevance, scores)" in by_name.takes
    assert [each.score for each in by_name.findings] == [each.score for each in by_function.findings]
    isolated = tp.audit("sklearn.metrics:label_ranking_loss", isolate=True, **FEW)
    assert isolated.held
    assert "larger_is_better=False" not in isolated.takes
    made, instance = (tp.audit(each, **FEW) for each in (retrieval.RetrievalMAP, retrieval.RetrievalMAP(top_k=5)))
    assert made.finding("permuting items").verdict == "depends on order"
    assert made.finding("zeros").random_mean != instance.finding("zeros").random_mean


@pytest.mark.heavy
@pytest.mark.parametrize("isolate", [False, True])
def test_evaluators_that_want_tensors_get_them(isolate: bool) -> None:
    pytest.importorskip("torch")
    report = tp.audit("zoo:of_tensors", isolate=isolate, **FEW)
    assert report.finding("permuting items").score is not None


def test_names_are_looked_up_without_an_import() -> None:
    for package, rows in TABLE["known"].items():
        for name in rows:
            known = known_of(f"{package}.anything:{name}")
            assert known is not None
            assert name in known.says
    assert known_of("my_package.metrics:ndcg_score") is None
    assert known_of("sklearn.metrics:ndcg_score", "scores") is None


def test_a_dot_may_stand_for_the_colon() -> None:
    assert tp.audit("zoo.lower", **FEW).evaluator == "zoo:lower"
