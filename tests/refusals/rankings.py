"""Scores, distances and runs that cannot be evaluated."""

import numpy as np

import tieproof as tp
from refusals.case import Case

CASES: dict[str, Case] = {
    "scores of NaN": Case(
        lambda: tp.evaluate_scores([[1.0, np.nan]], [[0, 1]]),
        r"query 0 holds nan at item 1",
    ),
    "a relevance of NaN": Case(
        lambda: tp.evaluate_scores([[1.0, 2.0]], [[0, np.nan]]), r"query 0 holds nan at item 1"
    ),
    "scores without relevance": Case(lambda: tp.evaluate_scores([[1.0, 2.0]], [[0]]), r"2 scores and 1 relevance"),
    "scores for fewer queries": Case(lambda: tp.evaluate_scores([[1.0]], [[0], [1]]), r"for 1 queries and.*for 2"),
    "no scores": Case(lambda: tp.evaluate_scores([], []), r"At least one query"),
    "scores in three dimensions": Case(lambda: tp.evaluate_scores(np.zeros((1, 2, 3)), []), r"shape \(1, 2, 3\)"),
    "an audit without a time limit": Case(
        lambda: tp.audit(max, takes="embeddings", time_limit=float("inf")),
        r"time_limit must be a number of seconds above 0 and at most 1,000,000, not inf",
    ),
}
