"""bpref of runs, which uses only judged documents, compared with all orders of tied documents and with trec_eval."""

import itertools
import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from test_runs import Judgments, example, lines_of_qrels, lines_of_run, write

import oracle
import tieproof as tp


def bpref(judged: dict[str, float], documents: tuple[str, ...]) -> Fraction:
    """bpref of one strict order; documents without a judgment, or with a negative one, have no grade."""
    grades = [judged[name] if judged.get(name, -1) >= 0 else None for name in documents]
    relevant, others = sum(grade > 0 for grade in judged.values()), list(judged.values()).count(0)
    return oracle.preference([None if grade is None else Fraction(grade) for grade in grades], relevant, others)


def orders(ranking: list[list[str]]) -> list[tuple[str, ...]]:
    """Every order of the tied documents."""
    return [tuple(itertools.chain(*parts)) for parts in itertools.product(*map(itertools.permutations, ranking))]


def tied(scores: dict[str, float]) -> list[list[str]]:
    levels = sorted(set(scores.values()), reverse=True)
    return [[name for name, score in scores.items() if score == level] for level in levels]


def values(judged: dict[str, float], ranking: list[list[str]]) -> oracle.Estimates:
    return oracle.estimates([bpref(judged, order) for order in orders(ranking)])


@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_values_are_those_of_all_orders(graded: bool, seed: int) -> None:
    qrels, run = example(graded, seed)
    got = tp.evaluate_run(qrels, run, measures=["bpref"]).per_query("bpref")
    for at, query in enumerate(sorted(qrels)):
        one = values(qrels[query], tied(run[query]))
        found = [got.lower[at], got.expected[at], got.upper[at]]
        assert found == pytest.approx([float(one.lower), float(one.expected), float(one.upper)], rel=1e-12)
        assert got.std[at] == pytest.approx(one.std, rel=1e-12, abs=1e-15)


@pytest.mark.filterwarnings("ignore:The run. no document is judged")
@pytest.mark.parametrize("seed", range(3))
def test_truncated_bounds_are_those_of_all_continuations(seed: int) -> None:
    """Judged documents outside the run may be tied with its last documents; other documents do not count."""
    qrels, run = example(seed=seed)
    checked = 0
    for query, judged in qrels.items():
        ranking = tied(run[query])
        absent = [name for name, grade in judged.items() if grade >= 0 and name not in run[query]]
        if 0 not in judged.values() or len(ranking[-1]) + len(absent) > 6:
            continue
        got = tp.evaluate_run({query: judged}, {query: run[query]}, measures=["bpref", "AP"], truncated=True)["bpref"]
        found = [
            values(judged, [*ranking[:-1], [*ranking[-1], *joining]])
            for count in range(len(absent) + 1)
            for joining in itertools.combinations(absent, count)
        ]
        bounds = [float(min(one.lower for one in found)), float(max(one.upper for one in found))]
        assert [got.lower, got.upper] == pytest.approx(bounds, rel=1e-12)
        assert got.expected == pytest.approx(float(values(judged, ranking).expected), rel=1e-12)
        checked += 1
    assert checked > 4


def test_it_is_the_same_from_every_source_and_changes_no_other_measure(tmp_path: Path) -> None:
    qrels, run = example()
    files = write(tmp_path / "qrels", lines_of_qrels(qrels)), write(tmp_path / "run", lines_of_run(run))
    both, alone = (tp.evaluate_run(qrels, run, measures=names) for names in (["bpref", "AP"], ["AP"]))
    assert tp.evaluate_run(*files, measures=["bpref", "AP"]).to_json() == both.to_json()
    assert both["AP"] == alone["AP"]
    reversed_run = {query: dict(reversed(scores.items())) for query, scores in reversed(run.items())}
    assert tp.evaluate_run(qrels, reversed_run, measures=["bpref", "AP"]).to_json() == both.to_json()


def test_what_was_judged_not_relevant_is_part_of_the_data() -> None:
    qrels, run = example()
    others = {
        query: {name: grade for name, grade in of.items() if grade > 0 or name != "d1"} for query, of in qrels.items()
    }
    of_ap, of_bpref = (
        [tp.evaluate_run(judged, run, measures=[name]).fingerprint for judged in (qrels, others)]
        for name in ("AP", "bpref")
    )
    assert of_ap[0] == of_ap[1]
    assert of_bpref[0] != of_bpref[1]


def test_a_record_is_verified(tmp_path: Path) -> None:
    qrels, run = example()
    tp.evaluate_run(qrels, run, measures=["bpref", "RR"]).save(tmp_path / "run.tieproof")
    assert tp.verify(tmp_path / "run.tieproof", qrels, run)


def test_a_run_that_holds_no_judged_document_scores_zero() -> None:
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 0}, "q3": {"a": 2}}
    run = {"q1": {"x": 1.0}, "q2": {"a": 0.5, "b": 1.0}, "q4": {"a": 1.0}}
    for truncated in (False, True):
        got = tp.evaluate_run(qrels, run, measures=["bpref"], truncated=truncated).per_query("bpref")
        assert got.lower.tolist() == got.expected.tolist() == [0.0, 0.0, 0.0]
        assert got.upper.tolist() == [float(truncated), 0.0, 0.0]


def judged_runs(ties: bool) -> tuple[Judgments, Judgments]:
    """Larger runs, whose scores are exact in float32."""
    source = random.Random(11)
    qrels: Judgments = {}
    run: Judgments = {}
    for query in range(40):
        names = [f"d{number:03}" for number in range(60)]
        qrels[f"q{query:02}"] = {name: source.choice((-1, 0, 0, 0, 1, 2)) for name in source.sample(names, 30)}
        qrels[f"q{query:02}"] |= {"d000": 1, "d001": 0}
        scores = [source.randint(1, 9) for _ in range(45)] if ties else source.sample(range(200), 45)
        run[f"q{query:02}"] = {name: score / 16 for name, score in zip(source.sample(names, 45), scores, strict=True)}
    return qrels, run


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ties", [False, True])
def test_trec_eval_agrees_without_ties_and_is_inside_the_interval_with_them(ties: bool) -> None:
    library = pytest.importorskip("pytrec_eval")
    qrels, run = judged_runs(ties)
    found = library.RelevanceEvaluator(qrels, {"bpref"}).evaluate(run)
    theirs = np.array([found[query]["bpref"] for query in sorted(found)])
    ours = tp.evaluate_run(qrels, run, measures=["bpref"]).per_query("bpref")
    if not ties:
        np.testing.assert_array_equal(ours.lower, ours.upper)
        np.testing.assert_allclose(ours.lower, theirs, rtol=1e-6)
    assert (ours.lower <= theirs + 1e-6).all()
    assert (theirs - 1e-6 <= ours.upper).all()


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_ir_measures_and_ranx_agree_without_ties() -> None:
    """ranx counts documents with a negative grade as judged, so there are none here."""
    ranx, ir_measures = pytest.importorskip("ranx"), pytest.importorskip("ir_measures")
    qrels, run = judged_runs(ties=False)
    qrels = {query: {name: grade for name, grade in of.items() if grade >= 0} for query, of in qrels.items()}
    ours = tp.evaluate_run(qrels, run, measures=["bpref"]).per_query("bpref").expected
    theirs = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), "bpref", return_mean=False)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    values = {each.query_id: each.value for each in ir_measures.iter_calc([ir_measures.Bpref], qrels, run)}
    np.testing.assert_allclose(ours, [values[query] for query in sorted(values)], rtol=1e-6)


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_what_other_libraries_count_as_judged() -> None:
    """The behavior that docs/what_they_print.md describes."""
    ranx, pytrec_eval = pytest.importorskip("ranx"), pytest.importorskip("pytrec_eval")

    def values(qrels: Judgments, run: Judgments) -> tuple[float, float]:
        trec = pytrec_eval.RelevanceEvaluator(qrels, {"bpref"}).evaluate(run)["q"]["bpref"]
        return float(trec), float(ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), "bpref"))

    run: Judgments = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    negative: Judgments = {"q": {"a": -1, "b": 1, "c": 0}}
    assert values(negative, run) == (1.0, 0.0)
    assert tp.evaluate_run(negative, run, measures=["bpref"])["bpref"].lower == 1.0
    alone: Judgments = {"q": {"b": 1, "d": 1}}
    trec, of_ranx = values(alone, run)
    assert trec == 0.5
    assert np.isnan(of_ranx)
    with_another = alone | {"other": {"a": 0, "b": 1}}
    result = tp.evaluate_run(with_another, run | {"other": {"a": 1.0}}, measures=["bpref"])
    assert result.per_query("bpref").lower[result.query_ids.tolist().index("q")] == 0.5
