"""A display, in the style of scikit-learn's displays, that draws a result."""

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
    """A picture of the interval of every measure over all orderings of tied items (extra `plot`).

    result : the result of any evaluation of tieproof; `from_estimator` and `from_predictions` compute one

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
        """Draw into these axes of matplotlib, or into a new figure, and return the display."""
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
        """Evaluate a fitted estimator on samples X with labels y, as `tieproof_scorer` does, and draw the result."""
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
        """Evaluate scores, where larger means more probable, and draw the result.

        y_true : (n,) classes, or (n, c) of 0 and 1, one column for each label
        y_score : (n,) scores of the positive class, for one ranking of all samples; or (n, c) scores of every class
            or label, for a ranking of the classes or labels for each sample
        labels : (c,) the classes of the columns of `y_score`; by default the classes in `y_true`, sorted
        pos_label : the positive class; by default 1 if the other class is 0 or -1
        """
        names = list(map(str, parse_measures(measures)))
        return cls(evaluate_predictions(y_true, y_score, names, labels, pos_label)).plot(ax)


def evaluate_predictions(y_true: Any, y_score: Any, measures: list[str], labels: Any, pos_label: Any) -> Result:
    """The result of these scores; their shape determines what they rank."""
    y, scores = as_target(y_true), as_numbers(dense(y_score), "scores")
    if labels is not None and (y.ndim == 2 or scores.ndim == 1):
        raise InputError(
            "labels= names the columns of the scores of classes, but here "
            f"{'y_true has columns of its own' if y.ndim == 2 else 'the scores are one column'}. Leave labels= out.",
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
    refuse_pos_label(pos_label, f"{len(classes)} classes are ranked for each sample")
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise InputError(
            f"y_true contains {unknown.tolist()[0]!r}, which is not in labels={classes.tolist()}. Add it to labels=.",
            "labels",
        )
    return rank_classes(y, scores, classes, measures)
