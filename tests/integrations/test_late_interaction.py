"""TieproofEvaluator with models that return several vectors for each text."""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from toy_encoders import late_model

pytestmark = pytest.mark.heavy

WORDS = ("red", "green", "blue", "white", "black", "cat", "dog", "shoe", "hat", "old")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Any:
    library = pytest.importorskip("sentence_transformers")
    if not hasattr(library, "MultiVectorEncoder"):
        pytest.skip("sentence-transformers has no MultiVectorEncoder before version 6")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        return late_model(WORDS, tmp_path_factory.mktemp("late"))


def texts_of(count: int, seed: int) -> list[str]:
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(WORDS, random.integers(1, 6), replace=False)) for _ in range(count)]


def task() -> tuple[dict[str, str], dict[str, str], dict[str, set[str]]]:
    """Different documents, so that nothing is tied."""
    corpus = {f"d{at}": text for at, text in enumerate(dict.fromkeys(texts_of(40, 1)))}
    queries = {f"q{at}": text for at, text in enumerate(texts_of(6, 2))}
    random = np.random.default_rng(3)
    return queries, corpus, {query: set(random.choice(list(corpus), 3, replace=False)) for query in queries}


def ours(*arguments: Any, **options: Any) -> Any:
    return import_module("tieproof.integrations.sentence_transformers").TieproofEvaluator(*arguments, **options)


@pytest.mark.parametrize("name", ["maxsim", "meanmaxsim"])
def test_same_numbers_as_the_evaluator_of_the_library(model: Any, name: str, tmp_path: Path) -> None:
    package = import_module("sentence_transformers.multi_vector_encoder.evaluation")
    options: dict[str, Any] = {"ndcg_at_k": [3, 10], "map_at_k": [5], "corpus_chunk_size": 7, "name": "toy"}
    before, model.similarity_fn_name = model.similarity_fn_name, name
    try:
        expected = package.MultiVectorInformationRetrievalEvaluator(*task(), **options)(model)
        evaluator = ours(*task(), **options)
        found = evaluator(model, str(tmp_path))
    finally:
        model.similarity_fn_name = before
    assert evaluator.primary_metric == f"toy_{name}_ndcg@10"
    for metric, value in expected.items():
        for suffix in ("", "_lower", "_expected", "_upper"):
            assert found[metric + suffix] == pytest.approx(value, abs=1e-12)


def test_the_interval_of_tied_documents_does_not_depend_on_their_ids(model: Any) -> None:
    queries, corpus, relevant = {"q": "red cat"}, {"a": "cat red", "b": "cat red", "c": "dog"}, {"q": {"b"}}
    found = ours(queries, corpus, relevant)(model)
    assert [found[f"maxsim_mrr@10_{bound}"] for bound in ("lower", "expected", "upper")] == [0.5, 0.75, 1.0]


def test_sentences_with_labels_and_embeddings_of_the_corpus(model: Any) -> None:
    sentences, labels = texts_of(12, 4), [0, 1, 2] * 4
    evaluator = ours(sentences=sentences, labels=labels)
    evaluator(model)
    vectors = model.encode(sentences, convert_to_numpy=True)
    measures = list(evaluator.results["maxsim"].measures)
    expected = tp.evaluate(vectors, labels, distance="maxsim", measures=measures)
    assert evaluator.results["maxsim"].to_json() == expected.to_json()
    queries, corpus, relevant = task()
    vectors = model.encode_document(list(corpus.values()), convert_to_numpy=True)
    assert ours(queries, corpus, relevant)(model, corpus_embeddings=vectors) == ours(queries, corpus, relevant)(model)
    with pytest.raises(tp.InputError, match=r"the corpus has \d+ documents"):
        ours(queries, corpus, relevant)(model, corpus_embeddings=vectors[1:])


@pytest.mark.parametrize("options", [{"precision": "int8"}, {"truncate_dim": 8}])
def test_options_of_single_vectors_are_refused(model: Any, options: dict[str, Any]) -> None:
    with pytest.raises(tp.InputError, match=f"{next(iter(options))} does not apply to the several vectors"):
        ours(*task(), **options)(model)
