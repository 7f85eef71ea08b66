"""The peak memory of an evaluation, without its inputs, compared with its budget.

    python benchmarks/memory.py
    python benchmarks/memory.py --full

Each case runs in a fresh process, which reads the embeddings from a file, evaluates a small part to load
everything, and then resets the peak of its resident memory in Linux. The later peak, minus the memory that was
resident before, is the memory of the evaluation, including thread stacks, buffers of BLAS and the result. --full
measures N = 200,000, takes minutes, and writes its figures to memory-full.json; the other figures are in
memory.json. --sparse evaluates 1,000 queries among a million sparse rows (SciPy's CSR, 128 float32 weights of 30,522
terms each, 1 GiB) instead, and writes memory-sparse.json.
"""

import argparse
import multiprocessing
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

import tieproof as tp
from measuring import Call, Measured, clustered, evaluation, missed, report, table, where
from tieproof.inputs.options import parse_memory

MIB = 2**20
BUDGETS = ("256MiB", "1GiB")


class Data(NamedTuple):
    """The size of the embeddings, and the number of classes."""

    items: int
    dimensions: int
    classes: int


USUAL = {"10 classes": Data(20_000, 512, 10), "about 5 relevant": Data(20_000, 512, 4_000)}
SPARSE = Data(1_000_000, 30_522, 0)
QUERIES, OF_QUERY, OF_ITEM = 1_000, 30, 128
FULL = {"about 5 relevant": Data(200_000, 64, 40_000)}


def resident(field: str) -> int:
    """Resident bytes of this process: now (VmRSS), or at the peak (VmHWM)."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status[field].split()[0]) * 1024


def peak(folder: str, budget: str) -> Measured:
    """Bytes in addition to the inputs, and seconds, measured in a separate process."""
    embeddings, labels = np.load(Path(folder, "embeddings.npy")), np.load(Path(folder, "labels.npy"))
    evaluate = evaluation(embeddings=embeddings, labels=labels, memory=budget)
    return spent_by(evaluate) | {"inputs": embeddings.nbytes + labels.nbytes}


def spent_by(evaluate: Call) -> Measured:
    """The additional bytes at the peak, and seconds, of a call."""
    Path("/proc/self/clear_refs").write_text("5")
    before, start = resident("VmRSS"), perf_counter()
    evaluate()
    return {"peak": resident("VmHWM") - before, "seconds": perf_counter() - start}


def rows(count: int, entries: int, seed: int) -> Any:
    """Sparse rows of so many ascending terms each."""
    from scipy import sparse

    random = np.random.default_rng(seed)
    terms = random.integers(1, SPARSE.dimensions // entries, size=(count, entries), dtype=np.int32)
    np.cumsum(terms, axis=1, out=terms)
    weights = random.random(count * entries, dtype=np.float32) + np.float32(0.1)  # zeros would be left out of a copy
    starts = np.arange(0, count * entries + 1, entries, dtype=np.int32)
    return sparse.csr_array((weights, terms.ravel(), starts), shape=(count, SPARSE.dimensions))


def sparse_peak(distance: str, budget: str) -> Measured:
    """As `peak`, of sparse rows."""
    queries, gallery = rows(QUERIES, OF_QUERY, 0), rows(SPARSE.items, OF_ITEM, 1)
    relevance = np.column_stack([np.arange(QUERIES), np.arange(QUERIES) * 7])
    options: dict[str, Any] = {"relevance": relevance, "distance": distance, "memory": budget}
    tp.evaluate(queries, gallery=gallery[: 10 * QUERIES], **options)
    found = spent_by(lambda: tp.evaluate(queries, gallery=gallery, **options))
    return found | {"inputs": gallery.data.nbytes + gallery.indices.nbytes}


def measure_sparse() -> list[Measured]:
    """A row for each distance, by the smallest budget."""
    found, budget = [], BUDGETS[0]
    for distance in ("dot", "cosine"):
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            of_case = pool.submit(sparse_peak, distance, budget).result()
        row = {"case": f"sparse rows, {distance}", "count": SPARSE.items, "dimensions": SPARSE.dimensions}
        found.append(row | {"budget": parse_memory(budget)} | of_case)
    return found


def measure(name: str, data: Data) -> list[Measured]:
    """A row for each budget."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for file, array in zip(("embeddings", "labels"), clustered(*data), strict=True):
            np.save(Path(folder, file), array)
        for budget in BUDGETS:
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
                found = pool.submit(peak, folder, budget).result()
            allowed = parse_memory(budget)
            row = {"case": name, "count": data.items, "dimensions": data.dimensions, "budget": allowed}
            rows.append(row | found)
    return rows


def render(measured: Measured) -> str:
    rows = [
        (
            row["case"],
            f"{row['count']:,}",
            f"{row['dimensions']}",
            *(f"{row[key] / MIB:,.0f}" for key in ("inputs", "budget", "peak")),
            f"{row['peak'] / row['budget']:.2f}",
            f"{row['seconds']:.1f}",
        )
        for row in measured["cases"]
    ]
    headings = ("case", "N", "D", "inputs, MiB", "budget, MiB", "peak over inputs, MiB", "of the budget", "seconds")
    title = "peak memory, all default measures, leave-one-out but of sparse rows; at most 1.00 of the budget"
    under = missed((row["case"], row["peak"] / row["budget"], 1.0) for row in measured["cases"])
    return table(title, headings, rows) + under + where(measured)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="N = 200,000 instead of the usual cases")
    parser.add_argument("--sparse", action="store_true", help="a million sparse rows instead of the usual cases")
    options = parser.parse_args()
    if not Path("/proc/self/clear_refs").exists():
        sys.exit("Peak memory is read from Linux's /proc, which is not here: nothing was measured.")
    script = Path(__file__)
    if options.sparse:
        report(str(script.with_stem(f"{script.stem}-sparse")), render, {"cases": measure_sparse()})
        return
    chosen = FULL if options.full else USUAL
    measured = {"cases": [row for name, data in chosen.items() for row in measure(name, data)]}
    report(str(script.with_stem(f"{script.stem}-full") if options.full else script), render, measured)


if __name__ == "__main__":
    main()
