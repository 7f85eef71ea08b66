"""tieproof.compat.beir, compared with BEIR's own code and with runs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from tieproof.compat.beir import EvaluateRetrieval

KS = [1, 3, 10]


def data(tied: bool) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Qrels and results; query q0 is not judged, q7 has no results, q3 nothing relevant, and q4 finds itself."""
    random = np.random.default_rng(0)
    names = [f"d{at}" for at in range(30)]
    qrels = {f"q{at}": {name: int(random.integers(0, 3)) for name in names[:12]} for at in range(1, 8)}
    qrels["q3"] = dict.fromkeys(names[:3], 0)
    results: dict[str, dict[str, float]] = {}
    for at in range(7):
        scores = random.integers(0, 5, size=30) / 4 if tied else random.permutation(30) / 32
        results[f"q{at}"] = dict(zip(names[: 8 + 3 * at], scores.tolist(), strict=False))
    results["q4"]["q4"] = 9.0
    return qrels, results


def by_pytrec_eval(qrels: Any, results: Any) -> list[dict[str, float]]:
    """What BEIR's `evaluate` does, for its rounding."""
    library = pytest.importorskip("pytrec_eval")
    names = {"ndcg_cut": "NDCG", "map_cut": "MAP", "recall": "Recall", "P": "P"}
    cutoffs = ",".join(map(str, KS))
    without = {query: {name: of for name, of in scores.items() if name != query} for query, scores in results.items()}
    found = library.RelevanceEvaluator(qrels, {f"{name}.{cutoffs}" for name in names}).evaluate(without)
    return [
        {f"{ours}@{k}": sum(each[f"{name}_{k}"] for each in found.values()) / len(found) for k in KS}
        for name, ours in names.items()
    ]


@pytest.mark.heavy
def test_equal_without_ties_and_inside_with_them() -> None:
    qrels, results = data(tied=False)
    found, expected = EvaluateRetrieval.evaluate(qrels, results, KS), by_pytrec_eval(qrels, results)
    for mine, theirs in zip(found, expected, strict=True):
        assert mine == pytest.approx(theirs, rel=1e-9)
    assert "q4" in results["q4"]  # BEIR removes it from the results that were passed
    qrels, results = data(tied=True)
    ends = [EvaluateRetrieval.evaluate(qrels, results, KS, ties=ties) for ties in ("lower", "upper")]
    wide = 0
    for lower, upper, value in zip(*ends, by_pytrec_eval(qrels, results), strict=True):
        for name in value:
            assert lower[name] - 1e-9 <= value[name] <= upper[name] + 1e-9
            wide += lower[name] < upper[name]
    assert wide > 8


def test_a_document_with_the_id_of_its_query_can_be_kept() -> None:
    qrels, results = {"a": {"a": 1, "b": 1}}, {"a": {"a": 2.0, "b": 1.0, "c": 1.5}}
    assert EvaluateRetrieval.evaluate(qrels, results, [1])[3] == {"P@1": 0.0}
    assert EvaluateRetrieval.evaluate(qrels, results, [1], ignore_identical_ids=False)[3] == {"P@1": 1.0}


@pytest.mark.parametrize(("metric", "measure"), [("mrr", "RR"), ("R_cap@k", "RelP"), ("acc", "Success")])
def test_custom_metrics(metric: str, measure: str) -> None:
    qrels, results = data(tied=True)
    del qrels["q3"]  # recall_cap of BEIR would divide by zero
    found = EvaluateRetrieval.evaluate_custom(qrels, results, KS, metric, ties="interval")
    expected = tp.evaluate_run(qrels, results, measures=[f"{measure}@{k}" for k in KS])
    assert [*found.values()] == [expected[f"{measure}@{k}"] for k in KS]
    assert [name.rpartition("@")[2] for name in found] == ["1", "3", "10"]


def test_a_retriever_is_asked() -> None:
    class Search:
        def search(self, *arguments: Any, **options: Any) -> Any:
            return arguments, options

    retriever = EvaluateRetrieval(Search(), k_values=[1, 5], score_function="dot")
    found = retriever.retrieve("corpus", "queries", fast=True)
    assert found == (("corpus", "queries", 5, "dot"), {"fast": True})


def test_refused() -> None:
    qrels, results = data(tied=False)
    calls: dict[str, Callable[[], Any]] = {
        "k_values is empty": lambda: EvaluateRetrieval.evaluate(qrels, results, []),
        "k_values must be": lambda: EvaluateRetrieval.evaluate(qrels, results, [0]),
        "Unknown ties": lambda: EvaluateRetrieval.evaluate(qrels, results, [1], ties="best"),  # type: ignore[arg-type]
        "Unknown metric": lambda: EvaluateRetrieval.evaluate_custom(qrels, results, [1], "hole"),
        "There is no retriever": lambda: EvaluateRetrieval().retrieve({}, {}),
        "is nan": lambda: EvaluateRetrieval.evaluate(qrels, {"q1": {"d1": float("nan")}}, [1]),
    }
    for message, call in calls.items():
        with pytest.raises(tp.InputError, match=message):
            call()


def test_empty_lists_score_0_as_there() -> None:
    qrels: dict[str, dict[str, int]] = {"q": {"d": 1}, "p": {"d": 1}}
    lists: list[Any] = [{"q": {}, "p": {}}, {"q": {"q": 2.0}}, {"q": {}}]
    for results in lists:
        found = EvaluateRetrieval.evaluate(qrels, results, [1, 10])
        assert found == (
            {"NDCG@1": 0.0, "NDCG@10": 0.0},
            {"MAP@1": 0.0, "MAP@10": 0.0},
            {"Recall@1": 0.0, "Recall@10": 0.0},
            {"P@1": 0.0, "P@10": 0.0},
        )
    assert EvaluateRetrieval.evaluate_custom(qrels, {"q": {}}, [1], "mrr", ties="interval") == {
        "MRR@1": tp.Estimate(0.0, 0.0, 0.0, 0.0)
    }
    refused: tuple[tuple[Any, str], ...] = (
        ({}, "The run is empty"),
        ({"x": {"d": 1.0}}, "no query of the qrels"),
        ({"x": {}}, "run is"),
    )
    for results, message in refused:
        with pytest.raises(tp.InputError, match=message):
            EvaluateRetrieval.evaluate(qrels, results, [1])


def test_a_retriever_encodes_to_files_and_searches_them(tmp_path: Path) -> None:
    class Search:
        def encode(self, corpus: Any, queries: Any, **options: Any) -> None:
            self.encoded = corpus, queries, options
            for name in ("corpus.1.pkl", "corpus.0.pkl", "queries.pkl"):
                (tmp_path / name).touch()

        def search_from_files(self, **options: Any) -> Any:
            return options

    search = Search()
    found = EvaluateRetrieval(search, k_values=[1, 5]).encode_and_retrieve(
        "corpus", "queries", str(tmp_path), overwrite=True, fast=1
    )
    assert found == {
        "query_embeddings_file": f"{tmp_path}/queries.pkl",
        "corpus_embeddings_files": [f"{tmp_path}/corpus.0.pkl", f"{tmp_path}/corpus.1.pkl"],
        "top_k": 5,
        "fast": 1,
    }
    names = {"query_filename": "queries.pkl", "corpus_filename": "corpus.*.pkl"}
    expected = {"encode_output_path": str(tmp_path), "overwrite": True, "fast": 1, **names}
    assert search.encoded == ("corpus", "queries", expected)
    with pytest.raises(tp.InputError, match="There is no retriever"):
        EvaluateRetrieval().encode_and_retrieve({}, {})
