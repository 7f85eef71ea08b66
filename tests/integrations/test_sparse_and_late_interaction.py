"""Evaluators of models that return sparse rows, or several vectors for each text, beside the library's own."""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from toy_encoders import late_model, sparse_model

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.filterwarnings("ignore:Sparse CSR tensor support:UserWarning"),
    pytest.mark.filterwarnings("ignore:Sparse invariant checks:UserWarning"),
]

WORDS = ("red", "green", "blue", "white", "black", "cat", "dog", "shoe", "hat", "old")
SPARSITY = ("query_active_dims", "query_sparsity_ratio", "corpus_active_dims", "corpus_sparsity_ratio", "avg_flops")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    library = pytest.importorskip("sentence_transformers")
    if not hasattr(library, "MultiVectorEncoder"):
        pytest.skip("sentence-transformers has no MultiVectorEncoder before version 6")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        makes = {"Sparse": sparse_model, "MultiVector": late_model}
        return {name: make(WORDS, tmp_path_factory.mktemp(name)) for name, make in makes.items()}


@pytest.fixture(params=["Sparse", "MultiVector"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def model(models: dict[str, Any], kind: str) -> Any:
    return models[kind]


def texts_of(count: int, seed: int) -> list[str]:
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(WORDS, random.integers(1, 6), replace=False)) for _ in range(count)]


def task() -> tuple[dict[str, str], dict[str, str], dict[str, set[str]]]:
    """Different documents, so that nothing is tied."""
    corpus = {f"d{at}": text for at, text in enumerate(dict.fromkeys(texts_of(40, 1)))}
    queries = {f"q{at}": text for at, text in enumerate(texts_of(6, 2))}
    random = np.random.default_rng(3)
    return queries, corpus, {query: set(random.choice(list(corpus), 3, replace=False)) for query in queries}


def samples() -> list[dict[str, Any]]:
    queries, corpus, relevant = task()
    texts = [[text for name, text in corpus.items() if name in found] for found in relevant.values()]
    others = [text for text in corpus.values() if all(text not in found for found in texts)][:9]
    return [
        {"query": query, "positive": found, "negative": others[:at]}
        for at, (query, found) in enumerate(zip(queries.values(), texts, strict=True), 3)
    ]


def ours(*arguments: Any, evaluator: str = "TieproofEvaluator", **options: Any) -> Any:
    return getattr(import_module("tieproof.integrations.sentence_transformers"), evaluator)(*arguments, **options)


def theirs(kind: str, evaluator: str) -> Any:
    folder = {"Sparse": "sparse_encoder", "MultiVector": "multi_vector_encoder"}[kind]
    return getattr(import_module(f"sentence_transformers.{folder}.evaluation"), kind + evaluator)


def assert_same(found: dict[str, float], expected: dict[str, float]) -> None:
    """Their metrics and all bounds are equal; the library computes the sparsity in float32."""
    for metric, value in expected.items():
        if metric.endswith(SPARSITY):
            assert found[metric] == pytest.approx(value, rel=1e-6)
        else:
            each = [found[metric + suffix] for suffix in ("", "_lower", "_expected", "_upper")]
            assert each == pytest.approx([value] * 4, abs=1e-12)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("Sparse", "dot"),
        ("Sparse", "cosine"),
        ("Sparse", "euclidean"),
        ("MultiVector", "maxsim"),
        ("MultiVector", "meanmaxsim"),
    ],
)
def test_same_numbers_as_the_evaluator_of_the_library(kind: str, model: Any, name: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"ndcg_at_k": [3, 10], "map_at_k": [5], "corpus_chunk_size": 7, "name": "toy"}
    options |= {"max_active_dims": 6} if kind == "Sparse" else {}
    before, model.similarity_fn_name = model.similarity_fn_name, name
    try:
        original = theirs(kind, "InformationRetrievalEvaluator")(*task(), **options)
        expected = original(model)
        evaluator = ours(*task(), **options)
        found = evaluator(model, str(tmp_path))
    finally:
        model.similarity_fn_name = before
    assert evaluator.primary_metric == original.primary_metric == f"toy_{name}_ndcg@10"
    assert evaluator.get_config_dict() == original.get_config_dict()
    assert_same(found, expected)
    assert len(found) == 4 * len(expected) - (3 * len(SPARSITY) if kind == "Sparse" else 0)
    (path,) = tmp_path.glob("*.csv")
    header, row = path.read_text(encoding="utf-8").splitlines()
    assert header.endswith(",avg_flops") is (kind == "Sparse")
    assert row.split(",")[2:] == [str(value) for value in found.values()]


def test_reranking(kind: str, model: Any) -> None:
    evaluator = ours(samples(), evaluator="TieproofRerankingEvaluator")
    assert_same(evaluator(model), theirs(kind, "RerankingEvaluator")(samples())(model))
    one_by_one = ours(samples(), evaluator="TieproofRerankingEvaluator", use_batched_encoding=False)
    assert one_by_one(model) == evaluator(model)


def test_the_interval_of_tied_documents_does_not_depend_on_their_ids(model: Any) -> None:
    queries, corpus, relevant = {"q": "red cat"}, {"a": "cat red", "b": "cat red", "c": "dog"}, {"q": {"b"}}
    evaluator = ours(queries, corpus, relevant)
    found = evaluator(model)
    name = evaluator.primary_metric.replace("ndcg", "mrr")
    assert [found[f"{name}_{bound}"] for bound in ("lower", "expected", "upper")] == [0.5, 0.75, 1.0]


def test_sentences_with_labels_and_embeddings_of_the_corpus(kind: str, model: Any) -> None:
    sentences, labels = texts_of(12, 4), [0, 1, 2] * 4
    evaluator = ours(sentences=sentences, labels=labels)
    evaluator(model)
    options = {} if kind == "Sparse" else {"convert_to_numpy": True}
    ((distance, result),) = evaluator.results.items()
    rows = model.encode(sentences, **options)
    expected = tp.evaluate(rows, labels, distance=distance, measures=list(result.measures))
    assert result.to_json() == expected.to_json()
    queries, corpus, relevant = task()
    rows = model.encode_document(list(corpus.values()), **options)
    assert ours(queries, corpus, relevant)(model, corpus_embeddings=rows) == ours(queries, corpus, relevant)(model)
    rows = model.encode_document(list(corpus.values())[1:], **options)
    with pytest.raises(tp.InputError, match=r"the corpus has \d+ documents"):
        ours(queries, corpus, relevant)(model, corpus_embeddings=rows)


@pytest.mark.parametrize("options", [{"precision": "int8"}, {"truncate_dim": 8}, {"max_active_dims": 3}], ids=str)
def test_options_of_other_kinds_are_refused(kind: str, model: Any, options: dict[str, Any]) -> None:
    if kind == "Sparse" and "max_active_dims" in options:
        return
    returned = {"Sparse": "sparse vectors of a SparseEncoder", "MultiVector": "several vectors of a MultiVector"}[
        kind
    ]
    with pytest.raises(tp.InputError, match=f"{next(iter(options))} does not apply to the {returned}"):
        ours(*task(), **options)(model)


def test_other_functions_and_distances_are_refused(kind: str, model: Any) -> None:
    from sentence_transformers.util import manhattan_sim

    match = {"Sparse": "takes no sparse rows", "MultiVector": "ranks items of one vector each"}[kind]
    for function in (manhattan_sim, lambda queries, documents: queries):
        with pytest.raises(tp.InputError, match=match):
            ours(*task(), score_functions={"mine": function})(model)
