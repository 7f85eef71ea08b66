"""Scores with intervals in MTEB's own evaluation of tasks, compared with its numbers and with all orders."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tieproof.errors import InputError

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore")]
pytest.importorskip("mteb")

from mteb._evaluators.retrieval_metrics import (  # noqa: E402
    calculate_pmrr,
    calculate_retrieval_scores,
    confidence_scores,
    evaluate_p_mrr_change,
    make_score_dict,
    nauc,
)
from mteb.abstasks import AbsTaskRetrieval  # noqa: E402

from mteb_tasks import Encoder, loaded, scores_of, task_class  # noqa: E402
from tieproof.integrations.mteb import NAMES, TieIntervals, with_intervals  # noqa: E402

K_VALUES = (1, 3, 5, 10, 20)
BOUNDS = ("lower", "expected", "upper")
Qrels = dict[str, dict[str, int]]


def data(queries: int, documents: int, tied: bool, seed: int = 0) -> tuple[dict[str, Any], Qrels]:
    """Queries, a corpus in which some documents have the ids of queries, and grades of 0, 1 and 2."""
    random = np.random.default_rng(seed)
    ids = [f"q{number}" if number < 3 else f"d{number}" for number in range(documents)]
    vectors = (
        random.integers(0, 3, (queries + documents, 2)) if tied else random.normal(size=(queries + documents, 4))
    )
    corpus = dict(zip(ids, vectors[queries:].tolist(), strict=True))
    judged = {f"q{number}": random.choice(ids, 6, replace=False).tolist() for number in range(queries)}
    qrels = {query: {name: int(random.integers(0, 3)) for name in names} for query, names in judged.items()}
    return {"queries": {f"q{number}": vectors[number].tolist() for number in range(queries)}, "corpus": corpus}, qrels


def candidates(vectors: Mapping[str, Any], seed: int = 1) -> dict[str, list[str]]:
    """Some documents for each query."""
    random = np.random.default_rng(seed)
    return {query: random.choice([*vectors["corpus"]], 12, replace=False).tolist() for query in vectors["queries"]}


def intervals(scores: Mapping[str, float], k_values: Sequence[int] = K_VALUES) -> Iterator[tuple[float, list[float]]]:
    """MTEB's value of each measure, and the interval."""
    for name, k in product(NAMES, k_values):
        yield scores[f"{name}_at_{k}"], [scores[f"{name}_at_{k}_{bound}"] for bound in BOUNDS]


def said_by_mteb(
    rankings: Mapping[str, Sequence[str]], qrels: Qrels, k_values: Sequence[int], **options: Any
) -> dict[str, float]:
    """MTEB's values for rankings without ties, not rounded where pytrec_eval computes them."""
    results = {query: {name: float(-rank) for rank, name in enumerate(ranked)} for query, ranked in rankings.items()}
    found = calculate_retrieval_scores(results, qrels, list(k_values), **options)
    said: dict[str, float] = make_score_dict(
        ndcg=found.ndcg,
        _map=found.map,
        recall=found.recall,
        precision=found.precision,
        mrr=found.mrr,
        naucs={},
        naucs_mrr={},
        hit_rate=found.hit_rate,
        task_scores={},
    )
    return said


def orders(scores: Mapping[str, float]) -> Iterator[list[str]]:
    """All rankings of documents with these scores."""
    groups: dict[float, list[str]] = {}
    for name, score in scores.items():
        groups.setdefault(score, []).append(name)
    falling = [groups[score] for score in sorted(groups, reverse=True)]
    for arranged in product(*map(permutations, falling)):
        yield [name for group in arranged for name in group]


@pytest.mark.parametrize("options", [{}, {"ignore_identical_ids": True}, {"skip_first_result": True}], ids=str)
@pytest.mark.parametrize("reranking", [False, True])
@pytest.mark.parametrize("documents", [40, 15])
def test_without_ties_all_three_are_what_mteb_prints(
    options: Mapping[str, Any], reranking: bool, documents: int
) -> None:
    vectors, qrels = data(9, documents, tied=False)
    ranked = candidates(vectors) if reranking else None
    task = loaded(task_class("Toy", k_values=K_VALUES, **options)(), vectors, qrels, ranked)
    scores = scores_of(with_intervals(task))
    for printed, interval in intervals(scores, K_VALUES[:-1]):
        assert interval == pytest.approx([printed] * 3, abs=0.51e-5)
    for printed, (lower, expected, upper) in intervals(scores, K_VALUES[-1:]):
        assert [lower, expected] == pytest.approx([printed] * 2, abs=0.51e-5)
        if documents < K_VALUES[-1] or reranking:
            assert upper == expected  # otherwise, a document that was not returned may be as near as the last one
    assert scores["main_score"] == scores["ndcg_at_1"]
    assert "nauc_ndcg_at_10_max" in scores


@pytest.mark.parametrize("options", [{}, {"ignore_identical_ids": True}, {"skip_first_result": True}], ids=str)
@pytest.mark.parametrize("reranking", [False, True])
@pytest.mark.parametrize("k_values", [K_VALUES, (1, 2, 3)], ids=["whole", "cut off"])
@pytest.mark.parametrize("seed", range(4))
def test_what_mteb_prints_is_inside(
    options: Mapping[str, Any], reranking: bool, k_values: Sequence[int], seed: int
) -> None:
    vectors, qrels = data(9, 30, tied=True, seed=seed)
    ranked = candidates(vectors) if reranking else None
    task = loaded(task_class("Toy", k_values=k_values, **options)(), vectors, qrels, ranked)
    widths = []
    for printed, (lower, expected, upper) in intervals(scores_of(with_intervals(task)), k_values):
        assert lower - 0.51e-5 <= printed <= upper + 0.51e-5
        assert lower <= expected <= upper
        widths.append(upper - lower)
    assert max(widths) > 0.1


TIED = {"a": [2.0], "b": [2.0], "c": [2.0], "d": [1.0], "e": [1.0], "f": [0.0]}
JUDGED = [{"a": 1, "d": 2}, {"a": 2, "b": 1, "f": 1}, {"a": 1, "b": 1, "c": 1, "e": 1}, {"f": 3}, {"d": 1, "gone": 2}]


@pytest.mark.parametrize("skips", [False, True])
@pytest.mark.parametrize("grades", JUDGED, ids=str)
def test_all_orders(grades: dict[str, int], skips: bool) -> None:
    """MTEB's values for every order of equal scores of one query."""
    k_values = (1, 2, 3, 4, 5, 6)
    made = task_class("Toy", k_values=k_values, skip_first_result=skips)
    task = loaded(made(), {"queries": {"q": [1.0]}, "corpus": TIED}, {"q": grades})
    scores = scores_of(with_intervals(task))
    every = [
        said_by_mteb({"q": ranking}, {"q": grades}, k_values, skip_first_result=skips)
        for ranking in orders({name: score for name, (score,) in TIED.items()})
    ]
    for name, k in product(NAMES, k_values):
        values = [each[f"{name}_at_{k}"] for each in every]
        found = [scores[f"{name}_at_{k}_{bound}"] for bound in BOUNDS]
        assert found == pytest.approx([min(values), np.mean(values), max(values)], abs=0.51e-5)


@pytest.mark.parametrize("options", [{}, {"ignore_identical_ids": True}, {"skip_first_result": True}], ids=str)
@pytest.mark.parametrize("longest", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("grades", JUDGED[:4], ids=str)
def test_all_orders_of_the_corpus_where_lists_are_cut_off(
    grades: dict[str, int], longest: int, options: Mapping[str, Any]
) -> None:
    """The bounds hold for every order of the corpus. Document a has the id of the query."""
    k_values = tuple(range(1, longest + 1))
    vectors = {"queries": {"a": [1.0]}, "corpus": TIED}
    scores = scores_of(
        with_intervals(loaded(task_class("Toy", k_values=k_values, **options)(), vectors, {"a": grades}))
    )
    kept = [
        [name for name in ranking[:longest] if name != "a" or "ignore_identical_ids" not in options]
        for ranking in orders({name: score for name, (score,) in TIED.items()})
    ]
    skips = "skip_first_result" in options
    every = [said_by_mteb({"a": ranking}, {"a": grades}, k_values, skip_first_result=skips) for ranking in kept]
    for name, k in product(NAMES, k_values):
        values = [each[f"{name}_at_{k}"] for each in every]
        assert scores[f"{name}_at_{k}_lower"] <= min(values) + 0.51e-5
        assert scores[f"{name}_at_{k}_upper"] >= max(values) - 0.51e-5


@pytest.mark.parametrize("options", [{}, {"ignore_identical_ids": True}, {"skip_first_result": True}], ids=str)
@pytest.mark.parametrize("reranking", [False, True])
def test_abstention_without_ties_is_what_mteb_prints(options: Mapping[str, Any], reranking: bool) -> None:
    vectors, qrels = data(9, 15, tied=False)
    task = loaded(
        task_class("Toy", k_values=K_VALUES, **options)(), vectors, qrels, candidates(vectors) if reranking else None
    )
    scores = scores_of(with_intervals(task))
    printed = {name: value for name, value in scores.items() if name.startswith("nauc") and "_of_" not in name}
    assert len(printed) == 5 * len(K_VALUES) * 3
    for name, value in printed.items():
        assert scores[f"{name}_of_expected"] == pytest.approx(value, rel=1e-9, abs=1e-9, nan_ok=True)


def test_abstention_of_expected_values() -> None:
    """MTEB's function of the mean value over all orders of each query."""
    lists = {f"q{number}": {name: score * number for name, (score,) in TIED.items()} for number in range(1, 6)}
    qrels = {f"q{number}": grades for number, grades in enumerate(JUDGED, 1)}
    vectors = {"queries": {query: [float(query[1:])] for query in qrels}, "corpus": TIED}
    scores = scores_of(with_intervals(loaded(task_class("Toy", k_values=(1, 3, 6))(), vectors, qrels)))
    confidences = np.array([confidence_scores([*lists[query].values()])["max"] for query in qrels])
    means = []
    for query, grades in qrels.items():
        every = [
            said_by_mteb({query: ranked}, {query: grades}, (1, 3, 6))["map_at_3"] for ranked in orders(lists[query])
        ]
        means.append(np.mean(every))
    expected = nauc(confidences, np.array(means))
    assert scores["nauc_map_at_3_max_of_expected"] == pytest.approx(
        expected, rel=1e-3
    )  # of values with five decimals


CHANGED = {"q": ["b"], "r": ["a", "e", "gone"]}


class FollowsInstructions(AbsTaskRetrieval):  # type: ignore[misc]
    """As the tasks of MTEB call its function, with documents that are known without a download."""

    def task_specific_scores(self, scores: Any, qrels: Any, results: Any, hf_split: str, hf_subset: str) -> Any:
        return evaluate_p_mrr_change(qrels, results, CHANGED, self.k_values)


def instructed(queries: Mapping[str, float], corpus: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """Scores of a task with two queries, each with two instructions."""
    qrels = {query: {"a": 1, "d": 1} for query in queries}
    vectors = {"queries": {query: [weight] for query, weight in queries.items()}, "corpus": corpus}
    return scores_of(with_intervals(loaded(task_class("Toy", FollowsInstructions)(), vectors, qrels)))


def test_changed_ranks_without_ties_are_what_mteb_prints() -> None:
    weights = {"q-og": 1.0, "q-changed": -1.0, "r-og": -1.0, "r-changed": 1.0}
    scores = instructed(weights, {name: [float(ord(name))] for name in TIED})
    assert [scores[f"p-MRR_{bound}"] for bound in BOUNDS] == pytest.approx([scores["p-MRR"]] * 3, rel=1e-12)
    assert scores["p-MRR"] not in (0, 1)
    for name in ("og", "changed"):
        assert scores[name]["map_at_5_lower"] == pytest.approx(scores[name]["map_at_5"], abs=0.51e-5)


def test_changed_ranks_over_all_orders() -> None:
    """Changed documents that are not tied with each other: b among a, b, c, and a and e of r, in every order."""
    weights = {"q-og": 1.0, "q-changed": -1.0, "r-og": -1.0, "r-changed": 1.0}
    scores = instructed(weights, TIED)
    lists = {query: {name: weight * value for name, (value,) in TIED.items()} for query, weight in weights.items()}
    every = [
        [
            calculate_pmrr(
                {f"{query}-og": {name: -float(rank) for rank, name in enumerate(before)}},
                {f"{query}-changed": {name: -float(rank) for rank, name in enumerate(after)}},
                {query: CHANGED[query]},
            )
            for before, after in product(orders(lists[f"{query}-og"]), orders(lists[f"{query}-changed"]))
        ]
        for query in CHANGED
    ]
    expected = [np.mean([pick(values) for values in every]) for pick in (min, np.mean, max)]
    assert [scores[f"p-MRR_{bound}"] for bound in BOUNDS] == pytest.approx(expected, rel=1e-12)
    assert scores["p-MRR_lower"] <= scores["p-MRR"] <= scores["p-MRR_upper"]


def test_a_system_that_knows_nothing() -> None:
    """With equal scores for all documents, MTEB's value depends only on names, and the lower bound is 0."""
    vectors, qrels = data(5, 30, tied=False)
    vectors["corpus"] = dict.fromkeys(vectors["corpus"], [0.0] * 4)
    scores = scores_of(with_intervals(loaded(task_class("Toy", k_values=K_VALUES)(), vectors, qrels)))
    assert scores["ndcg_at_10_lower"] == 0 < scores["ndcg_at_10"] < scores["ndcg_at_10_upper"] <= 1


def test_queries_without_documents_or_relevant_ones_count_as_in_mteb() -> None:
    vectors, qrels = data(6, 20, tied=False)
    qrels["q4"] = dict.fromkeys(qrels["q4"], 0)
    qrels["q5"] = {}
    ranked = candidates(vectors) | {"q3": []}
    task = loaded(task_class("Toy", k_values=K_VALUES)(), vectors, qrels, ranked)
    for printed, interval in intervals(scores_of(with_intervals(task))):
        assert interval == pytest.approx([printed] * 3, abs=0.51e-5)


def test_own_scores_of_a_task_stay_and_the_task_is_not_changed(tmp_path: Path) -> None:
    class WithOwn(AbsTaskRetrieval):  # type: ignore[misc]
        def task_specific_scores(self, *given: Any, **options: Any) -> dict[str, float]:
            return {"own": 0.25}

    vectors, qrels = data(4, 20, tied=True)
    task = loaded(task_class("Toy", WithOwn)(), vectors, qrels)
    both = with_intervals(task)
    assert with_intervals(both) is both
    assert isinstance(both, TieIntervals)
    assert not isinstance(task, TieIntervals)
    assert "ndcg_at_10_lower" not in scores_of(task)
    assert scores_of(both)["own"] == 0.25
    assert scores_of(both)["recall_at_1000_lower"] <= 1


def test_scores_are_in_the_file_of_results(tmp_path: Path) -> None:
    import mteb

    vectors, qrels = data(4, 20, tied=True)
    made = type("Mixed", (TieIntervals, task_class("Toy", k_values=K_VALUES)), {})
    result = mteb.evaluate(Encoder(), loaded(made(), vectors, qrels), cache=None, show_progress_bar=False)
    result.task_results[0].to_disk(tmp_path / "Toy.json")
    (scores,) = json.loads((tmp_path / "Toy.json").read_text())["scores"]["test"]
    assert scores["ndcg_at_10_lower"] < scores["ndcg_at_10_upper"]
    assert len([name for name in scores if name.endswith("_lower")]) == len(NAMES) * len(K_VALUES)


def test_any_order_of_the_corpus_gives_the_same_bits() -> None:
    """Except for expected values of lists that were cut off, which depend on the documents that MTEB kept."""
    vectors, qrels = data(9, 30, tied=True)
    for k_values, bounds in (((*K_VALUES, 30), slice(3)), (K_VALUES, slice(0, 3, 2))):
        found = []
        for step in (1, -1):
            turned = {side: dict([*rows.items()][::step]) for side, rows in vectors.items()}
            task = loaded(task_class("Toy", k_values=k_values)(), turned, qrels)
            found.append([interval[bounds] for _, interval in intervals(scores_of(with_intervals(task)))])
        assert found[0] == found[1]


def test_other_tasks_are_refused() -> None:
    with pytest.raises(InputError, match=r"retrieval or reranking of MTEB, not a int\. Pass a task"):
        with_intervals(3)


def test_scores_that_are_not_numbers_are_refused() -> None:
    vectors, qrels = data(4, 20, tied=False)
    vectors["queries"]["q1"] = [float("nan")] * 4
    with pytest.raises(InputError, match="for query 'q1' is nan"):
        scores_of(with_intervals(loaded(task_class("Toy")(), vectors, qrels)))


@pytest.mark.parametrize("reranking", [False, True])
@pytest.mark.parametrize("kind", ["sparse", "late"])
def test_models_of_sparse_rows_and_of_several_vectors(kind: str, reranking: bool, tmp_path: Path) -> None:
    """MTEB wraps both itself; five documents have a copy, so that they are tied."""
    toys = pytest.importorskip("toy_encoders")
    words = ("red", "green", "blue", "white", "black", "cat", "dog", "shoe")
    model = {"sparse": toys.sparse_model, "late": toys.late_model}[kind](words, tmp_path)
    random = np.random.default_rng(0)
    made = [" ".join(random.choice(words, 3, replace=False)) for _ in range(20)]
    texts = {
        "queries": {f"q{at}": text for at, text in enumerate(made[:5])},
        "corpus": {f"d{at}": text for at, text in enumerate(made[5:] + made[5:10])},
    }
    qrels = {query: {f"d{item}": 1 for item in random.choice(20, 6, replace=False)} for query in texts["queries"]}
    ranked = candidates(texts) if reranking else None
    toy = task_class("Toy", kind="Reranking" if reranking else "Retrieval", k_values=(1, 5, 10))
    task = loaded(toy(), texts, qrels, ranked)
    found = [*intervals(scores_of(with_intervals(task), model), (1, 5, 10))]
    assert all(lower - 0.51e-5 <= printed <= upper + 0.51e-5 for printed, (lower, _, upper) in found)
    assert max(upper - lower for _, (lower, _, upper) in found) > 0.01
