"""Evaluators from which a blind system gains; only one attack, or only one layout, shows each defect."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import zoo
from zoo import Array

Dicts = dict[str, dict[str, Any]]


# Ties by position


def last_first(scores: Array, relevance: Array) -> float:
    """P@10 by `argsort(scores)[::-1][:k]`: the last of a tie comes first."""
    best = np.argsort(scores, axis=1, kind="stable")[:, ::-1][:, :10]
    return float(zoo.in_order(relevance, best).mean())


def ndcg_ignoring_ties(scores: Array, relevance: Array) -> float:
    """nDCG@10 of scikit-learn, by a reversed `argsort`."""
    from sklearn.metrics import ndcg_score

    return float(ndcg_score(relevance, scores, k=10, ignore_ties=True))


def first_of_nearest(scores: Array, relevance: Array) -> float:
    """P@1 by `argmax`, which takes the first of a tie. Such a mean varies much, so that many queries are needed."""
    return float(relevance[np.arange(len(scores)), scores.argmax(axis=1)].mean())


def two_looks(scores: Array, relevance: Array) -> float:
    """P@1 of the first or of the last item in the nearest tie."""
    first, last = scores.argmax(axis=1), scores.shape[1] - 1 - scores[:, ::-1].argmax(axis=1)
    queries = np.arange(len(scores))
    return float(np.maximum(relevance[queries, first], relevance[queries, last]).mean())


def ties_of_three_to_ten(embeddings: Array, labels: Array) -> float:
    """Ties of three to ten items are broken in favor of relevant items, all other ties against them."""
    zoo.refuse(embeddings)
    distances, relevant = zoo.leave_one_out(embeddings, labels)
    tied = np.empty(distances.shape, dtype=np.int64)
    for row, own in zip(distances, tied, strict=True):
        _, place, counts = np.unique(row, return_inverse=True, return_counts=True)
        own[:] = counts[place]
    keys = np.where((tied >= 3) & (tied <= 10), ~relevant, relevant)
    return zoo.mean_average_precision(zoo.in_order(relevant, np.lexsort((keys, distances), axis=1)))


# Which queries and documents count


def hit_queries_only(embeddings: Array, labels: Array) -> float:
    """Reciprocal rank among items nearer than the farthest; queries without a relevant one there do not count."""
    zoo.refuse(embeddings)
    distances, relevant = zoo.leave_one_out(embeddings, labels)
    nearer = distances < distances.max(axis=1, keepdims=True)
    found = zoo.pessimistic(distances, relevant & nearer)
    hit = found.any(axis=1)
    return float((1 / (found[hit].argmax(axis=1) + 1)).mean()) if hit.any() else 0.0


def ranked_documents(qrels: Dicts, run: Dicts, query: str) -> Array:
    """The relevance of the documents returned for a query, by rank, with relevant ones last in their tie."""
    found, judged = run.get(query, {}), qrels[query]
    relevant = np.array(list(map(judged.get, found)), dtype=bool)
    scores = np.fromiter(found.values(), dtype=float, count=len(found))
    return relevant[np.lexsort((relevant, -scores))]


def average_precision(hits: Array, relevant: float) -> float:
    """Average precision from the relevance by rank, divided by the number of relevant documents."""
    return float((np.cumsum(hits) / np.arange(1, len(hits) + 1))[hits].sum() / relevant) if hits.any() else 0.0


def over(value: Callable[[Array, int], float | None]) -> Callable[[Dicts, Dicts], float]:
    """The mean over queries of a value of the returned documents and the number of relevant ones, without None."""

    def evaluator(qrels: Dicts, run: Dicts) -> float:
        values = [value(ranked_documents(qrels, run, query), sum(judged.values())) for query, judged in qrels.items()]
        counted = [each for each in values if each is not None]
        return float(np.mean(counted)) if counted else 0.0

    return evaluator


def ideal(count: int) -> float:
    """The discounted gain if so many relevant documents are first."""
    return float((1 / np.log2(np.arange(2, count + 2))).sum())


hits_of_runs_only = over(lambda hits, relevant: average_precision(hits, hits.sum()) if hits.any() else None)
ideal_of_what_was_found = over(
    lambda hits, relevant: (
        (hits / np.log2(np.arange(2, len(hits) + 2))).sum() / ideal(hits.sum()) if hits.any() else None
    )
)
missing_queries_skipped = over(lambda hits, relevant: average_precision(hits, relevant) if len(hits) else None)
precision_over_what_was_returned = over(lambda hits, relevant: average_precision(hits, hits.sum()))
empty_is_perfect = over(lambda hits, relevant: average_precision(hits, relevant) if len(hits) else 1.0)


def strict_padding(qrels: Dicts, run: Dicts) -> float:
    """P@10, where the places after the end of a short list are filled with relevant documents."""
    values = []
    for query in qrels:
        hits = ranked_documents(qrels, run, query)[:10]
        padded = np.concatenate([hits, np.ones(10 - len(hits), dtype=bool)])
        values.append(padded.mean())
    return float(np.mean(values))


def by_document(qrels: Dicts, run: Dicts) -> float:
    """Breaks ties by the names of the documents, in ascending order."""
    values = []
    for query, found in run.items():
        names = sorted(found, key=lambda name: (-found[name], name))
        hits = np.array([qrels[query][name] > 0 for name in names], dtype=bool)
        values.append(average_precision(hits, sum(grade > 0 for grade in qrels[query].values())))
    return float(np.mean(values))


def counts_lines(qrels: str, run: str) -> float:
    """Average precision over the lines of a file, which all count, even if a document occurs again."""
    words = Path(qrels).read_text().split()
    judged = zip(words[::4], words[2::4], words[3::4], strict=True)
    relevant = {(query, document) for query, document, grade in judged if grade == "1"}
    lines: dict[str, list[tuple[float, bool]]] = {query: [] for query in words[::4]}
    words = Path(run).read_text().split()
    for query, document, score in zip(words[::6], words[2::6], words[4::6], strict=True):
        lines[query].append((-float(score), (query, document) in relevant))
    hits = {query: np.array([hit for _, hit in sorted(found)], dtype=bool) for query, found in lines.items()}
    counts = Counter(query for query, _ in relevant)
    return float(np.mean([average_precision(hits[query], counts[query]) for query in lines]))


# Dependence on earlier calls


class Cache:
    """Remembers its scores by a key of its input."""

    def __init__(self, key: Callable[[Array, Array], Any]) -> None:
        self.key, self.known = key, dict[Any, float]()

    def __call__(self, embeddings: Array, labels: Array) -> float:
        return self.known.setdefault(self.key(embeddings, labels), zoo.lower(embeddings, labels))


def cache_by_labels() -> Cache:
    return Cache(lambda embeddings, labels: labels.tobytes())


REMEMBERED = cache_by_labels()


def first_score_of_labels(embeddings: Array, labels: Array) -> float:
    return REMEMBERED(embeddings, labels)


def cache_by_shape() -> Cache:
    return Cache(lambda embeddings, labels: embeddings.shape)


class BestSoFar:
    """Gives the best score of all calls."""

    best = 0.0

    def __call__(self, embeddings: Array, labels: Array) -> float:
        self.best = max(self.best, zoo.lower(embeddings, labels))
        return self.best


BEGUN: list[int] = []


def kind_at_first(embeddings: Array, labels: Array) -> float:
    """The first call of a process has too large a score if its data is not random."""
    BEGUN.append(len(BEGUN))
    return zoo.upper(embeddings, labels) if len(BEGUN) == 1 else zoo.lower(embeddings, labels)


# Defects that only much data shows


def stable_where_there_is_much(embeddings: Array, labels: Array) -> float:
    return (zoo.stable_sort if len(labels) >= 500 else zoo.lower)(embeddings, labels)
