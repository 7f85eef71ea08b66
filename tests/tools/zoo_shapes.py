"""Evaluators whose faults show only in ties of a shape, types, sizes or good systems; and honest ones like them.

Apart from its fault, each ranks relevant items last in their tie.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import zoo
import zoo_recall
from zoo import Array

Dicts = dict[str, dict[str, Any]]


def average_precision(scores: Array, relevant: Array) -> float:
    """Mean average precision of scores (q, n), the largest nearest."""
    return zoo.mean_average_precision(zoo.pessimistic(-scores.astype(np.float64), relevant))


# Ties of a shape


def any_within_ten(places: Callable[[Array, Array], Array]) -> Callable[[Array, Array], float]:
    """The share of queries with a relevant item at one of ten places; places are counted from 1, smallest first."""

    def evaluator(scores: Array, relevance: Array) -> float:
        zoo.refuse(scores)
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
    zoo.refuse(scores)
    values = []
    for row, relevant in zip(scores, relevance > 0, strict=True):
        signs = np.sign(row[relevant][:, None] - row[~relevant])
        counted = np.abs(signs).sum()
        values.append(0.5 + signs.sum() / counted / 2 if counted else 0.5)
    return float(np.mean(values))


def recall_near_false_positives(scores: Array, relevance: Array) -> float:
    """The true positive rate at the threshold whose false positive rate is nearest to one in a hundred."""
    zoo.refuse(scores)
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
    zoo.refuse(scores)
    return zoo.mean_average_precision(zoo.pessimistic(-scores, relevance > 0))


def subtracted(queries: Array, query_labels: Array, gallery: Array, gallery_labels: Array) -> float:
    """Squares differences in the type of the vectors."""
    zoo.refuse(queries)
    distances = ((queries[:, None] - gallery) ** 2).sum(axis=2)
    return average_precision(-distances.astype(np.float64), query_labels[:, None] == gallery_labels)


def labels_kept_as(dtype: str) -> Callable[[Array, Array], float]:
    """Keeps labels in a type."""

    def evaluator(embeddings: Array, labels: Array) -> float:
        return zoo.lower(embeddings, labels.astype(dtype))

    return evaluator


# Scores below zero


def absolute(scores: Array, relevance: Array) -> float:
    """Ranks by absolute scores."""
    zoo.refuse(scores)
    return average_precision(np.abs(scores), relevance > 0)


def positive_only(qrels: Dicts, run: Dicts) -> float:
    """Documents with a score of 0 or less were not found."""
    scores = np.array([[run[query][document] for document in judged] for query, judged in qrels.items()], dtype=float)
    relevant = np.array([[grade > 0 for grade in judged.values()] for judged in qrels.values()])
    zoo.refuse(scores)
    return average_precision(np.where(scores > 0, scores, -np.inf), relevant & (scores > 0))


# Memory


def by_checksum(*arrays: Array) -> Any:
    return [(each.shape, round(float(each.sum()), 3)) for each in arrays].__repr__()


def by_first_kilobyte(*arrays: Array) -> Any:
    return tuple((each.shape, each.tobytes()[:1024]) for each in arrays)


# Good systems


def farthest_first(scores: Array, relevance: Array) -> float:
    """Ranks the smallest score first."""
    zoo.refuse(scores)
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


def in_gallery(most: int, batch: int) -> Callable[..., float]:
    """Reads at most so many items and queries, and only whole batches where there is more than one."""

    def evaluator(queries: Array, query_labels: Array, gallery: Array, gallery_labels: Array) -> float:
        kept = [
            min(len(rows), most, len(rows) // batch * batch if len(rows) > batch else most)
            for rows in (queries, gallery)
        ]
        queries, query_labels = queries[: kept[0]], query_labels[: kept[0]]
        return zoo.lower_of_gallery(queries, query_labels, gallery[: kept[1]], gallery_labels[: kept[1]])

    return evaluator


def upper_above_a_million_pairs(embeddings: Array, labels: Array) -> float:
    """Another rule for ties where there are more than a million pairs."""
    return (zoo.upper if len(labels) ** 2 > 10**6 else zoo.lower)(embeddings, labels)


# Shape of labels


def majority_of_five(scores: Array, query_labels: Array, gallery_labels: Array) -> float:
    """The class of most of the items that are no worse than the fifth; the smallest class number wins a tie."""
    zoo.refuse(scores)
    values = []
    for row, label in zip(scores, query_labels, strict=True):
        votes = np.bincount(gallery_labels[row >= np.sort(row)[-5]])
        values.append((votes.argmax() if len(np.unique(row)) > 1 else 0) == label)
    return float(np.mean(values))


def upper_of_two_classes(embeddings: Array, labels: Array) -> float:
    """Another rule for ties where there are two classes."""
    return (zoo.upper if len(np.unique(labels)) == 2 else zoo.lower)(embeddings, labels)


# Recall


def within_a_share(found: Array, distances: Array, truth: tuple[Array, Array]) -> float:
    """Counts true neighbors that are no farther than the last one by a share of its distance."""
    ids, known = truth
    values = []
    for row, true_ids, true_distances in zip(found, ids, known, strict=True):
        own = dict(zip(true_ids.tolist(), true_distances.tolist(), strict=True))
        last = true_distances[9] * (1 + 1e-3)
        values.append(min(len([item for item in set(row.tolist()) if own.get(item, np.inf) <= last]), 10) / 10)
    return float(np.mean(values))


def ids_in_float32(found: Array, distances: Array, truth: tuple[Array, Array]) -> float:
    """Compares ids in single precision."""
    near = truth[0][:, :10].astype(np.float32)
    rows = zip(found.astype(np.float32), near, strict=True)
    return float(np.mean([len(np.intersect1d(*row)) / 10 for row in rows]))


# Honest


def precision_of_500(scores: Array, relevance: Array) -> float:
    """P@500, also of fewer items."""
    zoo.refuse(scores)
    order = np.lexsort((relevance, -scores), axis=1)[:, :500]
    return float((np.take_along_axis(relevance, order, axis=1) > 0).sum(axis=1).mean() / 500)


def with_facts(embeddings: Array, labels: Array) -> dict[str, float]:
    """Average precision with facts about the data: how many items are relevant, and how many are tied."""
    distances, relevant = zoo.leave_one_out(embeddings, labels)
    distinct = np.mean([len(np.unique(row)) for row in distances])
    facts = {"relevant per query": float(relevant.sum(axis=1).mean()), "queries": float(len(labels))}
    return {"AP": zoo.lower(embeddings, labels), **facts, "tied": 1 - float(distinct) / (len(labels) - 1)}


def hamming_of_signs(embeddings: Array, labels: Array) -> float:
    """The lower bound of mean average precision by the Hamming distance of signs."""
    zoo.refuse(embeddings)
    bits = np.where(embeddings > np.median(embeddings, axis=0), 1.0, -1.0)
    relevant, others = labels[:, None] == labels, ~np.eye(len(labels), dtype=bool)
    return average_precision(*(each[others].reshape(len(labels), -1) for each in (bits @ bits.T, relevant)))


def recall_of_digits(digits: int) -> Callable[..., float]:
    """The recall of the first ten true neighbors, rounded."""

    def evaluator(found: Array, distances: Array, truth: tuple[Array, Array]) -> float:
        return round(zoo_recall.by_definition(found, distances, truth), digits)

    return evaluator
