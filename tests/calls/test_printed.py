"""`Result.as_printed` gives the values of libraries that break ties by a rule, and of rules written out here."""

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_unjudged import residual, share_judged, share_unjudged

import oracle
import tieproof as tp
from tieproof.evaluation.one_order import Printed

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


def of_judgments(order: Sequence[str], grades: dict[str, float]) -> dict[str, float]:
    """The measures of judgments and of the list, of a strict ordering, by the loops of trec_eval and ir_measures."""
    known, judged = tuple(order), {name for name, grade in grades.items() if grade >= 0}
    return {
        "Judged@5": float(share_judged(known, judged, 5)),
        "Unjudged@5": float(share_unjudged(known, judged, 5)),
        "RBPResidual": float(residual(known, judged, Fraction(0.8))),
        "NumNonRelJudgedRet": sum(grades.get(name) == 0 for name in order),
        "NumRet": len(order),
        "NumRel": sum(grade > 0 for grade in grades.values()),
        "NumQ": 1,
    }


def with_unjudged(seed: int) -> tuple[Dictionary, Dictionary]:
    """Qrels that judge a few documents, some by 0 and some by -1, and a run; nothing is relevant to q3 and q4."""
    qrels, run = tied(seed)
    judged = {query: {d: g - (g == 3) * 4 for d, g in grades.items()} for query, grades in qrels.items()}
    return judged | {query: {d: min(g, 0) for d, g in judged[query].items()} for query in ("q3", "q4")}, run


@pytest.mark.filterwarnings("ignore:All lists")
@pytest.mark.parametrize("rule", [*ORDERS, "pytrec_eval"])
@pytest.mark.parametrize("empty", ["skip", "zero", "one", "nan"])
def test_judgments_and_counts_are_those_of_the_ordering(rule: str, empty: Any) -> None:
    qrels, run = with_unjudged(7)
    names = [*of_judgments(["a"], {"a": 1})]
    for asked in (names, *([name] for name in names)):  # each alone: the others decide which documents are looked up
        result = tp.evaluate_run(qrels, run, measures=asked, empty=empty)
        found = printed(result, rule, qrels=qrels, run=run)
        queries = result.query_ids.tolist()
        order = ORDERS.get(rule, ORDERS["trec_eval"])
        values = [of_judgments(ranked(run[query], order), qrels[query]) for query in queries]
        for name in asked:
            nothing = [empty == "nan" and query in ("q3", "q4") for query in queries]
            expected = np.where(nothing, np.nan, [of_query[name] for of_query in values])
            np.testing.assert_allclose(found.per_query(name), expected, rtol=1e-12)
            total = np.nansum(expected) if name.startswith("Num") else np.nanmean(expected)
            assert found[name] == pytest.approx(total, rel=1e-12)
            # The evaluation itself has the same value, whatever the policy, except where ties change it.
            assert result[name].lower - 1e-12 <= found[name] <= result[name].upper + 1e-12
        assert "lies outside" not in result.as_printed(rule, qrels=qrels, run=run).to_text(explain=True)


@pytest.mark.parametrize("name", ["Judged@2", "Unjudged@2", "RBPResidual", "NumNonRelJudgedRet", "AP", "bpref"])
def test_a_report_takes_the_data_of_a_result_with_grades_of_0(name: str, tmp_path: Path) -> None:
    qrels, run = (
        {"q": {"a": 1, "b": 0}, "r": {"a": 1, "c": 0}},
        {"q": {"a": 2.0, "b": 1.0}, "r": {"a": 1.0, "c": 1.0}},
    )
    result = tp.evaluate_run(qrels, run, measures=["AP", name])
    result.report(tmp_path / "page.html", qrels=qrels, run=run)
    with pytest.raises(tp.InputError, match="not that of the result"):
        result.report(tmp_path / "page.html", qrels=qrels | {"q": {"a": 2, "b": 0}}, run=run)


@pytest.mark.parametrize("rule", ["trec_eval", "pytrec_eval"])
def test_trec_eval_cuts_grades_to_whole_numbers(rule: str) -> None:
    """atol(grade): 0.5 and -0.5 are 0, and 1.5 is 1; what trec_eval 9.0.8 and 10.0 -c -q print for these files."""
    qrels: Dictionary = {"q1": {"a": 0.5, "b": 1, "c": 1.5, "d": -0.5, "x": 0}, "q2": {"a": 0.5}, "q3": {"a": 1}}
    run = {"q1": {"a": 0.9, "b": 0.8, "d": 0.7, "c": 0.6, "e": 0.5}, "q2": {"a": 0.5}, "q3": {"a": 0.5}}
    expected: dict[str, list[float]] = {
        "RR": [0.5, 0, 1],
        "AP": [0.5, 0, 1],
        "nDCG": [(1 / np.log2(3) + 1 / np.log2(5)) / (1 + 1 / np.log2(3)), 0, 1],
        "NumRel": [2, 0, 1],
        "NumNonRelJudgedRet": [2, 1, 0],
        "Unjudged@5": [0.2, 0, 0],
        "bpref": [0.25, 0, 1],
        "P(rel=1)@2": [0.5, 0, 0.5],
    }
    result = tp.evaluate_run(qrels, run, measures=[*expected])
    found = printed(result, rule, qrels=qrels, run=run)
    for name, values in expected.items():
        assert found.per_query(name).tolist() == pytest.approx(values, rel=1e-12), name
    assert result["RR"].lower == 1.0
    text = " ".join(result.as_printed(rule, qrels=qrels, run=run).to_text(explain=True).split())
    assert "Besides, fractions of grades are cut off, as trec_eval reads them." in text
    assert "lies outside of its interval for that reason." in text
    assert "single precision." not in text
    assert printed(result, "descending", qrels=qrels, run=run)["RR"] == 1.0


def test_the_hits_of_a_recall_are_counted_as_the_version_counts_them() -> None:
    """Three relevant documents at ranks 1, 2 and 4: what pytrec_eval 0.5 and trec_eval 10.0 print."""
    qrels = {"q": {"a": 1, "b": 1, "c": 1, "x": 0}}
    run = {"q": {"a": 4.0, "b": 3.0, "x": 2.0, "c": 1.0}}
    names = [f"IPrec(recall=0.7{hits})" for hits in ("", ",hits=exact", ",hits=nearest")] + ["IPrec(recall=0.8)"]
    result = tp.evaluate_run(qrels, run, measures=names)
    assert [result[name].lower for name in names] == [1.0, 0.75, 1.0, 0.75]
    for rule, values in {"pytrec_eval": [1.0, 1.0, 1.0, 0.75], "trec_eval": [1.0] * 4, "position": None}.items():
        found = printed(result, rule, qrels=qrels, run=run)
        assert [*found.values()] == (values or [1.0, 0.75, 1.0, 0.75])
    text = " ".join(result.as_printed("trec_eval", qrels=qrels, run=run).to_text(explain=True).split())
    assert "the hits that have a recall are counted as that version of trec_eval does" in text


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore:All lists")
@pytest.mark.parametrize("seed", range(2))
def test_pytrec_eval_prints_these_interpolated_precisions(seed: int) -> None:
    library = pytest.importorskip("pytrec_eval")
    qrels, run = tied(seed)
    names = {f"iprec_at_recall_{tenth / 10:.2f}": f"IPrec(recall={tenth / 10})" for tenth in range(11)}
    result = tp.evaluate_run(qrels, run, measures=[*names.values()])
    theirs = library.RelevanceEvaluator(qrels, {"iprec_at_recall"}).evaluate(run)
    found = printed(result, "pytrec_eval", qrels=qrels, run=run)
    for name, ours in names.items():
        assert found.per_query(ours).tolist() == [theirs[query][name] for query in result.query_ids.tolist()]


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
    assert result.as_printed("position", **data).named(["q", "r"]).to_dict()["printed"]["measures"] == {"RR": 0.75}
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
    copy = result.as_printed("ascending", qrels=qrels, run=run)
    assert copy.to_frame("category")["printed"].tolist() == [x, y]
    table = copy.to_text(explain=True)
    assert re.search(rf"RR +y .* {y:.4f}$", table, re.MULTILINE)


def test_the_value_is_in_all_forms(tmp_path: Path) -> None:
    qrels, run = {"q": {"d1": 1}}, {"q": {"d1": 0.5, "d2": 0.5}}
    result = tp.evaluate_run(qrels, run, measures=["RR"]).as_printed("trec_eval", qrels=qrels, run=run)
    assert result.to_dict()["printed"] == {"rule": "trec_eval", "measures": {"RR": 0.5}}
    assert result.to_frame()["printed"].tolist() == result.to_frame("measure")["printed"].tolist() == [0.5]
    assert "as trec_eval 10.0 does: by document id, the largest first." in " ".join(
        result.to_text(explain=True).split()
    )
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
    assert "The value of RR lies outside of its interval" in shown.to_text(explain=True)


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
