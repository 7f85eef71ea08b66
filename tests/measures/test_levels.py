"""`rel`: only items of at least this grade are relevant, and all others remain in the rankings."""

import random
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from tieproof.measures import REGISTRY, parse

LEVEL = 2
BINARY = [
    name + ("@3" if definition.cutoff == "required" else "")
    for name, definition in REGISTRY.items()
    if not definition.graded and name != "AP(trapezoid)"  # whose name leaves no room for parameters
]
BINARY += ["AP@4", "AP(norm=hits)@4", "RR@3", "RBP(gain=linear)"]

Lists = dict[str, dict[str, float]]


def lists(seed: int) -> tuple[Lists, Lists]:
    """Judgments and a run of six queries; judged documents may be missing from the run, others have no judgment."""
    source = random.Random(seed)
    qrels: Lists = {}
    run: Lists = {}
    for query in map("q{}".format, range(6)):
        grades = [*(source.choice([0.0, 0, 1, 1, 2, 3]) for _ in range(9)), 0, 3]
        qrels[query] = {f"d{at}": grade for at, grade in enumerate(grades)}
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


def with_level(spelling: str) -> str:
    return str(parse(spelling)(rel=LEVEL))


@pytest.mark.parametrize("spelling", BINARY)
@pytest.mark.parametrize("options", [{}, {"truncated": True}, {"truncated": True, "n_items": 30}])
def test_smaller_grades_are_not_relevant(spelling: str, options: dict[str, Any]) -> None:
    if options and parse(spelling).definition.unjudged:
        with pytest.raises(tp.InputError, match="has no bounds over other lists"):
            tp.evaluate_run(*lists(0), measures=[with_level(spelling)], **options)
        return
    for seed in range(5):
        qrels, run = lists(seed)
        judged = at_least(LEVEL, qrels, keep="gain" in spelling)
        found = tp.evaluate_run(qrels, run, measures=[with_level(spelling)], **options)
        same = tp.evaluate_run(judged, run, measures=[spelling], empty="zero", **options)
        one, other = found.per_query(with_level(spelling)), same.per_query(spelling)
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
