"""`Result.as_printed` gives the values of libraries that break ties by a rule, and of rules written out here."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oracle
import tieproof as tp
from tieproof.evaluation.printed import Printed

Dictionary = dict[str, dict[str, Any]]

BY_DEFINITION = ["AP", "nDCG@10", "nDCG(gain=exp)", "P@5", "RR", "ERR(max_grade=3)@5", "RBP(gain=linear)"]
OF_TREC_EVAL = {
    "map": "AP",
    "ndcg_cut_10": "nDCG@10",
    "ndcg": "nDCG",
    "P_5": "P@5",
    "recip_rank": "RR",
    "recall_10": "R@10",
    "Rprec": "Rprec",
    "bpref": "bpref",
    "success_1": "Success@1",
}

ORDERS: dict[str, Callable[[Sequence[str]], list[str]]] = {
    "trec_eval": lambda ids: sorted(ids, key=str.encode, reverse=True),
    "descending": lambda ids: sorted(ids, key=str.encode, reverse=True),
    "ascending": lambda ids: sorted(ids, key=str.encode),
    "position": list,
    "reversed": lambda ids: [*ids][::-1],
}
"""The order of the ids of documents with equal scores, which are passed in the order given."""


def tied(seed: int, items: int = 30, step: float = 0.125) -> tuple[Dictionary, Dictionary]:
    """Qrels with grades 0 to 3, and a run with many ties, whose documents come in any order."""
    random = np.random.default_rng(seed)
    names = [*map("d{}".format, range(items)), "dé", "d😀", "D"]
    run, qrels = {}, {}
    for query in map("q{}".format, range(12)):
        listed = random.permutation(len(names))[:items]
        run[query] = {names[at]: 1 + step * int(random.integers(6)) for at in listed.tolist()}
        qrels[query] = {names[at]: int(random.integers(4)) for at in random.permutation(len(names))[:12].tolist()}
        qrels[query]["d0"] = 1
    return qrels, run


def ranked(scores: dict[str, float], order: Callable[[Sequence[str]], list[str]]) -> list[str]:
    levels = sorted(set(scores.values()), reverse=True)
    return [name for level in levels for name in order([name for name, score in scores.items() if score == level])]


def of_definition(measure: str, grades: list[int], relevant: list[int]) -> float:
    """The value of a strict ordering, by its definition."""
    name, _, cutoff = measure.partition("@")
    context = oracle.Context(tuple(sorted(relevant, reverse=True)), int(cutoff) if cutoff else None)
    return float(oracle.DEFINITIONS[name](tuple(grades), context))


def printed(result: tp.Result, rule: str, **data: Any) -> Printed:
    shown = result.as_printed(rule, **data)
    assert shown.printed is not None
    assert {**shown} == {**result}
    return shown.printed


@pytest.mark.filterwarnings("ignore:All lists")
@pytest.mark.parametrize("rule", ORDERS)
def test_rules_of_runs_are_what_their_names_say(rule: str) -> None:
    qrels, run = tied(1)
    result = tp.evaluate_run(qrels, run, measures=BY_DEFINITION)
    found = printed(result, rule, qrels=qrels, run=run)
    for measure in BY_DEFINITION:
        expected = []
        for query in result.query_ids.tolist():
            grades = [qrels[query].get(name, 0) for name in ranked(run[query], ORDERS[rule])]
            relevant = [grade for grade in qrels[query].values() if grade > 0]
            expected.append(of_definition(measure, grades, relevant))
        values, interval = found.per_query(measure), result.per_query(measure)
        np.testing.assert_allclose(values, expected, rtol=1e-12, atol=0)
        assert found[measure] == pytest.approx(np.mean(expected), rel=1e-12)
        assert ((interval.lower - 1e-12 <= values) & (values <= interval.upper + 1e-12)).all()


@pytest.mark.parametrize("rule", ["position", "reversed"])
@pytest.mark.parametrize("name", ["scores", "distances"])
@pytest.mark.parametrize("ragged", [False, True])
def test_rules_of_lists_are_what_their_names_say(rule: str, name: str, ragged: bool) -> None:
    random = np.random.default_rng(2)
    rows = [random.integers(0, 4, size=int(random.integers(8, 20)) if ragged else 15) for _ in range(9)]
    judged = [random.choice([-1, 0, 0, 1, 2], size=len(row)) for row in rows]
    for grades in judged:
        grades[3] = 1
    judged[4][:] = np.minimum(judged[4], 0)  # a query without anything relevant
    data = {name: rows if ragged else np.array(rows, dtype=np.uint8), "relevance": judged}
    result = getattr(tp, f"evaluate_{name}")(*data.values(), measures=BY_DEFINITION)
    found = printed(result, rule, **data)
    sign = -1 if name == "distances" else 1
    for measure in BY_DEFINITION:
        expected = []
        for row, grades in zip(rows, judged, strict=True):
            items = ranked({str(at): sign * float(value) for at, value in enumerate(row)}, ORDERS[rule])
            kept = [int(grades[int(item)]) for item in items if grades[int(item)] >= 0]
            if any(kept):
                expected.append(of_definition(measure, kept, [grade for grade in kept if grade]))
        np.testing.assert_allclose(found.per_query(measure), expected, rtol=1e-12, atol=0)


def test_lists_by_labels_and_lists_that_were_cut_off() -> None:
    scores = [[2.0, 2.0, 1.0], [2.0, 1.0, 1.0]]
    data: dict[str, Any] = {"scores": scores, "labels": ["a", "b"], "gallery_labels": ["b", "a", "b"]}
    result = tp.evaluate_scores(**data, measures=["RR"])
    assert printed(result, "position", **data).per_query("RR").tolist() == [0.5, 1.0]
    assert printed(result, "reversed", **data).per_query("RR").tolist() == [1.0, 1.0]
    data = {"scores": scores, "relevance": [[0, 1, 1], [0, 0, 1]], "n_relevant": [4, 1]}
    result = tp.evaluate_scores(**data, measures=["R@2", "RR"])
    assert printed(result, "position", **data).per_query("R@2").tolist() == [0.25, 0.0]
    assert printed(result, "reversed", **data).per_query("RR").tolist() == [1.0, 0.5]


@pytest.mark.parametrize("empty", ["skip", "zero", "one", "nan"])
def test_queries_without_relevant_items_and_macro_means(empty: Any) -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 0}, "q3": {"b": 1}, "q4": {"b": 1}}
    run = {"q1": {"a": 1.0, "b": 1.0}, "q2": {"a": 1.0}, "q3": {"a": 1.0, "b": 1.0}}
    categories = {"q1": "x", "q2": "x", "q3": "y", "q4": "y"}
    options: dict[str, Any] = {"categories": categories, "average": "macro", "empty": empty, "measures": ["RR"]}
    result = tp.evaluate_run(qrels, run, **options)
    found = printed(result, "ascending", qrels=qrels, run=run)
    of_empty = {"skip": [], "zero": [0.0], "one": [1.0], "nan": []}[empty]
    x, y = np.mean([1.0, *of_empty]), np.mean([0.5, 0.0])
    assert found.category_means("RR") == {"x": x, "y": y}
    assert found["RR"] == (x + y) / 2
    table = str(result.as_printed("ascending", qrels=qrels, run=run))
    assert re.search(rf"RR +y .* {y:.4f}$", table, re.MULTILINE)


def test_the_value_is_in_all_forms(tmp_path: Path) -> None:
    qrels, run = {"q": {"d1": 1}}, {"q": {"d1": 0.5, "d2": 0.5}}
    result = tp.evaluate_run(qrels, run, measures=["RR"]).as_printed("trec_eval", qrels=qrels, run=run)
    assert result.to_dict()["printed"] == {"rule": "trec_eval", "measures": {"RR": 0.5}}
    assert result.to_frame()["printed"].tolist() == result.to_frame("measure")["printed"].tolist() == [0.5]
    assert "as trec_eval 10.0 does: by document id, the largest first." in " ".join(str(result).split())
    with_ci = tp.evaluate_run(qrels | {"r": {"d1": 1}}, run, measures=["RR"])
    with_ci = with_ci.with_ci(0.9).as_printed("ascending", qrels=qrels | {"r": {"d1": 1}}, run=run)
    assert str(with_ci).splitlines()[0].split()[-3:] == ["ascending", "queries", "90%"]
    result.save(tmp_path / "r.tieproof")
    loaded = tp.load(tmp_path / "r.tieproof")
    assert loaded.printed is None
    assert printed(loaded, "ascending", qrels=qrels, run=run)["RR"] == 1.0


def test_single_precision_can_leave_the_interval() -> None:
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0 + 2**-40, "b": 1.0}}
    result = tp.evaluate_run(qrels, run, measures=["RR"])
    assert printed(result, "trec_eval", qrels=qrels, run=run)["RR"] == 1.0
    shown = result.as_printed("pytrec_eval", qrels=qrels, run=run)
    assert shown.printed is not None
    assert shown.printed["RR"] == 0.5
    assert "The value of RR lies outside of its interval" in str(shown)


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore:All lists")
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("step", [0.125, 2.0**-26])
def test_pytrec_eval_prints_this(seed: int, step: float) -> None:
    library = pytest.importorskip("pytrec_eval")
    qrels, run = tied(seed, step=step)
    result = tp.evaluate_run(qrels, run, measures=[*OF_TREC_EVAL.values()])
    asked = {"map", "ndcg_cut.10", "ndcg", "P.5", "recip_rank", "recall.10", "Rprec", "bpref", "success.1"}
    theirs = library.RelevanceEvaluator(qrels, asked).evaluate(run)
    found = printed(result, "pytrec_eval", qrels=qrels, run=run)
    for name, measure in OF_TREC_EVAL.items():
        expected = [theirs[query][name] for query in result.query_ids.tolist()]
        np.testing.assert_allclose(found.per_query(measure), expected, rtol=1e-12, atol=0)


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore:All lists", "ignore::numba.core.errors.NumbaTypeSafetyWarning")
@pytest.mark.parametrize("items", [15, 16, 30])
def test_ranx_prints_this(items: int) -> None:
    library = pytest.importorskip("ranx")
    qrels, run = tied(3, items)
    names = {"map": "AP", "ndcg@10": "nDCG@10", "mrr": "RR", "precision@5": "P@5", "recall@10": "R@10"}
    result = tp.evaluate_run(qrels, run, measures=[*names.values()])
    relevant = {query: {name: grade for name, grade in grades.items() if grade} for query, grades in qrels.items()}
    theirs = library.Run(run)
    library.evaluate(library.Qrels(relevant), theirs, [*names])
    found = printed(result, "ranx", qrels=qrels, run=run)
    for name, measure in names.items():
        expected = [theirs.scores[name][query] for query in result.query_ids.tolist()]
        np.testing.assert_allclose(found.per_query(measure), expected, rtol=1e-12, atol=0)
    by_position = printed(result, "position", qrels=qrels, run=run)
    assert ({**found} == {**by_position}) == (items <= 15)
