"""The cost of binary codes of 64 bits: nanoseconds per (query, item) pair and core.

    python benchmarks/hamming.py

All default measures, medians. In leave-one-out, a pair is counted in both directions. Figures are written to
hamming.json unless sizes or cases are chosen.
"""

import statistics
from functools import partial

import numpy as np

from measuring import (
    Array,
    Call,
    Measured,
    at_most,
    clustered,
    cores,
    evaluation,
    missed,
    parse,
    report,
    table,
    take_turns,
    where,
)

SIZES = {"count": 100_000, "queries": 1_000, "gallery": 1_000_000}
BITS = 64
MOST = 0.8
LEAVE_ONE_OUT, QUERY_GALLERY = "leave-one-out, 10 classes", "query/gallery, 1,000 classes"


def codes(count: int, classes: int) -> tuple[Array, Array]:
    """Packed codes, and labels."""
    embeddings, labels = clustered(count, BITS, classes)
    return np.packbits(embeddings > 0, axis=1), labels


def leave_one_out(count: int) -> Call:
    packed, labels = codes(count, 10)
    return evaluation(embeddings=packed, labels=labels, distance="hamming", bits=BITS)


def query_gallery(queries: int, gallery: int) -> Call:
    packed, labels = codes(queries + gallery, min(1_000, gallery))
    return evaluation(
        embeddings=packed[:queries],
        labels=labels[:queries],
        gallery=packed[queries:],
        gallery_labels=labels[queries:],
        distance="hamming",
        bits=BITS,
    )


def render(measured: Measured) -> str:
    rows = [
        (
            row["case"],
            f"{row['queries']:,}",
            f"{row['gallery']:,}",
            f"{row['evaluate']:.2f}",
            f"{row['nanoseconds']:.2f}",
            at_most(row["nanoseconds"], row["at_most"]),
            str(row["runs"]),
        )
        for row in measured["cases"]
    ]
    headings = ("case", "queries", "gallery", "evaluate, s", "ns per pair and core", "at most", "runs")
    under = missed((row["case"], row["nanoseconds"], row["at_most"]) for row in measured["cases"])
    return table(f"Hamming, {BITS} bits, all default measures", headings, rows) + under + where(measured)


def main() -> None:
    options, whole = parse(__doc__, SIZES, [LEAVE_ONE_OUT, QUERY_GALLERY])
    prepare = {
        LEAVE_ONE_OUT: (options.count, options.count, partial(leave_one_out, options.count)),
        QUERY_GALLERY: (options.queries, options.gallery, partial(query_gallery, options.queries, options.gallery)),
    }
    cases = []
    for name in options.only:
        queries, gallery, make = prepare[name]
        times = take_turns({name: make()})[name]
        spent = statistics.median(times)
        cases.append(
            {
                "case": name,
                "queries": queries,
                "gallery": gallery,
                "evaluate": spent,
                "nanoseconds": spent * cores() / queries / gallery * 1e9,
                "at_most": MOST,
                "runs": len(times),
            }
        )
    measured = {"cases": cases}
    report(__file__, render, measured, whole)


if __name__ == "__main__":
    main()
