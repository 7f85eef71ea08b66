"""Open-set identification: by enumeration of first answers and thresholds, and from embeddings."""

import json
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tieproof as tp
from tieproof.errors import InputError

Array = npt.NDArray[Any]
Answer = tuple[int, bool]  # the score of a first answer, and whether it is right


def measures(mated: list[bool], answers: tuple[Answer, ...], fpir: Fraction) -> list[Fraction]:
    """TPIR at FPIR, the largest F1, and the largest recall without a wrong answer, over all thresholds."""
    tpir, f1, full = Fraction(0), Fraction(0), Fraction(0)
    for threshold in (*{score for score, _ in answers}, 10**6):
        accepted = [(own, right) for own, (score, right) in zip(mated, answers, strict=True) if score >= threshold]
        hits = sum(right for _, right in accepted)
        if sum(not own for own, _ in accepted) <= fpir * (len(mated) - sum(mated)):
            tpir = max(tpir, Fraction(hits, sum(mated)))
        f1 = max(f1, Fraction(2 * hits, len(accepted) + sum(mated)))
        if hits == len(accepted):
            full = max(full, Fraction(hits, sum(mated)))
    return [tpir, f1, full]


@pytest.mark.parametrize("seed", range(20))
def test_by_enumeration(seed: int) -> None:
    random = np.random.default_rng(seed)
    scores = random.integers(0, 4, size=(6, 4))
    relevance = random.integers(0, 3, size=(6, 4)) == 0
    relevance[:2] = [[True, False, False, True], [False] * 4]
    mated = relevance.any(axis=1).tolist()
    first = [
        [(int(row.max()), bool(right)) for right in own[row == row.max()]]
        for row, own in zip(scores, relevance, strict=True)
    ]
    for fpir in ("0.0", "0.4", "0.5", "1.0"):
        found = tp.open_set_identification_of_scores(scores, relevance.astype(int), fpir=float(fpir))
        values = [measures(mated, answers, Fraction(fpir)) for answers in product(*first)]
        tpir, f1, full = zip(*values, strict=True)
        estimate = found.tpir[float(fpir)]
        mean = sum(tpir, Fraction(0)) / len(tpir)
        deviation = float(sum(((value - mean) ** 2 for value in tpir), Fraction(0)) / len(tpir)) ** 0.5
        expected = [float(min(tpir)), float(mean), float(max(tpir)), deviation]
        assert [estimate.lower, estimate.expected, estimate.upper, estimate.std] == pytest.approx(
            expected, rel=1e-12, abs=1e-15
        )
        assert (found.best_f1.lower, found.best_f1.upper) == (float(min(f1)), float(max(f1)))
        assert found.recall_at_full_precision == tp.Bounds(float(min(full)), float(max(full)))
        assert (found.mated, found.non_mated) == (sum(mated), 6 - sum(mated))
        order = random.permutation(6), random.permutation(4)
        again = tp.open_set_identification_of_scores(
            scores[np.ix_(*order)], relevance[np.ix_(*order)].astype(int), fpir=float(fpir)
        )
        assert again == found


def test_by_hand() -> None:
    """At FPIR 1/2, scores above 0.3 are accepted: 0.9 and 0.6 are right, 0.8 is not. At FPIR 0, only 0.9 is."""
    scores = [[0.9, 0.1], [0.2, 0.6], [0.8, 0.5], [0.7, 0.1], [0.3, 0.2]]
    labels: dict[str, Any] = {"labels": [0, 1, 1, 8, 9], "gallery_labels": [0, 1]}
    found = tp.open_set_identification_of_scores(scores, **labels, fpir=(0.5, 0))
    assert [found.tpir[rate].lower for rate in (0.5, 0.0)] == [2 / 3, 1 / 3]
    assert found.best_f1 == tp.BestThreshold(4 / 7, 4 / 7, 0.6)  # 2 of 4 accepted, and of 3 mated
    assert found.recall_at_full_precision == tp.Bounds(1 / 3, 1 / 3)
    assert json.loads(found.to_json()) == found.to_dict()
    assert found.to_dict()["tpir"]["0.5"]["upper"] == 2 / 3
    assert "TPIR at FPIR 0.5" in str(found)
    assert "TPIR at FPIR 0.5" in found.to_latex()


def test_queries_that_rank_nothing_and_galleries_of_any_length() -> None:
    """The first query ranks no item, and is never accepted; without other strangers, FPIR is 0 at any threshold."""
    found = tp.open_set_identification_of_scores([[0.9, 0.1], [0.5], [0.4]], [[-1, -1], [1], [1]], fpir=0)
    assert found.tpir[0.0].lower == 1.0
    assert found.best_f1.threshold == 0.4
    closed = tp.open_set_identification_of_scores([[0.5, 0.1]], [[1, 0]])
    assert (closed.tpir, closed.best_f1.lower) == ({}, 1.0)


@pytest.mark.parametrize("distance", ["euclidean", "cityblock", "dot", "hamming"])
def test_of_embeddings_as_of_their_distances(distance: str) -> None:
    random = np.random.default_rng(7)
    probes, gallery = (random.integers(0, 2, size=(count, 5)).astype(bool) for count in (60, 40))
    labels, of_gallery = random.integers(0, 30, size=60), random.integers(0, 15, size=40)
    near = (probes[:, None] & gallery).sum(axis=2) if distance == "dot" else -(probes[:, None] ^ gallery).sum(axis=2)
    given = tp.open_set_identification_of_scores(near, labels=labels, gallery_labels=of_gallery)
    rows = (probes, gallery) if distance == "hamming" else (probes.astype(float), gallery.astype(float))
    found = tp.open_set_identification(rows[0], labels, gallery=rows[1], gallery_labels=of_gallery, distance=distance)
    root = distance == "euclidean"
    assert found.tpir == given.tpir
    assert found.best_f1.threshold == pytest.approx((-given.best_f1.threshold) ** (0.5 if root else 1))
    assert (found.best_f1.lower, found.best_f1.upper) == (given.best_f1.lower, given.best_f1.upper)
    assert found.recall_at_full_precision == given.recall_at_full_precision
    triples = [(query, item) for query, item in np.argwhere(labels[:, None] == of_gallery).tolist()]
    assert found == tp.open_set_identification(rows[0], gallery=rows[1], relevance=triples, distance=distance)


def test_leave_one_out_with_excluded_pairs() -> None:
    places, labels = [[0.0], [1.0], [5.0], [9.0]], ["a", "a", "b", "c"]
    found = tp.open_set_identification(places, labels, distance="euclidean", fpir=0)
    assert (found.mated, found.non_mated, found.tpir[0.0].lower) == (2, 2, 1.0)
    earlier = [(query, item) for query in range(4) for item in range(query, 4)]  # loops close to earlier places only
    found = tp.open_set_identification(places, labels, distance="euclidean", exclude=earlier)
    assert (found.mated, found.non_mated) == (1, 3)


def test_refused() -> None:
    with pytest.raises(InputError, match="No query has a match in the gallery"):
        tp.open_set_identification_of_scores([[0.5]], [[0]])
    with pytest.raises(InputError, match="A false positive identification rate must be"):
        tp.open_set_identification_of_scores([[0.5]], [[1]], fpir=2)
    with pytest.raises(InputError, match="scores must contain only finite numbers"):
        tp.open_set_identification_of_scores([[np.nan]], [[1]])
