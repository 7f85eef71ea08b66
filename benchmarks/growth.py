"""The cost of a (query, item) pair as the numbers of items, of dimensions and of relevant items grow.

    python benchmarks/growth.py

Leave-one-out, cosine, all default measures, medians of runs that take turns. A pair is counted in both directions.
The product is the float32 matrix product of the same size. Figures are written to growth.json unless sizes or cases
are chosen. With --count, all sizes shrink in proportion.
"""

import statistics
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from measuring import (
    Call,
    Measured,
    clustered,
    cores,
    evaluation,
    missed,
    parse,
    product,
    report,
    table,
    take_turns,
    where,
    white,
)

SIZES = {"count": 80_000}
"""The largest number of items."""

MOST_GROWTH = 1.2
"""The largest ratio of the time per pair with the most items to that with the fewest."""


class Point(NamedTuple):
    """The size of the data at one point of a table."""

    items: int
    dimensions: int
    relevant: int
    product: bool
    """Whether the product is measured, too."""


def families(largest: int) -> dict[str, list[Point]]:
    """The points of each table, by the quantity that grows."""
    few = largest // 8
    return {
        "items": [Point(largest // part, 64, 100, False) for part in (8, 4, 2, 1)],
        "dimensions": [Point(few, dimensions, 100, True) for dimensions in (32, 128, 512, 2048)],
        "relevant items": [
            Point(few, 128, max(2, few // classes), False) for classes in (5000, 1000, 100, 25, 10, 2)
        ],
    }


def calls(point: Point) -> Iterator[tuple[str, Call]]:
    """The measured figures of a point."""
    embeddings, labels = clustered(point.items, point.dimensions, max(2, point.items // max(2, point.relevant)))
    yield "evaluate", evaluation(embeddings=embeddings, labels=labels)
    if point.product:
        vectors = white(point.items, point.dimensions)
        yield "product", partial(product, vectors, vectors)


def measure(points: list[Point]) -> list[Measured]:
    """A row for each point: nanoseconds per pair and core."""
    times = take_turns({f"{place} {name}": call for place, point in enumerate(points) for name, call in calls(point)})
    rows = []
    for place, point in enumerate(points):
        row: Measured = {"items": point.items, "dimensions": point.dimensions, "relevant": point.relevant}
        for name in ("evaluate", "product"):
            spent = times.get(f"{place} {name}")
            if spent:
                row[f"{name}, s"] = statistics.median(spent)
                row[f"{name}, ns"] = statistics.median(spent) * cores() / point.items**2 * 1e9
        rows.append(row | {"runs": len(times[f"{place} evaluate"])})
    for row in rows:
        row["growth"] = row["evaluate, ns"] / rows[0]["evaluate, ns"]
    return rows


def render(measured: Measured) -> str:
    """A table for each quantity that grows."""
    text = []
    for family, rows in measured["families"].items():
        columns = ("evaluate, s", "evaluate, ns", "product, ns", "growth")
        body = [
            (
                *(f"{row[key]:,}" for key in ("items", "dimensions", "relevant")),
                *(f"{row[key]:.2f}" if key in row else "" for key in columns),
                str(row["runs"]),
            )
            for row in rows
        ]
        limit = f", at most {MOST_GROWTH} × per pair" if family == "items" else ""
        headings = ("N", "D", "relevant, about", columns[0], "ns per pair and core", "of the product", "×", "runs")
        targets = [(f"N = {row['items']:,}", row["growth"], MOST_GROWTH) for row in rows if family == "items"]
        text.append(table(f"growth with the number of {family}{limit}", headings, body, words=0) + missed(targets))
    return "\n".join(text) + where(measured)


def main() -> None:
    options, whole = parse(__doc__, SIZES, list(families(0)))
    points = families(options.count)
    measured = {"families": {name: measure(points[name]) for name in options.only}, "at_most": MOST_GROWTH}
    report(__file__, render, measured, whole)


if __name__ == "__main__":
    main()
