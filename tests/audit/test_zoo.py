"""Audits of evaluators that look wrong but are right, and of evaluators that look right but are wrong."""

from collections.abc import Callable
from typing import Any

import pytest

import tieproof as tp
import zoo
import zoo_guilty
import zoo_honest
from smaller_audits import few_items
from studies.audit_rates import honest, rankings
from tieproof.trials.audit import ATTACKS

pytestmark = pytest.mark.trials

TIED = ["zeros", "one ulp", "two vectors", "groups of eight", "duplicates", "order search"]
"""Attacks in which mostly the breaking of ties decides."""

HONEST: dict[str, tuple[Callable[..., float], dict[str, Any]]] = {
    "seeds per query": (zoo_honest.SeedPerQuery(1), {}),
    "one shuffle": (zoo_honest.OneShuffle(1), {}),
    "fresh chance": (zoo.breaks_ties_by_chance, {}),
    "noise": (zoo_honest.noisy, {}),
    "median": (zoo_honest.median, {}),
    "geometric mean": (zoo_honest.geometric_mean, {}),
    "median of a gallery": (zoo_honest.median_of_gallery, {}),
    "macro": (zoo_honest.macro, {"average": "macro"}),
    "pooled": (zoo_honest.pooled_area, {"takes": "relevance", "pooled": True}),
    "thresholds": (zoo_honest.precision_above, {"takes": "relevance", "thresholds": True}),
    "rounded scores": (zoo_honest.of_rounded_scores, {"takes": "relevance"}),
    "labels of digits": (zoo_honest.of_digits, {}),
    "logs": (zoo_honest.Logs(), {}),
    "cameras": (
        zoo_honest.with_cameras,
        {"takes": "embeddings and groups", "measure": "AP", "distance": "euclidean"},
    ),
    "cameras of a gallery": (zoo_honest.with_cameras_of_gallery, {"measure": "AP", "distance": "euclidean"}),
}
BY_CHANCE = ("seeds per query", "one shuffle", "fresh chance", "noise")
ANOTHER_AVERAGE = ("median", "geometric mean", "median of a gallery")


AT_ALL_SIZES = ("one shuffle", "cameras of a gallery")
"""Evaluators of both kinds that are audited with 1,601 items, too."""


@pytest.mark.parametrize("name", HONEST)
def test_no_honest_evaluator_is_accused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name not in AT_ALL_SIZES:
        few_items(monkeypatch)
    evaluator, options = HONEST[name]
    report = tp.audit(evaluator, **{"items": 60, "queries": 60, **options})
    assert not report.exploitable, report
    found = {str(finding.verdict) for finding in report.findings if not finding.verdict.harmless}
    if name in BY_CHANCE:
        assert found <= {"changes", "depends on order"}
    elif name == "rounded scores":
        assert {finding.attack for finding in report.findings if not finding.verdict.harmless} == {"scaling"}
    elif name in ANOTHER_AVERAGE:
        assert found <= {"gains a little"}
    else:
        assert report.held, report


@pytest.mark.parametrize("evaluator", [zoo_honest.median, zoo_honest.geometric_mean])
def test_another_average_that_was_declared_is_held(evaluator: Callable[..., float]) -> None:
    assert tp.audit(evaluator, average="other", items=60, attacks=TIED).held


@pytest.mark.parametrize(
    ("average", "seed", "attack"),
    [
        (rankings.median, 1, "zeros of more data"),
        (rankings.mean, 26, "zeros of more data"),
        (rankings.mean, 18, "zeros of much data"),
        (rankings.geometric_mean, 57, "zeros"),
    ],
)
def test_the_luck_of_one_shuffle_is_no_gain_though_it_returns_in_every_draw(
    average: honest.Average, seed: int, attack: str
) -> None:
    evaluator = honest.by_chance("gallery", honest.TIES["one shuffle"], average)(100, seed)
    report = tp.audit(evaluator, takes="gallery", attacks=[attack], items=80, queries=80, seed=seed)
    assert not report.exploitable, report


@pytest.mark.parametrize("seeds", [range(8), pytest.param(range(8, 40), marks=pytest.mark.heavy)])
@pytest.mark.parametrize("evaluator", [zoo_honest.SeedPerQuery, zoo_honest.OneShuffle])
def test_no_seed_is_accused(evaluator: Callable[[int], Callable[..., float]], seeds: range) -> None:
    accused = [
        seed
        for seed in seeds
        if tp.audit(evaluator(seed), attacks=["zeros", "two vectors"], items=40, seed=seed).exploitable
    ]
    assert accused == []


GUILTY: dict[str, tuple[Callable[..., float], str, dict[str, Any]]] = {
    "argsort()[::-1][:k]": (zoo_guilty.last_first, "zeros", {"takes": "relevance"}),
    "first of the nearest": (
        zoo_guilty.first_of_nearest,
        "zeros",
        {"takes": "relevance", "items": 240, "queries": 600},
    ),
    "two looks": (zoo_guilty.two_looks, "zeros", {"takes": "relevance", "queries": 600}),
    "ties of three to ten": (zoo_guilty.ties_of_three_to_ten, "groups of eight", {}),
    "hit queries only": (zoo_guilty.hit_queries_only, "isolated pairs", {}),
    "hits of runs only": (zoo_guilty.hits_of_runs_only, "one document", {"takes": "run"}),
    "ideal of what was found": (zoo_guilty.ideal_of_what_was_found, "one document", {"takes": "run"}),
    "precision over what was returned": (
        zoo_guilty.precision_over_what_was_returned,
        "ten documents",
        {"takes": "run"},
    ),
    "strict padding": (zoo_guilty.strict_padding, "one document", {"takes": "run"}),
    "missing queries skipped": (
        zoo_guilty.missing_queries_skipped,
        "first queries",
        {"takes": "run", "items": 100, "queries": 240},
    ),
    "empty is perfect": (zoo_guilty.empty_is_perfect, "empty lists", {"takes": "run"}),
    "lines": (zoo_guilty.counts_lines, "repeated documents", {"takes": "files", "items": 40, "queries": 40}),
    "cache by labels": (zoo_guilty.cache_by_labels(), "zeros after a good system", {}),
    "best so far": (zoo_guilty.BestSoFar(), "zeros after a good system", {}),
    "cache by labels, random vectors": (zoo_guilty.cache_by_labels(), "random vectors after a good system", {}),
    "best so far, a good system": (zoo_guilty.BestSoFar(), "other systems before", {}),
    "much data": (zoo_guilty.stable_where_there_is_much, "zeros of much data", {"items": 240}),
}


@pytest.mark.parametrize("name", GUILTY)
def test_every_guilty_evaluator_is_seen(name: str) -> None:
    evaluator, attack, options = GUILTY[name]
    found = tp.audit(evaluator, attacks=[attack], **{"items": 60, "queries": 60, **options}).finding(attack)
    assert found.verdict == ("exploitable" if ATTACKS[attack].kind == "blind" else "changes"), found


def test_an_evaluator_with_one_score_for_all_random_embeddings() -> None:
    report = tp.audit(zoo_guilty.cache_by_shape(), attacks=["zeros"], items=60)
    assert report.finding("random embeddings").verdict == "changes"


def test_the_first_call_of_a_process() -> None:
    report = tp.audit("zoo_guilty:kind_at_first", attacks=["zeros", "zeros in a new process"], isolate=True, items=60)
    assert report.finding("zeros").verdict == "held"
    assert report.finding("zeros in a new process").verdict == "exploitable"


def test_documents_named_in_order() -> None:
    """trec_eval and others break ties by the names of documents: with random names, nothing is gained."""
    found = tp.audit(zoo_guilty.by_document, takes="run", attacks=["zeros"], items=60, queries=60).finding("zeros")
    assert (found.verdict, found.renamed) == ("exploitable", "held")
    said = "Documents are named in the order of the items; with random names, the verdict is held, and the score "
    assert said in found.detail


@pytest.mark.heavy
def test_scikit_learn_that_ignores_ties() -> None:
    pytest.importorskip("sklearn")
    assert tp.audit(zoo_guilty.ndcg_ignoring_ties, takes="relevance", attacks=["zeros"]).exploitable


def test_time_for_compilation_is_no_fault() -> None:
    report = tp.audit(zoo_honest.Compiles(0.5), attacks=["zeros", "zeros of much data"], items=40, time_limit=0.2)
    assert report.held


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.heavy) for seed in (1, 2, 3))])
def test_the_size_of_numbers_alone_is_no_fault(seed: int) -> None:
    attacks = ["huge norms", "overflow"]
    options: dict[str, Any] = {"takes": "relevance", "items": 80, "queries": 80, "seed": seed}
    assert tp.audit(zoo_honest.of_rounded_scores, attacks=attacks, **options).held


def test_the_order_search_alone_finds_no_exploit() -> None:
    report = tp.audit(zoo.stable_sort, attacks=["order search"], items=60)
    assert not report.exploitable
    assert report.finding("order search").verdict == "depends on order"


def test_attacks_that_are_skipped() -> None:
    blind = {attack.name for attack in ATTACKS.values() if attack.kind == "blind"}
    report = tp.audit(zoo.lower, skip=sorted(blind), items=60)
    assert not {finding.attack for finding in report.findings} & blind
    with pytest.raises(tp.InputError, match="No attack is left"):
        tp.audit(zoo.lower, attacks=["zeros"], skip=["zeros"])
    with pytest.raises(tp.InputError, match="Unknown attack 'one'"):
        tp.audit(zoo.lower, skip=["one"])


def test_how_much_would_have_been_seen() -> None:
    few, many = (tp.audit(zoo.expected, attacks=["zeros"], items=items) for items in (60, 240))
    assert few.power["score"] > 1.5 * many.power["score"] > 0
    assert "would hardly have been missed" in " ".join(str(many).split())
    assert (many.items, many.queries) == (240, 240)
