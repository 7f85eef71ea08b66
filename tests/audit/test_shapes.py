"""Faults that only special data shows: each is proved, then found, and none that looks like them is accused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tieproof as tp
import zoo
import zoo_recall
from smaller_audits import few_items
from studies.audit_rates import shapes
from studies.audit_rates.families import FAMILIES
from studies.audit_rates.study import PROOFS
from tieproof.trials.audit import ATTACKS
from tieproof.trials.audit.cases import LAYOUTS
from tieproof.trials.audit.conventions import CONVENTIONS
from tieproof.trials.audit.examination import Examination, Options
from tieproof.trials.audit.outcomes import Outcome

pytestmark = pytest.mark.trials

FOUND_BY = {
    "zero on the diagonal": ("negative similarities",),
    "negative cosines merged": ("negative similarities",),
    "distance zero is self": ("mostly equal",),
    "near duplicates left out": ("half in a cluster",),
    "guard": ("equidistant vectors", "order search"),
    "successful classes only": ("one hub", "eleven hubs"),
    "failing items dropped": ("mostly nan",),
    "union of lists": ("the same documents",),
    "ties of 40 to 100": ("four vectors",),
    "even numbers": ("zeros",),
    "full blocks": ("zeros",),
    "ranks in a byte": ("zeros of more data",),
    "labels in a byte": ("relabelling",),
    "labels in two bytes": ("relabelling",),
    "first thousand": ("permuting at other sizes",),
    "last batch of one": ("permuting at other sizes",),
    "cache by repr": ("zeros in the middle of a good system",),
    "strides ignored": ("memory layout",),
    "sorts its scores": ("writing into arguments",),
    "dense ranks": ("ten on top", "nine on top"),
    "mean ranks": ("nineteen on top",),
    "gamma": ("one farthest",),
    "nearest threshold": ("a sixtieth above a tie",),
    "negated bytes": ("bytes",),
    "subtracted bytes": ("bytes",),
    "labels in half precision": ("relabelling",),
    "labels in float32": ("relabelling",),
    "labels in four bytes": ("relabelling",),
    "absolute scores": ("shifting scores",),
    "positive scores only": ("shifting scores",),
    "cache by checksum": ("a good system's rows after it",),
    "cache by kilobyte": ("only the first rows of a good system",),
    "farthest first": ("a good system",),
    "mean of answered": ("a tenth of the answers",),
    "mean of queries with lines": ("a tenth of the answers",),
    "a cap": ("permuting at other sizes",),
    "whole batches": ("permuting at other sizes",),
    "above a million pairs": ("zeros of much data",),
    "two classes": ("zeros",),
    "majority": ("zeros",),
}
"""The attacks that find the fault of each family of the study."""

OF_USUAL_SIZE = (
    *("near duplicates left out", "successful classes only", "failing items dropped", "ties of 40 to 100"),
    *("full blocks", "ranks in a byte", "cache by repr"),
    *("nearest threshold", "above a million pairs", "cache by kilobyte", "majority"),
)


def test_every_fault_has_attacks_that_find_it() -> None:
    """Half a deviation only a thorough audit finds; whether an address comes again, Python decides."""
    assert FOUND_BY.keys() == PROOFS.keys() - {"half a deviation", "cache by id"}


@pytest.mark.parametrize("name", FOUND_BY)
def test_every_fault_is_proved_and_found(name: str) -> None:
    family, size = FAMILIES[name], 240 if name in OF_USUAL_SIZE else 60
    evaluator = family.make(100, 0)
    claimed, allowed = PROOFS[name](evaluator)
    assert claimed > allowed + 0.004 if family.kind == "guilty" else abs(claimed - allowed) > 1e-4
    report = tp.audit(evaluator, takes=family.takes, attacks=FOUND_BY[name], items=size, queries=size)
    assert {each.attack for each in report.findings if not each.verdict.harmless} == {*FOUND_BY[name]}, report


OF_RECALL = {
    "true neighbors": (zoo_recall.within_a_share, -100.0, 0, 1.0),
    "ids out of range": (zoo_recall.ids_in_float32, 0.0, 1, 0.0),
}
"""Evaluators, by the attack that finds them: what is added to distances, and to ids, and the recall in truth."""


@pytest.mark.parametrize("attack", OF_RECALL)
def test_every_fault_of_a_recall_is_proved_and_found(attack: str) -> None:
    evaluator, move, other, recall = OF_RECALL[attack]
    ids = np.tile(2**25 + 4 * np.arange(20), (5, 1))
    distances = np.tile(np.arange(20.0) + move, (5, 1)).astype(np.float32)
    assert evaluator(ids[:, :10] + other, distances[:, :10], (ids, distances)) != recall
    assert not tp.audit(evaluator, takes="recall", attacks=[attack]).held


WIDE = [name for name, attack in ATTACKS.items() if attack.wide]

LIKE_GUILTY = (
    *("minus one on the diagonal", "all classes", "guard, lower bound"),
    *("batches", "cache by content", "half precision"),
)
"""Honest families of the study."""

HONEST: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "precision of 500": (shapes.precision_of_500, {"takes": "relevance"}),
    "facts": (shapes.with_facts, {"limits": None}),
    "signs": (shapes.hamming_of_signs, {"items": 120, "attacks": WIDE}),
    "worst places": (shapes.any_within_ten(shapes.worst), {"takes": "relevance"}),
    "whole galleries": (shapes.in_gallery(10**6, 1), {"attacks": ["permuting at other sizes", "bytes"]}),
    **{name: (FAMILIES[name].make(100, 0), {"takes": FAMILIES[name].takes}) for name in LIKE_GUILTY},
    **{f"{digits} digits": (zoo_recall.of_digits(digits), {"takes": "recall"}) for digits in (1, 2, 3)},
}


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.heavy) for seed in (1, 2, 3))])
@pytest.mark.parametrize("name", HONEST)
def test_no_honest_evaluator_is_accused(name: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if name != "whole galleries":
        few_items(monkeypatch)
    evaluator, options = HONEST[name]
    assert tp.audit(evaluator, **{"items": 60, "queries": 60, "seed": seed, **options}).held


def test_memory_is_tried_on_as_many_items_as_random_embeddings() -> None:
    examination = Examination(CONVENTIONS["gallery"], Options(), lambda case, settings: Outcome({}))
    for number in range(4):
        own, other = (examination.board(LAYOUTS["shuffled"], number, own=own) for own in (True, False))
        assert (len(own.labels), own.asked) == (len(other.labels), other.asked)
        assert own.labels.tolist() != other.labels.tolist()


def test_the_largest_class_is_the_first_or_the_last_by_number() -> None:
    random = np.random.default_rng(0)
    largest = {int(np.bincount(layout.labels(100, random)).argmax()) for layout in LAYOUTS.values()}
    assert {0, 9} <= largest


@pytest.mark.parametrize("name", WIDE)
def test_a_wide_system_is_compared_with_random_vectors_of_its_width(name: str) -> None:
    """The number gains by the width over random vectors of the usual width, and over no others."""

    def by_width(embeddings: Any, labels: Any) -> float:
        return zoo.lower(embeddings[:, :16], labels) / 2 + int(min(embeddings.shape[1], 100)) / 250

    assert tp.audit(by_width, attacks=[name], items=60).held
