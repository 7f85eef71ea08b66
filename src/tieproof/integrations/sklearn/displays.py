"""A display: the picture of a result, as scikit-learn's displays are made."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from tieproof.calls.scoring import parse_measures
from tieproof.distances import DistanceFunction
from tieproof.errors import InputError
from tieproof.inputs.arrays import as_numbers
from tieproof.inputs.labels import as_label_array, check_types
from tieproof.integrations.sklearn.rankings import (
    as_target,
    dense,
    positive_label,
    rank_classes,
    rank_labels,
    rank_samples,
    refuse_pos_label,
)
from tieproof.integrations.sklearn.scorers import tieproof_scorer
from tieproof.measures import DEFAULT_MEASURES, Measure
from tieproof.results.results import Result
from tieproof.views.pictures.measures import plot_measures


class TieIntervalDisplay:
    """The interval of every measure over all orderings of tied items, as a picture (extra `plot`).

    result : of any evaluation of tieproof; `from_estimator` and `from_predictions` make one

    After `plot`, `ax_` are the axes and `figure_` is the figure.

    >>> display = TieIntervalDisplay.from_predictions([1, 0, 0, 1], [0.9, 0.5, 0.1, 0.5], measures=["AP", "AUC"])
    >>> display.result["AUC"]
    Estimate(lower=0.75, expected=0.875, upper=1.0, std=0.125)
    >>> display.figure_ is display.ax_.figure
    True
    """

    def __init__(self, result: Result) -> None:
        self.result = result

    def plot(self, ax: Any = None) -> Self:
        """Draw into these axes of matplotlib, or into those of a new figure, and return the display."""
        self.ax_ = plot_measures(self.result, ax)
        self.figure_ = self.ax_.figure
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        measures: Sequence[str | Measure] = DEFAULT_MEASURES,
        response_method: str = "auto",
        distance: str | DistanceFunction = "cosine",
        pos_label: Any = None,
        ax: Any = None,
    ) -> Self:
        """Evaluate a fitted estimator on samples X with the labels y, as `tieproof_scorer` does, and draw it."""
        scorer = tieproof_scorer(measures, response_method=response_method, distance=distance, pos_label=pos_label)
        return cls(scorer.evaluate(estimator, X, y)).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        measures: Sequence[str | Measure] = DEFAULT_MEASURES,
        labels: Any = None,
        pos_label: Any = None,
        ax: Any = None,
    ) -> Self:
        """Evaluate scores, larger is more probably so, and draw it.

        y_true : (n,) classes, or (n, c) of 0 and 1, one column for each label
        y_score : (n,) scores of the positive class, for one ranking of all samples; or (n, c) scores of every class
            or label, for a ranking of them for each sample
        labels : (c,) the classes of the columns of `y_score`; by default those in `y_true`, sorted
        pos_label : the positive class; by default 1, where the others are 0 or -1
        """
        names = list(map(str, parse_measures(measures)))
        return cls(evaluate_predictions(y_true, y_score, names, labels, pos_label)).plot(ax)


def evaluate_predictions(y_true: Any, y_score: Any, measures: list[str], labels: Any, pos_label: Any) -> Result:
    """The result of these scores; their shape says what they rank."""
    y, scores = as_target(y_true), as_numbers(dense(y_score), "scores")
    if labels is not None and (y.ndim == 2 or scores.ndim == 1):
        raise InputError(
            "labels= names the columns of scores of classes, and here "
            f"{'y_true has columns of its own' if y.ndim == 2 else 'the scores are one column'}. Leave it out.",
            "labels",
        )
    if y.ndim == 2:
        refuse_pos_label(pos_label, "labels are ranked for each sample")
        return rank_labels(y, scores, measures)
    if scores.ndim == 1:
        return rank_samples(y, scores, positive_label(y, pos_label), measures)
    classes = np.unique(y) if labels is None else as_label_array(labels, "labels")
    if len(np.unique(classes)) < max(2, len(classes)):
        raise InputError(
            f"The columns of the scores are those of the classes {classes.tolist()}, and at least two different ones "
            "are needed. Pass all classes that were ranked as labels=, each once.",
            "labels",
        )
    if scores.ndim != 2 or scores.shape[1] != len(classes):
        raise InputError(
            f"The scores arrived with the shape {scores.shape}, and there are {len(classes)} classes. Pass one "
            "column for each class, with labels= where y_true does not hold all of them."
        )
    if len(classes) == 2:
        raise InputError(
            "Two classes have two columns of scores, of which one says all. Pass that of the positive class, "
            "y_score[:, 1]."
        )
    check_types(y, classes, "labels in y_true", "labels of the scores")
    refuse_pos_label(pos_label, f"{len(classes)} classes are ranked for each sample")
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise InputError(
            f"y_true holds {unknown.tolist()[0]!r}, which is none of labels={classes.tolist()}.", "labels"
        )
    return rank_classes(y, scores, classes, measures)
