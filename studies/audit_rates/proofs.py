"""Proofs, without any audit, of the faults of `blind_spots.py`: a construction that gains, or that changes a number.

Each proof returns what an evaluator gives for the construction, and what it gives for random embeddings, or for the
same data as it was. The first number of a guilty evaluator is larger, that of one that changes is another.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from studies.audit_rates.families import Evaluator
from studies.audit_rates.rankings import Array

COUNT, CLASSES, DRAWS = 240, 10, 5
LABELS = np.arange(COUNT) * CLASSES // COUNT
"""Sorted by class: a blind system knows no class, but the order of the data may follow them."""

Proof = Callable[[Evaluator], tuple[float, float]]
Make = Callable[[np.random.Generator], Array]


def at_random(random: np.random.Generator) -> Array:
    """Normal vectors."""
    return random.normal(size=(COUNT, 16)).astype(np.float32)


def gains(make: Make) -> Proof:
    """The mean score of vectors that are made without labels, and that of random ones."""

    def proof(evaluator: Evaluator) -> tuple[float, float]:
        numbers = [
            [evaluator(vectors(np.random.default_rng(seed)), LABELS) for seed in range(DRAWS)]
            for vectors in (make, at_random)
        ]
        blind, random = map(np.mean, numbers)
        return float(blind), float(random)

    return proof


def gains_in_a_gallery(make: Make, size: int) -> Proof:
    """As `gains`, with 40 queries, each a copy of an item at random, and a gallery of so many items."""

    def proof(evaluator: Evaluator) -> tuple[float, float]:
        found: list[list[float]] = [[], []]
        labels = np.arange(size) % CLASSES
        for seed in range(DRAWS):
            random = np.random.default_rng(seed)
            query_labels = random.integers(CLASSES, size=40)
            usual = random.normal(size=(size, 16))
            found[1].append(evaluator(random.normal(size=(40, 16)), query_labels, usual, labels))
            items = make(random)
            found[0].append(evaluator(np.zeros((40, items.shape[1])), query_labels, items, labels))
        return float(np.mean(found[0])), float(np.mean(found[1]))

    return proof


def changes(other: Callable[[Array, Array], tuple[Array, Array]], count: int = COUNT) -> Proof:
    """The number after a change that must not matter, and before it, of vectors in overlapping classes."""

    def proof(evaluator: Evaluator) -> tuple[float, float]:
        labels = np.arange(count) % CLASSES
        random = np.random.default_rng(1)
        vectors = random.normal(size=(CLASSES, 16))[labels] + random.normal(size=(count, 16))
        before = evaluator(vectors.copy(), labels.copy())
        return evaluator(*other(vectors, labels)), before

    return proof


def permuted(vectors: Array, labels: Array) -> tuple[Array, Array]:
    """The same items in another order."""
    order = np.random.default_rng(2).permutation(len(labels))
    return vectors[order], labels[order]


def simplex(random: np.random.Generator) -> Array:
    """Nearly the corners of a simplex: all similarities are negative."""
    return random.permutation(COUNT * np.eye(COUNT) - 1) + 0.01 * random.normal(size=(COUNT, COUNT))


def mostly_equal(random: np.random.Generator) -> Array:
    """Twelve different vectors, and one vector for all other items."""
    return np.where((random.permutation(COUNT) < 12)[:, None], at_random(random), random.normal(size=16))


def mostly_nan(random: np.random.Generator) -> Array:
    """Twelve vectors, and NaN."""
    return np.where((random.permutation(COUNT) < 12)[:, None], at_random(random), np.nan)


def hub(random: np.random.Generator) -> Array:
    """One vector at the place of all queries, and others that are far away."""
    vectors = 9 + at_random(random)
    vectors[random.integers(COUNT)] = 0
    return vectors


def by_union(evaluator: Evaluator) -> tuple[float, float]:
    """The same ten documents for all queries, and all documents."""
    random = np.random.default_rng(1)
    names = [f"d{item}" for item in range(COUNT)]
    qrels = {
        f"q{query}": {name: int(label == query % CLASSES) for name, label in zip(names, LABELS, strict=True)}
        for query in range(40)
    }
    few = random.choice(names, 10, replace=False).tolist()

    def run(documents: list[str]) -> dict[str, dict[str, Any]]:
        return {query: dict(zip(documents, random.random(len(documents)).tolist(), strict=True)) for query in qrels}

    return evaluator(qrels, run(few)), evaluator(qrels, run(names))


def by_another_label(evaluator: Evaluator) -> tuple[float, float]:
    """One class has a number that is 65,536 larger than that of another."""
    return changes(lambda vectors, labels: (vectors, np.where(labels == 1, 65_536, labels)))(evaluator)


def after(evaluator: Evaluator) -> tuple[float, float]:
    """Vectors that are zero in the middle, after others whose corners are the same; and with another corner."""
    good = np.eye(CLASSES, 16)[LABELS]
    emptied = good.copy()
    emptied[3:-3, 3:-3] = 0
    evaluator(good, LABELS)
    remembered = evaluator(emptied, LABELS)
    return remembered, evaluator(emptied[::-1].copy(), LABELS[::-1].copy())


def at_one_address(evaluator: Evaluator) -> tuple[float, float]:
    """An array that is overwritten, and a new array with the same content."""
    vectors = np.eye(CLASSES, 16)[LABELS]
    evaluator(vectors, LABELS)
    vectors[:] = at_random(np.random.default_rng(1))
    return evaluator(vectors, LABELS), evaluator(vectors.copy(), LABELS)


def written(evaluator: Evaluator) -> tuple[float, float]:
    """The sum of |scores - their copy| after the call, and 0."""
    scores = np.random.default_rng(1).random((40, COUNT))
    kept = scores.copy()
    evaluator(scores, LABELS[:40], LABELS)
    return float(np.abs(scores - kept).sum()), 0.0


PROOFS: dict[str, Proof] = {
    "half a deviation": gains(lambda random: np.zeros((COUNT, 16))),
    "zero on the diagonal": gains(simplex),
    "negative cosines merged": gains(simplex),
    "distance zero is self": gains(mostly_equal),
    "near duplicates left out": gains(mostly_equal),
    "guard": gains(lambda random: np.eye(COUNT)),
    "successful classes only": gains_in_a_gallery(hub, COUNT),
    "failing items dropped": gains(mostly_nan),
    "union of lists": by_union,
    "ties of 40 to 100": gains(lambda random: random.normal(size=(4, 16))[random.integers(4, size=COUNT)]),
    "even numbers": gains(lambda random: np.zeros((COUNT, 16))),
    "full blocks": gains(lambda random: np.zeros((COUNT, 16))),
    "ranks in a byte": gains_in_a_gallery(lambda random: np.zeros((600, 16)), 600),
    "labels in a byte": by_another_label,
    "labels in two bytes": by_another_label,
    "first thousand": changes(permuted, 1500),
    "last batch of one": changes(permuted, 257),
    "cache by repr": after,
    "cache by id": at_one_address,
    "strides ignored": changes(lambda vectors, labels: (np.asfortranarray(vectors), labels)),
    "sorts its scores": written,
}
"""The proof of each fault, by family."""
