"""`det_curve`: the error rates and decisions of a verification system at every threshold, from its pairs."""

import os
from dataclasses import replace
from typing import Any, cast

import numpy as np

from tieproof.analyses.rates.curve import DetCurve, OfSubjects
from tieproof.analyses.rates.decisions import FoldAccuracy
from tieproof.analyses.rates.fnmr import as_both_distances, as_distances, check_counts
from tieproof.distances import DistanceName
from tieproof.distances.gauge import SpaceGauge
from tieproof.errors import InputError, about
from tieproof.evaluation.problems import ArgumentSide, as_budget, in_memory, make_search
from tieproof.inputs.arrays import as_array, as_numbers, check_count
from tieproof.inputs.labels import as_labels
from tieproof.inputs.mapped import unchanged_files
from tieproof.inputs.options import check_whole
from tieproof.inputs.readers import trials
from tieproof.inputs.scored_tables import is_table, labels_and_scores
from tieproof.ties import BoolArray, FloatArray, IntArray


@unchanged_files
def det_curve(relevant: Any, others: Any, *, subjects: tuple[Any, Any] | None = None) -> DetCurve:
    """Compute both error rates of a verification system at every threshold, from the distances of pairs.

    Parameters
    ----------
    relevant, others : arrays of any shape, smaller is nearer
        The distances of the relevant pairs (genuine, target, mated) and of all other pairs (impostor, non-target,
        non-mated). They are compared as the numbers given. For scores, where larger is nearer, pass -scores.
    subjects : (of the relevant pairs, of the other pairs), a name for each pair, for `curve.interval`
        The person or speaker to whom the pair belongs; of two different ones, the one who is compared (the probe).

    Returns
    -------
    DetCurve
        `curve.eer`, `curve.tar(0.001)`, `curve.min_dcf(0.05)`, `curve.fmr`, `curve.fnmr`, `curve.plot()`.

    Raises
    ------
    InputError
        If a distance is not finite or is an integer beyond 2^53, if an array is empty, or if subjects are missing;
        also if one array holds only 0 and 1 and the other has as many numbers, as labels and scores of scikit-learn.

    Notes
    -----
    The curve of embeddings, whose pairs are too many for an array, is counted by `fnmr_at_fmr(curve=True)`.

    Examples
    --------
    >>> import tieproof as tp
    >>> curve = tp.det_curve([0.1, 0.2, 0.3, 0.5, 0.5], [0.5, 0.5, 0.7, 0.8, 0.9])
    >>> curve.eer.lower, curve.eer.interpolated, curve.eer.upper
    (0.0, 0.2, 0.4)
    >>> curve.tar(0.1).lower, curve.min_dcf(0.05)
    (0.6, Bounds(lower=0.0, upper=0.4))

    """
    near, far = as_both_distances(relevant, others, "det_curve")
    curve, place = _curve(np.concatenate([near, far]), np.arange(len(near) + len(far)) < len(near))
    if subjects is None:
        return curve
    return replace(curve, _pairs=_of_subjects(subjects, tuple(np.split(place, [len(near)]))))


@unchanged_files
def det_curve_of_pairs(
    labels: Any,
    scores: Any = None,
    *,
    embeddings: tuple[Any, Any] | None = None,
    distance: DistanceName | str = "cosine",
    bits: int | None = None,
    folds: Any = None,
) -> DetCurve:
    """Compute the error rates and decisions of a verification system at every threshold, from labels and scores.

    Parameters
    ----------
    labels : (n,) 1 for relevant pairs (genuine, target, duplicates), and 0 or -1 for all others
        Or the path of a list of trials, with lines such as `1 a.wav b.wav` or `a.wav b.wav target`; or alone, a table
        as `evaluate_scores` takes it, such as a file with the columns label and score.
    scores : (n,) larger is nearer
        Or the path of a file with lines `a.wav b.wav score`. The two files may be exchanged, and packed.
    embeddings : two arrays (n, d), the first and the second item of each pair, instead of scores
        Their distances are rounded once to float64.
    distance, bits :
        Of embeddings, as in `evaluate`; the name of a distance.
    folds : a number of folds of consecutive pairs, such as 10, or (n,) the fold of each pair
        For `curve.fold_accuracy`, at thresholds that are chosen on other folds.

    Returns
    -------
    DetCurve
        As `det_curve` returns it. Its thresholds are scores if scores were given, and otherwise distances.

    Raises
    ------
    InputError
        If labels have other values or one value only, if a number is not finite or is an integer beyond 2^53, if the
        numbers of labels, scores and folds differ, or if a trial has no score or a pair several.

    Examples
    --------
    >>> import tieproof as tp
    >>> curve = tp.det_curve_of_pairs([1, 1, 0, 0], [0.9, 0.5, 0.5, 0.1])
    >>> curve.best_accuracy
    BestThreshold(lower=0.75, upper=1.0, threshold=0.9)
    >>> curve.best_f1.lower, curve.at(0.5).precision, curve.average_precision.lower
    (0.8, 0.6666666666666666, 0.8333333333333333)
    >>> tp.det_curve_of_pairs([1, 0], embeddings=([[1.0, 0.0], [1.0, 0.0]], [[2.0, 0.0], [0.0, 1.0]])).eer.upper
    0.0

    """
    similar = embeddings is None
    if scores is None and embeddings is None and is_table(labels):
        labels, scores, are_distances = labels_and_scores(labels)
        similar = not are_distances
    files = [isinstance(each, str | os.PathLike) for each in (labels, scores)]
    if (scores is None) == (embeddings is None) or len(set(files)) > 1:
        raise InputError(
            "Pass labels with either scores or embeddings=, the paths of trials and scores, or a table with both.",
            "scores",
        )
    if any(files):
        labels, scores = trials.read(labels, scores)
    with about("scores" if embeddings is None else "embeddings"):
        distances = as_distances(scores, "scores") if embeddings is None else _of_rows(embeddings, distance, bits)
    with about("labels", "scores"):
        given = as_numbers(labels, "labels").ravel()
        check_count(len(given), "labels", len(distances), "pairs")
        check_counts(int((given == 1).sum()), int((given != 1).sum()))
        if not any(np.isin(given, values).all() for values in ((0, 1), (-1, 1))):
            raise InputError(f"The labels of pairs must be 1 and 0, or 1 and -1, not {given.min()} to {given.max()}.")
    curve, place = _curve(-distances if similar else distances, given == 1)
    if similar:
        curve = replace(curve, thresholds=0.0 - curve.thresholds)
    if folds is None:
        return curve
    with about("folds", "labels"):
        if not np.ndim(folds):
            check_whole("folds", folds, 2)
            folds = np.arange(len(given)) * min(int(folds), len(given)) // len(given)
        numbers = np.unique(as_labels(folds, len(given), "folds", "pairs", columns=False), return_inverse=True)[1]
        if not numbers.any():
            raise InputError("All pairs are in one fold, but its threshold is chosen on other folds. Pass several.")
    return replace(
        curve, fold_accuracy=FoldAccuracy.of(curve.thresholds, np.where(given == 1, 1, -1), place, numbers)
    )


def _of_rows(embeddings: Any, distance: str, bits: int | None) -> FloatArray:
    """The distances of pairs of rows, each rounded once."""
    if not isinstance(embeddings, tuple | list) or len(embeddings) != 2 or not isinstance(distance, str):
        raise InputError(
            "embeddings must be two arrays, the first and the second item of each pair, and distance a name. Of a "
            "function, pass minus what it returns as scores."
        )
    first, second = map(ArgumentSide, embeddings)
    search = in_memory(make_search(first, second, distance, as_budget("1GiB", None), bits=bits))
    gauge = cast(SpaceGauge, search.gauge())
    check_count(len(gauge.identity[1]), "second items", len(gauge.identity[0]), "first items")
    return gauge.distances(*gauge.identity)


def _curve(distances: FloatArray, relevant: BoolArray) -> tuple[DetCurve, IntArray]:
    """The curve of pairs, and the number of the threshold that is the first to accept each."""
    distinct, place = np.unique(distances + 0.0, return_inverse=True)  # no negative zeros
    place, count = place + 1, len(distinct) + 1
    accepted, matches = (np.bincount(place[chosen], minlength=count).cumsum() for chosen in (relevant, ~relevant))
    return DetCurve(np.append(-np.inf, distinct), matches, accepted[-1] - accepted), place


def _of_subjects(subjects: Any, threshold: Any) -> OfSubjects:
    if not isinstance(subjects, tuple | list) or len(subjects) != 2:
        raise InputError(
            "subjects must be two arrays, the subject of each relevant pair and that of each other pair, not "
            f"{type(subjects).__name__}.",
            "subjects",
        )
    given = [as_array(each, "subjects").ravel().tolist() for each in subjects]
    for each, places, what in zip(given, threshold, ("relevant", "other"), strict=True):
        check_count(len(each), "subjects", len(places), f"{what} pairs")
    names = as_labels(given[0] + given[1], len(given[0]) + len(given[1]), "subjects", "pairs", columns=False)
    known, number = np.unique(names, return_inverse=True)
    of_relevant, of_others = np.split(number, [len(given[0])])
    return OfSubjects(len(known), threshold, (of_relevant, of_others))
