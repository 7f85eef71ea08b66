"""Scores, distances and runs that cannot be evaluated."""

import numpy as np
import pandas as pd

import tieproof as tp
from refusals.case import Case

SQUARE = [[9.0, 2.0], [2.0, 9.0]]


def two_scores() -> pd.DataFrame:
    return pd.DataFrame([["q", "a", 1.0, 2.0]], columns=["qid", "docno", "score", "score"])


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
    "scores of one dimension": Case(
        lambda: tp.evaluate_scores([0.9, 0.5], [1, 0]),
        r"arrived with the shape \(2,\)\. Those of a single query are a matrix of one row: pass \[scores\]",
    ),
    "scores without relevance or labels": Case(
        lambda: tp.evaluate_scores([[1.0, 2.0]]), r"either relevance or labels="
    ),
    "labels of a matrix that is not square": Case(
        lambda: tp.evaluate_scores([[1.0, 2.0]], labels=[0]),
        r"shape \(1, 2\), which is not square.*Pass gallery_labels=",
    ),
    "labels of lists": Case(
        lambda: tp.evaluate_scores([[1.0, 2.0], [1.0]], labels=[0, 0]),
        r"rows of 1 to 2 items: labels belong to the columns of a matrix",
    ),
    "labels of lists that were cut off": Case(
        lambda: tp.evaluate_distances(SQUARE, labels=[0, 0], n_relevant=3), r"labels are for whole rankings"
    ),
    "a grade beyond the scale of ERR": Case(
        lambda: tp.evaluate_scores([[2.0, 1.0]], [[0, 5]], measures=["ERR@20"]),
        r"'ERR@20' is for grades up to 4, and there is one of 5\..*such as 'ERR\(max_grade=5\)@20'",
    ),
    "ERR where grades of missing items are unknown": Case(
        lambda: tp.evaluate_scores([[2.0, 1.0]], [[0, 3]], measures=["ERR"], n_relevant=[2]),
        r"'ERR' needs the grades of the relevant items that are not in the list.*without n_relevant",
    ),
    "bpref of lists that were cut off": Case(
        lambda: tp.evaluate_scores([[2.0, 1.0]], [[0, 1]], measures=["bpref"], n_relevant=[1]),
        r"'bpref' divides by .* which lists that were cut off do not tell.*without n_relevant, or qrels and a run",
    ),
    "bpref without a document that was judged not relevant": Case(
        lambda: tp.evaluate_run({"q": {"a": 1, "b": -1}}, {"q": {"a": 2.0, "b": 1.0}}, measures=["AP", "bpref"]),
        r"'bpref' counts the documents that were judged not relevant.*the qrels have no document of grade 0",
    ),
    "gallery labels without labels": Case(
        lambda: tp.evaluate_distances(SQUARE, [[0, 1], [1, 0]], gallery_labels=[0, 0]),
        r"gallery_labels were passed without labels",
    ),
    "integers that floats would round in a run": Case(
        lambda: tp.evaluate_run({"q": {"a": 1}}, {"q": {"a": np.int64(2**60 + 1), "b": 0.5}}),
        r"hold .*integers? .*float64 does not hold",
    ),
    "a query that ends in NUL": Case(
        lambda: tp.evaluate_run({"q": {"a": 1}}, {"q\0": {"a": 1}}), r"'q\\x00' ends in a NUL character"
    ),
    "a run with two columns of scores": Case(
        lambda: tp.evaluate_run({"q": {"a": 1}}, two_scores()), r"The run: 2 columns are called 'score'"
    ),
    "a number alone among measures": Case(
        lambda: tp.evaluate_scores(SQUARE, [[0, 1], [1, 0]], measures="AP,10"), r"unknown measure '10'"
    ),
    "an audit without a time limit": Case(
        lambda: tp.audit(max, takes="embeddings", time_limit=float("inf")),
        r"time_limit must be a number of seconds above 0 and at most 1,000,000, not inf",
    ),
}
