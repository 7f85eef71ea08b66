"""The page on the recall of an index; real indexes on data with many ties."""

import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import neighbor_recall_oracle as oracle
import tieproof as tp
from pages import run_and_compare

Array = npt.NDArray[Any]


@pytest.mark.heavy
def test_page(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("faiss")
    nothing = re.compile("(?!)")
    page, section = "docs/integrations/nearest_neighbor_indexes.md", "Recall of an index"
    run_and_compare(page, lambda: capsys.readouterr().out, nothing, section)


def test_factors_of_distances_below_zero() -> None:
    """What the page on benchmarks says of epsilon and largeepsilon: an exact search by inner product scores less."""
    vectors = np.random.default_rng(1).integers(0, 3, (250, 8))
    distances = -(vectors[:50] @ vectors[50:].T)
    order = np.argsort(distances, axis=1, kind="stable")[:, :100]
    far = np.take_along_axis(distances, order, axis=1)
    found = tp.neighbor_recall(order[:, :10], (order, far), k=10, distances=far[:, :10])
    assert found[10].upper == found.at(10).of_others["ann-benchmarks k-nn"] == 1.0
    for name in ("epsilon", "largeepsilon"):
        by_definition = [oracle.ann_benchmarks(row[:10], row, 10, name) for row in far]
        assert found.at(10).of_others[f"ann-benchmarks {name}"] == pytest.approx(
            float(sum(by_definition) / 50), rel=1e-12
        )
        assert float(sum(by_definition)) < 50 * found[10].lower


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
