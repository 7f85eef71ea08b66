"""The recall of range search, compared with sets, query by query, and with big-ann-benchmarks."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tieproof as tp

LISTS = st.lists(st.lists(st.integers(0, 6), max_size=6), min_size=1, max_size=5)


def as_pair(lists: list[list[int]]) -> tuple[Any, Any]:
    return np.cumsum([0, *map(len, lists)]), np.array([item for items in lists for item in items], dtype=np.int32)


@st.composite
def searches(draw: st.DrawFn) -> tuple[list[list[int]], list[list[int]]]:
    found = draw(LISTS)
    true = [draw(st.lists(st.integers(0, 6), unique=True, max_size=6)) for _ in found]
    return found, true


def share(hits: int, true: int, found: int) -> float:
    """The share of true items; without any, it is 1 if nothing was found."""
    return hits / true if true else float(found == 0)


@given(searches())
def test_sets_of_every_query(search: tuple[list[list[int]], list[list[int]]]) -> None:
    found, true = search
    result = tp.range_recall(as_pair(found), as_pair(true))
    pairs = list(zip(found, true, strict=True))
    hits = [len(set(some) & set(wanted)) for some, wanted in pairs]
    assert result.hits.tolist() == hits
    assert result.found.tolist() == [len(set(some)) for some in found]
    assert result.repeated.tolist() == [len(some) - len(set(some)) for some in found]
    sizes, answers = sum(map(len, true)), sum(len(set(some)) for some in found)
    assert result.recall == share(sum(hits), sizes, answers)
    assert result.precision == (sum(hits) / answers if answers else 1.0)
    expected = [share(hit, len(wanted), len(some)) for hit, (some, wanted) in zip(hits, pairs, strict=True)]
    assert result.per_query.tolist() == expected
    assert result.mean_recall == pytest.approx(np.mean(expected), rel=1e-12)
    # big-ann-benchmarks counts every position with a true item as a hit.
    places = [sum(item in wanted for item in some) for some, wanted in pairs]
    each = [share(hit, len(wanted), len(some)) for hit, (some, wanted) in zip(places, pairs, strict=True)]
    assert result.of_others["big-ann recall, overall"] == share(sum(places), sizes, answers)
    assert result.of_others["big-ann recall, average"] == pytest.approx(np.mean(each), rel=1e-12)


def test_lists_that_hold_everything_twice() -> None:
    twice = tp.range_recall(as_pair([[1, 2, 1, 2]]), as_pair([[1, 2]]))
    assert twice.recall == 1.0
    assert twice.of_others["big-ann recall, overall"] == 2.0


def test_dictionary_frame_and_text() -> None:
    result = tp.range_recall(as_pair([[7, 7], []]), as_pair([[7, 9], [4]]))
    assert json.loads(result.to_json()) == result.to_dict()
    assert result.to_dict()["repeated"] == 1
    assert result.to_frame()["recall"].tolist() == [0.5, 0.0]
    assert "1 place holds an item that its list has already" in str(result).replace("\n", " ")


@pytest.mark.heavy
def test_range_search_of_faiss() -> None:
    import faiss

    numbers = np.random.default_rng(2).integers(-3, 4, (500, 5)).astype(np.float32)
    index = faiss.IndexFlatL2(5)
    index.add(numbers)
    lims, _, ids = index.range_search(numbers[:40], 9.5)
    squares = ((numbers[:40, None] - numbers[None]) ** 2).sum(axis=2)
    true = as_pair([np.flatnonzero(row < 9.5).tolist() for row in squares])
    assert tp.range_recall((lims, ids), true).recall == 1.0
    nearer = as_pair([np.flatnonzero(row < 4.5).tolist() for row in squares])
    assert tp.range_recall(nearer, (lims, ids)).recall == (squares < 4.5).sum() / (squares < 9.5).sum()


def test_ids_that_are_too_large_are_about_their_lists() -> None:
    with pytest.raises(tp.InputError, match="found ids contain 9223372036854775808") as caught:
        tp.range_recall(([0, 1], [2**63]), ([0, 1], [1]))
    assert caught.value.argument == "found"


# The folder of a truth


RADII = (-1, 0, 0.5, 1, np.sqrt(2), 1.5, np.sqrt(3), 2, 100, np.inf)


@pytest.mark.parametrize("k", [3, 20, 40])
@pytest.mark.parametrize("radius", RADII)
def test_a_radius_is_certified_or_refused_by_name(radius: float, k: int, tmp_path: Path) -> None:
    """By definition: all items at most so far; certified if fewer than all are listed and the last one is farther."""
    random = np.random.default_rng(8)
    gallery, queries = random.integers(0, 3, (40, 3)), random.integers(0, 3, (9, 3))
    tp.truth(queries, gallery, k, out=tmp_path / "truth", distance="euclidean")
    squares = [
        [sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) for y in gallery.tolist()] for x in queries.tolist()
    ]
    far = [[math.sqrt(square) for square in row] for row in squares]
    found = as_pair([random.permutation(40)[:7].tolist() for _ in queries])
    open_ = [query for query, row in enumerate(far) if k < 40 and sorted(row)[k - 1] <= radius]
    if open_:
        with pytest.raises(
            tp.InputError, match=f"not for {len(open_)} quer.*, first query {open_[0]} with"
        ) as caught:
            tp.range_recall(found, tmp_path / "truth", radius=radius)
        assert caught.value.argument == "radius"
        return
    true = as_pair([[item for item, distance in enumerate(row) if distance <= radius] for row in far])
    assert (
        tp.range_recall(found, tmp_path / "truth", radius=radius).to_dict() == tp.range_recall(found, true).to_dict()
    )


def test_distances_that_are_equal_in_float64_are_within_the_same_radius(tmp_path: Path) -> None:
    """The item at rank 2 is farther than 1 by less than float64 shows, so others may hide behind it."""
    gallery = [[1.0, 0.0], [1.0, 1e-9], [3.0, 0.0]]
    for k in (2, 3):
        tp.truth([[0.0, 0.0]], gallery, k, out=tmp_path / str(k), distance="euclidean")
    with pytest.raises(tp.InputError, match=r"first query 0 with 1\.0. Pass a radius below 1\.0"):
        tp.range_recall(([0, 1], [0]), tmp_path / "2", radius=1.0)
    assert tp.range_recall(([0, 1], [0]), tmp_path / "3", radius=1.0).recall == 0.5
    assert tp.range_recall(([0, 0], []), tmp_path / "2", radius=0.5).recall == 1.0


def test_queries_without_true_items_are_counted() -> None:
    """Of three, one has a true item, one rightly found nothing, and one wrongly something: 1, 1 and 0."""
    result = tp.range_recall(([0, 1, 1, 2], [4, 9]), ([0, 1, 1, 1], [4]))
    assert (result.mean_recall, result.to_dict()["queries_without_true_items"]) == (2 / 3, 2)
    assert "2 queries without a true item: in the mean, 1 (nothing found) as 1" in str(result)
