"""Honest evaluators: in the mean over their own chance, no blind system scores more than random embeddings.

Some break ties by chance, fresh in each call or fixed once and for all; some score the lower bound or the expected
value; and averages over queries may be any. The expected value under an average that is no mean is none of them: it
gains, with nothing wrong about its ties.
"""

import hashlib
import itertools
import zlib
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import tieproof as tp
from studies.audit_rates import rankings
from studies.audit_rates.families import Evaluator, Family, Kind, register
from studies.audit_rates.rankings import MEASURES, SEARCHES, Array, Search

Average = Callable[[Array, Array], float]
Ties = Callable[[Search], Array]
"""From a search to a key for each item of each query, by which ties are broken."""


def measure_of(seed: int) -> str:
    """Seeds take turns at the measures."""
    return [*MEASURES][seed % len(MEASURES)]


# How ties are broken


def by_fresh_chance(seed: int) -> Ties:
    """Chance that is new in every call."""
    calls = itertools.count()
    return lambda search: np.random.default_rng([1, seed, next(calls)]).random(search.distances.shape)


def by_query(seed: int) -> Ties:
    """A generator for each query, seeded by its number."""

    @cache
    def keys(shape: tuple[int, int]) -> Array:
        return np.stack([np.random.default_rng([2, seed, query]).random(shape[1]) for query in range(shape[0])])

    return lambda search: keys(search.distances.shape)


def by_one_generator(seed: int) -> Ties:
    """One generator with a seed that never changes."""
    return lambda search: np.random.default_rng([3, seed]).random(search.distances.shape)


def by_one_shuffle(seed: int) -> Ties:
    """One order of the items, for all queries."""

    def keys(search: Search) -> Array:
        queries, items = search.distances.shape
        own = items == queries - 1  # leave-one-out
        row = np.random.default_rng([4, seed]).random(items + own)
        return rankings.without_diagonal(np.tile(row, (queries, 1))) if own else np.tile(row, (queries, 1))

    return keys


def by_the_input(seed: int) -> Ties:
    """A generator that is seeded by what is ranked: the same data gives the same number."""

    def keys(search: Search) -> Array:
        said = zlib.crc32(search.distances.tobytes() + search.relevant.tobytes())
        return np.random.default_rng([5, seed, said]).random(search.distances.shape)

    return keys


TIES = {
    "fresh chance": by_fresh_chance,
    "a generator per query": by_query,
    "one generator": by_one_generator,
    "one shuffle": by_one_shuffle,
    "chance by the input": by_the_input,
}


# Evaluators


def by_chance(
    takes: str, ties: Callable[[int], Ties], average: Average = rankings.mean
) -> Callable[[int, int], Evaluator]:
    """Ties broken by a rule that knows nothing, each seed with a measure."""

    def make(strength: int, seed: int) -> Evaluator:
        keys, score = ties(seed), MEASURES[measure_of(seed)]

        def evaluator(*arguments: Array) -> float:
            search = SEARCHES[takes](*arguments)
            return average(score(rankings.ranked(search, keys(search))), search.query_labels)

        return evaluator

    return make


def by_estimate(takes: str, which: str, average: Average = rankings.mean) -> Callable[[int, int], Evaluator]:
    """The lower bound or the expected value of each query."""

    def make(strength: int, seed: int) -> Evaluator:
        measure = measure_of(seed)

        def evaluator(*arguments: Array) -> float:
            search = SEARCHES[takes](*arguments)
            found = tp.evaluate_distances(search.distances, search.relevant.astype(int), measures=[measure])
            values = getattr(found.per_query(measure), which)
            return average(values, search.query_labels)

        return evaluator

    return make


def with_noise_on_scores(takes: str) -> Callable[[int, int], Evaluator]:
    """The expected value and noise, of 0.1 to 3 %, normal or with heavy tails, fresh or fixed by the input."""

    def make(strength: int, seed: int) -> Evaluator:
        exact, calls = by_estimate(takes, "expected")(strength, seed), itertools.count()
        size = [0.001, 0.003, 0.01, 0.03][seed % 4]

        def evaluator(*arguments: Array) -> float:
            said = zlib.crc32(b"".join(argument.tobytes() for argument in arguments)) if seed % 3 else next(calls)
            random = np.random.default_rng([6, seed, said])
            noise = random.standard_t(3) if seed % 2 else random.normal()
            return float(min(max(exact(*arguments) + size * noise, 0.0), 1.0))

        return evaluator

    return make


def with_noise_on_distances(takes: str) -> Callable[[int, int], Evaluator]:
    """Noise on the distances, fresh in every call, of 1e-12 to 1 of the largest."""

    def make(strength: int, seed: int) -> Evaluator:
        calls, score = itertools.count(), MEASURES[measure_of(seed)]
        size = [1e-12, 1e-6, 1e-2, 1.0][seed % 4]

        def evaluator(*arguments: Array) -> float:
            search = SEARCHES[takes](*arguments)
            scale = max(float(np.abs(search.distances[np.isfinite(search.distances)]).max(initial=0)), 1e-300)
            noise = np.random.default_rng([7, seed, next(calls)]).normal(size=search.distances.shape)
            with np.errstate(all="ignore"):
                noisy = search._replace(distances=search.distances / scale + size * noise)
            return float(score(rankings.ranked(noisy, noise)).mean())

        return evaluator

    return make


def pooled_area(takes: str) -> Callable[[int, int], Evaluator]:
    """The area under the ROC curve of all pairs at once, ties for a half."""

    def make(strength: int, seed: int) -> Evaluator:
        def evaluator(*arguments: Array) -> float:
            search = SEARCHES[takes](*arguments)
            found = tp.evaluate_distances(
                search.distances.reshape(1, -1), search.relevant.reshape(1, -1).astype(int), measures=["AUC"]
            )
            return float(found["AUC"].expected)

        return evaluator

    return make


def vote(takes: str) -> Callable[[int, int], Evaluator]:
    """The share of queries whose class is the most frequent of the 5 nearest; chance breaks all ties."""

    def make(strength: int, seed: int) -> Evaluator:
        calls = itertools.count()

        def evaluator(queries: Array, query_labels: Array, gallery: Array, gallery_labels: Array) -> float:
            search = SEARCHES[takes](queries, query_labels, gallery, gallery_labels)
            random = np.random.default_rng([8, seed, next(calls)])
            nearest = np.lexsort((random.random(search.distances.shape), search.distances), axis=1)[:, :5]
            classes = np.unique(gallery_labels)
            votes = (gallery_labels[nearest][:, :, None] == classes).sum(axis=1) + random.random(
                (1, len(classes))
            ) / 2
            return float((classes[votes.argmax(axis=1)] == query_labels).mean())

        return evaluator

    return make


def by_hash_of_names(strength: int, seed: int) -> Evaluator:
    """A run whose ties are broken by a hash of the names of documents, with a salt."""
    score = MEASURES[measure_of(seed)]

    @cache
    def key(name: str) -> bytes:
        return hashlib.sha256(f"{seed} {name}".encode()).digest()  # a checksum would leave near names near

    def evaluator(qrels: dict[str, dict[str, Any]], run: dict[str, dict[str, Any]]) -> float:
        values = []
        for query, judged in qrels.items():
            scores = run.get(query, {})
            if not np.isfinite([*scores.values()]).all():
                raise ValueError("The scores must be finite numbers.")
            # what is not listed comes last
            order = sorted(judged, key=lambda name: (-scores.get(name, -np.inf), key(name)))
            hits = np.array([[judged[name] > 0 for name in order]])
            values.append(float(score(hits)[0]))
        return float(np.mean(values))

    return evaluator


def honest(name: str, takes: str, does: str, make: Callable[[int, int], Evaluator], kind: Kind = "honest") -> None:
    """Register a family that has no strength."""
    register(Family(name, kind, does, takes, make))


for takes in ("embeddings", "gallery", "scores"):
    honest(f"lower bound, {takes}", takes, "the lower bound over all orderings", by_estimate(takes, "lower"))
    honest(f"expected value, {takes}", takes, "the mean over all orderings", by_estimate(takes, "expected"))
    for rule, ties in TIES.items():
        says = (ties.__doc__ or "").rstrip(".").lower()
        honest(f"{rule}, {takes}", takes, f"ties broken by {says}", by_chance(takes, ties))
honest("hash of names, run", "run", "ties broken by a hash of the document's name", by_hash_of_names)
honest("noise on scores, gallery", "gallery", "the expected value with noise added", with_noise_on_scores("gallery"))
honest("noise on distances, gallery", "gallery", "noise added to all distances", with_noise_on_distances("gallery"))
honest("pooled area, gallery", "gallery", "the area under the ROC curve of all pairs", pooled_area("gallery"))
honest("vote of five, gallery", "gallery", "the class of most of the five nearest", vote("gallery"))
for average in (rankings.median, rankings.geometric_mean, rankings.trimmed_mean, rankings.macro_average):
    said = average.__name__.replace("_", " ")
    for rule in ("fresh chance", "a generator per query", "one shuffle"):
        honest(f"{said}, {rule}", "gallery", f"the {said} over queries", by_chance("gallery", TIES[rule], average))
    honest(f"{said}, lower bound", "gallery", f"the {said} of lower bounds", by_estimate("gallery", "lower", average))
    kind: Kind = "honest" if average is rankings.macro_average else "gains"
    honest(
        f"{said}, expected value",
        "gallery",
        f"the {said} of expected values",
        by_estimate("gallery", "expected", average),
        kind,
    )
