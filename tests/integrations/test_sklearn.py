"""tieproof.integrations.sklearn, compared with scikit-learn's scores and with every ordering of ties."""

import itertools
import pickle
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest

import tieproof as tp

matplotlib.use("Agg")
import matplotlib.pyplot as plt

pytest.importorskip("sklearn")
import pandas as pd
import sklearn
from scipy import sparse
from sklearn import metrics
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_multilabel_classification
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from tieproof.integrations.sklearn import TieIntervalDisplay, TieproofScorer, tieproof_scorer

PAGE = Path(__file__).parents[2] / "docs" / "integrations" / "scikit_learn.md"

pytestmark = pytest.mark.heavy
needs_page = pytest.mark.skipif(not PAGE.exists(), reason="no docs beside the tests")

Score = Callable[[Any, Any], float]


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    plt.close("all")


def over_orderings(score: Score, y: Any, values: Any) -> tuple[float, float, float]:
    """Lowest, mean and highest score of scikit-learn over all orderings of one ranking's tied items."""
    places = np.arange(len(values))
    orders = (order for order in itertools.permutations(places) if (np.diff(values[list(order)]) <= 0).all())
    found = []
    for order in orders:
        strict = np.empty(len(values))
        strict[list(order)] = -places
        found.append(score(y, strict))
    return min(found), float(np.mean(found)), max(found)


def cancer() -> tuple[Any, Any, Any]:
    X, y = load_breast_cancer(return_X_y=True)
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y), X, y


def as_numbers(estimate: tp.Estimate[float]) -> list[float]:
    return [estimate.lower, estimate.expected, estimate.upper]


def test_a_constant_classifier() -> None:
    X, y = np.zeros((5, 1)), np.array([1, 0, 0, 0, 0])
    constant = DummyClassifier().fit(X, y)
    assert metrics.get_scorer("average_precision")(constant, X, y) == pytest.approx(0.2)
    mean = sum(1 / rank for rank in range(1, 6)) / 5
    assert tieproof_scorer("AP")(constant, X, y) == pytest.approx(0.2)
    assert tieproof_scorer("AP", bound="expected")(constant, X, y) == pytest.approx(mean)
    assert tieproof_scorer("AP", bound="upper")(constant, X, y) == 1


@pytest.mark.parametrize(
    ("measure", "score"), [("AP", metrics.average_precision_score), ("AUC", metrics.roc_auc_score)]
)
def test_two_classes_over_all_orderings(measure: str, score: Score) -> None:
    X, y = np.array([[0], [0], [0], [1], [1], [2], [2]]), np.array([0, 1, 0, 1, 0, 1, 1])
    tree = DecisionTreeClassifier().fit(X, y)
    result = tieproof_scorer(measure).evaluate(tree, X, y)
    assert as_numbers(result[measure]) == pytest.approx(over_orderings(score, y, tree.predict_proba(X)[:, 1]))


def test_two_classes_without_ties() -> None:
    model, X, y = cancer()
    assert tieproof_scorer("AP")(model, X, y) == pytest.approx(metrics.get_scorer("average_precision")(model, X, y))
    assert tieproof_scorer("AUC")(model, X, y) == pytest.approx(metrics.get_scorer("roc_auc")(model, X, y))
    names = np.array(["ill", "well"])[y]
    model.fit(X, names)
    for positive in ("ill", "well"):
        expected = metrics.make_scorer(
            metrics.average_precision_score, response_method="decision_function", pos_label=positive
        )(model, X, names)
        for method in ("decision_function", "predict_proba"):
            scorer = tieproof_scorer("AP", pos_label=positive, response_method=method)
            assert scorer(model, X, names) == pytest.approx(expected)


def test_area_under_ties_is_what_is_expected() -> None:
    _, X, y = cancer()
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    scorer = tieproof_scorer("AUC", bound="interval")
    found = scorer(tree, X, y)
    assert isinstance(found, dict)
    assert found["auc_expected"] == pytest.approx(metrics.get_scorer("roc_auc")(tree, X, y))
    assert found["auc_lower"] < found["auc_expected"] < found["auc_upper"]


@pytest.mark.parametrize("k", [1, 2, 3])
def test_more_classes(k: int) -> None:
    X, y = load_digits(return_X_y=True)
    names = np.array(list("abcdefghij"))[y]
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=500)).fit(X[:900], names[:900])
    theirs = metrics.top_k_accuracy_score(names[900:], model.decision_function(X[900:]), k=k)
    assert tieproof_scorer(f"Success@{k}")(model, X[900:], names[900:]) == pytest.approx(theirs)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    theirs = metrics.top_k_accuracy_score(y, tree.predict_proba(X), k=k)
    result = tieproof_scorer(f"Success@{k}").evaluate(tree, X, y)
    assert result[f"Success@{k}"].lower <= theirs <= result[f"Success@{k}"].upper


def test_more_classes_over_all_orderings() -> None:
    X, y = np.array([[0], [0], [0], [1], [1], [2]]), np.array([0, 1, 2, 1, 2, 0])
    tree = DecisionTreeClassifier().fit(X, y)
    result = tieproof_scorer("nDCG").evaluate(tree, X, y)
    one_hot = np.eye(3)[y]
    rows = zip(one_hot, tree.predict_proba(X), strict=True)
    by_sample = [over_orderings(lambda a, b: metrics.ndcg_score([a], [b]), *row) for row in rows]
    assert as_numbers(result["nDCG"]) == pytest.approx(np.mean(by_sample, axis=0))
    assert result["nDCG"].expected == pytest.approx(metrics.ndcg_score(one_hot, tree.predict_proba(X)))


def test_a_class_of_no_training_sample_is_never_found() -> None:
    X, y = np.arange(6.0)[:, None], np.array(["a", "b", "c", "a", "b", "c"])
    model = LogisticRegression().fit(X, y)
    known = tieproof_scorer("AP")(model, X, y)
    assert isinstance(known, float)
    assert tieproof_scorer("AP")(model, np.append(X, X, axis=0), [*y, *"dddddd"]) == pytest.approx(known / 2)


def multilabel() -> tuple[Any, Any]:
    X, y = make_multilabel_classification(n_samples=80, n_classes=4, allow_unlabeled=False, random_state=0)
    return X, y


class SometimesNaN(LogisticRegression):  # type: ignore[misc]
    """A classifier that returns one NaN for 33 samples, and none for 34."""

    def decision_function(self, samples: Any) -> Any:
        scores = super().decision_function(samples)
        scores[0] = np.nan if len(samples) == 33 else scores[0]
        return scores


@pytest.mark.filterwarnings("ignore:(?s)Scoring failed:UserWarning", "ignore:One or more of the test:UserWarning")
def test_some_folds_that_cannot_be_ranked() -> None:
    X, y = load_iris(return_X_y=True)
    data = X[:100], y[:100]
    bounds = {bound: tieproof_scorer("AP", bound=bound) for bound in ("lower", "upper")}
    for scoring, refit in ((bounds, "lower"), (tieproof_scorer("AP"), True)):
        search = GridSearchCV(SometimesNaN(), {"C": [1]}, scoring=scoring, refit=refit, cv=3, n_jobs=2).fit(*data)
        name = "lower" if scoring is bounds else "score"
        failed = [np.isnan(search.cv_results_[f"split{fold}_test_{name}"][0]) for fold in range(3)]
        assert failed == [False, True, True]
    together = tieproof_scorer("AP", bound="interval")
    with pytest.raises(TypeError, match="'float' object is not subscriptable"):  # as the page says
        GridSearchCV(SometimesNaN(), {"C": [1]}, scoring=together, refit="ap_lower", cv=3).fit(*data)


def test_auc_without_negative_samples_is_that_of_the_page() -> None:
    found = TieIntervalDisplay.from_predictions([1, 1], [0.1, 0.2], measures=["AUC"]).result["AUC"]
    with pytest.warns(UndefinedMetricWarning):
        assert np.isnan(metrics.roc_auc_score([1, 1], [0.1, 0.2]))
    assert found.lower == found.upper == 1


def test_samples_without_labels_are_left_out_and_counted_there() -> None:
    X, y = multilabel()
    y[:20] = 0
    classifier = OneVsRestClassifier(LogisticRegression()).fit(X, y)
    scores, counted = classifier.decision_function(X), 60 / 80
    found = TieIntervalDisplay.from_predictions(y, scores, measures=["AP", "nDCG"]).result
    ranking_precision = metrics.label_ranking_average_precision_score(y, scores)
    assert ranking_precision == pytest.approx(counted * found["AP"].expected + (1 - counted), rel=1e-12)
    assert metrics.ndcg_score(y, scores) == pytest.approx(counted * found["nDCG"].expected, rel=1e-12)


@pytest.mark.parametrize("of_labels", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_labels_in_columns(of_labels: Any) -> None:
    X, y = multilabel()
    model = OneVsRestClassifier(LogisticRegression()).fit(X, y)
    scores = model.decision_function(X)
    theirs = metrics.label_ranking_average_precision_score(y, scores)
    assert tieproof_scorer("AP")(model, X, of_labels(y)) == pytest.approx(theirs)
    assert tieproof_scorer("nDCG")(model, X, of_labels(y)) == pytest.approx(metrics.ndcg_score(y, scores))


def test_labels_whose_probabilities_are_tables() -> None:
    X, y = multilabel()
    y[:, 3] = 0  # for this label, the forest knows only one class
    forest = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, y)
    assert forest.predict_proba(X)[3].shape == (80, 1)
    columns = np.column_stack([table[:, 1] for table in forest.predict_proba(X)[:3]] + [np.zeros(80)])
    some = y.any(axis=1)
    theirs = metrics.ndcg_score(y[some], columns[some])
    assert tieproof_scorer("nDCG", bound="expected")(forest, X, y) == pytest.approx(theirs)


def test_embeddings() -> None:
    X, y = load_iris(return_X_y=True)
    X = X + np.random.default_rng(0).normal(scale=1e-3, size=X.shape)
    pca = PCA(2).fit(X)
    nearest = NearestNeighbors(n_neighbors=1).fit(pca.transform(X)).kneighbors(return_distance=False)[:, 0]
    scorer = tieproof_scorer("P@1", distance="euclidean")
    assert scorer(pca, X, y) == pytest.approx((y[nearest] == y).mean())
    names = np.array(["s", "v", "g"])[y]
    expected = tp.evaluate(pca.transform(X), y, distance="euclidean", measures=["P@1"])["P@1"].lower
    for labels in (names, pd.Series(names), pd.Series(names, dtype="category"), names.tolist(), pd.DataFrame(names)):
        assert scorer(pca, X, labels) == expected
    assert scorer(PCA(2).set_output(transform="pandas").fit(X), X, y) == expected
    columns = np.eye(3, dtype=int)[y]
    assert scorer(pca, X, columns) == scorer(pca, X, sparse.csr_array(columns)) == expected


def test_the_response_method_that_is_chosen() -> None:
    X, y = load_iris(return_X_y=True)
    both = LinearDiscriminantAnalysis().fit(X, y)
    by_classes, by_items = tieproof_scorer("AP"), tieproof_scorer("AP", response_method="transform")
    assert by_classes.evaluate(both, X, y).setting.gallery == 3
    assert by_items.evaluate(both, X, y).setting.distance == "cosine"
    probabilities = tieproof_scorer("AP", response_method="predict_proba").evaluate(both, X, y)
    assert probabilities.setting.distance == "scores"


def test_sparse_embeddings() -> None:
    texts = ["red cat", "red dog", "blue cat", "blue dog"]
    assert tieproof_scorer("P@1")(TfidfVectorizer().fit(texts), texts, ["red", "red", "blue", "blue"]) == 0
    scorer = tieproof_scorer("P@1", bound="upper")
    assert scorer(TfidfVectorizer().fit(texts), texts, ["red", "red", "blue", "blue"]) == 1


def test_detectors_of_outliers_and_regressors() -> None:
    X = np.append(np.random.default_rng(0).normal(size=(50, 2)), np.full((5, 2), 6.0), axis=0)
    inlier = np.repeat([1, -1], [50, 5])
    forest = IsolationForest(random_state=0).fit(X)
    theirs = metrics.roc_auc_score(inlier, forest.decision_function(X))
    assert tieproof_scorer("AUC", bound="expected")(forest, X, inlier) == pytest.approx(theirs)
    grades = (X[:, 0] > 0) + (X[:, 0] > 1.0)
    for y in (grades, grades / 2):
        ridge = Ridge().fit(X[:, 1:], y)
        theirs = metrics.ndcg_score([y], [ridge.predict(X[:, 1:])])
        assert tieproof_scorer("nDCG", bound="expected")(ridge, X[:, 1:], y) == pytest.approx(theirs)
    ridge = Ridge().fit(X, inlier)
    theirs = metrics.roc_auc_score(inlier, ridge.predict(X))
    assert tieproof_scorer("AUC", pos_label=1)(ridge, X, inlier) == pytest.approx(theirs)
    names = np.where(inlier > 0, "in", "out")
    by_name = tieproof_scorer("AUC", pos_label="in", bound="expected")
    assert by_name(forest, X, names) == tieproof_scorer("AUC", bound="expected")(forest, X, inlier)


def test_searches_and_folds() -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:200], y[:200]
    bits = make_pipeline(PCA(random_state=0), FunctionTransformer(np.sign))
    scorer = tieproof_scorer("P@1")
    search = GridSearchCV(bits, {"pca__n_components": [4, 8]}, scoring=scorer, cv=3, n_jobs=2).fit(X, y)
    means = search.cv_results_["mean_test_score"]
    for components, mean in zip((4, 8), means, strict=True):
        model = clone(bits).set_params(pca__n_components=components)
        assert cross_val_score(model, X, y, scoring=scorer, cv=3).mean() == pytest.approx(mean)
    assert search.score(X, y) == scorer(search.best_estimator_, X, y)
    interval = tieproof_scorer("P@1", bound="interval")
    search = GridSearchCV(bits, {"pca__n_components": [4, 8]}, scoring=interval, refit="p_at_1_lower", cv=3)
    found = search.fit(X, y).cv_results_
    np.testing.assert_array_equal(found["mean_test_p_at_1_lower"], means)
    assert (found["mean_test_p_at_1_lower"] < found["mean_test_p_at_1_upper"]).all()
    assert isinstance(clone(search).scoring, TieproofScorer)
    assert "bound='interval'" in repr(search)
    several = cross_validate(bits, X, y, scoring={"lower": scorer, "all": tieproof_scorer("AP", bound="upper")}, cv=3)
    assert {"test_lower", "test_all"} <= several.keys()
    two = cross_validate(bits, X, y, scoring=tieproof_scorer(["P@1", "AP"], bound="expected"), cv=3)
    assert [name for name in two if "test_" in name] == ["test_p_at_1_expected", "test_ap_expected"]


@pytest.mark.parametrize("scoring", ["one", "several", "beside another"])
def test_with_metadata_routing(scoring: str) -> None:
    X, y = load_iris(return_X_y=True)
    weights = np.linspace(0, 1, len(y))
    scorer: Any = tieproof_scorer(["AP", "nDCG"]) if scoring == "several" else tieproof_scorer("AP")
    with sklearn.config_context(enable_metadata_routing=True):
        if scoring == "beside another":
            weighted = metrics.make_scorer(metrics.accuracy_score).set_score_request(sample_weight=True)
            scorer = {"ours": scorer, "theirs": weighted}
        model = LogisticRegression(max_iter=1000).set_fit_request(sample_weight=True)
        found = cross_validate(model, X, y, scoring=scorer, params={"sample_weight": weights})
        GridSearchCV(model, {"C": [1.0, 2.0]}, scoring=scorer, refit=False).fit(X, y, sample_weight=weights)
    assert not any(np.isnan(values).any() for values in found.values())


def test_importance_of_features() -> None:
    model, X, y = cancer()
    found = permutation_importance(model, X, y, scoring=tieproof_scorer("AP"), n_repeats=1, random_state=0)
    assert found.importances_mean.shape == (30,)


def test_scorers_travel() -> None:
    scorer = tieproof_scorer(["AP", tp.P @ 5], bound="upper", distance="l2", pos_label=1)
    assert repr(scorer) == "tieproof_scorer(['AP', 'P@5'], bound='upper', distance='l2', pos_label=1)"
    assert repr(tieproof_scorer("map")) == "tieproof_scorer('AP')"
    assert eval(repr(scorer)) == scorer == pickle.loads(pickle.dumps(scorer)) == clone(scorer, safe=False)
    assert hash(tieproof_scorer()) == hash(tieproof_scorer("AP"))


X, Y = np.arange(6.0)[:, None], np.array([0, 1, 0, 1, 1, 0])
LOGISTIC = LogisticRegression().fit(X, Y)
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "an unknown measure": (lambda: tieproof_scorer("accuracy"), "accuracy"),
    "an unknown bound": (lambda: tieproof_scorer(bound="mean"), "Known: lower, expected, upper, interval"),
    "an unknown response": (lambda: tieproof_scorer(response_method="score"), "Known: auto, transform"),
    "an unknown distance": (lambda: tieproof_scorer(distance="cosin"), "Nearest: cosine"),
    "no labels": (lambda: tieproof_scorer()(LOGISTIC, X), "y is missing"),
    "predicted classes": (
        lambda: tieproof_scorer(response_method="predict")(LOGISTIC, X, Y),
        "returns classes, which rank nothing",
    ),
    "no such method": (
        lambda: tieproof_scorer(response_method="transform")(LOGISTIC, X, Y),
        "LogisticRegression has no transform",
    ),
    "nothing to rank by": (lambda: tieproof_scorer()(NearestNeighbors().fit(X), X, Y), "has no transform and no"),
    "a class out of the training": (
        lambda: tieproof_scorer()(LOGISTIC, X, Y + 1),
        "y contains 2, but the classifier",
    ),
    "labels of another type": (lambda: tieproof_scorer()(LOGISTIC, X, list("ababab")), "labels of different types"),
    "no such class": (lambda: tieproof_scorer(pos_label=7)(LOGISTIC, X, Y), "pos_label=7 is not one of"),
    "one class": (lambda: tieproof_scorer()(DummyClassifier().fit(X, Y * 0), X, Y), "fitted with only the class 0"),
    "one column for pairs of classes": (
        lambda: tieproof_scorer()(
            SVC(decision_function_shape="ovo").fit(X, [0, 1, 2, 3, 0, 1]), X, [0, 1, 2, 3, 0, 1]
        ),
        r"shape \(6, 4\), \(samples, classes\), not \(6, 6\)",
    ),
    "no sample of the positive class": (
        lambda: tieproof_scorer()(LOGISTIC, X, Y * 0),
        "None of 6 samples is of the positive class 1.*Stratified",
    ),
    "no sample of a class that is named": (
        lambda: TieIntervalDisplay.from_predictions(["a", "b"], [0.1, 0.2], pos_label="c"),
        "None of 2 samples is of the positive class 'c'",
    ),
    "no samples": (lambda: TieIntervalDisplay.from_predictions([], []), "None of 0 samples is of the positive class"),
    "no grade": (lambda: tieproof_scorer()(DummyRegressor().fit(X, Y), X, Y * 0), "None of 6 samples has a grade ab"),
    "a positive class of three": (
        lambda: tieproof_scorer(pos_label=1)(LogisticRegression().fit(X, X[:, 0] // 2), X, X[:, 0] // 2),
        "pos_label=1 is only for two classes, but here 3 classes are ranked for each sample",
    ),
    "a positive class of embeddings": (
        lambda: tieproof_scorer(pos_label=1)(PCA(1).fit(X), X, Y),
        "pos_label=1 is only for two classes, but here every sample is ranked for the others",
    ),
    "a positive class of labels": (
        lambda: tieproof_scorer(pos_label=1)(
            KNeighborsClassifier(1).fit(X, np.stack([Y, 1 - Y], 1)), X, np.stack([Y, 1 - Y], 1)
        ),
        "pos_label=1 is only for two classes, but here labels are ranked for each sample",
    ),
    "a positive class of columns": (
        lambda: TieIntervalDisplay.from_predictions([0, 1, 2], np.eye(3), pos_label=1),
        "pos_label=1 is only for two classes, but here 3 classes",
    ),
    "a positive class of columns of labels": (
        lambda: TieIntervalDisplay.from_predictions(np.eye(3, dtype=int), np.eye(3), pos_label=1),
        "pos_label=1 is only for two classes, but here labels",
    ),
    "names of one column": (
        lambda: TieIntervalDisplay.from_predictions([0, 1], [0.1, 0.2], labels=[0, 1]),
        "labels= names the columns .* but here the scores are one column",
    ),
    "names of columns of labels": (
        lambda: TieIntervalDisplay.from_predictions(np.eye(3, dtype=int), np.eye(3), labels=[0, 1, 2]),
        "y_true has columns of its own",
    ),
    "negative grades": (
        lambda: tieproof_scorer()(DummyRegressor().fit(X, Y), X, Y - 1),
        "at least 0, but contains -1",
    ),
    "columns for one value": (
        lambda: tieproof_scorer()(IsolationForest().fit(X), X, np.stack([Y, Y], 1)),
        r"needs y of shape \(samples,\), not \(6, 2\)\. Pass one column",
    ),
    "names of outliers": (
        lambda: tieproof_scorer()(IsolationForest().fit(X), X, list("ababab")),
        "y contains 'a', 'b', but it is not known which class is positive",
    ),
    "several outputs for one column": (
        lambda: tieproof_scorer()(KNeighborsClassifier(1).fit(X, np.stack([Y, Y], 1)), X, Y),
        "2 outputs, but y has only one column",
    ),
    "columns of classes": (
        lambda: tieproof_scorer()(
            KNeighborsClassifier(1).fit(X, np.stack([Y, Y + 1], 1)), X, np.stack([Y, Y + 1], 1)
        ),
        "must contain only 0 and 1",
    ),
    "probabilities of both classes": (
        lambda: TieIntervalDisplay.from_predictions(Y, LOGISTIC.predict_proba(X)),
        r"y_score\[:, 1\]",
    ),
    "too few columns of classes": (
        lambda: TieIntervalDisplay.from_predictions([0, 1, 2], np.zeros((3, 2))),
        r"shape \(3, 2\), but there are 3 classes",
    ),
    "a class that has no column": (
        lambda: TieIntervalDisplay.from_predictions([0, 1, 7], np.zeros((3, 3)), labels=[0, 1, 2]),
        "y_true contains 7, which is not in",
    ),
    "too few scores": (
        lambda: TieIntervalDisplay.from_predictions(Y, [0.5]),
        "number of scores is 1, but the number of samples is 6",
    ),
    "scores of NaN": (lambda: TieIntervalDisplay.from_predictions(Y, [0.5] * 5 + [np.nan]), r"nan at \[5\]"),
    "infinite scores of classes": (
        lambda: TieIntervalDisplay.from_predictions([0, 1, 2], [[0, 1, 2], [0, 1, np.inf], [0, 1, 2]]),
        r"inf at \[1, 2\]",
    ),
    "one class that is ranked": (
        lambda: TieIntervalDisplay.from_predictions([0, 0, 0], np.zeros((3, 1))),
        r"classes \[0\], but at least two different classes are needed",
    ),
    "a class twice": (
        lambda: TieIntervalDisplay.from_predictions([0, 1, 1], np.eye(3), labels=[0, 1, 1]),
        r"classes \[0, 1, 1\], but at least two different",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str) -> None:
    call, says = REFUSED[case]
    with pytest.raises(tp.InputError, match=says):
        call()


def test_display_of_an_estimator() -> None:
    model, X, y = cancer()
    display = TieIntervalDisplay.from_estimator(model, X, y, measures=["AP", "AUC"])
    assert display.result["AUC"].expected == pytest.approx(metrics.get_scorer("roc_auc")(model, X, y))
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["AP", "AUC"]
    assert display.figure_ is display.ax_.figure
    _, ax = plt.subplots()
    assert display.plot(ax=ax) is display
    assert display.ax_ is ax


def test_display_of_predictions() -> None:
    tree = DecisionTreeClassifier(max_depth=2).fit(*load_iris(return_X_y=True))
    X, y = load_iris(return_X_y=True)
    scores = tree.predict_proba(X)
    of_predictions = TieIntervalDisplay.from_predictions(y, scores, measures="nDCG").result
    assert of_predictions["nDCG"] == tieproof_scorer("nDCG").evaluate(tree, X, y)["nDCG"]
    some = y < 2
    with_labels = TieIntervalDisplay.from_predictions(y[some], scores[some], measures="nDCG", labels=[0, 1, 2]).result
    assert with_labels["nDCG"].expected == pytest.approx(metrics.ndcg_score(np.eye(3)[y[some]], scores[some]))
    X, y = multilabel()
    model = OneVsRestClassifier(LogisticRegression()).fit(X, y)
    of_labels = TieIntervalDisplay.from_predictions(y, model.decision_function(X), measures=["AP"]).result
    theirs = metrics.label_ranking_average_precision_score(y, model.decision_function(X))
    assert of_labels["AP"].lower == pytest.approx(theirs)
    of_names = TieIntervalDisplay.from_predictions(list("aabb"), [1, 2, 3, 3], measures="AP", pos_label="b")
    assert of_names.result["AP"].lower == 1
    assert TieIntervalDisplay(of_labels).plot().figure_ is not None


WITH_TIES: dict[str, tuple[str, Score]] = {
    "average_precision_score": ("AP", metrics.average_precision_score),
    "label_ranking_average_precision_score": (
        "AP",
        lambda y, scores: metrics.label_ranking_average_precision_score([y], [scores]),
    ),
    "roc_auc_score": ("AUC", metrics.roc_auc_score),
    "ndcg_score": ("nDCG", lambda y, scores: metrics.ndcg_score([y], [scores])),
    "ndcg_score(ignore_ties=True)": ("nDCG", lambda y, scores: metrics.ndcg_score([y], [scores], ignore_ties=True)),
    "top_k_accuracy_score(k=1)": (
        "Success@1",
        lambda y, scores: metrics.top_k_accuracy_score([np.argmax(y)], [scores], k=1, labels=range(5)),
    ),
}


@needs_page
def test_the_page_runs(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = PAGE.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for code in re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL):
        exec(code, names)
    said = capsys.readouterr().out
    assert all(block in said for block in re.findall(r"```text\n(.*?)```", page, flags=re.DOTALL))
    assert [path.name for path in tmp_path.iterdir()] == ["intervals.png"]


@needs_page
def test_lines_of_the_page_give_the_same_number() -> None:
    """Without ties, and also with a row of Y in which nothing is relevant, where a line says how it counts."""
    random = np.random.default_rng(0)
    y, s, classes = random.integers(0, 2, 30), random.permutation(30) / 30, np.arange(20)
    Y, S = random.integers(0, 2, (20, 20)), random.permuted(np.tile(classes / 20, (20, 1)), axis=1)
    lines = re.findall(r"^\| `(\w+\(.*?\))`.*?\| `(tp\..*?)` \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(lines) == 6
    for theirs, ours in lines:
        names = {"tp": tp, "y": random.permutation(20) if "top_k" in theirs else y, "s": s, "Y": Y, "S": S}
        if "empty" in ours:
            names["Y"] = np.vstack([0 * Y[:1], Y[1:]])
        ((_, found),) = eval(ours, {**names, "classes": classes}).items()
        assert found.lower == found.upper == pytest.approx(eval(theirs, {**vars(metrics), **names}), rel=1e-12), (
            theirs
        )


@needs_page
def test_the_table_of_ties() -> None:
    rows = re.findall(
        r"^\| `(.*?)` \| .*? \| (0\.\d{4}) \| (.*?) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    y, scores = np.array([1, 0, 0, 0, 0]), np.zeros(5)
    found = []
    for name, (measure, score) in WITH_TIES.items():
        estimate = tp.evaluate_scores([scores], [y], measures=[measure])[measure]
        assert as_numbers(estimate) == pytest.approx(over_orderings(score, y, scores))
        found.append((name, f"{score(y, scores):.4f}", f"{estimate:.4f}"))
    assert rows == found


def test_weights_of_samples_are_refused_in_words() -> None:
    model, X, y = cancer()
    scorer = tieproof_scorer("AP")
    assert scorer(model, X, y, sample_weight=None) == scorer(model, X, y)
    with pytest.raises(tp.InputError, match=r"tieproof_scorer has no sample_weight: every query .* counts alike"):
        scorer(model, X, y, sample_weight=np.ones(len(y)))
