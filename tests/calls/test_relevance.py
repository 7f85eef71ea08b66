"""Which items are relevant or excluded: labels, columns of labels, triples, groups, exclusions, and empty queries."""

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tieproof as tp
from exact_oracle import average_precision

Array = npt.NDArray[Any]
RANDOM = np.random.default_rng(1)
QUERIES, GALLERY = RANDOM.integers(0, 3, size=(12, 3)), RANDOM.integers(0, 3, size=(40, 3))


def distances(queries: Array, gallery: Array) -> Array:
    return np.asarray(((queries[:, None] - gallery[None]) ** 2).sum(axis=2))


def expected_ap(distance: Array, relevant: Array, excluded: Array) -> list[tuple[float, float, float]]:
    """AP of every query that has a relevant item, from matrices."""
    values = []
    for row, is_relevant, is_excluded in zip(distance, relevant, excluded, strict=True):
        kept = ~is_excluded
        if not (is_relevant & kept).any():
            continue
        exact = average_precision([Fraction(-int(d)) for d in row[kept]], is_relevant[kept].tolist())
        values.append((float(exact[0]), float(exact[1]), float(exact[2])))
    return values


def assert_matches(result: tp.Result, expected: list[tuple[float, float, float]]) -> None:
    found = result.per_query("AP")
    assert len(expected) == len(found.lower) == len(result.query_ids)
    for place, name in enumerate(("lower", "expected", "upper")):
        np.testing.assert_allclose(getattr(found, name), [value[place] for value in expected], rtol=1e-12)


def test_columns_of_labels() -> None:
    own, others = RANDOM.random((12, 5)) < 0.3, RANDOM.random((40, 5)) < 0.3
    result = tp.evaluate(
        QUERIES, own.astype(int), gallery=GALLERY, gallery_labels=others, distance="euclidean", measures=["AP"]
    )
    relevant = np.asarray((own[:, None] & others[None]).any(axis=2))
    assert_matches(result, expected_ap(distances(QUERIES, GALLERY), relevant, np.zeros((12, 40), bool)))


def test_columns_of_labels_leave_one_out() -> None:
    own = RANDOM.random((40, 5)) < 0.3
    result = tp.evaluate(GALLERY, own, distance="euclidean", measures=["AP"])
    relevant = np.asarray((own[:, None] & own[None]).any(axis=2))
    assert_matches(result, expected_ap(distances(GALLERY, GALLERY), relevant, np.eye(40, dtype=bool)))


def test_groups_and_exclude() -> None:
    labels, gallery_labels = RANDOM.integers(0, 3, 12), RANDOM.integers(0, 3, 40)
    groups, gallery_groups = RANDOM.integers(0, 2, 12), RANDOM.integers(0, 2, 40)
    exclude = np.unique(np.column_stack([RANDOM.integers(0, 12, 60), RANDOM.integers(0, 40, 60)]), axis=0)
    result = tp.evaluate(
        QUERIES,
        labels,
        gallery=GALLERY,
        gallery_labels=gallery_labels,
        groups=groups,
        gallery_groups=gallery_groups,
        exclude=exclude,
        distance="euclidean",
        measures=["AP"],
    )
    same = labels[:, None] == gallery_labels[None]
    excluded = same & (groups[:, None] == gallery_groups[None])
    excluded[exclude[:, 0], exclude[:, 1]] = True
    assert_matches(result, expected_ap(distances(QUERIES, GALLERY), same, excluded))


def test_groups_leave_one_out() -> None:
    labels, groups = RANDOM.integers(0, 4, 40), RANDOM.integers(0, 3, 40)
    result = tp.evaluate(GALLERY, labels, groups=groups, distance="euclidean", measures=["AP"])
    same = labels[:, None] == labels[None]
    excluded = same & (groups[:, None] == groups[None]) | np.eye(40, dtype=bool)
    assert_matches(result, expected_ap(distances(GALLERY, GALLERY), same, excluded))


def test_triples_with_grades_agree_with_scores() -> None:
    grades = RANDOM.choice([-1, 0, 0, 0, 1, 2, 3.5], size=(12, 40))
    where = np.argwhere(grades != 0)
    triples = np.column_stack([where, grades[tuple(where.T)]])
    measures = ["AP", "nDCG@10", "nDCG(gain=exp)@10", "P@10", "RR"]
    of_triples = tp.evaluate(
        QUERIES, relevance=triples, gallery=GALLERY, distance="euclidean", measures=measures
    ).to_dict()
    of_matrix = tp.evaluate_distances(distances(QUERIES, GALLERY), grades, measures=measures).to_dict()
    assert of_triples["measures"] == of_matrix["measures"]


def test_triples_without_grades_are_labels() -> None:
    labels = RANDOM.integers(0, 5, 40)
    pairs = np.argwhere((labels[:, None] == labels[None]) & ~np.eye(40, dtype=bool))
    of_pairs = tp.evaluate(GALLERY, relevance=pairs, distance="euclidean")
    assert of_pairs.to_json() == tp.evaluate(GALLERY, labels, distance="euclidean").to_json()


@pytest.mark.parametrize(
    ("policy", "mean", "queries"), [("skip", 1.0, 2), ("zero", 0.5, 4), ("one", 1.0, 4), ("nan", 1.0, 4)]
)
def test_queries_with_nothing_relevant(policy: Any, mean: float, queries: int) -> None:
    data, labels = [[0.0], [0.1], [5.0], [9.0]], ["a", "a", "b", "c"]
    result = tp.evaluate(data, labels, distance="euclidean", measures=["AP"], empty=policy)
    assert result["AP"].lower == result["AP"].upper == mean
    assert result.ties.queries == len(result.query_ids) == queries
    assert result.empty_ids.tolist() == [2, 3]
    assert result.to_dict()["empty"] == 2
    left_out = {reason: ids.tolist() for reason, ids in result.skipped.items()}
    assert left_out == ({"no relevant item": [2, 3]} if policy in ("skip", "nan") else {})
    for part in ("lower", "expected", "upper", "std"):
        assert np.isnan(getattr(result.per_query("AP"), part)).sum() == (2 if policy == "nan" else 0)


def test_a_result_says_how_many_items_a_negative_relevance_leaves_out() -> None:
    scores, relevance = [[0.9, 0.5, 0.1], [0.3, 0.2, 0.1]], [[-1, 1, 0], [1, -1, -1]]
    said = "3 items of negative relevance were left out of the rankings."
    assert said in " ".join(str(tp.evaluate_scores(scores, relevance)).split())
    assert said in " ".join(str(tp.evaluate_distances([*map(np.array, scores)], relevance)).split())
    named = [(0, 0, -1), (0, 1, 1), (1, 0, 1), (1, 1, -1), (1, 2, -1)]
    of_rows = tp.evaluate(np.eye(3)[:2] + 0.5, gallery=np.eye(3), relevance=named)
    assert said in " ".join(str(of_rows).split())
    listed = tp.evaluate_neighbors([[0, 1, 2]] * 2, relevance=named, n_items=3)
    assert said in " ".join(str(listed).split())
    assert "negative relevance" not in str(tp.evaluate_scores(scores, np.maximum(relevance, 0)))


def test_a_matrix_that_is_read_as_triples_is_warned_about_and_the_advice_works() -> None:
    matrix = np.array([[0, 1, 1], [1, 0, 1], [2, 1, 1]])
    with pytest.warns(tp.InputWarning, match=r"pass numpy\.column_stack\(\[numpy\.argwhere\(m\), m\[m != 0\]\]\)"):
        tp.evaluate(GALLERY[:3], relevance=matrix)
    m = matrix - np.diag([0, 0, 1])
    triples = np.column_stack([np.argwhere(m), m[m != 0]])
    assert tp.evaluate(GALLERY[:3], relevance=triples).ties.queries == 3
    tp.evaluate(GALLERY[:3], relevance=[(0, 1, 1), (1, 0, 1), (2, 1, 1)])  # tuples are triples


@pytest.mark.heavy
def test_labels_of_minus_one_and_one_by_the_advice_have_the_score_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    labels, scores = np.where(np.arange(40) % 7, -1, 1), RANDOM.permutation(40) / 40
    with pytest.warns(tp.InputWarning, match=r"pass numpy\.maximum\(relevance, 0\)"):
        tp.evaluate_scores([scores], [labels])
    found = tp.evaluate_scores([scores], np.maximum([labels], 0), measures=["AP"])["AP"].lower
    assert found == pytest.approx(metrics.average_precision_score(labels, scores), rel=1e-12)


def test_a_duplicate_of_the_query_is_not_the_query() -> None:
    # Items 0 and 1 are the same point: each finds the other, never itself.
    result = tp.evaluate([[1.0], [1.0], [2.0]], [0, 1, 0], distance="euclidean", measures=["RR"])
    assert result.per_query("RR").lower.tolist() == [0.5, 1 / 2]
    assert result.query_ids.tolist() == [0, 2]


@pytest.mark.parametrize("kind", [np.array, set, list])
def test_lists_of_the_relevant_items_of_each_query_are_their_pairs(kind: Any) -> None:
    """Ragged positives, as radius_neighbors and the data sets of place recognition give them."""
    positives = [kind([0, 3]), kind([]), kind([5])]
    found = [[3, 1], [4, 6], [7, 5]]
    options: dict[str, Any] = {"n_items": 30, "search": "returned", "measures": ["Success@1", "Success@2", "R@2"]}
    result = tp.evaluate_neighbors(found, relevance=positives, empty="zero", **options)
    assert [result[name].lower for name in result] == [1 / 3, 2 / 3, (1 / 2 + 0 + 1) / 3]
    pairs = tp.evaluate_neighbors(found, relevance=[(0, 0), (0, 3), (2, 5)], empty="zero", **options)
    assert pairs.fingerprint == result.fingerprint
    gallery = np.arange(30.0)[:, None]
    options = {"gallery": gallery, "distance": "euclidean", "measures": ["RR"]}
    queries = [[3.0], [8.0], [7.0]]
    result = tp.evaluate(queries, relevance=positives, **options)
    assert result["RR"] == tp.evaluate(queries, relevance=[(0, 0), (0, 3), (2, 5)], **options)["RR"]


def test_positives_of_equal_length_are_lists_where_they_are_arrays() -> None:
    found: dict[str, Any] = {"n_items": 9, "measures": ["P@2"], "search": "returned"}
    positives = [np.array([0, 1]), np.array([1, 0])]
    assert tp.evaluate_neighbors([[0, 1], [2, 1]], relevance=positives, **found)["P@2"].lower == 0.75
    as_objects = np.empty(2, dtype=object)
    as_objects[:] = [np.array([0, 1]), np.array([1])]
    assert tp.evaluate_neighbors([[0, 1], [2, 1]], relevance=as_objects, **found)["P@2"].lower == 0.75
