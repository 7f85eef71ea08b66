"""What float16 and float64 embeddings cost beside the same data in float32.

    python benchmarks/dtypes.py

Leave-one-out, all default measures. Ratios are of medians of runs in turns. Figures are kept in dtypes.json unless
sizes or cases are chosen.
"""

from functools import partial

import numpy as np

from measuring import Call, Case, Measured, clustered, compare, evaluation, keep, parse, render_ratios, setting, where

SIZES = {"count": 20_000, "dimensions": 512}
RELEVANT = 100
CASES = {"float16": 1.3, "float64": 2.0}
"""How many times what float32 takes each may take."""


def prepare(count: int, dimensions: int, dtype: str) -> tuple[Call, Call]:
    """Float64 has digits that float32 does not have, so that nothing is to be gained by rounding."""
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
    measured = {
        "count": options.count,
        "dimensions": options.dimensions,
        "cases": compare(chosen),
        "setting": setting(),
    }
    print(render(measured), end="")
    if whole:
        keep(__file__, measured)


if __name__ == "__main__":
    main()
