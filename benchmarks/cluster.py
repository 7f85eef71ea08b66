"""The cost of counting in parts, in one process and on Ray, and a simulated evaluation on many machines.

    python benchmarks/cluster.py
    python benchmarks/cluster.py --items 8000

The script measures on this machine:

- evaluations of rows that are read in parts, with more and more blocks and shards, compared with evaluations of
  arrays in memory, in seconds of the processors
- one and two Ray workers with one thread each, compared with as many threads of one process, in wall-clock seconds
- the cost of a task that counts almost nothing, and of a pair of a query and an item at 768 dimensions
- the bytes that are moved for each pair

From these figures, a schedule is simulated with machines that are sometimes slow or lost, networks and disks. Runs
take turns, and the quickest of several counts. Figures are written to cluster.json.
"""

import argparse
import heapq
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import ceil, sqrt
from typing import Any
from unittest.mock import patch

import numpy as np

import tieproof as tp
from measuring import (
    Array,
    Measured,
    at_most,
    clustered,
    missed,
    processor_seconds,
    report,
    seconds,
    table,
    take_turns,
    where,
)
from tieproof.engine.problem import ShardedProblem
from tieproof.evaluation.cluster import evaluation as evaluation_in_parts
from tieproof.evaluation.cluster import layout
from tieproof.inputs.shards.source import ArraySource

DIMENSIONS, RELEVANT = 256, 20
LOCAL, ON_RAY = 1.1, 1.15
"""The largest ratios: an evaluation in parts to one in memory, and two workers to two threads."""

MEMORY = "256MiB"
"""The memory of each measured worker."""

QUERIES, ITEMS, WIDE = 10**6, 10**8, 768
DRIVER = 40
"""The bytes of the driver for an item, until counting begins: labels, classes, members, digests."""

MACHINES = (10, 100, 1000)


@contextmanager
def blocks_of(rows: int) -> Iterator[None]:
    """A layout with blocks and groups of this many rows, whatever the memory is."""

    def of(_: ShardedProblem, __: int) -> layout.Sizes:
        return layout.Sizes(rows, 10**12)

    with (
        patch.object(layout.Sizes, "of", of),
        patch.object(layout, "SMALLEST_BLOCK", 1),
        patch("tieproof.evaluation.cluster.layout.fits", lambda _: False),
    ):
        yield


def evaluation(data: Array, labels: Array, shards: int | None, **options: Any) -> Callable[[], str]:
    """An evaluation of an array, or of an array in this many shards."""
    cuts = None if shards is None else np.linspace(0, len(data), shards + 1)[1:-1].astype(int)
    given = data if cuts is None else ArraySource.of(data, cuts)
    return lambda: tp.evaluate(given, labels, memory=MEMORY, **options).to_json()


def beside_memory(data: Array, labels: Array) -> list[Measured]:
    """Evaluations in parts, and their times compared with the evaluation in memory."""
    rows = []
    for name, blocks, shards in (
        ("read at once", 1, 8),
        ("2 blocks", 2, 8),
        ("4 blocks", 4, 8),
        ("8 blocks", 8, 8),
        ("4 blocks, 64 shards", 4, 64),
    ):
        calls = {"reference": evaluation(data, labels, None), "evaluate": evaluation(data, labels, shards)}
        if blocks == 1:
            times = take_turns(calls, processor_seconds)
        else:
            with blocks_of(-(-len(data) * 9 // blocks // 8)):
                times = take_turns(calls, processor_seconds)
        least = {key: min(spent) for key, spent in times.items()}
        ratio = least["evaluate"] / least["reference"]
        rows.append({"case": name, **least, "ratio": ratio} | ({"at_most": LOCAL} if blocks == 1 else {}))
    return rows


def on_ray(data: Array, labels: Array) -> list[Measured]:
    """One and two workers of one thread, compared with one and two threads; all are started before the clock."""
    import ray

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    rows = []
    for workers in (1, 2):
        here: dict[str, Any] = {"include_dashboard": False, "_node_ip_address": "127.0.0.1", "log_to_driver": False}
        ray.init(address="local", num_cpus=workers, **here)
        evaluation(data[:3000], labels[:3000], 1, cluster="auto")()
        times = take_turns(
            {
                "reference": evaluation(data, labels, None, threads=workers),
                "evaluate": evaluation(data, labels, 8, cluster="auto"),
            }
        )
        least = {key: min(spent) for key, spent in times.items()}
        ratio = least["evaluate"] / least["reference"]
        case = f"{workers} Ray worker" + "s" * (workers > 1)
        rows.append({"case": case, **least, "ratio": ratio, "at_most": ON_RAY})
        if workers == 2:
            rows.append({"case": "a task", "seconds": seconds_of_a_task(data[:400], labels[:400])})
        ray.shutdown()
    return rows


def seconds_of_a_task(data: Array, labels: Array) -> float:
    """The time of a task that counts almost nothing: in the driver, in Ray, and in the engine."""
    call = evaluation(data, labels, 1, cluster="auto")
    with blocks_of(400):
        few = seconds(call)
    with blocks_of(40):
        many = seconds(call)
    count = 400 // 40
    return max(0.0, many - few) / (count * (count + 1) // 2 - 1)


def seconds_of_a_pair(items: int) -> float:
    """The time of the processor for a pair of a query and an item of a gallery, of many dimensions."""
    data, labels = clustered(items + items // 10, WIDE, items // RELEVANT)
    queries, gallery = slice(items, None), slice(0, items)
    own: dict[str, Any] = {"gallery": data[gallery], "gallery_labels": labels[gallery], "threads": 1}
    times = take_turns({"evaluate": lambda: tp.evaluate(data[queries], labels[queries], **own)}, processor_seconds)
    return min(times["evaluate"]) / (items * (items // 10))


def bytes_per_pair(rows: int, dimensions: int, of_counts: int) -> float:
    """The bytes moved for a block of rows against another block: both blocks, and the counts of the first one."""
    return (2 * rows * dimensions * 4 + rows * of_counts * 16) / rows**2


@dataclass(frozen=True)
class Machine:
    """The speed of a machine, and how often it is slow or lost."""

    pair: float  # seconds of a worker for a pair
    task: float  # seconds in addition
    workers: int = 16
    memory: float = 8 * 2**30  # of each worker
    network: float = 1.25e9  # bytes per second and machine
    storage: float = 2e11  # bytes per second that all machines together read
    slow: float = 0.01  # share of tasks that take five times as long
    lost: float = 1 / 1000 / 3600  # losses per second and machine
    submitted: float = 1 / 2000  # seconds of the driver per task
    sharing: int = 1  # the workers of a machine that read a group together
    copies: bool = False  # whether idle workers repeat the task that would end last


@dataclass(frozen=True)
class Shape:
    """The parts of an evaluation for workers with a given memory."""

    tasks: int
    pairs: float  # of a task
    bytes_read: float  # by a task: its group, and its block with the relevant items

    @classmethod
    def of(cls, queries: int, items: int, machine: Machine, machines: int, relevant: int) -> "Shape":
        """The parts that `layout` chooses."""
        rows = int(machine.memory / 8 / (WIDE * 4 + layout.BYTES_BESIDE))
        in_block = max(1, min(rows // (1 + relevant), int(machine.memory / 4 / layout.BYTES_PER_PAIR / relevant)))
        at_least = ceil(sqrt(2 * evaluation_in_parts.PARTS_EACH * machines * machine.workers))
        in_block = min(in_block, max(layout.SMALLEST_BLOCK, -(-queries // at_least)))
        rows = min(rows, max(layout.SMALLEST_BLOCK, -(-items // at_least)))
        blocks, groups = -(-queries // in_block), -(-items // rows)
        read = (items / groups / machine.sharing + in_block * (1 + relevant)) * WIDE * 4
        return cls(blocks * groups, queries / blocks * items / groups, read)


def simulate(machine: Machine, machines: int, shape: Shape, seed: int = 0) -> Measured:
    """Hours of a schedule: the worker that is free first does the next task; tasks of a lost machine start again."""
    random = np.random.default_rng(seed)
    workers, tasks = machines * machine.workers, shape.tasks
    speed = min(machine.network / machine.workers, machine.storage / workers)
    reading, counting = shape.bytes_read / speed, shape.pairs * machine.pair
    ends = [0.0] * min(workers, tasks)
    repeated = 0
    factors = np.where(random.random(tasks) < machine.slow, 5.0, 1.0)
    for number, factor in enumerate(factors.tolist()):
        free = heapq.heappop(ends)
        begin, spent = max(free, number * machine.submitted), (reading + counting) * factor + machine.task
        while random.random() < 1 - np.exp(-machine.lost * spent):
            begin += spent * random.random()
            repeated += 1
        heapq.heappush(ends, begin + spent)
    last = ended(ends, reading + counting + machine.task) if machine.copies else max(ends)
    return {
        "machines": machines,
        "hours": last / 3600,
        "tasks": tasks,
        "repeated": repeated,
        "efficiency": tasks * counting / (last * workers),
        "reading": reading / (reading + counting),
    }


def ended(ends: list[float], usual: float) -> float:
    """When all tasks have ended, if each worker that becomes idle repeats the one that would end last."""
    idle = sorted(ends)
    running = [-end for end in ends]
    heapq.heapify(running)
    for free in idle:
        if free + usual >= -running[0]:
            break
        heapq.heapreplace(running, -(free + usual))
    return -running[0]


def schedules(usual: Machine) -> list[Measured]:
    """A large evaluation on more and more machines, with each constant made worse, and without each kind of loss."""
    whole: dict[str, Any] = {"workers": 1, "memory": 16 * usual.memory, "pair": usual.pair / 16}
    changed = {
        "as measured": usual,
        "a hundredth of the network": replace(usual, network=usual.network / 100),
        "a hundredth of the storage": replace(usual, storage=usual.storage / 100),
        "one task in ten slow": replace(usual, slow=0.1),
        "a machine lost each hour of a hundred": replace(usual, lost=10 * usual.lost),
        "workers of 1 GiB": replace(usual, memory=2.0**30),
        "no slow tasks": replace(usual, slow=0.0),
        "nothing to read": replace(usual, network=np.inf, storage=np.inf),
        "neither": replace(usual, slow=0.0, network=np.inf, storage=np.inf),
        "idle workers repeat the last tasks": replace(usual, copies=True),
        "workers of a machine read together": replace(usual, sharing=usual.workers),
        "a worker of 16 threads and 128 GiB": replace(usual, **whole),
        "the same, idle workers repeat": replace(usual, **whole, copies=True),
    }
    return [
        {"case": name, **simulate(machine, machines, Shape.of(QUERIES, ITEMS, machine, machines, RELEVANT))}
        for name, machine in changed.items()
        for machines in MACHINES
    ]


def render(measured: Measured) -> str:
    local, ray = measured["local"], [row for row in measured["ray"] if "ratio" in row]
    [task] = [row["seconds"] for row in measured["ray"] if row["case"] == "a task"]
    cells = [
        (
            row["case"],
            *(f"{row[key]:.2f}" for key in ("reference", "evaluate", "ratio")),
            at_most(row["ratio"], row["at_most"]) if "at_most" in row else "",
        )
        for row in [*local, *ray]
    ]
    title = (
        "in parts, compared with in memory (on Ray wall-clock seconds, else of the processors), leave-one-out, "
        f"N = {measured['items']:,}, D = {measured['dimensions']}"
    )
    targets = [(row["case"], row["ratio"], row["at_most"]) for row in [*local, *ray] if "at_most" in row]
    moved = ", ".join(f"{row['bytes']:.2f} with blocks of {row['rows']:,}" for row in measured["moved"])
    simulated = [
        (
            row["case"],
            f"{row['machines']:,}",
            f"{row['hours']:.2f}",
            f"{row['tasks']:,}",
            f"{row['repeated']:,}",
            *(f"{row[key]:.2f}" for key in ("efficiency", "reading")),
        )
        for row in measured["simulated"]
    ]
    headings = ("case", "machines", "hours", "tasks", "repeated", "efficiency", "share of reading")
    pair = f"a pair at {WIDE} dimensions: {1e9 * measured['pair']:.1f} ns of a processor"
    return (
        table(title, ("case", "in memory, s", "in parts, s", "ratio", "at most"), cells)
        + missed(targets)
        + f"a task: {1e3 * task:.0f} ms; {pair}; bytes moved per pair: {moved}\n"
        + table(
            f"simulated: {measured['queries']:,} queries, {measured['gallery']:,} items, {WIDE} dimensions",
            headings,
            simulated,
        )
        + where(measured)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=40_000, metavar="N", help="usually 40,000")
    options = parser.parse_args()
    data, labels = clustered(options.items, DIMENSIONS, options.items // RELEVANT)
    evaluation(data[:2000], labels[:2000], None)()
    ray = on_ray(data, labels)
    pair = seconds_of_a_pair(options.items)
    [task] = [row["seconds"] for row in ray if row["case"] == "a task"]
    measured = {
        "items": options.items,
        "dimensions": DIMENSIONS,
        "queries": QUERIES,
        "gallery": ITEMS,
        "local": beside_memory(data, labels),
        "ray": ray,
        "moved": [{"rows": rows, "bytes": bytes_per_pair(rows, WIDE, RELEVANT)} for rows in (10**4, 10**5, 10**6)],
        "simulated": schedules(Machine(pair, task)),
        "pair": pair,
        "driver": DRIVER * ITEMS,
    }
    report(__file__, render, measured)


if __name__ == "__main__":
    main()
