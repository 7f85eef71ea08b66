"""The price of a certified truth, and a plan for a billion items on 10 to 1,000 machines.

    python benchmarks/truth.py
    python benchmarks/truth.py --queries 500 --gallery 100000

The script measures, in seconds of the processor with one thread:

- a pair of a query and an item for `nearest` with k = 100, at 128 dimensions of uint8 and at 768 of float32
- the digest of a row
- the merging of two lists of a query, of these data, which have few ties, and of three numbers, which have many

From these figures and the assumptions of cluster.py about machines, a schedule is simulated: 10,000 queries against a
billion items. Figures are written to truth.json unless sizes are chosen.
"""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

import tieproof as tp
from cluster import MACHINES, Machine, Shape, simulate
from measuring import Array, Call, Measured, parse, processor_seconds, report, table, take_turns, where, white
from tieproof.analyses.neighbors import search
from tieproof.analyses.neighbors.sides import Sides
from tieproof.engine.problem import Budget
from tieproof.evaluation.cluster.layout import BYTES_BESIDE
from tieproof.evaluation.cluster.tasks import Local, Survey, look
from tieproof.evaluation.problems import unwatched
from tieproof.inputs.shards.source import ArraySource

SIZES = {"queries": 2_000, "gallery": 500_000}
K, MERGED_QUERIES, PIECES = 100, 1_000, 8
QUERIES, ITEMS = 10**4, 10**9
KEEP = 4 * 2**30


class Data(NamedTuple):
    """A kind of rows: their number of dimensions, and how they are made of random float32."""

    dimensions: int
    made: Callable[[Array], Array]


def in_bytes(rows: Array) -> Array:
    """Random uint8."""
    made: Array = np.clip(np.rint(rows * 30 + 128), 0, 255).astype(np.uint8)
    return made


KINDS = {"128 × uint8": Data(128, in_bytes), "768 × float32": Data(768, lambda rows: rows)}


def priced(name: str, n_queries: int, n_items: int) -> Measured:
    """Seconds of a pair, of the digest of a row, and of merging a list of a query."""
    dimensions, made = KINDS[name]
    numbers = white(n_queries + n_items, dimensions)
    rows, few = made(numbers), made(np.sign(numbers[: MERGED_QUERIES + 20 * K * PIECES]))
    queries, gallery = rows[:n_queries], rows[n_queries:]
    source = ArraySource.of(gallery)
    calls: dict[str, Call] = {
        "pair": partial(tp.nearest, queries, gallery, K, distance="euclidean", threads=1, memory=KEEP),
        "row": partial(look, Survey(source, 1), np.zeros(n_items, dtype=np.uint64), (0, n_items)),
    }
    least = {call: min(spent) for call, spent in take_turns(calls, processor_seconds).items()}
    return {
        "case": name,
        "pair": least["pair"] / (n_queries * n_items),
        "row": least["row"] / n_items,
        "merge": merging(rows[: len(few)]),
        "merge with ties": merging(few),
        "bytes": rows.dtype.itemsize * dimensions,
    }


def merging(rows: Array) -> float:
    """Seconds of adding a list of k items to another one of a query: those of all pieces, once they were searched."""
    sides = Sides.of(rows[:MERGED_QUERIES], rows[MERGED_QUERIES:])
    problem = sides.search("euclidean", None, Budget(2**30, 1))
    ends = np.linspace(0, len(problem.items), PIECES + 1).astype(int).tolist()
    pieces = list(pairwise(ends))
    whole = search.SearchInParts.of(problem, K)._replace(pieces=pieces)
    found: dict[search.Part, tp.Neighbors] = {part: search.searched(whole, part) for part in whole.parts}

    def merge() -> None:
        search.find(whole, Local(), found, unwatched, 0)

    return min(take_turns({"merge": merge}, processor_seconds)["merge"]) / (MERGED_QUERIES * (PIECES - 1))


def plan(price: Measured, machines: int) -> Measured:
    """Hours, and what each machine reads and keeps."""
    machine = Machine(price["pair"], task=0.01, copies=True)
    piece = int(machine.memory / 2 // (price["bytes"] + BYTES_BESIDE))
    size, piece = search.for_workers(
        QUERIES, ITEMS, search.LISTED // K, piece, search.PARTS_EACH * machines * machine.workers
    )
    blocks, pieces = -(-QUERIES // size), -(-ITEMS // piece)
    read = ITEMS / pieces * price["bytes"] + QUERIES / blocks * price["bytes"]
    shape = Shape(pieces * blocks, QUERIES / blocks * ITEMS / pieces, read)
    speed = min(machines * machine.network, machine.storage)
    digests = max(ITEMS * price["bytes"] / speed, ITEMS * price["row"] / (machines * machine.workers))
    merged = QUERIES * (pieces - 1) * max(price["merge"], price["merge with ties"])
    return {
        "case": price["case"],
        **simulate(machine, machines, shape),
        "pieces": pieces,
        "digests": digests / 3600,
        "merging": merged / 3600,
        "read": (ITEMS * price["bytes"] + shape.tasks * read) / machines,
        "worker": machine.memory,
        "driver": 16 * ITEMS + QUERIES * K * 24 * search.MERGED,
        "parts": pieces * QUERIES * K * 24,
    }


def render(measured: Measured) -> str:
    """The prices, and the plan."""
    prices = [
        (
            row["case"],
            f"{1e9 * row['pair']:.2f}",
            f"{1e9 * row['row']:.0f}",
            f"{1e6 * row['merge']:.0f}",
            f"{1e6 * row['merge with ties']:.0f}",
        )
        for row in measured["prices"]
    ]
    planned = [
        (
            row["case"],
            f"{row['machines']:,}",
            f"{row['hours'] + row['digests'] + row['merging']:.2f}",
            *(f"{row[key]:.2f}" for key in ("hours", "digests", "merging", "efficiency")),
            f"{row['pieces']:,}",
            f"{row['read'] / 1e9:,.0f}",
        )
        for row in measured["plan"]
    ]
    title = f"one thread, k = {K}, {measured['queries']:,} queries, {measured['gallery']:,} items, euclidean"
    below = f"{QUERIES:,} queries, {ITEMS:,} items, machines of 16 workers with 8 GiB"
    columns = ("rows", "pair, ns", "digest of a row, ns", "merging a list, µs", "with ties, µs")
    headings = ("rows", "machines", "hours", "search", "digests", "merging", "efficiency", "pieces", "GB read")
    return table(title, columns, prices) + "\n" + table(below, headings, planned) + where(measured)


def main() -> None:
    """Measure, and simulate."""
    options, whole = parse(__doc__, SIZES, list(KINDS))
    prices = [priced(name, options.queries, options.gallery) for name in options.only]
    measured = {
        "queries": options.queries,
        "gallery": options.gallery,
        "k": K,
        "planned": {"queries": QUERIES, "items": ITEMS},
        "prices": prices,
        "plan": [plan(price, machines) for price in prices for machines in MACHINES],
    }
    report(__file__, render, measured, whole)


if __name__ == "__main__":
    main()
