"""Items without embeddings have the worst place of every ranking, or the last one, compared with brute force."""

from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import tieproof as tp

SAMPLE = Path(__file__).with_name("records") / "version-3-answers.tieproof"
NAN = float("nan")
ANSWERS, LABELS = [[1.0, 0.0], [2.0, 0.1], [NAN, NAN], [0.0, 1.0], [0.1, 2.0]], ["cat", "cat", "cat", "dog", "dog"]


def by_matrix(
    queries: Any,
    labels: Any,
    gallery: Any,
    gallery_labels: Any,
    groups: Any = None,
    gallery_groups: Any = None,
    worst: bool = True,
) -> tp.Result:
    """The definition: a matrix of squared distances, with a larger one for pairs in which an item has no answer.

    In the worst case, it is a smaller one than all others if the item is not relevant.
    """
    leave_one_out = gallery is None
    items, item_labels = (queries, labels) if leave_one_out else (gallery, gallery_labels)
    queries, items = (np.where(np.isfinite(side), side, np.nan) for side in (queries, items))
    distances = ((queries[:, None] - items[None]) ** 2).sum(axis=2)
    finite = np.isfinite(distances)
    relevance = (labels[:, None] == item_labels[None]).astype(int)
    farthest = distances.max(initial=0.0, where=finite) + 1
    distances = np.where(finite, distances, np.where((relevance == 0) & worst, -1, farthest))
    if groups is not None:
        item_groups = groups if leave_one_out else gallery_groups
        relevance[(relevance == 1) & (groups[:, None] == item_groups[None])] = -1
    if leave_one_out:
        np.fill_diagonal(relevance, -1)
        np.fill_diagonal(distances, 0)
    return tp.evaluate_distances(distances, relevance, measures=["AP", "P@3", "RR"], empty="zero")


@pytest.mark.filterwarnings("ignore:The relevance has only the values -1 and 1")
@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("with_gallery", [False, True])
@pytest.mark.parametrize("with_groups", [False, True])
@pytest.mark.parametrize("unanswered", ["worst", "last"])
def test_as_by_a_matrix(
    seed: int, with_gallery: bool, with_groups: bool, unanswered: Literal["worst", "last"]
) -> None:
    random = np.random.default_rng(seed)
    sides: list[Any] = []
    for count in random.integers(2, 9, 2):
        vectors = random.integers(0, 3, (count, 2)).astype(float)
        vectors[random.random(count) < random.random()] = random.choice([np.nan, np.inf, -np.inf])
        sides += [vectors, random.integers(0, 3, count)]
    if not with_gallery:
        sides[2:] = [None, None]
    queries, labels, gallery, gallery_labels = sides
    groups = random.integers(0, 2, len(queries)) if with_groups else None
    gallery_groups = random.integers(0, 2, len(gallery)) if with_groups and with_gallery else None
    found = tp.evaluate_answers(
        queries,
        labels,
        gallery=gallery,
        gallery_labels=gallery_labels,
        groups=groups,
        gallery_groups=gallery_groups,
        distance="euclidean",
        measures=["AP", "P@3", "RR"],
        empty="zero",
        unanswered=unanswered,
    )
    expected = by_matrix(
        queries, labels, gallery, gallery_labels, groups, gallery_groups, worst=unanswered == "worst"
    )
    for measure in expected:
        mine, theirs = found.per_query(measure), expected.per_query(measure)
        for bound in ("lower", "expected", "upper", "std"):
            assert getattr(mine, bound).tolist() == getattr(theirs, bound).tolist()
    assert found.fingerprint == expected.fingerprint
    assert found.ties.largest_tie == expected.ties.largest_tie


def test_where_all_have_an_answer_it_is_evaluate() -> None:
    random = np.random.default_rng(0)
    vectors, labels = random.integers(0, 2, (30, 4)), np.arange(30) % 4
    for distance in ("cosine", "euclidean", "cityblock", "dot", "hamming"):
        kind = np.bool_ if distance == "hamming" else np.float64
        answers = tp.evaluate_answers(vectors.astype(float), labels, distance=distance)
        expected = tp.evaluate(vectors.astype(kind), labels, distance=distance)
        assert {**answers} == {**expected}
        assert answers.setting == expected.setting


def test_a_missing_answer_never_pays() -> None:
    """A system that answers only for one class gains nothing by leaving out the other items."""
    random = np.random.default_rng(1)
    labels = np.arange(40) % 4
    vectors = random.normal(size=(40, 8)) + 2 * np.eye(8)[labels]
    whole = tp.evaluate(vectors, labels, measures=["AP"])
    for silent in (labels == 0, labels > 0, labels >= 0, np.arange(40) == 7):
        found = tp.evaluate_answers(np.where(silent[:, None], np.nan, vectors), labels, measures=["AP"])
        assert found["AP"].lower < whole["AP"].lower
        assert found.ties.ambiguous_ties == 0


def test_a_record_is_verified(tmp_path: Path) -> None:
    result = tp.evaluate_answers(ANSWERS, LABELS, measures=["AP", "P@1"])
    result.save(tmp_path / "run.tieproof")
    again = tp.load(tmp_path / "run.tieproof")
    assert {**again} == {**result}
    assert tp.verify(again, ANSWERS, LABELS).agrees
    assert tp.verify(again, ANSWERS[::-1], LABELS[::-1]).agrees
    assert not tp.verify(again, [*ANSWERS[:2], [0.0, 0.0], *ANSWERS[3:]], LABELS).agrees


def test_a_record_of_version_3_is_read() -> None:
    """A record written when version 3 was the newest. For the dogs, the third item comes first."""
    again = tp.load(SAMPLE)
    assert again.per_query("RR").lower.tolist() == [1, 1, 1 / 3, 1 / 2, 1 / 2]
    assert again.evaluated.origin.options == {"unanswered": "worst"}
    assert tp.verify(again, ANSWERS, LABELS).agrees


def test_systems_are_compared_whatever_they_did_not_answer() -> None:
    random = np.random.default_rng(2)
    labels = np.arange(40) % 4
    vectors = random.normal(size=(40, 8)) + 2 * np.eye(8)[labels]
    some = tp.evaluate_answers(np.where(np.arange(40)[:, None] < 20, np.nan, vectors), labels, measures=["AP"])
    fewer = tp.evaluate_answers(np.where(np.arange(40)[:, None] < 30, np.nan, vectors), labels, measures=["AP"])
    comparison = tp.compare({"all": tp.evaluate(vectors, labels, measures=["AP"]), "some": some, "fewer": fewer})
    assert comparison["all", "some", "AP"].expected > 0
    assert comparison["some", "fewer", "AP"].expected > 0
    with pytest.raises(tp.InputError, match="have different labels"):
        tp.compare(
            {"a": some, "b": tp.evaluate_answers(np.full((40, 2), np.nan), np.arange(40) % 5, measures=["AP"])}
        )
