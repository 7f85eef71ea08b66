"""Rankings from fitted estimators: which method is called, and what its numbers rank."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier, is_regressor

from tieproof.calls.embeddings import evaluate
from tieproof.distances import DistanceFunction
from tieproof.errors import InputError
from tieproof.inputs.arrays import as_numbers
from tieproof.inputs.labels import as_label_array, check_types
from tieproof.integrations.sklearn.rankings import (
    Measures,
    as_target,
    dense,
    positive_label,
    rank_classes,
    rank_graded,
    rank_labels,
    rank_samples,
    refuse_pos_label,
    scores_of_columns,
)
from tieproof.results.results import Result
from tieproof.ties import Array

RESPONSES = ("auto", "transform", "decision_function", "predict_proba", "predict")


class Asked(NamedTuple):
    """The options of an evaluation of an estimator, which are arguments of scorers and displays.

    measures : the names of the measures
    response_method : one of `RESPONSES`
    distance : the distance between embeddings
    pos_label : the positive one of two classes; None for the second class
    """

    measures: Measures
    response_method: str
    distance: str | DistanceFunction
    pos_label: Any


def evaluate_estimator(estimator: Any, X: Any, y: Any, asked: Asked) -> Result:
    """The result of a fitted estimator on samples X with labels y."""
    method = method_of(estimator, asked.response_method)
    if y is None:
        raise InputError("y is missing: pass the label of each sample, which defines what is relevant.", "y")
    response = getattr(estimator, method)(X)
    if method == "transform":
        refuse_pos_label(asked.pos_label, "every sample is ranked for the others of its label")
        return evaluate(dense(response), as_target(y), distance=asked.distance, measures=asked.measures)
    if is_regressor(estimator) and asked.pos_label is None:
        return evaluate_regressor(y, response, asked)
    target = as_target(y)
    if is_classifier(estimator):
        return evaluate_classifier(estimator.classes_, target, response, asked)
    return rank_samples(target, dense(response), positive_label(target, asked.pos_label), asked.measures)


def method_of(estimator: Any, asked: str) -> str:
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


def evaluate_classifier(classes: Any, y: Array, response: Any, asked: Asked) -> Result:
    """The result of a classifier from its response; `classes` is a list of arrays if it has several outputs."""
    if y.ndim == 2:
        refuse_pos_label(asked.pos_label, "labels are ranked for each sample")
        return rank_labels(y, scores_of_labels(classes, response), asked.measures)
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
        refuse_pos_label(asked.pos_label, f"{len(known)} classes are ranked for each sample")
        return rank_classes(y, response, known, asked.measures)
    check_types(y, known, "labels in y", "classes of the classifier")
    unknown = np.setdiff1d(y, known)
    if len(unknown):
        raise InputError(
            f"y contains {unknown.tolist()[0]!r}, but the classifier was fitted with {known.tolist()} only. Choose "
            "the folds so that each fold has every class, for example with StratifiedKFold."
        )
    positive = known.tolist()[1] if asked.pos_label is None else asked.pos_label
    if positive not in known.tolist():
        raise InputError(
            f"pos_label={positive!r} is not one of the classes {known.tolist()}. Pass one of them.", "pos_label"
        )
    return rank_samples(
        y, scores_of_class(np.asarray(response), int(np.argmax(known == positive))), positive, asked.measures
    )


def scores_of_class(response: Array, place: int) -> Array:
    """The scores of one of two classes, by its index; a single column has the scores of the second class."""
    if response.ndim == 2:
        return scores_of_columns(response, (len(response), 2), "classes")[:, place]
    return response if place else -response


def scores_of_labels(classes: Any, response: Any) -> Array:
    """The scores of every label as columns; some classifiers return a table of probabilities for each label.

    A label that no training sample had has probability 0.
    """
    if not isinstance(response, list):
        return np.asarray(response)
    columns = [
        table[:, list(known).index(1)] if 1 in known else np.zeros(len(table))
        for known, table in zip(classes, response, strict=True)
    ]
    return np.stack(columns, axis=1)


def evaluate_regressor(y: Any, values: Any, asked: Asked) -> Result:
    """The result of a regressor's predictions, where y is the grade of each sample."""
    grades = as_numbers(dense(y), "grades in y")
    if grades.size and grades.min() < 0:
        raise InputError(
            f"For a regressor, y must contain the samples' grades of at least 0, but contains {grades.min()}. Pass "
            "grades, or classes and pos_label=.",
            "y",
        )
    return rank_graded(grades, dense(values), asked.measures)
