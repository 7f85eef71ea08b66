"""What near-duplicates cost beside as many ordinary vectors: rows one unit in the last place apart.

    python benchmarks/degenerate.py

No float32 product can tell such rows apart, so nearly all pairs have to be decided exactly. Leave-one-out, all
default measures. Ratios are of medians of runs in turns. Figures are kept in degenerate.json unless sizes or cases
are chosen.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from measuring import Array, Call, Case, Measured, compare, evaluation, keep, parse, render_ratios, setting, white

SIZES = {"count": 5_000, "dimensions": 512}
RELEVANT = 100
MOST = 20.0


def one_entry(rows: Array) -> Array:
    """One entry of each row goes up."""
    places = np.arange(len(rows)), np.random.default_rng(2).integers(0, rows.shape[1], len(rows))
    changed = rows.copy()
    changed[places] = np.nextafter(rows[places], np.float32(np.inf))
    return changed


def every_entry(rows: Array) -> Array:
    """Every entry goes up or down."""
    up = np.random.default_rng(2).random(rows.shape) < 0.5
    changed: Array = np.nextafter(rows, np.where(up, np.float32(np.inf), np.float32(-np.inf)))
    return changed


CASES: dict[str, Callable[[Array], Array]] = {
    "one vector, one entry changed": one_entry,
    "one vector, every entry changed": every_entry,
}


def prepare(count: int, dimensions: int, change: Callable[[Array], Array]) -> tuple[Call, Call]:
    ordinary, labels = white(count, dimensions), np.arange(count) // RELEVANT
    near = change(np.repeat(ordinary[:1], count, axis=0))
    return evaluation(embeddings=ordinary, labels=labels), evaluation(rows=200, embeddings=near, labels=labels)


def render(measured: Measured) -> str:
    count, dimensions = measured["count"], measured["dimensions"]
    title = f"near-duplicates, leave-one-out, N = {count:,}, D = {dimensions}, all default measures"
    return render_ratios(title, measured["cases"])


def main() -> None:
    options, whole = parse(__doc__, SIZES, list(CASES))
    chosen = [
        Case(name, "random vectors", MOST, partial(prepare, options.count, options.dimensions, CASES[name]))
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
