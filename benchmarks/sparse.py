"""Sparse rows: `tp.evaluate` by the dot product beside SciPy's product and a sort of what is not zero.

    python benchmarks/sparse.py
    python benchmarks/sparse.py --only lexical

Seconds of wall time in one thread, medians of calls that take turns. The terms of *expanded* rows, 30 of a query and
150 of an item, have the frequencies of a power law, so that nearly every pair has one in common; *lexical* queries
have 5 rare terms, so that nearly all items are tied at 0. A posting is a pair of a query and an item that have a term
in common, once for each such term. Figures are written to sparse.json unless sizes or cases are chosen.
"""

from functools import partial
from typing import Any

import numpy as np

import tieproof as tp
from measuring import Array, Measured, at_most, missed, parse, report, table, take_turns, where

SIZES = {"queries": 1_000, "gallery": 200_000}
TERMS, OF_ITEM, RELEVANT, RARE = 30_522, 150, 2, 5_000
OF_QUERY = {"expanded": 30, "lexical": 5}
CASES = tuple(OF_QUERY)
EXPONENT = 0.9
MEASURES = ["AP", "nDCG@10", "R@1000"]
TARGETS = {"expanded": 0.05, "lexical": 0.05}


def rows(count: int, length: int, share: Array, seed: int) -> Any:
    """Rows of about so many entries, whose terms have these frequencies."""
    from scipy import sparse

    random = np.random.default_rng(seed)
    drawn = np.searchsorted(np.cumsum(share), random.random(count * 2 * length)).clip(max=TERMS - 1)
    key = np.unique(np.repeat(np.arange(count), 2 * length) * TERMS + drawn)
    row = key // TERMS
    shuffled = random.permutation(len(key))
    shuffled = shuffled[np.argsort(row[shuffled], kind="stable")]  # those of a row together, in any order
    some = np.sort(shuffled[np.arange(len(key)) - np.searchsorted(row, row) < length])
    return sparse.csr_array((random.random(len(some), dtype=np.float32) + 0.1, (row[some], key[some] % TERMS)))


def data_of(case: str, queries: int, items: int) -> tuple[Any, Any, Array]:
    """Queries, items, and the relevant items of each query."""
    share = np.arange(1, TERMS + 1) ** -EXPONENT
    rare = share * (np.arange(TERMS) >= RARE) if case == "lexical" else share
    relevant = np.random.default_rng(2).integers(items, size=queries * RELEVANT)
    x = rows(queries, OF_QUERY[case], rare / rare.sum(), 0)
    y = rows(items, OF_ITEM, share / share.sum(), 1)
    for side in (x, y):
        side.resize((side.shape[0], TERMS))
    return x, y, np.column_stack([np.repeat(np.arange(queries), RELEVANT), relevant])


def ranked_by_scipy(queries: Any, items: Any) -> None:
    """The product, and a sort of the scores of each query that are not zero; some queries at a time."""
    for start in range(0, queries.shape[0], 100):
        scores = queries[start : start + 100] @ items.T
        for first, last in zip(scores.indptr[:-1], scores.indptr[1:], strict=True):
            np.argsort(scores.data[first:last])


def timed(case: str, queries: int, items: int) -> Measured:
    """Medians of the evaluation and of SciPy."""
    x, y, relevance = data_of(case, queries, items)
    call = partial(tp.evaluate, x, gallery=y, relevance=relevance, distance="dot", measures=MEASURES, threads=1)
    call()
    times = take_turns({"scipy": partial(ranked_by_scipy, x, y), "evaluate": call})
    found = {name: float(np.median(each)) for name, each in times.items()}
    having = [np.bincount(side.indices, minlength=TERMS) for side in (x, y)]
    postings = int(having[0] @ having[1])
    ratio = found["evaluate"] / found["scipy"]
    return {"case": case, "at_most": TARGETS[case], "ratio": ratio, "postings": postings, **found}


def render(measured: Measured) -> str:
    """The table."""
    headings = ("case", "postings, millions", "SciPy", "evaluate", "ns a posting", "to SciPy", "at most")
    lines = [
        (
            row["case"],
            f"{row['postings'] / 1e6:,.1f}",
            f"{row['scipy']:.2f}",
            f"{row['evaluate']:.2f}",
            f"{1e9 * row['evaluate'] / row['postings']:,.1f}",
            f"{row['ratio']:.2f}",
            at_most(row["ratio"], row["at_most"]),
        )
        for row in measured["cases"]
    ]
    title = f"{measured['queries']:,} queries, {measured['gallery']:,} items, {TERMS:,} terms, one thread, seconds"
    targets = missed((row["case"], row["ratio"], row["at_most"]) for row in measured["cases"])
    return table(title, headings, lines) + targets + where(measured)


def main() -> None:
    """Time the cases."""
    options, whole = parse(__doc__, SIZES, CASES)
    measured = {
        "queries": options.queries,
        "gallery": options.gallery,
        "cases": [timed(case, options.queries, options.gallery) for case in options.only],
    }
    report(__file__, render, measured, whole)


if __name__ == "__main__":
    main()
