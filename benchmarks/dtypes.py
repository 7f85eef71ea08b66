"""The cost of float16 and float64 embeddings, compared with the same data in float32.

    python benchmarks/dtypes.py

Leave-one-out, all default measures. Runs take turns, and ratios are ratios of medians. Figures are written to
dtypes.json unless sizes or cases are chosen.
"""

from functools import partial

import numpy as np

from measuring import Call, Case, Measured, clustered, compare, evaluation, parse, render_ratios, report, where

SIZES = {"count": 20_000, "dimensions": 512}
RELEVANT = 100
CASES = {"float16": 1.3, "float64": 2.0}
"""The largest ratio to the time of float32 for each type."""


def prepare(count: int, dimensions: int, dtype: str) -> tuple[Call, Call]:
    """The float64 embeddings use digits that float32 lacks, so they cannot be evaluated as float32."""
    embeddings, labels = clustered(count, dimensions, max(2, count // RELEVANT))
    given = embeddings.astype(dtype)
    if dtype == "float64":
        given *= 1 + 2**-30 * np.random.default_rng(2).random((count, dimensions))
    return evaluation(embeddings=embeddings, labels=labels), evaluation(embeddings=given, labels=labels)


def render(measured: Measured) -> str:
    count, dimensions = measured["count"], measured["dimensions"]
    title = f"leave-one-out, N = {count:,}, D = {dimensions}, about {RELEVANT} relevant, all default measures"
    return render_ratios(title, measured["cases"]) + where(measured)


def main() -> None:
    options, whole = parse(__doc__, SIZES, list(CASES))
    chosen = [
        Case(name, "float32", CASES[name], partial(prepare, options.count, options.dimensions, name))
        for name in options.only
    ]
    measured = {"count": options.count, "dimensions": options.dimensions, "cases": compare(chosen)}
    report(__file__, render, measured, whole)


if __name__ == "__main__":
    main()
