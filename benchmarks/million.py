"""How many minutes leave-one-out with a million items would take, on 16 cores with a matrix unit, on paper.

    python benchmarks/million.py

The products have the prices of a prototype on a Xeon of the fourth generation, by its matrix unit (AMX) and in one
thread: 512 dimensions, in units of the float32 product of NumPy's OpenBLAS. All that an evaluation does beside its
products is measured here, in one thread: the processor seconds of evaluations with more and more items, without the
product's share in the samples of `perf` (the steps are those of steps.py). Without perf, nothing is measured.

What is assumed, because nobody has measured it:

- products take time in proportion to the dimensions
- the rest takes as long on that Xeon as here, and beside three slices as long as beside float32 tiles, which decide
  less
- the budget is enough to keep all converted rows, as it is here; else they are converted again for each tile
- the rest grows with pairs, or with items and pairs as fitted to the two largest numbers of items
- 16 cores do the work of one in a 16th of the time, though they share memory, caches and Python's lock; *Python*
  is the time of Python and NumPy on one core, which is the least if no two threads run them at the same time
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple
from unittest.mock import patch

from measuring import Call, Measured, clustered, evaluation, parse, processor_seconds, report, table, where
from steps import shares
from tieproof.distances import codes

SIZES = {"count": 40_000, "dimensions": 768}
"""The largest number of items that is measured, and their dimensions."""

ITEMS, CORES, MINUTES = 10**6, 16, 2.0
"""The items and the cores of the calculation, and the minutes that are aimed at."""

MEMORY = "8GiB"
"""A budget for all converted rows, which are kept in a twelfth of it; a million float32 rows need 64 GiB."""

FLOAT32 = 6.5e-3 / (1024 * 1024 * 512)
"""The seconds of a multiplication and addition of the float32 product, by the prototype's Xeon."""


class Way(NamedTuple):
    """How the products of data with some relevant items for each query are computed."""

    relevant: int
    slices: str
    price: float  # in the prototype, in units of the float32 product
    by_codes: bool  # whether what is measured beside it takes codes, by a loop if the processor has nothing better


SLICES = {
    "about 5 relevant": Way(5, "one slice, compared at once", 0.07, True),
    "about 100 relevant": Way(100, "three slices, written", 0.36, False),
}


@contextmanager
def allowed(by_codes: bool) -> Iterator[None]:
    """Codes as a choice of the plan, whatever instructions this processor has, or not."""
    with patch.object(codes, "multiplies_codes", lambda: by_codes):
        yield


def measure(call: Call) -> Measured:
    """The processor seconds of a call, and the shares of its steps."""
    spent: list[float] = []
    found = shares(lambda: spent.append(processor_seconds(call)))
    return {"seconds": spent[0], "shares": found}


def cases(largest: int, dimensions: int, names: list[str]) -> Iterator[Measured]:
    """A row for each case and number of items."""
    for name in names:
        way = SLICES[name]
        for items in (largest // 4, largest // 2, largest):
            embeddings, labels = clustered(items, dimensions, max(2, items // way.relevant))
            with allowed(way.by_codes):
                found = measure(evaluation(embeddings=embeddings, labels=labels, threads=1, memory=MEMORY))
            yield {"case": name, "items": items} | found


def beside(row: Measured) -> float:
    """The seconds of an evaluation without its products."""
    seconds: float = row["seconds"] * (1 - row["shares"]["product"])
    return seconds


def python(row: Measured) -> float:
    """The seconds of Python and NumPy."""
    seconds: float = row["seconds"] * row["shares"]["Python"]
    return seconds


def fitted(half: tuple[int, float], whole: tuple[int, float]) -> float:
    """The seconds of all items, from those of two numbers of items: one part for each item, and one for each pair."""
    (fewer, least), (more, most) = half, whole
    of_pair = (most / more - least / fewer) / (more - fewer)
    return ITEMS * (most / more + of_pair * (ITEMS - more))


def minutes(way: Way, dimensions: int, rows: list[Measured]) -> Measured:
    """The minutes of the products and of the rest on all cores, and of Python on one core."""
    rest, alone = (fitted(*((row["items"], part(row)) for row in rows[-2:])) for part in (beside, python))
    return {
        "products": way.price * FLOAT32 * dimensions * ITEMS**2 / 2 / CORES / 60,
        "rest, by pairs": beside(rows[-1]) * (ITEMS / rows[-1]["items"]) ** 2 / CORES / 60,
        "rest, fitted": rest / CORES / 60,
        "Python": alone / 60,
    }


def render(measured: Measured) -> str:
    dimensions = measured["dimensions"]
    points = [
        (
            row["case"],
            f"{row['items']:,}",
            f"{row['seconds']:.1f}",
            *(f"{part(row):.2f}" for part in (python, beside)),
            f"{1e9 * beside(row) / row['items'] ** 2:.2f}",
        )
        for row in measured["cases"]
    ]
    headings = ("case", "N", "processor, s", "Python, s", "all but products, s", "ns per pair")
    text = table(f"measured: leave-one-out, D = {dimensions}, one thread", headings, points)
    rows = []
    for name in dict.fromkeys(row["case"] for row in measured["cases"]):
        way = SLICES[name]
        found = minutes(way, dimensions, [row for row in measured["cases"] if row["case"] == name])
        whole = found["products"] + found["rest, fitted"]
        rows.append((name, way.slices, f"{way.price:.2f}", *map("{:.1f}".format, (*found.values(), whole))))
    columns = ("case", "products", "of float32", *found, "sum, fitted")
    title = f"on paper: N = {ITEMS:,}, D = {dimensions}, minutes of {CORES} cores with AMX; {MINUTES:.0f} are the aim"
    return text + table(title, columns, rows, words=2) + where(measured)


def main() -> None:
    options, whole = parse(__doc__, SIZES, list(SLICES))
    if shutil.which("perf") is None:
        print("perf is not installed, so nothing is measured.")
        return
    measured = {
        "dimensions": options.dimensions,
        "cases": list(cases(options.count, options.dimensions, options.only)),
    }
    report(__file__, render, measured, whole)


if __name__ == "__main__":
    main()
