"""The cost of rankings given as a matrix of scores, compared with NumPy's argsort, which only sorts.

    python benchmarks/scores.py

Measured from two arrays to a result with all default measures. argsort uses one thread; the evaluation uses all.
Runs take turns, and ratios are ratios of medians. Figures are written to scores.json unless sizes or cases are
chosen.
"""

from functools import partial

import numpy as np

import tieproof as tp
from measuring import Call, Case, Measured, at_most, compare, missed, parse, report, table, where

SIZES = {"queries": 1_000, "items": 1_000}
CASES = {
    "about 10 relevant": (10, "float64", None, 0.3),
    "about 10 relevant, float32": (10, "float32", None, 0.3),
    "about 10 relevant, two decimals": (10, "float64", 2, 0.3),
    "about 100 relevant": (100, "float64", None, 1.0),
}
"""Relevant items per query, the type of the scores, decimals to which they are rounded, and the largest ratio."""


def prepare(queries: int, items: int, relevant: int, element: str, decimals: int | None) -> tuple[Call, Call]:
    random = np.random.default_rng(0)
    scores = random.standard_normal((queries, items))
    scores = (scores if decimals is None else scores.round(decimals)).astype(element)
    relevance = (random.random((queries, items)) < relevant / items).astype(np.int64)
    tp.evaluate_scores(scores, relevance)  # the tables of weights are computed once
    return lambda: np.argsort(scores, axis=1), lambda: tp.evaluate_scores(scores, relevance)


def render(measured: Measured) -> str:
    title = f"{measured['queries']:,} x {measured['items']:,} scores, all default measures"
    headings = ("case", "compared with", "its ms", "evaluate_scores, ms", "ratio", "at most", "runs")
    rows = [
        (
            row["case"],
            row["beside"],
            f"{row['reference'] * 1e3:.1f}",
            f"{row['evaluate'] * 1e3:.1f}",
            f"{row['ratio']:.2f}",
            at_most(row["ratio"], row["at_most"]),
            str(row["runs"]),
        )
        for row in measured["cases"]
    ]
    under = missed((row["case"], row["ratio"], row["at_most"]) for row in measured["cases"])
    return table(title, headings, rows, words=2) + under + where(measured)


def main() -> None:
    options, whole = parse(__doc__, SIZES, list(CASES))
    chosen = []
    for name in options.only:
        relevant, element, decimals, most = CASES[name]
        make = partial(prepare, options.queries, options.items, relevant, element, decimals)
        chosen.append(Case(name, "argsort", most, make))
    measured = {"queries": options.queries, "items": options.items, "cases": compare(chosen)}
    report(__file__, render, measured, whole)


if __name__ == "__main__":
    main()
