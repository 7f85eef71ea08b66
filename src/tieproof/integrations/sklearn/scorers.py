"""Scorers for the argument `scoring=` of scikit-learn."""

from collections.abc import Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any, Self, get_args

from tieproof import Result
from tieproof.distances import reported
from tieproof.errors import InputError
from tieproof.evaluation.pictures import plot_measures
from tieproof.integrations.sklearn.rankings import RESPONSES, evaluate_estimator, evaluate_predictions
from tieproof.kit import Bound, DistanceFunction, check_choice, parse_scores
from tieproof.measures import DEFAULT_MEASURES, Measure

_BOUNDS = (*get_args(Bound), "interval")


def tieproof_scorer(
    measures: Sequence[str | Measure] = "AP",
    *,
    bound: str = "lower",
    response_method: str = "auto",
    distance: str | DistanceFunction = "cosine",
    pos_label: Any = None,
) -> "TieproofScorer":
    """Make a scorer for `cross_validate`, `GridSearchCV` and every other function with the argument `scoring=`.

    The response and y determine what is ranked:

    - Embeddings: every sample queries all the others, and the samples with its label are relevant.
    - Scores of two classes: all samples are ranked once, and the samples of the positive class are relevant.
    - Scores of more classes, or of labels (y in columns of 0 and 1): each sample ranks the classes, and its own are
      relevant. A class that the classifier was not fitted with is never found, and the sample scores 0.
    - One value for each sample: all samples are ranked once; y has two classes or the samples' grades.

    Parameters
    ----------
    measures : a name such as "P@1", or several names
    bound : "lower", "expected", "upper" or "interval"
        Which value over all orderings of tied items is the score; with "lower", ties never pay. With one measure and
        one bound the scorer returns a float. With "interval" or several measures it returns a dictionary of floats
        with the names of `Result.to_flat_dict`, such as "p_at_1_lower"; a search then needs `refit="p_at_1_lower"`.
    response_method : "auto", "transform", "decision_function", "predict_proba" or "predict"
        The method of the estimator that is called. "auto" calls `decision_function`, or else `predict_proba`, of a
        classifier; `predict` of a regressor; and `transform`, or else `decision_function`, of any other estimator.
    distance :
        The distance between the embeddings that `transform` returns, as in `tieproof.evaluate`.
    pos_label :
        The positive one of two classes; by default the second of `classes_`, or 1.

    Raises
    ------
    InputError
        At once for unknown names, and when the scorer is called if the data defines no ranking.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    >>> cross_val_score(tree, X, y, scoring=tieproof_scorer("Success@1"))
    array([0.33333333, 0.33333333, 0.33333333, 0.33333333, 0.33333333])
    >>> cross_val_score(tree, X, y, scoring=tieproof_scorer("Success@1", bound="upper"))
    array([1., 1., 1., 1., 1.])

    """
    names = tuple(map(str, parse_scores(measures)))
    check_choice("bound", bound, _BOUNDS)
    check_choice("response_method", response_method, RESPONSES)
    reported(distance)  # refuses an unknown name now instead of in every fold
    return TieproofScorer(names, bound, response_method, distance, pos_label)


@dataclass(frozen=True, repr=False)
class TieproofScorer:
    """The scorer that `tieproof_scorer` returns; call it with a fitted estimator, X and y.

    Scorers with the same options are equal. Scorers can be copied and pickled, so they can be sent to other
    processes. Its fields are the arguments of `tieproof_scorer`.
    """

    measures: tuple[str, ...]
    bound: str
    response_method: str
    distance: str | DistanceFunction
    pos_label: Any

    def __call__(self, estimator: Any, X: Any, y: Any = None, **metadata: Any) -> float | dict[str, float]:
        """The score (larger is better), or several scores by their names; sample_weight and the like are refused."""
        if given := [name for name, value in metadata.items() if value is not None]:
            raise InputError(
                f"tieproof_scorer has no {', '.join(given)}: every query of a ranking counts alike, and so does "
                "every item. Leave it out.",
                given[0],
            )
        result = self.evaluate(estimator, X, y)
        if self.bound == "interval":
            return result.to_flat_dict()
        if len(result) > 1:
            return {name: value for name, value in result.to_flat_dict().items() if name.endswith(f"_{self.bound}")}
        (estimate,) = result.values()
        return float(getattr(estimate, self.bound))

    def evaluate(self, estimator: Any, X: Any, y: Any) -> Result:
        """The `Result` of this estimator, from which the score is taken."""
        options = self.measures, self.response_method, self.distance, self.pos_label
        return evaluate_estimator(estimator, X, y, *options)

    def __repr__(self) -> str:
        """The call that makes this scorer, without default arguments."""
        measures, given = self.measures[0] if len(self.measures) == 1 else list(self.measures), vars(self)
        _, *options = signature(tieproof_scorer).parameters.values()
        told = [f", {each.name}={given[each.name]!r}" for each in options if given[each.name] != each.default]
        return f"tieproof_scorer({measures!r}{''.join(told)})"


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
        names = list(map(str, parse_scores(measures)))
        return cls(evaluate_predictions(y_true, y_score, names, labels, pos_label)).plot(ax)
