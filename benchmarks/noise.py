"""Bounds under noise, and the distribution over ties, compared with simulations.

    python benchmarks/noise.py

1. Rows of embeddings move 1,000 times, each by up to its own radius: at random, toward other rows, and all the way
   to the other computation. No measure of any query may leave its bounds.
2. Tied items of 64-bit codes are ordered at random a million times. Massart's bound for the difference between the
   shares of orders and their probabilities is passed with a probability of 1e-6 (Massart 1990).
3. The widest bracket between quantiles of the mean AP of 10,000 queries, at most 1e-6, in at most 10 seconds.

The table is printed, and its numbers are written to noise.json.
"""

from typing import Any

import numpy as np

import tieproof as tp
from measuring import Array, Measured, at_most, clustered, missed, parse, processor_seconds, report, table, where

SIZES = {"moves": 1000, "orders": 10**6, "queries": 10**4}

ROUNDING = 1e-12
"""The relative rounding error of a measure."""

QUANTILES = (0.001, 0.01, 0.025, 0.25, 0.5, 0.75, 0.975, 0.99, 0.999)
MOST_WIDE, MOST_SECONDS = 1e-6, 10.0

DEPTH = 20
"""The ranks that simulated orders are measured at."""


def perturbed(times: int) -> Measured:
    """How many values leave their bounds, and the largest part of the bounds' width that a mean covers."""
    rows, labels = clustered(400, 32, 40)
    random, rows = np.random.default_rng(2), rows.astype(np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    there = rows + 0.002 * random.normal(size=rows.shape)
    there[[7, 300]] += 0.1
    there /= np.linalg.norm(there, axis=1, keepdims=True)
    options: dict[str, Any] = {"distance": "euclidean", "measures": ["AP", "P@5", "nDCG@10"]}
    outer = tp.evaluate(rows, labels, noise=there, **options)
    radius = np.linalg.norm(there - rows, axis=1, keepdims=True)
    outside, means = 0, []
    for attempt in range(times):
        step = (random.normal(size=rows.shape), rows[random.permutation(len(rows))] - rows, there - rows)[attempt % 3]
        length = np.linalg.norm(step, axis=1, keepdims=True)
        now = rows + 0.999 * radius * np.divide(step, length, out=np.zeros_like(step), where=length > 0)
        inner = tp.evaluate(now, labels, **options)
        means.append(inner["AP"].lower)
        for name in inner.measures:
            values, bounds = inner.per_query(name), outer.per_query(name).noise
            outside += int((values.lower * (1 + ROUNDING) < bounds.lower).sum())
            outside += int((values.upper > bounds.upper * (1 + ROUNDING)).sum())
    width = outer["AP"].noise.upper - outer["AP"].noise.lower
    return {"times": times, "outside": outside, "covered": (max(means) - min(means)) / width}


def codes(count: int) -> tuple[Array, Array]:
    """The 64 signs of embeddings in classes, and their labels."""
    rows, labels = clustered(count, 64, count // 20)
    return rows > 0, labels


def simulated(orders: int) -> Measured:
    """The largest difference from the bracket among the probabilities of 200 values, and Massart's bound."""
    rows, labels = codes(1000)
    scores = -np.count_nonzero(rows[:8, None] != rows, axis=2)[:, 8:]
    relevance = (labels[:8, None] == labels[8:]).astype(np.int64)
    some = np.flatnonzero(relevance.any(axis=1))
    result = tp.evaluate_scores(scores[some], relevance[some], measures=[f"AP@{DEPTH}"])
    distribution = result.distribution(f"AP@{DEPTH}")
    random, values = np.random.default_rng(3), np.zeros(orders)
    for score, own in zip(scores[some], relevance[some], strict=True):
        near = np.flatnonzero(score >= np.sort(score)[-DEPTH])
        tie, is_hit = -score[near], own[near]
        for start in range(0, orders, 10_000):
            ranked = np.argsort(tie + random.random((min(10_000, orders - start), len(near))), axis=1)[:, :DEPTH]
            hits = is_hit[ranked]
            terms = np.cumsum(hits, axis=1) / np.arange(1, DEPTH + 1) * hits
            values[start : start + len(hits)] += terms.sum(axis=1) / own.sum() / len(some)
    values.sort()
    worst = 0.0
    for value in np.quantile(values, np.linspace(0.0005, 0.9995, 200)).tolist():
        share, between = 1 - np.searchsorted(values, value - ROUNDING) / orders, distribution.at_least(value)
        worst = max(worst, between.low - share, share - between.high)
    return {"orders": orders, "apart": worst, "at_most": float(np.sqrt(np.log(2 / 1e-6) / (2 * orders)))}


def brackets(queries: int) -> Measured:
    """The widest bracket of a quantile, and the seconds of processor time for all of them."""
    rows, labels = codes(queries)
    result = tp.evaluate(rows, labels, distance="hamming", measures=["AP"], memory="4GiB")
    found: list[Any] = []

    def ask() -> None:
        distribution = result.distribution("AP")
        found.extend(distribution.quantile(each) for each in QUANTILES)

    taken = processor_seconds(ask)
    ties = result.ties.ambiguous_ties
    return {"queries": queries, "ties": ties, "widest": max(each.high - each.low for each in found), "seconds": taken}


def render(measured: Measured) -> str:
    moved, random, wide = measured["perturbed"], measured["simulated"], measured["brackets"]
    rows = [
        (f"values outside their bounds, {moved['times']:,} perturbations", float(moved["outside"]), 0.0),
        (f"difference from {random['orders']:,} orders, in 1e-3", 1e3 * random["apart"], 1e3 * random["at_most"]),
        (f"widest quantile, {wide['ties']:,} ties, in 1e-6", 1e6 * wide["widest"], 1e6 * MOST_WIDE),
        (f"seconds for the quantiles, {wide['queries']:,} queries", wide["seconds"], MOST_SECONDS),
    ]
    shown = [(name, f"{found:.2f}", at_most(found, most)) for name, found, most in rows]
    title = f"the perturbed mAP covers {moved['covered']:.1%} of its bounds"
    return table(title, ("", "found", "at most"), shown) + missed(rows) + where(measured)


def main() -> None:
    options, whole = parse(__doc__, SIZES, ["all"])
    measured = {
        "perturbed": perturbed(options.moves),
        "simulated": simulated(options.orders),
        "brackets": brackets(options.queries),
    }
    report(__file__, render, measured, whole)


if __name__ == "__main__":
    main()
