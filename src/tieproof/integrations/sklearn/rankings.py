"""What scikit-learn's estimators rank, and how that is evaluated.

One ranking of all samples by their scores for the positive class, where there are two classes, as
`average_precision_score` and `roc_auc_score` have it. A ranking of the classes for each sample where there are more,
as `top_k_accuracy_score` has it, or of the labels, as `label_ranking_average_precision_score` and `ndcg_score` do.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tieproof.calls.lists import evaluate_scores
from tieproof.errors import InputError
from tieproof.inputs.arrays import as_numbers, check_count
from tieproof.inputs.labels import as_label_array, check_types
from tieproof.results.results import Result
from tieproof.ties import Array

Measures = Sequence[str]


def dense(values: Any) -> Any:
    """A sparse matrix as an array of all its numbers; anything else as it is."""
    return values.toarray() if hasattr(values, "toarray") else values


def rank_samples(y: Array, scores: Any, positive: Any, measures: Measures) -> Result:
    """One ranking of all samples: those of the positive class are relevant.

    y : (n,) the class of each sample
    scores : (n,) larger is more probably positive
    """
    relevant = np.asarray(y == positive, dtype=np.int64)
    if y.ndim == 1 and not relevant.any():
        raise InputError(
            f"None of {len(y)} samples is of the positive class {positive!r}, so there is nothing to find. Choose "
            "the folds so that every class is in each, for example with StratifiedKFold, or another pos_label."
        )
    return rank_graded(relevant, scores, measures)


def rank_graded(grades: Array, scores: Any, measures: Measures) -> Result:
    """One ranking of all samples, each relevant with its grade (n,), by their scores (n,)."""
    numbers = as_numbers(scores, "scores")
    if numbers.ndim != 1:
        raise InputError(
            "One ranking of all samples needs one score for each, and the scores arrived with the shape "
            f"{numbers.shape}. Of the probabilities of two classes pass those of the positive one, y_score[:, 1]."
        )
    if grades.ndim != 1:
        raise InputError(
            f"One ranking of all samples needs one column of y, and it arrived with the shape {grades.shape}."
        )
    check_count(len(numbers), "scores", len(grades), "samples")
    check_finite(numbers)
    if not grades.any():
        raise InputError(f"None of {len(grades)} samples has a grade above 0, so there is nothing to find.", "y")
    return evaluate_scores(numbers[None], grades[None], measures=measures)


def rank_classes(y: Array, scores: Any, classes: Array, measures: Measures) -> Result:
    """For each sample a ranking of the classes, of which its own is relevant; 0 where that is none of them.

    y : (n,) the class of each sample
    scores : (n, c) larger is more probably this class
    classes : (c,) those of the columns
    """
    check_types(y, classes, "labels in y", "classes of the scores")
    return evaluate_scores(
        scores_of_columns(scores, (len(y), len(classes)), "classes"),
        np.asarray(y[:, None] == classes, dtype=np.int8),
        measures=measures,
        empty="zero",
    )


def rank_labels(y: Array, scores: Any, measures: Measures) -> Result:
    """For each sample a ranking of the labels, of which its own are relevant; samples without any are left out.

    y : (n, c) of 0 and 1
    scores : (n, c) larger is more probably one of the sample's
    """
    if not np.isin(y, (0, 1)).all():
        raise InputError(f"y has the shape {y.shape}, one column for each label, and must hold only 0 and 1.")
    return evaluate_scores(scores_of_columns(scores, y.shape, "labels"), y, measures=measures)


def scores_of_columns(scores: Any, shape: tuple[int, ...], columns: str) -> Array:
    """The scores as numbers, refused where they have another shape."""
    numbers = as_numbers(scores, "scores")
    if numbers.shape != shape:
        raise InputError(
            f"The scores must have the shape {shape}, (samples, {columns}), and arrived with {numbers.shape}."
        )
    check_finite(numbers)
    return numbers


def check_finite(scores: Array) -> None:
    """Refuse NaN and infinity, by the sample that has them."""
    wrong = np.argwhere(~np.isfinite(scores))
    if len(wrong):
        place = tuple(wrong[0].tolist())
        raise InputError(
            f"The scores must be finite numbers, and sample {place[0]} has {scores[place]}. Find out why the "
            "estimator gave it, and leave the sample out or repair it."
        )


def as_target(y: Any) -> Array:
    """The classes (n,) or the columns of labels (n, c) that arrived as `y`, of any kind that scikit-learn takes."""
    target = as_label_array(dense(y), "labels in y")
    if target.ndim == 2 and target.shape[1] == 1:
        return target[:, 0]
    if target.ndim not in (1, 2):
        raise InputError(f"y must have the shape (samples,) or (samples, labels), and arrived with {target.shape}.")
    return target


def refuse_pos_label(pos_label: Any, ranked: str) -> None:
    """Refuse a positive class where no two classes are told apart."""
    if pos_label is not None:
        raise InputError(
            f"pos_label={pos_label!r} is for two classes, and here {ranked}. Leave it out, or pass y as the two "
            "classes that are told apart.",
            "pos_label",
        )


def positive_label(y: Array, pos_label: Any) -> Any:
    """The label of the positive class where no classifier knows it, by the rule of scikit-learn.

    >>> positive_label(np.array([0, 1]), None), positive_label(np.array(["ham", "spam"]), "spam")
    (1, 'spam')
    """
    if pos_label is not None:
        return pos_label
    if y.dtype.kind in "US" or not (np.isin(y, (0, 1)).all() or np.isin(y, (-1, 1)).all()):
        found = ", ".join(map(repr, np.unique(y)[:4].tolist()))
        raise InputError(
            f"y holds {found}, and which of them is positive is not known. Pass pos_label=, or labels 0 and 1.",
            "pos_label",
        )
    return 1
