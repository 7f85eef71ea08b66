"""Evaluators whose faults show only in ties of a shape, types, sizes or good systems; and honest ones like them.

Apart from its fault, each ranks relevant items last in their tie. Each fault is proved without an audit.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from studies.audit_rates import rankings
from studies.audit_rates.blind_spots import Single, family, lower_bound, remembering, simply, worst_first
from studies.audit_rates.families import Family, Kind, register
from studies.audit_rates.rankings import Array

Dicts = dict[str, dict[str, Any]]


def average_precision(scores: Array, relevant: Array) -> float:
    """Mean average precision of scores (q, n), the largest nearest."""
    return float(rankings.average_precision(worst_first(scores.astype(np.float64), relevant > 0)).mean())


# Ties of a shape


def any_within_ten(places: Callable[[Array, Array], Array]) -> Single:
    """The share of queries with a relevant item at one of ten places; places are counted from 1, smallest first."""

    def evaluator(scores: Array, relevance: Array) -> float:
        rankings.refuse(scores)
        return float(np.mean([(places(*row) <= 10)[row[1] > 0].any() for row in zip(scores, relevance, strict=True)]))

    return evaluator


def better_and_tied(scores: Array) -> tuple[Array, Array]:
    """For each item, how many are better, and how many are equal to it, with itself."""
    ordered = np.sort(-scores)
    better = np.searchsorted(ordered, -scores)
    return better, np.searchsorted(ordered, -scores, side="right") - better


def worst(scores: Array, relevance: Array) -> Array:
    """All other items of a tie come first: the honest rule for a single relevant item."""
    better, tied = better_and_tied(scores)
    return better + tied


def shared_place(scores: Array, relevance: Array) -> Array:
    """A tie of at most ten items takes one place, as the dense rank has it."""
    small = np.unique(scores, return_inverse=True, return_counts=True)
    return np.where(small[2][small[1]] <= 10, len(small[0]) - small[1], worst(scores, relevance))


def mean_place(scores: Array, relevance: Array) -> Array:
    """The mean of the places of a tie, unless all items are tied."""
    better, tied = better_and_tied(scores)
    return better + (tied + 1) / 2 + (tied > 100) * tied


def gamma(scores: Array, relevance: Array) -> float:
    """Goodman and Kruskal's gamma from 0 to 1: pairs that are tied do not count."""
    rankings.refuse(scores)
    values = []
    for row, relevant in zip(scores, relevance > 0, strict=True):
        signs = np.sign(row[relevant][:, None] - row[~relevant])
        counted = np.abs(signs).sum()
        values.append(0.5 + signs.sum() / counted / 2 if counted else 0.5)
    return float(np.mean(values))


def recall_near_false_positives(scores: Array, relevance: Array) -> float:
    """The true positive rate at the threshold whose false positive rate is nearest to one in a hundred."""
    rankings.refuse(scores)
    values = []
    for row, relevant in zip(scores, relevance > 0, strict=True):
        order = np.argsort(-row)
        last = np.flatnonzero(np.diff(row[order], append=-np.inf))
        hits, misses = (np.cumsum(each[order])[last] / each.sum() for each in (relevant, ~relevant))
        values.append(np.r_[0.0, hits][np.abs(np.r_[0.0, misses] - 0.01).argmin()])
    return float(np.mean(values))


# Types


def negated(scores: Array, relevance: Array) -> float:
    """Ranks by the negative scores, which unsigned numbers do not have."""
    rankings.refuse(scores)
    order = np.lexsort((relevance, -scores), axis=1)
    return float(rankings.average_precision(np.take_along_axis(relevance > 0, order, axis=1)).mean())


def subtracted(queries: Array, query_labels: Array, gallery: Array, gallery_labels: Array) -> float:
    """Squares differences in the type of the vectors."""
    rankings.refuse(queries)
    distances = ((queries[:, None] - gallery) ** 2).sum(axis=2)
    return average_precision(-distances.astype(np.float64), query_labels[:, None] == gallery_labels)


def labels_kept_as(dtype: str) -> Single:
    """Keeps labels in a type."""

    def evaluator(embeddings: Array, labels: Array) -> float:
        return lower_bound(embeddings, labels.astype(dtype))

    return evaluator


# Scores below zero


def absolute(scores: Array, relevance: Array) -> float:
    """Ranks by absolute scores."""
    rankings.refuse(scores)
    return average_precision(np.abs(scores), relevance > 0)


def positive_only(qrels: Dicts, run: Dicts) -> float:
    """Documents with a score of 0 or less were not found."""
    scores = np.array([[run[query][document] for document in judged] for query, judged in qrels.items()], dtype=float)
    relevant = np.array([[grade > 0 for grade in judged.values()] for judged in qrels.values()])
    rankings.refuse(scores)
    return average_precision(np.where(scores > 0, scores, -np.inf), relevant & (scores > 0))


# Memory


def by_checksum(*arrays: Array) -> Any:
    """The shapes and the sums of arrays."""
    return tuple((each.shape, round(float(each.sum()), 3)) for each in arrays)


def by_first_kilobyte(*arrays: Array) -> Any:
    """The shapes and the first kilobyte of arrays."""
    return tuple((each.shape, each.tobytes()[:1024]) for each in arrays)


# Good systems


def farthest_first(scores: Array, relevance: Array) -> float:
    """Ranks the smallest score first."""
    rankings.refuse(scores)
    return average_precision(-scores, relevance > 0)


def mean_of_answered(scores: Array, relevance: Array) -> float:
    """The mean over queries whose scores are numbers."""
    answered = np.isfinite(scores).all(axis=1)
    return average_precision(scores[answered], relevance[answered] > 0) if answered.any() else 0.0


def mean_of_queries_with_lines(qrels: Dicts, run: Dicts) -> float:
    """The mean over the queries of the run."""
    values = []
    for query, found in run.items():
        scores = np.array([[found.get(document, -9.0) for document in qrels[query]]])
        values.append(average_precision(scores, np.array([[grade > 0 for grade in qrels[query].values()]])))
    return float(np.mean(values)) if values else 0.0


# Sizes


def upper_bound(embeddings: Array, labels: Array) -> float:
    """The upper bound: relevant items come first in their tie."""
    search = rankings.leave_one_out(embeddings, labels)
    order = np.lexsort((~search.relevant, search.distances), axis=1)
    return float(rankings.average_precision(np.take_along_axis(search.relevant, order, axis=1)).mean())


def in_gallery(most: int, batch: int) -> Single:
    """Reads at most so many items and queries, and only whole batches where there is more than one."""

    def evaluator(queries: Array, query_labels: Array, gallery: Array, gallery_labels: Array) -> float:
        kept = [
            min(len(rows), most, len(rows) // batch * batch if len(rows) > batch else most)
            for rows in (queries, gallery)
        ]
        queries, query_labels = queries[: kept[0]], query_labels[: kept[0]]
        search = rankings.of_gallery(queries, query_labels, gallery[: kept[1]], gallery_labels[: kept[1]])
        return average_precision(-search.distances, search.relevant)

    return evaluator


def upper_above_a_million_pairs(embeddings: Array, labels: Array) -> float:
    """Another rule for ties where there are more than a million pairs."""
    return (upper_bound if len(labels) ** 2 > 10**6 else lower_bound)(embeddings, labels)


# Shape of labels


def majority_of_five(scores: Array, query_labels: Array, gallery_labels: Array) -> float:
    """The class of most of the items that are no worse than the fifth; the smallest class number wins a tie."""
    rankings.refuse(scores)
    values = []
    for row, label in zip(scores, query_labels, strict=True):
        votes = np.bincount(gallery_labels[row >= np.sort(row)[-5]])
        values.append((votes.argmax() if len(np.unique(row)) > 1 else 0) == label)
    return float(np.mean(values))


def upper_of_two_classes(embeddings: Array, labels: Array) -> float:
    """Another rule for ties where there are two classes."""
    return (upper_bound if len(np.unique(labels)) == 2 else lower_bound)(embeddings, labels)


# Honest


def precision_of_500(scores: Array, relevance: Array) -> float:
    """P@500, also of fewer items."""
    rankings.refuse(scores)
    order = np.lexsort((relevance, -scores), axis=1)[:, :500]
    return float((np.take_along_axis(relevance, order, axis=1) > 0).sum(axis=1).mean() / 500)


def with_facts(embeddings: Array, labels: Array) -> dict[str, float]:
    """Average precision and its spread, with facts about the data: how many items are relevant, and how many tied."""
    search = rankings.leave_one_out(embeddings, labels)
    distinct = np.mean([len(np.unique(row)) for row in search.distances])
    facts = {"relevant per query": float(search.relevant.sum(axis=1).mean()), "queries": float(len(labels))}
    values = rankings.average_precision(worst_first(-search.distances, search.relevant))
    facts |= {"AP": float(values.mean()), "spread": float(values.std())}
    return facts | {"tied": 1 - float(distinct) / (len(labels) - 1)}


def hamming_of_signs(embeddings: Array, labels: Array) -> float:
    """The lower bound of mean average precision by the Hamming distance of signs."""
    rankings.refuse(embeddings)
    bits = np.where(embeddings > np.median(embeddings, axis=0), 1.0, -1.0)
    relevant, others = labels[:, None] == labels, ~np.eye(len(labels), dtype=bool)
    return average_precision(*(each[others].reshape(len(labels), -1) for each in (bits @ bits.T, relevant)))


def shape(name: str, kind: Kind, takes: str, evaluator: Single, does: str = "") -> None:
    """Register a family of an evaluator, which its docstring describes."""
    said = does or (evaluator.__doc__ or "").partition(".\n")[0].rstrip(".")
    family(name, kind, takes, said[0].lower() + said[1:], simply(evaluator))


shape(
    "dense ranks", "guilty", "relevance", any_within_ten(shared_place), "a tie of at most ten takes one place of ten"
)
shape("mean ranks", "guilty", "relevance", any_within_ten(mean_place), "the mean of the places of a tie, up to ten")
shape("worst ranks", "honest", "relevance", any_within_ten(worst), "the last place of a tie, up to ten")
shape("gamma", "guilty", "relevance", gamma)
shape("nearest threshold", "guilty", "relevance", recall_near_false_positives)
for name, takes, evaluator in (("negated bytes", "relevance", negated), ("subtracted bytes", "gallery", subtracted)):
    does = "wraps around, of unsigned bytes; a thorough audit"
    make = partial(lambda evaluator, strength, seed: evaluator, evaluator)
    register(Family(name, "changes", does, takes, make, whole=True, thorough=True))
shape("labels in half precision", "changes", "embeddings", labels_kept_as("float16"), "labels are equal from 2,048")
shape("labels in float32", "changes", "embeddings", labels_kept_as("float32"), "labels are equal from 2^24")
shape("labels in four bytes", "changes", "embeddings", labels_kept_as("int32"), "labels wrap after 2^32")
shape("absolute scores", "changes", "relevance", absolute)
shape("positive scores only", "changes", "run", positive_only)
family("cache by checksum", "guilty", "embeddings", "the sums of the arrays", remembering(by_checksum))
family("cache by kilobyte", "changes", "embeddings", "the first kilobyte", remembering(by_first_kilobyte))
shape("farthest first", "changes", "relevance", farthest_first)
shape("mean of answered", "changes", "relevance", mean_of_answered)
shape("mean of queries with lines", "changes", "run", mean_of_queries_with_lines)
shape("a cap", "changes", "gallery", in_gallery(2048, 1), "at most 2,048 items and queries")
shape("whole batches", "changes", "gallery", in_gallery(10**6, 4096), "batches of 4,096; a last one is dropped")
shape("no cap", "honest", "gallery", in_gallery(10**6, 1), "all items and queries")
shape("above a million pairs", "guilty", "embeddings", upper_above_a_million_pairs)
shape("two classes", "guilty", "embeddings", upper_of_two_classes)
shape("majority", "guilty", "scores", majority_of_five)
shape("precision of 500", "honest", "relevance", precision_of_500)
shape("signs", "honest", "embeddings", hamming_of_signs)
