"""The k nearest items of queries: `tp.nearest` beside the products of its own tiles, a float32 product, and faiss.

    python benchmarks/nearest.py
    python benchmarks/nearest.py --queries 10000 --only "D = 96, k = 10" --only "D = 96, k = 100"

Seconds of processor, one thread each, medians. `tiles` are products of rows that were prepared before. They
contain neither scanning and encoding the gallery, which `rows` measures as a search of four queries, nor any
comparison. What rows take does not depend on the number of queries, so `to tiles` falls if there are more; the last
column is without it. The float32 product alone, by NumPy's BLAS, is less than any search by
float32 needs. faiss's exact index (`IndexFlatL2`) multiplies matrices here, by the kernels of its BLAS library that
NumPy's library chose for this processor; by default, the present version computes differences for fewer than 128,000
queries, which takes several times as long. The second table counts neighbors of faiss, both ways, that are wrong:
items that are neither nearer than the k-th item nor tied with it. Figures are written to nearest.json unless sizes or
cases are chosen; those of 10,000 queries among all items are written to nearest-full.json, whatever the cases.
"""

import gc
import os
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

import tieproof as tp
from measuring import Array, Call, Measured, parse, processor_seconds, report, table, take_turns, where, white
from tieproof.distances import find_distance, make_space
from tieproof.distances.exact.bounds import single_threaded
from tieproof.distances.space import FLOAT32, Resources
from tieproof.engine.plan import LONG, cheapest_for_nearest

SIZES = {"queries": 2_000, "gallery": 1_000_000}
MANY, FEW = 10_000, 4
KEEP = 4 * 2**30
SIDE = 1008
CASES = {f"D = {dimensions}, k = {k}": (dimensions, k) for dimensions in (96, 768) for k in (10, 100)}

FEW_QUERIES, FEW_ITEMS, K = 200, 50_000, 100

BY_PRODUCTS, BY_DIFFERENCES = 20, 2**31 - 1
"""From how many queries on faiss multiplies matrices."""


@cache
def faiss() -> Any:
    """The library faiss, whose BLAS library does not recognize all processors that NumPy's does."""
    for library in threadpool_info():
        os.environ.setdefault("OPENBLAS_CORETYPE", library.get("architecture") or "")
    import faiss as library_of_faiss

    library_of_faiss.omp_set_num_threads(1)
    library_of_faiss.cvar.distance_compute_blas_threshold = BY_PRODUCTS
    return library_of_faiss


def tiles(queries: Array, gallery: Array, k: int) -> Call:
    """The products of the tiles that `nearest` chooses."""
    orders = np.arange(len(queries)), np.arange(len(gallery))
    resources = Resources(KEEP, FLOAT32, LONG)
    space = cheapest_for_nearest(make_space(find_distance("euclidean"), queries, gallery, orders, resources), k)
    space.keep_rows()

    def multiply() -> None:
        with single_threaded():
            for column in range(0, len(gallery), SIDE):
                for row in range(0, len(queries), SIDE):
                    space.tile(
                        slice(row, min(row + SIDE, len(queries))), slice(column, min(column + SIDE, len(gallery)))
                    )

    return multiply


def float32_product(queries: Array, gallery: Array) -> None:
    """The matrix product of all queries with all items, in one thread."""
    with single_threaded():
        for start in range(0, len(gallery), 4096):
            queries @ gallery[start : start + 4096].T


def searches(dimensions: int, k: int, n_queries: int, n_items: int) -> dict[str, Call]:
    """The calls to be timed."""
    queries, gallery = white(n_queries + n_items, dimensions)[:n_queries], white(n_queries + n_items, dimensions)
    gallery = gallery[n_queries:]
    index = faiss().IndexFlatL2(dimensions)
    index.add(gallery)
    nearest = partial(tp.nearest, gallery=gallery, k=k, distance="euclidean", threads=1, memory=3 * KEEP)
    return {
        "nearest": partial(nearest, queries),
        "rows": partial(nearest, queries[:FEW]),
        "tiles": tiles(queries, gallery, k),
        "product": partial(float32_product, queries, gallery),
        "faiss": partial(index.search, queries, k),
    }


def timed(name: str, n_queries: int, n_items: int) -> Measured:
    """Medians of processor time."""
    times = take_turns(searches(*CASES[name], n_queries, n_items), processor_seconds)
    gc.collect()
    return {"case": name, **{call: float(np.median(spent)) for call, spent in times.items()}}


def near_duplicates(rows: Array) -> Array:
    """Twenty rows, and small changes of them."""
    made: Array = rows[np.arange(len(rows)) % 20] + rows * np.float32(1e-4)
    return made


HARD: dict[str, Callable[[Array], Array]] = {
    "random": lambda rows: rows,
    "every row four times": lambda rows: np.repeat(rows[: -(-len(rows) // 4)], 4, axis=0)[: len(rows)],
    "near-duplicates": near_duplicates,
    "int8": lambda rows: np.clip(np.rint(rows * 30), -128, 127).astype(np.int8),
    "int8, few values": lambda rows: np.clip(np.rint(rows), -2, 2).astype(np.int8),
}


def compared(name: str) -> Measured:
    """How many of faiss's neighbors are wrong, and how many queries have a tie that the k-th rank cuts."""
    rows = HARD[name](white(FEW_QUERIES + FEW_ITEMS, 96))
    queries, gallery = rows[:FEW_QUERIES], rows[FEW_QUERIES:]
    found = tp.nearest(queries, gallery, K, distance="euclidean", threads=1)
    index = faiss().IndexFlatL2(rows.shape[1])
    index.add(gallery.astype(np.float32))
    row: Measured = {"data": name, "of": found.ids.size, "cut": int(found.cut.sum())}
    for way, threshold in (("differences", BY_DIFFERENCES), ("products", BY_PRODUCTS)):
        faiss().cvar.distance_compute_blas_threshold = threshold
        row[way] = wrong_ids(index.search(queries.astype(np.float32), K)[1], found)
    return row


def wrong_ids(ids: Array, found: tp.Neighbors) -> int:
    """How many ids are neither nearer than the k-th item nor tied with it."""
    wrong = 0
    for query, listed in enumerate(ids):
        right = np.concatenate([found.ids[query, : found.tie_starts[query]], found.tie(query)])
        wrong += int((~np.isin(listed, right)).sum())
    return wrong


def render(measured: Measured) -> str:
    """Both tables."""
    rows = [
        (
            row["case"],
            *(f"{row[call]:.1f}" for call in ("tiles", "product", "faiss", "nearest")),
            *(f"{row['nearest'] / row[call]:.2f}" for call in ("tiles", "product", "faiss")),
            *of_rows(row),
        )
        for row in measured["cases"]
    ]
    title = f"{measured['queries']:,} queries, {measured['gallery']:,} items, euclidean, seconds of processor"
    ratios = ("to tiles", "to product", "to faiss", "rows", "less rows, to tiles")
    headings = ("case", "tiles", "product", "faiss", "nearest", *ratios)
    compared_rows = [
        (row["data"], f"{row['of']:,}", f"{row['differences']:,}", f"{row['products']:,}", f"{row['cut']:,}")
        for row in measured["compared"]
    ]
    columns = ("data", "neighbors", "wrong, by differences", "wrong, by products", "queries with a cut tie")
    below = f"faiss's neighbors of {FEW_QUERIES} queries among {FEW_ITEMS:,} items, D = 96, k = {K}"
    return table(title, headings, rows) + "\n" + table(below, columns, compared_rows) + where(measured)


def of_rows(row: Measured) -> tuple[str, str]:
    """What rows take, and the ratio without it; figures of earlier versions do not contain it."""
    if "rows" not in row:
        return "", ""
    return f"{row['rows']:.1f}", f"{(row['nearest'] - row['rows']) / row['tiles']:.2f}"


def main() -> None:
    """Time the cases, and compare."""
    options, whole = parse(__doc__, SIZES, list(CASES))
    measured = {
        "queries": options.queries,
        "gallery": options.gallery,
        "cases": [timed(name, options.queries, options.gallery) for name in options.only],
        "compared": [compared(name) for name in HARD],
    }
    full = (options.queries, options.gallery) == (MANY, SIZES["gallery"])
    report(str(Path(__file__).with_stem("nearest-full")) if full else __file__, render, measured, whole or full)


if __name__ == "__main__":
    main()
