"""The page on what an evaluation costs, from the figures of the benchmarks. Writes costs.md beside this script."""

import json
import sys
from pathlib import Path
from typing import Any

PAGE = Path(__file__).with_name("costs.md")
BENCHMARKS = PAGE.parent.parent / "benchmarks"

MANY_QUERIES, MANY_ITEMS, MANY_DIMENSIONS = 10**6, 10**8, 512
CORES, HOURS = 64, 1
"""A machine, and how long one may wait."""

PAGE_TEXT = """<!-- Written by docs/write_costs.py from the figures beside the benchmarks. -->

# What an evaluation costs

All figures are of one machine with {cores} cores, measured by the scripts in `benchmarks/`. Time is proportional to
pairs, so that other sizes follow from a few constants.

## Beside the matrix product

`python benchmarks/product.py` compares a whole evaluation, all default measures with their intervals, with the float32
matrix product of the same size, which every evaluator pays before it starts to sort. These are medians of some runs;
duplicates are compared with as many vectors without any:

```text
{table}```

`make bench` runs the other scripts, too: other libraries side by side, city-block, Hamming, other number types,
near-duplicates, growth, memory, run files, and the first evaluation of a process.

## What dominates when

| part | grows with | measured |
|---|---|---|
| the matrix product of float32 | pairs × dimensions | {product:.2f} ns per pair and core at {dimensions} dimensions |
| about 5 relevant items per query | pairs | {few:.2f} × the product |
| about 100 | pairs, and relevant items × logarithm | {hundred:.2f} × |
| 10 classes (2,000 relevant items per query) | the same | {classes:.2f} × |
| no structure at all, 100 relevant items | items as near as the last relevant one | {random:.2f} × |
| 64-bit codes under Hamming distance, leave-one-out | pairs × words | {hamming:.2f} ns per pair and core |
| the same, queries against a gallery | pairs × words | {gallery:.2f} ns per pair and core |

In leave-one-out half of the products are never computed, since each tile is counted in both directions; that is why a
whole evaluation can cost less than the product. With a gallery the product costs its full price: {halves:.2f} × it for
about 5 relevant items.

- Where embeddings are good, few items come as near as the last relevant one, and counting is a pass over the tile that
  looks at eight entries at a time. Where they are not, every item has to be placed among the thresholds.
- The more relevant items, the denser the thresholds, and the more items fall within the rounding of a float32 product
  near one. A sample tells whether short sums or float64 products then cost less.
- Near-duplicates leave everything to exact arithmetic: {near:.0f} × the ordinary time at worst
  (`benchmarks/near_duplicates.py`).
- Few dimensions make the product cheap and leave the counting: at 64 dimensions a pair costs {small:.2f} ns per core.

## Memory and threads

`memory` is for what is kept beside the inputs. A (query, relevant item) pair takes 20.5 bytes while tiles are counted. As
long as three quarters of the budget hold all of them, everything is one block, and leave-one-out computes half of the
products; otherwise each block of queries meets the whole gallery. So with labels it pays to allow

    memory >= 27 bytes × the sum over queries of their relevant items

and more does not help. Rows made ready once take 4 bytes an entry (8 where float64 tiles are chosen), up to a twelfth
of the budget; beyond that they are made ready tile by tile, which costs some percent. Measured peaks, over the inputs:

| case | budget | peak |
|---|---|---|
{memory}

Threads take tiles; each runs a product of one thread. There is nothing to gain beyond the number of cores. From
N = {fewest:,} to N = {most:,} items the time per pair changes by a factor of {growth:.2f} (64 dimensions, 100 relevant
items).

## Inside other programs

On the same data, from what the first column says to all metrics, ours with their whole intervals
(`benchmarks/integrations.py`: {queries:,} queries, {documents:,} documents, {of_integrations} dimensions):

| from | beside | theirs | ours |
|---|---|---|---|
{integrations}

## A million queries against a hundred million items

{pairs:.0e} pairs of {many_dimensions} dimensions, one thread per core, about 5 relevant items per query: the product
and the counting take {halves:.2f} × {product:.2f} ns a pair and core, {core_hours:,.0f} core hours in all. Machines of
{machine} cores do {share:,.0f} of them in {hours} hour: {machines} machines for an hour. The thresholds of all
queries are small ({thresholds:.1f} GB at 20.5 bytes for each of 5 relevant items), counts are integers that add up, so
the gallery can be cut into as many shards as there are machines, in any order. A shard in float16 takes
{shard:.1f} GB. As 64-bit codes under Hamming distance the same takes {codes:,.0f} core hours.

## Part by part, and on a cluster

What is not in memory at once is counted in parts ([cluster.md](cluster.md)), each of which takes over what was ranked for
its queries once. N = {part_items:,}, {part_dimensions} dimensions, 20 relevant items per query, leave-one-out; of Ray by
the clock, of others in seconds of the processors, all threads together:

| in parts | beside memory | took |
|---|---|---|
{parts}

A task takes {task:.0f} ms besides what it counts. Two blocks of 100,000 rows of 768 dimensions move {moved:.2f} bytes for
each pair. From these constants, and {pair:.0f} ns of a processor for a pair of 768 dimensions, measured in the same run,
{simulated_queries:,} queries against {simulated_items:,} items of 768 dimensions on machines of 16 workers with 8 GiB each, simulated with slow tasks, lost machines, networks and storage:

| machines | hours | tasks | efficiency |
|---|---|---|---|
{schedule}

What breaks first: at 1,000 machines there is about one task for each worker, and the slowest decide; workers with less
memory have more tasks, and read more. With storage or a network of a hundredth, reading takes nearly all the time.
The driver holds some 72 bytes for each item, {driver:.0f} GB here: at a billion items it needs a machine of its own.
Lost machines cost next to nothing, since tasks are short.
"""


def figures(name: str) -> dict[str, Any]:
    """What a benchmark wrote."""
    found: dict[str, Any] = json.loads((BENCHMARKS / f"{name}.json").read_text())
    return found


def render() -> str:
    """The page."""
    product, hamming, growth = figures("product"), figures("hamming"), figures("growth")
    cores = product["setting"]["processors"]
    ratio = {case["case"]: case["ratio"] for case in product["cases"]}
    halves = next(value for name, value in ratio.items() if name.startswith("query/gallery"))
    reference = next(case["reference"] for case in product["cases"] if case["case"] == "about 5 relevant")
    of_pair = reference * cores / product["count"] ** 2 * 1e9
    codes = [case["nanoseconds"] for case in hamming["cases"]]
    items = growth["families"]["items"]
    integrations, parts = figures("integrations"), figures("cluster")
    full = figures("memory-full")["cases"] if (BENCHMARKS / "memory-full.json").exists() else []
    pairs = MANY_QUERIES * MANY_ITEMS
    core_hours = halves * of_pair * 1e-9 * pairs / 3600
    machines = -(-core_hours // (CORES * HOURS))
    return PAGE_TEXT.format(
        table=table(product),
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
    )


def table(measured: dict[str, Any]) -> str:
    """The ratios, as the benchmark prints them."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        from product import render as printed
    finally:
        sys.path.remove(str(BENCHMARKS))
    return printed(measured)


def of_parts(found: dict[str, Any]) -> dict[str, Any]:
    """What the page says of counting part by part."""
    usual = [row for row in found["simulated"] if row["case"] == "as measured"]
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
            f"| {row['machines']:,} | {row['hours']:.1f} | {row['tasks']:,} | {row['efficiency']:.2f} |"
            for row in usual
        ),
        "driver": usual[0]["driver"] / 1e9,
    }


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
