"""Truths in which pairs are left out, as in a filtered search: fewer than k neighbors, in pieces, and verified."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from tieproof.analyses.neighbors import search
from tieproof.analyses.neighbors.certificate import read_truth
from tieproof.analyses.neighbors.formats import FORMATS
from tieproof.evaluation.cluster.layout import groups_of

RANDOM = np.random.default_rng(1069)
QUERIES = RANDOM.integers(0, 9, (7, 1)).astype(np.float32)
ITEMS = RANDOM.integers(0, 9, (40, 1)).astype(np.float32)
ALLOWED = RANDOM.random((7, 40)) < np.array([[0.0], [0.02], [0.1], [0.3], [0.5], [0.9], [1.0]])
K = 5


def by_definition(query: int) -> list[int]:
    """The nearest of the items that pass the filter of a query, by their ids among equal distances."""
    near = sorted(
        (abs(int(QUERIES[query, 0]) - int(ITEMS[item, 0])), item) for item in np.flatnonzero(ALLOWED[query])
    )
    ids = [int(item) for _, item in near[:K]]
    return ids + [-1] * (K - len(ids))


EXPECTED = [by_definition(query) for query in range(len(QUERIES))]


def write(folder: Path, **options: Any) -> tp.Certificate:
    given = {"distance": "euclidean", "exclude": ~ALLOWED, "formats": [*FORMATS], **options}
    return tp.truth(QUERIES, ITEMS, K, out=folder, **given)


def cut_into(items: int, queries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "groups_of", lambda bounds, most: groups_of(bounds, items))
    monkeypatch.setattr(search, "QUERIES", queries)
    monkeypatch.setattr(search, "LISTED", 1)


@pytest.mark.parametrize(("items", "queries"), [(40, 7), (1, 1), (3, 2), (17, 4)])
def test_neighbors_by_definition(items: int, queries: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = write(tmp_path / "whole")
    cut_into(items, queries, monkeypatch)
    np.save(tmp_path / "items.npy", ITEMS)
    given: dict[str, Any] = {"distance": "euclidean", "exclude": np.argwhere(~ALLOWED)[::-1], "formats": [*FORMATS]}
    certificate = tp.truth(QUERIES, tp.open(tmp_path / "items.npy"), K, out=tmp_path / "pieces", **given)
    assert certificate == whole
    found = read_truth(tmp_path / "pieces")[1]
    assert found.ids.tolist() == EXPECTED
    assert np.array_equal(np.isnan(found.distances), np.array(EXPECTED) == -1)
    for query, ids in enumerate(EXPECTED):
        there = [item for item in ids if item >= 0]
        far = [abs(QUERIES[query, 0] - ITEMS[item, 0]) for item in there]
        tie = [item for item in np.flatnonzero(ALLOWED[query]) if abs(QUERIES[query, 0] - ITEMS[item, 0]) == far[-1]]
        assert found.tie(query).tolist() == (tie if there else [])


def test_what_others_read(tmp_path: Path) -> None:
    write(tmp_path)
    ids = np.fromfile(tmp_path / "truth.ibin", "<i4")[2 : 2 + 7 * K].reshape(7, K)
    assert ids.tolist() == EXPECTED
    assert np.fromfile(tmp_path / "neighbors.ivecs", "<i4").reshape(7, 1 + K)[:, 1:].tolist() == EXPECTED
    parquet = pytest.importorskip("pyarrow.parquet")
    lists = parquet.read_table(tmp_path / "truth.parquet")["neighbors_id"].to_pylist()
    assert lists == [[item for item in row if item >= 0] for row in EXPECTED]


def test_recall_is_the_share_of_the_items_that_pass(tmp_path: Path) -> None:
    """A query with two allowed items has recall 1 if both were found, as in DiskANN; one without is left out."""
    some = ALLOWED.any(axis=1)
    data: dict[str, Any] = {"distance": "euclidean", "exclude": ~ALLOWED[some]}
    tp.truth(QUERIES[some], ITEMS, K, out=tmp_path / "truth", **data)
    lists = np.array(EXPECTED)[some]
    for found in (lists, lists[:, ::-1], np.roll(lists, 1, axis=0)):
        given = tp.neighbor_recall(found, tmp_path / "truth", k=[1, 3, K])
        searched = tp.neighbor_recall(found, queries=QUERIES[some], gallery=ITEMS, k=[1, 3, K], **data)
        assert given.per_query(K).lower.tolist() == searched.per_query(K).lower.tolist()
        assert [given[k] for k in (1, 3, K)] == [searched[k] for k in (1, 3, K)]
    assert tp.neighbor_recall(lists, tmp_path / "truth", k=K)[K].upper == 1.0
    write(tmp_path / "all")
    whole = tp.neighbor_recall(EXPECTED, tmp_path / "all", k=K)
    assert list(whole.skipped) == np.flatnonzero(~some).tolist()
    assert whole[K] == tp.neighbor_recall(lists, tmp_path / "truth", k=K)[K]


def test_range_recall_knows_that_a_short_list_is_whole(tmp_path: Path) -> None:
    tp.truth(
        [[0.0]],
        [[1.0], [2.0], [3.0], [4.0]],
        3,
        out=tmp_path / "truth",
        distance="euclidean",
        exclude=[(0, 0), (0, 3)],
    )
    assert tp.range_recall(([0, 1], [1]), tmp_path / "truth", radius=9.0).recall == 0.5


@pytest.mark.parametrize("sample", [None, 3])
def test_verification_needs_the_same_pairs(sample: int | None, tmp_path: Path) -> None:
    write(tmp_path / "truth")
    verify: dict[str, Any] = {"sample": sample, "seed": 1}
    assert tp.verify_truth(tmp_path / "truth", QUERIES, ITEMS, exclude=~ALLOWED, **verify).agrees
    assert tp.verify_truth(tmp_path / "truth", QUERIES, ITEMS, exclude=np.argwhere(~ALLOWED), **verify).agrees
    others = ~ALLOWED
    others[6, 0] = True
    write(tmp_path / "unfiltered", exclude=[])
    for name, exclude in (("truth", others), ("truth", None), ("unfiltered", others)):
        found = tp.verify_truth(tmp_path / name, QUERIES, ITEMS, exclude=exclude, **verify)
        assert found.checked == 0
        assert found.differences == (
            "The pairs that are left out are not those of the truth. Pass the same as exclude=.",
        )
    assert tp.verify_truth(tmp_path / "unfiltered", QUERIES, ITEMS, **verify).agrees


def test_the_certificate_says_that_pairs_were_left_out(tmp_path: Path) -> None:
    one, other = write(tmp_path / "one"), write(tmp_path / "other", exclude=~ALLOWED | (np.arange(40) == 7))
    assert one.exclude != other.exclude
    assert json.loads((tmp_path / "one" / "certificate.json").read_text())["exclude"] == one.exclude
    assert "Pairs of a query and an item were left out" in one.to_text(explain=True)
    assert write(tmp_path / "none", exclude=None).exclude is None


@pytest.mark.parametrize(
    ("exclude", "message"),
    [
        ([(0, 40)], "names item 40, but there are only 40"),
        (ALLOWED.T, r"bools of the shape \(40, 7\), not \(7, 40\)"),
        ([(0.5, 1)], "whole numbers"),
    ],
)
def test_wrong_pairs_are_refused(exclude: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(tp.InputError, match=message) as caught:
        write(tmp_path / "truth", exclude=exclude)
    assert caught.value.argument == "exclude"
    assert not (tmp_path / "truth").exists()


def test_bools_are_pairs_wherever_pairs_are_left_out() -> None:
    labels, places = np.arange(7) % 2, np.arange(40) % 2
    pairs = np.argwhere(~ALLOWED)
    near = [tp.nearest(QUERIES, ITEMS, K, distance="euclidean", exclude=each) for each in (pairs, ~ALLOWED)]
    assert near[0].ids.tolist() == near[1].ids.tolist() == EXPECTED
    scored = [
        tp.evaluate(
            QUERIES, labels, gallery=ITEMS, gallery_labels=places, distance="euclidean", exclude=each, empty="skip"
        )
        for each in (pairs, ~ALLOWED)
    ]
    assert scored[0].to_dict() == scored[1].to_dict()


def test_lists_of_different_lengths_are_those_with_fewer_neighbors() -> None:
    """Query 0 may find items 0 and 1 only; of query 1, two of its three nearest items were found."""
    truth = [[0, 1], [5, 4, 6]], [[0.0, 1.0], [0.0, 1.0, 2.0]]
    for found in ([[0, 1, -1], [5, 4, 9]], [[1, 0], [4, 5, 9]], [np.array([0, 1]), np.array([5, 4, 9])]):
        assert tp.neighbor_recall(found, truth, k=3).per_query(3).expected.tolist() == [1.0, 2 / 3]
    distances = [[1.0, 0.0], [1.0, 0.0, 9.0]]
    assert tp.neighbor_recall([[1, 0], [4, 5, 9]], truth, distances=distances, k=3).at(3).fewer.tolist() == [
        True,
        False,
    ]
    wrong: Any
    for wrong in ([[0, 1], [[5], 4, 9]], [[0, 1], 5], [["a"], ["b", "c"]], 7, [np.array(3), [1]], [[], []]):
        with pytest.raises(tp.InputError):
            tp.neighbor_recall(wrong, truth, k=3)
