"""Protocols of data sets, on examples computed by hand and on examples from other libraries' documentation."""

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import oracle
import tieproof as tp

# Market-1501 (Zheng et al. 2015): what has the identity and the camera of the query is left out of its ranking, and
# so is junk (identity -1); identity 0 is a distractor, which counts as any wrong answer. Positions on a line are the
# embeddings.
#
#   position   1   2   3   4   5   6   20
#   identity   1   2  -1   1   0   1    3
#   camera     1   1   2   2   3   3    1
GALLERY = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [20.0]])
IDENTITIES, CAMERAS = np.array([1, 2, -1, 1, 0, 1, 3]), np.array([1, 1, 2, 2, 3, 3, 1])
JUNK = IDENTITIES == -1

# Query 0 at 0, identity 1, camera 1: it ranks 2 4 5 6 20, right at ranks 2 and 4.
# Query 1 at 8, identity 2, camera 2: it ranks 6 5 4 2 1 20, right at rank 4.
# Query 2 at 9, identity 3, camera 1: its only match is by the same camera, so that nothing is relevant.
QUERIES, QUERY_IDENTITIES, QUERY_CAMERAS = np.array([[0.0], [8.0], [9.0]]), np.array([1, 2, 3]), np.array([1, 2, 1])
BY_HAND = {
    "AP": [(1 / 2 + 2 / 4) / 2, 1 / 4],
    "AP(trapezoid)": [((0 + 1 / 2) / 2 + (1 / 3 + 2 / 4) / 2) / 2, (0 + 1 / 4) / 2],
    "INP": [2 / 4, 1 / 4],
    "Success@1": [0, 0],
    "Success@3": [1, 0],
    "Success@5": [1, 1],
}


def market_by_labels() -> tp.Result:
    return tp.evaluate(
        QUERIES,
        QUERY_IDENTITIES,
        gallery=GALLERY,
        gallery_labels=IDENTITIES,
        groups=QUERY_CAMERAS,
        gallery_groups=CAMERAS,
        exclude=[(query, item) for query in range(3) for item in np.flatnonzero(JUNK)],
        distance="euclidean",
        measures=list(BY_HAND),
    )


def market_relevance() -> np.ndarray[Any, Any]:
    """1 where right, -1 where left out."""
    same = QUERY_IDENTITIES[:, None] == IDENTITIES
    left_out = same & (QUERY_CAMERAS[:, None] == CAMERAS) | JUNK
    return np.where(left_out, -1, same.astype(int))


def market_by_grades() -> tp.Result:
    triples = [(query, item, grade) for (query, item), grade in np.ndenumerate(market_relevance())]
    return tp.evaluate(QUERIES, relevance=triples, gallery=GALLERY, distance="euclidean", measures=list(BY_HAND))


def market_by_distances() -> tp.Result:
    return tp.evaluate_distances(np.abs(QUERIES - GALLERY.T), market_relevance(), measures=list(BY_HAND))


@pytest.mark.parametrize("evaluate", [market_by_labels, market_by_grades, market_by_distances])
def test_market_1501(evaluate: Any) -> None:
    result = evaluate()
    assert result.query_ids.tolist() == [0, 1]
    assert {reason: ids.tolist() for reason, ids in result.skipped.items()} == {"no relevant item": [2]}
    for measure, values in BY_HAND.items():
        found = result.per_query(measure)
        assert found.lower.tolist() == found.upper.tolist()
        assert found.lower.tolist() == pytest.approx(values, rel=1e-12)


def test_market_1501_with_a_tie_of_what_is_left_out() -> None:
    # All items are equal: the same camera and junk are excluded from the tie; 3 wrong and 2 right items remain.
    result = tp.evaluate(
        np.zeros((1, 1)),
        [1],
        gallery=np.zeros((7, 1)),
        gallery_labels=IDENTITIES,
        groups=[1],
        gallery_groups=CAMERAS,
        exclude=[(0, 2)],
        distance="euclidean",
        measures=["AP", "Success@1"],
    )
    assert result.ties.largest_tie == 5
    assert result["AP"].lower == pytest.approx((1 / 4 + 2 / 5) / 2, rel=1e-12)
    assert result["AP"].upper == 1.0
    assert result["Success@1"].expected == pytest.approx(2 / 5, rel=1e-12)


# Oxford and Paris


@pytest.mark.parametrize("length", range(1, 8))
def test_trapezoids_are_those_of_oxford_and_paris(length: int) -> None:
    orderings = [bits for bits in itertools.product((0, 1), repeat=length) if any(bits)]
    expected = [oracle.area_under_precision_recall(bits, [False] * length) for bits in orderings]
    scores = [list(range(length, 0, -1))] * len(orderings)
    found = tp.evaluate_scores(scores, orderings, measures=["AP(trapezoid)"]).per_query("AP(trapezoid)")
    assert found.lower.tolist() == found.upper.tolist()
    assert found.lower.tolist() == pytest.approx([float(value) for value in expected], rel=1e-12)


def test_junk_of_oxford_and_paris_is_taken_out() -> None:
    for relevance in set(itertools.permutations((1, 1, 0, 0, -1, -1))):
        expected = oracle.area_under_precision_recall(relevance, [grade < 0 for grade in relevance])
        found = tp.evaluate_scores([[6, 5, 4, 3, 2, 1]], [relevance], measures=["AP(trapezoid)"])
        assert found["AP(trapezoid)"].lower == pytest.approx(float(expected), rel=1e-12)


# The examples in the documents of open-metric-learning: lists that were cut off, with the number of relevant items of
# each query. A query without any counts as 1 there.


def listed(relevance: list[list[int]], n_relevant: list[int], measure: str) -> list[float]:
    result = tp.evaluate_scores(
        [list(range(len(row), 0, -1)) for row in relevance],
        relevance,
        n_relevant=n_relevant,
        measures=[measure],
        empty="one",
    )
    return [float(value) for value in result.per_query(measure).expected]


OML_EXAMPLES = {
    "calc_cmc": ("Success", [[1, 0], [0, 1, 1], [0, 0], []], [2, 2, 1, 0], [1, 0, 0, 1], [1, 1, 0, 1]),
    "calc_precision": ("RelP", [[1, 0], [0, 1, 1], [0, 0], []], [2, 3, 5, 2], [1, 0, 0, 0], [0.5, 0.5, 0, 0]),
    "calc_map": ("AP(norm=hits)", [[1, 0], [0, 1], [0] * 4, []], [1, 1, 2, 0], [1, 0, 0, 1], [1, 0.5, 0, 1]),
}
"""Our measure, gt_tops, n_gts, and what the document prints for top_k = 1 and 2."""


@pytest.mark.parametrize("name", OML_EXAMPLES)
def test_examples_of_open_metric_learning(name: str) -> None:
    measure, relevance, n_relevant, *printed = OML_EXAMPLES[name]
    for k, values in zip((1, 2), printed, strict=True):
        assert listed(relevance, n_relevant, f"{measure}@{k}") == values


def test_precision_of_open_metric_learning_beside_the_usual_one() -> None:
    # n = 3 and g = [1, 1, 1, 0, 0], for k from 1 to 6: the last is beyond the list.
    usual = [Fraction(1), Fraction(2, 2), Fraction(3, 3), Fraction(3, 4), Fraction(3, 5), Fraction(3, 6)]
    for k, value in enumerate(usual, 1):
        assert listed([[1, 1, 1, 0, 0]], [3], f"P@{k}") == [float(value)]
        assert listed([[1, 1, 1, 0, 0]], [3], f"RelP@{k}") == [1.0]
