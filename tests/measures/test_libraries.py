"""Every name that an installed library lists has the value of tieproof's measure, or is refused with the reason.

The names are read from the libraries, so that this test fails if a library adds a name.
"""

import inspect
import re
import shutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_parity import Array, as_dicts, rankings

import tieproof as tp
from tieproof.measures import REGISTRY, libraries
from tieproof.measures.libraries import meanings, meanings_of, plain

Values = dict[str, float | None]
"""The mean over queries of a measure that a library lists; None if it is not a number, or needs other data."""


def check(library: str, values: Values, ours: Callable[[list[str]], tp.Result], tolerance: float = 1e-6) -> None:
    """Compare each value with that of tieproof's measure; names without a measure must be refused."""
    expected: dict[str, float] = {}
    for name, value in values.items():
        found = [meaning for meaning in meanings_of(name) if meaning.owner == library]
        assert len(found) == 1, f"{library} lists {name}"
        if found[0].ours:
            assert value is not None, name
            expected[name] = value
        assert_parsed(name, found[0].ours)
    of_name = {name: meanings_of(name) for name in expected}
    measures = {name: next(each.ours for each in of_name[name] if each.owner == library) for name in expected}
    result = ours(sorted(set(measures.values())))
    for name, value in expected.items():
        estimate = result[measures[name]]
        assert estimate.lower == pytest.approx(value, rel=tolerance, abs=tolerance), name
        assert estimate.lower == estimate.upper
    assert len(expected) > 4


def assert_parsed(name: str, ours: str) -> None:
    """The name is parsed as tieproof's measure, or the error lists its meanings, including this measure."""
    try:
        measure = tp.measures.parse(name)
    except tp.InputError as error:
        said = str(error)
        assert re.search("is not offered: in|has several meanings: |needs a cutoff", said), said
        assert not ours or f"'{ours}' in" in said
        return
    assert ours, name
    assert measure == tp.measures.parse(ours)


def of_scores(scores: Array, grades: Array) -> Callable[[list[str]], tp.Result]:
    return lambda measures: tp.evaluate_scores(scores, grades, measures=measures)


@pytest.mark.heavy
def test_pytrec_eval() -> None:
    library = pytest.importorskip("pytrec_eval")
    scores, grades = rankings(ties=False)
    evaluator = library.RelevanceEvaluator(as_dicts(grades, int), library.supported_measures)
    found = list(evaluator.evaluate(as_dicts(scores, float)).values())
    values: Values = dict.fromkeys(library.supported_measures)
    totals = {name: float(sum(of[name] for of in found)) for name in found[0] if name != "runid"}
    values |= {name: of if name.startswith("num_") else of / len(found) for name, of in totals.items()}
    assert len(values) > 100
    # It has trec_eval 9, which counts the hits of a recall in another way than version 10.
    interpolated = {name: values.pop(name) for name in list(values) if name.startswith("iprec_at_recall_")}
    check("trec_eval 9 and pytrec_eval", interpolated, of_scores(scores, grades))
    check("trec_eval", values, of_scores(scores, grades))
    assert str(tp.measures.parse("ndcg_cut.7")) == "nDCG@7"


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_ranx() -> None:
    library = pytest.importorskip("ranx")
    from ranx.metrics import metric_switch

    words = [word for word in metric_switch.__code__.co_consts if isinstance(word, str) and " " not in word]
    names = [word for word in words if is_metric(metric_switch, word)]
    assert {"hits", "ndcg_burges", "rbp"} <= set(names)
    scores, grades = rankings(ties=False)
    run = library.Run(as_dicts(scores, float))
    values: Values = {}
    for name in names:
        # Its RBP sums grades; with grades of 1, it is the RBP of Moffat and Zobel.
        judged = np.minimum(grades, 1) if name == "rbp" else grades
        qrels = library.Qrels(as_dicts(judged, int))
        for asked in [f"{name}.80", f"{name}.95"] if name == "rbp" else [name, f"{name}@5"]:
            if asked not in ("r-precision@5", "bpref@5"):  # a cutoff has no meaning there
                values[asked] = float(library.evaluate(qrels, run, asked))
    check("ranx", values, of_scores(scores, grades))


def is_metric(switch: Callable[[str], Any], word: str) -> bool:
    try:
        return callable(switch(word))
    except ValueError:
        return False


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_ir_measures() -> None:
    library = pytest.importorskip("ir_measures")
    if not shutil.which("perl"):
        pytest.skip("gdeval needs perl")
    scores, grades = rankings(ties=False)
    # gdeval, which ir_measures runs, needs numbered queries.
    qrels, run = (
        {query[1:]: documents for query, documents in each.items()}
        for each in (as_dicts(grades, int), as_dicts(scores, float))
    )
    values: Values = {}
    for name, measure in library.measures.registry.items():
        if (measure.NAME or "").startswith("tieproof"):
            continue  # from tieproof's provider, if it was imported before
        parameters = measure.SUPPORTED_PARAMS
        asked = (
            [name] if not any(parameters.get(at) and parameters[at].required for at in ("cutoff", "recall")) else []
        )
        asked += [f"{name}@5"] if "cutoff" in parameters else [f"{name}@0.1"] if "recall" in parameters else []
        asked += [f"{name}(dcg='{dcg}')@5" for dcg in parameters["dcg"].choices] if name == "nDCG" else []
        for text in asked:
            values[text] = of_ir_measures(library, library.parse_measure(text), qrels, run)
    assert len(values) > 60
    # There, RBP without rel is a sum of grades; tieproof's RBP counts relevant documents.
    assert values.pop("RBP") is None
    assert values.pop("RBP@5") is None
    assert values.pop("ERR") is None  # gdeval, which computes it, needs a cutoff
    check("ir_measures", values, of_scores(scores, grades), tolerance=1e-5)  # gdeval rounds to five digits


def of_ir_measures(library: Any, measure: Any, qrels: Any, run: Any) -> float | None:
    try:
        return float(library.calc_aggregate([measure], qrels, run)[measure])
    except (ValueError, AssertionError, RuntimeError):
        return None


def rbp(scores: Array, grades: Array) -> float:
    """Moffat and Zobel 2008, equation 4."""
    ranked = np.take_along_axis(grades, np.argsort(-scores, axis=1), axis=1) > 0
    return float((ranked * 0.2 * 0.8 ** np.arange(ranked.shape[1])).sum(axis=1).mean())


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_mteb() -> None:
    library = pytest.importorskip("mteb._evaluators.retrieval_metrics")
    scores, grades = rankings(ties=False)
    qrels, run, cutoffs = as_dicts(grades, int), as_dicts(scores, float), (1, 3, 5, 10)
    found = library.calculate_retrieval_scores(run, qrels, cutoffs)
    fields = ("ndcg", "recall", "precision", "mrr", "naucs", "naucs_mrr", "hit_rate")
    kept = {name: getattr(found, name) for name in fields}
    values: Values = library.make_score_dict(_map=found.map, task_scores={}, **kept)
    for other in (library.recall_cap, library.hole):
        values |= {name: float(np.mean(of)) for name, of in other(qrels, run, cutoffs).items()}
    assert len(values) > 80
    check("MTEB", values, of_scores(scores, grades), tolerance=1e-5)  # it rounds to five digits


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_torchmetrics() -> None:
    torch = pytest.importorskip("torch")
    library = pytest.importorskip("torchmetrics.retrieval")
    functional = pytest.importorskip("torchmetrics.functional.retrieval")
    scores, grades = rankings(ties=False)
    preds, target = torch.tensor(scores), torch.tensor(grades)
    indexes = torch.arange(len(scores))[:, None].expand(scores.shape)
    values: Values = {}
    for module in (library, functional):
        for name in module.__all__:
            metric = getattr(module, name)
            graded = target if "normalized" in name.lower() else target > 0
            takes = "top_k" in inspect.signature(metric).parameters
            for text, more in ((name, {}), *([(f"{name}(top_k=5)", {"top_k": 5})] if takes else [])):
                if "Curve" in name or "curve" in name or "Fixed" in name:
                    values[text] = None
                elif module is library:
                    values[text] = float(metric(**more)(preds, graded, indexes=indexes))
                else:
                    of = [float(metric(s, t, **more)) for s, t in zip(preds, graded, strict=True)]
                    values[text] = float(np.mean(of))
    assert len(values) > 30
    check("torchmetrics", values, of_scores(scores, grades))


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_pytorch_metric_learning() -> None:
    torch = pytest.importorskip("torch")
    calculator = pytest.importorskip("pytorch_metric_learning.utils.accuracy_calculator").AccuracyCalculator
    inference = pytest.importorskip("pytorch_metric_learning.utils.inference")
    distances = pytest.importorskip("pytorch_metric_learning.distances")
    random = np.random.default_rng(3)
    labels = random.integers(0, 12, size=300)
    embeddings = (random.normal(size=(300, 16)) + random.normal(size=(12, 16))[labels]).astype(np.float32)
    nearest = inference.CustomKNN(distances.LpDistance(normalize_embeddings=False))
    names = set(calculator().get_function_dict())
    clusters = {name for name in names if calculator(include=(name,)).requires_clustering()}
    found = calculator(include=tuple(names - clusters), knn_func=nearest, device=torch.device("cpu")).get_accuracy(
        torch.tensor(embeddings), torch.tensor(labels)
    )
    values: Values = dict.fromkeys(names) | found

    def ours(measures: list[str]) -> tp.Result:
        return tp.evaluate(embeddings, labels, distance="euclidean", measures=measures)

    check("pytorch-metric-learning", values, ours)


@pytest.fixture
def words() -> tuple[list[str], list[str], Array]:
    """Queries and documents of one word each, and a vector for each word, queries first."""
    queries, documents = [f"q{i}" for i in range(10)], [f"d{i}" for i in range(30)]
    vectors = np.random.default_rng(0).normal(size=(len(queries) + len(documents) + 1, 8))
    return queries, documents, vectors.astype(np.float32)


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_sentence_transformers(words: tuple[list[str], list[str], Array], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    library = pytest.importorskip("sentence_transformers")
    evaluation = pytest.importorskip("sentence_transformers.evaluation")
    queries, documents, vectors = words
    model = model_of(library, [*queries, *documents], vectors)
    random = np.random.default_rng(1)
    relevant = {query: {documents[d] for d in random.permutation(30)[:6]} for query in queries}
    pairs = [(queries.index(query), documents.index(d)) for query, ds in relevant.items() for d in sorted(ds)]
    distances = {"cosine": "cosine", "dot": "dot", "euclidean": "euclidean", "manhattan": "cityblock"}
    names = {"cosine": "cos_sim", "dot": "dot_score", "euclidean": "euclidean_sim", "manhattan": "manhattan_sim"}
    functions = {name: getattr(library.util, function) for name, function in names.items()}
    texts = (dict(zip(each, each, strict=True)) for each in (queries, documents))
    found = evaluation.InformationRetrievalEvaluator(*texts, relevant, score_functions=functions)(model)
    assert len(found) == 60
    samples = [
        {"query": query, "positive": sorted(ds), "negative": [d for d in documents if d not in ds]}
        for query, ds in relevant.items()
    ]
    reranked = evaluation.RerankingEvaluator(samples)(model)
    assert set(reranked) == {"map", "mrr@10", "ndcg@10"}

    for name, distance in distances.items():
        values: Values = {key: float(value) for key, value in found.items() if key.startswith(name)}
        values |= {key.removeprefix(f"{name}_"): value for key, value in values.items()}
        values |= reranked if name == "cosine" else {}

        def ours(measures: list[str], distance: str = distance) -> tp.Result:
            some = vectors[:10], vectors[10:40]
            return tp.evaluate(some[0], gallery=some[1], relevance=pairs, distance=distance, measures=measures)

        check("sentence-transformers", values, ours)


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_other_evaluators_of_sentence_transformers(
    words: tuple[list[str], list[str], Array], monkeypatch: pytest.MonkeyPatch
) -> None:
    """These evaluators rank nothing: all their names are refused."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    library = pytest.importorskip("sentence_transformers")
    evaluation = pytest.importorskip("sentence_transformers.evaluation")
    queries, documents, vectors = words
    model, labels = model_of(library, [*queries, *documents], vectors), [0, 1] * 5
    first, second, third = queries, documents[:10], documents[10:20]
    printed: list[str] = ["accuracy"]  # of LabelAccuracyEvaluator, which needs a trained head
    for score in ("cosine", "dot", "euclidean", "manhattan"):
        one = {"similarity_fn_names": [score]}
        printed += evaluation.BinaryClassificationEvaluator(first, second, labels, **one)(model)
        printed += evaluation.TripletEvaluator(first, second, third, main_similarity_function=score)(model)
        printed += evaluation.EmbeddingSimilarityEvaluator(first, second, [0.0, 1.0] * 5, **one)(model)
    printed += evaluation.TranslationEvaluator(first, second)(model)
    printed += evaluation.MSEEvaluator(first, second, teacher_model=model)(model)
    sentences = dict(zip(first, first, strict=True))
    printed += evaluation.ParaphraseMiningEvaluator(sentences, duplicates_list=[("q1", "q2")])(model)
    assert len(set(printed)) > 40
    for name in set(printed):
        (found,) = [meaning for meaning in meanings_of(name) if meaning.owner == "sentence-transformers"]
        assert found.reason
        assert_parsed(name, "")


def model_of(library: Any, words: list[str], vectors: Array) -> Any:
    """A model that embeds each word as its vector; nothing is downloaded."""
    tokenizers = pytest.importorskip("tokenizers")
    from sentence_transformers.models import StaticEmbedding

    numbers = {word: number for number, word in enumerate([*words, "[UNK]"])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(numbers, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return library.SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_weights=vectors)], device="cpu")


def test_the_table_is_whole() -> None:
    """No name occurs twice for a library, and every measure exists."""
    for library in libraries.LIBRARIES:
        names = [plain(meaning.theirs) for meaning in meanings() if meaning.owner == library.name]
        assert len(names) == len(set(names)), library.name
        assert library.source
        for ours in library.names:
            measure = tp.measures.parse(ours.format(k=5))
            assert measure.name in REGISTRY
            assert str(measure) == ours.format(k=5)
        for reason in library.refused:
            assert "'" not in reason
            assert not reason.endswith(".")
