"""Writes the page on what an evaluation costs, and the page of all figures, from the figures of the benchmarks."""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
BENCHMARKS = DOCS.parent / "benchmarks"

# The processors that were measured with the product: the one that the page on costs speaks of, a newer and an older one.
FAMILY, NEWER, OLDER = "-family-25-model-17", "-family-6-model-207", "-family-25-model-1"
MANY_QUERIES, MANY_ITEMS, MANY_DIMENSIONS = 10**6, 10**8, 512
CORES, HOURS = 64, 1
"""The cores of one machine, and the hours that an evaluation may take."""

COSTS = """<!-- Written by docs/write_costs.py from the figures beside the benchmarks. -->

# What an evaluation costs

All figures were measured on one machine with {cores} cores. Time is proportional to the number of (query, item)
pairs, so the costs of other sizes follow from a few constants. `benchmarks/figures.md` has the figures of all
benchmarks, their targets, and the schedules of clusters.

| part | grows with | measured |
|---|---|---|
| the matrix product of float32 | pairs × dimensions | {product:.2f} ns per pair and core at {dimensions} dimensions |
| a whole evaluation, about 5 relevant items per query | pairs | {few:.2f} × the product |
| about 100 | pairs, and relevant items × logarithm | {hundred:.2f} × |
| 10 classes (2,000 relevant items per query) | the same | {classes:.2f} × |
| no structure at all, 100 relevant items | items as near as the last relevant one | {random:.2f} × |
| queries against a gallery, about 5 relevant items | pairs | {halves:.2f} × |
| 64-bit codes under Hamming distance, leave-one-out | pairs × words | {hamming:.2f} ns per pair and core |
| the same, queries against a gallery | pairs × words | {gallery:.2f} ns per pair and core |

In leave-one-out, half of the products are never computed, because each tile is counted in both directions. This is
why a whole evaluation can cost less than the matrix product, which every evaluator computes before it starts to
sort.

- Near-duplicates, of which exact arithmetic decides the order, took at most {near:.0f} × the ordinary time.
- With few dimensions the product is cheap, and the counting remains: at 64 dimensions a pair costs {small:.2f} ns per
  core.

## Memory and threads

`memory` is the budget for everything that is kept in addition to the inputs. A (query, relevant item) pair takes
20.5 bytes while tiles are counted. If three quarters of the budget can hold all of these pairs, leave-one-out
computes half of the products. So with labels it pays to allow

    memory >= 27 bytes × the sum over queries of their relevant items

and more does not help. The measured peaks, without the inputs:

| case | budget | peak |
|---|---|---|
{memory}

Each thread counts tiles of its own and computes their products alone. More threads than cores gain nothing. From N
= {fewest:,} to N = {most:,} items the time per pair changes by a factor of {growth:.2f} (64 dimensions, 100
relevant items).

## Inside other programs

The time on the same data, from the input in the first column to all metrics, which tieproof returns with their whole
intervals (`benchmarks/integrations.py`: {queries:,} queries, {documents:,} documents, {of_integrations} dimensions):

| input | compared with | its time | tieproof |
|---|---|---|---|
{integrations}
"""

FIGURES = """<!-- Written by docs/write_costs.py from the figures beside this page. -->

# The figures of the benchmarks

All were measured on one machine with {cores} cores by the scripts in this folder.

## Compared with the matrix product

`python benchmarks/product.py` compares a whole evaluation (all default measures with their intervals) with the
float32 matrix product of the same size, which every evaluator computes before it starts to sort. The figures are
medians of several runs. Data with duplicates are compared with the same number of vectors without duplicates:

```text
{table}```

```text
{newer}```

The first processor again, with `OPENBLAS_CORETYPE=Haswell`, which limits the products of OpenBLAS to vectors of 256
bits, as on a processor without AVX-512; tieproof's own kernels are not limited:

```text
{limited}```

A processor without AVX-512, and so without an instruction for products of codes, on a virtual machine: the same
product took {least:.1f} to {longest:.1f} s, so that ratios are right to about a fifth.

```text
{older}```

`make bench` runs the other scripts, too. They measure other libraries side by side, city-block and Hamming distance,
other number types, near-duplicates, growth, memory, run files, and the first evaluation of a process.

## A million queries against a hundred million items

These are {pairs:.0e} pairs of {many_dimensions} dimensions. With one thread per core and about 5 relevant items per
query, the product and the counting take {halves:.2f} × {product:.2f} ns per pair and core, {core_hours:,.0f} core
hours in total. A machine with {machine} cores does {share:,.0f} of them in {hours} hour, so {machines} machines
need an hour. The thresholds of all queries are small ({thresholds:.1f} GB at 20.5 bytes for each of 5 relevant
items), and counts are integers that add up, so the gallery can be cut into as many shards as there are machines, in
any order. A shard in float16 takes {shard:.1f} GB. With 64-bit codes under Hamming distance, the same evaluation
takes {codes:,.0f} core hours.

## A million items, on paper

How long would leave-one-out with a million items of 768 dimensions take on 16 cores with a matrix unit (AMX)? The
products have the prices of a prototype on such a processor; the rest was measured on the processor named below, while
other programs ran. What is assumed beside is written in `benchmarks/million.py`:

```text
{million}```

Three runs led to 1.8 to 2.4 minutes with about 5 relevant items and 3.5 to 4.3 with about 100. With 5, products take
a small part of them, and Python and NumPy must not hold each other up; with 100, products alone take most of the two
minutes.

## In parts, and on a cluster

Data that do not fit into memory are counted in parts (docs/cluster.md). The relevant items of a block of queries
are ranked once, and each part of the block receives the result. These are the times for N = {part_items:,},
{part_dimensions} dimensions, 20 relevant items per query, leave-one-out. Rows on Ray are wall-clock seconds; the
other rows are seconds of the processors, summed over all threads:

| in parts | compared with memory | time |
|---|---|---|
{parts}

A task has an overhead of {task:.0f} ms. Two blocks of 100,000 rows of 768 dimensions move {moved:.2f} bytes for
each pair. A pair of a query and an item of 768 dimensions took {pair:.1f} ns of a processor, so the
{simulated_queries:,} queries against {simulated_items:,} items of the following schedule take
{simulated_hours:,.0f} core hours. The schedule was simulated from these constants. Some tasks are slow, some
machines are lost, each machine receives at most 1.25 GB/s, and all machines together read at most 200 GB/s. Each
machine has 16 workers with 8 GiB:

| schedule | machines | hours | tasks | share of reading | efficiency |
|---|---|---|---|---|---|
{schedule}

The cheaper a pair is, the more of the time is reading. With 1,000 machines, it is {reading:.0%}: all workers
together read the gallery once for each block of queries, and small blocks for many workers read it more often. What
remains is lost to tasks that take five times as long as others, and to the last tasks, of which there are not as
many as workers.

- **Let a machine have one worker**, with `threads=` its processors and `memory=` most of its memory: it reads a row
  once for all of its threads, and blocks are larger.
- Workers without a task repeat the tasks that have not ended, and the first answer counts: a task is a pure
  function, so both answers have the same bits. A slow task cannot be cut while it runs, because Ray shows nothing
  of a task before its end, and the reading of a block, which all of its tasks wait for, is not repeated.
- If storage or network is a hundred times slower, reading takes nearly all the time. Lost machines cost almost
  nothing, because tasks are short.

The driver keeps about 40 bytes for each item, {driver:.0f} GB here, until counting begins, and half of that
afterwards: 8 for its label, 4 for its class, 4 for its place among the items of its class, and at first 16 for the
digest of its row.

## The k nearest items

`python benchmarks/nearest.py` compares `tp.nearest` with the products of its own tiles, with the float32 product
and with faiss, in one thread each, and counts the neighbors of faiss that are wrong:

```text
{nearest}```

With more queries, reading and encoding the gallery takes a smaller share:

```text
{many_nearest}```

## The true neighbors of a billion items

`tp.truth` searches pieces of the gallery and merges their lists exactly (docs/guides/vector_search.md).
With k = {truth_k} and one thread, without and with many ties (`benchmarks/truth.py`):

| rows | a pair | the digest of a row | merging a list of a query |
|---|---|---|---|
{prices}

From this, a schedule was simulated as above, in which idle workers repeat the last tasks: {truth_queries:,} queries
against {truth_items:,} items. Workers digest all rows first (included in the hours) and search; the driver merges. It
keeps {truth_driver:.0f} GB, and the lists of all pieces in a folder of up to {truth_parts:,.0f} GB, whose writing and
reading are not included:

| rows | machines | hours | of searching | of merging | pieces | each machine reads |
|---|---|---|---|---|---|---|
{truth_plan}

With 1,000 machines, merging the lists of so many pieces in the driver takes longer than finding them. Clusters of
items are not left out by the triangle inequality.
"""


def figures(name: str) -> dict[str, Any]:
    """The figures that a benchmark wrote."""
    found: dict[str, Any] = json.loads((BENCHMARKS / f"{name}.json").read_text())
    return found


def render() -> dict[Path, str]:
    """The text of each page."""
    product, hamming, growth = figures(f"product{FAMILY}"), figures("hamming"), figures("growth")
    cores = product["setting"]["processors"]
    ratio = {case["case"]: case["ratio"] for case in product["cases"]}
    halves = next(value for name, value in ratio.items() if name.startswith("query/gallery"))
    reference = next(case["reference"] for case in product["cases"] if case["case"] == "about 5 relevant")
    of_pair = reference * cores / product["count"] ** 2 * 1e9
    codes = [case["nanoseconds"] for case in hamming["cases"]]
    items = growth["families"]["items"]
    integrations, parts = figures("integrations"), figures("cluster")
    full = figures("memory-full")["cases"] if (BENCHMARKS / "memory-full.json").exists() else []
    older = [case for case in figures(f"product{OLDER}")["cases"] if case["beside"] == "product"]
    of_products = [case["reference"] for case in older if not case["case"].startswith("query/gallery")]
    pairs = MANY_QUERIES * MANY_ITEMS
    core_hours = halves * of_pair * 1e-9 * pairs / 3600
    machines = -(-core_hours // (CORES * HOURS))
    found = dict(
        table=table("product", FAMILY),
        newer=table("product", NEWER),
        limited=table("product", f"{FAMILY}-haswell"),
        older=table("product", OLDER),
        least=min(of_products),
        longest=max(of_products),
        million=table("million"),
        nearest=table("nearest"),
        many_nearest=table("nearest", "-full"),
        cores=cores,
        dimensions=product["dimensions"],
        product=of_pair,
        few=ratio["about 5 relevant"],
        hundred=ratio["about 100 relevant"],
        classes=ratio["10 classes"],
        random=ratio["random, 100 relevant"],
        halves=halves,
        hamming=codes[0],
        gallery=codes[1],
        near=max(case["ratio"] for case in figures("near_duplicates")["cases"]),
        small=items[-1]["evaluate, ns"],
        memory="\n".join(
            f"| {case['case']}, N = {case['count']:,}, D = {case['dimensions']} | {case['budget'] / 2**20:,.0f} MiB "
            f"| {case['peak'] / 2**20:,.0f} MiB |"
            for case in [*figures("memory")["cases"], *full]
        ),
        queries=integrations["setting"]["queries"],
        documents=integrations["setting"]["documents"],
        of_integrations=integrations["setting"]["dimensions"],
        integrations="\n".join(
            f"| {case['case']} | {case['beside']} | {case['reference']:.2f} s | {case['evaluate']:.2f} s |"
            for case in integrations["cases"]
        ),
        fewest=items[0]["items"],
        most=items[-1]["items"],
        growth=items[-1]["growth"],
        pairs=pairs,
        many_dimensions=MANY_DIMENSIONS,
        core_hours=core_hours,
        machine=CORES,
        hours=HOURS,
        share=CORES * HOURS,
        machines=int(machines),
        thresholds=MANY_QUERIES * 5 * 20 / 1e9,
        shard=MANY_ITEMS / machines * MANY_DIMENSIONS * 2 / 1e9,
        codes=codes[1] * 1e-9 * pairs / 3600,
        **of_parts(parts),
        **of_truths(figures("truth")),
    )
    pages = {DOCS / "costs.md": COSTS, BENCHMARKS / "figures.md": FIGURES}
    return {path: text.format(**found) for path, text in pages.items()}


def table(name: str, variant: str = "") -> str:
    """The figures of a benchmark, or of a variant of its run, as the benchmark prints them."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        printed: str = import_module(name).render(figures(f"{name}{variant}"))
    finally:
        sys.path.remove(str(BENCHMARKS))
    return printed


def of_parts(found: dict[str, Any]) -> dict[str, Any]:
    """The figures on the page for evaluations in parts."""
    shown = ("as measured", "a worker of 16 threads and 128 GiB", "the same, idle workers repeat")
    usual = [row for name in shown for row in found["simulated"] if row["case"] == name]
    compared = [row for row in [*found["local"], *found["ray"]] if "ratio" in row]
    return {
        "part_items": found["items"],
        "part_dimensions": found["dimensions"],
        "parts": "\n".join(f"| {row['case']} | {row['ratio']:.2f} × | {row['evaluate']:.1f} s |" for row in compared),
        "task": 1e3 * next(row["seconds"] for row in found["ray"] if row["case"] == "a task"),
        "moved": next(row["bytes"] for row in found["moved"] if row["rows"] == 10**5),
        "pair": 1e9 * found["pair"],
        "simulated_queries": found["queries"],
        "simulated_items": found["gallery"],
        "schedule": "\n".join(
            f"| {row['case']} | {row['machines']:,} | {row['hours']:.2f} | {row['tasks']:,} | {row['reading']:.2f} "
            f"| {row['efficiency']:.2f} |"
            for row in usual
        ),
        "reading": next(row["reading"] for row in usual if row["machines"] == 1000),
        "simulated_hours": found["pair"] * found["queries"] * found["gallery"] / 3600,
        "driver": found["driver"] / 1e9,
    }


def of_truths(found: dict[str, Any]) -> dict[str, Any]:
    """The figures on the page for truths."""
    plan = found["plan"]
    return {
        "truth_k": found["k"],
        "truth_queries": found["planned"]["queries"],
        "truth_items": found["planned"]["items"],
        "truth_driver": max(row["driver"] for row in plan) / 1e9,
        "truth_parts": max(row["parts"] for row in plan) / 1e9,
        "prices": "\n".join(
            f"| {row['case']} | {1e9 * row['pair']:.1f} ns | {1e9 * row['row']:.0f} ns "
            f"| {1e6 * row['merge']:.0f} µs, {1e6 * row['merge with ties']:.0f} µs |"
            for row in found["prices"]
        ),
        "truth_plan": "\n".join(
            f"| {row['case']} | {row['machines']:,} | {row['hours'] + row['digests'] + row['merging']:.2f} "
            f"| {row['hours']:.2f} | {row['merging']:.2f} | {row['pieces']:,} | {row['read'] / 1e9:,.0f} GB |"
            for row in plan
        ),
    }


if __name__ == "__main__":
    for page, written in render().items():
        page.write_text(written, encoding="utf-8")
