"""Decisions over pairs: by enumeration of orderings, by scikit-learn, from embeddings, folds and files of trials."""

import gzip
import json
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

import fnmr_oracle
import tieproof as tp
import verification_oracle as oracle
from hard_sets import HARD_SETS
from tieproof.errors import InputError, InputWarning

Array = npt.NDArray[Any]


def drawn(seed: int) -> tuple[list[int], list[int]]:
    """The labels and scores of few pairs, with many ties, of which both kinds occur."""
    random = np.random.default_rng(seed)
    count, kinds = random.integers(2, 10), random.integers(1, 5)
    labels = [1, 0, *random.integers(0, 2, size=count - 2).tolist()]
    return labels, random.integers(0, kinds, size=count).tolist()


def accepted(labels: Sequence[int], scores: Sequence[int], threshold: float) -> tuple[int, int]:
    """How many relevant and other pairs have at least this score."""
    chosen = [label for label, score in zip(labels, scores, strict=True) if score >= threshold]
    return sum(chosen), len(chosen) - sum(chosen)


@pytest.mark.parametrize("seed", range(24))
def test_by_enumeration(seed: int) -> None:
    labels, scores = drawn(seed)
    curve = tp.det_curve_of_pairs(labels, scores)
    near, far = ([-score for score, label in zip(scores, labels, strict=True) if label == kind] for kind in (1, 0))
    orderings = list(oracle.orderings(near, far))
    cuts = [accepted(labels, scores, threshold) for threshold in (np.inf, *sorted(set(scores), reverse=True))]
    whole = oracle.best_accuracy(len(near), len(far), cuts), oracle.best_f1(len(near), len(far), cuts)
    for at, (found, over) in enumerate(zip((curve.best_accuracy, curve.best_f1), whole, strict=True)):
        values = [oracle.decisions(ordering)[at] for ordering in orderings]
        assert found.lower == float(over) == float(min(values))
        assert found.upper == float(max(values))
        assert getattr(curve.at(found.threshold), ("accuracy", "f1")[at]) == found.lower
    for estimate, definition in ((curve.average_precision, oracle.average_precision), (curve.auc, oracle.auc)):
        values = [definition(ordering) for ordering in orderings]
        mean = sum(values, Fraction(0)) / len(values)
        deviation = float(sum(((value - mean) ** 2 for value in values), Fraction(0)) / len(values)) ** 0.5
        expected = [float(min(values)), float(mean), float(max(values)), deviation]
        found_values = [estimate.lower, estimate.expected, estimate.upper, estimate.std]
        assert found_values == pytest.approx(expected, rel=1e-12, abs=1e-15)
    order = np.random.default_rng(seed).permutation(len(labels))
    other = tp.det_curve_of_pairs(np.array(labels)[order], np.array(scores)[order])
    assert other.to_dict() == curve.to_dict()
    assert curve.to_dict() == json.loads(curve.to_json())


def test_scores_that_are_all_tied() -> None:
    """Programs that cut between tied scores print 1.0 (sentence-transformers before it compared tied scores)."""
    curve = tp.det_curve_of_pairs([1, 0], [0.5, 0.5])
    assert curve.best_accuracy == tp.BestThreshold(0.5, 1.0, np.inf)  # accepting none is as good as accepting all
    assert curve.best_f1 == tp.BestThreshold(2 / 3, 1.0, 0.5)
    assert curve.to_dict()["best_accuracy"]["threshold"] is None  # JSON has no infinity
    assert curve.eer.threshold == 0.5
    assert tp.det_curve_of_pairs([1, 0], [-0.0, 0.0]).thresholds.tolist() == [np.inf, 0.0]
    assert tp.det_curve_of_pairs([True, False], [2, 1]).to_dict() == tp.det_curve_of_pairs([1, -1], [2, 1]).to_dict()


def test_at_a_threshold_between_scores_and_beyond_them() -> None:
    curve = tp.det_curve_of_pairs([1, 1, 0, 0], [0.9, 0.5, 0.5, 0.1])
    assert curve.at(0.3) == tp.Decisions(0.3, 0.75, 2 / 3, 1.0, 0.8)
    assert curve.at(np.inf) == tp.Decisions(np.inf, 0.5, 0.0, 0.0, 0.0)
    assert curve.at(-1).recall == 1.0
    assert tp.det_curve([0.1, 0.5], [0.5, 0.9]).at(0.3) == tp.Decisions(0.3, 0.75, 1.0, 0.5, 2 / 3)


def test_quotients_that_round_to_one_float() -> None:
    """2 (n - 1) / (2 n - 1) is less than 2 n / (2 n + 1), by less than float64 shows."""
    n = 2**54
    curve = tp.DetCurve(np.array([-np.inf, 1.0, 2.0]), np.array([0, 0, 1]), np.array([n, 1, 0]))
    assert curve.best_f1.threshold == 2.0


@pytest.mark.heavy
@pytest.mark.parametrize("tied", [False, True])
def test_as_scikit_learn_and_sentence_transformers(tied: bool) -> None:
    from sentence_transformers.sentence_transformer.evaluation import BinaryClassificationEvaluator
    from sklearn import metrics

    random = np.random.default_rng(31)
    labels = random.integers(0, 2, size=300)
    scores = random.normal(size=300) + labels
    scores = scores.round(1) if tied else scores
    curve = tp.det_curve_of_pairs(labels, scores)
    for threshold in (*np.unique(scores)[::7].tolist(), 0.123):
        accept, found = scores >= threshold, curve.at(threshold)
        assert found.accuracy == pytest.approx(metrics.accuracy_score(labels, accept), rel=1e-14)
        assert found.precision == pytest.approx(metrics.precision_score(labels, accept), rel=1e-14)
        assert found.recall == pytest.approx(metrics.recall_score(labels, accept), rel=1e-14)
        assert found.f1 == pytest.approx(metrics.f1_score(labels, accept), rel=1e-14)
    precision, recall, _ = metrics.precision_recall_curve(labels, scores)
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-300)
    assert curve.best_f1.lower == pytest.approx(f1.max(), rel=1e-12)
    found_f1 = BinaryClassificationEvaluator.find_best_f1_and_threshold(scores, labels, True)
    found_accuracy = BinaryClassificationEvaluator.find_best_acc_and_threshold(scores, labels, True)
    assert (curve.best_accuracy.lower, curve.best_f1.lower) == pytest.approx((found_accuracy[0], found_f1[0]))
    assert curve.auc.expected == pytest.approx(metrics.roc_auc_score(labels, scores), rel=1e-12)
    whole = metrics.average_precision_score(labels, scores)  # one step for each tie
    assert curve.average_precision.lower - 1e-12 <= whole <= curve.average_precision.upper + 1e-12
    if not tied:
        assert curve.average_precision.expected == pytest.approx(whole, rel=1e-12)


# Folds


def folded(labels: Sequence[int], scores: Sequence[int], folds: Sequence[int]) -> tuple[Fraction, Fraction]:
    """The means of the smallest and the largest accuracy of each fold over all thresholds that are best elsewhere."""

    def right(fold: int, own: bool, threshold: float) -> tuple[int, int]:
        chosen = [(y, s) for y, s, f in zip(labels, scores, folds, strict=True) if (f == fold) == own]
        return sum((s >= threshold) == y for y, s in chosen), len(chosen)

    distinct = sorted(set(scores))
    thresholds = [distinct[0] - 1, *((low + high) / 2 for low, high in pairwise(distinct)), distinct[-1] + 1]
    lower, upper = [], []
    for fold in set(folds):
        most = max(right(fold, False, threshold)[0] for threshold in thresholds)
        best = [threshold for threshold in thresholds if right(fold, False, threshold)[0] == most]
        shares = [Fraction(*right(fold, True, threshold)) for threshold in best]
        lower.append(min(shares))
        upper.append(max(shares))
    return sum(lower, Fraction(0)) / len(lower), sum(upper, Fraction(0)) / len(upper)


@pytest.mark.parametrize("seed", range(12))
def test_folds_by_all_thresholds(seed: int) -> None:
    labels, scores = drawn(seed + 100)
    folds = [0, 1, *np.random.default_rng(seed).integers(0, 3, size=len(labels) - 2).tolist()]
    found = tp.det_curve_of_pairs(labels, scores, folds=folds).fold_accuracy
    assert found is not None
    assert (found.lower, found.upper) == pytest.approx(tuple(map(float, folded(labels, scores, folds))), rel=1e-15)


def test_consecutive_folds_as_of_lfw() -> None:
    """The thresholds that are best for the others: (0.2, 0.4] and (0.6, 0.8]; (0.1, 0.4], (0.6, 0.9]; (0.2, 0.8]."""
    curve = tp.det_curve_of_pairs([1, 0, 1, 0, 1, 0], [0.9, 0.1, 0.8, 0.2, 0.4, 0.6], folds=3)
    found = curve.fold_accuracy
    assert found is not None
    assert [(fold.lower, fold.upper) for fold in found.folds] == [(1.0, 1.0), (0.5, 1.0), (0.0, 0.5)]
    assert (found.lower, found.upper) == (0.5, 2.5 / 3)
    assert found.standard_error == pytest.approx(0.5 / 3**0.5)  # the deviation of 1, 0.5 and 0 is 0.5
    assert "0.2887" in str(curve)
    assert curve.to_dict()["fold_accuracy"]["lower"] == 0.5
    assert json.loads(curve.to_json()) == curve.to_dict()


def test_more_folds_than_pairs() -> None:
    labels, scores = [1, 0, 1, 0], [0.9, 0.1, 0.8, 0.2]
    each = tp.det_curve_of_pairs(labels, scores, folds=range(4)).fold_accuracy
    assert tp.det_curve_of_pairs(labels, scores, folds=2**64).fold_accuracy == each


# Embeddings


@pytest.mark.parametrize("distance", fnmr_oracle.DISTANCES)
@pytest.mark.parametrize("name", HARD_SETS)
def test_pairs_of_embeddings(name: str, distance: str) -> None:
    random = np.random.default_rng(32)
    first, second, labels = *(HARD_SETS[name](random, (9, 3)) for _ in range(2)), np.arange(9) % 2
    rows, items = ([list(map(Fraction, row)) for row in side.tolist()] for side in (first, second))
    keys = fnmr_oracle.pairs(distance, rows, items, [(at, at, bool(labels[at])) for at in range(9)])
    try:
        distances = [[fnmr_oracle.distance(distance, key) for key in each] for each in keys]
    except OverflowError:
        return
    if not np.isfinite([*distances[0], *distances[1]]).all():
        return
    found = tp.det_curve_of_pairs(labels, embeddings=(first, second), distance=distance)
    assert found.to_dict() == tp.det_curve(*distances).to_dict()


def test_pairs_of_codes() -> None:
    first, second = np.random.default_rng(33).integers(0, 2, size=(2, 40, 16)).astype(bool)
    labels, distances = np.arange(40) % 2, (first != second).sum(axis=1)
    expected = tp.det_curve(distances[labels == 1], distances[labels == 0]).to_dict()
    packed = (np.packbits(first, axis=1), np.packbits(second, axis=1))
    for rows, bits in (((first, second), None), (packed, 16)):
        found = tp.det_curve_of_pairs(labels, embeddings=rows, distance="hamming", bits=bits)
        assert found.to_dict() == expected


# Files of trials

SCORES = "a.wav b.wav 0.9\na.wav c.wav 0.8\nd.wav e.wav 0.4\na.wav d.wav 0.7\nb.wav e.wav 0.2\nc.wav e.wav 0.1\n"
NAMES = [line.split()[:2] for line in SCORES.splitlines()]
LABELS = (1, 1, 1, 0, 0, 0)
FORMS = {
    "VoxCeleb": "".join(f"{label} {a} {b}\n" for label, (a, b) in zip(LABELS, NAMES, strict=True)),
    "Kaldi": "".join(
        f"{a} {b} {'target' if label else 'nontarget'}\n" for label, (a, b) in zip(LABELS, NAMES, strict=True)
    ),
    "tabs": "".join(f"{a}\t{b}\t{label}\n" for label, (a, b) in zip(LABELS, NAMES, strict=True)),
    "commas, blank lines and CR": "\ufeff\r\n"
    + "".join(f"{a}, {b}, {label}\r\n\r\n" for label, (a, b) in zip(LABELS, NAMES, strict=True)),
}


@pytest.mark.parametrize("form", FORMS)
def test_files_of_trials(form: str, tmp_path: Path) -> None:
    """Accepting scores from 0.7 on, one of three targets is missed and one of three others accepted: EER 1/3."""
    trials, scores = tmp_path / "trials.txt", tmp_path / "scores.txt.gz"
    trials.write_bytes(FORMS[form].encode())
    lines = sorted(SCORES.splitlines())  # in another order than the trials
    scores.write_bytes(gzip.compress("\n".join(lines).encode()))
    curve = tp.det_curve_of_pairs(trials, scores)
    assert curve.eer.lower == curve.eer.upper == 1 / 3
    assert curve.to_dict() == tp.det_curve_of_pairs(str(scores), str(trials)).to_dict()
    assert curve.to_dict() == tp.det_curve_of_pairs(LABELS, [0.9, 0.8, 0.4, 0.7, 0.2, 0.1]).to_dict()


@pytest.mark.parametrize("number", ["Similarity", "dist"])
def test_a_table_of_pairs(number: str, tmp_path: Path) -> None:
    """Whatever else it has; of distances, which are 1 minus the scores here, the thresholds are distances."""
    scores = [0.75, 0.5, 0.5, 0.25]
    values = scores if number == "Similarity" else [1 - score for score in scores]
    rows = [
        f"a{at};b{at};{value};{label}" for at, (value, label) in enumerate(zip(values, [1, 1, 0, 0], strict=True))
    ]
    (tmp_path / "pairs.csv").write_text("\n".join([f"file1;file2;{number};target", *rows]), encoding="utf-8")
    curve = tp.det_curve_of_pairs(tmp_path / "pairs.csv")
    expected = tp.det_curve_of_pairs([1, 1, 0, 0], scores)
    assert (curve.eer, curve.auc) == (expected.eer, expected.auc)
    assert curve.best_accuracy.threshold == (0.75 if number == "Similarity" else 0.25)
    frame = pd.DataFrame({"score": scores, "label": [1, 1, 0, 0]})
    assert tp.det_curve_of_pairs(frame).to_dict() == expected.to_dict()


def test_scores_of_no_trials_and_trials_that_occur_twice(tmp_path: Path) -> None:
    trials, scores = tmp_path / "trials.txt", tmp_path / "scores.txt"
    trials.write_text(FORMS["VoxCeleb"] + FORMS["VoxCeleb"], encoding="utf-8")
    scores.write_text(SCORES + "x y 7\np q 0.3\n", encoding="utf-8")
    with pytest.warns(InputWarning, match=r"no trials of .*trials\.txt \(2\)"):
        curve = tp.det_curve_of_pairs(trials, scores)
    assert (curve.relevant_pairs, curve.other_pairs) == (6, 6)


@pytest.mark.parametrize(
    ("trials", "scores", "message"),
    [
        ("1 a b\n2 a c\n", "a b 0.5\na c 0.5\n", r"trials.txt has '2 a c' on line 2, but a label \(1, 0"),
        ("1 a b\n0 a c\n", "a b 0.5\na c high\n", r"scores.txt has 'a c high' on line 2, but a score is expected"),
        ("1 a b\n0 a\n", "a b 0.5\n", r"trials.txt has 2 cells on line 2, but three are expected"),
        ("1 a b\n0 a c\n", "a b 0.5\n", r"no score for 1 of the 2 trials of .*, such as 'a c' on line 2"),
        ("1 a b\n0 a c\n", "a b 0.5\n\na b 0.5\na c 1\n", r"the pair 'a b' on line 1 and on line 3"),
        ("1 a b\n0 a c\n", "a b nan\na c 1\n", r"scores must contain only finite numbers"),
        ("1 a b\n1 a c\n", "a b 0.5\na c 1\n", r"no other pairs"),
        ("\n\n", "a b 0.5\n", r"trials.txt has 0 cells on line 1"),
    ],
)
def test_refused_trials(trials: str, scores: str, message: str, tmp_path: Path) -> None:
    for name, content in (("trials.txt", trials), ("scores.txt", scores)):
        (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        tp.det_curve_of_pairs(tmp_path / "trials.txt", tmp_path / "scores.txt")
