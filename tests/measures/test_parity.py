"""Other libraries give the same values without ties, and values within the interval with ties."""

import runpy
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import oracle
import tieproof as tp

pytestmark = pytest.mark.heavy

Array = npt.NDArray[Any]
Values = dict[str, Array]
"""The values of another library for every query, by tieproof's names of the measures."""

QUERIES, ITEMS = 40, 60


def rankings(ties: bool) -> tuple[Array, Array]:
    """Scores (q, n), float32 and positive, and grades 0 to 3; every query has a relevant item."""
    random = np.random.default_rng(5)
    if ties:
        scores = random.integers(1, 12, size=(QUERIES, ITEMS)) / 16
    else:
        scores = np.array([random.permutation(ITEMS) + 1 for _ in range(QUERIES)]) / 64
    grades = random.choice([0, 0, 0, 0, 1, 2, 3], size=(QUERIES, ITEMS))
    grades[:, 0] = 1
    return scores.astype(np.float32), grades


def as_dicts(matrix: Array, kind: Callable[[Any], Any], keep: Array | None = None) -> dict[str, dict[str, Any]]:
    kept = np.ones_like(matrix, dtype=bool) if keep is None else keep
    return {
        f"q{q:03}": {f"d{d:03}": kind(row[d]) for d in np.flatnonzero(wanted)}
        for q, (row, wanted) in enumerate(zip(matrix, kept, strict=True))
    }


def pytrec_eval(scores: Array, grades: Array) -> Values:
    library = pytest.importorskip("pytrec_eval")
    names = {
        "map": "AP",
        "map_cut_10": "AP@10",
        "map_cut_100": "AP@100",  # beyond the list
        "P_5": "P@5",
        "P_100": "P@100",
        "recall_5": "R@5",
        "relative_P_5": "RelP@5",
        "Rprec": "Rprec",
        "recip_rank": "RR",
        "success_5": "Success@5",
        "ndcg": "nDCG",
        "ndcg_cut_10": "nDCG@10",
    }
    evaluator = library.RelevanceEvaluator(as_dicts(grades, int), library.supported_measures)
    found = evaluator.evaluate(as_dicts(scores, float))
    return {ours: np.array([found[q][theirs] for q in sorted(found)]) for theirs, ours in names.items()}


def ranx(scores: Array, grades: Array) -> Values:
    library = pytest.importorskip("ranx")
    names = {
        "map": "AP",
        "map@10": "AP@10",
        "precision@5": "P@5",
        "recall@5": "R@5",
        "f1@5": "F1@5",
        "r-precision": "Rprec",
        "mrr": "RR",
        "mrr@5": "RR@5",
        "hit_rate@5": "Success@5",
        "ndcg": "nDCG",
        "ndcg@10": "nDCG@10",
        "ndcg_burges": "nDCG(gain=exp)",
        "ndcg_burges@10": "nDCG(gain=exp)@10",
    }
    qrels, run = library.Qrels(as_dicts(grades, int, grades > 0)), library.Run(as_dicts(scores, float))
    found = library.evaluate(qrels, run, list(names), return_mean=False)
    # Its RBP sums grades, and can be above 1; with grades of 1, it is the RBP of Moffat and Zobel.
    binary = library.Qrels(as_dicts((grades > 0).astype(int), int, grades > 0))
    rbp = {"RBP": np.asarray(library.evaluate(binary, run, "rbp.80", return_mean=False))}
    return {ours: np.asarray(found[theirs]) for theirs, ours in names.items()} | rbp


def ir_measures(scores: Array, grades: Array) -> Values:
    library = pytest.importorskip("ir_measures")
    ours = ["AP", "AP@10", "P@5", "R@5", "Rprec", "RR", "RR@5", "Success@5", "nDCG", "nDCG@10"]
    measures = {library.parse_measure(name): name for name in ours} | {library.parse_measure("Accuracy"): "AUC"}
    values: dict[str, dict[str, float]] = {}
    for value in library.iter_calc(list(measures), as_dicts(grades, int), as_dicts(scores, float)):
        values.setdefault(measures[value.measure], {})[value.query_id] = value.value
    return {name: np.array([of[q] for q in sorted(of)]) for name, of in values.items()}


def gdeval(scores: Array, grades: Array) -> Values:
    """ERR of the TREC Web tracks by gdeval, which ir_measures runs: five digits, and queries that are numbers."""
    library = pytest.importorskip("ir_measures")
    if not shutil.which("perl"):
        pytest.skip("needs perl")
    qrels, run = as_dicts(grades, int), as_dicts(scores, float)
    values: dict[str, dict[str, float]] = {}
    for k in (5, 20):
        measure = library.parse_measure(f"ERR@{k}")
        numbered = ({query[1:]: of for query, of in side.items()} for side in (qrels, run))
        for value in library.iter_calc([measure], *numbered):
            values.setdefault(f"ERR@{k}", {})[value.query_id] = value.value
    return {name: np.array([of[q] for q in sorted(of)]) for name, of in values.items()}


def scikit_learn(scores: Array, grades: Array) -> Values:
    library = pytest.importorskip("sklearn.metrics")

    def ndcg(k: int | None, power: bool) -> Array:
        gains = 2.0**grades - 1 if power else grades
        pairs = zip(gains, scores, strict=True)
        return np.array([library.ndcg_score(g[None], s[None], k=k, ignore_ties=True) for g, s in pairs])

    pairs = list(zip(grades > 0, scores, strict=True))
    return {
        "nDCG": ndcg(None, False),
        "nDCG@10": ndcg(10, False),
        "nDCG(gain=exp)@10": ndcg(10, True),
        "AUC": np.array([library.roc_auc_score(relevant, s) for relevant, s in pairs]),
        # The rank of the last relevant item; all items of a tie have the tie's last rank.
        "INP": np.array([relevant.sum() / library.coverage_error(relevant[None], s[None]) for relevant, s in pairs]),
    }


def torchmetrics(scores: Array, grades: Array) -> Values:
    torch = pytest.importorskip("torch")
    library = pytest.importorskip("torchmetrics.functional.retrieval")
    found: dict[str, Callable[[Any, Any], Any]] = {
        "AP": lambda s, t: library.retrieval_average_precision(s, t > 0),
        "AP(norm=hits)@10": lambda s, t: library.retrieval_average_precision(s, t > 0, top_k=10),
        "P@5": lambda s, t: library.retrieval_precision(s, t > 0, top_k=5),
        "R@5": lambda s, t: library.retrieval_recall(s, t > 0, top_k=5),
        "Success@5": lambda s, t: library.retrieval_hit_rate(s, t > 0, top_k=5),
        "RR": lambda s, t: library.retrieval_reciprocal_rank(s, t > 0),
        "RR@5": lambda s, t: library.retrieval_reciprocal_rank(s, t > 0, top_k=5),
        "Rprec": lambda s, t: library.retrieval_r_precision(s, t > 0),
        "nDCG": lambda s, t: library.retrieval_normalized_dcg(s, t),
        "nDCG@10": lambda s, t: library.retrieval_normalized_dcg(s, t, top_k=10),
        "AUC": lambda s, t: library.retrieval_auroc(s, t > 0),
    }
    pairs = [(torch.tensor(s), torch.tensor(g)) for s, g in zip(scores, grades, strict=True)]
    return {name: np.array([float(function(s, t)) for s, t in pairs]) for name, function in found.items()}


LIBRARIES = {
    "pytrec_eval": pytrec_eval,
    "ranx": ranx,
    "ir_measures": ir_measures,
    "gdeval": gdeval,
    "scikit-learn": scikit_learn,
    "torchmetrics": torchmetrics,
}

DIGITS = {"gdeval": 5.1e-6}
"""The tolerance for values that are printed with few digits."""

STILL = {
    "pytrec_eval": {"P@100"},
    "ranx": set(),
    "ir_measures": set(),
    "gdeval": set(),
    "scikit-learn": {"AUC", "INP"},
    "torchmetrics": {"nDCG", "nDCG@10", "AUC"},
}
"""Values that permutations do not change: averages over ties, ends of the interval, no cutoff inside a tie."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", LIBRARIES)
def test_equal_without_ties(library: str) -> None:
    scores, grades = rankings(ties=False)
    theirs = LIBRARIES[library](scores, grades)
    ours = tp.evaluate_scores(scores, grades, measures=list(theirs))
    for name, values in theirs.items():
        np.testing.assert_allclose(
            ours.per_query(name).lower, values, rtol=1e-6, atol=DIGITS.get(library, 1e-7), err_msg=name
        )
        assert ours[name].lower == ours[name].upper


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", LIBRARIES)
def test_within_the_interval_with_ties(library: str) -> None:
    scores, grades = rankings(ties=True)
    random = np.random.default_rng(0)
    moved = set()
    first: Values = {}
    for _ in range(3):
        order = random.permutation(ITEMS)
        theirs = LIBRARIES[library](scores[:, order], grades[:, order])
        ours = tp.evaluate_scores(scores, grades, measures=list(theirs))
        for name, values in theirs.items():
            estimate = ours.per_query(name)
            digits = DIGITS.get(library, 1e-6)
            assert (estimate.lower - digits <= values).all(), name
            assert (values <= estimate.upper + digits).all(), name
            if not np.allclose(values, first.setdefault(name, values), rtol=1e-9):
                moved.add(name)
    # The data was only permuted, so no value may change.
    assert {name for name in first if name not in moved} == STILL[library]


@pytest.mark.filterwarnings("ignore")
def test_averages_over_ties_are_the_expected_values() -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    scores, grades = rankings(ties=True)
    ours = tp.evaluate_scores(scores, grades, measures=["nDCG", "nDCG@10", "nDCG(gain=exp)@7", "AUC"])
    for k, name, gains in ((None, "nDCG", grades), (10, "nDCG@10", grades), (7, "nDCG(gain=exp)@7", 2.0**grades - 1)):
        theirs = [sklearn.ndcg_score(g[None], s[None], k=k) for g, s in zip(gains, scores, strict=True)]
        np.testing.assert_allclose(ours.per_query(name).expected, theirs, rtol=1e-12)
    auc = [sklearn.roc_auc_score(g > 0, s) for g, s in zip(grades, scores, strict=True)]
    np.testing.assert_allclose(ours.per_query("AUC").expected, auc, rtol=1e-12)
    in_float32 = torchmetrics(scores, grades)
    for name in ("nDCG", "nDCG@10", "AUC"):
        np.testing.assert_allclose(ours.per_query(name).expected, in_float32[name], rtol=1e-6)


def test_tie_aware_retrieval_metrics_has_the_same_interval() -> None:
    """This holds if no cutoff is larger than the length of the list (docs/what_they_print.md)."""
    library = pytest.importorskip("trm")
    scores, grades = rankings(ties=True)
    names = {"ndcg": "nDCG", "mrr": "RR", "map": "AP", "recall": "R", "precision": "P", "f1": "F1"}
    cutoffs = [1, 5, 10, ITEMS]
    found = library.evaluate(scores.tolist(), (grades > 0).tolist(), metrics=list(names), k_list=cutoffs)
    measures = [f"{ours}@{k}" for ours in names.values() for k in cutoffs]
    result = tp.evaluate_scores(scores, grades > 0, measures=measures)
    for theirs, ours in names.items():
        for k in cutoffs:
            estimate = result.per_query(f"{ours}@{k}")
            for part, value in (("minimum", "lower"), ("expected", "expected"), ("maximum", "upper")):
                values = [getattr(each, part) for each in found.per_query[theirs][k]]
                np.testing.assert_allclose(getattr(estimate, value), values, rtol=1e-12, atol=1e-15)


@pytest.mark.filterwarnings("ignore")
def test_libraries_that_leave_the_interval() -> None:
    """The page shows the values of the libraries, and all of them are outside the interval."""
    for module in ("sklearn", "ranx", "trm", "torchmetrics", "pytrec_eval", "ir_measures"):
        pytest.importorskip(module)
    docs = Path(__file__).parents[2] / "docs"
    names = runpy.run_path(str(docs / "other_libraries.py"))
    for case in names["CASES"]:
        estimate = case.ours()
        assert not estimate.lower - 1e-6 <= case.printed() <= estimate.upper + 1e-6, case.function
    assert names["section"]() in (docs / "what_they_print.md").read_text(encoding="utf-8")


def test_what_they_print() -> None:
    """The page shows the value of each library for one ranking, inside the interval over all orders of ties."""
    for module in ("sentence_transformers", "mteb", "ir_measures", "pyterrier", "ranx", "sklearn", "torchmetrics"):
        pytest.importorskip(module)
    script = Path(__file__).parents[2] / "docs" / "what_they_print.py"
    names = runpy.run_path(str(script))
    printed = {library: names["printed"](library) for library in names["LIBRARIES"]}
    for toy in names["TOYS"].values():
        of_queries = []
        for query, scores in toy.run.items():
            ranking: oracle.Ranking = [
                [toy.qrels[query].get(name, 0) for name in scores if scores[name] == level]
                for level in sorted(set(scores.values()), reverse=True)
            ]
            of_queries.append(oracle.enumerate_orderings(oracle.DEFINITIONS["nDCG"], ranking, cutoff=10))
        truth = names["truth"](toy)
        for kind in ("lower", "expected", "upper"):
            exact = sum(getattr(one, kind) for one in of_queries) / len(of_queries)
            assert getattr(truth, kind) == pytest.approx(float(exact), rel=1e-12)
        assert truth == names["truth"](names["TOYS"]["as built"])
    for values in printed.values():
        assert all(truth.lower - 1e-5 <= value <= truth.upper + 1e-5 for value in values)
    names["render"].__globals__["printed"] = printed.__getitem__
    page, again = script.with_suffix(".md").read_text(encoding="utf-8").splitlines(), names["render"]().splitlines()
    differing = [line for line, other in zip(page, again, strict=True) if line != other]
    assert all(line.startswith(f"| {names['BY_PROCESSOR']} |") for line in differing), differing


PML_NAMES = {
    "mean_average_precision": "AP",
    "mean_average_precision_at_r": "AP@R",
    "r_precision": "Rprec",
    "precision_at_1": "P@1",
    "mean_reciprocal_rank": "RR",
}


def pytorch_metric_learning(embeddings: Array, labels: Array) -> dict[str, float]:
    """The means of the library by tieproof's names, leave-one-out by Euclidean distance."""
    torch = pytest.importorskip("torch")
    calculator = pytest.importorskip("pytorch_metric_learning.utils.accuracy_calculator")
    inference = pytest.importorskip("pytorch_metric_learning.utils.inference")
    distances = pytest.importorskip("pytorch_metric_learning.distances")
    found = calculator.AccuracyCalculator(
        include=list(PML_NAMES),
        knn_func=inference.CustomKNN(distances.LpDistance(normalize_embeddings=False)),
        device=torch.device("cpu"),
    ).get_accuracy(torch.tensor(embeddings), torch.tensor(labels))
    return {ours: found[theirs] for theirs, ours in PML_NAMES.items()}


@pytest.mark.filterwarnings("ignore")
def test_pytorch_metric_learning() -> None:
    random = np.random.default_rng(3)
    labels = random.integers(0, 12, size=300)
    embeddings = (random.normal(size=(300, 16)) + random.normal(size=(12, 16))[labels]).astype(np.float32)
    ours = tp.evaluate(embeddings, labels, distance="euclidean", measures=list(PML_NAMES.values()))
    for name, value in pytorch_metric_learning(embeddings, labels).items():
        assert ours[name].lower == ours[name].upper == pytest.approx(value, rel=1e-6), name


@pytest.mark.filterwarnings("ignore")
def test_pytorch_metric_learning_with_ties() -> None:
    random = np.random.default_rng(4)
    labels = random.integers(0, 6, size=120)
    # Points of a small grid: their squared distances are small integers, and so are the library's.
    embeddings = random.integers(0, 3, size=(120, 3)).astype(np.float32)
    ours = tp.evaluate(embeddings, labels, distance="euclidean", measures=list(PML_NAMES.values()))
    printed = []
    for _ in range(3):
        order = random.permutation(120)
        printed.append(pytorch_metric_learning(embeddings[order], labels[order]))
    for name in PML_NAMES.values():
        values = [each[name] for each in printed]
        assert all(ours[name].lower <= value <= ours[name].upper for value in values), name
        assert len(set(values)) > 1, name
