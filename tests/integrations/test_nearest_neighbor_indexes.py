"""Scores of the lists that real nearest-neighbor indexes return."""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tieproof as tp

pytestmark = pytest.mark.heavy

Array = npt.NDArray[Any]

MEASURES = ["AP", "AP@R", "AP(norm=hits)@5", "P@1", "P@10", "Success@1", "RR", "nDCG@10", "INP", "AUC", "RBP"]
ITEMS, K = 120, 9

RANDOM = np.random.default_rng(0)
LABELS = RANDOM.integers(0, 6, size=ITEMS)
VECTORS = (RANDOM.integers(-1, 2, size=(ITEMS, 4)) + np.eye(6)[LABELS][:, :4]).astype(np.float32)
CODES = np.packbits(VECTORS.repeat(2, axis=1) > 0, axis=1)
"""Small whole numbers: distances are exact in float32, and there are many ties."""


def whole(vectors: Array = VECTORS, distance: str = "sqeuclidean", **more: Any) -> tp.Result:
    return tp.evaluate(vectors, LABELS, distance=distance, measures=MEASURES, **more)


def assert_contains(lists: tp.Result, complete: tp.Result) -> None:
    for measure in MEASURES:
        inner, outer = complete.per_query(measure), lists.per_query(measure)
        assert (outer.lower <= inner.lower * (1 + 1e-12)).all(), measure
        assert (outer.upper * (1 + 1e-12) >= inner.upper).all(), measure


def assert_same(lists: tp.Result, complete: tp.Result) -> None:
    assert {name: lists[name] for name in MEASURES} == {name: complete[name] for name in MEASURES}


def evaluate(*arguments: Any, **options: Any) -> tp.Result:
    return tp.evaluate_neighbors(*arguments, labels=LABELS, measures=MEASURES, **options)


def test_faiss_flat() -> None:
    faiss = pytest.importorskip("faiss")
    index = faiss.IndexFlatL2(VECTORS.shape[1])
    index.add(VECTORS)
    distances, ids = index.search(VECTORS, K)
    assert_contains(evaluate(ids, distances), whole())
    distances, ids = index.search(VECTORS, ITEMS)
    assert_same(evaluate(ids, distances), whole())
    # faiss fills up lists with -1 and 3.4e38.
    distances, ids = index.search(VECTORS, ITEMS + 5)
    assert (ids[:, -5:] == -1).all()
    assert_same(evaluate(ids, distances), whole())


def test_faiss_inner_product() -> None:
    faiss = pytest.importorskip("faiss")
    index = faiss.IndexFlatIP(VECTORS.shape[1])
    index.add(VECTORS)
    scores, ids = index.search(VECTORS, K)
    assert_contains(evaluate(ids, scores=scores), whole(distance="dot"))
    scores, ids = index.search(VECTORS, ITEMS + 2)
    assert (scores[:, -1] < -3e38).all()
    assert_same(evaluate(ids, scores=scores), whole(distance="dot"))
    with pytest.warns(tp.InputWarning, match="probably scores"):
        evaluate(ids, scores)


def test_faiss_binary() -> None:
    faiss = pytest.importorskip("faiss")
    index = faiss.IndexBinaryFlat(8)
    index.add(CODES)
    complete = whole(CODES, "hamming", bits=8)
    distances, ids = index.search(CODES, K)
    assert_contains(evaluate(ids, distances), complete)
    distances, ids = index.search(CODES, ITEMS + 1)
    assert distances[0, -1] == 2147483647
    assert_same(evaluate(ids, distances), complete)


def test_faiss_lists_of_a_range() -> None:
    faiss = pytest.importorskip("faiss")
    index = faiss.IndexFlatL2(VECTORS.shape[1])
    index.add(VECTORS)
    limits, distances, ids = index.range_search(VECTORS, 3.0)
    rows = [np.split(values, limits[1:-1].astype(int)) for values in (ids, distances)]
    order = [np.argsort(row, kind="stable") for row in rows[1]]
    ids, distances = ([row[places] for row, places in zip(values, order, strict=True)] for values in rows)
    assert_contains(evaluate(ids, distances), whole())


@pytest.mark.parametrize("kind", ["HNSW8,Flat", "IVF8,Flat"])
def test_faiss_approximate(kind: str) -> None:
    faiss = pytest.importorskip("faiss")
    index = faiss.index_factory(VECTORS.shape[1], kind)
    index.train(VECTORS)
    index.add(VECTORS)
    distances, ids = index.search(VECTORS, 40)
    assert_contains(evaluate(ids, distances, search="approximate"), whole())
    if kind.startswith("IVF"):
        assert (ids == -1).any()  # it searched only one list
        with pytest.warns(tp.InputWarning, match="lists end before they are full"):
            evaluate(ids, distances)


def test_usearch() -> None:
    indexes = pytest.importorskip("usearch.index")
    index = indexes.Index(ndim=VECTORS.shape[1], metric="l2sq", dtype="f32")
    index.add(np.arange(ITEMS), VECTORS)
    assert_contains(evaluate(index.search(VECTORS, K), search="approximate"), whole())
    exact = index.search(VECTORS, ITEMS, exact=True)
    assert_same(evaluate(exact), whole())
    # usearch fills up lists with key 0 and NaN.
    padded = index.search(VECTORS, ITEMS + 4, exact=True)
    assert np.isnan(padded.distances[:, -1]).all()
    assert_same(evaluate(padded), whole())
    assert_same(evaluate(padded.keys, padded.distances, counts=padded.counts), whole())
    with pytest.raises(tp.InputError, match="usearch"):
        evaluate(padded.keys, padded.distances)
    with pytest.raises(tp.InputError, match="answer to a single query"):
        evaluate(index.search(VECTORS[0], K))


def test_hnswlib() -> None:
    hnswlib = pytest.importorskip("hnswlib")
    index = hnswlib.Index(space="l2", dim=VECTORS.shape[1])
    index.init_index(max_elements=ITEMS, random_seed=1)
    index.set_num_threads(1)
    index.set_ef(ITEMS)
    index.add_items(VECTORS)
    ids, distances = index.knn_query(VECTORS, k=K)
    assert_contains(evaluate(ids, distances, search="approximate"), whole())
    flat = hnswlib.BFIndex(space="l2", dim=VECTORS.shape[1])
    flat.init_index(max_elements=ITEMS)
    flat.add_items(VECTORS)
    ids, distances = flat.knn_query(VECTORS, k=K)
    assert_contains(evaluate(ids, distances), whole())
    assert_same(evaluate(*flat.knn_query(VECTORS, k=ITEMS)), whole())


def test_pynndescent() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pynndescent = pytest.importorskip("pynndescent")
        index = pynndescent.NNDescent(VECTORS, metric="sqeuclidean", n_neighbors=15, random_state=0, n_jobs=1)
        ids, distances = index.query(VECTORS, k=K)
        graph_ids, graph_distances = index.neighbor_graph
    for found, numbers in ((ids, distances), (graph_ids, graph_distances)):
        assert found.dtype == np.int32
        assert_contains(evaluate(found, numbers, search="approximate"), whole())


def test_pynndescent_fills_up() -> None:
    """pynndescent fills up lists with -1 and infinity if it finds too few items."""
    ids, distances = np.array([[0, 3, -1]], dtype=np.int32), np.array([[0.0, 1.0, np.inf]], dtype=np.float32)
    given: dict[str, Any] = {"labels": [0], "gallery_labels": [0, 1, 0, 0], "search": "approximate"}
    found = tp.evaluate_neighbors(ids, distances, **given)
    assert found.to_json() == tp.evaluate_neighbors(ids[:, :2], distances[:, :2], **given).to_json()


@pytest.mark.parametrize(
    ("metric", "distance"), [("EUCLID", "euclidean"), ("DOT", "dot"), ("MANHATTAN", "cityblock")]
)
def test_qdrant(metric: str, distance: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        qdrant = pytest.importorskip("qdrant_client")
        client, models = qdrant.QdrantClient(":memory:"), qdrant.models
        size = models.VectorParams(size=VECTORS.shape[1], distance=getattr(models.Distance, metric))
        client.create_collection("items", vectors_config=size)
        points = [models.PointStruct(id=item, vector=row.tolist()) for item, row in enumerate(VECTORS)]
        client.upsert("items", points)
        requests = [models.QueryRequest(query=row.tolist(), limit=K) for row in VECTORS]
        answers = client.query_batch_points("items", requests)
    result = evaluate(answers)
    assert result.setting.distance == ("scores" if metric == "DOT" else "distances")
    assert_contains(result, whole(distance=distance))
    assert evaluate([answer.points for answer in answers]).to_json() == result.to_json()


def test_the_page_prints_what_it_shows(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("faiss")
    page = Path(__file__).parents[2] / "docs" / "integrations" / "nearest_neighbor_indexes.md"
    if not page.exists():
        pytest.skip("no documents beside the tests")
    text, names = page.read_text(encoding="utf-8").partition("\n## Recall of an index\n")[0], dict[str, object]()
    shown = re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", text, flags=re.DOTALL)
    assert len(shown) == 3
    for code, printed in shown:
        exec(code, names)
        said = capsys.readouterr().out
        assert bounds(said) == bounds(printed)
        assert NUMBER.sub("#", said) == NUMBER.sub("#", printed)


NUMBER = re.compile(r"\d[\d.,]*")


def bounds(printed: str) -> list[tuple[str, str, str]]:
    """The lower and upper bounds in tables. faiss may return any of several tied items, which changes no bound."""
    rows = re.findall(r"(P@10?|AP) +([\d.]+) +(?:≤ )?[\d.]+ +(?:≤ )?([\d.]+)", printed)
    return [(name, lower, upper) for name, lower, upper in rows]
