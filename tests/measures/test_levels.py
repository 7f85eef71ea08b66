"""`rel`: only items of at least this grade are relevant, and all others remain in the rankings."""

import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from command_line import exit_status
from tieproof.measures import REGISTRY, parse
from tieproof.ties import Array

LEVEL = 2
BINARY = [
    name + ("@3" if definition.cutoff == "required" else "")
    for name, definition in REGISTRY.items()
    if not definition.graded and name != "AP(trapezoid)"  # whose name leaves no room for parameters
]
BINARY += ["AP@4", "AP(norm=hits)@4", "RR@3", "RBP(gain=linear)"]

Lists = dict[str, dict[str, float]]


LEVELS = [0.5, 1, 2]
FRACTIONS = [0.0, 0, 0.25, 0.5, 0.99, 1, 1, 1.5, 2, 3]


def lists(seed: int, grades: Sequence[float] = (0.0, 0, 1, 1, 2, 3)) -> tuple[Lists, Lists]:
    """Judgments and a run of six queries; judged documents may be missing from the run, others have no judgment."""
    source = random.Random(seed)
    qrels: Lists = {}
    run: Lists = {}
    for query in map("q{}".format, range(6)):
        given = [*(source.choice(grades) for _ in range(9)), 0, 3]
        qrels[query] = {f"d{at}": grade for at, grade in enumerate(given)}
        run[query] = {f"d{at}": source.choice([0.1, 0.2, 0.3]) for at in range(14) if source.random() < 0.8}
    return qrels, run


def at_least(level: float, qrels: Lists, keep: bool) -> Lists:
    """The judgments with 0 for all smaller grades, and 1, or the grade itself, for the others."""
    return {
        query: {
            document: (grade if keep else 1) if grade >= level else min(grade, 0)
            for document, grade in judged.items()
        }
        for query, judged in qrels.items()
    }


def with_level(spelling: str, level: float = LEVEL) -> str:
    return str(parse(spelling)(rel=level))


def matrices(seed: int) -> tuple[Array, Array]:
    """Scores and fractional grades, some negative, of ten queries and twelve items; every query has a grade of 3."""
    random = np.random.default_rng(seed)
    grades = random.choice([*FRACTIONS, -1], size=(10, 12))
    grades[:, 5] = 3
    return random.integers(0, 3, grades.shape) + 0.25, grades


def binary(grades: Array, level: float) -> Array:
    return np.where(grades < 0, -1, grades >= level).astype(int)


def triples(grades: Array) -> Array:
    return np.array([(*at, grade) for at, grade in np.ndenumerate(grades)])


CALLS: dict[str, Callable[[Array, Array, list[str]], tp.Result]] = {
    "scores": lambda scores, grades, names: tp.evaluate_scores(scores, grades, measures=names),
    "distances": lambda scores, grades, names: tp.evaluate_distances(-scores, [*grades], measures=names),
    "embeddings": lambda scores, grades, names: tp.evaluate(
        scores, gallery=np.eye(12), relevance=triples(grades), distance="dot", measures=names
    ),
    "run": lambda scores, grades, names: tp.evaluate_run(
        {str(query): {str(item): grade for item, grade in enumerate(row)} for query, row in enumerate(grades)},
        {str(query): {str(item): score for item, score in enumerate(row)} for query, row in enumerate(scores)},
        measures=names,
    ),
}
for search in ("exact", "approximate", "returned"):
    CALLS[search] = (
        lambda scores, grades, names, search=search: tp.evaluate_neighbors(  # type: ignore[misc]
            np.argsort(-scores, kind="stable")[:, :6],
            scores=-np.sort(-scores)[:, :6],
            relevance=triples(grades),
            n_items=12,
            search=search,
            measures=names,
        )
    )


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("call", CALLS)
def test_a_level_of_fractional_grades_is_the_least_that_is_relevant(call: str, level: float) -> None:
    scores, grades = matrices(3)
    unknown = ("FirstRank",) if call == "returned" else ()  # lists without a relevant item have no first rank
    names = [name for name in BINARY if "gain" not in name and name[:2] != "R@" and name not in unknown]
    measures = [with_level(name, level) for name in names]
    found, same = CALLS[call](scores, grades, measures), CALLS[call](scores, binary(grades, level), names)
    for one, other in zip(measures, names, strict=True):
        assert found[one] == same[other], one
    assert found["RR(rel=1)" if level == 1 else with_level("RR", level)] != CALLS[call](scores, grades, ["RR"])["RR"]


def test_a_level_of_1_is_a_measure_of_its_own() -> None:
    """Without rel, all grades above 0 are relevant; for whole grades, as in ir_measures, it is the same number."""
    assert parse("AP(rel=1)") == parse("AP")(rel=1.0) != parse("AP")
    assert str(parse("AP(rel=1)@5")) == "AP(rel=1)@5"
    qrels, run = {"q": {"a": 0.5, "b": 1}}, {"q": {"a": 0.75, "b": 0.5}}
    found = tp.evaluate_run(qrels, run, measures=["RR", "RR(rel=1)", "RR(rel=0.5)"])
    assert [found[name].lower for name in found.measures] == [1.0, 0.5, 1.0]
    assert tp.evaluate_run(qrels, run, measures=["RR"])["RR"].lower == 1.0
    at_one = tp.evaluate_run(qrels, run, measures=["RR", "nDCG"], level=1)
    assert at_one.measures == ("RR(rel=1)", "nDCG")
    assert at_one["RR"] == at_one["RR(rel=1)"] == found["RR(rel=1)"]
    with pytest.raises(tp.InputError, match=r"no measure 'RR\(rel=1\)'; it has RR\."):
        tp.evaluate_run(qrels, run, measures=["RR"])["RR(rel=1)"]
    with pytest.raises(tp.InputError, match=r"different measures: RR and RR\(rel=1\)"):
        tp.compare({"above 0": tp.evaluate_run(qrels, run, measures=["RR"]), "one": at_one}, measures=["RR"])


def test_noise_of_a_level_that_leaves_nothing_out() -> None:
    scores, grades = matrices(4)
    whole = np.ceil(grades)
    found = tp.evaluate_scores(scores, whole, measures=["AP(rel=1)", "AP"], noise=0.5)
    assert found["AP(rel=1)"] == found["AP"]
    for given, level in ((grades, 1), (whole, 2)):
        with pytest.raises(tp.InputError, match="of grades, noise reads only whether they are above 0"):
            tp.evaluate_scores(scores, given, measures=[f"AP(rel={level})"], noise=0.5)


def test_the_distribution_of_a_level_is_that_of_relevant_items() -> None:
    scores, grades = matrices(5)
    found = tp.evaluate_scores(scores, grades, measures=["AP(rel=1)"])
    same = tp.evaluate_scores(scores, binary(grades, 1), measures=["AP"])
    one, other = found.distribution("AP(rel=1)", resolution=1e-4), same.distribution("AP", resolution=1e-4)
    assert one.quantile(0.25) == other.quantile(0.25)


def test_the_command_line_takes_a_level_of_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "qrels").write_text("q 0 a 0.5\nq 0 b 1\n", encoding="utf-8")
    (tmp_path / "run").write_text("q Q0 a 1 0.75 t\nq Q0 b 2 0.5 t\n", encoding="utf-8")
    for options, value in (([], "1.0000"), (["-l", "1"], "0.5000"), (["-l", "0.5"], "1.0000")):
        assert exit_status("run", str(tmp_path / "qrels"), str(tmp_path / "run"), "-m", "RR", "-q", *options) == 0
        assert capsys.readouterr().out.splitlines()[-1].split()[-1] == value


@pytest.mark.parametrize("spelling", BINARY)
@pytest.mark.parametrize("options", [{}, {"truncated": True}, {"truncated": True, "n_items": 30}])
@pytest.mark.parametrize("level", LEVELS)
def test_smaller_grades_are_not_relevant(spelling: str, options: dict[str, Any], level: float) -> None:
    if options and parse(spelling).definition.unjudged:
        with pytest.raises(tp.InputError, match="has no bounds over other lists"):
            tp.evaluate_run(*lists(0), measures=[with_level(spelling)], **options)
        return
    for seed in range(2 if level < LEVEL else 5):
        qrels, run = lists(seed) if level == LEVEL else lists(seed, FRACTIONS)
        judged = at_least(level, qrels, keep="gain" in spelling)
        measure = with_level(spelling, level)
        try:
            same = tp.evaluate_run(judged, run, measures=[spelling], empty="zero", **options)
        except tp.InputError as error:  # a list without any relevant document has no first rank
            assert spelling == "FirstRank"
            with pytest.raises(tp.InputError, match=re.escape(str(error)[:40])):
                tp.evaluate_run(qrels, run, measures=[measure], **options)
            continue
        found = tp.evaluate_run(qrels, run, measures=[measure], **options)
        one, other = found.per_query(measure), same.per_query(spelling)
        assert found.query_ids.tolist() == same.query_ids.tolist()
        for kind in ("lower", "expected", "upper", "std"):
            assert getattr(one, kind).tolist() == getattr(other, kind).tolist(), kind


def test_embeddings_with_grades() -> None:
    random = np.random.default_rng(0)
    queries, gallery = random.integers(0, 3, (8, 3)), random.integers(0, 3, (40, 3))
    pairs = np.array([(q, i, grade) for q in range(8) for i in range(40) if (grade := random.integers(0, 4))])
    names = [name for name in BINARY if name[:2] != "R@"]  # which needs Success@k beside it
    measures = [with_level(name) for name in names]
    found = tp.evaluate(queries, gallery=gallery, relevance=pairs, measures=measures)
    high = tp.evaluate(queries, gallery=gallery, relevance=pairs[pairs[:, 2] >= LEVEL], measures=names)
    for one, other in zip(measures, names, strict=True):
        assert found[one] == high[other]


def test_level_is_rel_of_all_measures_that_have_it() -> None:
    qrels, run = lists(9)
    found = tp.evaluate_run(qrels, run, level=2, measures=["AP", "nDCG@3", "P(rel=3)@3", "RBP(gain=linear)", "RBP"])
    assert list(found.measures) == ["AP(rel=2)", "nDCG@3", "P(rel=3)@3", "RBP(gain=linear)", "RBP(rel=2)"]
    assert found["nDCG@3"] == tp.evaluate_run(qrels, run, measures=["nDCG@3"])["nDCG@3"]
    assert tp.evaluate_run(qrels, run, level=1, measures=["AP"])["AP"] == tp.evaluate_run(qrels, run)["AP"]


def test_a_query_without_such_a_grade_scores_0() -> None:
    found = tp.evaluate_run(
        {"a": {"x": 1}, "b": {"x": 2}}, {"a": {"x": 1.0}, "b": {"x": 1.0}}, level=2, measures=["AP"]
    )
    assert found.per_query("AP(rel=2)").lower.tolist() == [0, 1]


def test_unknown_grades_are_not_guessed() -> None:
    with pytest.raises(tp.InputError, match=r"grades of 1 relevant items that are not in the lists are unknown"):
        tp.evaluate_scores([[1.0, 0.5]], [[2, 0]], n_relevant=[2], measures=["AP(rel=2)"])
    for level in (0, -1, float("nan"), True, "2"):
        with pytest.raises(tp.InputError, match="level must be the smallest grade"):
            tp.evaluate_run(*lists(0), level=level)  # type: ignore[arg-type]
