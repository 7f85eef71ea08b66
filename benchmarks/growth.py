"""How the cost of a pair of query and item grows with the number of items, of dimensions, and of relevant items.

    python benchmarks/growth.py

Leave-one-out, cosine, all default measures, medians of runs in turns. A pair counts in both directions. The product
beside it is the float32 matrix product of the same size. Figures are kept in growth.json unless sizes or cases are
chosen: with --count, everything shrinks in proportion.
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
    keep,
    missed,
    parse,
    product,
    setting,
    table,
    take_turns,
    where,
    white,
)

SIZES = {"count": 80_000}
"""The largest number of items."""

MOST_GROWTH = 1.2
"""How many times the time per pair of the fewest items that of the most may be."""


class Point(NamedTuple):
    """Data of one size."""

    items: int
    dimensions: int
    relevant: int
    product: bool
    """Whether the product is measured, too."""


def families(largest: int) -> dict[str, list[Point]]:
    """Which sizes, by what grows."""
    few = largest // 8
    return {
        "items": [Point(largest // part, 64, 100, False) for part in (8, 4, 2, 1)],
        "dimensions": [Point(few, dimensions, 100, True) for dimensions in (32, 128, 512, 2048)],
        "relevant items": [
            Point(few, 128, max(2, few // classes), False) for classes in (5000, 1000, 100, 25, 10, 2)
        ],
    }


def calls(point: Point) -> Iterator[tuple[str, Call]]:
    """What is measured at a point."""
    embeddings, labels = clustered(point.items, point.dimensions, max(2, point.items // max(2, point.relevant)))
    yield "evaluate", evaluation(embeddings=embeddings, labels=labels)
    if point.product:
        vectors = white(point.items, point.dimensions)
        yield "product", partial(product, vectors, vectors)


def measure(points: list[Point]) -> list[Measured]:
    """One row for each point: nanoseconds per pair and core."""
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
    """A table for each of what grows."""
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
    measured = {
        "families": {name: measure(points[name]) for name in options.only},
        "at_most": MOST_GROWTH,
        "setting": setting(),
    }
    print(render(measured), end="")
    if whole:
        keep(__file__, measured)


if __name__ == "__main__":
    main()
