"""The nearest items of queries, compared with sorting exact distances one by one."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from tieproof.evaluation.nearest import LISTED, Nearest, nearest
from tieproof.inputs.options import FORMATS

RANDOM = np.random.default_rng(11)
VECTORS = RANDOM.integers(-2, 3, size=(60, 3)).astype(np.float64)
LABELS = RANDOM.integers(0, 6, size=60)
CODES = RANDOM.random((60, 7)) < 0.5

SQUARES: dict[str, Callable[[Any, Any], Fraction]] = {
    "euclidean": lambda x, y: sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(x, y, strict=True)) or Fraction(0),
    "sqeuclidean": lambda x, y: (
        sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(x, y, strict=True)) or Fraction(0)
    ),
    "cityblock": lambda x, y: sum(abs(Fraction(a) - Fraction(b)) for a, b in zip(x, y, strict=True)) or Fraction(0),
    "dot": lambda x, y: -sum(Fraction(a) * Fraction(b) for a, b in zip(x, y, strict=True)) or Fraction(0),
    "hamming": lambda x, y: Fraction(int(np.sum(x != y))),
}
"""Numbers in the order of the distances, as fractions."""


def expected(keys: list[Any], excluded: set[int]) -> list[tuple[int, list[int]]]:
    """Rank and items of each tie, the nearest first."""
    ties: dict[Any, list[int]] = {}
    for item, key in enumerate(keys):
        if item not in excluded:
            ties.setdefault(key, []).append(item)
    ranks, rank = [], 1
    for key in sorted(ties):
        ranks.append((rank, ties[key]))
        rank += len(ties[key])
    return ranks


def alike(query: int) -> set[int]:
    """The items that are relevant to an item."""
    return {item for item in range(60) if LABELS[item] == LABELS[query]} - {query}


def check(found: Nearest, wanted: list[tuple[int, list[int]]], relevant: set[int]) -> None:
    assert found.relevant == len(relevant)
    listed = 0
    for tie, (rank, items) in zip(found.ties, wanted, strict=False):
        assert (tie.rank, tie.size, tie.relevant) == (rank, len(items), len(relevant & {*items}))
        assert tie.ambiguous == bool(relevant & {*items} and {*items} - relevant)
        shown = items[: LISTED - listed]
        assert tie.items == tuple((item, item in relevant) for item in shown)
        listed += len(shown)
    assert listed == min(LISTED, sum(len(items) for _, items in wanted))


@pytest.mark.parametrize("distance", SQUARES)
def test_exact_distances(distance: str) -> None:
    vectors = CODES if distance == "hamming" else VECTORS
    data: dict[str, Any] = {"embeddings": vectors, "labels": LABELS, "distance": distance}
    queries = np.array([3, 40, 59])
    for query, found in zip(queries.tolist(), nearest(tp.evaluate(**data), queries, data), strict=True):
        keys = [SQUARES[distance](vectors[query], vectors[item]) for item in range(60)]
        check(found, expected(keys, {query}), alike(query))
        for tie in found.ties:
            key = float(keys[tie.items[0][0]])
            assert tie.value == (np.sqrt(key) if distance == "euclidean" else key)


def test_cosine_and_zeros() -> None:
    vectors = np.array([[1, 0], [2, 0], [0, 0], [1, 1], [0, 3], [-1, 0], [3, 3]])
    data: dict[str, Any] = {"embeddings": vectors, "labels": [0, 0, 1, 1, 1, 1, 0]}
    (found,) = nearest(tp.evaluate(**data), np.array([0]), data)
    assert [tuple(item for item, _ in tie.items) for tie in found.ties] == [(1,), (3, 6), (2, 4), (5,)]
    assert [tie.value for tie in found.ties] == [0.0, 0.29289321881345248, 1.0, 2.0]  # 1 - 1 / √2


@pytest.mark.parametrize("precision", FORMATS)
@pytest.mark.parametrize("distance", ["sqeuclidean", "hamming", "function"])
def test_rounded_distances(distance: str, precision: str) -> None:
    vectors = CODES if distance == "hamming" else VECTORS * 37.7

    def squares(queries: Any, items: Any) -> Any:
        return ((queries[:, None] - items[None]) ** 2).sum(axis=-1)

    called = squares if distance == "function" else distance
    data: dict[str, Any] = {"embeddings": vectors, "labels": LABELS, "distance": called, "precision": precision}
    queries = np.array([0, 17])
    for query, found in zip(queries.tolist(), nearest(tp.evaluate(**data), queries, data), strict=True):
        exact = "hamming" if distance == "hamming" else "sqeuclidean"
        keys = [SQUARES[exact](vectors[query], vectors[item]) for item in range(60)]
        if distance == "function":
            keys = [Fraction(float(key)) for key in squares(vectors[query : query + 1], vectors)[0]]
        rounded = [FORMATS[precision].rounded(key) for key in keys]
        check(found, expected(rounded, {query}), alike(query))
        if distance != "function":
            assert [tie.value for tie in found.ties] == [rounded[tie.items[0][0]] for tie in found.ties]


def test_gallery_with_groups_and_judgments() -> None:
    queries, gallery = VECTORS[:10], VECTORS[10:]
    groups, gallery_groups = np.arange(10) % 2, np.arange(50) % 2
    data: dict[str, Any] = {"embeddings": queries, "labels": LABELS[:10], "gallery": gallery}
    data |= {"gallery_labels": LABELS[10:], "groups": groups, "gallery_groups": gallery_groups}
    data |= {"distance": "cityblock", "measures": ["AP"]}
    result = tp.evaluate(**data)
    for query, found in zip(
        result.query_ids.tolist(), nearest(result, np.arange(len(result.query_ids)), data), strict=True
    ):
        same = {*np.flatnonzero(LABELS[10:] == LABELS[query]).tolist()}
        junk = {item for item in same if gallery_groups[item] == groups[query]}
        keys = [SQUARES["cityblock"](queries[query], item) for item in gallery]
        check(found, expected(keys, junk), same - junk)


def test_many_items_are_looked_at_in_parts() -> None:
    vectors = np.repeat(RANDOM.integers(0, 2, size=(20_000, 16)), 2, axis=0)
    data: dict[str, Any] = {
        "embeddings": vectors.astype(np.float32),
        "labels": np.arange(40_000) // 4,
        "distance": "euclidean",
    }
    data["measures"] = ["P@1"]
    (found,) = nearest(tp.evaluate(**data), np.array([39_999]), data)
    keys = ((vectors - vectors[-1]) ** 2).sum(axis=1).tolist()
    check(found, expected(keys, {39_999}), {39_996, 39_997, 39_998})


@pytest.mark.parametrize("name", ["scores", "distances"])
def test_given_numbers(name: str) -> None:
    numbers = RANDOM.integers(0, 4, size=(8, 30)) / 4
    relevance = RANDOM.integers(-1, 2, size=(8, 30))
    data: dict[str, Any] = {name: numbers, "relevance": relevance}
    evaluate = tp.evaluate_scores if name == "scores" else tp.evaluate_distances
    result = evaluate(numbers, relevance)
    for query, found in zip(
        result.query_ids.tolist(), nearest(result, np.arange(len(result.query_ids)), data), strict=True
    ):
        keys = (numbers if name == "distances" else -numbers)[query].tolist()
        excluded = {*np.flatnonzero(relevance[query] < 0).tolist()}
        check(found, expected(keys, excluded), {*np.flatnonzero(relevance[query] > 0).tolist()})
        assert [tie.value for tie in found.ties] == [numbers[query, tie.items[0][0]] for tie in found.ties]


def test_square_matrix_with_labels() -> None:
    distances = np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    data: dict[str, Any] = {"distances": distances, "labels": [0, 0, 0, 1, 1, 1]}
    (found,) = nearest(tp.evaluate_distances(**data), np.array([2]), data)
    assert [(tie.value, [item for item, _ in tie.items]) for tie in found.ties] == [
        (1, [1, 3]),
        (2, [0, 4]),
        (3, [5]),
    ]


def test_large_integers_keep_their_order() -> None:
    scores = [[2**60, 2**60 + 1, 2**60 + 1]]
    (found,) = nearest(
        tp.evaluate_scores(scores, [[1, 0, 1]]), np.array([0]), {"scores": scores, "relevance": [[1, 0, 1]]}
    )
    assert [[item for item, _ in tie.items] for tie in found.ties] == [[1, 2], [0]]


def test_run() -> None:
    qrels = {"q1": {"a": 1, "b": 0, "z": 2}, "q2": {"c": 1}}
    run = {"q1": {"b": 0.5, "a": 0.5, "c": 0.7}, "q9": {"a": 1.0}}
    data: dict[str, Any] = {"qrels": qrels, "run": run}
    first, second = nearest(tp.evaluate_run(**data), np.array([0, 1]), data)
    assert first.relevant == 2
    assert [(tie.rank, tie.value, tie.size, tie.relevant, tie.items) for tie in first.ties] == [
        (1, 0.7, 1, 0, (("c", False),)),
        (2, 0.5, 2, 1, (("a", True), ("b", False))),
    ]
    assert (second.query, second.relevant, second.ties) == ("q2", 1, ())


def test_queries_of_an_evaluator_keep_their_indices() -> None:
    evaluator = tp.Evaluator(distance="cityblock")
    evaluator.update(VECTORS[30:], LABELS[30:], indices=np.arange(30, 60))
    evaluator.update(VECTORS[:30], LABELS[:30], indices=np.arange(30))
    data: dict[str, Any] = {"embeddings": VECTORS, "labels": LABELS}
    (found,) = nearest(evaluator.compute(), np.array([7]), data)
    keys = [SQUARES["cityblock"](VECTORS[7], item) for item in VECTORS]
    check(found, expected(keys, {7}), alike(7))


def test_judgments_with_grades_and_exclusions() -> None:
    triples = [(0, 5, 2.0), (0, 6, 1.0), (0, 7, -1.0), (1, 9, 1.0), (2, 3, 0.5)]
    data: dict[str, Any] = {"embeddings": VECTORS, "relevance": triples, "exclude": [(0, 8), (2, 4)]}
    data["distance"] = "cityblock"
    result = tp.evaluate(**data)
    first, _, third = nearest(result, np.arange(3), data)
    keys = [[SQUARES["cityblock"](VECTORS[query], item) for item in VECTORS] for query in range(3)]
    check(first, expected(keys[0], {0, 7, 8}), {5, 6})
    check(third, expected(keys[2], {2, 4}), {3})
    with pytest.raises(tp.InputError, match="its fingerprint is"):
        nearest(result, np.arange(3), data | {"relevance": triples[:4]})


def test_labels_in_columns() -> None:
    columns = RANDOM.random((60, 4)) < 0.4
    columns[:, 0] = True
    data: dict[str, Any] = {"embeddings": VECTORS, "labels": columns.astype(np.int64), "distance": "dot"}
    (found,) = nearest(tp.evaluate(**data), np.array([30]), data)
    keys = [SQUARES["dot"](VECTORS[30], item) for item in VECTORS]
    check(found, expected(keys, {30}), {*range(60)} - {30})


def test_packed_codes() -> None:
    data: dict[str, Any] = {"embeddings": np.packbits(CODES, axis=1), "labels": LABELS, "bits": 7}
    result = tp.evaluate(distance="hamming", **data)
    (found,) = nearest(result, np.array([4]), data)
    keys = [SQUARES["hamming"](CODES[4], item) for item in CODES]
    check(found, expected(keys, {4}), alike(4))


def test_queries_without_any_relevant_item_are_left_out() -> None:
    labels = np.array([99, *LABELS[1:]])
    data: dict[str, Any] = {"embeddings": VECTORS, "labels": labels, "distance": "sqeuclidean"}
    result = tp.evaluate(**data)
    (found,) = nearest(result, np.array([0]), data)
    assert found.query == result.query_ids[0] == 1


def test_a_record_knows_what_it_was_made_of(tmp_path: Path) -> None:
    data: dict[str, Any] = {"embeddings": VECTORS, "labels": LABELS, "distance": "euclidean"}
    result = tp.evaluate(**data)
    result.save(tmp_path / "result.tieproof")
    again = tp.load(tmp_path / "result.tieproof")
    places = np.array([1, 50])
    assert nearest(again, places, data) == nearest(result, places, data)
    result.report(tmp_path / "one.html", **data)
    again.report(tmp_path / "other.html", **data)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "other.html").read_bytes()
