"""Faults that show only in ties of a shape, in types, at sizes or by good systems: each is proved, then found."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tieproof as tp
import zoo
import zoo_guilty
import zoo_shapes
from smaller_audits import few_items
from tieproof.trials.audit import ATTACKS
from tieproof.trials.audit.cases import LAYOUTS
from tieproof.trials.audit.conventions import CONVENTIONS
from tieproof.trials.audit.examination import Examination, Options
from tieproof.trials.audit.outcomes import Outcome

pytestmark = pytest.mark.trials

Evaluator = Callable[..., Any]
Proof = Callable[[Evaluator], tuple[float, float]]
RANDOM = np.random.default_rng(1)
LABELS = RANDOM.permutation(np.arange(240) % 10)
RELEVANT = (LABELS[:60, None] == LABELS).astype(np.int64)


def gain(make: Callable[[], Any], relevance: Any = RELEVANT) -> Proof:
    """What scores that are made without labels give, and what random ones do."""

    def proof(evaluator: Evaluator) -> tuple[float, float]:
        blind, random = (
            float(np.mean([evaluator(scores(), relevance) for _ in range(5)]))
            for scores in (make, lambda: RANDOM.random(relevance.shape))
        )
        return blind, random

    return proof


def tops(count: int, level: float = 0.0) -> Callable[[], Any]:
    """Scores with so many items tied on top; the others are random, times a level."""

    def scores() -> Any:
        rows = RANDOM.random(RELEVANT.shape)
        nearest = np.argsort(np.argsort(-rows)) < count
        return np.where(nearest, 2.0, level * rows)

    return scores


def change(make: Callable[[Evaluator], tuple[Any, Any]]) -> Proof:
    return lambda evaluator: make(evaluator)


SCORES = RANDOM.integers(0, 256, size=RELEVANT.shape).astype(float)
BYTES = RANDOM.integers(0, 256, size=(240, 4)).astype(np.float32)
GALLERY = (BYTES[:60], LABELS[:60], BYTES, LABELS)
NAMES = [f"d{item}" for item in range(240)]
QRELS = {f"q{query}": dict(zip(NAMES, row.tolist(), strict=True)) for query, row in enumerate(RELEVANT)}


def run_of(scores: Any, asked: int = 60) -> dict[str, dict[str, float]]:
    return {f"q{query}": dict(zip(NAMES, row.tolist(), strict=True)) for query, row in enumerate(scores[:asked])}


def renumbered(other: int) -> Proof:
    """One class has another number that no other class has."""
    return lambda evaluator: (
        evaluator(BYTES, np.where(LABELS == 1, other + 1, np.where(LABELS == 2, other, LABELS))),
        evaluator(BYTES, LABELS),
    )


def remembered(evaluator: Evaluator) -> tuple[float, float]:
    """Rows that are dealt to other items only behind the first 40, after a good system; and in a new evaluator."""
    good = np.eye(10, 16, dtype=np.float32)[LABELS]
    dealt = np.concatenate([good[:40], good[40:][::-1]])
    evaluator(good, LABELS)
    return evaluator(dealt, LABELS), zoo.lower(dealt, LABELS)


def at_a_size(items: int) -> Proof:
    """A number of a gallery in another order, and in this one."""
    labels = np.arange(items) % 10
    gallery = RANDOM.normal(size=(items, 4)).astype(np.float32)
    return (
        lambda evaluator: tuple(  # type: ignore[return-value]
            evaluator(gallery[:20], labels[:20], gallery[order], labels[order])
            for order in (slice(None, None, -1), slice(None))
        )
    )


def of_lists(move: float, ids: int, other: int) -> Proof:
    """The recall of all true neighbors, or of what is next to them by id; and what it is in truth."""
    true = np.tile(ids + 4 * np.arange(20), (5, 1))
    distances = np.tile(np.arange(20.0) + move, (5, 1)).astype(np.float32)
    return lambda evaluator: (
        evaluator(true[:, :10] + other, distances[:, :10], (true, distances)),
        float(other == 0),
    )


GUILTY: dict[str, tuple[Evaluator, Proof, set[str], dict[str, Any]]] = {
    "dense ranks": (
        zoo_shapes.any_within_ten(zoo_shapes.shared_place),
        gain(tops(10, 1.0)),
        {"ten on top", "nine on top"},
        {"takes": "relevance"},
    ),
    "mean ranks": (
        zoo_shapes.any_within_ten(zoo_shapes.mean_place),
        gain(tops(19, 1.0)),
        {"nineteen on top"},
        {"takes": "relevance"},
    ),
    "gamma": (
        zoo_shapes.gamma,
        gain(lambda: (np.arange(240) == RANDOM.integers(240, size=(60, 1))) * -1.0),
        {"one farthest"},
        {"takes": "relevance"},
    ),
    "nearest threshold": (
        zoo_shapes.recall_near_false_positives,
        gain(tops(4)),
        {"a sixtieth above a tie"},
        {"takes": "relevance", "queries": 240, "items": 240},
    ),
    "negated": (
        zoo_shapes.negated,
        lambda evaluator: (evaluator(SCORES.astype(np.uint8), RELEVANT), evaluator(SCORES, RELEVANT)),
        {"bytes"},
        {"takes": "relevance"},
    ),
    "subtracted": (
        zoo_shapes.subtracted,
        lambda evaluator: (evaluator(*(each.astype(np.uint8) for each in GALLERY)), evaluator(*GALLERY)),
        {"bytes"},
        {"takes": "gallery"},
    ),
    "float16 labels": (zoo_shapes.labels_kept_as("float16"), renumbered(4096), {"relabelling"}, {}),
    "float32 labels": (zoo_shapes.labels_kept_as("float32"), renumbered(2**24), {"relabelling"}, {}),
    "int32 labels": (zoo_shapes.labels_kept_as("int32"), renumbered(2**32 + 2), {"relabelling"}, {}),
    "absolute": (
        zoo_shapes.absolute,
        lambda evaluator: (evaluator(SCORES - 128, RELEVANT), evaluator(SCORES, RELEVANT)),
        {"shifting scores"},
        {"takes": "relevance"},
    ),
    "positive only": (
        zoo_shapes.positive_only,
        lambda evaluator: (evaluator(QRELS, run_of(SCORES - 128)), evaluator(QRELS, run_of(SCORES + 1))),
        {"shifting scores"},
        {"takes": "run"},
    ),
    "by checksum": (
        zoo_guilty.Cache(zoo_shapes.by_checksum),
        remembered,
        {"a good system's rows after it"},
        {},
    ),
    "by the first kilobyte": (
        zoo_guilty.Cache(zoo_shapes.by_first_kilobyte),
        remembered,
        {"only the first rows of a good system"},
        {"items": 240},
    ),
    "farthest first": (
        zoo_shapes.farthest_first,
        lambda evaluator: (-evaluator(RELEVANT * 1.0, RELEVANT), -evaluator(SCORES, RELEVANT)),
        {"a good system"},
        {"takes": "relevance"},
    ),
    "mean of answered": (
        zoo_shapes.mean_of_answered,
        lambda evaluator: (
            evaluator(np.where(np.arange(60)[:, None] < 6, RELEVANT, np.nan), RELEVANT),
            evaluator(np.where(np.arange(60)[:, None] < 6, RELEVANT, 0.0), RELEVANT),
        ),
        {"a tenth of the answers"},
        {"takes": "relevance"},
    ),
    "mean of queries with lines": (
        zoo_shapes.mean_of_queries_with_lines,
        lambda evaluator: (evaluator(QRELS, run_of(RELEVANT, 6)), 0.1),
        {"a tenth of the answers"},
        {"takes": "run"},
    ),
    "a cap": (zoo_shapes.in_gallery(2048, 1), at_a_size(4097), {"permuting at other sizes"}, {"takes": "gallery"}),
    "batches of 4,096": (
        zoo_shapes.in_gallery(10**6, 4096),
        at_a_size(4097),
        {"permuting at other sizes"},
        {"takes": "gallery"},
    ),
    "above a million pairs": (
        zoo_shapes.upper_above_a_million_pairs,
        lambda evaluator: (evaluator(np.zeros((1001, 2)), np.arange(1001) % 10), 0.2),
        {"zeros of much data"},
        {"items": 240},
    ),
    "majority": (
        zoo_shapes.majority_of_five,
        lambda evaluator: (
            evaluator(np.zeros((60, 240)), np.zeros(60, dtype=int), LABELS),
            evaluator(SCORES, np.zeros(60, dtype=int), LABELS),
        ),
        {"zeros"},
        {"takes": "scores", "queries": 240, "items": 240},
    ),
    "two classes": (
        zoo_shapes.upper_of_two_classes,
        lambda evaluator: (evaluator(np.zeros((240, 2)), LABELS % 2), 0.6),
        {"zeros"},
        {},
    ),
    "a share of the last": (
        zoo_shapes.within_a_share,
        lambda evaluator: tuple(-number for number in of_lists(-100.0, 0, 0)(evaluator)),  # type: ignore[return-value]
        {"true neighbors"},
        {"takes": "recall"},
    ),
    "ids in float32": (
        zoo_shapes.ids_in_float32,
        of_lists(0.0, 2**25, 1),
        {"ids out of range"},
        {"takes": "recall"},
    ),
}
"""Evaluators, the proof of their fault without an audit, the attacks that find it, and options.

The first number of a proof is one that the second does not allow: larger, or, of the same data, another one.
"""


@pytest.mark.parametrize("name", GUILTY)
def test_every_fault_is_proved_and_found(name: str) -> None:
    evaluator, proof, attacks, options = GUILTY[name]
    claimed, allowed = proof(evaluator)
    assert abs(claimed - allowed) > 1e-4
    report = tp.audit(evaluator, attacks=sorted(attacks), **{"items": 60, "queries": 60, **options})
    assert {each.attack for each in report.findings if not each.verdict.harmless} == attacks, report


HONEST: dict[str, tuple[Evaluator, dict[str, Any]]] = {
    "precision of 500": (zoo_shapes.precision_of_500, {"takes": "relevance"}),
    "facts": (zoo_shapes.with_facts, {"limits": None}),
    "hamming": (zoo_shapes.hamming_of_signs, {"items": 120}),
    "worst places": (zoo_shapes.any_within_ten(zoo_shapes.worst), {"takes": "relevance"}),
    "every label": (zoo_shapes.labels_kept_as("int64"), {}),
    "whole galleries": (zoo_shapes.in_gallery(10**6, 1), {}),
    **{
        f"recall of {digits} digits": (zoo_shapes.recall_of_digits(digits), {"takes": "recall"})
        for digits in (1, 2, 3)
    },
}


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.heavy) for seed in (1, 2, 3))])
@pytest.mark.parametrize("name", HONEST)
def test_no_honest_evaluator_is_accused(name: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if name != "whole galleries":
        few_items(monkeypatch)
    evaluator, options = HONEST[name]
    report = tp.audit(evaluator, **{"items": 60, "queries": 60, "seed": seed, **options})
    assert report.held, report


def test_memory_is_tried_on_as_many_items_as_random_embeddings() -> None:
    examination = Examination(CONVENTIONS["gallery"], Options(), lambda case, settings: Outcome({}))
    for number in range(4):
        own, other = (examination.board(LAYOUTS["shuffled"], number, own=own) for own in (True, False))
        assert (len(own.labels), own.asked) == (len(other.labels), other.asked)
        assert own.labels.tolist() != other.labels.tolist()


def test_the_largest_class_is_the_first_or_the_last_by_number() -> None:
    largest = {np.bincount(layout.labels(100, RANDOM)).argmax() for layout in LAYOUTS.values()}
    assert {0, 9} <= largest


@pytest.mark.parametrize("name", [name for name, attack in ATTACKS.items() if attack.wide])
def test_a_wide_system_is_compared_with_random_vectors_of_its_width(name: str) -> None:
    """An evaluator of the width gains over random vectors of the usual width, and over no others."""

    def by_width(embeddings: Any, labels: Any) -> float:
        zoo.refuse(embeddings)
        return zoo.lower(embeddings[:, :16], labels) / 2 + min(embeddings.shape[1], 100) / 250

    assert tp.audit(by_width, attacks=[name], items=60).held
