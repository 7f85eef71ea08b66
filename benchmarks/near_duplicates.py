"""The cost of data that float64 cannot rank as passed: near-duplicates, and true ties of rows that are not equal.

    python benchmarks/near_duplicates.py

Near-duplicates are copies of one random row whose entries are changed by -1, 0 or 1 unit in the last place, so
nearly all pairs have to be decided by exact differences. Leave-one-out, all default measures, compared with as many
random vectors under the same distance. Runs take turns, and ratios are ratios of medians. Figures are written to
near_duplicates.json unless sizes or cases are chosen.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from measuring import Array, Call, Case, Measured, compare, evaluation, parse, render_ratios, report, where, white

SIZES = {"count": 5_000, "dimensions": 128}
RELEVANT = 100
MOST = 5.0
DISTANCES = ("cosine", "euclidean", "dot", "cityblock")


def one_ulp_apart(rows: Array, dtype: type) -> Array:
    """Copies of the first row, with every entry changed by -1, 0 or 1 unit in the last place."""
    row = rows[0].astype(dtype)
    near = np.stack([np.nextafter(row, dtype(-np.inf)), row, np.nextafter(row, dtype(np.inf))])
    return np.asarray(near[np.random.default_rng(2).integers(0, 3, size=rows.shape), np.arange(rows.shape[1])])


def tenths(rows: Array) -> Array:
    """Rows of 0.1, 0.2 and 0.3 in float32, which have no common unit."""
    return np.random.default_rng(2).choice(np.array([0.1, 0.2, 0.3], dtype=np.float32), size=rows.shape)


DATA: dict[str, Callable[[Array], Array]] = {
    "one ulp apart, float32": lambda rows: one_ulp_apart(rows, np.float32),
    "one ulp apart, float64": lambda rows: one_ulp_apart(rows, np.float64),
    "0.1, 0.2, 0.3": tenths,
}
CASES = {f"{name}, {distance}": (change, distance) for name, change in DATA.items() for distance in DISTANCES}


def prepare(count: int, dimensions: int, case: str) -> tuple[Call, Call]:
    """The evaluations of random vectors and of the case's vectors."""
    change, distance = CASES[case]
    ordinary, labels = white(count, dimensions), np.arange(count) // RELEVANT
    return evaluation(embeddings=ordinary, labels=labels, distance=distance), evaluation(
        rows=200, embeddings=change(ordinary), labels=labels, distance=distance
    )


def render(measured: Measured) -> str:
    count, dimensions = measured["count"], measured["dimensions"]
    title = f"leave-one-out, N = {count:,}, D = {dimensions}, {RELEVANT} relevant, all default measures"
    return render_ratios(title, measured["cases"]) + where(measured)


def main() -> None:
    options, whole = parse(__doc__, SIZES, list(CASES))
    chosen = [
        Case(name, "random vectors", MOST, partial(prepare, options.count, options.dimensions, name))
        for name in options.only
    ]
    measured = {"count": options.count, "dimensions": options.dimensions, "cases": compare(chosen)}
    report(__file__, render, measured, whole)


if __name__ == "__main__":
    main()
