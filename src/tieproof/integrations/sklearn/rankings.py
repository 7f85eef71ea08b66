"""The rankings that scores of scikit-learn's estimators define, and their evaluation.

With two classes, all samples are ranked by their scores for the positive class, as in `average_precision_score` and
`roc_auc_score`. With more classes, each sample ranks the classes, as in `top_k_accuracy_score`. With labels, each
sample ranks the labels, as in `label_ranking_average_precision_score` and `ndcg_score`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from tieproof import Result, evaluate, evaluate_scores
from tieproof.errors import InputError
from tieproof.inputs.arrays import as_numbers
from tieproof.inputs.labels import check_types
from tieproof.kit import Array, DistanceFunction, as_label_array, check_count, check_finite

Measures = Sequence[str]


def _dense(values: Any) -> Any:
    """A sparse matrix as a dense array; anything else unchanged."""
    return values.toarray() if hasattr(values, "toarray") else values


def _rank_samples(y: Array, scores: Any, positive: Any, measures: Measures) -> Result:
    """One ranking of all samples by scores (n,), in which those of the positive class in y (n,) are relevant."""
    relevant = np.asarray(y == positive, dtype=np.int64)
    if y.ndim == 1 and not relevant.any():
        raise InputError(
            f"None of {len(y)} samples is of the positive class {positive!r}, so there is nothing to find. Choose "
            "the folds so that each fold has every class, for example with StratifiedKFold, or pass another "
            "pos_label."
        )
    return _rank_graded(relevant, scores, measures)


def _rank_graded(grades: Array, scores: Any, measures: Measures) -> Result:
    """One ranking of all samples by their scores (n,), with their grades of relevance (n,)."""
    numbers = as_numbers(scores, "scores")
    if numbers.ndim != 1:
        raise InputError(
            f"One ranking of all samples needs one score for each sample, but the scores have shape {numbers.shape}. "
            "From the probabilities of two classes pass the column of the positive class, y_score[:, 1]."
        )
    if grades.ndim != 1:
        raise InputError(
            f"One ranking of all samples needs y of shape (samples,), not {grades.shape}. Pass one column of y."
        )
    check_count(len(numbers), "scores", len(grades), "samples")
    check_finite(numbers, "scores")
    if not grades.any():
        raise InputError(
            f"None of {len(grades)} samples has a grade above 0, so there is nothing to find. Check y.", "y"
        )
    return evaluate_scores(numbers[None], grades[None], measures=measures)


def _rank_classes(y: Array, scores: Any, classes: Array, measures: Measures) -> Result:
    """A ranking of the classes (c,) by the scores (n, c) of each sample, in which its own, in y (n,), is relevant.

    A sample of another class scores 0.
    """
    check_types(y, classes, "labels in y", "classes of the scores")
    return evaluate_scores(
        _scores_of_columns(scores, (len(y), len(classes)), "classes"),
        np.asarray(y[:, None] == classes, dtype=np.int8),
        measures=measures,
        empty="zero",
    )


def _rank_labels(y: Array, scores: Any, measures: Measures) -> Result:
    """A ranking of the labels by the scores (n, c) of each sample, in which those with 1 in y (n, c) are relevant."""
    if not np.isin(y, (0, 1)).all():
        raise InputError(f"y of shape {y.shape} has one column for each label, so it must contain only 0 and 1.")
    return evaluate_scores(_scores_of_columns(scores, y.shape, "labels"), y, measures=measures)


def _scores_of_columns(scores: Any, shape: tuple[int, ...], columns: str) -> Array:
    """The scores as numbers; another shape is refused."""
    numbers = as_numbers(scores, "scores")
    if numbers.shape != shape:
        raise InputError(f"The scores must have shape {shape}, (samples, {columns}), not {numbers.shape}.")
    check_finite(numbers, "scores")
    return numbers


def _as_target(y: Any) -> Array:
    """The classes (n,) or the columns of labels (n, c) from `y` in any form that scikit-learn accepts."""
    target = as_label_array(_dense(y), "labels in y")
    if target.ndim == 2 and target.shape[1] == 1:
        return target[:, 0]
    if target.ndim not in (1, 2):
        raise InputError(f"y must have shape (samples,) or (samples, labels), not {target.shape}.")
    return target


def _refuse_pos_label(pos_label: Any, ranked: str) -> None:
    """Refuse a positive class where samples are not ranked by two classes."""
    if pos_label is not None:
        raise InputError(
            f"pos_label={pos_label!r} is only for two classes, but here {ranked}. Leave pos_label out, or pass y "
            "with two classes.",
            "pos_label",
        )


def _positive_label(y: Array, pos_label: Any) -> Any:
    """The positive class if no classifier defines it, by the rule of scikit-learn."""
    if pos_label is not None:
        return pos_label
    if y.dtype.kind in "US" or not (np.isin(y, (0, 1)).all() or np.isin(y, (-1, 1)).all()):
        classes = ", ".join(map(repr, np.unique(y)[:4].tolist()))
        raise InputError(
            f"y contains {classes}, but it is not known which class is positive. Pass pos_label=, or labels 0 and 1.",
            "pos_label",
        )
    return 1


RESPONSES = ("auto", "transform", "decision_function", "predict_proba", "predict")


def evaluate_estimator(
    estimator: Any,
    X: Any,
    y: Any,
    measures: Measures,
    response_method: str,
    distance: str | DistanceFunction,
    pos_label: Any,
) -> Result:
    """The result of a fitted estimator on samples X with labels y; the options are those of `tieproof_scorer`."""
    method = _method_of(estimator, response_method)
    if y is None:
        raise InputError("y is missing: pass the label of each sample, which defines what is relevant.", "y")
    response = getattr(estimator, method)(X)
    if method == "transform":
        _refuse_pos_label(pos_label, "every sample is ranked for the others of its label")
        return evaluate(_dense(response), _as_target(y), distance=distance, measures=measures)
    if is_regressor(estimator) and pos_label is None:
        grades = as_numbers(_dense(y), "grades in y")
        if grades.size and grades.min() < 0:
            raise InputError(
                f"For a regressor, y must contain the samples' grades of at least 0, but contains {grades.min()}. "
                "Pass grades, or classes and pos_label=.",
                "y",
            )
        return _rank_graded(grades, _dense(response), measures)
    target = _as_target(y)
    if is_classifier(estimator):
        return _evaluate_classifier(estimator.classes_, target, response, measures, pos_label)
    return _rank_samples(target, _dense(response), _positive_label(target, pos_label), measures)


def _method_of(estimator: Any, asked: str) -> str:
    """The requested method, or for "auto" the first available one.

    A classifier gives scores of classes, a regressor its predictions, and any other estimator embeddings or, like
    outlier detectors, scores.
    """
    name = type(estimator).__name__
    if asked != "auto":
        methods: tuple[str, ...] = (asked,)
    elif is_classifier(estimator):
        methods = ("decision_function", "predict_proba")
    elif is_regressor(estimator):
        methods = ("predict",)
    else:
        methods = ("transform", "decision_function")
    if methods == ("predict",) and is_classifier(estimator):
        raise InputError(
            f"predict of the classifier {name} returns classes, which rank nothing. Pass response_method="
            "'decision_function', 'predict_proba' or 'auto'.",
            "response_method",
        )
    for method in methods:
        if hasattr(estimator, method):
            return method
    raise InputError(
        f"{name} has no {' and no '.join(methods)}, so there is nothing to rank. Pass an estimator with one of them, "
        "or another response_method.",
        "response_method",
    )


def _evaluate_classifier(classes: Any, y: Array, response: Any, measures: Measures, pos_label: Any) -> Result:
    """The result of a classifier from its response; `classes` is a list of arrays if it has several outputs."""
    if y.ndim == 2:
        _refuse_pos_label(pos_label, "labels are ranked for each sample")
        return _rank_labels(y, _scores_of_labels(classes, response), measures)
    if isinstance(classes, list):
        raise InputError(
            f"The classifier has {len(classes)} outputs, but y has only one column. Pass one column for each output."
        )
    known = as_label_array(classes, "classes_ of the classifier")
    if len(known) < 2:
        raise InputError(
            f"The classifier was fitted with only the class {known.tolist()[0]!r}, so its scores rank nothing. Fit "
            "it with at least two classes."
        )
    if len(known) > 2:
        _refuse_pos_label(pos_label, f"{len(known)} classes are ranked for each sample")
        return _rank_classes(y, response, known, measures)
    check_types(y, known, "labels in y", "classes of the classifier")
    unknown = np.setdiff1d(y, known)
    if len(unknown):
        raise InputError(
            f"y contains {unknown.tolist()[0]!r}, but the classifier was fitted with {known.tolist()} only. Choose "
            "the folds so that each fold has every class, for example with StratifiedKFold."
        )
    positive = known.tolist()[1] if pos_label is None else pos_label
    if positive not in known.tolist():
        raise InputError(
            f"pos_label={positive!r} is not one of the classes {known.tolist()}. Pass one of them.", "pos_label"
        )
    scores, place = np.asarray(response), int(np.argmax(known == positive))
    if scores.ndim == 2:
        scores = _scores_of_columns(scores, (len(scores), 2), "classes")[:, place]
    elif place == 0:  # a single column has the scores of the second class
        scores = -scores
    return _rank_samples(y, scores, positive, measures)


def _scores_of_labels(classes: Any, response: Any) -> Array:
    """The scores of every label as columns, also from a list of tables; a label without training samples has 0."""
    if not isinstance(response, list):
        return np.asarray(response)
    columns = [
        table[:, list(known).index(1)] if 1 in known else np.zeros(len(table))
        for known, table in zip(classes, response, strict=True)
    ]
    return np.stack(columns, axis=1)


def evaluate_predictions(y_true: Any, y_score: Any, measures: list[str], labels: Any, pos_label: Any) -> Result:
    """The result of these scores; their shape determines what they rank."""
    y, scores = _as_target(y_true), as_numbers(_dense(y_score), "scores")
    if labels is not None and (y.ndim == 2 or scores.ndim == 1):
        raise InputError(
            "labels= names the columns of the scores of classes, but here "
            f"{'y_true has columns of its own' if y.ndim == 2 else 'the scores are one column'}. Leave labels= out.",
            "labels",
        )
    if y.ndim == 2:
        _refuse_pos_label(pos_label, "labels are ranked for each sample")
        return _rank_labels(y, scores, measures)
    if scores.ndim == 1:
        return _rank_samples(y, scores, _positive_label(y, pos_label), measures)
    classes = np.unique(y) if labels is None else as_label_array(labels, "labels")
    if len(np.unique(classes)) < max(2, len(classes)):
        raise InputError(
            f"The columns of the scores belong to the classes {classes.tolist()}, but at least two different classes "
            "are needed. Pass all ranked classes as labels=, each once.",
            "labels",
        )
    if scores.ndim != 2 or scores.shape[1] != len(classes):
        raise InputError(
            f"The scores have shape {scores.shape}, but there are {len(classes)} classes. Pass one column for each "
            "class, and labels= if y_true does not contain all classes."
        )
    if len(classes) == 2:
        raise InputError(
            "The scores have two columns for two classes, but one column is enough. Pass the column of the positive "
            "class, y_score[:, 1]."
        )
    check_types(y, classes, "labels in y_true", "labels of the scores")
    _refuse_pos_label(pos_label, f"{len(classes)} classes are ranked for each sample")
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise InputError(
            f"y_true contains {unknown.tolist()[0]!r}, which is not in labels={classes.tolist()}. Add it to labels=.",
            "labels",
        )
    return _rank_classes(y, scores, classes, measures)
