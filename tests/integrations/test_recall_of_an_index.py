"""The page on the recall of an index shows the numbers of its script; real indexes on data with many ties."""

import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import neighbor_recall_oracle as oracle
import tieproof as tp

SCRIPT = Path(__file__).parents[2] / "docs" / "integrations" / "recall_of_an_index.py"

Array = npt.NDArray[Any]

if not SCRIPT.exists():
    pytest.skip("no docs beside the tests", allow_module_level=True)


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(SCRIPT))


def page() -> str:
    return SCRIPT.with_suffix(".md").read_text(encoding="utf-8")


def test_table_of_the_page(script: dict[str, Any]) -> None:
    for rows in (script["table"](), script["ranges"]()):
        assert rows in page(), "a definition changed; run python docs/integrations/recall_of_an_index.py"


def test_definitions_outside_the_interval_of_each_index(script: dict[str, Any]) -> None:
    """The definitions that are below or above an index's true recall, in the order of the table."""
    outside = [re.findall(r"\*\*(.*?)\*\*", row) for row in script["table"]().splitlines()[2:]]
    assert [len(values) for values in outside] == [0, 3, 3, 3, 0, 1, 2, 2, 0, 0]


def test_table_by_the_oracle(script: dict[str, Any]) -> None:
    """The columns of other libraries, from their definitions for one query at a time."""
    for case in script["CASES"]:
        data, k = case.data(), script["K"]
        ids, distances = case.answer(data)
        true, far = data.truth
        found = case.recall()
        for query in range(0, len(ids), 7):
            for name in ("k-nn", "epsilon", "largeepsilon"):
                expected = oracle.ann_benchmarks(distances[query], far[query], k, name)
                assert found.others[f"ann-benchmarks {name}"][query] == float(expected)
            items = [item for item in ids[query].tolist() if item >= 0]
            expected = oracle.big_ann(items, true[query].tolist(), far[query], k)
            assert found.others["big-ann k-nn"][query] == float(expected)


@pytest.mark.heavy
def test_page(script: dict[str, Any]) -> None:
    assert page() == script["render"](), "run python docs/integrations/recall_of_an_index.py"


# Real indexes on data with many ties: an exact search scores 1, whichever items of a tie it returned.


RANDOM = np.random.default_rng(12)


def by_definition(found: Array, distances: Array, k: int) -> Array:
    """The upper recall: the number of found items among the nearest, up to the number of places of the tie."""
    shares = []
    for items, row in zip(found.tolist(), distances, strict=True):
        last = np.sort(row)[k - 1]
        kept = {item for item in items[:k] if item >= 0}
        nearer = sum(row[item] < last for item in kept)
        places = k - int((row < last).sum())
        shares.append((nearer + min(places, sum(row[item] == last for item in kept))) / k)
    return np.array(shares)


@pytest.mark.heavy
def test_binary_codes_in_faiss() -> None:
    import faiss

    codes = RANDOM.integers(0, 256, (3000, 3), dtype=np.uint8)
    queries, gallery = codes[:100], codes[100:]
    flat, hashed = faiss.IndexBinaryFlat(24), faiss.IndexBinaryHash(24, 10)
    for index in (flat, hashed):
        index.add(gallery)
    distances = np.unpackbits(queries[:, None] ^ gallery[None], axis=2).sum(axis=2, dtype=np.int64)
    for index, is_exact in ((flat, True), (hashed, False)):
        far, found = index.search(queries, 20)
        result = tp.neighbor_recall(
            found, queries=queries, gallery=gallery, distance="hamming", bits=24, k=(1, 10, 20), distances=far
        )
        for k in (1, 10, 20):
            assert result.per_query(k).upper == pytest.approx(by_definition(found, distances, k), rel=1e-12)
        assert (result[20].upper == 1.0) == is_exact
        assert result[20].lower < result[20].expected < result[20].upper
        assert (result.at(20).padding == (found == -1).sum(axis=1)).all()
    assert result.at(20).padding.any()


@pytest.mark.heavy
@pytest.mark.parametrize("distance", ["euclidean", "dot"])
def test_small_integers_and_duplicates_in_faiss(distance: str) -> None:
    """int8 vectors with many copies, whose distances float32 represents exactly."""
    import faiss

    numbers = RANDOM.integers(-3, 4, (400, 6)).astype(np.int8)
    gallery, queries = np.repeat(numbers, 5, axis=0)[RANDOM.permutation(2000)], numbers[::8]
    kind = faiss.IndexFlatL2 if distance == "euclidean" else faiss.IndexFlatIP
    flat, cells = kind(6), faiss.IndexIVFFlat(kind(6), 6, 12, faiss.METRIC_L2)
    cells.nprobe = 2
    cells.train(gallery.astype(np.float32))
    products = queries.astype(np.int64) @ gallery.T.astype(np.int64)
    squares = ((queries[:, None].astype(np.int64) - gallery[None]) ** 2).sum(axis=2)
    distances = squares if distance == "euclidean" else -products
    for index in (flat, cells):
        index.add(gallery.astype(np.float32))
        _, found = index.search(queries.astype(np.float32), 10)
        result = tp.neighbor_recall(found, queries=queries, gallery=gallery, distance=distance, k=(1, 10))
        for k in (1, 10):
            assert result.per_query(k).upper == pytest.approx(by_definition(found, distances, k), rel=1e-12)
        order = np.argsort(distances, axis=1, kind="stable")[:, :300]
        truth = order, np.take_along_axis(distances, order, axis=1)
        listed = tp.neighbor_recall(found, truth, k=(1, 10), n_items=2000)
        assert listed.to_flat_dict() == result.to_flat_dict()
        if index is flat:
            assert result[10].upper == 1.0 > result[10].expected


@pytest.mark.heavy
def test_usearch_pads_with_a_key_that_exists() -> None:
    """Key 0 with a distance of NaN is no item, though there is an item 0."""
    from usearch.index import Index

    gallery = RANDOM.normal(size=(5, 4)).astype(np.float32)
    index = Index(ndim=4, metric="l2sq")
    index.add(np.arange(5), gallery)
    matches = index.search(gallery[:2], 8)
    result = tp.neighbor_recall(
        matches.keys, queries=gallery[:2], gallery=gallery, distance="l2", k=1, among=8, distances=matches.distances
    )
    assert result.at(1).padding.tolist() == [3, 3]
    assert result.at(1).duplicates.tolist() == [0, 0]
    assert result[1].upper == 1.0
