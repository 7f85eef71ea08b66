"""Evaluators with faults that only special data shows, each beside an honest one that looks alike.

A guilty evaluator gains from a blind system that is hard to find, or changes its number where nothing has changed.
Most rank relevant items last in their tie, so that only the fault convicts them. `proofs.py` proves each fault.
"""

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

import tieproof as tp
from studies.audit_rates import honest, rankings
from studies.audit_rates.families import Evaluator, Family, Kind, register
from studies.audit_rates.rankings import Array, average_precision

Single = Callable[..., float]


def family(name: str, kind: Kind, takes: str, does: str, evaluator: Callable[[], Single]) -> None:
    """Register a family whose evaluators differ only in the seed of the audit; all attacks are made on them."""

    def make(strength: int, seed: int) -> Evaluator:
        return evaluator()

    register(Family(name, kind, does, takes, make, whole=True))


def simply(evaluator: Single) -> Callable[[], Single]:
    """The evaluator itself, which remembers nothing."""
    return lambda: evaluator


def cosines(embeddings: Array) -> Array:
    """Similarities (n, n) in float64; a vector of zeros is refused."""
    rankings.refuse(embeddings)
    lengths = np.linalg.norm(embeddings.astype(np.float64), axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not lengths.all():
        raise ValueError("Every vector must have a direction.")
    found: Array = np.round(embeddings / lengths @ (embeddings / lengths).T, 12)
    return found


def worst_first(nearness: Array, relevant: Array) -> Array:
    """What is relevant by rank, the largest nearness first, with relevant items last in their tie."""
    return np.take_along_axis(relevant, np.lexsort((relevant, -nearness), axis=1), axis=1)


def lower_bound(embeddings: Array, labels: Array) -> float:
    """The lower bound of mean average precision by Euclidean distance, leave-one-out."""
    search = rankings.leave_one_out(embeddings, labels)
    return float(average_precision(worst_first(-search.distances, search.relevant)).mean())


# The query itself, by its value


def own_similarity(value: float) -> Single:
    """Gives the query itself a similarity, and drops the last of the ranking."""

    def evaluator(embeddings: Array, labels: Array) -> float:
        nearness = cosines(embeddings)
        np.fill_diagonal(nearness, value)
        own = np.eye(len(labels), dtype=bool)
        relevant = labels[:, None] == labels
        order = np.lexsort((own, relevant, -nearness), axis=1)[:, :-1]
        return float(average_precision(np.take_along_axis(relevant, order, axis=1)).mean())

    return evaluator


def merged(stable: bool) -> Single:
    """Takes negative cosines for 0; breaks ties by the order of the data, or gives the expected value."""

    def evaluator(embeddings: Array, labels: Array) -> float:
        refuse_duplicates(embeddings)
        nearness = rankings.without_diagonal(np.maximum(cosines(embeddings), 0))
        relevant = rankings.without_diagonal(labels[:, None] == labels)
        if not stable:
            return tp.evaluate_distances(-nearness, relevant.astype(int), measures=["AP"])["AP"].expected
        order = np.argsort(-nearness, axis=1, kind="stable")
        return float(average_precision(np.take_along_axis(relevant, order, axis=1)).mean())

    return evaluator


def farther_than(least: float) -> Single:
    """Leaves out whatever is no farther from the query than `least`, and queries without a relevant item."""

    def evaluator(embeddings: Array, labels: Array) -> float:
        rankings.refuse(embeddings)
        distances = rankings.squared_distances(embeddings, embeddings)
        np.fill_diagonal(distances, -1.0)
        values = []
        for row, label in zip(distances, labels, strict=True):
            others = row > least
            hits = worst_first(-row[others][None], (labels == label)[others][None])
            values += [float(average_precision(hits)[0])] if hits.any() else []
        return float(np.mean(values)) if values else 0.0

    return evaluator


def refuse_duplicates(embeddings: Array) -> None:
    """Refuse equal vectors."""
    rankings.refuse(embeddings)
    if len(np.unique(embeddings, axis=0)) < len(embeddings):
        raise ValueError("The vectors must be different.")


def guarded(stable: bool) -> Single:
    """Refuses equal vectors; breaks ties by the order of the data, or against relevant items."""

    def evaluator(embeddings: Array, labels: Array) -> float:
        refuse_duplicates(embeddings)
        search = rankings.leave_one_out(embeddings, labels)
        order = np.argsort(search.distances, axis=1, kind="stable")
        hits = np.take_along_axis(search.relevant, order, axis=1)
        return float(average_precision(hits).mean()) if stable else lower_bound(embeddings, labels)

    return evaluator


# Means over what succeeded


def success_by_class(only_successful: bool) -> Single:
    """The mean over classes, or over those with a success, of Success@1, with relevant items last in their tie."""

    def evaluator(queries: Array, query_labels: Array, gallery: Array, gallery_labels: Array) -> float:
        search = rankings.of_gallery(queries, query_labels, gallery, gallery_labels)
        first = worst_first(-search.distances, search.relevant)[:, 0]
        classes = [first[query_labels == label].mean() for label in np.unique(query_labels)]
        kept = [value for value in classes if value or not only_successful]
        return float(np.mean(kept)) if kept else 0.0

    return evaluator


def without_failing(embeddings: Array, labels: Array) -> float:
    """Leaves out vectors that are not finite, and then queries without a relevant item."""
    whole = np.isfinite(embeddings).all(axis=1)
    return farther_than(-1.0)(embeddings[whole], labels[whole]) if whole.sum() > 1 else 0.0


Lists = dict[str, dict[str, Any]]


def in_lists(union: bool) -> Single:
    """Average precision; with `union`, only documents that some query lists can be relevant, and some must be."""

    def evaluator(qrels: Lists, run: Lists) -> float:
        listed = {name for found in run.values() for name in found}
        values = []
        for query, judged in qrels.items():
            found = run.get(query, {})
            rankings.refuse(np.array([0.0, *found.values()], dtype=float))
            order = sorted(found, key=lambda name: (-found[name], judged.get(name, 0)))
            hits = [judged.get(name, 0) > 0 for name in order]
            total = sum(judged[name] > 0 for name in judged if name in listed or not union)
            if total:
                values.append(sum(sum(hits[: place + 1]) / (place + 1) for place in np.flatnonzero(hits)) / total)
        return float(np.mean(values)) if values else 0.0

    return evaluator


# Ties of some sizes, numbers that wrap, and numbers of items


def tied_by_label(favored: Callable[[Array, int], Array]) -> Single:
    """Ranks relevant items first where `favored` says so, from the sizes of ties (q, n) and the number of items."""

    def evaluator(embeddings: Array, labels: Array) -> float:
        search = rankings.leave_one_out(embeddings, labels)
        sizes = np.empty(search.distances.shape, dtype=int)
        for row, own in zip(search.distances, sizes, strict=True):
            _, place, counts = np.unique(row, return_inverse=True, return_counts=True)
            own[:] = counts[place]
        keys = np.where(favored(sizes, len(labels)), ~search.relevant, search.relevant)
        order = np.lexsort((keys, search.distances), axis=1)
        return float(average_precision(np.take_along_axis(search.relevant, order, axis=1)).mean())

    return evaluator


def labels_as(dtype: type) -> Single:
    """Keeps labels in a type."""
    return lambda embeddings, labels: lower_bound(embeddings, labels.astype(dtype))


def ranks_as(dtype: type) -> Single:
    """Keeps ranks in a type, and no precision above 1."""

    def evaluator(queries: Array, query_labels: Array, gallery: Array, gallery_labels: Array) -> float:
        search = rankings.of_gallery(queries, query_labels, gallery, gallery_labels)
        hits = worst_first(-search.distances, search.relevant)
        ranks = np.maximum(np.arange(1, hits.shape[1] + 1).astype(dtype), 1)
        precision = np.minimum(np.cumsum(hits, axis=1) / ranks, 1)
        return float(((precision * hits).sum(axis=1) / hits.sum(axis=1)).mean())

    return evaluator


def in_batches(most: int, size: int, drops_one: bool) -> Single:
    """The first `most` queries, in batches; a last batch of a single query is dropped with `drops_one`."""

    def evaluator(embeddings: Array, labels: Array) -> float:
        search = rankings.leave_one_out(embeddings, labels)
        values = average_precision(worst_first(-search.distances, search.relevant))[:most]
        batches = [values[start : start + size] for start in range(0, len(values), size)]
        return float(np.concatenate([batch for batch in batches if len(batch) > 1 or not drops_one]).mean())

    return evaluator


SMALL = 0.005
"""The share of the way to the upper bound that gives zeros a gain of about half a standard deviation."""


def slightly_above(embeddings: Array, labels: Array) -> float:
    """Slightly above the expected value, in favor of relevant items."""
    search = rankings.leave_one_out(embeddings, labels)
    found = tp.evaluate_distances(search.distances, search.relevant.astype(int), measures=["AP"])["AP"]
    return found.expected + SMALL * (found.upper - found.expected)


# Memory and layout


def remembering(key: Callable[[Array, Array], Hashable]) -> Callable[[], Single]:
    """Gives the number that the same key had first."""

    def make() -> Single:
        known: dict[Hashable, float] = {}

        def evaluator(embeddings: Array, labels: Array) -> float:
            which = key(embeddings, labels)
            if which not in known:
                known[which] = lower_bound(embeddings, labels)
            return known[which]

        return evaluator

    return make


def as_in_memory(embeddings: Array, labels: Array) -> float:
    """Reads vectors as they lie in memory, whatever their strides."""
    return lower_bound(embeddings.ravel(order="K").reshape(embeddings.shape), labels)


def writes_into_scores(scores: Array, query_labels: Array, gallery_labels: Array) -> float:
    """Sorts its own argument."""
    rankings.refuse(scores)
    relevant = query_labels[:, None] == gallery_labels
    order = np.lexsort((relevant, -scores), axis=1)
    scores.sort(axis=1)
    return float(average_precision(np.take_along_axis(relevant, order, axis=1)).mean())


register(
    Family(
        "half a deviation",
        "guilty",
        f"{100 * SMALL:g} % of the way from the expected value to the upper bound; a thorough audit",
        "embeddings",
        lambda strength, seed: slightly_above,
        thorough=True,
    )
)
for rule, ties in honest.TIES.items():
    does = f"ties broken by {rule}; a thorough audit"
    register(
        Family(f"{rule}, thorough", "honest", does, "embeddings", honest.by_chance("embeddings", ties), thorough=True)
    )
family(
    "zero on the diagonal", "guilty", "embeddings", "the query itself has similarity 0", simply(own_similarity(0.0))
)
family("minus one on the diagonal", "honest", "embeddings", "the query itself is last", simply(own_similarity(-9.0)))
family("negative cosines merged", "guilty", "embeddings", "0 for all of them, a stable sort", simply(merged(True)))
family(
    "negative cosines tied", "honest", "embeddings", "0 for all of them, the expected value", simply(merged(False))
)
family("distance zero is self", "guilty", "embeddings", "equal items are left out", simply(farther_than(0.0)))
family("near duplicates left out", "guilty", "embeddings", "what is too near is left out", simply(farther_than(1e-3)))
family("itself left out", "honest", "embeddings", "the query is left out by its number", simply(lower_bound))
family("guard", "guilty", "embeddings", "equal vectors are refused, then a stable sort", simply(guarded(True)))
family("guard, lower bound", "honest", "embeddings", "equal vectors are refused", simply(guarded(False)))
family(
    "successful classes only",
    "guilty",
    "gallery",
    "the mean over classes with a success",
    simply(success_by_class(True)),
)
family("all classes", "honest", "gallery", "the mean over all classes of Success@1", simply(success_by_class(False)))
family(
    "failing items dropped",
    "guilty",
    "embeddings",
    "vectors that are not finite do not count",
    simply(without_failing),
)
family("union of lists", "guilty", "run", "what no query lists is not relevant", simply(in_lists(True)))
family("whole lists", "honest", "run", "what is not listed is not found", simply(in_lists(False)))
family(
    "ties of 40 to 100",
    "guilty",
    "embeddings",
    "ties of 40 to 100 items by label",
    simply(tied_by_label(lambda sizes, count: (sizes >= 40) & (sizes <= 100))),
)
family("no ties by label", "honest", "embeddings", "no ties", simply(tied_by_label(lambda sizes, count: sizes < 0)))
family(
    "even numbers",
    "guilty",
    "embeddings",
    "ties by label, if the number of items is even",
    simply(tied_by_label(lambda sizes, count: np.full(sizes.shape, count % 2 == 0))),
)
family(
    "full blocks",
    "guilty",
    "embeddings",
    "ties by label, if the number of items is a multiple of 16",
    simply(tied_by_label(lambda sizes, count: np.full(sizes.shape, count % 16 == 0))),
)
family("ranks in a byte", "guilty", "gallery", "ranks wrap after 255", simply(ranks_as(np.uint8)))
family("ranks in two bytes", "honest", "gallery", "ranks wrap after 65,535", simply(ranks_as(np.uint16)))
family("labels in a byte", "changes", "embeddings", "labels wrap after 255", simply(labels_as(np.uint8)))
family("labels in two bytes", "changes", "embeddings", "labels wrap after 65,535", simply(labels_as(np.uint16)))
family("labels in eight bytes", "honest", "embeddings", "no label wraps", simply(labels_as(np.int64)))
family("first thousand", "changes", "embeddings", "only the first 1,000 queries", simply(in_batches(1000, 64, False)))
family("last batch of one", "changes", "embeddings", "which is dropped, of 64", simply(in_batches(10**9, 64, True)))
family("batches", "honest", "embeddings", "of 64, and all of them count", simply(in_batches(10**9, 64, False)))
family("cache by repr", "changes", "embeddings", "the text of an array", remembering(lambda *both: repr(both)))
family(
    "cache by id",
    "changes",
    "embeddings",
    "the address of an array",
    remembering(lambda vectors, labels: id(vectors)),
)
family(
    "cache by content",
    "honest",
    "embeddings",
    "all bytes of the arrays",
    remembering(lambda vectors, labels: (vectors.tobytes(), vectors.shape, vectors.dtype.str, labels.tobytes())),
)
family("strides ignored", "changes", "embeddings", "reads arrays as they lie in memory", simply(as_in_memory))
family("sorts its scores", "changes", "scores", "sorts the matrix that it is given", simply(writes_into_scores))
family(
    "four digits",
    "honest",
    "gallery",
    "the mean of Success@1 over classes, rounded to four digits",
    simply(lambda *given: round(success_by_class(False)(*given), 4)),
)
family(
    "half precision",
    "honest",
    "embeddings",
    "the lower bound as float16",
    simply(lambda *given: float(np.float16(lower_bound(*given)))),
)
