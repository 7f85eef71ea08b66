"""Proofs, without any audit, of the faults of `shapes.py`; `proofs.py` says what a proof returns."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator

from studies.audit_rates.blind_spots import lower_bound
from studies.audit_rates.families import Evaluator
from studies.audit_rates.proofs import Proof
from studies.audit_rates.rankings import Array

RANDOM = np.random.default_rng(1)
ITEMS, ASKED, CLASSES = 240, 60, 10
LABELS = RANDOM.permutation(np.arange(ITEMS) % CLASSES)
QUERIES = LABELS[:ASKED]
RELEVANT = (QUERIES[:, None] == LABELS).astype(np.int64)
SCORES = RANDOM.integers(0, 256, size=RELEVANT.shape).astype(float)
BYTES = RANDOM.integers(0, 256, size=(ITEMS, 4)).astype(np.float32)
NAMES = [f"d{item}" for item in range(ITEMS)]


def by_name(rows: Array) -> dict[str, dict[str, Any]]:
    """Scores or relevance of the first queries as dictionaries."""
    return {f"q{query}": dict(zip(NAMES, row.tolist(), strict=True)) for query, row in enumerate(rows)}


def at_random(random: Generator) -> Array:
    """Scores without ties."""
    return np.asarray(random.random(RELEVANT.shape))


def gains(make: Callable[[Generator], Array]) -> Proof:
    """What scores that are made without labels give, and what random ones do."""

    def proof(evaluator: Evaluator) -> tuple[float, float]:
        def mean(scores: Callable[[Generator], Array]) -> float:
            return float(np.mean([evaluator(scores(np.random.default_rng(seed)), RELEVANT) for seed in range(5)]))

        return mean(make), mean(at_random)

    return proof


def on_top(count: int, level: float) -> Callable[[Generator], Array]:
    """Scores with so many items tied on top; the others are random, times a level."""

    def scores(random: Generator) -> Array:
        rows = at_random(random)
        return np.where(np.argsort(np.argsort(-rows)) < count, 2.0, level * rows)

    return scores


def one_farthest(random: Generator) -> Array:
    """Scores of 0 but for one item of each query."""
    return np.where(np.arange(ITEMS) == random.integers(ITEMS, size=(ASKED, 1)), -1.0, 0.0)


def of_scores(other: Callable[[Array], Array]) -> Proof:
    """The number of other scores that rank the same, and that of whole numbers from 0 to 255."""
    return lambda evaluator: (evaluator(other(SCORES), RELEVANT), evaluator(SCORES, RELEVANT))


def in_bytes(evaluator: Evaluator) -> tuple[float, float]:
    """The number of vectors as unsigned bytes, and as float32."""
    bytes_ = BYTES.astype(np.uint8)
    return evaluator(bytes_[:ASKED], QUERIES, bytes_, LABELS), evaluator(BYTES[:ASKED], QUERIES, BYTES, LABELS)


def renumbered(one: int, other: int) -> Proof:
    """The number with other numbers for two classes, which no other class has, and that with the usual numbers."""
    labels = np.where(LABELS == 1, one, np.where(LABELS == 2, other, LABELS))
    return lambda evaluator: (evaluator(BYTES, labels), evaluator(BYTES, LABELS))


def remembered(evaluator: Evaluator) -> tuple[float, float]:
    """Rows of a good system that are dealt to other items behind the first 40, after that system; and in truth."""
    good = np.eye(CLASSES, 16, dtype=np.float32)[LABELS]
    dealt = np.concatenate([good[:40], good[40:][::-1]])
    evaluator(good, LABELS)
    return evaluator(dealt, LABELS), lower_bound(dealt, LABELS)


def known(evaluator: Evaluator) -> tuple[float, float]:
    """A system that knows the labels, and random scores."""
    return evaluator(RELEVANT * 1.0, RELEVANT), evaluator(at_random(np.random.default_rng(2)), RELEVANT)


def silent(evaluator: Evaluator) -> tuple[float, float]:
    """A system that knows the labels and answers a tenth of the queries, and the share that it answers."""
    asked = np.arange(ASKED)[:, None] < ASKED // 10
    return evaluator(np.where(asked, RELEVANT, np.nan), RELEVANT), 0.1


def silent_run(evaluator: Evaluator) -> tuple[float, float]:
    """The same as a run."""
    return evaluator(by_name(RELEVANT), by_name(RELEVANT[: ASKED // 10])), 0.1


def below_zero(evaluator: Evaluator) -> tuple[float, float]:
    """A run half of whose scores are below 0, and the same with a larger number added to all."""
    judged = by_name(RELEVANT)
    return evaluator(judged, by_name(SCORES - 128)), evaluator(judged, by_name(SCORES + 1))


def turned(evaluator: Evaluator) -> tuple[float, float]:
    """A gallery of 4,097 items in the opposite order, and in its own."""
    labels = np.arange(4097) % CLASSES
    gallery = np.random.default_rng(2).normal(size=(4097, 4)).astype(np.float32)
    orders = slice(None, None, -1), slice(None)
    one, other = (evaluator(gallery[:20], labels[:20], gallery[order], labels[order]) for order in orders)
    return one, other


def of_zeros(labels: Array) -> Proof:
    """All-equal vectors, and random ones."""
    shape = (len(labels), 2)
    return lambda evaluator: (
        evaluator(np.zeros(shape), labels),
        evaluator(np.random.default_rng(2).normal(size=shape), labels),
    )


def of_the_first_class(evaluator: Evaluator) -> tuple[float, float]:
    """All-equal scores for queries of class 0, and random ones."""
    queries = np.zeros(ASKED, dtype=int)
    return evaluator(0 * SCORES, queries, LABELS), evaluator(at_random(np.random.default_rng(2)), queries, LABELS)


SHAPE_PROOFS: dict[str, Proof] = {
    "dense ranks": gains(on_top(10, 1.0)),
    "mean ranks": gains(on_top(19, 1.0)),
    "gamma": gains(one_farthest),
    "nearest threshold": gains(on_top(4, 0.0)),
    "negated bytes": of_scores(lambda scores: scores.astype(np.uint8)),
    "subtracted bytes": in_bytes,
    "labels in half precision": renumbered(4096, 4097),
    "labels in float32": renumbered(2**24, 2**24 + 1),
    "labels in four bytes": renumbered(3 + 2**32, 2),
    "absolute scores": of_scores(lambda scores: scores - 128),
    "positive scores only": below_zero,
    "cache by checksum": remembered,
    "cache by kilobyte": remembered,
    "farthest first": known,
    "mean of answered": silent,
    "mean of queries with lines": silent_run,
    "a cap": turned,
    "whole batches": turned,
    "above a million pairs": of_zeros(np.arange(1001) % CLASSES),
    "two classes": of_zeros(LABELS % 2),
    "majority": of_the_first_class,
}
"""The proof of each fault, by family."""
