"""Measures of unjudged documents of runs, and of sets: all orders of tied documents."""

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from test_judged_only import orders, tied
from test_runs import example

import oracle
import tieproof as tp

Order = tuple[str, ...]
Judged = set[str]


def share_judged(order: Order, judged: Judged, k: int) -> Fraction:
    """The definition of ir_measures: lists that end before rank k are divided by their length."""
    first = order[:k]
    return Fraction(sum(name in judged for name in first), len(first))


def share_unjudged(order: Order, judged: Judged, k: int) -> Fraction:
    """A loop over the ranks, as in trec_eval, which divides by k."""
    return Fraction(sum(name not in judged for name in order[:k]), k)


def residual(order: Order, judged: Judged, p: Fraction) -> Fraction:
    """A loop over the ranks, as in trec_eval: what follows the list counts if any of its documents is unjudged."""
    total, weight, unjudged = Fraction(), Fraction(1), False
    for name in order:
        if name not in judged:
            total, unjudged = total + weight, True
        weight *= p
    return weight + (1 - p) * total if unjudged else Fraction()


DEFINITIONS: dict[str, Callable[[Order, Judged], Fraction]] = {
    "Judged@1": lambda order, judged: share_judged(order, judged, 1),
    "Judged@3": lambda order, judged: share_judged(order, judged, 3),
    "Judged@9": lambda order, judged: share_judged(order, judged, 9),
    "Unjudged@1": lambda order, judged: share_unjudged(order, judged, 1),
    "Unjudged@3": lambda order, judged: share_unjudged(order, judged, 3),
    "Unjudged@9": lambda order, judged: share_unjudged(order, judged, 9),
    "RBPResidual": lambda order, judged: residual(order, judged, Fraction(0.8)),
    "RBPResidual(p=0.25)": lambda order, judged: residual(order, judged, Fraction(1, 4)),
}


@pytest.mark.parametrize("measure", DEFINITIONS)
def test_values_are_those_of_all_orders(measure: str) -> None:
    for seed in range(2):
        qrels, run = example(seed=seed)
        got = tp.evaluate_run(qrels, run, measures=[measure, "bpref", "AP"]).per_query(measure)
        for at, query in enumerate(sorted(qrels)):
            judged = {name for name, grade in qrels[query].items() if grade >= 0}
            exact = oracle.estimates([DEFINITIONS[measure](order, judged) for order in orders(tied(run[query]))])
            found = [got.lower[at], got.expected[at], got.upper[at]]
            assert found == pytest.approx([float(exact.lower), float(exact.expected), float(exact.upper)], rel=1e-12)
            assert got.std[at] == pytest.approx(exact.std, rel=1e-12, abs=1e-15)


@pytest.mark.heavy
def test_documents_that_were_judged_not_relevant_are_counted() -> None:
    name = "num_nonrel_judged_ret"
    for level, seed in itertools.product((1, 2), range(3)):
        qrels, run = example(seed=seed)
        result = tp.evaluate_run(qrels, run, measures=[name], level=level, empty="zero")
        expected = [sum(0 <= qrels[query].get(each, -1) < level for each in run[query]) for query in sorted(qrels)]
        (found,) = result.measures
        assert result.per_query(found).lower.tolist() == result.per_query(found).upper.tolist() == expected
        assert result[found].lower == sum(expected)
        library = pytest.importorskip("pytrec_eval")
        judge = library.RelevanceEvaluator(qrels, {name}, relevance_level=level)
        assert [values[name] for _, values in sorted(judge.evaluate(run).items())] == expected


def test_a_large_tie_with_few_judged_documents_loses_no_digits() -> None:
    run = {"q": {f"d{at}": 0.5 for at in range(100_000)}}
    result = tp.evaluate_run({"q": {"d7": 1}}, run, measures=["Judged@90000", "Unjudged@90000"])
    assert result["Judged@90000"].expected == pytest.approx(1e-5, rel=1e-12)
    assert result["Judged@90000"].std == pytest.approx((0.9 * 0.1) ** 0.5 / 90_000, rel=1e-12)
    assert result["Unjudged@90000"].lower == 89_999 / 90_000


def test_a_query_that_is_missing_from_the_run_scores_zero() -> None:
    qrels, run = {"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 1.0, "x": 1.0}}
    measures = ["Judged@1", "Unjudged@5", "RBPResidual", "SetP", "SetRelP", "SetR", "SetF", "SetAP", "AUC"]
    result = tp.evaluate_run(qrels, run, measures=measures)
    assert all(result.per_query(measure).upper[1] == 0.0 for measure in measures)


@pytest.mark.parametrize("empty", ["zero", "one"])
def test_a_query_with_nothing_relevant_has_its_own_value(empty: Any) -> None:
    """They need nothing relevant: one of two documents of q is judged, by a grade of 0."""
    qrels, run = {"q": {"a": 0}, "r": {"a": 1}}, {"q": {"a": 2.0, "b": 1.0}, "r": {"a": 1.0}}
    expected = {"Judged@2": 0.5, "Unjudged@2": 0.5, "RBPResidual(p=0.5)": 0.5, "NumNonRelJudgedRet": 1, "NumRet": 2}
    result = tp.evaluate_run(qrels, run, measures=[*expected, "RR"], empty=empty)
    assert [result.per_query(name).expected[0] for name in expected] == [*expected.values()]
    assert result.per_query("RR").expected[0] == (empty == "one")
    of_lists = tp.evaluate_scores([[2.0, 1.0]] * 2, [[0, 0], [1, 0]], measures=[*expected], empty=empty)
    assert of_lists["Judged@2"].lower == 1.0


SETS = ["SetP", "SetRelP", "SetR", "SetF", "SetF(beta=2)", "SetAP"]


@pytest.mark.filterwarnings("ignore:The run. no document is judged")
@pytest.mark.parametrize("measure", SETS)
def test_truncated_bounds_of_sets_are_those_of_all_continuations(measure: str) -> None:
    """Any of the missing relevant documents, and of the other documents of the collection, may continue the list."""
    checked = 0
    for seed in range(2):
        qrels, run = example(False, seed)
        for query, judged in qrels.items():
            listed = sum(judged.get(name, 0) > 0 for name in run[query])
            missing = sum(grade > 0 for grade in judged.values()) - listed
            items, others = len(run[query]), 3
            pair = {query: judged}, {query: run[query]}
            n_items = items + missing + others
            got = tp.evaluate_run(*pair, measures=[measure], truncated=True, n_items=n_items)[measure]
            values = []
            for more, of_others in itertools.product(range(missing + 1), range(others + 1)):
                order = (1,) * (listed + more) + (0,) * (items - listed + of_others)
                context = oracle.Context((1,) * (listed + missing), None)
                values.append(oracle.DEFINITIONS[measure](order, context))
            assert [got.lower, got.upper] == pytest.approx([float(min(values)), float(max(values))], rel=1e-12)
            endless = tp.evaluate_run(*pair, measures=[measure], truncated=True)[measure]
            if measure in ("SetP", "SetF", "SetAP"):
                assert endless.lower == 0.0
            assert endless.upper == got.upper
            checked += 1
    assert checked > 30
