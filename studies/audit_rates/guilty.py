"""Guilty evaluators: each has one fault that a blind system can gain from, some in several strengths.

Each computes average precision, unless it says otherwise, and but for its fault breaks ties by fresh chance, so that
nothing else convicts it.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import tieproof as tp
from studies.audit_rates import rankings
from studies.audit_rates.families import Evaluator, Family, register
from studies.audit_rates.rankings import SEARCHES, Array, Search, average_precision

LARGE = 150
"""Items from which on the fault of large data shows: more than an audit of `audits.SIZE` usually has."""


def guilty(
    name: str, takes: str, does: str, make: Callable[[int, int], Evaluator], strengths: Sequence[int] = (100,)
) -> None:
    """Register a family."""
    register(Family(name, "guilty", does, takes, make, strengths))


# Ties

Rule = Callable[[Search, np.random.Generator, int], Array]
"""From a search, chance and a strength to the key of each item by which ties are broken."""


def by_rule(takes: str, rule: Rule) -> Callable[[int, int], Evaluator]:
    """An evaluator that breaks ties by a rule."""

    def make(strength: int, seed: int) -> Evaluator:
        calls = itertools.count()

        def evaluator(*arguments: Array) -> float:
            search = SEARCHES[takes](*arguments)
            keys = rule(search, np.random.default_rng([11, seed, next(calls)]), strength)
            return float(average_precision(rankings.ranked(search, keys)).mean())

        return evaluator

    return make


def some_queries(search: Search, random: np.random.Generator, strength: int) -> Array:
    """Whether the fault shows, for so many percent of the queries."""
    found: Array = random.random((len(search.distances), 1)) < strength / 100
    return found


def by_label(search: Search, random: np.random.Generator, strength: int) -> Array:
    """The relevant ones first."""
    keys = random.random(search.distances.shape)
    return keys - (search.relevant & some_queries(search, random, strength))


def in_data_order(search: Search, random: np.random.Generator, strength: int) -> Array:
    """As the data comes."""
    keys = random.random(search.distances.shape)
    return np.where(some_queries(search, random, strength), np.arange(keys.shape[1]), keys)


def from_the_end(search: Search, random: np.random.Generator, strength: int) -> Array:
    """As the data comes, the last first."""
    return -in_data_order(search, random, strength)


def small_by_label(search: Search, random: np.random.Generator, strength: int) -> Array:
    """Ties of 3 to so many items by label, others by chance."""
    order = np.argsort(search.distances, axis=1, kind="stable")
    nearest = np.take_along_axis(search.distances, order, axis=1)
    starts = np.diff(nearest, axis=1, prepend=-1.0) != 0
    ties = np.cumsum(starts) - 1
    sizes = np.empty_like(order)
    np.put_along_axis(sizes, order, np.bincount(ties)[ties].reshape(order.shape), axis=1)
    favored = (sizes >= 3) & (sizes <= strength)
    return random.random(order.shape) - (search.relevant & favored)


def if_large_by_label(search: Search, random: np.random.Generator, strength: int) -> Array:
    """By label where there are many items."""
    return by_label(search, random, 100 if search.distances.shape[1] >= LARGE else 0)


def sorted_by(kind: Any) -> Callable[[int, int], Evaluator]:
    """Whatever order a sort of NumPy leaves tied items in."""

    def make(strength: int, seed: int) -> Evaluator:
        def evaluator(*arguments: Array) -> float:
            search = SEARCHES["gallery"](*arguments)
            order = np.argsort(search.distances, axis=1, kind=kind)
            return float(average_precision(np.take_along_axis(search.relevant, order, axis=1)).mean())

        return evaluator

    return make


def rounded(strength: int, seed: int) -> Evaluator:
    """Cosines rounded to so many digits, and a stable sort."""

    def evaluator(queries: Array, query_labels: Array, gallery: Array, gallery_labels: Array) -> float:
        rankings.refuse(queries)
        rankings.refuse(gallery)
        with np.errstate(all="ignore"):
            units = [
                rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12) for rows in (queries, gallery)
            ]
        order = np.argsort(-np.round(units[0] @ units[1].T, strength), axis=1, kind="stable")
        relevant = query_labels[:, None] == gallery_labels
        return float(average_precision(np.take_along_axis(relevant, order, axis=1)).mean())

    return evaluator


def between_bounds(strength: int, seed: int) -> Evaluator:
    """So many percent of the way from the expected value to the upper bound."""

    def evaluator(*arguments: Array) -> float:
        search = SEARCHES["gallery"](*arguments)
        found = tp.evaluate_distances(search.distances, search.relevant.astype(int), measures=["AP"])["AP"]
        return found.expected + strength / 100 * (found.upper - found.expected)

    return evaluator


def with_two_looks(strength: int, seed: int) -> Evaluator:
    """Success@1 that looks at two items where they are tied for the first place."""
    calls = itertools.count()

    def evaluator(*arguments: Array) -> float:
        search = SEARCHES["gallery"](*arguments)
        hits = rankings.ranked(search, np.random.default_rng([12, seed, next(calls)]).random(search.distances.shape))
        first, second = np.sort(search.distances, axis=1)[:, :2].T
        return float((hits[:, 0] | (hits[:, 1] & (first == second))).mean())

    return evaluator


# The query itself, and what is no number


def drops_the_nearest(strength: int, seed: int) -> Evaluator:
    """Leave-one-out that takes the first of the ranking for the query."""
    calls = itertools.count()

    def evaluator(embeddings: Array, labels: Array) -> float:
        rankings.refuse(embeddings)
        distances = rankings.squared_distances(embeddings, embeddings)
        search = Search(distances, labels[:, None] == labels, labels)
        keys = np.random.default_rng([13, seed, next(calls)]).random(distances.shape)
        return float(average_precision(rankings.ranked(search, keys)[:, 1:]).mean())

    return evaluator


def takes_nan_for_a_hit(strength: int, seed: int) -> Evaluator:
    """Counts what is nearer than a relevant item, and nothing is nearer than NaN."""
    calls = itertools.count()

    def evaluator(queries: Array, query_labels: Array, gallery: Array, gallery_labels: Array) -> float:
        if queries.size == 0 or np.isinf(queries).any() or np.isinf(gallery).any():
            raise ValueError("The embeddings must not be infinite, and some.")
        distances = rankings.squared_distances(queries, gallery)
        search = Search(np.nan_to_num(distances, nan=-1.0), query_labels[:, None] == gallery_labels, query_labels)
        keys = np.random.default_rng([14, seed, next(calls)]).random(distances.shape)
        return float(
            average_precision(rankings.ranked(search, keys - (search.relevant & np.isnan(distances)))).mean()
        )

    return evaluator


# Lists

Lists = dict[str, dict[str, Any]]


def of_lists(score: Callable[[list[bool], int], float | None]) -> Callable[[int, int], Evaluator]:
    """The mean over queries of a score of what is relevant by rank and of how many are; None is left out."""

    def make(strength: int, seed: int) -> Evaluator:
        calls = itertools.count()

        def evaluator(qrels: Lists, run: Lists) -> float:
            random = np.random.default_rng([15, seed, next(calls)])
            values = []
            for query, judged in qrels.items():
                found = run.get(query, {})
                rankings.refuse(np.array([*found.values()], dtype=float))
                chance = dict(zip(found, random.random(len(found)), strict=True))
                order = sorted(found, key=lambda name: (-found[name], chance[name]))
                values.append(score([judged.get(name, 0) > 0 for name in order], sum(map(bool, judged.values()))))
            kept = [value for value in values if value is not None]
            return float(np.mean(kept)) if kept else 0.0

        return evaluator

    return make


def precision_of_hit_queries(hits: list[bool], total: int) -> float | None:
    """The precision of the first ten, of queries with a hit alone."""
    first = hits[:10]
    return sum(first) / len(first) if any(first) else None


def average_precision_of_returned(hits: list[bool], total: int) -> float:
    """Average precision over the relevant items that were returned."""
    return float(rankings.average_precision(np.array([hits]))[0])


def gain_over_returned(hits: list[bool], total: int) -> float:
    """Discounted gains over the best order of what was returned."""
    return float(rankings.ndcg_at_10(np.array([[*hits, *[False] * 10]]))[0])


def by_name(sign: int) -> Callable[[int, int], Evaluator]:
    """Ties by the name of the document."""

    def make(strength: int, seed: int) -> Evaluator:
        def evaluator(qrels: Lists, run: Lists) -> float:
            values = []
            for query, judged in qrels.items():
                found = run.get(query, {})
                rankings.refuse(np.array([*found.values()], dtype=float))
                order = sorted(sorted(judged)[::sign], key=lambda name: -found.get(name, -np.inf))
                values.append(float(average_precision(np.array([[judged[name] > 0 for name in order]]))[0]))
            return float(np.mean(values))

        return evaluator

    return make


# Memory


def remembering(key: Callable[[Array], object], best: bool) -> Callable[[int, int], Evaluator]:
    """Gives the first score seen for a key again, or the best one."""

    def make(strength: int, seed: int) -> Evaluator:
        calls, scores = itertools.count(), dict[object, float]()

        def evaluator(embeddings: Array, labels: Array) -> float:
            search = rankings.leave_one_out(embeddings, labels)
            chance = np.random.default_rng([16, seed, next(calls)]).random(search.distances.shape)
            score = float(average_precision(rankings.ranked(search, chance)).mean())
            scores[key(labels)] = max(score, scores.get(key(labels), 0.0)) if best else scores.get(key(labels), score)
            return scores[key(labels)]

        return evaluator

    return make


guilty(
    "ties by label",
    "gallery",
    "relevant first, for so many % of queries",
    by_rule("gallery", by_label),
    (100, 50, 20, 10, 5, 2),
)
guilty(
    "towards the upper bound",
    "gallery",
    "so many % of the way from the expected value to the upper bound",
    between_bounds,
    (100, 50, 20, 10, 5, 2),
)
guilty(
    "data order",
    "gallery",
    "as the data comes, for so many % of queries",
    by_rule("gallery", in_data_order),
    (100, 50, 20, 10),
)
guilty("data order, embeddings", "embeddings", "as the data comes", by_rule("embeddings", in_data_order))
guilty("from the end", "gallery", "as the data comes, from the end", by_rule("gallery", from_the_end))
guilty("heapsort", "gallery", "as a heapsort leaves it", sorted_by("heapsort"))
guilty("quicksort", "gallery", "as NumPy's quicksort leaves it", sorted_by("quicksort"))
guilty("rounding", "gallery", "cosines of so many digits, a stable sort", rounded, (1, 2, 4))
guilty("small ties", "gallery", "ties of 3 to so many items by label", by_rule("gallery", small_by_label), (10, 5, 3))
guilty("two looks", "gallery", "two items tied for the first place are both looked at", with_two_looks)
guilty("self match by rank", "embeddings", "the first of the ranking is taken for the query", drops_the_nearest)
guilty("NaN hits", "gallery", "nothing is nearer than NaN", takes_nan_for_a_hit)
guilty("hit queries only", "run", "the mean over queries with a hit", of_lists(precision_of_hit_queries))
guilty(
    "AP of returned",
    "run",
    "divided by the relevant items that were returned",
    of_lists(average_precision_of_returned),
)
guilty("ideal of returned", "run", "divided by the ideal DCG of what was returned", of_lists(gain_over_returned))
guilty("by name", "run", "ties by the document's name", by_name(1))
guilty("by name, descending", "run", "ties by the document's name, descending", by_name(-1))
guilty(
    "cache by labels",
    "embeddings",
    "the same labels get the score that they got first",
    remembering(bytes, best=False),
)
guilty(
    "cache by shape",
    "embeddings",
    "data of the same size gets the score that it got first",
    remembering(np.shape, best=False),
)
guilty(
    "best so far", "embeddings", "the best score so far for data of the same size", remembering(np.shape, best=True)
)
guilty(
    "large data",
    "gallery",
    f"ties by label where there are {LARGE} items or more",
    by_rule("gallery", if_large_by_label),
)
