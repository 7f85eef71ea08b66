"""The cost of exact evaluation by city-block distance, compared with SciPy's cdist, which does not sort.

    python benchmarks/cityblock.py

cdist uses one thread; the evaluation uses all. Runs take turns, and ratios are ratios of
medians. Figures are written to cityblock.json unless sizes or cases are chosen.
"""

from functools import partial

from measuring import Call, Case, Measured, clustered, compare, evaluation, parse, render_ratios, report, where

SIZES = {"count": 5_000, "dimensions": 512}
CASES = {"about 5 relevant": 5, "about 100 relevant": 100}
MOST = 0.08


def prepare(count: int, dimensions: int, relevant: int) -> tuple[Call, Call]:
    from scipy.spatial.distance import cdist

    embeddings, labels = clustered(count, dimensions, max(2, count // relevant))
    evaluate = evaluation(embeddings=embeddings, labels=labels, distance="cityblock")
    return lambda: cdist(embeddings, embeddings, "cityblock"), evaluate


def render(measured: Measured) -> str:
    title = (
        f"city-block, leave-one-out, N = {measured['count']:,}, D = {measured['dimensions']}, all default measures"
    )
    return render_ratios(title, measured["cases"]) + where(measured)


def main() -> None:
    options, whole = parse(__doc__, SIZES, list(CASES))
    chosen = [
        Case(name, "cdist", MOST, partial(prepare, options.count, options.dimensions, CASES[name]))
        for name in options.only
    ]
    measured = {"count": options.count, "dimensions": options.dimensions, "cases": compare(chosen)}
    report(__file__, render, measured, whole)


if __name__ == "__main__":
    main()
